"""The rounds of inference in both directions.

Each round first infers the model forwards. Every unknown size becomes a variable of a `symdim.Store`, into which the
operators state their constraints (`onnx_infer.constraints`). Shapes that follow for inputs, and for values that
forward inference does not know, replace declared types in the next round. Nothing is guessed: a shape that the
constraints do not force stays as it was. If an input can have only a few ranks, the ranks with which no run is possible
are excluded.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from onnx_infer.bidirectional.model_facts import Known, equal_to, state_model
from onnx_infer.diagnostics import is_raised
from onnx_infer.engine.assumptions import assumptions_of
from onnx_infer.engine.passes import infer_forward
from onnx_infer.engine.repeat import Shapes, Start, unconfirmed
from onnx_infer.engine.substitution import rename
from onnx_infer.laws.readable import is_unreadable
from onnx_infer.model.size_texts import AxisNames, Size
from onnx_infer.operators.element_types import LARGEST_SIZE
from onnx_infer.types.join import symbols_of
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor
from symdim import Expr, Var
from symdim.algebra.dims import at_least, substituted, variables_of
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.origin import Declared
from symdim.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.engine.passes import Passes
    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import FrontEnd


class Names:
    """Texts for sizes that the store leaves unknown: a name that the model declares for the size, or a new one."""

    def __init__(self, front: FrontEnd, record: Record, known: Known, given: set[str]) -> None:
        names, texts = front.dim_params()
        others = set(texts)
        self._axis_names = AxisNames((*names, *texts))
        self.given = given
        declared = (v for v in _declared(record) if v.name in others and v.name not in given)
        self._declared = equal_to(known.store, declared if record.setting.adopt else ())
        self._new: dict[tuple[str, int], str] = {}
        self.of: dict[Dim, str] = {}

    def new(self, value: str, axis: int) -> str:
        """A name for an axis of an input."""
        if (value, axis) not in self._new:
            self._new[value, axis] = self._axis_names.new(value, axis)
        return self._new[value, axis]

    def name(self, size: Dim, value: str, axis: int) -> str:
        """The text for the size of an axis of an input: its expression in named sizes, or a name."""
        text = self.text(size)
        if text is None:
            declared = self._declared.get(size) if isinstance(size, Expr) else None
            text = self.of[size] = self.new(value, axis) if declared is None else declared.name
        return text

    def text(self, size: Dim) -> str | None:
        """The text of a size as an expression of named sizes; None if there is none, or if it is too large to read."""
        if size in self.of or isinstance(size, int):
            return self.of.get(size)
        if is_unreadable(size):
            return None
        unknown = [v for v in size.variables() if v.name not in self.given]
        if not unknown:
            return str(size)
        if all(v in self.of for v in unknown):
            return str(size.substitute({v: Var.fresh(self.of[v]) for v in unknown}))
        return None


def _declared(record: Record) -> Iterator[Var]:
    """The names in the declared types of outputs and intermediate values."""
    declared = record.model.graph.declared
    for name in dict.fromkeys((*record.model.graph.outputs, *declared)):
        value = declared.get(name)
        for dim in (value.shape or ()) if isinstance(value, SymTensor) else ():
            if isinstance(dim, Var) and dim is not UNKNOWN_SIZE:
                yield dim


def forced_shapes(
    record: Record, known: Known, written: Mapping[str, tuple[Size, ...]], names: Names, before: Shapes
) -> Shapes:
    """The shapes that the constraints force and that say more than the model declares."""
    shapes: dict[str, tuple[Dim, ...]] = {}
    for name, _ in record.model.graph.inputs:
        row, value = known.rows.get(name), record.scope[name]  # in the symbols of the first walk
        if row is None and isinstance(value, SymTensor) and value.shape is not None:
            row = Row(trail=value.shape)
        if row is not None and (solved := known.store.row(row)).rank is not None and _fit(solved.dims):
            shapes[name] = solved.dims
    for name, shape in shapes.items():  # plain sizes get names first, so expressions can use these names
        for axis, dim in enumerate(shape):
            if isinstance(dim, Var):
                names.name(dim, name, axis)
    inputs: dict[str, tuple[int | str, ...]] = {}
    for name, shape in shapes.items():
        old = written.get(name, ())
        if len(old) != len(shape):
            old = (None,) * len(shape)
        sizes = tuple(
            d if isinstance(d, int) else text if isinstance(text, str) else names.name(d, name, axis)
            for axis, (d, text) in enumerate(zip(shape, old, strict=True))
        )
        if name not in written or sizes != old:
            inputs[name] = sizes
    return Shapes(inputs, dict(_values(record, known, names, before)))


def _fit(dims: Iterable[Dim]) -> bool:
    """Whether a model can hold these sizes. No run has others; forward inference reports the node."""
    return not any(at_least(d, LARGEST_SIZE + 1) for d in dims)


def _values(record: Record, known: Known, names: Names, before: Shapes) -> Iterator[tuple[str, tuple[Size, ...]]]:
    """The shapes of values that say more than those of forward inference, including those of earlier rounds.

    A value of whose node nothing is stated has a shape of sizes about which the store may know more.
    """
    inputs = {name for name, _ in record.model.graph.inputs}
    constants = record.model.graph.constants
    earlier = before.values
    solved_rows: dict[Row, Row] = {}
    symbols = symbols_of(record.scope[name] for name in inputs)
    numbers = {v: size for v in symbols if isinstance(size := known.store.value(v), int)}
    for name, value in record.scope.items():
        if name in inputs or name in constants or not isinstance(value, SymTensor):
            continue
        row = known.rows.get(name)
        if row is None:
            if value.shape is None or all(isinstance(size, int) for size in value.shape):
                continue
            row = Row(trail=value.shape)
        solved = solved_rows.get(row)
        if solved is None:
            solved = solved_rows[row] = known.store.row(row)
        if solved.rank is None or not _fit(solved.dims):
            continue
        sizes = tuple(d if isinstance(d, int) else names.text(d) for d in solved.dims)
        if name in earlier or value.shape is None or _says_more(sizes, value.shape, names, numbers):
            yield name, sizes


def _says_more(sizes: Iterable[Size], shape: tuple[Dim, ...], names: Names, numbers: Mapping[Var, int]) -> bool:
    """Whether a size is now a number, or an unknown size is now a named one.

    The sizes of inputs that are now `numbers` give a number without the shape inferred here.
    """
    for size, dim in zip(sizes, shape, strict=True):
        if not isinstance(dim, Expr) or size is None:
            continue
        if names.text(dim) is None or (isinstance(size, int) and not isinstance(substituted(dim, numbers), int)):
            return True
    return False


def substitute_solved(record: Record, known: Known, given: set[str]) -> None:
    """Replace sizes by what they equal, in all values. A declared name replaces only a known size."""
    inputs = symbols_of(record.scope[name] for name, _ in record.model.graph.inputs)
    ours = {**inputs, **symbols_of(record.scope.values())}
    first = equal_to(known.store, ours)
    solved: dict[Var, Dim] = {}
    for v in ours:
        if v in inputs or v.name in given:
            continue
        value = known.store.value(v)
        if isinstance(value, Expr):
            value = value.substitute({w: first.get(w, w) for w in value.variables()})
        if value is v or not _fit((value,)) or is_unreadable(value):
            continue
        if all(w in (inputs if isinstance(v.origin, Declared) else ours) for w in variables_of([value])):
            solved[v] = value
    if solved:
        rename(record, solved)


_MOST_ROUNDS = 12
_MOST_RANKS = 4
_MOST_TRIALS = 16


class _Round(NamedTuple):
    """One walk with the shapes of the round before, and the constraints after it."""

    record: Record
    before: Shapes
    known: Known
    names: Names
    after: Shapes

    def broken(self) -> set[str]:
        """The nodes that do not run, and the values that have not their declared shapes."""
        return _broken((*self.record.diagnostics, *self.known.diagnostics))


def _broken(told: Iterable[Diagnostic]) -> set[str]:
    return {d.node for d in told if is_raised(d)}


class _Inference:
    """The rounds of one inference, under assumptions."""

    def __init__(self, passes: Passes, first: Record) -> None:
        self.passes, self.first = passes, first
        self.written = _written_sizes(passes.front, first)
        self.given = _declared_names(first, self.written)
        self.trials = 0
        self.contradictory: Known | None = None

    def round(self, before: Shapes, record: Record) -> _Round:
        """One round, after its walk. Constraints that contradict each other too often do so in all rounds."""
        assumptions = assumptions_of(record, self.passes.given.relations)
        given = self.given | assumptions.names()
        known = self.contradictory
        if known is None:
            known = state_model(record, given, assumptions, trusts_declared=record.setting.policy != "override")
            self.contradictory = known if known.gave_up else None
        names = Names(self.passes.front, record, known, given)
        return _Round(record, before, known, names, forced_shapes(record, known, self.written, names, before))

    def solve(self) -> _Round:
        """Rounds until nothing changes; returns the last one."""
        current = self.round(Shapes(), self.first)
        seen = [Shapes()]
        while len(seen) <= _MOST_ROUNDS:
            after: Shapes | None = current.after
            if after in seen:
                after = self.with_only_rank(current)
            if after is None or after in seen:
                break
            seen.append(after)
            current = self.round(after, infer_forward(self.passes, Start(after), uses_claims=False))
        return current

    def left_open(self, record: Record) -> bool:
        """Whether declared types say something that no walk up to the last one has shown."""
        said = self.first.declared.left_open | record.declared.left_open
        declared = self.passes.front.view(copy(record.symbols)).graph.declared if said else {}

        def is_shown(name: str, number: int) -> bool:
            written, shape = (getattr(x, "shape", None) or () for x in (declared.get(name), record.scope.get(name)))
            if len(written) != len(shape):
                return number in shape
            return all(inferred == number for dim, inferred in zip(written, shape, strict=True) if dim == number)

        not_shown = {(name, number) for name, number in said if number is not None and not is_shown(name, number)}
        return bool(unconfirmed(record) or not_shown)

    def with_only_rank(self, current: _Round) -> Shapes | None:
        """The forced shapes plus an input's rank, if the model can run with only one rank of the input; else None."""
        broken = current.broken()
        for name, least, most in sorted(_open_inputs(current), key=lambda ranks: ranks[2] - ranks[1]):
            if most - least >= _MOST_RANKS or self.trials + most - least >= _MOST_TRIALS:
                continue
            possible: list[Shapes] = []
            for rank in range(least, most + 1):
                sizes = tuple(current.names.new(name, axis) for axis in range(rank))
                trial = current.after._replace(inputs={**current.after.inputs, name: sizes})
                self.trials += 1
                if self.may_run(trial, broken):
                    possible.append(trial)
                if len(possible) > 1:
                    break
            if len(possible) == 1:
                return possible[0]
        return None

    def may_run(self, trial: Shapes, broken: set[str]) -> bool:
        """Whether a trial breaks no nodes other than these."""
        record = infer_forward(self.passes, Start(trial), uses_claims=False)
        return _broken(record.diagnostics) <= broken and self.round(trial, record).broken() <= broken


