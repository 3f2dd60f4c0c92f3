"""The rounds of inference in both directions.

Each round first infers the model forwards. Every unknown size becomes a variable of a `symdim.Store`, into which the
operators state their constraints (`onnx_infer.constraints`). Shapes that follow for inputs, and for values that
forward inference does not know, replace declared types in the next round. Nothing is guessed: a shape that the
constraints do not force stays as it was. If an input can have only a few ranks, the ranks with which no run is possible
are excluded.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Protocol

from onnx_infer.bidirectional.found_shapes import Names, found_shapes, substitute_solved, symbols_of
from onnx_infer.bidirectional.model_facts import Known, state_model
from onnx_infer.diagnostics import is_raised
from onnx_infer.engine.assumptions import Assumptions
from onnx_infer.engine.repeat import Shapes, Start, unconfirmed
from onnx_infer.errors import UnknownSymbol
from onnx_infer.values.tensor import Dim, SymTensor
from symdim import Expr
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.engine.record import Record
    from onnx_infer.model.given import Given
    from onnx_infer.model.graph import FrontEnd
    from onnx_infer.model.size_texts import Size

_MOST_ROUNDS = 12
_MOST_RANKS = 4
_MOST_TRIALS = 16


class Walk(Protocol):
    """Forward inference of a model, under the caller's assumptions and with the types found so far.

    Unless it `uses_claims`, it does not use what the author claims of sizes that are long or that only data decide.
    """

    def __call__(self, *, given: Given, start: Start = ..., uses_claims: bool = ...) -> Record: ...


class _Round(NamedTuple):
    """One walk with the shapes found before, and the constraints after it."""

    engine: Record
    before: Shapes
    known: Known
    names: Names
    after: Shapes

    def broken(self) -> set[str]:
        """The nodes that do not run, and the values that have not their declared shapes."""
        return _broken((*self.engine.diagnostics, *self.known.diagnostics))


def _broken(told: Iterable[Diagnostic]) -> set[str]:
    return {d.node for d in told if is_raised(d)}


class _Inference:
    """The rounds of one inference, under assumptions."""

    def __init__(self, front: FrontEnd, walk: Walk, given: Given) -> None:
        self.front = front
        self.first = walk(given=given)
        if self.first.assumed:  # assumed declared types imply these relations of the symbols
            given = given._replace(relations=(*given.relations, *self.first.assumed))
            self.first = walk(given=given)
        self.walk = partial(walk, given=given)
        self.assume = given.relations
        self.written = _written_sizes(front, self.first)
        self.given = _declared_names(self.first, self.written)
        self.trials = 0
        self.contradictory: Known | None = None

    def assumptions(self, engine: Record) -> Assumptions:
        """The assumptions on the symbols of a walk."""
        symbols = {v.name: v for v in symbols_of(engine.scope.values())}
        known = {**engine.symbols.known(), **symbols}
        return Assumptions(dict.fromkeys((*self.assume, *engine.assumed)), known, engine.symbols.bound)

    def round(self, before: Shapes, engine: Record) -> _Round:
        """One round, after its walk. Constraints that contradict each other too often do so in all rounds."""
        assumptions = self.assumptions(engine)
        given = self.given | assumptions.names()
        known = self.contradictory
        if known is None:
            known = state_model(engine, given, assumptions, trusts_declared=engine.setting.policy != "override")
            self.contradictory = known if known.gave_up else None
        names = Names(self.front, engine, known, given)
        return _Round(engine, before, known, names, found_shapes(engine, known, self.written, names, before))

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
            current = self.round(after, self.walk(start=Start(after)))
        return current

    def left_open(self, engine: Record) -> bool:
        """Whether declared types say something that no walk up to the last one has shown."""
        said = self.first.left_open | engine.left_open
        declared = self.front.view(copy(engine.symbols)).graph.declared if said else {}

        def is_shown(name: str, number: int) -> bool:
            written, shape = (getattr(x, "shape", None) or () for x in (declared.get(name), engine.scope.get(name)))
            if len(written) != len(shape):
                return number in shape
            return all(found == number for dim, found in zip(written, shape, strict=True) if dim == number)

        not_shown = {(name, number) for name, number in said if number is not None and not is_shown(name, number)}
        return bool(unconfirmed(engine) or not_shown)

    def with_only_rank(self, current: _Round) -> Shapes | None:
        """The found shapes plus an input's rank, if the model can run with only one rank of the input; else None."""
        broken = current.broken()
        for name, least, most in sorted(_open_inputs(current), key=lambda found: found[2] - found[1]):
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
        engine = self.walk(start=Start(trial))
        return _broken(engine.diagnostics) <= broken and self.round(trial, engine).broken() <= broken


