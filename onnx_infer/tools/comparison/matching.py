"""Which values of two models compute the same, and which node of the one stands for which node of the other.

Nodes that compute the same come first. The others are matched by name where names mean something, and backwards from
the outputs.

Values that compute the same have one number. A value has the number of an earlier one if the same operator with the
same attributes reads the same numbers. So equal numbers mean equal results in every run. Of random nodes, and of those
of which it is not known, the first of one model goes with the first of the other one, and so on. The time is linear.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, TypeAlias

from onnx_infer.tools.comparison.graphs import GraphNode, GraphValue, ValueGraph, parts_first

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Ends: TypeAlias = "list[tuple[GraphValue, GraphValue]]"


Numbers = dict["GraphValue | GraphNode | ValueGraph", int]
"""The number of each value, node and graph of one model."""


class Numbering:
    """The numbers of two models."""

    def __init__(self) -> None:
        self._known: dict[object, int] = {}

    def of(self, graph: ValueGraph, inputs: Mapping[GraphValue, int]) -> Numbers:
        """The numbers of a model or function. `inputs`: what the inputs of the two models have in common."""
        numbers: Numbers = {value: self._number("input", place) for value, place in inputs.items()}
        repeated: Counter[int] = Counter()
        for part in parts_first(graph):
            if isinstance(part, ValueGraph):
                numbers[part] = self._number(
                    "graph",
                    len(part.inputs),
                    tuple(self._of(value, numbers) for value in part.outputs),
                    tuple(sorted(numbers[node] for node in part.nodes)),
                )
                continue
            number = self._number(
                part.operator,
                tuple(sorted((name, attribute.key) for name, attribute in part.attributes.items())),
                tuple(sorted((name, numbers[body]) for name, body in part.bodies.items())),
                tuple(None if value is None else self._of(value, numbers) for value in part.reads),
                tuple(value is not None for value in part.values),
            )
            if part.is_random or part.bodies:
                repeated[number] += 1
                number = self._number("again", number, repeated[number])
            numbers[part] = number
            for i, value in enumerate(part.values):
                if value is not None:
                    numbers[value] = self._number("output", number, i)
        return numbers

    def _of(self, value: GraphValue, numbers: Numbers) -> int:
        number = numbers.get(value)
        if number is None:
            number = numbers[value] = self._number(*self._key(value))
        return number

    def _key(self, value: GraphValue) -> tuple[object, ...]:
        if value.graph is not None:
            default = None if value.constant is None else value.constant.key
            return "input of a body", value.graph.depth, value.place, default
        if value.constant is not None:
            return "constant", value.constant.key
        return ("in a cycle", id(value)) if value.node is not None else ("given by nothing", value.name)

    def _number(self, *key: object) -> int:
        return self._known.setdefault(key, len(self._known))


class Pairs:
    """The pairs of two models so far: `of` leads from a node or value of the first one to that of the second one."""

    def __init__(self, same: tuple[Numbers, Numbers]) -> None:
        self.of: dict[GraphNode | GraphValue, GraphNode | GraphValue] = {}
        self.taken: set[GraphNode | GraphValue] = set()
        self.same = same
        """The numbers of both models."""

    def are_same(self, first: GraphValue | None, second: GraphValue | None) -> bool:
        """Whether two values are the same: they have one number, or their nodes are a pair."""
        if first is None or second is None:
            return first is second
        return self.of.get(first) is second or self.same[0].get(first, -1) == self.same[1].get(second, -2)

    def add(self, first: GraphNode | GraphValue, second: GraphNode | GraphValue) -> None:
        """Make a pair, of two nodes also of their outputs."""
        self.of[first] = second
        self.taken.add(second)
        if isinstance(first, GraphNode) and isinstance(second, GraphNode):
            for a, b in zip(first.values, second.values, strict=False):
                if a is not None and b is not None:
                    self.add(a, b)


def match(first: ValueGraph, second: ValueGraph, pairs: Pairs, ends: Ends) -> None:
    """Pair the nodes of two graphs. `ends`: their outputs in pairs."""
    _by_key(first, second, pairs, lambda node, side: (pairs.same[side][node], _name(node)))
    _by_key(first, second, pairs, lambda node, side: pairs.same[side][node])
    mean_something = _names_mean_something(first, second)
    if mean_something:
        _by_key(first, second, pairs, lambda node, _: (node.operator, _name(node)))
    _backwards(first, pairs, ends)
    if mean_something:
        _by_key(first, second, pairs, lambda node, _: _name(node))


def _name(node: GraphNode) -> str:
    """The name of the first output, which says more than that of the node: each value has one."""
    return next((value.name for value in node.values if value is not None), node.name)


def _by_key(first: ValueGraph, second: ValueGraph, pairs: Pairs, key: Callable[[GraphNode, int], object]) -> None:
    """Pair the free nodes with equal keys, in order."""
    waiting: dict[object, deque[GraphNode]] = {}
    for node in second.nodes:
        if node not in pairs.taken:
            waiting.setdefault(key(node, 1), deque()).append(node)
    for node in first.nodes:
        if node not in pairs.of and (others := waiting.get(key(node, 0))):
            pairs.add(node, others.popleft())


def _names_mean_something(first: ValueGraph, second: ValueGraph) -> bool:
    """Whether most values that have one name in both graphs are made by the same operator, and most names occur twice.

    Names such as "123" are numbers of an export: a node more, and all later ones mean something else.
    """
    operators = {_name(node): node.operator for node in first.nodes}
    common = [(operators[name], node.operator) for node in second.nodes if (name := _name(node)) in operators]
    alike = sum(a == b for a, b in common)
    return 2 * alike >= max(len(common), min(len(first.nodes), len(second.nodes)))


def _backwards(first: ValueGraph, pairs: Pairs, ends: Ends) -> None:
    """Pair the nodes that give values which stand for each other, from the outputs to the inputs.

    Two nodes of one operator are a pair, and two others if they read the same.
    """
    pending: deque[tuple[GraphValue | None, GraphValue | None]] = deque(ends)
    for node in reversed(first.nodes):
        other = pairs.of.get(node)
        if isinstance(other, GraphNode) and pairs.same[0][node] != pairs.same[1][other]:
            pending.extend(zip(node.reads, other.reads, strict=False))
    inside = set(first.nodes)
    while pending:
        a, b = pending.popleft()
        if a is None or b is None or a.node is None or b.node is None or a.place != b.place:
            continue
        if a.node not in inside or a.node in pairs.of or b.node in pairs.taken:
            continue
        reads = list(zip(a.node.reads, b.node.reads, strict=False))
        if a.node.operator == b.node.operator or (reads and all(pairs.are_same(*pair) for pair in reads)):
            pairs.add(a.node, b.node)
            pending.extend(reads)
