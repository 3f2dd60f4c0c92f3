"""A model as plain nodes and values: names are resolved, so the two models of a comparison can be walked alike."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto

from onnx_infer.model.attributes import attribute_value, kind_of, value_type
from onnx_infer.model.graph import normal_domain
from onnx_infer.tools.comparison.contents import Content, Contents, literal
from onnx_infer.values.tensor import UNKNOWN_SIZE, Value
from onnx_infer.values.text import text, texts
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_infer.operators.operator import Operators


class GraphValue:
    """A value: a constant, an input or an output of a node. All of them are None for a name that nothing gives."""

    __slots__ = ("constant", "graph", "name", "node", "place")

    def __init__(self, name: str, graph: ValueGraph | None = None, place: int = 0) -> None:
        self.name, self.graph, self.place = name, graph, place
        self.node: GraphNode | None = None
        self.constant: Content | None = None
        """For an input, its default."""


class PlainAttribute(NamedTuple):
    """An attribute: what equal ones have in common, a short text, and whether its tensor could not be read."""

    key: Any
    shown: str
    is_not_read: bool = False


class GraphNode:
    """A node. `bodies`: its graphs, by attribute. `captured`: what these read from around them."""

    __slots__ = ("attributes", "bodies", "captured", "is_random", "name", "operator", "reads", "values")

    def __init__(self, proto: NodeProto, operators: Operators, contents: Contents) -> None:
        domain, op_type, overload = normal_domain(text(proto.domain)), text(proto.op_type), text(proto.overload)
        self.operator = "::".join(filter(None, (domain, op_type))) + (f":{overload}" if overload else "")
        known = operators[domain, op_type]
        self.is_random = known is None or domain not in _WELL_KNOWN or known.rule.traits.random
        self.name = text(proto.name) or next(filter(None, texts(proto.output)), "")
        self.reads: list[GraphValue | None] = []
        self.values: list[GraphValue | None] = []
        self.captured: list[GraphValue] = []
        self.bodies: dict[str, ValueGraph] = {}
        self.attributes: dict[str, PlainAttribute] = {}
        for attribute in proto.attribute:
            if not list(_graphs(attribute)):
                self.attributes[text(attribute.name)] = _plain(attribute, contents)
        for name, default in (known.schema.defaults if known else {}).items():
            own, kind = self.attributes.get(name), known.schema.attributes.get(name) if known else None
            if own is not None and own.key == (kind, _exact(kind, default)):
                del self.attributes[name]  # it says what is so without it

    @property
    def title(self) -> str:
        """The operator and the node's name."""
        return f"{self.operator} {self.name!r}"


_WELL_KNOWN = ("", "ai.onnx.ml", "com.microsoft")
"""The domains whose random operators are all known as such."""


class ValueGraph:
    """A graph, a body or a function. `depth`: the number of graphs around it. `place`: in words, empty if main."""

    __slots__ = ("depth", "inputs", "nodes", "outputs", "place", "types")

    def __init__(self, place: str, depth: int) -> None:
        self.place, self.depth = place, depth
        self.inputs: list[GraphValue] = []
        self.outputs: list[GraphValue] = []
        self.nodes: list[GraphNode] = []
        self.types: tuple[Value | None, ...] = ()
        """Of a body, the declared types of inputs and outputs, without names of sizes."""


class _Scope:
    """The values of a graph by name, the graph around it, and the node there that holds it."""

    __slots__ = ("around", "holder", "values")

    def __init__(self, around: _Scope | None, holder: GraphNode | None) -> None:
        self.around, self.holder = around, holder
        self.values: dict[str, GraphValue] = {}

    def find(self, name: str) -> GraphValue:
        """The value of a name. Each node between the value and its reader captures it."""
        scope, crossed = self, []
        while name not in scope.values and scope.around is not None:
            crossed.append(scope.holder)
            scope = scope.around
        value = scope.values.setdefault(name, GraphValue(name))
        for holder in crossed:
            if holder is not None:
                holder.captured.append(value)
        return value


def read_graph(
    proto: Any, operators: Operators, contents: Contents, place: str = "", all_constant: bool = False
) -> ValueGraph:
    """The view of a GraphProto or a FunctionProto. `all_constant`: no caller may override an initializer."""
    whole = ValueGraph(place, 0)
    pending: list[tuple[Any, ValueGraph, _Scope]] = [(proto, whole, _Scope(None, None))]
    while pending:
        proto, graph, scope = pending.pop()
        names = [texts(ends) for ends in (proto.input, proto.output)] if isinstance(proto, FunctionProto) else None
        if names is None:
            names = [[text(info.name) for info in ends] for ends in (proto.input, proto.output)]
            constants = {text(tensor.name): contents.of(tensor) for tensor in proto.initializer}
            constants.update((text(x.values.name), contents.of_sparse(x)) for x in proto.sparse_initializer)
            for name, constant in constants.items():
                scope.values[name] = GraphValue(name)
                scope.values[name].constant = constant
        for name in names[0]:
            if name and not (all_constant and name in scope.values):
                value = scope.values.setdefault(name, GraphValue(name))
                value.graph, value.place = graph, len(graph.inputs)
                graph.inputs.append(value)
        made = list(_enter_nodes(proto, scope, operators, contents))
        graph.nodes = [view for _, view in made]
        for node, view in made:
            view.reads = [scope.find(name) if name else None for name in texts(node.input)]
            for label, body in (pair for attribute in node.attribute for pair in _graphs(attribute)):
                outer = f"{graph.place}, " if graph.place else ""
                view.bodies[label] = ValueGraph(f"{outer}{label} of {view.title}", graph.depth + 1)
                pending.append((body, view.bodies[label], _Scope(scope, view)))
        graph.outputs = [scope.find(name) for name in names[1] if name]
        if graph.depth:
            graph.types = tuple(value_type(info.type, _number) for info in (*proto.input, *proto.output))
    return whole


