"""`fold`: sizes that inference knows become constants or go, and look-alikes stay."""

from __future__ import annotations

import onnx
import pytest
from onnx import numpy_helper

from onnx_infer import fold
from onnx_infer.tools.transforms.draft import count_nodes

from .folding import compare, folded, model_of, operators

CASES = [
    # constants
    ("a known size", "(float[N, 8] x) => (int64[1] y) {s = Shape<start=1>(x) t = Add(s, s) y = Neg(t)}", "Neg"),
    ("a target of known sizes", """(float[N, 8] x, float[4, 2] w) => (float[N, 4, 2] y)
        {n = Shape<end=1>(x) k = Shape(w) t = Concat<axis=0>(n, k) y = Reshape(x, t)}""", "Reshape"),
    # Reshape
    ("copied sizes", """(float[N, S, 8] x) => (float[N, S, 2, 4] y) <int64[2] h = {2, 4}>
        {s = Shape<end=2>(x) t = Concat<axis=0>(s, h) y = Reshape(x, t)}""", "Reshape"),
    ("the rest", """(float[N, 6, 8] x) => (float[A, 8] y) <int64[1] k = {6}, int64[1] h = {8}>
        {n = Shape<end=1>(x) m = Mul(n, k) t = Concat<axis=0>(m, h) y = Reshape(x, t)}""", "Reshape"),
    ("two open sizes", """(float[N, S, 8] x) => (float[S, N, 8] y) <int64[1] h = {8}>
        {n = Shape<end=1>(x) s = Shape<start=1, end=2>(x) t = Concat<axis=0>(s, n, h) y = Reshape(x, t)}""",
        "Shape Shape Concat Reshape"),
    ("a rest beside a size that may be 0", """(float[N, S, 8] x) => (float[N, K, 4] y)
        <int64[1] two = {2}, int64[1] h = {4}>
        {n = Shape<end=1>(x) s = Shape<start=1, end=2>(x) m = Mul(s, two)
        t = Concat<axis=0>(n, m, h) y = Reshape(x, t)}""", "Shape Mul Concat Reshape"),
    ("a product that may be 0 where the first size is not", """(float[N, S, 8] x) => (float[K, 8] y) <int64[1] h = {8}>
        {n = Shape<end=1>(x) s = Shape<start=1, end=2>(x) m = Mul(n, s) t = Concat<axis=0>(m, h) y = Reshape(x, t)}""",
        "Shape Shape Mul Concat Reshape"),
    ("allowzero", """(float[N, S, 8] x) => (float[N, S, 2, 4] y) <int64[2] h = {2, 4}>
        {s = Shape<end=2>(x) t = Concat<axis=0>(s, h) y = Reshape<allowzero=1>(x, t)}""", "Reshape"),
    ("allowzero and the rest beside a size that may be 0", """(float[N, S, 8] x) => (float[N, S, 2, 4] y)
        <int64[2] h = {-1, 4}> {s = Shape<end=2>(x) t = Concat<axis=0>(s, h) y = Reshape<allowzero=1>(x, t)}""",
        "Reshape"),
    ("allowzero and an open rest beside a size that may be 0", """(float[N, S, M, 4] x) => (float[N, S, K, 2] y)
        <int64[2] h = {-1, 2}> {s = Shape<end=2>(x) t = Concat<axis=0>(s, h) y = Reshape<allowzero=1>(x, t)}""",
        "Shape Concat Reshape"),
    ("allowzero and the rest beside a product", """(float[N, S, 8] x) => (float[K, L] y, int64[2] z)
        <int64[1] h = {-1}> {n = Shape<end=1>(x) s = Shape<start=1, end=2>(x) m = Mul(n, s)
        t = Concat<axis=0>(m, h) y = Reshape<allowzero=1>(x, t) u = Shape(y) z = Neg(u)}""",
        "Shape Shape Mul Concat Reshape Shape Neg"),
    ("allowzero and a computed size", """(float[N, 8] x, float[S, 2] w) => (float[K, 4] y)
        <int64[1] two = {2}, int64[1] h = {4}>
        {n = Shape<end=1>(x) m = Mul(n, two) t = Concat<axis=0>(m, h) y = Reshape<allowzero=1>(x, t)}""", "Reshape"),
    ("element counts that differ for some sizes", """(float[N, 4] x, float[S, 2] w) => (float[S, 4] y)
        <int64[1] h = {4}>
        {s = Shape<end=1>(w) t = Concat<axis=0>(s, h) y = Reshape(x, t)}""", "Shape Concat Reshape"),
    # Expand, Slice
    ("an Expand by one axis", """(float[N, 1, 8] x) => (float[N, 5, 8] y) <int64[1] five = {5}, int64[1] h = {8}>
        {n = Shape<end=1>(x) t = Concat<axis=0>(n, five, h) y = Expand(x, t)}""", "Expand"),
    ("an Expand to another input's size", """(float[N, 1, 8] x, float[S] w) => (float[N, S, 8] y) <int64[1] h = {8}>
        {n = Shape<end=1>(x) s = Shape(w) t = Concat<axis=0>(n, s, h) y = Expand(x, t)}""", "Shape Concat Expand"),
    ("the last places", """(float[N, S] x) => (float[N, K] y) <int64[1] one = {1}, int64[1] axis = {1}>
        {s = Shape<start=1>(x) b = Sub(s, one) y = Slice(x, b, s, axis)}""", "Slice"),
    ("places from the back that may be in front", """(float[N, S] x) => (float[N, K] y)
        <int64[1] three = {3}, int64[1] zero = {0}, int64[1] axis = {1}>
        {s = Shape<start=1>(x) e = Sub(s, three) y = Slice(x, zero, e, axis)}""", "Shape Sub Slice"),
    ("the end of an axis beside a computed one, as int32", """(float[N, M] x) => (float[N, K] y)
        <int32[2] b = {0, 0}, int32[1] k = {2}, int64[1] i = {0}, int64[1] j = {1}, int64[1] e = {2}>
        {s = Shape(x) c = Cast<to=6>(s) n = Slice(c, i, j) m = Slice(c, j, e) q = Div(m, k) p = Mul(q, k)
        t = Concat<axis=0>(n, p) y = Slice(x, b, t)}""", "Shape Div Mul Concat Cast Slice"),
    # identities
    ("a Reshape", """(float[N, S] x) => (float[N, S] y) {s = Shape(x) r = Reshape(x, s) y = Neg(r)}""", "Neg"),
    ("a Reshape by -1", """(float[N, 8] x) => (float[N, 8] y)
        <int64[2] t = {-1, 8}> {r = Reshape(x, t) y = Neg(r)}""", "Neg"),
    ("a Reshape by -1 beside a size that may be 0", """(float[N, S] x) => (float[N, S] y) <int64[1] t = {-1}>
        {s = Shape<start=1>(x) u = Concat<axis=0>(t, s) r = Reshape(x, u) y = Neg(r)}""", "Reshape Neg"),
    ("a Reshape of another shape", """(float[N, 8] x) => (float[A, 4] y)
        <int64[2] t = {-1, 4}> {r = Reshape(x, t) y = Neg(r)}""",
        "Reshape Neg"),
    ("an Expand", """(float[N, S] x) => (float[N, S] y) {s = Shape(x) r = Expand(x, s) y = Neg(r)}""", "Neg"),
    ("an Expand that may widen", """(float[N, S] x, float[M] w) => (float[N, M] y)
        {s = Shape(w) r = Expand(x, s) y = Neg(r)}""",
        "Shape Expand Neg"),
    ("a Slice", """(float[N, S] x) => (float[N, S] y) <int64[1] zero = {0}, int64[1] axis = {1}>
        {s = Shape<start=1>(x) r = Slice(x, zero, s, axis) y = Neg(r)}""", "Neg"),
    ("a Slice backwards", """(float[3] x) => (float[3] y)
        <int64[1] b = {2}, int64[1] e = {-9}, int64[1] axis = {0}, int64[1] step = {-1}>
        {r = Slice(x, b, e, axis, step) y = Neg(r)}""", "Slice Neg"),
    ("a Cast", "(float[N] x) => (float[N] y) {r = Cast<to=1>(x) y = Neg(r)}", "Neg"),
    ("a Cast to another type", "(float[N] x) => (double[N] y) {r = Cast<to=11>(x) y = Neg(r)}", "Cast Neg"),
    ("a Transpose of the axes 1", """(float[1, N, 1] x) => (float[1, N, 1] y)
        {r = Transpose<perm=[2, 1, 0]>(x) y = Neg(r)}""", "Neg"),
    ("a Transpose of equal sizes", "(float[N, N] x) => (float[N, N] y) {r = Transpose(x) y = Neg(r)}", "Transpose Neg"),
    ("a Dropout", "(float[N] x) => (float[N] y) {r = Dropout(x) y = Neg(r)}", "Neg"),
    ("a Dropout whose mask is read", """(float[N] x) => (float[N] y, bool[N] n)
        {r, m = Dropout(x) y = Neg(r) n = Not(m)}""",
        "Dropout Neg Not"),
    ("a Pad", "(float[N] x) => (float[N] y) <int64[2] none = {0, 0}> {r = Pad(x, none) y = Neg(r)}", "Neg"),
    ("a Pad that shifts", "(float[N] x) => (float[N] y) <int64[2] p = {1, -1}> {r = Pad(x, p) y = Neg(r)}", "Pad Neg"),
    ("an Identity that gives an output", "(float[N] x) => (float[N] y) {r = Neg(x) y = Identity(r)}", "Neg"),
    ("an input as output", "(float[N] x) => (float[N] y) {y = Identity(x)}", "Identity"),
    ("one value as two outputs", """(float[N] x) => (float[N] y, float[N] z)
        {y = Neg(x) z = Identity(y)}""", "Neg Identity"),
    # nodes that compute the same
    ("twins", "(float[N] x) => (float[N] y) {a = Neg(x) b = Neg(x) y = Add(a, b)}", "Neg Add"),
    ("twins of twins", """(float[N] x) => (float[N] y)
        {a = Neg(x) b = Neg(x) c = Abs(a) d = Abs(b) y = Add(c, d)}""", "Neg Abs Add"),
    ("others", """(float[N, N] x) => (float[N, N] y)
        {a = Softmax<axis=0>(x) b = Softmax<axis=1>(x) y = Add(a, b)}""", "Softmax Softmax Add"),
    ("twins that leave out an output", """(float[N, 1, 8] x) => (float[N, 1, 7] y)
        {a, = MaxPool<kernel_shape=[2]>(x) b, = MaxPool<kernel_shape=[2]>(x) y = Add(a, b)}""", "MaxPool Add"),
    ("equal sizes of two values", """(float[N, 8] x) => (float[N] y, float[N] z) <int64[1] first = {0}> {
        a = Neg(x) s = Shape<end=1>(x) t = Shape<end=1>(a) i = ReduceSum<keepdims=0>(x, first)
        e = Expand(i, s) y = ReduceSum<keepdims=0>(e, first) z = Expand(y, t)}""", ""),
]  # fmt: skip


