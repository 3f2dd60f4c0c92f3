"""The examples of the design documents on shape inference over an IR, and on arithmetic in dim_param."""

from __future__ import annotations

import pytest

from onnx_infer import (
    OpShapeInferenceRegistry,
    OpUsageError,
    ShapeInferenceContext,
    ShapeInferenceError,
    ValueInfo,
    broadcast_shapes,
    check_inputs,
    registry,
)
from onnx_infer.operators.context import Node, require_attr
from onnx_infer.testing import const_value, run_case, run_shape_inference, run_shape_inference_with_values, ts
from symdim import Shape, Var, parse

FLOAT, INT64 = 1, 7


def test_arithmetic_of_dimensions():
    H = Var("H")
    assert [str(d) for d in (H + 2, H * 3, H // 4, (H - 3 + 2) // 1 + 1)] == ["H + 2", "3*H", "H//4", "H"]
    assert H.__add__("x") is NotImplemented


def test_shapes_evaluate_and_name_their_symbols():
    assert Shape(["batch", 128, "seq"]).evaluate({"batch": 4, "seq": 512}) == (4, 128, 512)
    assert Shape(["batch", "seq//2", 256]).free_symbols() == {"batch", "seq"}


def test_the_registry_serves_versions_from_since_on():
    r = OpShapeInferenceRegistry()
    for since in (7, 14):
        r.register("com.acme", "Add", since_version=since)(lambda ctx, node: None)
    found = [r.get("com.acme", "Add", version) for version in (6, 13, 99)]
    assert [rule and rule.since for rule in found] == [None, 7, 14]


def test_a_custom_operator_on_the_context():
    @registry.register("com.custom", "MyOp", since_version=1)
    def infer_my_op(ctx, node):
        (data,) = check_inputs(node, "data")
        if data.shape is not None:
            ctx.set_shape(node.outputs[0], data.shape)

    (result,) = run_shape_inference("com.custom", "MyOp", [ts(FLOAT, ["N", 3])])
    assert result.shape == ts(FLOAT, ["N", 3]).shape
    with pytest.raises(OpUsageError, match="data"):
        infer_my_op(ShapeInferenceContext(), Node("MyOp", [], [ValueInfo("y")]))


@pytest.mark.parametrize(
    ("policy", "existing", "inferred", "expected"),
    [
        ("skip", [2, 3], ["N", 3], [2, 3]),
        ("override", [2, 3], ["N", 3], ["N", 3]),
        ("refine", ["N", 3], [2, "M"], [2, 3]),
        ("strict", [2, 3], [4, 3], None),
    ],
)
def test_merge_policies(policy, existing, inferred, expected):
    ctx, value = ShapeInferenceContext(policy=policy), ValueInfo("y", ts(FLOAT, existing))
    if expected is None:
        with pytest.raises(ShapeInferenceError):
            ctx.set_shape(value, inferred)
    else:
        ctx.set_shape(value, inferred)
        assert value.shape == ts(FLOAT, expected).shape


def test_errors_are_recorded_by_policy():
    node = Node("Softmax", [], [])
    ShapeInferenceContext(policy="skip").record_error(node, "axis 5 is out of range")
    with pytest.raises(ShapeInferenceError, match="axis 5"):
        ShapeInferenceContext().record_error(node, "axis 5 is out of range")


def test_broadcasting():
    assert broadcast_shapes(["N", 1], [5]) == (Var("N"), 5)
    assert broadcast_shapes([2], [3]) is None
    assert broadcast_shapes(None, [3]) is None


def test_typed_expectations():
    assert run_shape_inference("", "Add", [ts(FLOAT, [3, 4]), ts(FLOAT, [3, 4])]) == [ts(FLOAT, [3, 4])]
    assert run_shape_inference("", "NonZero", [ts(FLOAT, [3, 4])]) == [ts(INT64, [2, "_d0"])]
    reshaped = run_shape_inference("", "Reshape", [ts(FLOAT, ["N", 3, "H"]), const_value([0, -1])])
    assert reshaped == [ts(FLOAT, ["N", "3*H"])]
    assert run_shape_inference_with_values("", "Shape", [ts(FLOAT, ["N", 3])])[0].data == (Var("N"), 3)


@pytest.mark.parametrize(
    "line",
    [
        # sizes
        "Conv-11(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]): f32[N, 3, H, W], f32[8, 3, 3, 3]"
        " -> f32[N, 8, (H - 1)//2 + 1, (W - 1)//2 + 1]",
        "MaxPool-12(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]): f32[N, C, H, W]"
        " -> f32[N, C, (H - 1)//2 + 1, (W - 1)//2 + 1]",
        "MaxUnpool-11(kernel_shape=[2, 2], strides=[2, 2]): f32[N, C, H, W], i64[N, C, H, W] -> f32[N, C, 2*H, 2*W]",
        "Concat-13(axis=0): f32[M, 3], f32[N, 3] -> f32[M + N, 3]",
        "Tile-13: f32[N], i64[1]={3} -> f32[3*N]",
        # elements
        "Add-14: i64[1]={N}, i64[1]={2} -> i64[1]={N + 2}",
        "Div-14: i64[1]={N}, i64[1]={2} -> i64[1]={N//2}",
        "Div-14: i64[1]={-7}, i64[1]={2} -> i64[1]={-3}",
        "Neg-13: i64[1]={N} -> i64[1]={-N}",
        "Relu-14: i64[1]={N - 5} -> i64[1]={max(N - 5, 0)}",
        "Ceil-13: f32[1]={(N)/(2)} -> f32[1]={(N + 1)//2}",
        "Floor-13: f32[1]={(N)/(2)} -> f32[1]={N//2}",
        "Range-11: i64[]={0}, i64[]={N}, i64[]={1} -> i64[N]",
        "Range-11: i64[]={0}, i64[]={3}, i64[]={1} -> i64[3]={0, 1, 2}",
    ],
)
def test_expressions_of_the_operators(line):
    got, expected = run_case(line)
    assert got == expected


def test_texts_are_read_and_simplified():
    assert str(parse("0 + A")) == "A"
    assert str(parse("((_d0 + 2) - 1)/2")) == "(_d0 + 1)//2"
    assert parse("N + 2 - 2") is Var("N")


def test_what_a_context_and_a_case_refuse():
    ctx, value = ShapeInferenceContext(policy="refine"), ValueInfo("y", ts(FLOAT, [2, 3]))
    assert ctx.set_shape(value, [4, 3])  # what is inferred goes before what is declared
    assert (value.shape, len(ctx.errors)) == ((4, 3), 1)
    assert not ctx.set_shape(value, None)
    with pytest.raises(OpUsageError, match=r"use ctx.new_symbolic_dim"):
        ctx.set_shape(value, [2, None])
    with pytest.raises(OpUsageError, match="MyOp: required attribute axis is missing"):
        require_attr(Node("MyOp", [], []), "axis")
    assert require_attr(Node("MyOp", [], [], {"axis": 1}), "axis") == 1
    length = ValueInfo("k", ts(INT64, [5000]))
    ctx.set_symbolic_value(length, [1] * 5000)  # too many elements to keep
    assert ctx.get_symbolic_value(length) is None
    for text in ("f32(2)", "f32 [2"):
        with pytest.raises(ValueError, match="not the text of a value"):
            run_case(f"Neg-13: {text} -> f32[2]")
    for text in ("Neg: f32[2]", "Neg"):
        with pytest.raises(ValueError, match="is not the head of a case, such as"):
            run_case(f"{text} -> f32[2]")
    with pytest.raises(OpUsageError, match="no operator ::Negate at version 13"):
        run_case("Negate-13: f32[2] -> f32[2]")
