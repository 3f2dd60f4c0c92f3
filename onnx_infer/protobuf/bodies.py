"""The graphs in the attributes of nodes, and walks over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import AttributeProto

from onnx_infer.model.attributes import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import FunctionProto, GraphProto, NodeProto


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