@pytest.mark.parametrize("text, left", [pytest.param(text, left, id=name) for name, text, left in CASES if left])
def test_what_is_left(text: str, left: str) -> None:
    assert operators(folded(text)) == left


def test_random_twins_stay() -> None:
    model = model_of("(float[N] x) => (float[N] y) {a = RandomNormalLike(x) b = RandomNormalLike(x) y = Sub(a, b)}")
    assert operators(fold(model)) == "RandomNormalLike RandomNormalLike Sub"


def test_a_size_promised_to_be_at_least_1_is_no_0() -> None:
    text = """(float[N, S, 8] x) => (float[K, 8] y) <int64[1] h = {8}>
        {n = Shape<end=1>(x) s = Shape<start=1, end=2>(x) m = Mul(n, s) t = Concat<axis=0>(m, h) y = Reshape(x, t)}"""
    assert operators(folded(text, sizes=(1, 2, 3), min_dim=1)) == "Reshape"


def test_facts_narrow_the_runs() -> None:
    text = """(float[N, S] x, float[M] w) => (float[N, S] y) {s = Shape(w) r = Expand(x, s) y = Neg(r)}"""
    assert operators(fold(model_of(text), assume=["M == S"])) == "Neg"
    text = "(float[N] x, bool c) => (float[N] y) {n = Not(c) y = Where(n, x, x)}"
    assert operators(fold(model_of(text), values={"c": True})) == "Where"


