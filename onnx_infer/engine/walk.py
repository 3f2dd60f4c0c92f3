"""The record of a walk over a model, and the return to an earlier state of it.

The parts of the engine (frames, functions, subgraphs, declared types) use this class. `Engine` adds the nodes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.diagnostics import Diagnostic, WrongShape
from onnx_infer.engine.claims import needs_belief
from onnx_infer.engine.fresh_sizes import FreshSizes, renew, replacing
from onnx_infer.engine.long_sizes import Shorter, shorter_sizes
from onnx_infer.engine.made_sizes import OwnSizes, is_made
from onnx_infer.engine.outcome import Outcome
from onnx_infer.engine.run_time_elements import RunTimeValues
from onnx_infer.engine.scope import Scope
from onnx_infer.laws.bounds import UndecidedSigns
from onnx_infer.laws.statements import Statement
from onnx_infer.model.graph import Graph, Model, Node, label_of, title_of
from onnx_infer.operators.lookup import operators_of
from onnx_infer.types.join import NOTHING, sizes, variables_in
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import Expr, Var
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import Substitution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.engine.claims import Belief, Claim
    from onnx_infer.engine.found import Found
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.types.merge import ShapeMergePolicy


class Checkpoint(NamedTuple):
    """The lengths of a walk's records at some point."""

    diagnostics: int
    statements: int
    created: int
    claims: int
    calls: int
    unknown: int


class Record:
    """The record of one walk over a body: the scopes of the graphs in it by handle, and the calls of functions."""

    __slots__ = ("calls", "graphs")

    def __init__(self) -> None:
        self.graphs: dict[int, tuple[Graph, Scope]] = {}
        self.calls: list[Record] = []


