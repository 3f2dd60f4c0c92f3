"""The values that are visible in a graph by name: its own, and those of the graphs around it.

At the end, the order in which the nodes of a graph find all that they read, and what inner graphs read.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from onnx_infer.model.graph import label_of
from onnx_infer.values.tensor import SymTensor, Value, is_small, may_be_read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_infer.model.graph import Attributes, Graph, Model, Node
    from onnx_infer.operators.operator import Operator, Operators


class UndefinedInput(KeyError):  # noqa: N818  (a signal inside the engine)
    """A node reads a name without a value. The nodes may be out of order."""


class Scope(dict[str, "Value"]):
    """The values of a graph by name. Constants are entered at their first use; outer values come from `parent`.

    `operators` are those of the graph's opset imports. In the body of a function an absent optional input is None, and
    `attributes` are those of the call. In the body of a Loop, at any depth, `repeated` is true: types declared there
    may hold only in the first iteration. `unread` are the names of constants, here and in graphs around, whose elements
    may be read but were not. `unreadable` are those of this graph that a rule asked for in vain.
    """

    __slots__ = (
        "attributes",
        "constants",
        "loaded",
        "model",
        "operators",
        "parent",
        "repeated",
        "unread",
        "unreadable",
    )

    def __init__(
        self,
        model: Model,
        constants: Any,
        operators: Operators,
        parent: Scope | None = None,
        attributes: Attributes | None = None,
    ) -> None:
        super().__init__()
        self.model, self.constants, self.operators, self.parent = model, constants, operators, parent
        self.attributes = attributes
        self.repeated = False
        self.loaded: dict[str, Value] = {}
        self.unreadable: set[str] = set()
        self.unread: set[str] = set() if parent is None else parent.unread

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the values, and not the model."""
        return dict, (dict(self),)

    def inside(self, constants: Any, repeated: bool) -> Scope:
        """The scope of a graph inside this one; `repeated` if it is the body of a Loop."""
        scope = Scope(self.model, constants, self.operators, self, self.attributes)
        scope.repeated = repeated or self.repeated
        return scope

    def __missing__(self, name: str) -> Value:
        handle = self.constants.get(name)
        if handle is not None:
            value = self[name] = self.model.header(handle)
            if value.data is None and may_be_read(value):
                self.unread.add(name)
            return value
        if self.parent is None:
            raise UndefinedInput(name)
        return self.parent[name]

    def touch(self, names: list[str]) -> None:
        """Enter the constants of these names."""
        for name in names:
            self[name]

    def outwards(self) -> Iterator[Scope]:
        """This scope and those of the graphs around, inner ones first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def knows(self, name: str) -> bool:
        """Whether the name has a value here or in a graph around this one."""
        return any(name in scope or name in scope.constants for scope in self.outwards())

    def holder(self, name: str) -> Scope | None:
        """The scope that has this name as a constant, or None."""
        nearest = next((scope for scope in self.outwards() if name in scope.constants or name in scope), None)
        return nearest if nearest is not None and name in nearest.constants else None

    def load(self, name: str) -> Value:
        """The constant of this name in this scope, with its elements if they may be read."""
        value = self.loaded.get(name)
        if value is None:
            value = self.loaded[name] = self.model.load(self.constants[name])
            if value.data is None and may_be_read(value):
                self.unreadable.add(name)
        return value

    def with_elements(
        self, operator: Operator, names: list[str], values: tuple[Value | None, ...]
    ) -> tuple[Value | None, ...]:
        """The inputs of a node; constants have elements if its rule or its data function asks for them.

        The data function asks in vain if another operand has none, unless it is applied to samples.
        """
        wants, needs, reads = operator.asked(len(values))
        for i in needs:
            value = values[i]
            if value is None or value.data is not None:
                continue
            if isinstance(value, SymTensor) and value.has_elements:
                continue
            if self.holder(names[i]) is None:
                reads = wants
                break
        loaded: list[Value | None] | None = None
        for i in reads:
            value = values[i]
            if value is not None and value.data is None:
                holder = self.holder(names[i])
                if holder is not None and (i in wants or is_small(value)):
                    loaded = loaded or list(values)
                    loaded[i] = holder.load(names[i])
        return values if loaded is None else tuple(loaded)


# -- order --------------------------------------------------------------------------------------------------------


def sort_nodes(
    graph: Graph, scope: Scope, complain: Callable[[str], None], view: Callable[[Any], Graph]
) -> Iterator[Node]:
    """The nodes in topological order; otherwise their order stays (Kahn's algorithm).

    Names that no node produces, and values on a cycle, become unknown values; `complain` gets the messages. `view`
    returns the graph of a graph attribute. A name that is a constant too stands for the constant.
    """
    nodes = list(graph.nodes())
    reads = [dict.fromkeys(filter(None, [*node[2], *captured(view, node)])) for node in nodes]
    producers = {name: i for i, node in enumerate(nodes) for name in node[3] if name and name not in scope.constants}
    order, stuck = _ordered([[producers[name] for name in names if name in producers] for names in reads])
    if stuck:
        labels = ", ".join([label_of(nodes[i]) for i in stuck[:5]])
        complain(f"nodes on or behind a cycle are not inferred: {labels}")
    for i in (*order, *stuck):
        for name in reads[i]:
            if name not in producers and not scope.knows(name):
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
    for i, read in enumerate(sources):
        for source in read:
            readers.setdefault(source, []).append(i)
    order = [i for i, left in enumerate(missing) if left == 0]
    for i in order:  # it grows during the loop
        for reader in readers.get(i, ()):
            missing[reader] -= 1
            if missing[reader] == 0:
                order.append(reader)
    return order, [i for i, left in enumerate(missing) if left]


def captured(view: Callable[[Any], Graph], node: Node) -> list[str]:
    """The outer names that the graphs in a node's attributes read, at any depth, those of outer graphs first."""
    names: dict[str, None] = {}
    pending = [(handle, frozenset[str]()) for handle in reversed([*graphs_of(node)])]
    while pending:
        handle, around = pending.pop()
        graph = view(handle)
        nodes = list(graph.nodes())
        visible = around.union((n for n, _ in graph.inputs), graph.constants, *(inner[3] for inner in nodes))
        read = chain(graph.outputs, *(inner[2] for inner in nodes))
        names.update(dict.fromkeys(name for name in read if name and name not in visible))
        pending += reversed([(inside, visible) for inner in nodes for inside in graphs_of(inner)])
    return list(names)


def graphs_of(node: Node) -> Iterator[Any]:
    """The handles of the graphs in a node's attributes. The `then_branch` of an If comes before its `else_branch`."""
    values = node[4].values
    for name in sorted(values, reverse=True) if node[4].has_graphs else ():
        value = values[name]
        for x in value if isinstance(value, tuple) else (value,):
            if x is not None and not isinstance(x, (int, float, str, Value)):
                yield x