def test_sizes_are_computed_from_the_inputs_and_shared() -> None:
    text = """(float[N, S, 8] x) => (float[S, N, 8] y, float[S, N, 8] z) <int64 one = {1}, int64 zero =
        {0}, int64[1] first = {0}, int64[1] h = {8}> {
        a = Neg(x) p = Shape(a) q = Gather(p, zero) n = Unsqueeze(q, first) b = Abs(x) r = Shape(b) t = Gather(r, one)
        s = Unsqueeze(t, first) u = Concat<axis=0>(s, n, h) v = Concat<axis=0>(s, n, h)
        y = Reshape(a, u) z = Reshape(b, v)}"""
    found = folded(text)
    assert operators(found).split().count("Concat") == 1
    assert len(found.graph.node) == 7
    assert {node.input[0] for node in found.graph.node if node.op_type == "Shape"} == {"x"}
    assert not any(node.name for node in found.graph.node)  # a second name would only make the model larger


def test_constants_become_initializers_and_unread_ones_go() -> None:
    found = folded(
        """(float[N] x) => (float[N] y) <float[1] unused = {1}> {c = Constant<value_floats=[2.0]>() y = Mul(x, c)}"""
    )
    assert operators(found) == "Mul"
    assert [tensor.name for tensor in found.graph.initializer] == ["c"]


