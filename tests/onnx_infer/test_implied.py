"""Bounds that convolutions imply: the least sizes, and sizes recomputed by a truncating Div as exporters do."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_infer import infer, infer_shapes
from symdim import Var

H, W = Var("H"), Var("W")
CHAIN = """<ir_version: 8, opset_import: ["": 17]>
audio (float[N, 1, S] x, float[4, 1, 10] a, float[4, 4, 3] b) => (float[A, B, C] y, int64[1] length)
<int64[1] ten = {10}, int64[1] five = {5}, int64[1] three = {3}, int64[1] two = {2}, int64[1] one = {1}>
{
    h = Conv <strides: ints = [5]> (x, a)
    y = Conv <strides: ints = [2]> (h, b)
    s = Shape <start: int = 2> (x)
    s0 = Sub (s, ten)
    s1 = Div (s0, five)
    s2 = Add (s1, one)
    s3 = Sub (s2, three)
    s4 = Div (s3, two)
    length = Add (s4, one)
}"""


def test_a_length_computed_with_div_is_the_size_of_the_convolution():
    result = infer(onnx.parser.parse_model(CHAIN))
    size = result.shapes["y"][2]
    assert result.values["length"] == (size,)
    assert [size.evaluate(S=s) for s in (25, 105, 400)] == [((s - 10) // 5 + 1 - 3) // 2 + 1 for s in (25, 105, 400)]
    assert [v.name for v in size.variables()] == ["S"]
    assert size.variables()[0] is Var("S")


def test_bounds_of_fresh_sizes_are_in_the_symbols_of_the_inputs():
    model = onnx.parser.parse_model(CHAIN)
    model.graph.node.append(onnx.helper.make_node("NonZero", ["x"], ["found"]))
    bound = infer(model).upper_bounds["found"][1]
    assert bound.variables() == infer(model).types["x"].size.variables()


def test_a_sign_that_only_fresh_sizes_decide_loses_no_value():
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]> g (float[N] x, float[4, 1, 10] a) => (y, q, after)
        <int64[1] ten = {10}, int64[1] five = {5}, int64[1] one = {1}> {
            at = NonZero(x) f = Cast<to = 1>(at) f1 = Unsqueeze(f, one) y = Conv(f1, a)
            n = Shape<start = 1>(at) t = Sub(n, ten) q = Div(t, five) after = Relu(x) }"""
    )
    for output in model.graph.output:
        output.ClearField("type")
    assert str(infer(model).types["after"]) == "f32[N]"


def test_a_size_that_a_convolution_shows_not_to_be_0_broadcasts_as_itself():
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]> g (float[N, 1, S] x, float[4, 1, 10] k, float[N, 4, T] t) => (y)
        <int64[1] zero = {0}, int64[1] two = {2}> {
            h = Conv (x, k) w = Shape<start = 2>(h) part = Slice(t, zero, w, two) y = Add(h, part) }"""
    )
    model.graph.output[0].ClearField("type")
    assert str(infer(model).types["y"]) == "f32[N, 4, S - 9]"


def test_two_forms_of_a_size_that_are_equal_under_implied_bounds_are_no_claim():
    text = "g (float[1, 3, H] x, float[3, 3, 9] w) => (float[1, 3, TEXT] t, c)"
    nodes = "<int64[1] start = {8}, int64[1] far = {1000000000}, int64[1] last = {2}>"
    nodes += " { t = Slice (x, start, far, last) c = Conv (x, w) }"
    for declared, guards in [
        ("H - 8", ["H >= 9"]),
        ("max(H, 8) - 8", ["H >= 9"]),
        ("2*H - 18", ["H == 10", "H >= 9"]),
    ]:
        model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 20]> {text} {nodes}')
        model.graph.output[0].type.tensor_type.shape.dim[2].dim_param = declared
        result = infer(model)
        assert str(result.types["t"].shape[2]) == "H - 8", declared
        assert sorted(map(str, result.guards)) == sorted(guards), declared


@pytest.mark.parametrize("condition, guard", [("Greater", "H <= 9"), ("Less", "H >= 9")])
def test_a_second_side_that_is_demanded_decides_its_condition(condition, guard):
    """Conv demands the rank of the else branch."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 20]>
        g (float[1, 3, H] x, float[3, 3, 1] w) => (n, z) <int64[1] last = {{2}}, int64[1] nine = {{9}}> {{
            s = Shape <start = 2> (x)
            e = {condition} (s, nine)
            i = If (e) <then_branch = a () => (p) {{ p = Unsqueeze (x, last) }},
                        else_branch = b () => (q) {{ q = Identity (x) }}>
            z = Conv (i, w)
            n = Cast <to = 9> (e) }}"""
    )
    for output in model.graph.output:
        output.ClearField("type")
    result = infer(model)
    assert [str(found) for found in result.guards] == [guard]
    assert result.values["n"] == (False,)
    assert str(result.types["i"]) == "f32[1, 3, H]"


def test_numbers_that_an_equation_makes_of_short_sizes_are_known_from_the_start():
    """`max(K, 3) == 6` makes the length `max(5 - M*max(K, 3), 0)` of `q` 0."""
    graph = """<ir_version: 8, opset_import: ["": 17]> g (float[A] a, float[M, A] b, float[6] w, float x) => (p, y)
        <int64[5] five = {1, 2, 3, 4, 5}, int64[1] all = {-1}, int64[1] end = {100}> {
            p = MatMul(a, w) n = Size(b) m = Reshape(n, all) q = Slice(five, m, end) y = Expand(x, q) }"""
    model = onnx.parser.parse_model(graph)
    for value in model.graph.input[:2]:
        value.type.tensor_type.shape.dim[-1].dim_param = "max(K, 3)"
    once = infer_shapes(model)
    for inferred in infer(model), infer(once):
        assert str(inferred.types["q"]) == "i64[0]"
        assert [str(guard) for guard in inferred.guards] == ["K == 6"]
    assert str(infer(once).types["y"]) == "f32[]"


def test_a_number_in_place_of_a_clamp_stays():
    graph = """<ir_version: 8, opset_import: ["": 17]> g (float[N, A] x, float[4] w) => (p, q, f) {
        p = MatMul(w, x) q = MatMul(x, w) f = Flatten<axis=0>(x) }"""
    model = onnx.parser.parse_model(graph)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "max(N, 3)"
    once = infer_shapes(model)
    assert infer_shapes(once) == once
