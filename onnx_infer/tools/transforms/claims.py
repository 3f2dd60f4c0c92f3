"""The declared types of inner values and outputs. They are taken off for a proof and put back after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TypeProto, ValueInfoProto

from onnx_infer.protobuf.nodes import graphs_of

if TYPE_CHECKING:
    from collections.abc import Mapping

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
                if info.HasField("type"):
                    self._types.append((info, _copy(info).type))
                    info.ClearField("type")

    def shaped(self) -> set[str]:
        """The values whose declared type has a shape."""
        kinds = [(info.name, info.type) for info in self._infos.values()]
        return {name for name, kind in (*kinds, *((info.name, kind) for info, kind in self._types)) if _has_shape(kind)}

    def follow(self, replaced: Mapping[str, str]) -> None:
        """Let values that are read in place of others have the declared types of these, if they have no shape.

        onnxruntime infers a wrong rank of some values and believes a declared one: of a ConstantOfShape, for example,
        whose sizes a backward Slice cuts from a vector. Without the declared type it refuses the model.
        """
        shaped = self.shaped()
        for name, other in replaced.items():
            if name in self._infos and name in shaped and other not in shaped:
                self._infos[other] = _copy(self._infos[name])
                self._infos[other].name = other
                shaped.add(other)

    def put_back(self) -> None:
        """Declare the types again, of the values that are left."""
        for info, kind in self._types:
            info.type.CopyFrom(kind)
        for graph in graphs_of(self._model.graph):
            given = {tensor.name for tensor in graph.initializer}.union(*(node.output for node in graph.node))
            given.difference_update(info.name for info in graph.output)
            graph.value_info.extend(info for name, info in self._infos.items() if name in given)


def _has_shape(kind: TypeProto) -> bool:
    return bool(kind.tensor_type.HasField("shape"))


def _copy(info: ValueInfoProto) -> ValueInfoProto:
    found = ValueInfoProto()
    found.CopyFrom(info)
    return found
