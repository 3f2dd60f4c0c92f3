"""The graphs in a node's attributes as bytes. Results for such a node are remembered under these bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import AttributeProto

from onnx_infer.model.attributes import kind_of
from onnx_infer.model.graph import Bodies
from onnx_infer.protobuf.declarations import Declared
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import GraphProto, NodeProto

    from onnx_infer.model.graph import Node, Place

_MOST_BYTES = 1 << 15
"""Nodes with more bytes are not remembered. Their graphs contain weights."""

_read = shared_cache(1 << 10)  # (bytes of attributes, whether initializers are constants) -> Bodies


def bodies(all_constant: bool, node: Node) -> Bodies | None:
    """The graphs of a node; None if it has too many bytes. With `all_constant` no initializer can be overridden."""
    proto = node[5]
    if proto.ByteSize() > _MOST_BYTES:
        return None
    wire = (*[attribute.SerializeToString() for attribute in proto.attribute], all_constant)
    found: Bodies | None = _read.get(wire)
    if found is None:
        found = _read[wire] = _bodies(wire, proto)
    return found


def _bodies(wire: tuple[object, ...], node: NodeProto) -> Bodies:
    places: list[Place] = []
    texts: dict[str, None] = {}
    graphs: list[GraphProto] = []
    for place, graph in _graphs(node, -1, 0):
        places.append(place)
        graphs.append(graph)
    number = 0
    while number < len(graphs):
        graph = graphs[number]
        inputs, outputs, others = Declared.of(graph)
        texts.update(dict.fromkeys((*inputs.texts, *others.texts, *outputs.texts)))
        for i, inner in enumerate(graph.node):
            for place, below in _graphs(inner, number, i):
                places.append(place)
                graphs.append(below)
        number += 1
    return Bodies(wire, tuple(texts), tuple(places))


def _graphs(node: NodeProto, around: int, number: int) -> Iterator[tuple[Place, GraphProto]]:
    """The graphs in the attributes of one node."""
    for i, attribute in enumerate(node.attribute):
        kind = kind_of(attribute)
        if kind == AttributeProto.GRAPH:
            yield (around, number, i, -1), attribute.g
        elif kind == AttributeProto.GRAPHS:
            yield from (((around, number, i, j), graph) for j, graph in enumerate(attribute.graphs))


def handles(node: Node, places: tuple[Place, ...]) -> list[Any]:
    """The graphs at these places of a node."""
    found: list[Any] = []
    for around, number, i, j in places:
        holder = node[5] if around < 0 else found[around].node[number]
        attribute = holder.attribute[i]
        found.append(attribute.g if j < 0 else attribute.graphs[j])
    return found
