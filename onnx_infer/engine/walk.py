"""The walk over a model's graphs: it applies each node's rule to the values of its inputs.

Results are remembered by (operator, attributes, number of outputs, mode, input values). These are interned, so equal
layers are inferred once; `apply.py` records what else a remembered outcome says.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.engine.apply import Outcome, apply, failed, recorded, replay, too_many_choices
from onnx_infer.engine.declared import declared_only, merged
from onnx_infer.engine.run_time import RunTimeValues
from onnx_infer.engine.scope import Scope, UndefinedInput
from onnx_infer.engine.substitution import replace_solved
from onnx_infer.model.graph import Attributes, label_of
from onnx_infer.operators.schema import NEWEST
from onnx_infer.types.join import NOTHING
from onnx_infer.values.dtype import INTEGER_RANGE
from onnx_infer.values.tensor import MAX_DATA, SymTensor, Value, is_small
from onnx_infer.values.text import bounded
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.engine.calls import Call
    from onnx_infer.engine.record import Record
    from onnx_infer.laws.statements import Mode
    from onnx_infer.model.graph import Graph, Node
    from onnx_infer.operators.operator import Operator

_remembered = shared_cache(1 << 14)  # (operator, attributes, number of outputs, mode, inputs) -> Outcome
_MOST_CURES = 8  # unknown operators of a model for which a cure is searched, for each search compares many names


def walk(record: Record) -> Record:
    """Infer the main graph, then replace fresh sizes that turned out to equal known ones; the record is filled.

    A cautious pass replaces no fresh size by what a later node demands of it.
    """
    run_graph(record, record.model.graph, record.scope)
    if record.statements.known_early is None:
        end(record)
    return record


def end(record: Record) -> None:
    """Complete the record after the last node of the main graph."""
    if record.sizes.last_choice is not None:
        record.diagnostics.append(too_many_choices(record.sizes.last_choice))
    record.inner = list(record.nesting.seen.graphs.values())
    if record.nesting.seen.calls:
        from onnx_infer.engine.inner_graphs import inner_graphs  # few models need it

        record.inner = list(inner_graphs(record.nesting.seen))
    if record.sizes.fresh and not record.mode.is_cautious:
        replace_solved(record)


class _Frame:
    """A graph being walked: the main graph, a subgraph, or the body of a function that is called.

    So calls of functions nest without recursion. `produced` are the names of the outputs so far.
    """

    __slots__ = ("call", "checkpoint", "graph", "nodes", "produced", "scope", "sorted")

    def __init__(self, record: Record, graph: Graph, scope: Scope, call: Call | None = None) -> None:
        self.graph, self.scope, self.call = graph, scope, call
        self.checkpoint = record.checkpoint()
        self.sorted = False
        self.produced: list[str] = []
        self.nodes: Iterator[Node] = iter(graph.nodes())


def run_graph(record: Record, graph: Graph, scope: Scope) -> None:
    """Infer the values of a graph and of the functions that it calls. Its inputs are in the scope, or declared."""
    _enter_inputs(record, graph, scope)
    _run(record, [_Frame(record, graph, scope)])
    for name in graph.outputs:
        if name in graph.declared and not scope.knows(name):
            record.complain(f"graph output '{name}' is produced by no node")


def _run(record: Record, frames: list[_Frame]) -> None:
    """Visit the nodes of the last graph, and of the functions that it calls, then those left of the graph before it."""
    try:
        while frames:
            frame = frames[-1]
            try:
                call = _run_nodes(record, frame)
            except UndefinedInput as undefined:
                _sort(record, frame, undefined)
                continue
            if call is not None:
                frames.append(_Frame(record, call.function.body, call.scope, call))
                continue
            frames.pop()
            _close(record, frame)
            if frame.call is not None:
                around, node = frames[-1], frame.call.node
                outcome = recorded(record, frame.call.finish(record), node, around.scope)
                _declare(record, around.graph.declared, node, outcome, around.scope)
    finally:
        for frame in reversed(frames):
            if frame.call is not None:
                frame.call.leave(record)


def _enter_inputs(record: Record, graph: Graph, scope: Scope) -> None:
    """Give the inputs of a graph that have no value yet their declared types."""
    for name, value in graph.inputs:
        if name not in scope:
            scope[name] = NOTHING if value is None else record.sizes.opened(value)
            if scope is record.scope and isinstance(value, SymTensor) and value.dtype in INTEGER_RANGE:
                scope[name] = record.sizes.run_time.named(name, scope[name])


def _sort(record: Record, frame: _Frame, undefined: UndefinedInput) -> None:
    """Start again with sorted nodes. A name that an outer graph should give is left to that graph."""
    graph, scope, name = frame.graph, frame.scope, undefined.args[0]
    if scope.parent is not None and not any(name in node[3] for node in graph.nodes()):
        raise undefined
    record.rewind(frame.checkpoint)
    if scope is record.scope:
        record.sizes.run_time = RunTimeValues(record.symbols)
    if frame.sorted:
        record.complain(f"value '{name}' is read before it is given")
        scope[name] = NOTHING
    frame.sorted = True
    frame.produced.clear()
    for name in graph.literals:
        scope.pop(name, None)
    from onnx_infer.engine.scope import sort_nodes  # few models need it

    frame.nodes = sort_nodes(graph, scope, record.complain, record.view)


def _close(record: Record, frame: _Frame) -> None:
    """End the walk: report names that several nodes gave, and drop the outputs that nodes leave out."""
    left_out = frame.produced.count("")
    if len(set(frame.produced)) - (left_out > 0) < len(frame.produced) - left_out:
        producers: dict[str, list[str]] = {name: [] for name, n in Counter(frame.produced).items() if name and n > 1}
        for node in frame.graph.nodes():
            for name in node[3]:
                if name in producers:
                    producers[name].append(label_of(node))
        for name, labels in producers.items():
            first = ", ".join(labels[:5])
            record.complain(f"value '{name}' is given by {len(labels)} nodes, of which the last counts: {first}")
    frame.scope.pop("", None)


# -- nodes ----------------------------------------------------------------------------------------------------


def _run_nodes(record: Record, frame: _Frame) -> Call | None:
    """Infer the nodes up to a call of a function whose result is not known yet; return this call."""
    graph, scope, produced, mode = frame.graph, frame.scope, frame.produced, record.mode.number
    declared = graph.declared
    operators, unread, read = scope.operators, scope.unread, scope.__getitem__
    for node in frame.nodes:
        op_type, domain, inputs, outputs, attributes, _ = node
        produced += outputs
        operator = operators[domain, op_type]
        if operator is None:
            call = _without_rule(record, node, graph, scope)
            if call is None:
                continue
            return call
        if "" in inputs:
            values = tuple([read(name) if name else None for name in inputs])
        else:
            values = tuple(map(read, inputs))
        if unread and operator.asks and not unread.isdisjoint(inputs):
            values = scope.with_elements(operator, inputs, values)
        if attributes.plain:
            outcome = _remembered.get(key := (operator, attributes, len(outputs), mode, values))
            if outcome is None:
                outcome = _missed(key, record.mode)
        else:
            outcome = _special(record, operator, node, values, scope)
        if not outcome.plain:
            outcome = replay(record, outcome, operator, node, values, scope)
            if record.statements.known_early is not None:
                return None
            mode = record.mode.number  # another one after many choices
        if len(outputs) == 1:  # the usual case
            name, value = outputs[0], outcome.values[0]
            if name not in declared or declared[name] is value or _is_equal(declared[name], value):
                scope[name] = value
                continue
        _declare(record, declared, node, outcome, scope)
    return None


def _is_equal(declared: Value, inferred: Value) -> bool:
    """Whether a declared tensor equals the inferred one, apart from known elements, or says only its element type."""
    if not isinstance(declared, SymTensor) or not isinstance(inferred, SymTensor):
        return False
    return declared.dtype == inferred.dtype and declared.shape in (None, inferred.shape)


def _special(record: Record, operator: Operator, node: Node, values: tuple[Value | None, ...], scope: Scope) -> Outcome:
    """A node with subgraphs (they become functions from values to values), or with attributes of a call."""
    if node[4].references:
        from onnx_infer.engine.calls import lost_reference  # few models need it

        lost = lost_reference(node[4], scope.attributes)
        if lost is not None:
            return failed(operator.unknowns(values, node[4], len(node[3])), "error", lost)
    attributes, count = _resolved(record, node, scope), len(node[3])
    if attributes.has_graphs:
        pairs = zip(node[2], values, strict=True)
        values = tuple([h.load(n) if v and is_small(v) and (h := scope.holder(n)) else v for n, v in pairs])
        return apply(operator, attributes, values, count, record.mode)
    outcome: Outcome | None = _remembered.get(key := (operator, attributes, count, record.mode.number, values))
    return _missed(key, record.mode) if outcome is None else outcome


def _resolved(record: Record, node: Node, scope: Scope) -> Attributes:
    """The attributes of a node, with those of the call in place of references, and with graphs as functions."""
    attributes = node[4]
    if attributes.references:
        from onnx_infer.engine.calls import resolve

        attributes = resolve(record, attributes, scope.attributes)
    if attributes.has_graphs:
        bound = {name: _bound(record, value, scope) for name, value in attributes.values.items()}
        attributes = Attributes(bound, has_graphs=True)
    return attributes


def _bound(record: Record, value: Any, scope: Scope) -> Any:
    """An attribute's value with graphs as functions. A graph that is a function already stays."""
    from onnx_infer.engine.subgraph import Subgraph  # few models need it

    if isinstance(value, tuple):
        return tuple(_bound(record, x, scope) for x in value)
    plain = value is None or isinstance(value, (int, float, str, Value, Subgraph))
    return value if plain else Subgraph(record, value, scope, run_graph)


