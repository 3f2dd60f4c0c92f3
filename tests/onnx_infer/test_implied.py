"""Bounds that convolutions imply: the least sizes, and sizes recomputed by a truncating Div as exporters do."""

from __future__ import annotations

import random

import onnx.parser
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.laws.bounds import implied_bounds
from onnx_infer.laws.statements import Statement
from onnx_infer.model.symbols import Symbols
from symdim import Expr, Var, minimum

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


@pytest.mark.parametrize("expression", [H, (H - 10) // 5 + 1, 2 * (H // 3) + H, ((H + 2) // 4 + 7) // 2])
@pytest.mark.parametrize("least", [1, 3, 40])
def test_the_bound_is_the_least_size(expression, least):
    found, _ = implied_bounds([Statement("at_least", expression, least, "law")]).of.get(H, (1, None))
    assert expression.evaluate(H=found) >= least
    assert found == 1 or expression.evaluate(H=found - 1) < least


@pytest.mark.parametrize("expression", [H + W - 2, H * W - 1, H % 4, 2 * H - W])
def test_what_falls_and_grows_or_has_two_symbols_implies_nothing(expression):
    assert implied_bounds([Statement("at_least", expression, 3, "law")]).of == {}


@pytest.mark.parametrize("expression", [5 - H, 1 - abs((H - 7) // 4), minimum(H - 3, 9 - H // 2), 100 // H])
def test_a_size_that_falls_implies_an_upper_bound(expression):
    (low, high), *_ = implied_bounds([Statement("at_least", expression, 1, "law")]).of.values()
    assert [h for h in range(1, 200) if expression.evaluate(H=h) >= 1] == list(range(low, high + 1))


def test_an_inequality_that_no_size_meets_implies_nothing():
    N = Var.fresh("N", 1, 8)
    assert implied_bounds([Statement("at_least", N, 9, "law"), Statement("at_most", N, 5, "law")]).of == {N: (1, 5)}
    assert implied_bounds([Statement("at_most", N, 5, "law"), Statement("at_least", N, 7, "law")]).of == {N: (1, 5)}


def test_only_facts_of_this_kind_count():
    assert implied_bounds([Statement("undecided", H, 9, "law"), Statement("equal", H, 9, "law")]).of == {}


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


def test_the_last_part_of_a_split_is_what_the_others_leave():
    graph = """<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x, int64[1] a, int64[1] b) => (p, q, r) <int64[1] two = {2}> {
            k = Concat <axis = 0> (a, two, b) p, q, r = Split <axis = 0> (x, k) }"""
    shapes = infer(onnx.parser.parse_model(graph)).shapes
    assert [str(size) for name in "pqr" for size in shapes[name]] == ["_d0", "2", "N - _d0 - 2"]


def test_a_size_that_a_convolution_shows_not_to_be_0_broadcasts_as_itself():
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["": 17]> g (float[N, 1, S] x, float[4, 1, 10] k, float[N, 4, T] t) => (y)
        <int64[1] zero = {0}, int64[1] two = {2}> {
            h = Conv (x, k) w = Shape<start = 2>(h) part = Slice(t, zero, w, two) y = Add(h, part) }"""
    )
    model.graph.output[0].ClearField("type")
    assert str(infer(model).types["y"]) == "f32[N, 4, S - 9]"


def test_symbols_of_equal_bounds_are_the_same_ones_in_the_next_inference():
    first, second = (Symbols(["N", "M"], bounds={"N": (4, None), "M": (4, None)}) for _ in range(2))
    assert first.text("N") is second.text("N")
    assert first.text("N") is not first.text("M")
    assert Symbols(["N"], bounds={"N": (5, None)}).text("N") is not first.text("N")


def test_bounds_are_those_of_a_search() -> None:
    """Random sizes that never fall; also where the symbol's own bounds leave no such value."""
    choose = random.Random(1)
    for _ in range(80):
        lo = choose.randint(0, 3)
        x = Var.fresh("x", lo, choose.choice([None, choose.randint(lo, 60)]))
        size: int | Expr = x
        for _ in range(choose.randint(0, 4)):
            shift, factor = choose.randint(-9, 9), choose.randint(1, 5)
            size = choose.choice([size + shift, size * factor, (size + shift) // factor, size + x // factor])
        target = choose.randint(-10, 40)
        if not isinstance(size, Expr):
            continue
        values = range(lo, (1000 if x.hi is None else x.hi) + 1)
        for relation in ("at_least", "at_most"):
            meet = [v for v in values if (size.to_int({x: v}) - target) * (1 if relation == "at_least" else -1) >= 0]
            ends = (meet[0], x.hi if meet[-1] == values[-1] else meet[-1]) if meet else None
            expected = {} if ends in (None, (lo, x.hi)) else {x: ends}
            assert implied_bounds([Statement(relation, size, target, "law")]).of == expected, (size, target, x.bounds())


RESHAPED = """
    place = NonZero (x)
    found = Shape <start: int = 1> (place)
    rows = Shape <end: int = 1> (x)
    count = Shape <start: int = 2> (x)
    target = Concat <axis: int = 0> (rows, found, three)
    grown = Tile (x, repeats)
    turned = Transpose <perm: ints = [0, 2, 1]> (grown)
    z = Reshape (turned, target)
"""


@pytest.mark.parametrize("text", [CHAIN, CHAIN.replace("s1 = Div (s0, five)", "s1 = Identity (s0)")])
def test_a_size_equal_to_another_times_positive_factors_is_that(text):
    text = text.replace("one = {1}>", "one = {1}, int64[3] repeats = {1, 3, 1}>")[:-1] + RESHAPED + "}"
    result = infer(onnx.parser.parse_model(text))
    assert str(result.shapes["z"]) == "(N, S, 3)"
    assert result.data_guards == []
    assert [str(guard) for guard in result.guards] == ["S >= 20"]


SELECTED = """<ir_version: 10, opset_import: ["": 20]>
g (float[1, 3, H] x, float[3, 3, 9] w, float[5, 3, 1] v) => (t, z)
<int64[1] start = {8}, int64[1] far = {1000000000}, int64[1] last = {2}, int64[1] one = {1}> {
    t = Slice (x, start, far, last)
    c = Conv (x, w)
    s = Shape <start = 2> (c)
    e = Equal (s, one)
    i = If (e) <then_branch = a () => (p) { p = Squeeze (c, last) }, else_branch = b () => (q) { q = Identity (c) }>
    u = Unsqueeze (i, last)
    z = Conv (u, v)
}"""
"""Only the rank that the last Conv demands shows that H is 9, also where an earlier inference wrote the rank of i."""


@pytest.mark.parametrize("bidirectional", [False, True])
def test_what_is_written_under_implied_bounds_is_written_again(bidirectional):
    model = onnx.parser.parse_model(SELECTED)
    result = infer(model)
    assert [str(result.types[name]) for name in "tz"] == ["f32[1, 3, H - 8]", "f32[1, 5, 1]"]
    assert [str(guard) for guard in result.guards] == ["H == 9"]
    written = infer_shapes(model, bidirectional=bidirectional)
    assert infer_shapes(written, bidirectional=bidirectional) == written
    for given in (model, infer_shapes(model)):
        assert [(str(guard), guard.kind) for guard in infer(given).guards] == [("H == 9", "required")]


def test_an_input_has_one_size_under_the_bounds_that_its_nodes_imply():
    """`Expand` demands that `-(max(K, 3)//4)` is not negative, so K is at most 3."""
    text = """<ir_version: 10, opset_import: ["": 20]> g (float["max(K, 3)", L] x, float[K] z) => (t, y)
        <int64[1] first = {0}, int64[1] four = {-4}>
        { s = Shape (x) n = Gather (s, first) q = Div (n, four) t = Expand (n, q) y = Relu (x) }"""
    result = infer(onnx.parser.parse_model(text))
    assert [str(result.types[name]) for name in "xty"] == ["f32[max(K, 3), L]", "i64[0]={}", "f32[3, L]"]
    assert [str(guard) for guard in result.guards] == ["K <= 3"]


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


def _cut(i):
    """Nodes that take what lies behind the first 8 elements of `x{i}`, and demand 9 elements of it."""
    return f"t{i} = Slice (x{i}, start, far, last) c{i} = Conv (x{i}, w)"


@pytest.mark.parametrize("count", [1, 4, 9])
def test_bounds_of_many_symbols_are_known_however_often_the_walk_starts_again(count):
    inputs = ", ".join(f"float[1, 3, S{i}] x{i}" for i in range(count))
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 20]> g ({inputs}, float[3, 3, 9] w) => (float[A, B, C] t0)
        <int64[1] start = {{8}}, int64[1] far = {{1000000000}}, int64[1] last = {{2}}> {{
            {" ".join(map(_cut, range(count)))} }}"""
    )
    types = infer(model).types
    assert [str(types[f"t{i}"].shape[2]) for i in range(count)] == [f"S{i} - 8" for i in range(count)]


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


def test_a_bound_that_a_later_node_implies_is_known_from_the_start():
    text = f"""<ir_version: 10, opset_import: ["": 20]> g (float[1, 3, S0] x0, float[3, 3, 9] w) => (float[A, B, C] y)
        <int64[1] start = {{8}}, int64[1] far = {{1000000000}}, int64[1] last = {{2}}> {{ {_cut(0)} y = Relu (t0) }}"""
    assert str(infer(onnx.parser.parse_model(text)).types["y"]) == "f32[1, 3, S0 - 8]"


def test_the_body_of_a_branch_that_is_taken_implies_bounds():
    """The Convs in the branch demand H >= 17, which decides the sign of the dividend before them."""
    text = """<ir_version: 10, opset_import: ["": 20]> g (float[1, 3, H] x, float[3, 3, 9] w) => (y, k)
        <int64[1] ten = {10}, int64[1] two = {2}, bool yes = {1}> {
        s = Shape <start = 2> (x)  m = Sub (s, ten)  h = Div (m, two)  k = Identity (h)
        y = If (yes) <then_branch = a () => (p) { c = Conv (x, w)  p = Conv (c, w) },
                      else_branch = b () => (q) { q = Identity (x) }> }"""
    assert str(infer(onnx.parser.parse_model(text)).types["k"]) == "i64[1]={H//2 - 5}"


@pytest.mark.parametrize("node", ["Loop", "If"])
def test_sizes_in_a_body_become_equal_under_a_bound(node):
    """MatMul demands max(M, 3) == M, so the elements of the sequence have one size."""
    text = """<ir_version: 10, opset_import: ["": 20]>
        g (float[M] x, float["max(M, 3)"] y, bool yes, float[M, 1] w) => (s, z) <int64 three = {3}> {
            one = SequenceConstruct (x)
            %s
            z = MatMul (y, w) }"""
    nodes = {
        "Loop": """s = Loop (three, yes, one) <body = b (int64 i, bool c, seq(float[]) carried) => (d, more) {
            d = Identity (c)  more = SequenceInsert (carried, y) }>""",
        "If": """s = If (yes) <then_branch = a () => (p) { p = SequenceConstruct (x, y) },
                             else_branch = b () => (q) { q = Identity (one) }>""",
    }
    model = onnx.parser.parse_model(text % nodes[node])
    result = infer(model)
    assert [str(guard) for guard in result.guards] == ["M >= 3"]
    assert str(result.types["s"]).startswith("seq(f32[M]")
    once = infer_shapes(model)
    assert infer_shapes(once) == once


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


def test_a_bound_hides_no_size_of_an_input_in_both_directions():
    """Gather demands M >= 3, which decides the end of the Slice. No node reads the first input."""
    graph = """<ir_version: 8, opset_import: ["": 17]> g (float[M, 2] a, float[M] b, float[3] w) => (p, s, t)
        <int64[1] zero = {0}, int64[1] two = {2}> {
            p = MatMul(b, w) s = Slice(b, zero, two) t = Gather(b, two) }"""
    result = infer(onnx.parser.parse_model(graph), bidirectional=True)
    assert [str(result.types[name]) for name in "abs"] == ["f32[3, 2]", "f32[3]", "f32[2]"]


def test_a_number_in_place_of_a_clamp_stays():
    graph = """<ir_version: 8, opset_import: ["": 17]> g (float[N, A] x, float[4] w) => (p, q, f) {
        p = MatMul(w, x) q = MatMul(x, w) f = Flatten<axis=0>(x) }"""
    model = onnx.parser.parse_model(graph)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "max(N, 3)"
    once = infer_shapes(model)
    assert infer_shapes(once) == once


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_written_number_hides_no_bound_of_a_clamp(bidirectional: bool) -> None:
    """The branch without elements has no index 0, so M <= 16. A file with the length 1 of `b` does not hide this."""
    graph = """<ir_version: 8, opset_import: ["": 17]> g (float[M, 2] x) => (c, b, y)
        <int64[1] zero = {0}, int64 most = {16}, int64 two = {2}> {
        s = Shape(x) n = Gather(s, zero) c = Greater(n, most)
        b = If(c) <then_branch = t () => (int64[K] e) { e = ConstantOfShape<value = int64[1] {0}>(zero) },
                   else_branch = f () => (int64[1] z) { z = Identity(zero) }>
        y = Gather(b, zero) rest = Sub(most, n) half = Div(rest, two) }"""
    model = onnx.parser.parse_model(graph)
    for _ in range(2):
        result = infer(model, bidirectional=bidirectional)
        assert [str(guard) for guard in result.guards] == ["M <= 16"]
        assert [str(result.types[name]) for name in "cby"] == ["bool[1]={False}", "i64[1]={0}", "i64[1]={0}"]
        model = infer_shapes(model, bidirectional=bidirectional)