def _open_inputs(current: _Round) -> list[tuple[str, int, int]]:
    """The inputs of unknown rank, with their least and greatest ranks."""
    known, out = current.known, []
    for name, _ in current.record.model.graph.inputs:
        row = known.rows.get(name)
        if row is not None and known.store.row(row).rank is None:
            least, most = known.store.rank_bounds(row)
            if most is not None:
                out.append((name, least, most))
    return out


def infer_backward(passes: Passes, first: Record) -> tuple[Record, Mapping[str, tuple[int | str, ...]]]:
    """Solve the constraints of all nodes for inputs and infer forward, in turn, until nothing changes.

    `first` is the record of the first inference forward. Numbers that the author declares for data-dependent or long
    sizes are used in the last pass only. So nothing that follows from them backward passes for a fact.

    Returns the record of the last pass, and the shapes of inputs that say more than the model.
    """
    inference = _Inference(passes, first)
    last = inference.solve()
    record, shapes = last.record, last.before
    if inference.left_open(record):
        record = infer_forward(passes, Start(shapes, uses_claims=True))
    else:
        substitute_solved(record, last.known, last.names.given)
    record.diagnostics += last.known.diagnostics
    errors = first.statements.contradictions  # told in the words of the first walk
    nodes = {error.node for error in errors}
    record.diagnostics[:] = [*errors, *(d for d in record.diagnostics if d.severity != "error" or d.node not in nodes)]
    return record, shapes.inputs


def _written_sizes(front: FrontEnd, record: Record) -> dict[str, tuple[Size, ...]]:
    """The sizes of the inputs that have a shape, as the model writes them."""
    shaped = {n for n, v in record.model.graph.inputs if isinstance(v, SymTensor) and v.shape is not None}
    written: dict[str, tuple[Size, ...]] = {}
    for name, sizes in front.inputs():
        if name in shaped:  # the first of two inputs with the same name counts
            written.setdefault(name, tuple(sizes))
    return written


def _declared_names(record: Record, written: Mapping[str, tuple[Size, ...]]) -> set[str]:
    """The names that the model gives to sizes of inputs."""
    names: set[str] = set()
    for name, sizes in written.items():
        value = record.scope[name]
        shape = value.shape or () if isinstance(value, SymTensor) else ()
        for dim, size in zip(shape, sizes, strict=False):  # a node may give a value of this name with another rank
            if isinstance(dim, Expr) and isinstance(size, str):
                names.update(v.name for v in dim.variables())
    return names
