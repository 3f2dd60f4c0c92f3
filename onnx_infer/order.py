"""Nodes in an order in which every value is made before it is read, where the model does not have them so."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from .engine import Scope
    from .graph import Graph, Node


def sort_nodes(graph: Graph, scope: Scope, complain: Callable[[str], None]) -> list[Node]:
    """The nodes in topological order, otherwise in the model's (Kahn's algorithm).

    Names that nothing produces, and values on a cycle, become values of which nothing is known; `complain` is told.
    """
    nodes = list(graph.nodes())
    producer = {name: i for i, node in enumerate(nodes) for name in node[3] if name}
    readers: dict[int, list[int]] = {}
    missing = [0] * len(nodes)
    for i, node in enumerate(nodes):
        sources = {producer[name] for name in node[2] if name in producer and not _outer(scope, name)}
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
        complain(f"nodes on or behind a cycle are not inferred: {', '.join(_name(nodes[i]) for i in stuck[:5])}")
    for i in order:
        for name in nodes[i][2]:
            if name and name not in producer and not _known(scope, name):
                complain(f"input '{name}' of node '{_name(nodes[i])}' is produced by no node")
                scope[name] = SymTensor(None, None)
    for i in stuck:
        for name in nodes[i][3]:
            scope[name] = SymTensor(None, None)
    return [nodes[i] for i in order]


def _name(node: Node) -> str:
    return node[5].name or next(iter(node[3]), "")


def _known(scope: Scope, name: str) -> bool:
    return name in scope or name in scope.constants or (scope.parent is not None and _known(scope.parent, name))


def _outer(scope: Scope, name: str) -> bool:
    """Whether a name is an input or constant of the graph itself."""
    return name in scope.constants
