"""`make_dynamic`: free sizes for a traced model. It finds what pins them, and changes it if that is certain.

The traced model and the freed one are inferred side by side. If a constant equals a traced size, and the operand has a
free size now, the free size replaces the constant. At the traced sizes the changed model computes the same. It is
inferred again at the end: a guard that still equates a free size with another one is a pin (`remaining.py` has the
pins in bodies, and the doubts).

Axes of other inputs that a person can free are proposed. A node may want the free size itself at an axis of an input:
`mask:1=S`. Or it wants a size that is computed from it, `state:2=128*batch`, and no axis can be freed so. Then another
axis may be meant: of a state `[2, 1, 128]` the 1 is the batch. Such axes are tried, and the one that leaves the fewest
pins comes first. If none helps, the input is tied to the size.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import onnx
from onnx import GraphProto, ModelProto, ValueInfoProto

from onnx_infer.api import infer
from onnx_infer.errors import ArgumentError, no_model
from onnx_infer.protobuf.declarations import innermost_dims
from onnx_infer.protobuf.specialize import drop_inferred
from onnx_infer.protobuf.wire import dim_param
from onnx_infer.tools.transforms.draft import all_graphs
from onnx_infer.tools.transforms.dynamic.pinned import Change, Pin, Tracer, Wanted
from onnx_infer.tools.transforms.dynamic.remaining import Doubt, Remaining
from onnx_infer.tools.transforms.dynamic.walking import FreedWalk
from onnx_infer.tools.transforms.dynamic.writing import Writer
from onnx_infer.values.text import text
from symdim import Var
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from onnx_infer.result import InferenceResult
    from onnx_infer.values.tensor import Dim

    Axes = Mapping[str, Mapping[int, str]]


MOST_TRIALS = 16
"""The most axes of inputs that are tried for one model. Each costs the walks over it."""


class Axis(NamedTuple):
    """An axis of an input, and the symbol that it would get."""

    name: str
    at: int
    symbol: str

    def __str__(self) -> str:
        return f"{self.name}:{self.at}={self.symbol}"


class Proposals:
    """The pins of inputs after the walks over a model with free `axes`."""

    def __init__(self, model: ModelProto, static: InferenceResult, axes: Axes, walk: FreedWalk) -> None:
        self._model, self._static, self._axes = model, static, axes
        self._traced, self._shape = walk.traced_names, walk.tracer.shape
        self._trials = 0

    def pins(self, wanted: Wanted) -> Iterator[Pin]:
        """What a person can do about the inputs at which nodes want other sizes."""
        for name in dict.fromkeys(name for name, _ in wanted):
            yield from self._of_input(name, {at: sizes for (other, at), sizes in wanted.items() if other == name})

    def _of_input(self, name: str, wanted: Mapping[int, Collection[Dim]]) -> Iterator[Pin]:
        """The pins of an input, for its axes and the sizes that nodes want there."""
        asked = [(at, size) for at, sizes in wanted.items() for size in sizes]
        named = [axis for at, size in asked for axis in self._named(name, at, size)]
        if len({axis.symbol for axis in named}) == len(asked) == len(wanted):  # each axis has a symbol of its own
            yield from map(self._pin, named)
            return
        meant = (
            axis
            for _, size in asked
            for v in variables_of([size])
            for at in range(len(self._shape(name)))
            for axis in self._named(name, at, v)
        )
        open_axes = dict.fromkeys(wanted)
        for axis, left in self._tried(named, meant):
            still = [at for at in open_axes if (name, at) in left]
            if len(still) < len(open_axes):
                open_axes = dict.fromkeys(still)
                yield self._pin(axis)
        for at in open_axes:
            size = next(iter(wanted[at]))
            cure = f"it should be {size}: the input is tied to this size and cannot be freed"
            yield Pin("", "", f"input '{name}' has {self._size(name, at)} at axis {at}", cure)

    def _pin(self, axis: Axis) -> Pin:
        why = f"input '{axis.name}' has {self._traced[axis.symbol]} at axis {axis.at}"
        return Pin("", "", why, f"free it too: {axis}")

    def _named(self, name: str, at: int, size: Dim) -> Iterator[Axis]:
        """The axis with the name of a size, if it had the traced size of this name."""
        if isinstance(size, Var) and size.name in self._traced and self._size(name, at) == self._traced[size.name]:
            yield Axis(name, at, size.name)

    def _size(self, name: str, at: int) -> Dim | None:
        shape = self._shape(name)
        return shape[at] if at < len(shape) else None

    def _tried(self, named: Collection[Axis], meant: Iterable[Axis]) -> list[tuple[Axis, Wanted]]:
        """The axes that can be freed, those that leave the fewest pins first, each with what nodes want then."""
        trials: list[tuple[int, Axis, Wanted]] = []
        for axis in dict.fromkeys([*named, *meant]):
            if self._trials < MOST_TRIALS:
                self._trials += 1
                more = {**self._axes, axis.name: {**self._axes.get(axis.name, {}), axis.at: axis.symbol}}
                walk = _walked(self._model, self._static, more)
                wanted, errors = walk.tracer.wanted, [d for d in walk.engine.diagnostics if d.severity == "error"]
                trials.append((len(walk.pins) + sum(map(len, wanted.values())) + len(errors), axis, wanted))
            elif axis in named:  # this much is sure
                trials.append((sys.maxsize, axis, {(each.name, each.at): {} for each in named if each.at != axis.at}))
        return [(axis, wanted) for _, axis, wanted in sorted(trials, key=lambda trial: trial[0])]


_MOST_WALKS = 16


class Dynamic(NamedTuple):
    """A model with free sizes.

    `model`: the model, a copy. `traced`: the size that each symbol had. `changes`: the proposed
    changes of constants; they are in the model if they are `applied`. `pins`: what pins a free size then and has no
    certain change. `doubts`: numbers that the trace may have decided. `result`: the inference of the model.
    """

    model: onnx.ModelProto
    traced: dict[str, int]
    changes: list[Change]
    pins: list[Pin]
    doubts: list[Doubt]
    result: InferenceResult
    applied: bool

    def __repr__(self) -> str:
        freed = ", ".join(f"{symbol} (was {size})" for symbol, size in self.traced.items())
        parts = f"{len(self.changes)} changes, {len(self.pins)} pins, {len(self.doubts)} doubts"
        return f"<Dynamic {freed}: {parts}>"

    @property
    def is_free(self) -> bool:
        """Whether nothing pins the free sizes once the changes are made, and no number is in doubt."""
        return not (self.pins or self.doubts)


def make_dynamic(
    model: onnx.ModelProto, axes: Mapping[str, Mapping[int, str]], *, apply: bool = False, unfinished: bool = False
) -> Dynamic:
    """Free sizes of inputs, `{"images": {0: "batch", 2: "H"}}`, and find what pins them. The model is not changed.

    With `apply`, the changes are made if the model is free then: no pin and no doubt is left. With `unfinished` too,
    they are made in any case. Otherwise the model has only free inputs, and `changes` are proposals. All types are
    inferred anew and written. Raises `ArgumentError` for an axis that cannot be freed.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
    ...     g (float[1, 196, 8] x) => (y) <int64[3] heads = {196, 2, 4}> { y = Reshape (x, heads) }''')
    >>> made = make_dynamic(model, {"x": {1: "tokens"}}, apply=True)
    >>> print(made.changes[0], made.pins, made.result.types["y"], sep="; ")
    Reshape 'y': operand 'heads': 196 at index 0 becomes -1; []; f32[tokens, 2, 4]
    """
    if not isinstance(model, onnx.ModelProto):
        raise no_model(model)
    if not any(axes.values()):
        raise ArgumentError("dynamic: no axis is to be freed")
    static = infer(model)
    walk = _walked(model, static, axes)
    freed, tracer, traced = walk.model, walk.tracer, walk.traced_names
    changes = list(walk.changes.values())
    pins = [*walk.pins.values(), *Proposals(model, static, axes, walk).pins(tracer.wanted)]
    changed = onnx.ModelProto()
    changed.CopyFrom(freed)
    failed = Writer(changed, infer(freed), tracer).write(changes)
    unwritten = {change for change, _ in failed}
    changes = [change for change in changes if change not in unwritten]
    pins += [Pin(c.operator, c.node, str(c).partition(": ")[2], f"cannot be written: {why}") for c, why in failed]
    result = infer(changed)
    before = len(changed.graph.node) - len(freed.graph.node)
    made_by_changes = {text(name) for node in changed.graph.node[:before] for name in node.output}
    left_over, doubts = Remaining(result, traced).pins_and_doubts(made_by_changes)
    known = {(pin.operator, pin.node) for pin in pins}
    pins += _pinning_guards(result, traced, known) if apply or not pins else ()
    known.update((pin.operator, pin.node) for pin in pins)
    pins += [pin for pin in left_over if (pin.operator, pin.node) not in known]
    applied = apply and (unfinished or not (pins or doubts))
    made = changed if applied else freed
    declare_again(made, model)
    result = result if applied else infer(freed)
    result.apply(made)
    return Dynamic(made, traced, changes, pins, doubts, result, applied)


def _walked(model: onnx.ModelProto, static: InferenceResult, axes: Axes) -> FreedWalk:
    """The walks over a copy of the model with free axes, that led to all changes and pins."""
    freed = onnx.ModelProto()
    freed.CopyFrom(model)
    traced = free(freed, axes)
    walk = FreedWalk(freed, Tracer(static, traced.values()), traced)
    for _ in range(_MOST_WALKS):
        if not walk.run():
            break
    return walk


def _pinning_guards(result: InferenceResult, traced: Mapping[str, int], known: set[tuple[str, str]]) -> Iterator[Pin]:
    """The errors of the model, and the guards that equate a free size with another one or end at the traced one."""
    sizes: dict[str | Var, int] = dict(traced.items())
    for guard in result.guards:
        if not any(v.name in traced for v in guard.variables()) or (guard.operator, guard.node) in known:
            continue
        at_traced = guard.condition.sides(sizes) if guard.relation == "at_most" and guard.is_bound(sizes) else None
        if guard.relation in ("equal", "broadcast", "broadcast_to") or (at_traced and at_traced[0] == at_traced[1]):
            yield Pin(guard.operator, guard.node, guard.law, f"it runs only where {guard}")
    for error in result.diagnostics:
        if error.severity == "error":
            yield Pin(error.operator.partition("-")[0], error.node, error.message, "its sizes do not fit any more")


def free(model: ModelProto, axes: Axes) -> dict[str, int]:
    """Put symbols into the axes of the inputs, in place; return the traced size of each symbol.

    The types of all values but inputs and initializers are dropped, as far as they are sizes. Raises `ArgumentError`
    for an input or axis that the model does not have, for an axis that has no number, and for a symbol with two sizes.
    """
    inputs = {text(info.name): info for info in model.graph.input}
    traced: dict[str, int] = {}
    drop_inferred(model)
    for name, wanted in axes.items():
        if name not in inputs:
            raise ArgumentError(
                f"dynamic: the model has no input {name!r}; its inputs are {', '.join(map(repr, inputs))}"
            )
        dims = innermost_dims(inputs[name].type)
        for axis, symbol in wanted.items():
            if not -len(dims) <= axis < len(dims):
                raise ArgumentError(f"dynamic: input {name!r} has {len(dims)} axes, so no axis {axis}")
            size = dims[axis].dim_value
            if not dims[axis].HasField("dim_value"):
                raise ArgumentError(f"dynamic: axis {axis} of input {name!r} has no number that could be freed")
            if not symbol.isidentifier():
                raise ArgumentError(f"dynamic: {symbol!r} is not a symbol name")
            if traced.setdefault(symbol, size) != size:
                raise ArgumentError(f"dynamic: {symbol!r} would be both {traced[symbol]} and {size}")
            dims[axis].MergeFromString(dim_param(symbol))
    for graph in all_graphs(model):
        del graph.value_info[:]
        if isinstance(graph, GraphProto):
            _drop_sizes((*graph.output, *(() if graph is model.graph else graph.input)))
    return traced


def declare_again(freed: ModelProto, model: ModelProto) -> None:
    """Put the value infos of a model into its freed copy, without sizes of computed values.

    The graphs are the same ones in the same order: new nodes have none.
    """
    for graph, before in zip(all_graphs(freed), all_graphs(model), strict=True):
        graph.value_info.extend(before.value_info)
        constants = {tensor.name for tensor in getattr(before, "initializer", ())}  # a function has none
        _drop_sizes(info for info in graph.value_info if info.name not in constants)


def _drop_sizes(infos: Iterable[ValueInfoProto]) -> None:
    for info in infos:
        for dim in innermost_dims(info.type):
            dim.ClearField("value")
