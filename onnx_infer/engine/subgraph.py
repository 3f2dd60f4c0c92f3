"""Graph attributes as functions from input values to output values."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from onnx_infer.diagnostics import Diagnostic, Refusal
from onnx_infer.engine.declared import of_input
from onnx_infer.engine.demands import contradiction, dependent_values, reads
from onnx_infer.engine.record import Checkpoint, Record
from onnx_infer.laws.statements import make_size
from onnx_infer.model.graph import Graph, Node, label_of
from onnx_infer.types.join import NOTHING, kind_of, variables_in
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import BoundsError, DivisionByZero, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.origin import is_data_dependent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx_infer.engine.scope import Scope as Values
    from onnx_infer.laws.statements import Statement

MAX_NESTING = 40
"""The greatest depth of nested subgraphs that is inferred. Each level takes some Python frames."""

MAX_REPEATS = 16
"""The most repeated walks over bodies of nested loops, in total. Each level of loops multiplies those below it."""


class Subgraph:
    """A graph attribute as a function. Names of outer scopes are visible in it. `run` infers a graph in a scope.

    A repeated call in the same node drops the record of the call before, so only what holds in all iterations stays.
    """

    def __init__(
        self, record: Record, handle: Any, scope: Values, run: Callable[[Record, Graph, Values], None]
    ) -> None:
        self._record, self._scope, self._run = record, scope, run
        self.graph: Graph = record.view(handle)
        self._start: Checkpoint | None = None
        self._end: Checkpoint | None = None
        self._made: set[Var] = set()
        self._stated: list[tuple[Statement, Node]] = []
        self.refusal: str | None = None
        self.breach: str | None = None
        if record.nesting.depth == 0:
            record.nesting.repeats.clear()
            record.nesting.states.clear()

    def __repr__(self) -> str:
        """What messages show of an attribute that is a graph; the same in every process."""
        return f"graph {self.graph.name!r}"

    @property
    def input_count(self) -> int:
        """The number of formal inputs."""
        return len(self.graph.inputs)

    @property
    def output_count(self) -> int:
        """The number of formal outputs."""
        return len(self.graph.outputs)

    def declared_rank(self, index: int) -> int | None:
        """The declared rank of a formal input, or None."""
        declared = self.graph.inputs[index][1]
        return len(declared.shape) if isinstance(declared, SymTensor) and declared.shape is not None else None

    def __call__(self, *inputs: Value, repeated: bool = False, reached: bool | None = None) -> list[Value]:
        """The outputs for these inputs.

        `repeated`: the inputs stand for those of any iteration, so declared sizes do not apply. What the nodes state
        is kept for `demands`. `reached`: True if the graph runs whenever the node does, False if it never runs. If it
        never runs, its errors do not count.
        """
        record, graph = self._record, self.graph
        if self._start is None:
            self._start = record.checkpoint()
        else:
            self._made.update(record.sizes.created[self._start.created :])
            record.rewind(self._start)
            record.nesting.repeats[id(graph.handle)] = record.nesting.repeats.get(id(graph.handle), 0) + 1
        if record.nesting.depth >= MAX_NESTING:
            record.complain(f"graph '{graph.name}' is nested more than {MAX_NESTING} levels deep")
            return [NOTHING] * len(graph.outputs)
        scope = self._scope.inside(graph.constants, repeated)
        if scope.repeated and graph.declared:
            # exporters declare the sizes of the first iteration
            graph = graph._replace(declared={name: kind_of(value) for name, value in graph.declared.items()})
        for (name, declared), value in zip(graph.inputs, inputs, strict=False):
            if declared is not None:
                value = of_input(record, name, kind_of(declared) if scope.repeated else declared, value)
            scope[name] = value
        certain, uncertain = record.nesting.certain, record.statements.uncertain
        record.statements.uncertain = []
        record.nesting.certain = certain and reached is True
        record.nesting.within.append(graph)
        try:
            self._run(record, graph, scope)
            self._end = record.checkpoint()
            if reached is False:
                self.forget()
            self._note_broken_laws(certain=reached is True)
            self._stated = record.statements.uncertain
        finally:
            record.nesting.within.pop()
            record.nesting.certain, record.statements.uncertain = certain, uncertain
        if repeated:  # they are about any iteration, so the record does not keep them
            self._stated = record.statements.pairs[self._start.stated :]
            record.statements.put((), self._start.stated)
        record.nesting.seen.graphs[id(graph.handle)] = (graph, scope)
        return [scope[name] if scope.knows(name) else NOTHING for name in graph.outputs]

    def forget(self) -> None:
        """Remove the diagnostics and the assumptions of the last pass, because no run comes to the graph."""
        assert self._start is not None
        assert self._end is not None
        del self._record.diagnostics[self._start.diagnostics : self._end.diagnostics]
        self._record.statements.put(self._record.statements.pairs[self._end.stated :], self._start.stated)

    def _note_broken_laws(self, *, certain: bool) -> None:
        """Find the first law that a node of the graph breaks in every run.

        It is `refusal` if every run fails there, and `breach` if a runtime may go on, because the law is assumed. It is
        an error only if the graph runs for certain. What nodes demand of sizes that rest on assumptions may be no
        demand of a run.
        """
        record = self._record
        assert self._start is not None
        diagnostics, start = record.diagnostics, self._start.diagnostics
        self.refusal = self.breach = None
        refusals: list[Diagnostic] = [d for d in diagnostics[start:] if isinstance(d, Refusal)]
        if not certain:
            diagnostics[start:] = [Diagnostic(*d) if isinstance(d, Refusal) else d for d in diagnostics[start:]]
        broken = [d for d in diagnostics[start:] if certain and d.severity == "error" and d.operator]
        if not (refusals or broken or record.statements.uncertain):
            return
        if not refusals and not broken and contradiction(record.statements.uncertain) is None:
            return
        unsure = dependent_values(record, record.nesting.within)
        if unsure is None:
            return
        uncertain = record.statements.uncertain
        surely = {label_of(node) for node in self.graph.nodes() if not reads(record, node, unsure)}
        if unsure:
            refusals = [d for d in refusals if d.node in surely]
            uncertain = [(statement, node) for statement, node in uncertain if not reads(record, node, unsure)]
        self.refusal = _first_line(refusals) or contradiction(uncertain)
        self.breach = _first_line([d for d in broken if d.node in surely])

    # -- iteration ------------------------------------------------------------------------------------------------

    @property
    def is_nested(self) -> bool:
        """Whether the node of this graph stands in a body itself."""
        return self._record.nesting.depth > 0

    def may_repeat(self) -> bool:
        """Whether another walk over the body is allowed; its number is limited."""
        record = self._record
        return record.nesting.depth == 0 or record.nesting.repeats.get(id(self.graph.handle), 0) < MAX_REPEATS

    def remembered(self) -> tuple[list[Value], frozenset[Var]]:
        """The remembered state of an earlier pass over this graph, in the same node of the main graph."""
        return self._record.nesting.states.get(id(self.graph.handle), ([], frozenset()))

    def remember(self, state: list[Value], inside: frozenset[Var]) -> None:
        """Remember the values with which the graph was walked, and the sizes in them that belong to the inside."""
        if self._record.nesting.depth:
            self._record.nesting.states[id(self.graph.handle)] = (state, inside)

    def size(self, why: str, *, at_most: Dim | None = None, at_least: int | None = 0) -> Var:
        """A new size for the inside of the body, or an integer without a lower bound."""
        hi = at_most if isinstance(at_most, int) else None
        var = make_size(self._record.symbols.name(), at_least, hi, at_most, why)
        self._made.add(var)
        return var

    def locals(self, values: list[Value], outside: list[Value]) -> frozenset[Var]:
        """The variables in values of the body that have a meaning only inside it.

        These are the sizes made during its walk, and symbols that are declared only inside.
        """
        return self._inner(_variables(values), outside)

    def _inner(self, variables: set[Var], outside: list[Value]) -> frozenset[Var]:
        """The variables that have a meaning only inside the body."""
        record = self._record
        assert self._start is not None
        self._made.update(record.sizes.created[self._start.created :])
        names = record.symbols.names
        uncertain = {v for v in variables - self._made if not is_data_dependent(v.origin) and v.name not in names}
        if uncertain:
            uncertain -= _variables(chain(outside, *(scope.values() for scope in self._scope.outwards())))
        return frozenset((variables & self._made) | uncertain)

    def demands(self, sizes: Mapping[Var, Dim], outside: list[Value]) -> list[Statement]:
        """What the last pass demands of the values outside, in the iteration in which it has these sizes.

        `sizes` are those of the inside. A statement about other sizes of the inside is left out: no caller knows them.
        """
        stated: list[Statement] = []
        for statement, node in self._stated:
            try:
                demand = statement.substitute(sizes)
            except (BoundsError, DivisionByZero):
                continue
            if not self._inner(set(variables_of((demand.lhs, demand.rhs, *demand.filled))), outside):
                stated.append(demand._replace(law=f"{node[0]} '{label_of(node)}': {demand.law}"))
        return stated

    def certain_demands(self) -> list[Statement]:
        """What each run of the last pass demands of the values outside, if it need not run itself."""
        record = self._record
        stated = [pair for pair in self._stated if pair[0].kind == "required" and pair[0].relation != "undecided"]
        unsure = dependent_values(record, (*record.nesting.within, self.graph)) if stated else None
        if unsure is None:
            return []
        self._stated = [(statement, node) for statement, node in stated if not reads(record, node, unsure)]
        return self.demands({}, [])

    def release(self, values: list[Value]) -> None:
        """Allow sizes of the inside in values outside, unchanged: there is only a single iteration."""
        created = self._record.sizes.created
        created += sorted((_variables(values) & self._made).difference(created), key=lambda v: v.name)


def _first_line(diagnostics: list[Diagnostic]) -> str | None:
    return str(diagnostics[0]).partition("\n")[0] if diagnostics else None


def _variables(values: Iterable[Value]) -> set[Var]:
    return {v for value in values for v in variables_in(value)}
