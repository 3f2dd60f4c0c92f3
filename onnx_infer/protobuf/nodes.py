"""The nodes of a graph, read from their messages. Messages of equal bytes are read once."""

from __future__ import annotations

from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any

from google.protobuf.message import EncodeError
from onnx import AttributeProto

from onnx_infer.model.attributes import attribute_value, constant, kind_of
from onnx_infer.model.graph import NO_ATTRIBUTES, Attributes, Node
from onnx_infer.values.text import text, texts
from symdim.algebra.caches import shared_cache
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.protobuf.message import Message
    from onnx import FunctionProto, GraphProto, NodeProto


_MAX_ATTRIBUTES, _MAX_TABLES = 1 << 12, 1 << 18
_MAX_NODE = 1 << 10
_MAX_LITERAL = 1 << 8
"""The most bytes of a remembered message."""

_MOST_KEPT = 1 << 13
"""The most nodes of a graph that are kept for the next walk. They would take most memory."""

_interned = shared_cache(1 << 11)  # bytes of attributes -> Attributes
_tables = shared_cache(1 << 6)  # the same for long ones, such as those of tree ensembles
_met = shared_cache(1 << 11)  # (number of nodes, hashes of the bytes of the first and of the last one) of graphs
_nodes = shared_cache(1 << 15)  # bytes of a NodeProto -> the result of `read_node`

_TENSOR = AttributeProto.TENSOR
_GRAPH_KINDS = frozenset((AttributeProto.GRAPH, AttributeProto.GRAPHS))
_WITH_GRAPHS = frozenset(("If", "Loop", "Scan", "SequenceMap"))
_bytes_of = methodcaller("SerializeToString")
_attribute_bytes = AttributeProto.SerializeToString
_parts = attrgetter("op_type", "domain", "input", "output", "attribute")
_joined = "".join


def wire_of(message: Message) -> bytes | None:
    """The bytes of a message; None for more than the 2 GB that protobuf writes: nodes in memory may hold weights."""
    try:
        wire: bytes = message.SerializeToString()
    except EncodeError:
        return None
    return wire


def read_attributes(op_type: str, attributes: Any) -> Attributes:
    """The attributes of a node with at least one. Attributes with equal wire bytes are the same object."""
    if op_type in _WITH_GRAPHS:  # a body may be large
        return _parse(attributes)
    try:
        key = tuple(map(_attribute_bytes, attributes[:]))  # to iterate over protobuf's container takes longer
    except EncodeError:  # more than 2 GB
        return _parse(attributes)
    interned: Attributes | None = _interned.get(key) or _tables.get(key)
    if interned is None:
        interned, size = _parse(attributes), sum(map(len, key))
        if not interned.has_graphs and size <= _MAX_TABLES:
            (_interned if size <= _MAX_ATTRIBUTES else _tables)[key] = interned
    return interned


def _parse(attributes: Any) -> Attributes:
    values: dict[str, Any] = {}
    references: dict[str, str] = {}
    has_graphs = False
    for attribute in attributes:
        name, reference = text(attribute.name), attribute.ref_attr_name
        if reference:
            references[name] = text(reference)
        else:
            values[name] = attribute_value(attribute)
        has_graphs = has_graphs or kind_of(attribute) in _GRAPH_KINDS
    return Attributes(values, references or None, has_graphs)


class Named(NamedTuple):
    """The handle of a remembered node. Its message is not kept, because it would hold the whole model in memory."""

    name: str
    overload: str
    wire: bytes


class Literal(NamedTuple):
    """A node that is a constant tensor: its output, and the handle of the tensor."""

    name: str
    handle: Any


