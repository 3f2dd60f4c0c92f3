"""The context of a rule, the registry and the functions of `onnx_infer.testing`, as authors of rules call them."""

from __future__ import annotations

import inspect
import logging
from typing import Any

import onnx
import onnx.parser
import pytest

import onnx_infer
from onnx_infer import (
    OpShapeInferenceRegistry,
    OpUsageError,
    Sequence,
    ShapeInferenceContext,
    ShapeInferenceError,
    ValueInfo,
    broadcast_shapes,
    check_inputs,
    infer,
    infer_symbolic_shapes,
    registry,
    require_attr,
)
from onnx_infer.operators.context import Node
from onnx_infer.testing import const_value, run_case, run_shape_inference, run_shape_inference_with_values, ts
from symdim import Var

FLOAT, INT64 = 1, 7


def model_of(body: str, opset: int = 20) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}, "com.acme": 1]>\n{body}')


def dims_of(info: onnx.ValueInfoProto) -> list[Any]:
    return [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]


def test_the_registry_serves_versions_from_since_on():
    r = OpShapeInferenceRegistry()
    for since in (7, 14):
        r.register("com.acme", "Add", since_version=since)(lambda ctx, node: None)
    found = [r.get("com.acme", "Add", version) for version in (6, 13, 99)]
    assert [rule and rule.since for rule in found] == [None, 7, 14]


def test_custom_operator_on_the_context():
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


def test_typed_expectations():
    assert run_shape_inference("", "Add", [ts(FLOAT, [3, 4]), ts(FLOAT, [3, 4])]) == [ts(FLOAT, [3, 4])]
    assert run_shape_inference("", "NonZero", [ts(FLOAT, [3, 4])]) == [ts(INT64, [2, "_d0"])]
    reshaped = run_shape_inference("", "Reshape", [ts(FLOAT, ["N", 3, "H"]), const_value([0, -1])])
    assert reshaped == [ts(FLOAT, ["N", "3*H"])]
    assert run_shape_inference_with_values("", "Shape", [ts(FLOAT, ["N", 3])])[0].data == (Var("N"), 3)


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


def test_a_lookup_is_remembered_for_any_version() -> None:
    registry = onnx_infer.registry
    first = registry.get("", "Reshape", 14)
    assert first is not None
    assert registry.get("", "Reshape", 14) is first
    assert registry.get("", "Reshape", 10_000) is not None


def test_the_context_sets_types_by_the_same_policy() -> None:
    context, y = ShapeInferenceContext(), ValueInfo("y")
    assert context.set_shape_and_dtype(y, ["N", 3], FLOAT)
    assert (str(y.type), y.dtype) == ("f32[N, 3]", FLOAT)
    assert not context.set_dtype(y, FLOAT), "nothing changes"
    s = ValueInfo("s")
    assert context.set_type(s, Sequence(ts(FLOAT, ["N"])))
    assert str(s.type) == "seq(f32[N])"
    elements = ValueInfo("e", ts(INT64, [2]))
    context.set_symbolic_value(elements, [Var("N"), 3])
    assert context.get_symbolic_value(elements) == [Var("N"), 3]


def test_unique_names_of_unknown_sizes() -> None:
    context = ShapeInferenceContext()
    first, second = context.new_symbolic_dim(), context.new_symbolic_dim()
    assert first != second
    assert first - first == 0


def test_errors_are_value_errors_of_two_kinds(caplog: pytest.LogCaptureFixture) -> None:
    assert issubclass(OpUsageError, ValueError)
    assert issubclass(ShapeInferenceError, ValueError)
    node = Node("Concat", [ValueInfo("x", ts(FLOAT, ["N"]))], [ValueInfo("y")])
    with pytest.raises(OpUsageError, match="axis"):
        require_attr(node, "axis")
    for policy in ("override", "refine", "strict"):
        with pytest.raises(ShapeInferenceError, match="out of range"):
            ShapeInferenceContext(policy=policy).record_error(node, "the axis is out of range")
    with caplog.at_level(logging.WARNING):
        ShapeInferenceContext(policy="skip").record_error(node, "the axis is out of range")
    assert "out of range" in caplog.text


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (["N"], [3, "N"], (3, Var("N"))),  # ones are put in front
        (["N"], ["N"], (Var("N"),)),
        (["N"], [1], (Var("N"),)),
        (["N"], [4], (4,)),
        ([3], [4], None),
        (None, [3], None),
    ],
)
def test_rules_of_broadcasting(a: list[Any] | None, b: list[Any], expected: Any) -> None:
    assert broadcast_shapes(a, b) == expected


def test_anonymous_inputs_get_names_and_one_odd_node_costs_itself() -> None:
    model = model_of(
        "g (float[?, 3] x, float[K, 2] z) => (float[?, ?] y, float[?, ?] w)"
        " { u = com.acme.Odd (x) v = Concat <axis: int = 7> (x, x) y = Relu (x) w = Abs (z) }"
    )
    result = infer(model)
    assert str(result.types["y"]) == "f32[x_dim_0, 3]"
    assert str(result.types["w"]) == "f32[K, 2]"
    assert "unsupported operator com.acme::Odd" in result.notes["u"]
    assert any("axis 7 is out of range" in str(d) for d in result.diagnostics)


def test_the_convenience_function_works_in_place() -> None:
    model = model_of("g (float[N, 3] x) => (float[?, ?] y) { h = Relu (x) y = Neg (h) }")
    assert infer_symbolic_shapes(model, policy="refine") is model
    assert {i.name: dims_of(i) for i in (*model.graph.value_info, *model.graph.output)} == {
        "h": ["N", 3], "y": ["N", 3],
    }  # fmt: skip


def test_testing_counts_fresh_sizes_from_zero_in_each_call() -> None:
    for _ in range(2):
        assert run_shape_inference("", "NonZero", [ts(FLOAT, [3, 4])]) == [ts(INT64, [2, "_d0"])]
    assert run_shape_inference("", "Relu", [ts(FLOAT, ["N", "C"])]) == [ts(FLOAT, ["N", "C"])]


def test_the_signatures_of_the_summary() -> None:
    assert list(inspect.signature(infer_symbolic_shapes).parameters)[:2] == ["model", "policy"]
    for name in ("registry", "OpShapeInferenceRegistry", "ShapeInferenceContext", "check_inputs", "ShapeMergePolicy"):
        assert hasattr(onnx_infer, name)