def test_an_initializer_that_a_caller_may_override_is_no_constant() -> None:
    model = model_of(
        "(float[N] x, int64[1] t) => (float[A] y) <int64[1] t = {-1}> {u = Neg(t) v = Neg(u) y = Reshape(x, v)}"
    )
    assert operators(fold(model)) == "Neg Neg Reshape"
    assert operators(fold(model, initializers="constant")) == "Reshape"


def test_declared_types_prove_nothing_and_stay() -> None:
    model = model_of(
        """(float[N] x) => (float[4] y) <float[4] r, float[9] q> {r = Neg(x) s = Shape(r) q = Reshape(r, s)
            y = Neg(q)}"""
    )
    found = fold(model)
    assert operators(found) == "Neg Neg"
    assert [info.name for info in found.graph.value_info] == ["r"]
    assert found.graph.output == model.graph.output


@pytest.mark.parametrize(
    ("body", "declared", "v", "expected"),
    [
        ("v = ConstantOfShape(k) w = Identity(v)", "w", "", "ConstantOfShape"),
        ("v = Expand(one, k) w = Identity(v)", "w", "", "Expand"),
        ("v = ConstantOfShape(k) w = ConstantOfShape(k)", "w", "", "ConstantOfShape"),
        ("v = ConstantOfShape(k) w = ConstantOfShape(k)", "w", "v,", "ConstantOfShape ConstantOfShape"),
        ("v = ConstantOfShape(k) w = Identity(v)", "w", "v,", "ConstantOfShape Identity"),
        ("w = ConstantOfShape(k) v = Identity(w)", "w", "v,", "ConstantOfShape Identity"),
        ("w = ConstantOfShape(k) v = Identity(w)", "w", "float[A] v,", "ConstantOfShape"),
    ],
    ids=[
        "an Identity",
        "Expand",
        "a twin",
        "a twin that is an output",
        "of an output",
        "an output without a shape",
        "an output with a shape",
    ],
)
def test_a_declared_rank_that_a_runtime_needs_stays(body: str, declared: str, v: str, expected: str) -> None:
    """onnxruntime infers rank 0 for what has the sizes k, and refuses the Split, unless the rank 1 is declared."""
    model = model_of(f"""(float[N, M] x) => ({v} p, q) <int64[1] first = {{0}}, int64[1] last = {{9223372036854775807}},
        int64[1] step = {{-2}}, int64[2] parts = {{1, 1}}, float one = {{1}}, float[2] {declared}>
        {{s = Shape(x) k = Slice(s, first, last, first, step) {body} p, q = Split<axis=0>(w, parts)}}""")
    found = fold(model)
    assert operators(found) == f"Shape Slice {expected} Split"
    compare(model, found, (2, 3))


