"""The declared types of inner values and outputs. They are taken off for a proof and put back after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TypeProto, ValueInfoProto

from onnx_infer.protobuf.bodies import graphs_of

if TYPE_CHECKING:
    from onnx import ModelProto


class Claims:
    """The declared types of a model. It has none until `put_back`; those of its inputs stay."""

    def __init__(self, model: ModelProto) -> None:
        self._model = model
        self._infos: dict[str, ValueInfoProto] = {}
        self._types: list[tuple[ValueInfoProto, TypeProto]] = []
        self._graphs = list(graphs_of(model.graph))
        for graph in self._graphs:
            self._infos.update((info.name, _copy(info)) for info in graph.value_info)
            del graph.value_info[:]
            inner = () if graph is self._graphs[0] else graph.input
            for info in (*graph.output, *inner):
                self._types.append((info, _copy(info).type))
                info.ClearField("type")

    def put_back(self) -> None:
        """Declare the types again, of the values that are left."""
        for info, kind in self._types:
            info.type.CopyFrom(kind)
        for graph in graphs_of(self._model.graph):
            given = {tensor.name for tensor in graph.initializer}.union(*(node.output for node in graph.node))
            given.difference_update(info.name for info in graph.output)
            graph.value_info.extend(info for name, info in self._infos.items() if name in given)


def _copy(info: ValueInfoProto) -> ValueInfoProto:
    found = ValueInfoProto()
    found.CopyFrom(info)
    return found
