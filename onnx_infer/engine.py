"""The walk over a model's graphs: each node's rule is applied to what is known of its inputs.

Results are remembered by (operator, attributes, input values): these are interned, so equal layers are inferred once. A
remembered outcome replays the facts, notes and fresh sizes that its rule stated; fresh sizes stay fresh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .diagnostics import Diagnostic, about_node
from .errors import OnnxInferError
from .merge import merge
from .operators import Operators
from .order import sort_nodes
from .solution import Solution
from .tensor import SymTensor, substitute
from .trace import Fact, Trace, named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim import Var

    from .binding import Operator
    from .graph import Attributes, Graph, Model, Node
    from .merge import ShapeMergePolicy
    from .symbols import Symbols
    from .tensor import Dim, Value

NOTHING = SymTensor(None, None)
"""A value of which nothing is known."""

_MAX_REMEMBERED = 1 << 15
_remembered: dict[tuple[Any, ...], Outcome] = {}


class Outcome(NamedTuple):
    """What a rule said of a node: its results and what goes with them. `plain` if there is nothing but results."""

    values: tuple[Value, ...]
    plain: bool = True
    note: str | None = None
    facts: tuple[Fact, ...] = ()
    fresh: tuple[Var, ...] = ()
    error: tuple[str, str] | None = None


class UndefinedInput(Exception):  # noqa: N818  (a signal inside the engine)
    """A node reads a name that no earlier node gave: the nodes may be out of order."""


class Scope(dict[str, "Value"]):
    """The values of a graph by name; constants appear when first asked for, outer values are found through `parent`."""

    __slots__ = ("constants", "loaded", "model", "parent")

    def __init__(self, model: Model, constants: Any, parent: Scope | None = None) -> None:
        super().__init__()
        self.model, self.constants, self.parent = model, constants, parent
        self.loaded: dict[str, Value] = {}

    def __missing__(self, name: str) -> Value:
        if name in self.constants:
            value = self[name] = self.model.header(self.constants[name])
            return value
        if self.parent is None:
            raise UndefinedInput(name)
        return self.parent[name]

    def holder(self, name: str) -> Scope | None:
        """The scope whose constant this name is, or None."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.constants:
                return scope
            if name in scope:
                return None
            scope = scope.parent
        return None

    def load(self, name: str) -> Value:
        """The constant of this name, which this scope holds, with its elements if they are few."""
        value = self.loaded.get(name)
        if value is None:
            value = self.loaded[name] = self.model.load(self.constants[name])
        return value


