"""The walk over a model's graphs: it applies each node's rule to the values of its inputs.

Results are remembered by (operator, attributes, input values). These are interned, so equal layers are inferred once. A
remembered outcome replays the statements, notes and fresh sizes of its rule; fresh sizes get new names each time.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from onnx_infer.diagnostics import Diagnostic, Refusal, about_node
from onnx_infer.engine.choices import Choices
from onnx_infer.engine.declared_types import DeclaredTypes, is_equal
from onnx_infer.engine.frame import Frame
from onnx_infer.engine.outcome import Outcome, apply
from onnx_infer.engine.scope import Scope, UndefinedInput
from onnx_infer.engine.walk import Walk
from onnx_infer.laws.statements import cautiously, named
from onnx_infer.model.graph import Attributes, label_of, read_once
from onnx_infer.operators.schema import NEWEST
from onnx_infer.types.join import NOTHING
from onnx_infer.values.propagated import MAX_DATA, is_small
from onnx_infer.values.tensor import Value, substitute
from symdim.algebra.caches import Cache, shared_cache

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from onnx_infer.engine.claims import Belief
    from onnx_infer.engine.functions import Call, Functions
    from onnx_infer.engine.run_time_elements import NewSize
    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.graph import Graph, Model, Node
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.operators.operator import Operator
    from onnx_infer.types.merge import ShapeMergePolicy
    from onnx_infer.values.tensor import Dim
    from symdim import Var

_remembered = shared_cache(1 << 14)  # (operator, attributes, number of outputs, inputs) -> Outcome
_MOST_CURES = 8  # unknown operators of a model for which a cure is searched, for each search compares many names
_named = shared_cache(1 << 12)  # (outcome, names of its fresh sizes) -> its results and statements with these names


class Engine(Walk):
    """One inference of one model. `run` fills `scope`, `inner`, `diagnostics`, `statements` and `notes`."""

    def __init__(
        self,
        model: Model,
        symbols: Symbols,
        policy: ShapeMergePolicy,
        *,
        adopt: bool = True,
        assume_declared: bool = False,
        trusted: Container[str] = (),
        believed: Iterable[Belief] | None = None,
        is_cautious: bool = False,
        is_strict: bool = False,
    ) -> None:
        super().__init__(model, symbols, policy)
        self.adopt = adopt
        self._is_cautious, self._is_strict = is_cautious, is_strict
        self._remembered = Cache(1 << 12) if is_cautious or is_strict else _remembered
        self.declared = DeclaredTypes(self, policy, assume_declared, trusted, believed)
        self.inner: list[tuple[Graph, Scope]] = []
        self._views: dict[int, Graph] = {}
        self._choices = Choices()

    @cached_property
    def functions(self) -> Functions:
        """The functions of the model and the calls of them, which few models have."""
        from onnx_infer.engine.functions import Functions

        return Functions(self)

    def run(self) -> None:
        """Infer the main graph, then replace fresh sizes that turned out to equal known ones.

        With `is_cautious`, nothing is assumed, and no fresh size is replaced by what a later node demands of it.
        """
        cautiously(partial(self.run_graph, self.model.graph, self.scope), self._is_cautious, self._is_strict)
        self.diagnostics += self._choices.told()
        self.inner = list(self.seen.graphs.values())
        if self.seen.calls:
            from onnx_infer.engine.inner_graphs import inner_graphs

            self.inner = list(inner_graphs(self.seen, self.functions.placeholders))
        if not self._is_cautious:
            self.replace_solved()

    def _enter_inputs(self, graph: Graph, scope: Scope) -> None:
        """Give the inputs of a graph that have no value yet their declared types."""
        for name, value in graph.inputs:
            if name not in scope:
                scope[name] = NOTHING if value is None else self.declared.opened(value)
                if scope is self.scope:
                    scope[name] = self.run_time.named(name, scope[name])

    def run_graph(self, graph: Graph, scope: Scope) -> None:
        """Infer the values of a graph and of the functions that it calls. Its inputs are in the scope, or declared."""
        self._enter_inputs(graph, scope)
        frames = [Frame(graph, scope, self.checkpoint())]
        try:
            while frames:
                frame = frames[-1]
                try:
                    call = self._run_nodes(frame)
                except UndefinedInput as undefined:
                    frame.sort(self, undefined)
                    continue
                if call is not None:
                    frames.append(Frame(call.function.body, call.scope, self.checkpoint(), call))
                    continue
                frames.pop()
                frame.close(self)
                if frame.call is not None:
                    found = self.functions.finish(frame.call)
                    if found is None:
                        frames.append(Frame(frame.graph, frame.call.scope, self.checkpoint(), frame.call))
                        continue
                    outcome = self._renew(found, frame.call.node, frames[-1].scope)
                    self._declare(frames[-1].graph.declared, frame.call.node, outcome, frames[-1].scope)
        finally:
            for frame in reversed(frames):
                if frame.call is not None:
                    self.functions.leave(frame.call)
        for name in graph.outputs:
            if name in graph.declared and not scope.knows(name):
                self.complain(f"graph output '{name}' is produced by no node")

    def declared_input(self, name: str, declared: Value, given: Value) -> Value:
        """The declared type of a subgraph's input, merged with the given value."""
        return self.declared.of_input(name, declared, given)

    # -- nodes ----------------------------------------------------------------------------------------------------

    def _run_nodes(self, frame: Frame) -> Call | None:
        """Infer the nodes up to a call of a function whose result is not known yet; return this call."""
        graph, scope, given = frame.graph, frame.scope, frame.given
        declared = graph.declared
        operators, unread, remembered, read = scope.operators, scope.unread, self._remembered, scope.__getitem__
        for node in frame.nodes:
            op_type, domain, inputs, outputs, attributes, _ = node
            given += outputs
            operator = operators[domain, op_type]
            if operator is None:
                call = self._without_rule(node, graph, scope)
                if call is None:
                    continue
                return call
            if "" in inputs:
                values = tuple([read(name) if name else None for name in inputs])
            else:
                values = tuple(map(read, inputs))
            if unread and operator.asks and not unread.isdisjoint(inputs):
                values = scope.with_elements(operator, inputs, values)
            if not attributes.plain:
                outcome = self._special(operator, node, values, scope)
            else:
                found = remembered.get(key := (operator, attributes, len(outputs), values))
                outcome = self._missed(key) if found is None else found
            if not outcome.plain:
                outcome = self._replay(outcome, operator, node, values, scope)
                remembered = self._remembered  # another one after many choices
            if len(outputs) == 1:  # the usual case
                name, value = outputs[0], outcome.values[0]
                if name not in declared or declared[name] is value or is_equal(declared[name], value):
                    scope[name] = value
                    continue
            self._declare(declared, node, outcome, scope)
        return None

    def _special(self, operator: Operator, node: Node, values: tuple[Value | None, ...], scope: Scope) -> Outcome:
        """A node with subgraphs (they become functions from values to values), or with attributes of a call."""
        attributes = node[4]
        if attributes.references:
            attributes = self.functions.resolve(attributes, scope.attributes)
        if attributes.has_graphs:
            values = tuple(
                [
                    h.load(n) if v and is_small(v) and (h := scope.holder(n)) else v
                    for n, v in zip(node[2], values, strict=True)
                ]
            )
            bound = {name: self.bind_graphs(value, scope) for name, value in attributes.values.items()}
            return apply(operator, Attributes(bound, has_graphs=True), values, len(node[3]))
        return self._outcome(operator, attributes, values, len(node[3]))

    def bind_graphs(self, value: Any, scope: Scope) -> Any:
        """An attribute's value with graphs as functions. A graph that is a function already stays."""
        from onnx_infer.engine.subgraph import Subgraph  # few models need it

        if isinstance(value, tuple):
            return tuple(self.bind_graphs(x, scope) for x in value)
        plain = value is None or isinstance(value, (int, float, str, Value, Subgraph))
        return value if plain else Subgraph(self, value, scope)

    def view(self, handle: Any) -> Graph:
        """The graph of a graph attribute. It is read from the model once."""
        found = self._views.get(id(handle))
        if found is None:
            found = self._views[id(handle)] = read_once(self.model.subgraph(handle))
        return found

    def _without_rule(self, node: Node, graph: Graph, scope: Scope) -> Call | None:
        """A node without a rule: a call of a function, or an unknown operator, which is reported once."""
        op_type, domain, _, outputs, _, _ = node
        function = self.functions.find(node, scope)
        if function is not None:
            entered = self.functions.enter(function, node, scope)
            if not isinstance(entered, Outcome):
                return entered
            self._declare(graph.declared, node, self._renew(entered, node, scope), scope)
            return None
        title = f"{domain}::{op_type}" if domain else op_type
        for name in outputs:
            scope[name] = self.declared.believed(name, graph.declared.get(name, NOTHING), node)
            self.notes[name] = f"no rule for {title}"
        if title not in self.unknown_operators:
            self.unknown_operators[title] = None
            version = scope.operators.version(domain)
            message = "no rule for this operator"
            if len(self.unknown_operators) <= _MOST_CURES:
                from onnx_infer.operators.lookup import cure_of_missing  # few models need it

                message += f"; {cure_of_missing(domain, op_type, version, self.functions.names)}"
            label = title if version == NEWEST else f"{title}-{version}"
            self.diagnostics.append(Diagnostic("warning", label, label_of(node), message))
        return None

    def _declare(self, declared: Mapping[str, Value], node: Node, outcome: Outcome, scope: Scope) -> None:
        """Enter results, merged with their declared types."""
        for name, value in zip(node[3], outcome.values, strict=False):
            if name in declared:
                value = self.declared.merged(name, declared[name], value, node, outcome.rank)
            scope[name] = value

    # -- outcomes -------------------------------------------------------------------------------------------------

    def _outcome(
        self, operator: Operator, attributes: Attributes, values: tuple[Value | None, ...], output_count: int
    ) -> Outcome:
        """What the rule says of a node, remembered."""
        found: Outcome | None = self._remembered.get(key := (operator, attributes, output_count, values))
        return self._missed(key) if found is None else found

    def _missed(self, key: tuple[Operator, Attributes, int, tuple[Value | None, ...]]) -> Outcome:
        """What the rule says of a node like none before. It is remembered unless an input has many elements."""
        operator, attributes, output_count, values = key
        found = apply(operator, attributes, values, output_count)
        for value in values:
            if value is not None and value.data is not None and len(value.data) > MAX_DATA:
                return found
        self._remembered[key] = found
        return found

    def _replay(
        self, outcome: Outcome, operator: Operator, node: Node, inputs: tuple[Value | None, ...], scope: Scope
    ) -> Outcome:
        """Record the statements, notes and warnings of an outcome, with new names for its fresh sizes."""
        self.noted += 1
        if outcome.error is not None:
            severity, message = outcome.error
            attributes = node[4].values
            label = label_of(node)
            told = about_node(severity, operator.schema, label, message, inputs, attributes)
            self.diagnostics.append(Refusal(*told) if outcome.refused else told)
        if outcome.note is not None:
            for name in node[3]:
                self.notes[name] = outcome.note
        if not outcome.fresh:
            return self._renew(outcome, node, scope)
        if scope is self.scope:
            return self._renew(outcome, node, scope, self.run_time.of(node, operator, inputs))
        return self._renew(outcome, node, scope, self.run_time.inside(node))

    def _renew(self, outcome: Outcome, node: Node, scope: Scope, run_time: NewSize | None = None) -> Outcome:
        """The outcome (of a call, unless `run_time` is given) with new names for its fresh sizes, recorded."""
        self.noted += not outcome.plain
        teaches = outcome.teaches and self.certain
        if outcome.fresh:
            names = named(outcome.fresh, run_time or self.run_time.of_call)
            self.created += names.values()  # type: ignore[arg-type]
            values, statements = _with_names(outcome, names)
            outcome = Outcome(values, statements=statements + self.run_time.learnt(), rank=outcome.rank)
        stated = outcome.statements
        if stated and not self.certain:  # kept is what sizes rest on, as no demand, and what would make them simpler
            self.doubtful += [(statement, node) for statement in stated]
            stated = tuple([s._replace(filled=()) for s in stated if s.kind == "assumed" or s.relation == "undecided"])
        if stated:
            self._state(stated, node, scope, teaches)
        return outcome

    def _state(self, statements: tuple[Statement, ...], node: Node, scope: Scope, teaches: bool) -> None:
        """Record the statements of a node. Those in the body of a Loop are about any turn, so they teach nothing."""
        repeated = scope.repeated
        for statement in statements:
            if statement.relation == "undecided" and not repeated:
                self.undecided_signs.add(statement.lhs, statement.rhs)
                continue
            self.state(statement, node)
            if statement.relation == "broadcast" and scope is self.scope:
                self._count_choice(statement, node)
            if teaches and not repeated:
                self.fresh_sizes.add(statement)

    def _count_choice(self, statement: Statement, node: Node) -> None:
        """After many choices, rules give other outcomes, which are not remembered for other inferences."""
        if self._choices.are_too_many(statement, node):
            self._remembered = Cache(1 << 12)


def _with_names(outcome: Outcome, names: dict[Var, Dim]) -> tuple[tuple[Value, ...], tuple[Statement, ...]]:
    """The results and statements of an outcome with these names for its fresh sizes, remembered."""
    key = outcome, *names.values()
    found: tuple[tuple[Value, ...], tuple[Statement, ...]] | None = _named.get(key)
    if found is None:
        values = tuple([substitute(v, names) for v in outcome.values])
        found = _named[key] = values, tuple([statement.substitute(names) for statement in outcome.statements])
    return found


__all__ = ["NOTHING", "Engine", "Outcome", "Scope", "apply"]
