"""The names of values and symbols in a model: every field of onnx.proto that holds one, and how they are changed.

Names of values are

- the inputs and outputs of nodes, of graphs and of functions, value infos, initializers (sparse ones by their values),
- `TensorAnnotation.tensor_name`, and the values of `quant_parameter_tensor_names`, the scales and zero points of it,
- `ShardingSpecProto.tensor_name` in the `device_configurations` of a node, an input or output of this node,
- keys and values of the bindings in `TrainingInfoProto`. A model that has some is not folded, so they stay.

Names of symbols are `dim_param`s: in the types of value infos, in attributes that are types, and in
`SimpleShardedDimProto`, which has `dim_value` and `dim_param` as a `Dimension` has. They mean the same in all graphs,
functions and training graphs of a model.

Names of nodes, graphs, metadata entries, attributes (`ref_attr_name`), functions, domains and device configurations
(`configuration_id`) are never changed. Metadata is text of others. It stays with the model, graph, node or value that
has it. Two kinds of entries are of this library: the contract, which speaks of symbols and is renewed, and an arena
plan, which holds for one model only and goes if that changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.protobuf.declarations import innermost_dims
from onnx_infer.protobuf.nodes import graphs_of
from onnx_infer.values.text import text, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx import GraphProto, ModelProto, NodeProto

ARENA = "onnx_infer.arena."
"""How the keys of an arena plan in metadata begin."""


# -- values ------------------------------------------------------------------------------------------------------------


def holders(graph: GraphProto) -> Iterator[tuple[Any, str]]:
    """The messages of one graph that name a value, each with the field. What nodes read and give is not among them."""
    infos = graph.input, graph.output, graph.value_info, graph.initializer
    yield from ((holder, "name") for part in infos for holder in part)
    yield from ((sparse.values, "name") for sparse in graph.sparse_initializer)
    for note in quantizations(graph):
        yield note, "tensor_name"
        yield from ((entry, "value") for entry in note.quant_parameter_tensor_names)
    yield from ((spec, "tensor_name") for node in graph.node for spec in sharding_specs(node))


def names_in(graph: GraphProto) -> Iterator[str]:
    """The names of values and nodes in a graph and in all graphs inside it."""
    for inner in graphs_of(graph):
        yield from (text(getattr(message, field)) for message, field in holders(inner))
        for node in inner.node:
            yield from texts((node.name, *node.input, *node.output))


def rename_values(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Give values other names, wherever one graph names them. Graphs inside it are left."""
    for message, field in holders(graph):
        _rename(message, field, names)
    for node in graph.node:
        _rename_operands(node, names)


def rename_in_node(node: NodeProto, names: Mapping[str, str]) -> None:
    """Give values other names in one node. Graphs inside it are left."""
    _rename_operands(node, names)
    for spec in sharding_specs(node):
        _rename(spec, "tensor_name", names)


def _rename(message: Any, field: str, names: Mapping[str, str]) -> None:
    new = names.get(text(getattr(message, field)))
    if new is not None:
        setattr(message, field, new)


def _rename_operands(node: NodeProto, names: Mapping[str, str]) -> None:
    for operands in (node.input, node.output):
        for i, name in enumerate(operands):
            new = names.get(text(name))
            if new is not None:
                operands[i] = new


def read(node: NodeProto, index: int, name: str | None) -> None:
    """Let a node read another value as an input; with None, read nothing there. Its sharding follows.

    If the node has a sharding of the new value already, that one stays.
    """
    old = node.input[index]
    if name is None:
        del node.input[index]
    else:
        node.input[index] = name
    if not device_configurations(node) or old in (*node.input, *node.output):
        return
    for configuration in device_configurations(node):
        specs = configuration.sharding_spec
        is_said = name is None or any(spec.tensor_name == name for spec in specs)
        for i in reversed([i for i, spec in enumerate(specs) if spec.tensor_name == old]):
            if is_said:
                del specs[i]
            else:
                specs[i].tensor_name = name


def quantizations(graph: Any) -> Any:
    """The quantization annotations of a graph. A graph that grows has none, and neither has a function."""
    return getattr(graph, "quantization_annotation", ())


def device_configurations(node: NodeProto) -> Any:
    """Where a node runs: the configurations with its pipeline stage and its sharding (since onnx 1.18)."""
    return getattr(node, "device_configurations", ())


def sharding_specs(node: NodeProto) -> list[Any]:
    """How the inputs and outputs of a node are sharded."""
    configurations = device_configurations(node)
    return [spec for configuration in configurations for spec in configuration.sharding_spec] if configurations else []


# -- symbols -----------------------------------------------------------------------------------------------------------


def dims_of(model: ModelProto) -> Iterator[Any]:
    """Every message of a model with a size: `dim_value` or `dim_param`."""
    training = ((step.initialization, step.algorithm) for step in model.training_info)
    for root in (model.graph, *model.functions, *(graph for pair in training for graph in pair)):
        for graph in graphs_of(root):
            yield from dims_in(graph)


def dims_in(graph: Any) -> Iterator[Any]:
    """The messages with a size in a graph or function, without those in graphs inside it."""
    for info in (*graph.input, *graph.output, *graph.value_info):
        if not isinstance(info, (str, bytes)):  # inputs and outputs of a function are names
            yield from innermost_dims(info.type)
    for node in graph.node:
        for attribute in node.attribute:
            for kind in (attribute.tp, *attribute.type_protos):
                yield from innermost_dims(kind)
        yield from sharded_dims(sharding_specs(node))


def sharded_dims(specs: Iterable[Any]) -> Iterator[Any]:
    """The messages with a size in shardings."""
    for spec in specs:
        for axis in spec.sharded_dim:
            yield from axis.simple_sharding


def clear_sizes(dims: Iterable[Any], only_numbers: bool = False) -> None:
    """Remove sizes from messages that have one."""
    for dim in dims:
        dim.ClearField("dim_value")
        if not only_numbers:
            dim.ClearField("dim_param")


# -- metadata ----------------------------------------------------------------------------------------------------------


def drop_arena(model: ModelProto) -> None:
    """Remove an arena plan from the metadata, in place: it is that of another model."""
    graph = model.graph
    for holder in (model, *graph.input, *graph.output, *graph.value_info):
        entries = holder.metadata_props
        for i in reversed([i for i, entry in enumerate(entries) if text(entry.key).startswith(ARENA)]):
            del entries[i]