def _enter_nodes(
    proto: GraphProto | FunctionProto, scope: _Scope, operators: Operators, contents: Contents
) -> Iterator[tuple[NodeProto, GraphNode]]:
    """The nodes with their outputs. Constant nodes are none: their outputs are constants."""
    for node in proto.node:
        constant = literal(node, contents)
        view = GraphNode(node, operators, contents) if constant is None else None
        for place, name in enumerate(texts(node.output)):
            value = GraphValue(name, None, place)
            value.constant, value.node = constant, view
            if name:
                scope.values[name] = value
            if view is not None:
                view.values.append(value if name else None)
        if view is not None:
            yield node, view


def parts_first(graph: ValueGraph) -> list[GraphNode | ValueGraph]:
    """All nodes and graphs in a graph: nodes after those that they read, and graphs after their nodes.

    The nodes of a cycle are in no order.
    """
    parts: list[GraphNode | ValueGraph] = []
    begun: set[int] = set()
    pending: list[tuple[GraphNode | ValueGraph, bool]] = [(graph, False)]
    while pending:
        part, is_entered = pending.pop()
        if is_entered:
            parts.append(part)
        elif id(part) not in begun:
            begun.add(id(part))
            pending.append((part, True))
            if isinstance(part, ValueGraph):
                pending += [(node, False) for node in reversed(part.nodes)]
            else:
                pending += [(body, False) for body in reversed(part.bodies.values())]
                sources = [v.node for v in (*part.captured, *part.reads) if v is not None and v.node is not None]
                pending += [(node, False) for node in reversed(sources)]
    return parts


def _graphs(attribute: AttributeProto) -> Iterator[tuple[str, Any]]:
    kind, name = kind_of(attribute), text(attribute.name)
    if kind == AttributeProto.GRAPH and not attribute.ref_attr_name:
        yield name, attribute.g
    elif kind == AttributeProto.GRAPHS:
        yield from ((f"{name}[{i}]", graph) for i, graph in enumerate(attribute.graphs))


def _plain(attribute: AttributeProto, contents: Contents) -> PlainAttribute:
    if attribute.ref_attr_name:
        name = text(attribute.ref_attr_name)
        return PlainAttribute(("reference", name), f"that of the attribute {name!r} of the call")
    kind = kind_of(attribute)
    if kind in _WITH_DATA:
        field, read = _WITH_DATA[kind]
        tensors = getattr(attribute, field)
        constants = [read(contents, part) for part in (tensors if field.endswith("s") else [tensors])]
        key = kind, tuple(constant.key for constant in constants)  # this reads the data
        return PlainAttribute(key, ", ".join(map(str, constants)), any(constant.not_read for constant in constants))
    value = value_type(attribute.tp, _number) if kind == AttributeProto.TYPE_PROTO else attribute_value(attribute)
    shown = str(list(value)) if isinstance(value, tuple) else repr(value) if isinstance(value, str) else str(value)
    return PlainAttribute((kind, _exact(kind, value)), shown if len(shown) <= 60 else f"{shown[:57]}...")


_WITH_DATA: dict[int, tuple[str, Callable[[Contents, Any], Content]]] = {
    AttributeProto.TENSOR: ("t", Contents.of),
    AttributeProto.TENSORS: ("tensors", Contents.of),
    AttributeProto.SPARSE_TENSOR: ("sparse_tensor", Contents.of_sparse),
    AttributeProto.SPARSE_TENSORS: ("sparse_tensors", Contents.of_sparse),
}
"""Kind of attribute -> the field with its tensors, and what reads one."""


def _number(size: object) -> Any:
    """A written size; names of sizes are all alike."""
    return size if isinstance(size, int) else UNKNOWN_SIZE


def _exact(kind: int | None, value: Any) -> Any:
    """A value of an attribute in a form in which equal ones have equal bits."""
    if kind == AttributeProto.FLOAT:
        return _bits((value,))
    return _bits(value) if kind == AttributeProto.FLOATS else value


def _bits(values: tuple[float, ...]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)
