"""What one pass over a model records: plain data, in small records by purpose. The functions of this package fill it.

Record            model, symbols and settings; values, notes and diagnostics; the records below; the way back
Statements        what nodes demand of sizes
Sizes             the sizes that the pass made
DeclaredTypes     what declared types say beside the inferred ones
Nesting           the bodies in which the pass is
CallTables        the calls of functions
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
from onnx_infer.laws.statements import Mode, make_size
from onnx_infer.model.graph import normal_domain, read_once
from onnx_infer.operators.operator import operators_of
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor
from symdim.algebra.dims import substituted
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.given import Interval
    from onnx_infer.model.graph import Attributes, Function, FunctionKey, Graph, Model, Node
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.types.merge import ShapeMergePolicy
    from onnx_infer.values.tensor import Dim, Value
    from symdim import Expr, Var


NAMELESS = "no size declared"
"""The origin of a size for which a declared type has neither a number nor a name."""


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


class Claim(NamedTuple):
    """A declared size of a value and the inferred one (None: nothing is inferred). The node gives the value."""

    value: str
    declared: Dim
    inferred: Dim | None
    node: Node

    def substitute(self, variables: Mapping[Any, Dim], resolve: Callable[[Dim], Dim]) -> Claim:
        """The claim with other sizes in place of variables, after solved variables are replaced."""
        inferred = None if self.inferred is None else substituted(resolve(self.inferred), variables)
        return self._replace(declared=substituted(self.declared, variables), inferred=inferred)


class CertainBounds(NamedTuple):
    """Bounds of input symbols that hold in every run and decide a sign, and the statements that imply them."""

    of: Mapping[str, Interval]
    stated: tuple[tuple[Statement, Node], ...]


class Statements:
    """What nodes demand of sizes, each statement with its node, and what a second pass could use of it."""

    def __init__(self, *, may_end: bool = False) -> None:
        self.pairs: list[tuple[Statement, Node]] = []
        self.uncertain: list[tuple[Statement, Node]] = []  # those of a graph that may not run
        self.undecided: dict[Expr, None] = {}  # the sizes of which a rule must know whether they are negative
        self.contradictions: Sequence[Diagnostic] = ()  # the errors about demands that no run fulfils
        self.may_end = may_end  # whether the pass ends where the bounds implied so far decide a sign
        self.known_early: CertainBounds | None = None  # the bounds with which it has ended before its last node
        self._read = 0  # the number of the statements of which `_implied` are the bounds

    @cached_property
    def _implied(self) -> Bounds:
        """The bounds that the first statements imply."""
        return Bounds()

    @property
    def plain(self) -> list[Statement]:
        """The statements without their nodes."""
        return [statement for statement, _ in self.pairs]

    def add(self, statement: Statement, node: Node) -> None:
        """Record a statement of a node."""
        self.pairs.append((statement, node))

    def put(self, pairs: Sequence[tuple[Statement, Node]], start: int = 0) -> None:
        """Put other statements in the place of those from an index on."""
        self.pairs[start:] = pairs

    def decide(self, size: Expr) -> bool:
        """Whether the statements so far imply bounds that say if a size is negative. Each statement is read once."""
        new = self.pairs[self._read :]
        self._read += len(new)
        narrow_by((statement for statement, _ in new), self._implied)
        return bool(self._implied.of) and self._implied.decides(size)


class Sizes:
    """The sizes that a pass made, because data decide them or because broadcasting chose one of two."""

    def __init__(self, symbols: Symbols) -> None:
        self.created: list[Var] = []
        self.fresh = FreshSizes()  # what these sizes equal
        self._symbols = symbols
        self.unsolved: dict[str, Value] = {}  # the values whose fresh sizes were solved, as they were before
        self.choices: dict[tuple[Dim, Dim], None] = {}  # pairs of sizes of which broadcasting chose one
        self.last_choice: Node | None = None  # the node of the last one, if there were too many

    def opened(self, value: Value) -> Value:
        """The value with new names for unknown sizes."""
        if not isinstance(value, SymTensor) or value.shape is None or UNKNOWN_SIZE not in value.shape:
            return value
        return SymTensor(value.dtype, [self.nameless() if d is UNKNOWN_SIZE else d for d in value.shape])

    def nameless(self) -> Var:
        """A new size for one of which a declared type has neither a number nor a name."""
        new = make_size(self._symbols.name(), 0, None, None, NAMELESS)
        self.created.append(new)
        return new

    @cached_property
    def run_time(self) -> RunTimeValues:
        """The elements that only a run knows, from which sizes are computed."""
        return RunTimeValues(self._symbols)

    @cached_property
    def own(self) -> OwnSizes:
        """The variables of this result only."""
        return OwnSizes()


class DeclaredTypes:
    """What declared types say beside the inferred ones; `claims.py` has the law."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.assumed: list[str] = []  # relations from assumed declared types
        self.unselected: list[str] = []  # values that are one of two tensors, though their declared rank selects one
        self.left_open: frozenset[tuple[str, int | None]] = frozenset()  # declared numbers and ranks that are not used
        self.first_named: dict[Var, tuple[str, int]] = {}  # a name -> the value about which nothing else is known


