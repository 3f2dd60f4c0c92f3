"""The graphs in the attributes of nodes: walks over them, and those of one node as bytes.

Results for a node with graphs are remembered under these bytes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto

from onnx_infer.model.attributes import kind_of
from onnx_infer.model.graph import Bodies
from onnx_infer.protobuf.declarations import Declared
from onnx_infer.protobuf.nodes import Named, wire_of
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import FunctionProto, GraphProto, NodeProto

    from onnx_infer.model.graph import Node, Place

_MOST_BYTES = 1 << 18
"""Nodes with more bytes are not remembered. Their graphs contain weights."""

_MANY_BYTES = 1 << 15
"""Nodes with more bytes are recognised by a digest of them, so the bytes are not kept."""

_read = shared_cache(1 << 10)  # (bytes of attributes, whether initializers are constants) -> Bodies


def bodies(all_constant: bool, node: Node) -> Bodies | None:
    """The graphs of a node; None if it has too many bytes. With `all_constant` no initializer can be overridden."""
    proto, made = node[5], node[4].made
    known: Bodies | None = made.get(key := ("bodies", all_constant))
    if known is not None:
        return known
    if isinstance(proto, Named):  # only a reference, and not of the type of a graph, stands for one: it is damaged
        return None
    whole = wire_of(proto)
    if whole is None or len(whole) > _MOST_BYTES:
        return None
    attributes = [attribute.SerializeToString() for attribute in proto.attribute]
    is_large = len(whole) > _MANY_BYTES
    wire = (*(map(_digest, attributes) if is_large else attributes), is_large, all_constant)
    found: Bodies | None = _read.get(wire)
    if found is None:
        found = _read[wire] = _bodies(wire, proto, is_large)
    made[key] = found
    return found


def _digest(wire: bytes) -> bytes:
    """The SHA-256 of some bytes, which stands for them: nobody knows two byte strings with the same one."""
    return sha256(wire).digest()


def _bodies(wire: tuple[object, ...], node: NodeProto, is_large: bool) -> Bodies:
    places: list[Place] = []
    texts: dict[str, None] = {}
    graphs: list[GraphProto] = []
    for i, j, graph in placed(node):
        places.append((-1, 0, i, j))
        graphs.append(graph)
    number = 0
    while number < len(graphs):
        graph = graphs[number]
        inputs, outputs, others = Declared.of(graph)
        texts.update(dict.fromkeys((*inputs.texts, *others.texts, *outputs.texts)))
        for n, inner in enumerate(graph.node):
            for i, j, below in placed(inner):
                places.append((number, n, i, j))
                graphs.append(below)
        number += 1
    return Bodies(wire, tuple(texts), tuple(places), is_large)


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


def graphs_of(graph: GraphProto | FunctionProto) -> Iterator[Any]:
    """A graph, or a function, and the graphs inside it, outer ones first."""
    pending: list[Any] = [graph]
    while pending:
        graph = pending.pop()
        yield graph
        pending += reversed([inner for node in graph.node for inner in subgraphs(node)])


def handles(node: Node, places: tuple[Place, ...]) -> list[Any]:
    """The graphs at these places of a node."""
    found: list[Any] = []
    for around, number, i, j in places:
        holder = node[5] if around < 0 else found[around].node[number]
        found.append(graph_at(holder, i, j))
    return found