class Engine:
    """One inference of one model; `run` fills `scope`, `diagnostics`, `facts`, `notes` and `inner`."""

    def __init__(self, model: Model, symbols: Symbols, policy: ShapeMergePolicy = "refine") -> None:
        self.model, self.symbols, self.policy = model, symbols, policy
        self.diagnostics: list[Diagnostic] = []
        self.facts: list[Fact] = []
        self.notes: dict[str, str] = {}
        self.inner: list[tuple[Graph, Scope]] = []
        self.operators = Operators(model.opsets)
        self.solution = Solution()
        self.scope = Scope(model, model.graph.constants)
        self._unknown_operators: set[str] = set()
        self._depth = 0

    def run(self) -> None:
        """Infer the main graph, then replace fresh sizes that turned out to equal known ones."""
        self.run_graph(self.model.graph, self.scope, self.operators)
        if self.solution:
            for scope in (self.scope, *(s for _, s in self.inner)):
                for name, value in scope.items():
                    scope[name] = self.solution.apply(value)

    def run_graph(self, graph: Graph, scope: Scope, operators: Operators) -> None:
        """Infer the values of a graph whose inputs are in the scope, or declared."""
        for name, value in graph.inputs:
            if name not in scope:
                scope[name] = NOTHING if value is None else value
        told, learnt, unknown = len(self.diagnostics), len(self.facts), set(self._unknown_operators)
        try:
            self._run_nodes(graph.nodes(), graph, scope, operators)
        except UndefinedInput:
            # the second walk says everything again
            del self.diagnostics[told:], self.facts[learnt:]
            self._unknown_operators = unknown
            for name in graph.literals:
                scope.pop(name, None)
            self._run_nodes(sort_nodes(graph, scope, self._complain), graph, scope, operators)
        scope.pop("", None)  # outputs that nodes leave out
        for name in graph.outputs:
            if name in graph.declared and name not in scope:
                self._complain(f"graph output '{name}' is produced by no node")

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _run_nodes(self, nodes: Iterable[Node], graph: Graph, scope: Scope, operators: Operators) -> None:
        declared = graph.declared
        remembered = _remembered
        for node in nodes:
            op_type, domain, inputs, outputs, attributes, _ = node
            operator = operators[domain, op_type]
            if operator is None:
                self._without_rule(node, scope, operators)
                continue
            values = tuple([scope[name] if name else None for name in inputs])
            if operator.asks:
                values = self._load(operator, inputs, values, scope)
            if attributes.has_graphs or attributes.references:
                outcome = self._special(operator, node, values, scope)
            else:
                key = (operator, attributes, len(outputs), values)
                found = remembered.get(key)
                if found is None:
                    found = apply(operator, attributes.values, values, len(outputs))
                    if len(remembered) >= _MAX_REMEMBERED:
                        remembered.clear()
                    remembered[key] = found
                outcome = found
            if not outcome.plain:
                outcome = self._replay(outcome, operator, node, values)
            if declared:
                self._declare(declared, outputs, outcome, scope)
            else:
                for name, value in zip(outputs, outcome.values, strict=False):
                    scope[name] = value

    def _load(
        self, operator: Operator, names: list[str], values: tuple[Value | None, ...], scope: Scope
    ) -> tuple[Value | None, ...]:
        """The inputs, with the elements of those constants that the rule asks for or its data function can use."""
        holders: dict[int, Scope] = {}
        reads = bool(operator.reads)
        for i, value in enumerate(values):
            if value is None or getattr(value, "data", ()) is not None:
                continue
            position = operator.position(i)
            holder = scope.holder(names[i]) if position in operator.wants or position in operator.reads else None
            if holder is not None:
                holders[i] = holder
            elif position in operator.reads - operator.partial:
                reads = False
        if not holders:
            return values
        out = list(values)
        for i, holder in holders.items():
            if reads or operator.position(i) in operator.wants:
                out[i] = holder.load(names[i])
        return tuple(out)

    def _special(self, operator: Operator, node: Node, values: tuple[Value | None, ...], scope: Scope) -> Outcome:
        """A node with subgraphs: they become functions from input values to output values."""
        attributes = node[4]
        bound = {name: self._bind_graphs(value, scope) for name, value in attributes.values.items()}
        return apply(operator, bound, values, len(node[3]))

    def _bind_graphs(self, value: Any, scope: Scope) -> Any:
        if isinstance(value, tuple) and value and not isinstance(value[0], (int, float, str)):
            return tuple(Subgraph(self, g, scope) for g in value)
        is_graph = hasattr(value, "DESCRIPTOR") and value.DESCRIPTOR.name == "GraphProto"
        return Subgraph(self, value, scope) if is_graph else value

    def _without_rule(self, node: Node, scope: Scope, operators: Operators) -> None:
        """An operator that nobody knows: its results are unknown, said once per operator."""
        op_type, domain, _, outputs, _, _ = node
        title = f"{domain}::{op_type}" if domain else op_type
        for name in outputs:
            scope[name] = self.model.graph.declared.get(name, NOTHING)
            self.notes[name] = f"no rule for {title}"
        if title not in self._unknown_operators:
            self._unknown_operators.add(title)
            version = operators.version(domain)
            self.diagnostics.append(
                Diagnostic("warning", f"{title}-{version}", _label(node), "no rule for this operator")
            )

    def _declare(self, declared: Any, outputs: list[str], outcome: Outcome, scope: Scope) -> None:
        """Merge what is declared of the outputs with what is inferred."""
        for name, value in zip(outputs, outcome.values, strict=False):
            known = declared.get(name)
            if known is not None:

                def conflict(message: str, name: str = name) -> None:
                    self.diagnostics.append(Diagnostic("error", "", name, f"value '{name}': {message}"))

                value = merge(known, value, self.policy, conflict)
            scope[name] = value

    # -- outcomes -------------------------------------------------------------------------------------------------

    def _replay(self, outcome: Outcome, operator: Operator, node: Node, inputs: tuple[Value | None, ...]) -> Outcome:
        """Record what goes with an outcome, its fresh sizes under new names."""
        values = outcome.values
        if outcome.error is not None:
            severity, message = outcome.error
            attributes = node[4].values
            label = _label(node)
            self.diagnostics.append(about_node(severity, operator.schema, label, message, inputs, attributes))
        if outcome.note is not None:
            for name in node[3]:
                self.notes[name] = outcome.note
        facts = outcome.facts
        if outcome.fresh:
            names = named(outcome.fresh, self.symbols.name)
            values = tuple(substitute(v, names) for v in values)
            facts = tuple(Fact(f.kind, _renamed(f.lhs, names), _renamed(f.rhs, names), f.law) for f in facts)
        if facts and self._depth == 0:
            self.facts.extend(facts)
            for fact in facts:
                self.solution.add(fact)
        return Outcome(values)

    def _complain(self, message: str) -> None:
        self.diagnostics.append(Diagnostic("error", "", "", message))


