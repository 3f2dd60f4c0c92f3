"""Models in memory with more weights than the 2 GB that protobuf writes: all calls take them. Here the limit is low."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from google.protobuf.message import EncodeError

import onnx_infer
from onnx_infer import InferenceResult, fold, infer, infer_shapes, make_dynamic, materialize
from onnx_infer.integrations.onnxruntime import SymbolicShapeInference
from onnx_infer.protobuf.specialize import specialize

from .texts import parsed

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT, ROWS = 4096, 1024
HEAD = '<ir_version: 10, opset_import: ["": 18]> g (int64[2, S] ids, bool c) => (uint8[A, B, 8] y)'
MESSAGES = (onnx.ModelProto, onnx.GraphProto, onnx.NodeProto, onnx.AttributeProto, onnx.TensorProto)


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let protobuf refuse messages of more than `LIMIT` bytes."""
    written: Callable[[Any], bytes] = onnx.ModelProto.SerializeToString

    def serialize(message: Any, **_: Any) -> bytes:
        wire = written(message)
        if len(wire) > LIMIT:
            raise EncodeError
        return wire

    for kind in MESSAGES:
        monkeypatch.setattr(kind, "SerializeToString", serialize)
        monkeypatch.setattr(kind, "ByteSize", lambda message: len(serialize(message)))


def weight(tensor: onnx.TensorProto, name: str = "") -> None:
    tensor.Clear()
    tensor.name, tensor.data_type = name, onnx.TensorProto.UINT8
    tensor.dims.extend([ROWS, 8])
    tensor.raw_data = bytes(8 * ROWS)


def in_the_graph() -> onnx.ModelProto:
    model = parsed("{ i = Identity(ids) j = Gather(v, i) k = Gather(w, i) y = Add(j, k) }", HEAD)
    for name in "vw":
        weight(model.graph.initializer.add(), name)
    return model


def in_a_node() -> onnx.ModelProto:
    model = parsed("{ w = Constant<value = int64 {1}>() i = Identity(ids) y = Gather(w, i) }", HEAD)
    weight(model.graph.node[0].attribute[0].t)
    return model


def in_a_body() -> onnx.ModelProto:
    branches = "<then_branch = t () => (p) { p = Gather(w, i) }, else_branch = e () => (q) { q = Gather(w, ids) }>"
    model = parsed(f"{{ i = Identity(ids) y = If(c) {branches} }}", HEAD)
    for branch in model.graph.node[1].attribute:
        branch.g.output[0].ClearField("type")
        weight(branch.g.initializer.add(), "w")
    return model


MODELS = {
    in_the_graph: ["Gather", "Add"],  # equal weights are one
    in_a_node: ["Gather"],
    in_a_body: ["If"],
}


@pytest.mark.parametrize("make", MODELS)
def test_every_call_takes_the_model(make: Callable[[], onnx.ModelProto]) -> None:
    model = make()
    with pytest.raises(EncodeError):
        model.SerializeToString()
    for _ in range(3):  # what is met again is recognised by its bytes
        result = infer(model)
        assert str(result.types["y"]) == "u8[2, S, 8]"
    assert isinstance(pickle.loads(pickle.dumps(result)), InferenceResult)
    assert materialize(result.shapes["y"], result).nodes
    assert str(infer(model, bidirectional=True).types["y"]) == "u8[2, S, 8]"
    assert infer(specialize(model, {"S": 3})).shapes["y"] == (2, 3, 8)
    assert str(infer(onnx_infer.rename_symbols(make(), {"S": "T"})).types["y"]) == "u8[2, T, 8]"
    dynamic = make_dynamic(model, {"ids": {0: "N"}}, apply=True)
    assert (dynamic.is_free, str(dynamic.result.types["y"])) == (True, "u8[N, S, 8]")
    for written in (
        infer_shapes(model),
        SymbolicShapeInference.infer_shapes(model),
        infer_shapes(make(), in_place=True),
    ):
        assert "i" in [info.name for info in written.graph.value_info]
    assert [node.op_type for node in fold(model).graph.node] == MODELS[make]
