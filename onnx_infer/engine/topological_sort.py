"""Topological order of nodes, for models that read a value before they make it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.model.graph import Graph, Node, ReadNodes, label_of
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from onnx_infer.engine.scope import Scope


def sort_nodes(
    graph: Graph, scope: Scope, complain: Callable[[str], None], view: Callable[[Any], Graph]
) -> Iterator[Node]:
    """The nodes in topological order; otherwise their order stays (Kahn's algorithm).

    Names that no node produces, and values on a cycle, become unknown values; `complain` gets the messages. `view`
    returns the graph of a graph attribute. Nodes that can be read again are not held, as they would take most memory.
    """
    nodes: Iterable[Node] = graph.nodes()
    node_at: Callable[[int], Node]
    if isinstance(graph.nodes, ReadNodes):
        node_at = graph.nodes.again
    else:
        nodes = list(nodes)
        node_at = nodes.__getitem__
    reads = _Reads()
    for node in nodes:
        reads.add([*node[2], *captured(view, node)] if node[4].has_graphs else node[2], node[3])
    names = reads.without_givers(scope.constants)
    order, stuck = reads.ordered()
    if stuck:
        labels = ", ".join([label_of(node_at(i)) for i in stuck[:5]])
        complain(f"nodes on or behind a cycle are not inferred: {labels}")
    unknown = {number for number, name in names.items() if not scope.knows(name)}
    for i in (*order, *stuck) if unknown else ():
        for number in reads.of(i):
            if number in unknown:
                unknown.remove(number)
                complain(f"input '{names[number]}' of node '{label_of(node_at(i))}' is produced by no node")
                scope[names[number]] = SymTensor(None, None)
    for i in stuck:
        for name in node_at(i)[3]:
            scope[name] = SymTensor(None, None)
    return map(node_at, order)


class _Reads:
    """Which values the nodes of a graph read and give. Names have numbers, so that many nodes take little memory."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._givers = array("l")  # number of a name -> the last node that gives it, or -1
        self._reads, self._ends = array("l"), array("l", [0])  # the numbers that nodes read, one node after the other

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self._givers):
            self._givers.append(-1)
        return number

    def add(self, read: Iterable[str], given: Iterable[str]) -> None:
        """Add a node. Empty names are absent operands."""
        node = len(self._ends) - 1
        self._reads.extend([self._number(name) for name in read if name])
        self._ends.append(len(self._reads))
        for name in given:
            if name:
                self._givers[self._number(name)] = node

    def of(self, node: int) -> array[int]:
        """The numbers of the names that a node reads."""
        return self._reads[self._ends[node] : self._ends[node + 1]]

    def without_givers(self, constants: Container[str]) -> dict[int, str]:
        """The names that no node gives, by number. A name that is a constant too stands for the constant.

        To be called once, when all nodes are there.
        """
        numbers, self._numbers = self._numbers, {}
        for name, number in numbers.items():
            if name in constants:
                self._givers[number] = -1
        return {number: name for name, number in numbers.items() if self._givers[number] < 0}

    def ordered(self) -> tuple[array[int], list[int]]:
        """The indices of the nodes in topological order, and those of nodes on or behind a cycle."""
        count = len(self._ends) - 1
        missing = array("l", [0]) * count  # the number of inputs of each node that are not given yet
        # the readers of each node as a linked list: `first` is its head, `after` the next element
        first, reader, after = array("l", [-1]) * count, array("l"), array("l")
        for i in range(count - 1, -1, -1):
            for number in self.of(i):
                source = self._givers[number]
                if source >= 0:
                    missing[i] += 1
                    reader.append(i)
                    after.append(first[source])
                    first[source] = len(reader) - 1
        order = array("l", [i for i, left in enumerate(missing) if left == 0])
        for i in order:  # it grows during the loop
            edge = first[i]
            while edge >= 0:
                missing[reader[edge]] -= 1
                if missing[reader[edge]] == 0:
                    order.append(reader[edge])
                edge = after[edge]
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