class Bodies:
    """The graphs that were walked in one body by handle, each with its values, and those in the calls of functions."""

    __slots__ = ("calls", "graphs")

    def __init__(self) -> None:
        self.graphs: dict[int, tuple[Graph, Scope]] = {}
        self.calls: list[Bodies] = []


class Nesting:
    """The bodies in which a pass is, and what it remembers of them."""

    def __init__(self) -> None:
        self.within: list[Graph] = []  # the subgraphs that are being visited, one in the other
        self.certain = True  # whether the graph that is being visited runs wherever the model does
        self.seen = Bodies()
        self.repeats: dict[int, int] = {}  # the repeated visits of bodies of nested loops, and their last states
        self.states: dict[int, tuple[list[Value], frozenset[Var]]] = {}
        self.views: dict[int, Graph] = {}  # the graphs of graph attributes

    @property
    def depth(self) -> int:
        """How many subgraphs are being visited, one in the other."""
        return len(self.within)


class CallTables:
    """What a walk knows of the calls of functions; see `calls.py`. A function is known by domain, name and overload."""

    def __init__(self, model: Model) -> None:
        self.of_model = {(normal_domain(d), n, o): f for (d, n, o), f in model.functions.items()}
        self.functions: dict[FunctionKey, Function] = {}  # those that are called, with nodes that are read once
        self.asked: dict[FunctionKey, set[str]] = {}  # the inputs whose elements a body reads
        self.outcomes: dict[tuple[Any, ...], tuple[Any, Bodies]] = {}  # signature -> `Outcome`, and what was walked
        self.active: set[FunctionKey] = set()
        self.resolved: dict[tuple[Attributes, Attributes | None], Attributes] = {}
        self.equal: dict[Any, Attributes] = {}
        self.walks: Counter[FunctionKey] = Counter()
        self.nested = 0  # the number of walks for calls inside functions


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


class Record:
    """The record of one pass. `scope` has the values of the main graph, `inner` the graphs in it with theirs."""

    def __init__(self, model: Model, symbols: Symbols, setting: Setting = Setting()) -> None:  # noqa: B008 (a constant)
        self.model, self.symbols, self.setting = model, symbols, setting
        self.mode = setting.mode
        self.scope = Scope(model, model.graph.constants, operators_of(model.opsets))
        self.inner: list[tuple[Graph, Scope]] = []
        self.notes: dict[str, str] = {}
        self.diagnostics: list[Diagnostic] = []
        self.unknown_operators: dict[str, None] = {}  # in the order in which they were met
        self.statements = Statements(may_end=setting.ends_early)
        self.sizes = Sizes(symbols)
        self.declared = DeclaredTypes()
        self.nesting = Nesting()

    @cached_property
    def calls(self) -> CallTables:
        """What is known of the calls of functions."""
        return CallTables(self.model)

    @cached_property
    def main_nodes(self) -> Sequence[Node]:
        """The nodes of the main graph, read from the model once more."""
        return list(self.model.graph.nodes())

    def view(self, handle: Any) -> Graph:
        """The graph of a graph attribute. It is read from the model once."""
        views = self.nesting.views
        graph = views.get(id(handle))
        if graph is None:
            graph = views[id(handle)] = read_once(self.model.subgraph(handle))
        return graph

    def scopes(self) -> tuple[Scope, ...]:
        """The values of the main graph and of all others."""
        return (self.scope, *(scope for _, scope in self.inner))

    def complain(self, message: str) -> None:
        """Record an error that does not belong to a single node."""
        self.diagnostics.append(Diagnostic("error", "", "", message))

    def warn_of(self, value: str, reported: str) -> None:
        """Record that the declared shape of a value contradicts the inferred one, as it is `reported`."""
        self.diagnostics.append(WrongShape("warning", "", value, f"value '{value}': {reported}"))

    def says_more(self) -> bool:
        """Whether the pass has recorded more than values and diagnostics: statements, claims, or solved sizes."""
        return bool(self.statements.pairs or self.declared.claims or self.sizes.unsolved or self.declared.unselected)

    def is_open(self) -> bool:
        """Whether the pass has asked, claimed or solved something that a second one could know from its start."""
        asked = self.statements.undecided or self.sizes.unsolved
        return bool(asked or self.declared.claims or self.declared.unselected)

    # -- the way back ---------------------------------------------------------------------------------------------

    def _lists(self) -> tuple[list[Any], ...]:
        """The lists that only grow, in the order of the fields of `Checkpoint`."""
        declared, seen = self.declared, self.nesting.seen
        return self.diagnostics, self.statements.pairs, self.sizes.created, declared.claims, seen.calls

    def checkpoint(self) -> Checkpoint:
        """The current lengths of the lists."""
        return Checkpoint(*map(len, (*self._lists(), self.unknown_operators)))

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Drop everything that was recorded since the checkpoint."""
        for part, length in zip(self._lists(), checkpoint, strict=False):
            del part[length:]
        while len(self.unknown_operators) > checkpoint.unknown:
            self.unknown_operators.popitem()