class ProtoNodes:
    """The nodes of a graph. Constant tensors are added to the graph's constants instead, their names to `literals`.

    If a graph is met again, unchanged or with a few other nodes, its nodes are recognised by their bytes. This takes a
    third of the time of reading their parts. Nothing is remembered when a graph is met for the first time.

    The first of several walks over a graph fills the list `kept`, unless it is long, and the next ones read that.
    """

    __slots__ = ("_constants", "_is_met_again", "_kept", "_literals", "_protos")

    def __init__(
        self,
        protos: Any,
        constants: dict[str, Any],
        literals: list[str],
        kept: list[Node | Literal] | None = None,
    ) -> None:
        self._protos, self._constants, self._literals = protos, constants, literals
        self._kept = kept if len(protos) <= _MOST_KEPT else None
        self._is_met_again: bool | None = None

    def __call__(self) -> Iterator[Node]:
        kept, self._kept = self._kept, None  # this object outlives the walks
        read = kept or self._read()
        if kept is not None and read is not kept:
            kept += read
            read = kept
        for node in read:
            if not isinstance(node, Literal):
                yield node
                continue
            if node.name not in self._constants:
                self._literals.append(node.name)
            self._constants[node.name] = node.handle

    def _read(self) -> Iterable[Node | Literal]:
        if self._is_met_again is None:
            self._is_met_again = _is_met_again(self._protos)
        if not self._is_met_again:
            return map(read_node, self._protos)
        try:
            known = list(map(_nodes.get, map(_bytes_of, self._protos)))
        except EncodeError:  # a node with more than 2 GB
            known = list(map(_nodes.get, map(wire_of, self._protos)))
        return [node or read_node(proto, wire_of(proto)) for node, proto in zip(known, self._protos, strict=True)]


def _is_met_again(protos: Any) -> bool:
    """Whether a graph with this number of nodes, this first node and this last node was read before."""
    if not 0 < len(protos) <= _nodes.limit:  # the cache has no room for more
        return False
    key = len(protos), hash(wire_of(protos[0])), hash(wire_of(protos[-1]))  # a mistake would only cost time
    if key in _met:
        return True
    _met[key] = True
    return False


def read_node(proto: NodeProto, wire: bytes | None = None) -> Node | Literal:
    """A node, read from its message. It is remembered under its bytes `wire` if these are few."""
    op_type, domain, read, made, attributes = _parts(proto)
    inputs, outputs = read[:], made[:]
    try:  # joining them is the cheapest test that all are texts
        _joined(inputs), _joined(outputs), op_type + domain
    except TypeError:
        inputs, outputs, op_type, domain = texts(inputs), texts(outputs), text(op_type), text(domain)
    node: Node | Literal
    if op_type == "Constant" and outputs and len(attributes) == 1 and domain in ("", "ai.onnx"):
        value = attributes[0]
        if value.type == _TENSOR and not value.ref_attr_name:
            if wire is None or len(wire) > _MAX_LITERAL:
                return Literal(outputs[0], value)
            node = _nodes[wire] = Literal(outputs[0], constant(value.t))
            return node
    known = read_attributes(op_type, attributes) if attributes else NO_ATTRIBUTES
    if wire is None or known.has_graphs or len(wire) > _MAX_NODE:
        return op_type, domain, inputs, outputs, known, proto
    handle = Named(proto.name, getattr(proto, "overload", ""), wire)
    node = _nodes[wire] = op_type, domain, inputs, outputs, known, handle
    return node


def message(node: Node) -> bytes:
    """The bytes of a node's NodeProto."""
    handle = node[5]
    return handle.wire if isinstance(handle, Named) else handle.SerializeToString()


def placed(node: NodeProto) -> Iterator[tuple[int, int, GraphProto]]:
    """The graphs in the attributes of one node, each with the number of the attribute, and its own in a list or -1."""
    for i, attribute in enumerate(node.attribute):
        kind = kind_of(attribute)
        if kind == AttributeProto.GRAPH:
            yield i, -1, attribute.g
        elif kind == AttributeProto.GRAPHS:
            yield from ((i, j, graph) for j, graph in enumerate(attribute.graphs))


def graph_at(node: NodeProto, i: int, j: int) -> GraphProto:
    """The graph at a place of a node, as `placed` gives it."""
    return node.attribute[i].g if j < 0 else node.attribute[i].graphs[j]


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs in the attributes of a node."""
    return (graph for _, _, graph in placed(node))


def all_graphs(model: Any) -> Iterator[Any]:
    """All graphs of a model: the main graph, functions, and those inside them."""
    return (graph for root in (model.graph, *model.functions) for graph in graphs_of(root))


def graphs_of(graph: GraphProto | FunctionProto) -> Iterator[Any]:
    """A graph, or a function, and the graphs inside it, outer ones first."""
    pending: list[Any] = [graph]
    while pending:
        graph = pending.pop()
        yield graph
        pending += reversed([inner for node in graph.node for inner in subgraphs(node)])
