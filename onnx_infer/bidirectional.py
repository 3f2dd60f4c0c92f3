"""Inference in both directions: what outputs, weights and operators say of inputs, and then of everything else.

In each round the model is inferred forwards; all that is not known becomes a variable of a `symdim.Store`, into which
the operators state their constraints (`onnx_infer.constraints`); what follows for inputs and for values that forward
inference does not know stands in for their declared types in the next round. Nothing is guessed: what the facts do
not force stays as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from symdim import Expr, Var
from symdim.origin import Declared

from .assumptions import Assumptions
from .constraints.model import Known, equal_to, state_model
from .diagnostics import Diagnostic
from .result import InferenceResult
from .symbols import Symbols
from .tensor import VARIES, SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx import ModelProto

    from .engine import Engine
    from .graph import Model
    from .tensor import Dim, Value

_MOST_ROUNDS = 12

Size = int | str | None
"""A size as a model declares it: a number, a dim_param, or nothing."""


class Walk(Protocol):
    """Forward inference of a model, with the types found so far."""

    def __call__(self, *, found: Found | None = None) -> Engine: ...


class Found(NamedTuple):
    """Shapes that stand in for those that a model declares: of inputs, and of other values."""

    inputs: dict[str, tuple[int | str, ...]]
    values: dict[str, tuple[Size, ...]]

    def names(self, model: ModelProto) -> list[str]:
        """The dim_params of the inputs, in order."""
        from .api import dim_params

        out: list[str] = []
        for info in model.graph.input:
            sizes = self.inputs.get(info.name)
            out += dim_params((info,)) if sizes is None else (s for s in sizes if isinstance(s, str))
        return out

    def put_into(self, model: Model, symbols: Symbols) -> Model:
        """The model with these shapes."""

        def shaped(value: object, sizes: Sequence[Size]) -> SymTensor:
            dims = [VARIES if s is None else s if isinstance(s, int) else symbols.text(s) for s in sizes]
            return SymTensor(value.dtype if isinstance(value, SymTensor) else None, dims)

        inputs = [(n, shaped(v, self.inputs[n]) if n in self.inputs else v) for n, v in model.graph.inputs]
        declared = dict(model.graph.declared)
        declared.update((n, shaped(declared.get(n), sizes)) for n, sizes in self.values.items())
        return model._replace(graph=model.graph._replace(inputs=inputs, declared=declared))


class BidirectionalResult(InferenceResult):
    """The outcome of an inference in both directions.

    `found_inputs` are the shapes of inputs that say more than the model does; `apply` writes these too.
    """

    def __init__(self, engine: Engine, inputs: Mapping[str, tuple[int | str, ...]], rounds: int) -> None:
        super().__init__(engine)
        self.found_inputs = dict(inputs)
        self.rounds = rounds

    def apply(self, model: ModelProto) -> ModelProto:
        """Write the types into the model that was inferred, or a copy, those of its inputs too; return it."""
        super().apply(model)
        for info in model.graph.input:
            sizes = self.found_inputs.get(info.name)
            if sizes is not None:
                shape = info.type.tensor_type.shape
                labels = [d.denotation for d in shape.dim] if len(shape.dim) == len(sizes) else [""] * len(sizes)
                shape.Clear()
                for size, label in zip(sizes, labels, strict=True):
                    dim = shape.dim.add(denotation=label) if label else shape.dim.add()
                    if isinstance(size, int):
                        dim.dim_value = size
                    else:
                        dim.dim_param = size
                shape.SetInParent()
        return model


def infer_both_ways(model: ModelProto, walk: Walk, assume: Sequence[str], *, backwards: bool) -> BidirectionalResult:
    """Infer forwards, and with `backwards` in both directions until nothing changes, under the assumptions.

    Raises ParseError for an assumption that is no relation.
    """
    rounds: list[Found | None] = [None]
    engine = walk()
    written = _written_sizes(model, engine)
    declared = _declared_names(engine, written)
    contradictions: list[Diagnostic] = []
    while True:
        assumptions = Assumptions(assume, {v.name: v for v in _variables(engine.scope.values())})
        wrong = assumptions.contradiction()
        if wrong or not backwards:
            break
        given = declared | assumptions.names()
        known = state_model(engine, given, assumptions, trusts_declared=engine.policy != "override")
        contradictions = known.contradictions
        found = _found(engine, known, written, _Names(model, engine, known, given), rounds[-1])
        if found in rounds or len(rounds) > _MOST_ROUNDS:
            _substitute(engine, known, given)
            break
        rounds.append(found)
        engine = walk(found=found)
    if assumptions and not wrong:
        _rewrite(engine, assumptions.simplest)
    engine.diagnostics += contradictions
    if wrong:
        engine.complain(wrong)
    return BidirectionalResult(engine, {} if rounds[-1] is None else rounds[-1].inputs, len(rounds))


def _written_sizes(model: ModelProto, engine: Engine) -> dict[str, tuple[Size, ...]]:
    """The sizes of the inputs that have a shape, as they are written."""
    out: dict[str, tuple[Size, ...]] = {}
    inputs = {name for name, _ in engine.model.graph.inputs}
    for info in model.graph.input:
        kind = info.type.tensor_type
        if info.name in inputs and info.type.HasField("tensor_type") and kind.HasField("shape"):
            out[info.name] = tuple(
                d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else d.dim_param or None
                for d in kind.shape.dim
            )
    return out


def _declared_names(engine: Engine, written: Mapping[str, tuple[Size, ...]]) -> set[str]:
    """The names that the model gives to sizes of inputs."""
    found: set[str] = set()
    for name, sizes in written.items():
        value = engine.scope[name]
        shape = value.shape or () if isinstance(value, SymTensor) else ()
        for dim, size in zip(shape, sizes, strict=True):
            if isinstance(dim, Expr) and isinstance(size, str):
                found.update(v.name for v in dim.variables())
    return found


def _variables(values: Iterable[Value | None]) -> dict[Var, None]:
    """The symbols in the shapes of tensors, in order."""
    shapes = (value.shape or () for value in values if isinstance(value, SymTensor))
    return {v: None for shape in shapes for d in shape if isinstance(d, Expr) for v in d.variables()}


class _Names:
    """Texts for sizes that the store leaves unknown: a name that the model declares for one, or a new one."""

    def __init__(self, model: ModelProto, engine: Engine, known: Known, given: set[str]) -> None:
        from .api import dim_params

        others = set(dim_params((*model.graph.output, *model.graph.value_info)))
        self._symbols = Symbols(dim_params(model.graph.input), others)
        self.given = given
        declared = (v for v in _declared_variables(engine) if v.name in others and v.name not in given)
        self._declared = equal_to(known.store, declared if engine.adopt else ())
        self.of: dict[Dim, str] = {}

    def name(self, size: Dim) -> str:
        """The text for a size of an input: its expression in named sizes, or a name."""
        found = self.text(size)
        if found is None:
            declared = self._declared.get(size) if isinstance(size, Expr) else None
            found = self.of[size] = self._symbols.name() if declared is None else declared.name
        return found

    def text(self, size: Dim) -> str | None:
        """The text of a size in terms of named ones; None where there is none."""
        if size in self.of or isinstance(size, int):
            return self.of.get(size)
        unknown = [v for v in size.variables() if v.name not in self.given]
        if not unknown:
            return str(size)
        if all(v in self.of for v in unknown):
            return str(size.substitute({v: Var.fresh(self.of[v]) for v in unknown}))
        return None


def _declared_variables(engine: Engine) -> Iterator[Var]:
    """The names in the declared types of outputs and other values."""
    declared = engine.model.graph.declared
    for name in dict.fromkeys((*engine.model.graph.outputs, *declared)):
        value = declared.get(name)
        for dim in (value.shape or ()) if isinstance(value, SymTensor) else ():
            if isinstance(dim, Var) and dim is not VARIES:
                yield dim


def _found(
    engine: Engine, known: Known, written: Mapping[str, tuple[Size, ...]], names: _Names, before: Found | None
) -> Found:
    """What the facts force beyond what the model declares."""
    shapes: dict[str, tuple[Dim, ...]] = {}
    for name, value in engine.model.graph.inputs:
        row = known.rows.get(name)
        if row is None and isinstance(value, SymTensor) and value.shape is not None:
            shapes[name] = value.shape
        elif row is not None and (solved := known.store.row(row)).rank is not None:
            shapes[name] = solved.dims
    for dim in (d for shape in shapes.values() for d in shape):  # plain sizes first, so that others are said with them
        if isinstance(dim, Var):
            names.name(dim)
    inputs: dict[str, tuple[int | str, ...]] = {}
    for name, shape in shapes.items():
        old = written.get(name, (None,) * len(shape))
        sizes = tuple(
            d if isinstance(d, int) else text if isinstance(text, str) else names.name(d)
            for d, text in zip(shape, old, strict=True)
        )
        if name not in written or sizes != old:
            inputs[name] = sizes
    return Found(inputs, dict(_found_values(engine, known, names, before)))


def _found_values(
    engine: Engine, known: Known, names: _Names, before: Found | None
) -> Iterator[tuple[str, tuple[Size, ...]]]:
    """The shapes of values that forward inference does not know as well, those found before included."""
    inputs = {name for name, _ in engine.model.graph.inputs}
    constants = engine.model.graph.constants
    earlier = {} if before is None else before.values
    for name, row in known.rows.items():
        value = engine.scope[name]
        if name in inputs or name in constants or not isinstance(value, SymTensor):
            continue
        solved = known.store.row(row)
        if solved.rank is None:
            continue
        sizes = tuple(d if isinstance(d, int) else names.text(d) for d in solved.dims)
        if name in earlier or value.shape is None or _says_more(sizes, value.shape, names):
            yield name, sizes


def _says_more(sizes: Iterable[Size], shape: tuple[Dim, ...], names: _Names) -> bool:
    """Whether a number stands where there was none, or a named size where there was an unknown one."""
    for size, dim in zip(sizes, shape, strict=True):
        if isinstance(dim, Expr) and size is not None and (isinstance(size, int) or names.text(dim) is None):
            return True
    return False


def _substitute(engine: Engine, known: Known, given: set[str]) -> None:
    """Put what sizes equal in their place, in all values; names that the model declares only for known sizes."""
    inputs = _variables(engine.scope[name] for name, _ in engine.model.graph.inputs)
    ours = {**inputs, **_variables(engine.scope.values())}
    first = equal_to(known.store, ours)
    solved: dict[Var, Dim] = {}
    for v in ours:
        if v in inputs or v.name in given:
            continue
        value = known.store.value(v)
        if isinstance(value, Expr):
            value = first.get(value, value)
        used = value.variables() if isinstance(value, Expr) else ()
        if value is not v and all(w in (inputs if isinstance(v.origin, Declared) else ours) for w in used):
            solved[v] = value
    if solved:
        engine.rename(solved)


def _rewrite(engine: Engine, change: Callable[[Dim], Dim]) -> None:
    """Put other forms of sizes in their place, in the shapes and elements of all tensors."""
    for scope in (engine.scope, *(scope for _, scope in engine.inner)):
        for name, value in scope.items():
            if isinstance(value, SymTensor) and value.shape is not None:
                data = value.data and tuple(change(x) if isinstance(x, Expr) else x for x in value.data)
                scope[name] = SymTensor(value.dtype, map(change, value.shape), data)
