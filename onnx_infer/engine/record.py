"""The record of a walk over a model: what is walked, what is found so far, and the way back to an earlier state of it.

It is plain data. The functions of this room work on it: `walk.py` visits the nodes, the other files do one thing each.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onnx_infer.diagnostics import Diagnostic, WrongShape
from onnx_infer.engine.fresh import FreshSizes, OwnSizes
from onnx_infer.engine.run_time import RunTimeValues
from onnx_infer.engine.scope import Scope
from onnx_infer.laws.bounds import Bounds, narrow_by
from onnx_infer.laws.statements import Mode
from onnx_infer.model.given import Given, InFile
from onnx_infer.model.graph import normal_domain, read_once
from onnx_infer.operators.lookup import operators_of
from symdim.algebra.dims import substituted
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.given import Interval
    from onnx_infer.model.graph import Attributes, Function, Graph, Model, Node
    from onnx_infer.model.input_values import InputValue
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.types.merge import ShapeMergePolicy
    from onnx_infer.values.tensor import Dim, Value
    from symdim import Expr, Var


class Setting(NamedTuple):
    """What a walk may use: how declared types are merged, and what rules may conclude.

    The declared types of the `trusted` values are known and not claims; if types are `assumed`, those of all values. A
    declared number of a size that data decide or that is long, and a declared rank that selects one of two tensors, is
    used only if the walk `uses_claims`. With `adopt` a size that the data decide takes a declared name. A walk that
    `ends_early` ends where a rule asks for the sign of a size that the bounds implied so far decide.
    """

    policy: ShapeMergePolicy = "refine"
    adopt: bool = True
    ends_early: bool = False
    assumes_declared: bool = False
    trusted: Container[str] = ()
    uses_claims: bool = True
    mode: Mode = Mode()


class Bodies:
    """The graphs that were walked in one body by handle, each with its values, and those in the calls of functions."""

    __slots__ = ("calls", "graphs")

    def __init__(self) -> None:
        self.graphs: dict[int, tuple[Graph, Scope]] = {}
        self.calls: list[Bodies] = []


class CallTables:
    """What a walk knows of the calls of functions; see `calls.py`. A function is known by domain, name and overload."""

    def __init__(self, model: Model) -> None:
        self.of_model = {(normal_domain(d), n, o): f for (d, n, o), f in model.functions.items()}
        self.functions: dict[
            tuple[str, str, str], Function
        ] = {}  # those that are called, with nodes that are read once
        self.asked: dict[tuple[str, str, str], set[str]] = {}  # the inputs whose elements a body reads
        self.outcomes: dict[tuple[Any, ...], tuple[Any, Bodies]] = {}  # signature -> `Outcome`, and what was walked
        self.active: set[tuple[str, str, str]] = set()
        self.resolved: dict[tuple[Attributes, Attributes | None], Attributes] = {}
        self.equal: dict[Any, Attributes] = {}
        self.walks: Counter[tuple[str, str, str]] = Counter()
        self.nested = 0  # the number of walks for calls inside functions


class Claim(NamedTuple):
    """A declared size of a value and the inferred one (None: nothing is inferred). The node gives the value."""

    value: str
    declared: Dim
    inferred: Dim | None
    node: Node

    def substitute(self, variables: Mapping[Any, Dim], resolve: Callable[[Dim], Dim]) -> Claim:
        """The claim with other sizes in place of variables, after solved variables are replaced."""
        found = None if self.inferred is None else substituted(resolve(self.inferred), variables)
        return self._replace(declared=substituted(self.declared, variables), inferred=found)


class CertainBounds(NamedTuple):
    """Bounds of input symbols that hold in every run and decide a sign, and the statements that imply them."""

    of: Mapping[str, Interval]
    stated: tuple[tuple[Statement, Node], ...]


class Checkpoint(NamedTuple):
    """The lengths of the lists of a record at some point. A body that is walked again starts from it.

    Names of fresh sizes are not given twice, so what solves and counts these sizes is not part of it.
    """

    diagnostics: int
    stated: int
    created: int
    claims: int
    calls: int
    unknown: int


class Mark(NamedTuple):
    """The state of a record between two nodes of the main graph. What is small is copied, of the rest the length."""

    checkpoint: Checkpoint
    lengths: tuple[int, ...]
    counts: tuple[int, int]
    choice: tuple[Mode, Node | None]
    fresh_sizes: FreshSizes
    run_time: RunTimeValues
    asked: dict[tuple[str, str, str], set[str]]
    walks: Counter[tuple[str, str, str]]
    nested: int


class Record:
    """The record of one walk. `scope` has the values of the main graph, `inner` the graphs in it with theirs."""

    def __init__(self, model: Model, symbols: Symbols, setting: Setting = Setting()) -> None:  # noqa: B008 (a constant)
        self.model, self.symbols, self.setting = model, symbols, setting
        self.mode = setting.mode

        # what the walk finds
        self.scope = Scope(model, model.graph.constants, operators_of(model.opsets))
        self.inner: list[tuple[Graph, Scope]] = []
        self.notes: dict[str, str] = {}
        self.diagnostics: list[Diagnostic] = []
        self.contradictions: Sequence[Diagnostic] = ()  # the errors about demands that no run fulfils
        self.claims: list[Claim] = []
        self.created: list[Var] = []
        self.unknown_operators: dict[str, None] = {}  # in the order in which they were met
        self.fresh_sizes = FreshSizes()
        self.run_time = RunTimeValues(symbols)
        self.undecided: dict[Expr, None] = {}  # the sizes of which a rule must know whether they are negative
        self.choices: dict[tuple[Dim, Dim], None] = {}  # pairs of sizes of which broadcasting chose one
        self.last_choice: Node | None = None  # the node of the last one, if there were too many
        self._stated: list[tuple[Statement, Node]] = []

        # what declared types say
        self.assumed: list[str] = []  # relations from assumed declared types
        self.unselected: list[str] = []  # values that are one of two tensors, though their declared rank selects one
        self.left_open: frozenset[tuple[str, int | None]] = frozenset()  # declared numbers and ranks that are not used
        self.reopened: dict[Var, Var] = {}  # a name of an earlier inference -> the size that has it now
        self.first_named: dict[Var, tuple[str, int]] = {}  # a name -> the value about which nothing else is known

        # where the walk is
        self.may_end = setting.ends_early
        self.known_early: CertainBounds | None = None  # the bounds with which the walk has ended before its last node
        self._read = 0  # the number of statements that have narrowed the implied bounds
        self.within: list[Graph] = []  # the subgraphs that are being walked, one in the other
        self.certain = True  # whether the graph that is being walked runs wherever the model does
        self.uncertain: list[tuple[Statement, Node]] = []  # the statements of a graph that may not run
        self.seen = Bodies()
        self.calls = CallTables(model)
        self.repeats: dict[int, int] = {}  # the repeated walks over bodies of nested loops, and their last states
        self.states: dict[int, tuple[list[Value], frozenset[Var]]] = {}

        # after the walk
        self.unsolved: dict[str, Value] = {}  # the values whose fresh sizes were solved, as they were before
        self.own_sizes = OwnSizes()
        self.in_file = InFile()  # the contract in the file
        self.given: tuple[Given, Mapping[str, InputValue]] = Given(), {}  # what the caller has assumed
        self._views: dict[int, Graph] = {}

    @property
    def depth(self) -> int:
        """How many subgraphs are being walked, one in the other."""
        return len(self.within)

    @cached_property
    def main_nodes(self) -> Sequence[Node]:
        """The nodes of the main graph, read from the model once more."""
        return list(self.model.graph.nodes())

    def view(self, handle: Any) -> Graph:
        """The graph of a graph attribute. It is read from the model once."""
        found = self._views.get(id(handle))
        if found is None:
            found = self._views[id(handle)] = read_once(self.model.subgraph(handle))
        return found

    def scopes(self) -> tuple[Scope, ...]:
        """The values of the main graph and of all others."""
        return (self.scope, *(scope for _, scope in self.inner))

    # -- errors ---------------------------------------------------------------------------------------------------

    def complain(self, message: str) -> None:
        """Record an error that does not belong to a single node."""
        self.diagnostics.append(Diagnostic("error", "", "", message))

    def warn_of(self, value: str, told: str) -> None:
        """Record that the declared shape of a value contradicts the inferred one, as it is `told`."""
        self.diagnostics.append(WrongShape("warning", "", value, f"value '{value}': {told}"))

    # -- statements -----------------------------------------------------------------------------------------------

    @property
    def statements(self) -> list[Statement]:
        """The statements so far."""
        return [statement for statement, _ in self._stated]

    def state(self, statement: Statement, node: Node) -> None:
        """Record a statement of a node."""
        self._stated.append((statement, node))

    def stated(self, start: int = 0) -> list[tuple[Statement, Node]]:
        """The statements from an index on, each with its node."""
        return self._stated[start:]

    def restate(self, stated: Sequence[tuple[Statement, Node]], start: int = 0) -> None:
        """Put other statements in the place of those from an index on."""
        self._stated[start:] = stated

    def says_more(self) -> bool:
        """Whether the walk has found more than values and diagnostics: statements, claims, or sizes that are solved."""
        return bool(self._stated or self.claims or self.unsolved or self.unselected)

    @cached_property
    def _implied(self) -> Bounds:
        """The bounds that the first statements imply."""
        return Bounds()

    def is_decided(self, size: Expr) -> bool:
        """Whether the statements so far imply bounds that say if a size is negative. Each statement is read once."""
        new = self.stated(self._read)
        self._read += len(new)
        narrow_by((statement for statement, _ in new), self._implied)
        return bool(self._implied.of) and self._implied.decides(size)

    def is_open(self) -> bool:
        """Whether the walk has asked, claimed or solved something that a second one could know from its start."""
        return bool(self.undecided or self.claims or self.unsolved or self.unselected)

    # -- checkpoints ----------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """The current lengths of the lists."""
        return Checkpoint(
            len(self.diagnostics),
            len(self._stated),
            len(self.created),
            len(self.claims),
            len(self.seen.calls),
            len(self.unknown_operators),
        )

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Drop everything that was recorded since the checkpoint."""
        del self.diagnostics[checkpoint.diagnostics :]
        del self._stated[checkpoint.stated :]
        del self.created[checkpoint.created :]
        del self.claims[checkpoint.claims :]
        del self.seen.calls[checkpoint.calls :]
        while len(self.unknown_operators) > checkpoint.unknown:
            self.unknown_operators.popitem()

    def _tables(self) -> tuple[dict[Any, Any] | list[Any], ...]:
        """The tables that only grow while the nodes of the main graph are visited, unless a name is given twice."""
        by_name = self.scope, self.notes, self.seen.graphs, self.calls.outcomes
        declared = self.assumed, self.unselected, self.reopened, self.first_named
        return (*by_name, *declared, self.choices, self.undecided, self._views)

    def mark(self) -> Mark:
        """The state between two nodes of the main graph, to come `back_to`."""
        return Mark(
            self.checkpoint(),
            tuple(map(len, self._tables())),
            (self.symbols.count, self.symbols.inner_count),
            (self.mode, self.last_choice),
            self.fresh_sizes.copy(),
            self.run_time.copy(),
            {function: set(names) for function, names in self.calls.asked.items()},
            Counter(self.calls.walks),
            self.calls.nested,
        )

    def back_to(self, mark: Mark) -> None:
        """Forget all nodes since the mark: the record is what it was then. A mark can be used again."""
        self.rewind(mark.checkpoint)
        for table, length in zip(self._tables(), mark.lengths, strict=True):
            if isinstance(table, list):
                del table[length:]
            while len(table) > length:
                table.popitem()  # type: ignore[union-attr]
        self.symbols.count, self.symbols.inner_count = mark.counts
        self.mode, self.last_choice = mark.choice
        self.fresh_sizes, self.run_time = mark.fresh_sizes.copy(), mark.run_time.copy()
        self.calls.asked = {function: set(names) for function, names in mark.asked.items()}
        self.calls.walks, self.calls.nested = Counter(mark.walks), mark.nested
