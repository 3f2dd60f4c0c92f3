"""Targets of a Reshape that stand in the file: sparse, packed, external, or with data of another length."""

from __future__ import annotations

import onnx
import pytest
from onnx import SparseTensorProto, TensorProto, helper

from onnx_infer import infer

INT64 = TensorProto.INT64


def reshape(
    target: TensorProto | None = None, sparse: SparseTensorProto | None = None, nodes: tuple[onnx.NodeProto, ...] = ()
) -> onnx.ModelProto:
    """x: f32[n, 8] in the shape t."""
    graph = helper.make_graph(
        [*nodes, helper.make_node("Reshape", ["x", "t"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b", "c"])],
        [] if target is None else [target],
        sparse_initializer=[] if sparse is None else [sparse],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def thin(values: list[int], places: list[int], shape: list[int]) -> SparseTensorProto:
    """A sparse tensor of three integers."""
    dense = helper.make_tensor("t", INT64, [len(values)], values)
    return helper.make_sparse_tensor(dense, helper.make_tensor("", INT64, shape, places), [3])


@pytest.mark.parametrize(
    ("sparse", "expected"),
    [
        (thin([4, -1], [1, 2], [2]), "f32[n, 4, 2]"),
        (thin([4, -1], [1, 2], [2, 1]), "f32[n, 4, 2]"),
        (thin([4, -1], [1, 3], [2]), "f32[a, b, c]"),  # out of bounds: no runtime takes the model
    ],
)
def test_a_sparse_target(sparse: SparseTensorProto, expected: str) -> None:
    assert str(infer(reshape(sparse=sparse)).types["y"]) == expected


@pytest.mark.parametrize("kind", ["INT4", "INT2"])
@pytest.mark.parametrize("raw", [False, True])
def test_a_packed_target(kind: str, raw: bool) -> None:
    dtype, byte = getattr(TensorProto, kind), {"INT4": [0x10, 0x0F], "INT2": [0b110100]}[kind]
    target = TensorProto(name="q", data_type=dtype, dims=[3])
    if raw:
        target.raw_data = bytes(byte)
    else:
        target.int32_data.extend(byte)
    model = reshape(target, nodes=(helper.make_node("Cast", ["q"], ["t"], to=INT64),))
    assert str(infer(model).types["y"]) == "f32[n, 1, 8]"


def test_a_target_that_is_not_read_is_named() -> None:
    external = TensorProto(name="t", data_type=INT64, dims=[3], data_location=TensorProto.EXTERNAL)
    entry = external.external_data.add()
    entry.key, entry.value = "location", "t.bin"
    short = TensorProto(name="t", data_type=INT64, dims=[3], raw_data=bytes(8))
    for target, why in (
        (external, "they are external data in 't.bin', which onnx.load(path) reads"),
        (short, "it stores 8 bytes for 3 elements of i64"),
    ):
        result = infer(reshape(target))
        told = f"the elements of 't' are not read: {why}"
        assert result.notes["y"] == f"a size of the target shape; {told}"
        assert [(reason.kind, reason.text, reason.names) for reason in result.reasons["y"]] == [
            ("undeclared", told, ("t",))
        ]
