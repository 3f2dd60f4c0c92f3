"""A model that grows: lists of messages with the field names of a ModelProto, so that the same front end reads it.

Messages are not copied into it. So a tensor that is handed over stays one object in memory.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from onnx import NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, ValueInfoProto

from onnx_infer.errors import ArgumentError
from onnx_infer.protobuf.names import names_in, rename_in_node, rename_values
from onnx_infer.protobuf.nodes import subgraphs
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import FunctionProto, GraphProto, SparseTensorProto


class GrowingGraph:
    """The main graph."""

    def __init__(self) -> None:
        self.name = ""
        self.input: list[ValueInfoProto] = []
        self.output: list[ValueInfoProto] = []
        self.value_info: list[ValueInfoProto] = []
        self.initializer: list[TensorProto] = []
        self.sparse_initializer: list[SparseTensorProto] = []
        self.node: list[NodeProto] = []
        self.metadata_props: list[StringStringEntryProto] = []


class GrowingModel:
    """The model. Its lists and tables only grow, or are cut to what they were.

    `inputs` are the names of inputs. `values` are the names that initializers and nodes give; True for an initializer.
    """

    def __init__(self, ir_version: int, opsets: Mapping[str, int], metadata: Mapping[str, str]) -> None:
        self.ir_version = ir_version
        self.opset_import = [OperatorSetIdProto(domain=d, version=v) for d, v in opsets.items()]
        self.functions: list[FunctionProto] = []
        self.graph = GrowingGraph()
        self.graph.metadata_props += [StringStringEntryProto(key=k, value=v) for k, v in metadata.items()]
        self.inputs: dict[str, bool] = {}
        self.values: dict[str, bool] = {}

    def _lists(self) -> list[list[Any]]:
        graph = self.graph
        infos = graph.input, graph.output, graph.value_info
        return [*infos, graph.initializer, graph.sparse_initializer, graph.node, self.functions]

    def lengths(self) -> tuple[int, ...]:
        """The lengths of all lists and tables, for `cut`."""
        return tuple(map(len, (*self._lists(), self.inputs, self.values)))

    def cut(self, lengths: tuple[int, ...]) -> None:
        """Drop what came after the lists and tables had these lengths."""
        for part, length in zip(self._lists(), lengths[:-2], strict=True):
            del part[length:]
        for table, length in zip((self.inputs, self.values), lengths[-2:], strict=True):
            while len(table) > length:
                table.popitem()

    def copy(self) -> GrowingModel:
        """Another model with the same messages."""
        new = GrowingModel(self.ir_version, {}, {})
        new.opset_import, new.graph.metadata_props = self.opset_import, self.graph.metadata_props
        for mine, part in zip(new._lists(), self._lists(), strict=True):
            mine += part
        new.inputs, new.values = dict(self.inputs), dict(self.values)
        return new


def renamed(model: GrowingModel, names: Mapping[str, str]) -> GrowingModel:
    """The model with other names of values of its main graph. The new names have no value yet.

    A message that has such a name is copied. A graph inside a node reads the value under its new name. Raises
    ArgumentError if it has a value of its own of this name.
    """
    new = model.copy()
    new.inputs, new.values = ({names.get(n, n): kind for n, kind in of.items()} for of in (new.inputs, new.values))
    graph = new.graph
    for named in (graph.input, graph.output, graph.value_info, graph.initializer):
        named[:] = [_with_name(part, part, names) for part in named]
    graph.sparse_initializer[:] = [_with_name(part, part.values, names) for part in graph.sparse_initializer]
    graph.node[:] = [_renamed_node(node, names) for node in graph.node]
    return new


def _with_name(message: Any, named: Any, names: Mapping[str, str]) -> Any:
    """The message, or a copy of it with another name of `named`, which is the message or its values."""
    name = names.get(text(named.name))
    if name is None:
        return message
    copy = type(message)()
    copy.CopyFrom(message)
    (copy if named is message else copy.values).name = name
    return copy


def _renamed_node(node: NodeProto, names: Mapping[str, str]) -> NodeProto:
    """The node, or a copy of it that reads and gives other names, also in the graphs inside it."""
    if names.keys().isdisjoint(_used(node)):
        return node
    copy = NodeProto()
    copy.CopyFrom(node)
    rename_in_node(copy, names)
    pending = [(graph, names) for graph in subgraphs(copy)]
    while pending:
        graph, outer = pending.pop()
        own = set(_own(graph))
        visible = {old: new for old, new in outer.items() if old not in own}
        if taken := own & set(visible.values()):
            raise ArgumentError(f"rename: a graph in node '{text(node.name)}' has a value '{min(taken)}' of its own")
        rename_values(graph, visible)
        pending += [(part, visible) for each in graph.node for part in subgraphs(each)]
    return copy


def _used(node: NodeProto) -> Iterator[str]:
    """The names in a node and in the graphs inside it."""
    yield from map(text, (*node.input, *node.output))
    yield from chain.from_iterable(map(names_in, subgraphs(node)))


def _own(graph: GraphProto) -> Iterator[str]:
    """The names that a graph inside a node gives: its inputs, constants and results."""
    constants = (*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer))
    yield from (text(named.name) for named in (*graph.input, *constants))
    yield from (text(name) for node in graph.node for name in node.output)
