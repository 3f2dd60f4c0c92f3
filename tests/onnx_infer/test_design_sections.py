"""What the design documents promise, section by section: the rest of what `test_design_examples.py` holds.

A: symbolic shape inference over an IR. B: arithmetic of dimensions in `dim_param`.
"""

from __future__ import annotations

import inspect
import logging
from typing import Any

import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

import onnx_infer
from onnx_infer import (
    OpUsageError,
    Sequence,
    ShapeInferenceContext,
    ShapeInferenceError,
    ValueInfo,
    broadcast_shapes,
    infer,
    infer_shapes,
    infer_symbolic_shapes,
    require_attr,
)
from onnx_infer.operators.context import Node
from onnx_infer.testing import run_case, run_shape_inference, ts
from symdim import Shape, Var, ceildiv, parse

FLOAT = TensorProto.FLOAT


def model_of(body: str, opset: int = 20) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}, "com.acme": 1]>\n{body}')


def dims_of(info: onnx.ValueInfoProto) -> list[Any]:
    return [d.dim_param or d.dim_value for d in info.type.tensor_type.shape.dim]


# -- A ---------------------------------------------------------------------------------------------------------------


def test_a1_operations_and_values_of_a_symbolic_dimension() -> None:
    batch = Var("batch")
    assert [str(d) for d in (batch + 1, batch * 2, batch // 4, batch % 8)] == [
        "batch + 1", "2*batch", "batch//4", "batch % 8",
    ]  # fmt: skip
    assert str(batch) == "batch"
    assert batch + 1 == 1 + batch  # canonical: no simplify() before comparing
    assert batch.__floordiv__(None) is NotImplemented


def test_a2_shapes_are_canonical_and_evaluate() -> None:
    batch, seq = Var("batch"), Var("seq")
    shape = Shape([batch, seq // 2, 256])
    assert shape.evaluate({"batch": 4, "seq": 128}) == (4, 64, 256)
    assert shape.free_symbols() == {"batch", "seq"}
    assert Shape([batch + 2 - 2])[0] is batch


def test_a3_a_lookup_is_remembered_for_any_version() -> None:
    registry = onnx_infer.registry
    first = registry.get("", "Reshape", 14)
    assert first is not None
    assert registry.get("", "Reshape", 14) is first
    assert registry.get("", "Reshape", 10_000) is not None


def test_a4_the_context_sets_types_by_the_same_policy() -> None:
    context, y = ShapeInferenceContext(), ValueInfo("y")
    assert context.set_shape_and_dtype(y, ["N", 3], FLOAT)
    assert (str(y.type), y.dtype) == ("f32[N, 3]", FLOAT)
    assert not context.set_dtype(y, FLOAT), "nothing changes"
    s = ValueInfo("s")
    assert context.set_type(s, Sequence(ts(FLOAT, ["N"])))
    assert str(s.type) == "seq(f32[N])"


def test_a4_unique_names_of_unknown_sizes() -> None:
    context = ShapeInferenceContext()
    first, second = context.new_symbolic_dim(), context.new_symbolic_dim()
    assert first != second
    assert first - first == 0


@pytest.mark.parametrize(
    "line",
    [
        "NonZero-13: f32[N] -> i64[1, _d0]",
        "Compress-11: f32[N], bool[M] -> f32[_d0]",
        "Unique-11: f32[N] -> f32[_d0]",
        "StringSplit-20: str[N] -> str[N, _d0], i64[N]",
        "TopK-11: f32[N], i64[1] -> f32[_d0], i64[_d0]",
        "OneHot-11: i64[N], i64[], f32[2] -> f32[N, _d0]",
        "Range-11: i64[], i64[], i64[] -> i64[_d0]",
    ],
)
def test_a4_only_the_data_decide(line: str) -> None:
    got, expected = run_case(line)
    assert got == expected


def test_a4_errors_are_value_errors_of_two_kinds(caplog: pytest.LogCaptureFixture) -> None:
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
    ],
)
def test_a5_rules_of_broadcasting(a: list[Any], b: list[Any], expected: Any) -> None:
    assert broadcast_shapes(a, b) == expected


@pytest.mark.parametrize(
    "line",
    [
        "SequenceConstruct-11: f32[N, 3], f32[M, 3] -> seq(f32[N, 3], f32[M, 3])",
        "SequenceEmpty-11: -> seq(f32[...]; 0)",
        "SequenceAt-11: seq(f32[N, 3]; 2), i64[]={1} -> f32[N, 3]",
        "SequenceLength-11: seq(f32[N]; 2) -> i64[]={2}",
        "SequenceInsert-11: seq(f32[N]; 2), f32[N] -> seq(f32[N]; 3)",
        "SequenceErase-11: seq(f32[N]; 2) -> seq(f32[N]; 1)",
        "SplitToSequence-11: f32[6, N], i64[]={2} -> seq(f32[2, N]; 3)",
        "ConcatFromSequence-11(axis=0): seq(f32[N, 3]; 2) -> f32[2*N, 3]",
    ],
)
def test_a6_sequence_operators(line: str) -> None:
    got, expected = run_case(line)
    assert got == expected


def test_a7_anonymous_inputs_get_names_and_one_odd_node_costs_itself() -> None:
    model = model_of(
        "g (float[?, 3] x, float[K, 2] z) => (float[?, ?] y, float[?, ?] w)"
        " { u = com.acme.Odd (x) v = Concat <axis: int = 7> (x, x) y = Relu (x) w = Abs (z) }"
    )
    result = infer(model)
    assert str(result.types["y"]) == "f32[x_dim_0, 3]"
    assert str(result.types["w"]) == "f32[K, 2]"
    assert "unsupported operator com.acme::Odd" in result.notes["u"]
    assert any("axis 7 is out of range" in str(d) for d in result.diagnostics)


def test_a7_the_convenience_function_works_in_place() -> None:
    model = model_of("g (float[N, 3] x) => (float[?, ?] y) { h = Relu (x) y = Neg (h) }")
    assert infer_symbolic_shapes(model, policy="refine") is model
    assert {i.name: dims_of(i) for i in (*model.graph.value_info, *model.graph.output)} == {
        "h": ["N", 3], "y": ["N", 3],
    }  # fmt: skip


def test_a8_the_motivating_pattern_and_the_context_helpers() -> None:
    model = model_of(
        """g (float[N, 3, 16, 16] x) => (float[?, ?] y)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] rest = {768}> {
            shape = Shape (x) batch = Slice (shape, zero, one) target = Concat <axis: int = 0> (batch, rest)
            y = Reshape (x, target) }"""
    )
    result = infer(model)
    assert str(result.types["target"]) == "i64[2]={N, 768}"
    assert str(result.types["y"]) == "f32[N, 768]"
    context, value = ShapeInferenceContext(), ValueInfo("s", ts(TensorProto.INT64, [2]))
    context.set_symbolic_value(value, [Var("N"), 3])
    assert context.get_symbolic_value(value) == [Var("N"), 3]


@pytest.mark.parametrize(
    "line",
    [
        "Shape-15: f32[N, 3, H, W] -> i64[4]={N, 3, H, W}",
        "Gather-13: i64[3]={N, 3, H}, i64[]={2} -> i64[]={H}",
        "Slice-13: i64[3]={N, 3, H}, i64[1]={1}, i64[1]={3} -> i64[2]={3, H}",
        "Concat-13(axis=0): i64[1]={N}, i64[1]={768} -> i64[2]={N, 768}",
        "Unsqueeze-13: i64[]={N}, i64[1]={0} -> i64[1]={N}",
        "Squeeze-13: i64[1]={N}, i64[1]={0} -> i64[]={N}",
        "Sub-14: i64[1]={N}, i64[1]={1} -> i64[1]={N - 1}",
        "Mul-14: i64[1]={N}, i64[1]={2} -> i64[1]={2*N}",
        "Cast-13(to=6): i64[1]={N} -> i32[1]={N}",
        "Reshape-14: f32[N, 3, H], i64[3]={0, -1, 3} -> f32[N, H, 3]",
        # said to be future work there
        'ConstantOfShape-20(value=tensor("i64[1]={7}")): i64[1]={2} -> i64[2]={7, 7}',
        "Where-16: bool[2]={True, False}, i64[2]={N, 1}, i64[2]={2, M} -> i64[2]={N, M}",
    ],
)
def test_a8_table_of_propagation(line: str) -> None:
    got, expected = run_case(line)
    assert got == expected


def test_a_testing_counts_fresh_sizes_from_zero_in_each_call() -> None:
    for _ in range(2):
        assert run_shape_inference("", "NonZero", [ts(FLOAT, [3, 4])]) == [ts(TensorProto.INT64, [2, "_d0"])]
    assert run_shape_inference("", "Relu", [ts(FLOAT, ["N", "C"])]) == [ts(FLOAT, ["N", "C"])]


def test_a_future_work_functions_and_subgraphs() -> None:
    model = model_of(
        """g (float[N, 3] x, bool c) => (float[?, ?] y) {
            h = com.acme.Twice (x)
            y = If (c) <then_branch = t () => (t1) { t1 = Relu (h) }, else_branch = e () => (e1) { e1 = Neg (h) }>
        }
        <domain: "com.acme", opset_import: ["": 20]> Twice (a) => (b) { b = Concat <axis: int = 1> (a, a) }"""
    )
    assert str(infer(model).types["y"]) == "f32[N, 6]"


# -- B ---------------------------------------------------------------------------------------------------------------


def test_b_guide_max_pool() -> None:
    X = helper.make_tensor_value_info("X", FLOAT, ["N", "C", "H", "W"])
    Y = helper.make_tensor_value_info("Y", FLOAT, None)
    node = helper.make_node("MaxPool", ["X"], ["Y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    model = helper.make_model(helper.make_graph([node], "test", [X], [Y]))
    batch, channels, *spatial = dims_of(infer_shapes(model).graph.output[0])
    assert (batch, channels) == ("N", "C")
    assert [parse(d) for d in spatial] == [parse("(H - 1)//2 + 1"), parse("(W - 1)//2 + 1")]


def test_b_guide_dim_params_may_be_expressions() -> None:
    assert parse("N + 2") is Var("N") + 2
    assert parse("M*3") is 3 * Var("M")
    H, stride = Var("H"), Var("stride_h")
    assert parse("(H + pad - k) / stride_h", dialect="floor") is (H + Var("pad") - Var("k")) // stride


def test_b_guide_ceil_of_a_size_over_a_stride_reaches_reshape() -> None:
    model = model_of(
        """g (float[H, 4] x, float[P] z) => (float[?, ?] y)
        <float half = {2.0}, int64 zero = {0}, int64[1] at = {0}, int64[1] open = {-1}> {
            s = Shape (x) h = Gather (s, zero) f = Cast <to: int = 1> (h) d = Div (f, half) c = Ceil (d)
            i = Cast <to: int = 7> (c) u = Unsqueeze (i, at) t = Concat <axis: int = 0> (open, u)
            y = Reshape (z, t) }"""
    )
    shape = infer(model).shapes["y"]
    assert shape is not None
    assert shape[1] is ceildiv(Var("H"), 2)


def test_b_reference_arithmetic_of_dimensions() -> None:
    A, B = Var("A"), Var("B")
    assert [str(d) for d in (A + B, A + 2, A - B, A - 2, A * B, A * 3, A // 2)] == [
        "A + B", "A + 2", "A - B", "A - 2", "A*B", "3*A", "A//2",
    ]  # fmt: skip
    assert A * 1 is A
    assert A + 0 is A
    assert A // 1 is A
    assert A * 0 == 0


def test_b_reference_generated_names_begin_with_d() -> None:
    result = infer(model_of("g (float[N] x) => (int64[?, ?] y) { y = NonZero (x) }"))
    assert str(result.types["y"]) == "i64[1, _d0]"


@pytest.mark.parametrize(("trips", "expected"), [("4", "f32[4, N]"), ("0", "f32[0, _d1]"), ("-3", "f32[0, _d1]")])
def test_b_reference_trip_counts_of_loops(trips: str, expected: str) -> None:
    model = model_of(
        f"""g (float[N] x) => (float[?, ?] s) <int64 m = {{{trips}}}, bool yes = {{1}}> {{
            s = Loop (m, yes) <body = b (int64 i, bool c) => (bool o, float[?] e) {{
                o = Identity (c) e = Neg (x) }}> }}"""
    )
    assert str(infer(model).types["s"]) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("3", "3", "f32[3]"),
        ("3", "N", "f32[3]"),
        ("3", "?", "f32[3]"),
        ("N", "3", "f32[3]"),
        ("N", "?", "f32[N]"),
        ("N + 2 - 2", "N", "f32[N]"),
    ],
)
def test_b_reference_table_of_unification(source: str, target: str, expected: str) -> None:
    """The declared output is the target, the inferred size the source."""
    x = helper.make_tensor_value_info("x", FLOAT, [int(source) if source.isdigit() else str(parse(source))])
    y = helper.make_tensor_value_info("y", FLOAT, [int(target) if target.isdigit() else target.strip("?") or None])
    n = helper.make_tensor_value_info("n", FLOAT, ["N"])
    model = helper.make_model(helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [x, n], [y]))
    assert str(infer(model).types["y"]) == expected


def test_b_reference_two_symbols_are_not_merged_and_their_equality_is_a_fact() -> None:
    model = model_of("g (float[N, 3] x, float[M, 3] y) => (float[?, ?] z) { z = Concat <axis: int = 1> (x, y) }")
    result = infer(model)
    assert str(result.types["z"]) in ("f32[N, 6]", "f32[M, 6]")
    assert any({"N", "M"} <= {str(v) for v in g.variables()} for g in result.guards)
    conflict = infer(model_of("g (float[3] x) => (float[4] y) { y = Neg (x) }"))
    assert any("declared 4 but inferred 3" in str(d) for d in conflict.diagnostics)


@pytest.mark.parametrize(
    "line",
    [
        "Conv-11(auto_pad='SAME_UPPER'): f32[N, 3, H, W], f32[8, 3, 3, 3] -> f32[N, 8, H, W]",
        "Div-14: i64[1]={N}, i64[1]={0} -> i64[1]",
        "Pad-13: f32[N], i64[2]={-1, -1} -> f32[N - 2]",
        "Neg-13: f32[...] -> f32[...]",
    ],
)
def test_b_reference_corner_cases(line: str) -> None:
    got, expected = run_case(line)
    assert got == expected


def test_the_signatures_of_the_summary() -> None:
    assert list(inspect.signature(infer_symbolic_shapes).parameters)[:2] == ["model", "policy"]
    for name in ("registry", "OpShapeInferenceRegistry", "ShapeInferenceContext", "check_inputs", "ShapeMergePolicy"):
        assert hasattr(onnx_infer, name)