def _open_inputs(current: _Round) -> list[tuple[str, int, int]]:
    """The inputs of unknown rank, with their least and greatest ranks."""
    known, out = current.known, []
    for name, _ in current.engine.model.graph.inputs:
        row = known.rows.get(name)
        if row is not None and known.store.row(row).rank is None:
            least, most = known.store.rank_bounds(row)
            if most is not None:
                out.append((name, least, most))
    return out


def infer_both_ways(
    front: FrontEnd, walk: Walk, given: Given, *, backwards: bool
) -> tuple[Record, Mapping[str, tuple[int | str, ...]]]:
    """Infer forwards, and with `backwards` in both directions until nothing changes, under the assumptions.

    Numbers that the author declares for data-dependent or long sizes are used in a last walk only. So nothing that
    follows from them backwards passes for a fact.

    Returns the engine of the last walk, and the shapes of inputs that say more than the model. Raises ParseError for an
    assumption that is not a relation, and UnknownSymbol for one about a symbol that the model does not have.
    """
    inference = _Inference(front, partial(walk, uses_claims=not backwards), given)
    engine, found = inference.first, Shapes()
    wrong = inference.assumptions(engine).contradiction()
    if backwards and not wrong:
        last = inference.solve()
        engine, found = last.engine, last.before
        if inference.left_open(engine):
            engine = inference.walk(start=Start(found, uses_claims=True), uses_claims=True)
        else:
            substitute_solved(engine, last.known, last.names.given)
        engine.diagnostics += last.known.diagnostics
        _tell_first(engine, inference.first.contradictions)
    assumptions = inference.assumptions(engine)
    met = {**inference.first.symbols.known(), **engine.symbols.known()}
    if unknown := assumptions.unknown - met.keys():
        raise UnknownSymbol("assume", unknown, met)
    if wrong:
        engine.complain(wrong)
    elif assumptions.facts:
        _rewrite(engine, assumptions.simplest)
    engine.assumed = list(dict.fromkeys((*inference.assume, *engine.assumed)))
    return engine, found.inputs


def _tell_first(engine: Record, errors: Sequence[Diagnostic]) -> None:
    """Tell these errors of the first walk in its words, in place of those that later walks tell of their nodes."""
    nodes = {error.node for error in errors}
    engine.diagnostics[:] = [*errors, *(d for d in engine.diagnostics if d.severity != "error" or d.node not in nodes)]


def _written_sizes(front: FrontEnd, engine: Record) -> dict[str, tuple[Size, ...]]:
    """The sizes of the inputs that have a shape, as the model writes them."""
    shaped = {n for n, v in engine.model.graph.inputs if isinstance(v, SymTensor) and v.shape is not None}
    found: dict[str, tuple[Size, ...]] = {}
    for name, sizes in front.inputs():
        if name in shaped:  # the first of two inputs with the same name counts
            found.setdefault(name, tuple(sizes))
    return found


def _declared_names(engine: Record, written: Mapping[str, tuple[Size, ...]]) -> set[str]:
    """The names that the model gives to sizes of inputs."""
    found: set[str] = set()
    for name, sizes in written.items():
        value = engine.scope[name]
        shape = value.shape or () if isinstance(value, SymTensor) else ()
        for dim, size in zip(shape, sizes, strict=False):  # a node may give a value of this name with another rank
            if isinstance(dim, Expr) and isinstance(size, str):
                found.update(v.name for v in dim.variables())
    return found


def _rewrite(engine: Record, change: Callable[[Dim], Dim]) -> None:
    """Replace sizes by other forms of them, in the shapes and elements of all tensors."""
    for scope in (engine.scope, *(scope for _, scope in engine.inner)):
        for name, value in scope.items():
            if isinstance(value, SymTensor) and value.shape is not None:
                data = value.data and tuple(change(x) if isinstance(x, Expr) else x for x in value.data)
                scope[name] = SymTensor(value.dtype, map(change, value.shape), data)
