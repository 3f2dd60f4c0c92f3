"""What differs in the matched parts of two graphs, in words, where it begins: not what follows from it."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from onnx_infer.tools.comparison.contents import differing
from onnx_infer.tools.comparison.graphs import GraphNode, GraphValue, PlainAttribute, ValueGraph
from onnx_infer.tools.comparison.matching import match
from onnx_infer.tools.comparison.types import agree
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.tools.comparison.matching import Ends, Pairs


class NodeDifference(NamedTuple):
    """What differs in a node of both models: its place ("" in the main graph), its names, and what, in words.

    `kind` is "operator", "attribute", "input", "output" or "body".
    """

    place: str
    operator: str
    first: str
    second: str
    kind: str
    what: str


class ConstantDifference(NamedTuple):
    """A constant of both models with different elements: its names, and how many differ."""

    first: str
    second: str
    what: str


class Differences:
    """What differs in the graphs that were walked. `names`: of nodes and values of the second model -> of the first."""

    def __init__(self) -> None:
        self.nodes: list[NodeDifference] = []
        self.constants: list[ConstantDifference] = []
        self.only: tuple[list[str], list[str]] = [], []
        self.names: dict[str, str] = {}
        self._told: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self.nodes) + len(self.constants) + sum(map(len, self.only))

    def walk(self, first: ValueGraph, second: ValueGraph, pairs: Pairs, ends: Ends) -> Ends:
        """Match two graphs and say what differs; returns the matched values. `ends`: their outputs in pairs."""
        self.pairs = pairs
        self._names = _constant_names(first), _constant_names(second)
        match(first, second, self.pairs, ends)
        pending = deque([(first, second)])
        while pending:
            pending += self._compare(*pending.popleft())
        values = [value for node in first.nodes for value in node.values if value is not None]
        return [(value, other) for value in values if isinstance(other := pairs.of.get(value), GraphValue)]

    def _compare(self, first: ValueGraph, second: ValueGraph) -> list[tuple[ValueGraph, ValueGraph]]:
        """Compare matched nodes; returns the bodies in them."""
        inner = []
        for node in first.nodes:
            other = self.pairs.of.get(node)
            if not isinstance(other, GraphNode):
                self.only[0].extend(_values(first, node))
                continue
            self.names[other.name] = node.name
            self.names.update((b.name, a.name) for a, b in zip(node.values, other.values, strict=False) if a and b)
            if self.pairs.same[0][node] != self.pairs.same[1][other]:
                self._node(first.place, node, other)
            inner += self._bodies(first.place, node, other)
        for node in second.nodes:
            if node not in self.pairs.taken:
                self.only[1].extend(_values(second, node))
        return inner

    def _node(self, place: str, node: GraphNode, other: GraphNode) -> None:
        tell = partial(self._tell, place, node, other)
        if node.operator != other.operator:
            tell("operator", f"{node.operator} -> {other.operator}")
        for name in sorted(node.attributes.keys() | other.attributes.keys()):
            ours, theirs = node.attributes.get(name), other.attributes.get(name)
            if ours is not None and theirs is not None and (ours.is_not_read or theirs.is_not_read):
                continue  # that is told of its file
            if ours is None or theirs is None or ours.key != theirs.key:
                tell("attribute", f"attribute {name}: {_shown(ours)} -> {_shown(theirs)}")
        for i in range(max(len(node.reads), len(other.reads))):
            self._operand(i, node, other, tell)
        for i in range(max(len(node.values), len(other.values))):
            ours_given, theirs_given = (i < len(n.values) and n.values[i] is not None for n in (node, other))
            if ours_given != theirs_given:
                tell("output", f"output {i} is {'left out' if ours_given else 'new'}")

    def _tell(self, place: str, node: GraphNode, other: GraphNode, kind: str, what: str) -> None:
        self.nodes.append(NodeDifference(place, node.operator, node.name, other.name, kind, what))

    def _operand(self, i: int, node: GraphNode, other: GraphNode, tell: Callable[[str, str], None]) -> None:
        ours, theirs = (n.reads[i] if i < len(n.reads) else None for n in (node, other))
        if self.pairs.are_same(ours, theirs):
            return
        if ours and theirs and ours.constant and theirs.constant and not (ours.graph or theirs.graph):
            is_one = ours.name == theirs.name or (theirs.name not in self._names[0] and ours.name not in self._names[1])
            if is_one:
                self.constant(ours, theirs)
                return
        tell("input", f"input {i}: {_named(ours)} -> {_named(theirs)}")

    def constant(self, ours: GraphValue, theirs: GraphValue) -> bool:
        """Say how a constant of the one model differs from that of the other one, once; False if they are none."""
        if ours.constant is None or theirs.constant is None:
            return False
        if ours.constant.key == theirs.constant.key or (ours.name, theirs.name) in self._told:
            return True
        self._told.add((ours.name, theirs.name))
        if not (ours.constant.not_read or theirs.constant.not_read):  # else that is told of its file
            what = differing(ours.constant, theirs.constant)
            self.constants.append(ConstantDifference(ours.name, theirs.name, what))
        return True

    def _bodies(self, place: str, node: GraphNode, other: GraphNode) -> list[tuple[ValueGraph, ValueGraph]]:
        inner = []
        for name in sorted(node.bodies.keys() | other.bodies.keys()):
            ours, theirs = node.bodies.get(name), other.bodies.get(name)
            what = ""
            if ours is None or theirs is None:
                what = f"the body {name} is {'new' if ours is None else 'left out'}"
            elif len(ours.inputs) != len(theirs.inputs) or len(ours.outputs) != len(theirs.outputs):
                what = f"the body {name} has other numbers of inputs or outputs"
            elif others := [f"{a} -> {b}" for a, b in zip(ours.types, theirs.types, strict=True) if not agree(a, b)]:
                what = f"the body {name} declares other types: {', '.join(others)}"
            if what:
                self._tell(place, node, other, "body", what)
            if ours is None or theirs is None:
                continue
            for a, b in zip(ours.inputs, theirs.inputs, strict=False):
                self.pairs.add(a, b)
                self.names[b.name] = a.name
            ends = list(zip(ours.outputs, theirs.outputs, strict=False))
            match(ours, theirs, self.pairs, ends)
            inner.append((ours, theirs))
            self._ends(ours.place, node, other, ends)
        return inner

    def _ends(self, place: str, node: GraphNode, other: GraphNode, ends: Ends) -> None:
        """Say which outputs of a body are other values."""
        for i, (a, b) in enumerate(ends):
            if not self.pairs.are_same(a, b) and not self.constant(a, b):
                self._tell(place, node, other, "body", f"output {i} of the body: {_named(a)} -> {_named(b)}")


def _values(graph: ValueGraph, node: GraphNode) -> list[str]:
    place = f"{graph.place}: " if graph.place else ""
    return [f"{place}{value.name}" for value in node.values if value is not None]


def _constant_names(graph: ValueGraph) -> set[str]:
    return {value.name for node in graph.nodes for value in node.reads if value is not None and value.constant}


def _named(value: GraphValue | None) -> str:
    if value is None:
        return "nothing"
    if value.constant is not None:
        return f"the constant {value.name!r}, {value.constant}"
    return repr(value.name) if value.node is None else f"{value.name!r} ({value.node.operator})"


def _shown(attribute: PlainAttribute | None) -> str:
    return "the default" if attribute is None else attribute.shown