def _without_rule(record: Record, node: Node, graph: Graph, scope: Scope) -> Call | None:
    """A node without a rule: a call of a function, or an unknown operator, which is reported once."""
    from onnx_infer.engine.calls import cure_of_missing, enter, find_function, overloads_of  # few models need it

    op_type, domain, _, outputs, _, _ = node
    function = find_function(record, node, scope)
    if function is not None:
        entered = enter(record, function, node, scope, _resolved(record, node, scope))
        if not isinstance(entered, Outcome):
            return entered
        _declare(record, graph.declared, node, recorded(record, entered, node, scope), scope)
        return None
    title = f"{domain}::{op_type}" if domain else op_type
    for name in outputs:
        scope[name] = declared_only(record, name, graph.declared.get(name, NOTHING), node)
        record.notes[name] = bounded(f"unsupported operator {title}")
    others = overloads_of(record, node)
    called = title if others is None else f"{title}:{getattr(node[5], 'overload', '')}"
    if called not in record.unknown_operators:
        record.unknown_operators[called] = None
        version = scope.operators.version(domain)
        message = others or "unsupported operator"
        if others is None and len(record.unknown_operators) <= _MOST_CURES:
            message += f"; {cure_of_missing(domain, op_type, version, record.calls.of_model)}"
        label = title if version == NEWEST else f"{title}-{version}"
        record.diagnostics.append(Diagnostic("warning", label, label_of(node), message))
    return None


def _declare(record: Record, declared: Mapping[str, Value], node: Node, outcome: Outcome, scope: Scope) -> None:
    """Enter results, merged with their declared types."""
    for name, value in zip(node[3], outcome.values, strict=False):
        if name in declared:
            value = merged(record, name, declared[name], value, node)
        scope[name] = value


# -- outcomes -------------------------------------------------------------------------------------------------


def remembered(operator: Operator, node: Node, mode: Mode, values: tuple[Value | None, ...]) -> Outcome | None:
    """The outcome of a node with these inputs, if it is remembered and says no more than types."""
    attributes = node[4]
    if not attributes.plain:
        return None
    outcome: Outcome | None = _remembered.get((operator, attributes, len(node[3]), mode.number, values))
    return outcome if outcome is not None and outcome.plain else None


def _missed(key: tuple[Any, ...], mode: Mode) -> Outcome:
    """What the rule says of a node like none before. It is remembered unless an input has many elements."""
    operator, attributes, output_count, _, values = key
    outcome = apply(operator, attributes, values, output_count, mode)
    for value in values:
        if value is not None and value.data is not None and len(value.data) > MAX_DATA:
            return outcome
    _remembered[key] = outcome
    return outcome