class Subgraph:
    """A graph attribute as a function from input values to output values; names of outer scopes are visible in it."""

    def __init__(self, engine: Engine, handle: Any, scope: Scope) -> None:
        self._engine, self._scope = engine, scope
        self._graph = engine.model.subgraph(handle)

    @property
    def input_count(self) -> int:
        """The number of formal inputs."""
        return len(self._graph.inputs)

    def __call__(self, *inputs: Value) -> list[Value]:
        engine, graph = self._engine, self._graph
        scope = Scope(engine.model, graph.constants, self._scope)
        for (name, declared), value in zip(graph.inputs, inputs, strict=False):
            scope[name] = (
                merge(declared, value, "refine", engine._complain) if value is not NOTHING else declared or value
            )
        engine._depth += 1
        try:
            engine.run_graph(graph, scope, engine.operators)
        finally:
            engine._depth -= 1
        engine.inner = [(g, s) for g, s in engine.inner if g.handle is not graph.handle]
        engine.inner.append((graph, scope))
        return [scope[name] for name in graph.outputs]


def apply(operator: Operator, attributes: Any, values: tuple[Value | None, ...], output_count: int) -> Outcome:
    """Apply a rule; an error of the node, or of the rule itself, costs this node's results and nothing else."""
    with Trace() as trace:
        try:
            results, note = operator.infer(values, attributes, output_count)
            error = None
        except OnnxInferError as e:
            error = ("error", str(e))
        except Exception as e:  # a defect of a rule: reported as such, with everything else inferred
            error = ("defect", f"{type(e).__name__}: {e}")
        if error is not None:
            dtypes = operator.safe_dtypes(values, attributes, output_count)
            return Outcome(tuple(SymTensor(d) for d in dtypes), False, error[1], error=error)
    if note is None and not trace.facts and not trace.fresh:
        return Outcome(results)
    if note is None and trace.notes:
        note = trace.notes[0]
    return Outcome(results, False, note, tuple(trace.facts), tuple(trace.fresh))


def _label(node: Node) -> str:
    """The node's name, or its first output where it has none."""
    return node[5].name or next(iter(node[3]), "")


def _renamed(dim: Dim, names: dict[Var, Dim]) -> Dim:
    return dim if isinstance(dim, int) else dim.substitute(names)


__all__ = ["NOTHING", "Attributes", "Engine", "Outcome", "Scope", "Subgraph", "apply"]