class Walk:
    """The record of one inference. `scope` has the values of the main graph, `inner` the graphs in it."""

    adopt: bool
    inner: list[tuple[Graph, Scope]]
    left_open: frozenset[Belief] = frozenset()
    """What declared types say and the walks of this inference do not believe."""
    contradictions: Sequence[Diagnostic] = ()
    """The errors about demands that no run fulfils."""

    def __init__(self, model: Model, symbols: Symbols, policy: ShapeMergePolicy) -> None:
        self.model, self.symbols, self.policy = model, symbols, policy
        self.scope = Scope(model, model.graph.constants, operators_of(model.opsets))
        self.diagnostics: list[Diagnostic] = []
        self.notes: dict[str, str] = {}
        self.statements: list[Statement] = []
        self._stated_by: list[Node] = []  # the node of each statement
        self.claims: list[Claim] = []
        self.assumed: list[str] = []  # relations from assumed declared types
        self.emptied: set[str] = set()  # symbols that must be 0, for which `min_dim` gives another least size
        self.unselected: list[str] = []  # values that are one of two tensors, though their declared rank selects one
        self.created: list[Var] = []
        self.unknown_operators: dict[str, None] = {}  # in the order in which they were met
        self.seen = Record()
        self.undecided_signs = UndecidedSigns(symbols.names)
        self.fresh_sizes = FreshSizes()
        self.run_time = RunTimeValues(symbols)
        self._own_sizes = OwnSizes()
        self.depth = 0  # how many subgraphs are being walked, one in the other
        self.within: list[Graph] = []  # these subgraphs
        self.certain = True  # whether the graph that is being walked runs wherever the model does
        self.doubtful: list[tuple[Statement, Node]] = []  # the statements of a graph that may not run
        self.noted = 0  # how many outcomes had more to them than results
        self.repeats: dict[int, int] = {}
        self.states: dict[int, tuple[list[Value], frozenset[Var]]] = {}
        self._unsolved: dict[str, Value] = {}

    @cached_property
    def main_nodes(self) -> Sequence[Node]:
        """The nodes of the main graph, read from the model once more."""
        return list(self.model.graph.nodes())

    # -- implemented by the engine --------------------------------------------------------------------------------

    def run_graph(self, graph: Graph, scope: Scope) -> None:
        """Infer the values of a graph and of the functions that it calls. Its inputs are in the scope, or declared."""
        raise NotImplementedError

    def view(self, handle: Any) -> Graph:
        """The graph of a graph attribute. It is read from the model once."""
        raise NotImplementedError

    def bind_graphs(self, value: Any, scope: Scope) -> Any:
        """An attribute's value with graphs as functions. A graph that is a function already stays."""
        raise NotImplementedError

    def declared_input(self, name: str, declared: Value, given: Value) -> Value:
        """The declared type of a subgraph's input, merged with the given value."""
        raise NotImplementedError

    # -- errors ---------------------------------------------------------------------------------------------------

    def complain(self, message: str) -> None:
        """Record an error that does not belong to a single node."""
        self.diagnostics.append(Diagnostic("error", "", "", message))

    def warn_of(self, value: str, told: str) -> None:
        """Record that the declared shape of a value contradicts the inferred one, as it is `told`."""
        self.diagnostics.append(WrongShape("warning", "", value, f"value '{value}': {told}"))

    def failed(self, node: Node, message: str) -> Outcome:
        """The outcome of a call that cannot be made."""
        title = title_of(node)
        self.diagnostics.append(Diagnostic("error", title, label_of(node), message))
        return Outcome((NOTHING,) * len(node[3]))

    # -- statements -----------------------------------------------------------------------------------------------

    def state(self, statement: Statement, node: Node) -> None:
        """Record a statement of a node."""
        self.statements.append(statement)
        self._stated_by.append(node)

    def stated(self, start: int = 0) -> list[tuple[Statement, Node]]:
        """The statements from an index on, each with its node."""
        return list(zip(self.statements[start:], self._stated_by[start:], strict=True))

    def restate(self, stated: Sequence[tuple[Statement, Node]], start: int = 0) -> None:
        """Put other statements in the place of those from an index on."""
        self.statements[start:] = [statement for statement, _ in stated]
        self._stated_by[start:] = [node for _, node in stated]

    def unstate(self, start: int, end: int) -> None:
        """Drop the statements from an index up to another one."""
        del self.statements[start:end]
        del self._stated_by[start:end]

    # -- checkpoints ----------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """The current lengths of the records."""
        seen, unknown = self.seen, self.unknown_operators
        claims = self.claims
        return Checkpoint(
            len(self.diagnostics), len(self.statements), len(self.created), len(claims), len(seen.calls), len(unknown)
        )

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Drop everything that was recorded since the checkpoint."""
        del self.diagnostics[checkpoint.diagnostics :]
        del self.statements[checkpoint.statements :]
        del self._stated_by[checkpoint.statements :]
        del self.created[checkpoint.created :]
        del self.claims[checkpoint.claims :]
        del self.seen.calls[checkpoint.calls :]
        while len(self.unknown_operators) > checkpoint.unknown:
            self.unknown_operators.popitem()

    # -- substitution --------------------------------------------------------------------------------------------

    def replace_solved(self) -> None:
        """Replace fresh sizes by what they equal."""
        if self.fresh_sizes or self.run_time.limits:
            self.created += self.fresh_sizes.tighten(self.created, self.run_time.limits)
            before = dict(self.scope)
            self._map(replacing(self.fresh_sizes.final()))
            self._unsolved = {name: value for name, value in before.items() if self.scope[name] is not value}

    def with_solved(self, found: Found | None, shorter: Shorter) -> Found | None:
        """The shapes that the next walk may know from the start: those found before, and those of solved sizes.

        Also the numbers that `shorter` sizes give. The next inference reads them too.
        """
        if not self._unsolved and not shorter:
            return found
        from onnx_infer.engine.found import NOTHING_FOUND  # few models need it

        more = (found or NOTHING_FOUND).with_solved(self._unsolved, self.scope)
        if shorter:
            inputs = {name for name, _ in self.model.graph.inputs}
            values = {name: value for name, value in self.scope.items() if name not in inputs}
            more = more.with_numbers(values, shorter.put)
        return found if more == NOTHING_FOUND else more

    def unconfirmed(self) -> frozenset[Belief]:
        """What declared types of values say and no node demands: a rank, or a number.

        The number is that of a size that data decide, or of one with many names or a clamp.
        """
        ranks = [(name, None) for name in self.unselected]
        if self.policy == "skip" or not self.claims:
            return frozenset(ranks)
        resolve = self.fresh_sizes.resolve
        claimed = [(c.value, c.declared, c.inferred) for c in self.claims if isinstance(c.declared, int)]
        replaced = [(name, number, size) for name, number, size in claimed if size is not None and needs_belief(size)]
        numbers = [(name, number, found) for name, number, size in replaced if (found := resolve(size)) != number]
        demanded = self.shorter_sizes().of if numbers else {}
        return frozenset((*ranks, *((name, number) for name, number, size in numbers if demanded.get(size) != number)))

    def computed_inputs(self) -> dict[str, Value]:
        """The inputs with a size that the model writes as an expression with a division or a clamp, `max(M, 3)`.

        A run that breaks a guard has this size too, so nothing that a guard implies is written into an input.
        """
        given = [(name, self.scope.get(name)) for name, _ in self.model.graph.inputs]
        shaped = [(name, value) for name, value in given if isinstance(value, SymTensor) and value.shape]
        return {name: value for name, value in shaped if any(isinstance(d, Expr) and d._height for d in value.dims)}

    def shorten_long_sizes(self) -> None:
        """Replace long sizes by shorter ones that operators demand to equal them."""
        if shorter := self.shorter_sizes():
            self._map(shorter.put)
            resolve = self.fresh_sizes.resolve
            self.claims = [claim.substitute(shorter.sizes, resolve) for claim in self.claims]

    def doubt_shortened(self, shorter: Shorter) -> None:
        """Record that it matters whether shorter sizes equal the long ones: the next inference finds them declared."""
        scopes = self.scope, *(s for _, s in self.inner)
        values = dict.fromkeys(value for scope in scopes for value in scope.values())
        for size in dict.fromkeys(size for value in values for size in sizes(value)):
            self.undecided_signs.doubt(shorter.within(size), size)

    def shorter_sizes(self, statements: Iterable[Statement] | None = None) -> Shorter:
        """What statements of operators, or all of them, give for the long sizes of all graphs."""
        scopes = self.scope, *(s for _, s in self.inner)
        return shorter_sizes(scopes, self.statements if statements is None else statements, self.fresh_sizes.resolve)

    def take_own_sizes(self) -> None:
        """Replace the sizes that the walk made by variables of the same names that no other inference has.

        Doing it again changes nothing.
        """
        own = self._own_sizes
        told = [d._replace(inputs=tuple([(n, v and own.put(v)) for n, v in d.inputs])) for d in self.diagnostics]
        self.diagnostics[:] = told
        values = dict.fromkeys(value for scope in (self.scope, *(s for _, s in self.inner)) for value in scope.values())
        stated = [size for statement in self.statements for size in (statement.lhs, statement.rhs, *statement.filled)]
        held = [v for value in values for v in variables_in(value)]
        for var in dict.fromkeys((*self.created, *held, *variables_of(stated))):
            if is_made(var):
                own.enter(var)
        if own.of:
            self.rename(own.of, is_lasting=False)

    def rename(
        self, variables: Mapping[Any, Dim], names: Mapping[Var, Var] | None = None, *, is_lasting: bool = True
    ) -> None:
        """Replace variables by other sizes: in values, statements and claims, and in the bounds of fresh sizes.

        `names` are declared names for fresh sizes, which keep their bounds and origins. If `is_lasting`, the next
        inference of the model renames the same variables.
        """
        new, names = dict(variables), names or {}
        for var in dict.fromkeys((*self.created, *names)):
            if var not in new:
                renew(var, new, name=names.get(var))
        self.created = [size for var in self.created if isinstance(size := new.get(var, var), Var)]
        known, resolve = Substitution(new), self.fresh_sizes.resolve
        renamed = replacing(known, is_lasting=is_lasting)
        self._map(renamed)
        self.statements = list(map(renamed, self.statements))
        self.claims = [claim.substitute(known, resolve) for claim in self.claims]
        self.fresh_sizes.rename(new)

    def _map(self, change: Callable[[Value], Value]) -> None:
        changed: dict[Value, Value] = {}
        for scope in (self.scope, *(s for _, s in self.inner)):
            for name, value in scope.items():
                if value not in changed:
                    changed[value] = change(value)
                scope[name] = changed[value]
