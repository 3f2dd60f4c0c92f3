"""Topological order of nodes, for models that read a value before they make it, and what inner graphs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.model.graph import Graph, Node, label_of
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_infer.engine.scope import Scope


def sort_nodes(
    graph: Graph, scope: Scope, complain: Callable[[str], None], view: Callable[[Any], Graph]
) -> Iterator[Node]:
    """The nodes in topological order; otherwise their order stays (Kahn's algorithm).

    Names that no node produces, and values on a cycle, become unknown values; `complain` gets the messages. `view`
    returns the graph of a graph attribute. A name that is a constant too stands for the constant.
    """
    nodes = list(graph.nodes())
    reads = [dict.fromkeys(filter(None, [*node[2], *captured(view, node)])) for node in nodes]
    givers = {name: i for i, node in enumerate(nodes) for name in node[3] if name and name not in scope.constants}
    order, stuck = _ordered([[givers[name] for name in names if name in givers] for names in reads])
    if stuck:
        labels = ", ".join([label_of(nodes[i]) for i in stuck[:5]])
        complain(f"nodes on or behind a cycle are not inferred: {labels}")
    for i in (*order, *stuck):
        for name in reads[i]:
            if name not in givers and not scope.knows(name):
                complain(f"input '{name}' of node '{label_of(nodes[i])}' is produced by no node")
                scope[name] = SymTensor(None, None)
    for i in stuck:
        for name in nodes[i][3]:
            scope[name] = SymTensor(None, None)
    return map(nodes.__getitem__, order)


def _ordered(sources: list[list[int]]) -> tuple[list[int], list[int]]:
    """The nodes in topological order, and those on or behind a cycle; `sources` are the nodes that each one reads."""
    missing = list(map(len, sources))  # the number of inputs of each node that are not given yet
    readers: dict[int, list[int]] = {}
    for i, found in enumerate(sources):
        for source in found:
            readers.setdefault(source, []).append(i)
    order = [i for i, left in enumerate(missing) if left == 0]
    for i in order:  # it grows during the loop
        for reader in readers.get(i, ()):
            missing[reader] -= 1
            if missing[reader] == 0:
                order.append(reader)
    return order, [i for i, left in enumerate(missing) if left]


def captured(view: Callable[[Any], Graph], node: Node) -> list[str]:
    """The outer names that the graphs in a node's attributes read, at any depth, in the order of a walk."""
    if not node[4].has_graphs:
        return []
    found: dict[str, None] = {}
    pending = [_graphs(node, frozenset())]
    while pending:
        part = next(pending[-1], None)
        if part is None:
            pending.pop()
        elif isinstance(part, str):
            found[part] = None
        else:
            handle, known = part
            pending.append(_reads(view(handle), known))
    return list(found)


_Part: TypeAlias = "str | tuple[Any, frozenset[str]]"
"""A name that is read, or a graph with the names that are visible around it."""


def graphs_of(node: Node) -> Iterator[Any]:
    """The handles of the graphs in a node's attributes. The `then_branch` of an If comes before its `else_branch`."""
    values = node[4].values
    for name in sorted(values, reverse=True) if node[4].has_graphs else ():
        value = values[name]
        for x in value if isinstance(value, tuple) else (value,):
            if x is not None and not isinstance(x, (int, float, str, Value)):
                yield x


def _graphs(node: Node, known: frozenset[str]) -> Iterator[_Part]:
    return ((handle, known) for handle in graphs_of(node))


def _reads(graph: Graph, known: frozenset[str]) -> Iterator[_Part]:
    """The outer names that a graph reads, and its inner graphs, in the order of its nodes."""
    nodes = list(graph.nodes())
    given = known.union((n for n, _ in graph.inputs), graph.constants, *(node[3] for node in nodes))
    for node in nodes:
        yield from (name for name in node[2] if name and name not in given)
        yield from _graphs(node, given)
    yield from (name for name in graph.outputs if name and name not in given)
