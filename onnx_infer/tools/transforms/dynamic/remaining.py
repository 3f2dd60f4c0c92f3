"""What is left in a freed model: pins in bodies, and numbers beside free sizes that the trace may have decided.

All nodes are asked, those in functions and in the bodies of If, Loop and Scan too, with the values that they have
there. The rule of its node shows a number: a size of a result depends on it (`trials.py`). So operators of
plug-ins are asked, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onnx_infer.model.graph import Attributes, Node, first_output, label_of, title_of
from onnx_infer.tools.transforms.dynamic.meant_targets import pattern
from onnx_infer.tools.transforms.dynamic.pinned import Pin, Tracer
from onnx_infer.tools.transforms.dynamic.trials import (
    EQUATING,
    Effect,
    Trial,
    aligned,
    dims_of,
    elements_of,
    is_size,
    trial_of,
    value_at,
)
from onnx_infer.values.dtype import INTEGER_RANGE
from onnx_infer.values.tensor import Dim, SymTensor
from symdim import Expr
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from onnx_infer.engine.scope import Scope
    from onnx_infer.result import InferenceResult
    from onnx_infer.tools.transforms.dynamic.trials import Number


_FARTHEST = 2**31 - 1
"""A number from here on stands for the end of every axis."""

_USUAL = 4
"""Numbers up to this are indices and ends on fixed axes of very many models. They are no doubts there."""

_FEW = 2
"""Of an axis that had more, the index 1 is meant: without the first token, or with it alone."""

_MANY = 1_000
"""A size that is so many times the traced one, to see how far a number reaches."""

_MOST_INDICES = 16
"""The most indices of one node that are told one by one. Of more only the largest one is."""


_MOST_AXES = 8
"""The length up to which a vector of integers is taken for a shape."""


class Doubt(NamedTuple):
    """A number of a node that the trace may have decided."""

    operator: str
    node: str
    what: str

    def __str__(self) -> str:
        return f"{self.operator} '{self.node}': {self.what}"


class Remaining:
    """The pins in bodies and the doubts of a model whose free sizes had the traced ones."""

    def __init__(self, result: InferenceResult, traced: Mapping[str, int]) -> None:
        self._result = result
        self._main = result._record.scope
        self._tracer = Tracer(result, ())
        self._traced = dict(traced)
        self._large = {name: size * _MANY for name, size in traced.items()}
        self._symbols: dict[int, str] = {}
        for name, size in traced.items():
            self._symbols.setdefault(size, name)
        self._pins: dict[Pin, None] = {}
        self._doubts: dict[Doubt, None] = {}
        self._picked: set[tuple[int, str, int]] = set()
        self._picks: dict[Doubt, tuple[int, str, int]] = {}
        self._node: Node

    def pins_and_doubts(self, made: Container[str]) -> tuple[list[Pin], list[Doubt]]:
        """Ask all nodes, but those that give the values `made`, which the changes have added."""
        for node, scope, attributes in _nodes(self._result):
            if first_output(node) in made:
                continue
            self._node = node
            is_inside = scope is not self._main
            trial = trial_of(node, scope, attributes)
            if trial is not None and trial.outcome.error is None:
                if is_inside:
                    self._equated(trial)
                self._numbers(trial)
                self._taken(trial)
                self._indices(trial, scope)
                self._constants(trial, scope)
            elif node[4].has_graphs:
                self._counts(node, scope)
            elif trial is None and any(self._is_free(size) for name in node[2] for size in _shape(scope, name)):
                self._unknown(node, scope)
        # an axis of which each element is picked, 0, 1, 2, ..., is no axis at a traced size
        return list(self._pins), [d for d in self._doubts if self._picks.get(d) not in self._picked]

    # -- pins and doubts ----------------------------------------------------------------------------------------------

    def _pin(self, why: str, cure: str = "it is not changed: nodes inside are left to a person") -> None:
        self._pins.setdefault(Pin(title_of(self._node), label_of(self._node), why, cure))

    def _doubt(self, what: str) -> None:
        self._doubts.setdefault(Doubt(title_of(self._node), label_of(self._node), what))

    def _of_symbol(self, name: str, number: int) -> None:
        """A doubt about a number that equals the traced size of a symbol."""
        self._doubt(f"{name} {number}, as {self._symbols[number]} was")

    def _is_free(self, size: Dim | None) -> bool:
        return isinstance(size, Expr) and any(v.name in self._traced for v in size.variables())

    def _value(self, size: Dim, sizes: Mapping[str, int] | None = None) -> int | None:
        """A size at the traced ones, or at others; None if it has symbols that were not freed."""
        return value_at(size, dict((sizes or self._traced).items()))

    # -- one node -----------------------------------------------------------------------------------------------------

    def _equated(self, trial: Trial) -> None:
        """The statements of a node in a body that hold at one value of a free size, or end at the traced one."""
        for statement in trial.outcome.statements:
            if statement.relation == "undecided" or not (self._is_free(statement.lhs) or self._is_free(statement.rhs)):
                continue
            lhs, rhs = self._value(statement.lhs), self._value(statement.rhs)
            if lhs is None or rhs is None:
                continue
            if statement.relation in EQUATING or (statement.relation in ("at_least", "at_most") and lhs == rhs):
                self._pin(statement.law, f"it runs only where {Relation(statement.relation, *statement[1:3])}")

    def _numbers(self, trial: Trial) -> None:
        """The numbers on which sizes of results depend."""
        traits = trial.operator.rule.traits
        if traits.view == "whole" or traits.reads == "nothing":
            return  # its sizes have to fit the number of elements; a Shape has numbers of axes
        for number in trial.numbers():
            larger = (1, number.value) if number.value in self._symbols else (1,)
            reaching = (trial.effects(number, by) for by in larger if 0 < number.value < _FARTHEST)
            for effect in next(filter(None, reaching), ()):
                size = aligned(trial, effect)
                beside = [size] if size is not None else _lost(trial, effect)
                free = [each for each in beside if self._is_free(each)]
                for each in free:
                    self._beside(trial, number, effect, each)
                if not free:
                    self._apart(trial, number, effect, size)

    def _beside(self, trial: Trial, number: Number, effect: Effect, size: Dim) -> None:
        """A number on which a size of a result depends, where an operand has a free one."""
        traced, what = self._value(size), f"{number.name} {number.value} on axis {effect.axis} of size {size}"
        before, after = (self._value(size, self._large) for size in (effect.before, effect.after))
        alone, by = is_size(number, effect), None if before is None or after is None else after - before
        if not is_data(trial, number):  # the author gives it, or the traced size has become a kernel or a whole size
            is_multiple = traced is not None and traced > 1 and number.value % traced == 0
            if is_multiple and (alone or (number.value == traced and by in (-1, 0, None))):
                self._doubt(what)
        elif alone and number.value == traced:
            self._pin(what, f"it should be {size}")
        else:  # a size in place of the free one, what is added to it, or an end; steps and factors change more
            is_end = (by is None or abs(by) <= 1) and (number.value > 1 or traced is None or traced <= _FEW)
            if alone or is_end or number.value == traced or (by == 1 and self._is_free(effect.before)):
                self._doubt(what)

    def _apart(self, trial: Trial, number: Number, effect: Effect, size: Dim | None) -> None:
        """A number that equals a traced size, on an axis that is not free, or that is new."""
        is_drawn = is_size(number, effect) and trial.operator.rule.traits.random
        is_usual = number.value <= (1 if size in (None, 1) else _USUAL)
        if number.value in self._symbols and (is_drawn or (not is_usual and is_data(trial, number))):
            self._of_symbol(number.name, number.value)

    def _taken(self, trial: Trial) -> None:
        """Sizes of other operands that a result has in place of a free size, as that of the grid of a GridSample."""
        data = dims_of(trial.values[0] if trial.values else None)
        result, traits = trial.shape(0) or (), trial.operator.rule.traits
        if traits.indices or traits.cost is not None or len(data) != len(result):
            return  # a product adds along the axis that it loses
        pairs = enumerate(zip(data, result, strict=True))
        taken = {
            axis: size for axis, (free, size) in pairs if self._is_free(free) and isinstance(size, int) and size > 1
        }
        for i, value in enumerate(trial.values[1:] if taken else (), 1):
            for at, size in enumerate(dims_of(value)):
                for effect in trial.effects_of_size(i, at) if size in taken.values() else ():
                    if effect.axis in taken:
                        what = f"size {size} of '{self._node[2][i]}' on axis {effect.axis} of size"
                        self._doubt(f"{what} {data[effect.axis]}")

    def _indices(self, trial: Trial, scope: Scope) -> None:
        """Indices that are constants, on free axes and equal to a traced size on others."""
        names, data = self._node[2], dims_of(trial.values[0]) if trial.values else ()
        for i in trial.operator.rule.traits.indices:
            indices = _elements(trial, i, names[i], scope, self._tracer) if i < len(names) and names[i] else None
            if indices is None or not data or not indices.size:
                continue
            free = [axis for axis in _indexed(trial, i) if self._is_free(data[axis])]
            numbers = sorted(set(indices.ravel().tolist()))
            if len(numbers) == 1:
                self._picked.add((id(scope), names[0], numbers[0]))
            for number in numbers if len(numbers) <= _MOST_INDICES else numbers[-1:]:
                traced = max([self._value(data[axis]) or 0 for axis in free], default=0)
                if free and number > (0 if traced <= _FEW else 1):
                    self._doubt(f"index {number} on axis {free[0]} of size {data[free[0]]}")
                elif not free and [number] == numbers and number > _USUAL and number in self._symbols:
                    self._of_symbol("index", number)
                    self._picks[next(reversed(self._doubts))] = id(scope), names[0], number - 1

    def _constants(self, trial: Trial, scope: Scope) -> None:
        """Constants of a traced size that a program may have made: zeros, ones, or 0, 1, 2, ..."""
        traits = trial.operator.rule.traits
        operands = self._node[2] if traits.view != "whole" else ()
        for i, name in enumerate(operands if traits.cost is None else operands[:1]):  # the others are weights
            value = trial.values[i]
            if not isinstance(value, SymTensor) or scope.holder(name) is not self._main:
                continue
            axes = [axis for axis, size in enumerate(value.shape or ()) if size != 1 and size in self._symbols]
            is_shape = len(axes) == value.rank == 1 and value.dtype in INTEGER_RANGE and not traits.indices
            array = self._tracer.array(name) if axes and not (is_shape and value.dims[0] <= _MOST_AXES) else None
            for axis in axes:
                if array is not None and pattern(array, axis, ()) is not None and trial.effects_of_size(i, axis):
                    size = array.shape[axis]
                    self._doubt(f"constant '{name}' has {size} at axis {axis}, as {self._symbols[size]} was")

    def _counts(self, node: Node, scope: Scope) -> None:
        """The number of iterations of a Loop."""
        operator = scope.operators[node[1], node[0]]
        for p in operator.parameters if operator is not None else ():
            if p.source == "input" and p.want in ("Dim", "int") and p.at < len(node[2]) and node[2][p.at]:
                data = elements_of(scope, node[2][p.at])
                if data is not None and len(data) == 1 and data[0] in self._symbols:
                    self._of_symbol(p.name, data[0])

    def _unknown(self, node: Node, scope: Scope) -> None:
        """A node of which nothing is known."""
        if scope.operators[node[1], node[0]] is None and not any(scope.knows(n) and _shape(scope, n) for n in node[3]):
            self._pin("unsupported operator, and an operand has a free size", "register one: onnx_infer.rules.op")


def _nodes(result: InferenceResult) -> Iterator[tuple[Node, Scope, Attributes]]:
    """The nodes that outputs need, those of bodies, and of each call of the model's functions, with their scopes.

    The attributes of a node in a function are those of its call.
    """
    main, functions = result._index, result._record.model.functions.values()
    own = {id(function.handle) for function in functions}
    needed, numbers = set(main.graph.outputs), []
    for number in reversed(range(len(main.nodes))):
        if not needed.isdisjoint(main.nodes[number][3]):
            needed.update(main.reads[number])
            numbers.append(number)
    for index in main.outer_first(lambda body: id(body.graph.handle) in own):
        for number in reversed(numbers) if index is main else range(len(index.nodes)):
            yield index.nodes[number], index.scope, index.attributes(number)


def is_data(trial: Trial, number: Number) -> bool:
    """Whether programs compute a number: it is an element of an operand, in this version or in a later one."""
    from onnx_infer.operators.operator import bind
    from onnx_infer.operators.schema import NEWEST

    if number.operand is not None:
        return True
    schema = trial.operator.schema
    newest = bind(schema.domain, schema.name, NEWEST)
    return newest is not None and number.name.lower() in {formal.name.lower() for formal in newest.schema.inputs}


def _lost(trial: Trial, effect: Effect) -> list[Dim]:
    """The sizes of operands with symbols that no size of the result has."""
    kept = {v for size in trial.shape(effect.result) or () if isinstance(size, Expr) for v in size.variables()}
    sizes: Iterable[Dim] = dict.fromkeys(size for value in trial.values for size in dims_of(value))
    return [size for size in sizes if isinstance(size, Expr) and kept.isdisjoint(size.variables())]


def _indexed(trial: Trial, i: int) -> Sequence[int]:
    """The axes of the first operand to which the indices in another one belong."""
    data, result = dims_of(trial.values[0]), trial.shape(0) or ()
    axis = trial.attributes.values.get("axis", trial.operator.schema.defaults.get("axis"))
    if isinstance(axis, int):
        return [axis % len(data)]
    if result == data:  # the last axis of the indices goes over the first axes
        count = (dims_of(trial.values[i]) or (len(data),))[-1]
        return range(min(count, len(data)) if isinstance(count, int) else len(data))
    lost = _lost(trial, Effect(0, 0, 0, 0))
    return [at for at, size in enumerate(data) if isinstance(size, int) or size in lost]


def _elements(trial: Trial, i: int, name: str, scope: Scope, tracer: Tracer) -> NDArray[Any] | None:
    """The elements of an operand that is a constant, or is known."""
    value, holder = trial.values[i], scope.holder(name)
    if isinstance(value, SymTensor) and value.data is None and holder is not None:
        value = holder.load(name)
    if isinstance(value, SymTensor) and value.data is not None:
        return np.array([x for x in value.data if type(x) is int], np.int64)
    return tracer.array(name) if holder is tracer.static._record.scope else None


def _shape(scope: Scope, name: str) -> tuple[Dim, ...]:
    return dims_of(scope[name]) if name and scope.knows(name) else ()
