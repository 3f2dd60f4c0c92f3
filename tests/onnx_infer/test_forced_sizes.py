"""Sizes that a later node forces: the nodes before it know them too, and a second inference writes the same.

Each model has a vector `k` of a data-dependent size, and ends with a product that forces this size.
"""

from __future__ import annotations

import onnx
import pytest

from onnx_infer import infer, infer_shapes

from .texts import dims, parsed

START = "i = NonZero(q) f = Cast<to=1>(i) all = Constant<value_ints=[-1]>() k = Reshape(f, all) s = Shape(k)"


def model_of(nodes: str, forced: int = 5, outputs: str = "z") -> onnx.ModelProto:
    inputs = f"float[{forced}] other, float[K] q, float[N] n, float[2, 5] w, bool c, int64 turns"
    return parsed(f"g ({inputs}) => ({outputs}) {{ {START} {nodes} z = MatMul(other, k) }}")


BRANCHES = "y = If(c) <then_branch = a () => (p) {{ {} }}, else_branch = b () => (q) {{ q = Identity(other) }}>"
SWAP = """<body = b (int64 i, bool go, a, b) => (go2, a2, b2) {
    go2 = Identity(go) a2 = Identity(b) b2 = Identity(a) d = Concat<axis=0>(a, a) }>"""
GROW = "<body = b (int64 i, bool go, a) => (go2, a2) { go2 = Identity(go) a2 = Concat<axis=0>(a, other) }>"

CASES = {
    "the branches of an If": (BRANCHES.format("p = Identity(k)"), 5, [5]),
    "a branch in a branch": (BRANCHES.format(BRANCHES.replace("y =", "p =").format("p = Neg(k)")), 5, [5]),
    "the elements of a sequence": ("l = SequenceConstruct(k, other) y = SequenceAt(l, turns)", 5, [5]),
    "carried values that change places": (f"y, y2 = Loop(turns, c, k, other) {SWAP}", 5, [5]),
    "a number of turns": (f"t = Squeeze(s) y = Loop(t, , other) {GROW}", 3, [12]),
    "axes of a Reduce": ("y = ReduceSum<keepdims=0>(w, s)", 1, [2]),
    "axes of an Unsqueeze": ("y = Unsqueeze(w, s)", 1, [2, 1, 5]),
    "axes of size 1": ("t = Unsqueeze(k, s) one = Squeeze(k) y = Unsqueeze(one, all)", 1, [1]),
    "the step of a Slice": (
        "o = Sub(s, s) last = Constant<value_ints=[9]>() y = Slice(w, o, last, s, s)",
        1,
        [2, 5],
    ),
    "the length of a target shape": ("y = ConstantOfShape(f2) f2 = Cast<to=7>(k)", 1, None),
    "a size of an input": ("y = Reshape(q, s)", 5, [5]),
    "an input that broadcasts": ("y = Add(k, n)", 5, [5]),
}


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("nodes", "forced", "expected"), CASES.values(), ids=CASES)
def test_a_size_that_a_later_node_forces_is_known_before_it(
    nodes: str, forced: int, expected: list[int] | None, bidirectional: bool
) -> None:
    model = model_of(nodes, forced)
    once = infer_shapes(model, bidirectional=bidirectional)
    (y,) = (info for info in once.graph.value_info if info.name == "y")
    assert len(dims(y)) == forced if expected is None else dims(y) == expected
    assert infer_shapes(once, bidirectional=bidirectional) == once


REPEATED = """go = Constant<value_int=1>() one = Constant<value_ints=[1]>() zero = Constant<value_ints=[0]>()
    yes = Cast<to=9>(go) _, p = Loop(go, yes, turns) <body = b (int64 i, bool c, int64 a) => (c2, a2, a3)
    { c2 = Identity(c) a2 = Identity(a) a3 = Identity(a) }>
    v = Tile(p, p) u = Squeeze(v, zero) four = Constant<value_ints=[4]>()"""


@pytest.mark.parametrize("bidirectional", [False, True])
def test_an_element_that_a_later_node_forces_is_known_in_the_second_inference(bidirectional: bool) -> None:
    """The Squeeze demands a size of 1, so `p` is [1], and the slice begins at 1."""
    model = parsed(f"g (float[N] x, int64 turns) => (y, u) {{ {REPEATED} y = Slice(x, p, four, zero, one) }}")
    once = infer_shapes(model, bidirectional=bidirectional)
    assert [dims(info) for info in once.graph.output] == [["min(N, 4) - 1"], []]
    assert infer_shapes(once, bidirectional=bidirectional) == once


def test_a_declared_number_beside_another_one_that_the_model_forces_is_told() -> None:
    """Both nodes select the same elements, so `e` has 4 elements as well."""
    model = parsed("""g (float[N] x, bool[N] c, float[4] t) => (b, e)
        { a = Compress<axis=0>(x, c) e = Compress<axis=0>(x, c) b = MatMul(a, t) }""")
    model.graph.output[1].CopyFrom(onnx.helper.make_tensor_value_info("e", 1, [3]))
    assert [told.message for told in infer(model).diagnostics] == ["value 'e': declared 3 but inferred 4"]


