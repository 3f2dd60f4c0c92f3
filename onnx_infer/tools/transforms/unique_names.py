"""Unique names: a value of an inner graph gets another name if another graph has a value of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.protobuf.nodes import graphs_of, subgraphs
from onnx_infer.tools.materialization import unused_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import GraphProto, ModelProto


def make_names_unique(model: ModelProto) -> None:
    """Give every value in an inner graph a name that no other graph gives. The main graph keeps its names."""
    graphs = list(graphs_of(model.graph))
    if len(graphs) == 1:
        return
    everything = {name for graph in graphs for name in (*_given(graph), *(n for x in graph.node for n in x.input))}
    taken = set(_given(model.graph))
    none: Mapping[str, str] = {}
    tried: dict[str, int] = {}
    pending = [(inner, none) for node in model.graph.node for inner in subgraphs(node)]
    while pending:
        graph, outer = pending.pop()
        names = {**outer, **{name: name for name in _given(graph)}}
        for name in _given(graph):
            if name in taken:
                names[name] = unused_name(name, everything, tried)
        taken.update(names[name] for name in _given(graph))
        if any(old != new for old, new in names.items()):
            _rename(graph, names)
        pending += [(inner, names) for node in graph.node for inner in subgraphs(node)]


def _given(graph: GraphProto) -> list[str]:
    """The names that a graph gives itself: inputs, initializers, and what its nodes make."""
    given = [*(info.name for info in graph.input), *(tensor.name for tensor in graph.initializer)]
    given += [sparse.values.name for sparse in graph.sparse_initializer]
    return list(dict.fromkeys(name for name in (*given, *(n for x in graph.node for n in x.output)) if name))


def _rename(graph: GraphProto, names: Mapping[str, str]) -> None:
    for holder in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        holder.name = names.get(holder.name, holder.name)
    for sparse in graph.sparse_initializer:
        sparse.values.name = names.get(sparse.values.name, sparse.values.name)
    for node in graph.node:
        for field in (node.input, node.output):
            for i, name in enumerate(field):
                if names.get(name, name) != name:
                    field[i] = names[name]
