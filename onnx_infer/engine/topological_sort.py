"""Topological order of nodes, for models that read a value before they make it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.model.graph import label_of
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Graph, Node


def sort_nodes(
    graph: Graph, scope: Scope, complain: Callable[[str], None], view: Callable[[Any], Graph]
) -> Iterator[Node]:
    """The nodes in topological order; otherwise their order stays (Kahn's algorithm).

    Names that no node produces, and values on a cycle, become unknown values; `complain` gets the messages. `view`
    returns the graph of a graph attribute.
    """
    nodes = list(graph.nodes())
    held = scope.constants
    producer = {name: i for i, node in enumerate(nodes) for name in node[3] if name and name not in held}
    reads = [[*node[2], *captured(view, node)] if node[4].has_graphs else node[2] for node in nodes]
    order, stuck = _ordered(reads, producer)
    if stuck:
        complain(f"nodes on or behind a cycle are not inferred: {', '.join(label_of(nodes[i]) for i in stuck[:5])}")
    for i in (*order, *stuck):
        for name in reads[i]:
            if name and name not in producer and not scope.knows(name):
                complain(f"input '{name}' of node '{label_of(nodes[i])}' is produced by no node")
                scope[name] = SymTensor(None, None)
    for i in stuck:
        for name in nodes[i][3]:
            scope[name] = SymTensor(None, None)
    return _taken([nodes[i] for i in reversed(order)])


def _ordered(reads: list[list[str]], producer: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """The indices of the nodes in topological order, and those of nodes on or behind a cycle."""
    missing = array("l", [0]) * len(reads)  # the number of inputs of each node that are not given yet
    # the readers of each node as a linked list: `first` is its head, `after` the next element
    first, reader, after = array("l", [-1]) * len(reads), array("l"), array("l")
    for i in range(len(reads) - 1, -1, -1):
        for name in reads[i]:
            source = producer.get(name)
            if source is not None:
                missing[i] += 1
                reader.append(i)
                after.append(first[source])
                first[source] = len(reader) - 1
    order = [i for i, count in enumerate(missing) if count == 0]
    for i in order:  # the list grows during the loop
        edge = first[i]
        while edge >= 0:
            missing[reader[edge]] -= 1
            if missing[reader[edge]] == 0:
                order.append(reader[edge])
            edge = after[edge]
    return order, [i for i, count in enumerate(missing) if count]


def _taken(nodes: list[Node]) -> Iterator[Node]:
    """The nodes, the last first. Each one is removed from the list when it is taken: half the memory of a walk."""
    while nodes:
        yield nodes.pop()


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


def _graphs(node: Node, known: frozenset[str]) -> Iterator[_Part]:
    """The graphs in the attributes of a node. The `then_branch` of an If comes before its `else_branch`."""
    values = node[4].values
    for name in sorted(values, reverse=True) if node[4].has_graphs else ():
        value = values[name]
        for x in value if isinstance(value, tuple) else (value,):
            if x is not None and not isinstance(x, (int, float, str, Value)):
                yield x, known


def _reads(graph: Graph, known: frozenset[str]) -> Iterator[_Part]:
    """The outer names that a graph reads, and its inner graphs, in the order of its nodes."""
    nodes = list(graph.nodes())
    given = known.union((n for n, _ in graph.inputs), graph.constants, *(node[3] for node in nodes))
    for node in nodes:
        yield from (name for name in node[2] if name and name not in given)
        yield from _graphs(node, given)
    yield from (name for name in graph.outputs if name and name not in given)