def test_a_declared_shape_of_a_body_stays_there() -> None:
    """What is declared in a branch that may not run says nothing of a value outside."""
    model = model_of(
        """(float[N, M] x, bool c) => (y) {t = Transpose(x) y = If(c) <
            then_branch = a () => (p) <float[7, 7] w> {w = Identity(t) p = Neg(w)},
            else_branch = b () => (q) {q = Abs(t)}>}"""
    )
    then = model.graph.node[1].attribute[0].g
    assert [info.name for info in then.value_info] == ["w"]
    found = fold(model)
    assert count_nodes(found) == count_nodes(model) - 1
    assert not found.graph.value_info


def test_external_data_are_not_opened() -> None:
    model = model_of(
        "(float[2, 3] x) => (float[2, 3] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}> {t = Transpose(w) y = Add(x, t)}"
    )
    assert operators(fold(model)) == "Add"
    weight = model.graph.initializer[0]
    weight.ClearField("float_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="nowhere.bin")
    found = fold(model)
    assert operators(found) == "Transpose Add"
    assert found.graph.initializer[0] == weight


def test_a_model_that_is_folded_stays_as_it_is() -> None:
    for _, text, _ in CASES:
        once = fold(model_of(text))
        assert operators(fold(once)) == operators(once)


def test_bytes_that_are_no_numbers() -> None:
    model = model_of("(float[N] x) => (float[N] y) <float[2] w = {1, 2}> {t = Neg(w) y = Add(x, t)}")
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(numpy_helper.to_array(model.graph.initializer[0]), "w"))
    model.graph.initializer[0].raw_data = b"123"
    assert operators(fold(model)) == "Neg Add"


def test_equal_weights_are_one_and_make_twins() -> None:
    text = """(float[N, 2] x) => (float[N, 2] y)
        <float[2, 2] v = {1, 2, 3, 4}, float[2, 2] w = {1, 2, 3, 4},
        float[4] u = {1, 2, 3, 4}, float[2, 2] t = {1, 2, 3, 5}>
        {a = MatMul(x, v) b = MatMul(x, w) c = MatMul(x, t) d = Add(a, b) y = Add(d, c)}"""
    assert operators(folded(text)) == "MatMul MatMul Add Add"


def test_before_ir_version_4_new_constants_are_nodes() -> None:
    text = """(float[N, S, 8] x) => (float[N, S, 2, 4] y) {
        z = Constant<value=int64[1] {0}>() o = Constant<value=int64[1] {1}>() h = Constant<value=int64[2] {2, 4}>()
        s = Shape(x) n = Gather(s, z) m = Gather(s, o) t = Concat<axis=0>(n, m, h) y = Reshape(x, t)}"""
    found = folded(text, '<ir_version: 3, opset_import: ["": 9]>')
    assert operators(found) == "Constant Reshape"
    assert not found.graph.initializer


def test_nodes_out_of_order_depend_on_no_later_one() -> None:
    text = """(float[N, 4] x) => (float[N, 4] y, float[N, 4] z) {
        a = Shape(c) z = Reshape(x, a) c = Reshape(x, b) b = Shape(x) y = Neg(c)}"""
    compare(model_of(text), fold(model_of(text)), (0, 1, 3))