def test_a_declared_number_that_the_model_forces_is_no_claim() -> None:
    text = (
        "g (float[N] x, bool[N] c, bool[N] k, float[4] t, float[5] w) => (b, d, y) {{ a = Compress<axis=0>(x, c) {} }}"
    )
    model = parsed(text.format("e = Compress<axis=0>(x, k) d = Relu(e) y = Neg(a) b = MatMul(y, t)"))
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("e", 1, [3]))
    for _ in range(2):
        result = infer(model)
        assert [str(result.types[name]) for name in "ayed"] == ["f32[4]", "f32[4]", "f32[3]", "f32[3]"]
        assert {str(guard)[4:]: guard.kind for guard in result.data_guards} == {"== 3": "declared"}
        model = infer_shapes(model)
    wrong = parsed(text.format("y = Neg(a) b = MatMul(y, t) d = Relu(w)"))
    wrong.graph.value_info.append(onnx.helper.make_tensor_value_info("y", 1, [3]))
    (told,) = infer(wrong).diagnostics
    assert told.message == "value 'y': declared 3 but inferred 4 at axis 0"


def test_values_in_a_body_know_it() -> None:
    once = infer_shapes(model_of(f"y, y2 = Loop(turns, c, k, other) {SWAP}", 1))
    (loop,) = (node for node in once.graph.node if node.op_type == "Loop")
    assert {info.name: dims(info) for info in loop.attribute[0].g.value_info}["d"] == [2]


def test_an_author_s_name_beside_a_forced_size_stays() -> None:
    nodes = """r = NonZero(n) rows = Reshape(r, all) m = Unsqueeze(k, one) one = Constant<value_ints=[1]>()
        rows2 = Unsqueeze(rows, zero) zero = Constant<value_ints=[0]>() x = Cast<to=1>(rows2) y = Mul(m, x)"""
    model = model_of(nodes)
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("y", 1, [None, "found"]))
    result = infer(model)
    assert list(map(str, result.shapes["y"])) == ["5", "found"]


def test_names_in_expressions_of_many_sizes_stay() -> None:
    """Four elements decide each size of the result, and none of them is a size by itself."""
    text = """g (float[1, 1, 4, 6] x, int64[4] to) => (y) <int64[4] to = {1, 1, 7, 9}>
        { y = Resize<keep_aspect_ratio_policy="not_smaller">(x, "", "", to) }"""
    once = infer_shapes(parsed(text))
    assert "max(_d0, _d1, " in dims(once.graph.output[0])[0]
    assert infer_shapes(once) == once


@pytest.mark.parametrize(
    "node",
    [
        "y = Pad (x, big)",
        "a = Expand (one, many)  b = Expand (one, many)  y = Concat <axis: int = 0> (x, a, b)",
        "y = Tile (x, many)",
    ],
)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_size_beyond_64_bits_is_never_found(node: str, bidirectional: bool) -> None:
    """It is an error of the node. Neither the rule nor the constraint form gives the size to the result."""
    constants = "<int64[2] big = {9223372036854775807, 5}, int64[1] many = {9223372036854775807}>"
    model = parsed(f"g (float[N] x, float[1] one) => (y) {constants} {{ {node} }}")
    result = infer(model, bounds={"N": (2, None)}, bidirectional=bidirectional)
    (size,) = result.shapes["y"]
    assert not isinstance(size, int)
    assert (size.bounds()[0] or 0) < 2**63
    assert any("64 bits" in str(d) for d in result.diagnostics)


def test_a_demanded_size_is_found_beside_a_declared_one() -> None:
    """Of `v` the declared 2 is believed, and the 3 is what MatMul demands, also in the second inference."""
    model = parsed(
        """g (float[4, M, N] x, int64[1] start, int64[2] parts) => (float[2, M, D] y, float[] v, float[] u, float[] z)
            <int64[1] first = {0}, int64[1] far = {2147483647}, float[3, 1] w = {1, 2, 3}> {
            y = Slice (x, start, far, first)  v, u = Split <axis: int = 2> (y, parts)  z = MatMul (v, w) }"""
    )
    once = infer_shapes(model)
    assert dims(once.graph.output[2]) == [2, "M", "N - 3"]
    assert infer_shapes(once) == once


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_declared_sum_with_a_number_that_a_node_forces_stays_a_claim(bidirectional: bool) -> None:
    """SkipLayerNormalization forces M to 3. That v has 8 rows is what its author says.

    The product forces the last size of v, so the next walk knows this size from the start.
    """
    text = """g (float[L, K] x, float[3, M] z, int64[3] t) => (float["M + 5", D, 1] v, y, p)
        <int64[3] t = {0, 0, -1}, float[1, 2] w = {1, 2}, float[3] b = {1, 2, 3}> {
        v = Reshape(x, t) y = MatMul(v, w) p = com.microsoft.SkipLayerNormalization(z, z, b) }"""
    model = parsed(text, '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>')
    once = infer_shapes(model, bidirectional=bidirectional)
    result = infer(once, bidirectional=bidirectional)
    assert [str(result.types[name]) for name in "vp"] == ["f32[_d0, D, 1]", "f32[3, 3]"]
    assert infer_shapes(once, bidirectional=bidirectional) == once
