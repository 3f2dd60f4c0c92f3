"""Nodes in an order in which every value is made before it is read, where the model does not have them so."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from onnx_infer.model.graph import label_of
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Graph, Model, Node


def sort_nodes(graph: Graph, scope: Scope, complain: Callable[[str], None]) -> list[Node]:
    """The nodes in topological order, otherwise in the model's (Kahn's algorithm).

    Names that nothing produces, and values on a cycle, become values of which nothing is known; `complain` is told.
    """
    nodes = list(graph.nodes())
    producer = {name: i for i, node in enumerate(nodes) for name in node[3] if name}
    readers: dict[int, list[int]] = {}
    missing = [0] * len(nodes)
    for i, node in enumerate(nodes):
        reads = [*node[2], *captured(scope.model, node)]
        sources = {producer[name] for name in reads if name in producer and name not in scope.constants}
        missing[i] = len(sources)
        for source in sources:
            readers.setdefault(source, []).append(i)
    ready = deque(i for i, count in enumerate(missing) if count == 0)
    order = []
    while ready:
        i = ready.popleft()
        order.append(i)
        for reader in readers.get(i, ()):
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    stuck = sorted(set(range(len(nodes))) - set(order))
    if stuck:
        complain(f"nodes on or behind a cycle are not inferred: {', '.join(label_of(nodes[i]) for i in stuck[:5])}")
    for i in (*order, *stuck):
        for name in (*nodes[i][2], *captured(scope.model, nodes[i])):
            if name and name not in producer and not scope.knows(name):
                complain(f"input '{name}' of node '{label_of(nodes[i])}' is produced by no node")
                scope[name] = SymTensor(None, None)
    for i in stuck:
        for name in nodes[i][3]:
            scope[name] = SymTensor(None, None)
    return [nodes[i] for i in order]


def captured(model: Model, node: Node) -> list[str]:
    """The names that the graphs in a node's attributes, at any depth, read from around them, in order."""
    if not node[4].has_graphs:
        return []
    found: dict[str, None] = {}
    pending: list[tuple[Any, frozenset[str]]] = [(value, frozenset()) for value in node[4].values.values()]
    while pending:
        value, known = pending.pop()
        if isinstance(value, tuple):
            pending += [(x, known) for x in value]
        elif value is not None and not isinstance(value, (int, float, str, Value)):
            graph = model.subgraph(value)
            nodes = list(graph.nodes())
            given = known.union((n for n, _ in graph.inputs), graph.constants, *(node[3] for node in nodes))
            reads = [name for node in nodes for name in node[2]] + graph.outputs
            found.update((name, None) for name in reads if name and name not in given)
            pending += [(x, given) for node in nodes if node[4].has_graphs for x in node[4].values.values()]
    return list(found)
