"""`fold` keeps every refusal: a node whose law no other node states stays, whether anything reads it or not."""

from __future__ import annotations

import pytest

from onnx_infer import fold, infer

from .folding import HEAD, compare, folded, model_of, operators

STAYS = [
    ("a Reshape that nothing reads", """(float[H, W] x) => (float[H, W] y)
        <int64[2] t = {2, 3}> {r = Reshape(x, t) y = Neg(x)}""",
        "Reshape Neg"),
    ("a Reshape of a number of elements that the data decide", """(float[N] x) => (float[N] y)
        {s = Shape(x) n = NonZero(x) r = Reshape(n, s) y = Neg(x)}""",
        "Shape NonZero Reshape Neg"),
    ("a Reshape of which the shape is read", """(float[H, W] x) => (int64[2] y) <int64[2] t = {2, 3}>
        {r = Reshape(x, t) s = Shape(r) y = Neg(s)}""", "Reshape Neg"),
    ("a Reshape by -1", """(float[N] x) => (float[N] y)
        <int64[2] t = {-1, 2}> {r = Reshape(x, t) y = Neg(x)}""", "Reshape Neg"),
    ("a Reshape by -1 with allowzero", """(float[N] x) => (float[N] y)
        <int64[2] t = {-1, 2}> {r = Reshape<allowzero=1>(x, t) y = Neg(x)}""", "Reshape Neg"),
    ("an index", """(float[N, 8] x) => (int64[1] y)
        <int64 two = {2}> {g = Gather(x, two) s = Shape(g) y = Neg(s)}""", "Gather Neg"),
    ("an Expand", """(float[N] x, float[M] w) => (float[N] y)
        {s = Shape(w) e = Expand(x, s) y = Neg(x)}""", "Shape Expand Neg"),
    ("a Squeeze", """(float[N, 8] x) => (int64[1] y)
        <int64[1] axis = {0}> {q = Squeeze(x, axis) s = Shape(q) y = Neg(s)}""",
        "Squeeze Neg"),
    ("a broadcast", """(float[N] x, float[M] w) => (float[N] y) {e = Add(x, w) y = Neg(x)}""", "Add Neg"),
    ("what the data decide", """(float[N] x) => (int64[1, 3] y) <int64[2] t = {1, 3}>
        {i = NonZero(x) r = Reshape(i, t) y = Neg(r)}""", "NonZero Reshape Neg"),
    ("a size that must not be negative", """(float[N] x) => (int64[1] y) <int64[1] two = {2}>
        {s = Shape(x) n = Sub(s, two) c = ConstantOfShape(n) r = Shape(x) y = Neg(r)}""", ""),
    ("an operator without a word on its refusals", """(float[N, 4] x) => (float[N, 4] y)
        <int64 k = {3}, int64[1] k1 = {3}>
        {v, i = TopK(x, k1) y = Neg(x)}""", "TopK Neg"),
    ("an index that a run decides", """(float[4] x, int64[N] i) => (float[4] y)
        {g = Gather(x, i) y = Neg(x)}""", "Gather Neg"),
    ("sizes that a run decides", """(float[4] x, int64[1] k) => (float[4] y)
        {c = ConstantOfShape(k) r = Reshape(x, k) y = Neg(x)}""", "ConstantOfShape Reshape Neg"),
    ("the double of a size that a run decides", """(float[4] x, int64[1] k) => (float[4] y)
        {d = Add(k, k) c = ConstantOfShape(d) y = Neg(x)}""", "Add ConstantOfShape Neg"),
    ("a -1 beside a size that may be 0, and one beside another size", """(float[N, S] x) => (float[N, S] y)
        <int64[1] t = {-1}> {n = Shape<end=1>(x) s = Shape<start=1>(x) u = Concat<axis=0>(t, s) r = Reshape(x, u)
        v = Concat<axis=0>(n, t) q = Reshape(r, v) y = Neg(q)}""", "Reshape Reshape Neg"),
    ("pads that copy what other pads crop", """(float[N, M] x) => (float[N, M] y) <int64[4] p = {0, -1, 0, 1}>
        {q = Pad<mode="edge">(x, p) y = Neg(x)}""", "Pad Neg"),
    ("pads of given axes", """(float[N, M] x) => (float[N, M] y) <int64[4] p = {-1, 0, 1, 0}, int64[2] a = {1, 0}>
        {q = Pad<mode="edge">(x, p, , a) y = Neg(x)}""", "Pad Neg"),
    ("the step of a range that may be 0", """(float[N] x) => (float[N] y) <int64 a = {9}, int64 b = {4}>
        {s = Size(x) r = Range(a, b, s) y = Neg(x)}""", "Size Range Neg"),
    ("the step of a slice that may be 0", """(float[N] x) => (float[N] y) <int64[1] a = {0}, int64[1] b = {9}>
        {s = Shape(x) r = Slice(x, a, b, a, s) y = Neg(x)}""", "Shape Slice Neg"),
    ("the step of a slice that a run decides", """(float[N] x, int64[1] k) => (float[N] y)
        <int64[1] a = {0}, int64[1] b = {9}> {r = Slice(x, a, b, a, k) y = Neg(x)}""", "Slice Neg"),
    ("a text that is not a number", """(float[N] x, string[N] t) => (float[N] y) {c = Cast<to=1>(t) y = Neg(x)}""", ""),
]  # fmt: skip

GOES = [
    ("a Reshape that always fits", """(float[N, 6] x) => (float[N, 6] y)
        <int64[3] t = {0, 2, 3}> {r = Reshape(x, t) y = Neg(x)}""",
        "Neg"),
    ("an index that always fits", """(float[N, 8] x) => (int64[1] y)
        <int64 two = {2}> {g = Gather<axis=1>(x, two) s = Shape(g) y = Neg(s)}""",
        "Shape Neg"),
    ("steps that are never 0", """(float[N] x) => (float[N] y) <int64[1] a = {0}, int64[1] b = {9}, int64 one = {1}>
        {n = Size(x) s = Add(n, one) q = Slice(x, a, b) t = Shape(q) r = Range(n, one, s) y = Neg(x)}""", "Neg"),
    ("a law that a later node states too", """(float[N] x, float[M] w) => (float[A] y)
        {e = Add(x, w) f = Mul(x, w) y = Neg(f)}""", "Mul Neg"),
    ("a -1 beside a size that may be 0, as elsewhere", """(float[N, S] x) => (float[N, S] y) <int64[1] t = {-1}>
        {s = Shape<start=1>(x) u = Concat<axis=0>(t, s) r = Reshape(x, u) a = Neg(r) q = Reshape(a, u) y = Abs(q)}""",
        "Reshape Neg Abs"),
    ("pads that leave elements to copy", """(float[N, 4] x) => (float[N, 4] y) <int64[4] p = {0, -1, 0, 1}>
        {c = Constant<value=float[2, 4] {1, 2, 3, 4, 5, 6, 7, 8}>() q = Pad<mode="edge">(c, p) y = Neg(x)}""", "Neg"),
    ("a weaker law", """(float[N, 8] x) => (float[8] y, int64[1] z) <int64 two = {2}, int64 one = {1}>
        {g = Gather(x, two) h = Gather(x, one) y = Neg(g) s = Shape(h) z = Neg(s)}""", "Gather Neg Neg"),
]  # fmt: skip


@pytest.mark.parametrize("text, left", [pytest.param(text, left, id=name) for name, text, left in STAYS if left])
def test_a_node_that_refuses_stays(text: str, left: str) -> None:
    assert operators(folded(text)) == left


@pytest.mark.parametrize("text, left", [pytest.param(text, left, id=name) for name, text, left in GOES])
def test_a_node_that_refuses_nothing_more_goes(text: str, left: str) -> None:
    assert operators(folded(text)) == left


def test_an_operator_that_may_refuse_more_than_its_rule_says_stays() -> None:
    text = "(float[N] x, string[N] t) => (float[N] y) {c = Cast<to=1>(t) y = Neg(x)}"
    assert operators(fold(model_of(text))) == "Cast Neg"
    text = """(float[N] x, int64[1] k) => (float[N] y) {s = Shape(x) d = Div(s, k) y = Neg(x)}"""
    assert operators(fold(model_of(text))) == "Shape Div Neg"
    text = """(float[N] x, float[M] w) => (float[N] y) {s = Shape(x) t = Shape(w) d = Div(s, t) y = Neg(x)}"""
    assert operators(fold(model_of(text))) == "Shape Shape Div Neg"
    assert operators(fold(model_of(text), min_dim=1)) == "Neg"


def test_a_division_of_a_tensor_that_may_be_empty_does_not_refuse_for_others() -> None:
    text = """(float[N, S] x, int64[M] k) => (float[N, S] y, int64[M] z) <int64[1] t = {-1}>
        {s = Shape<start=1>(x) z = Div(k, s) u = Concat<axis=0>(t, s) r = Reshape(x, u) y = Neg(r)}"""
    assert "Reshape" in operators(fold(model_of(text)))
    assert "Reshape" not in operators(fold(model_of(text), min_dim=1))


def test_with_keep_guards_every_refusal_names_its_node() -> None:
    text = "(float[N] x, float[M] w) => (float[A] y) {e = Add(x, w) f = Mul(x, w) y = Neg(f)}"
    model, found = model_of(text), folded(text, keep_guards=True)
    assert operators(found) == "Add Mul Neg"
    (before,), (after,) = infer(model).guards, infer(found).guards
    assert (before.text, before.origins) == (after.text, after.origins)
    (alone,) = infer(fold(model)).guards
    assert (alone.text, len(alone.origins)) == (before.text, 1)


def test_a_model_that_never_runs_is_left_to_refuse() -> None:
    model = model_of("(float[2] x) => (float[3] y) <int64[1] t = {3}> {r = Reshape(x, t) y = Neg(r)}")
    assert operators(fold(model)) == "Reshape Neg"


def test_an_unknown_operator_stays() -> None:
    model = model_of("(float[N] x) => (float[N] y) {e = acme.Log(x) y = Neg(x)}", HEAD[:-2] + ', "acme": 1]>')
    assert operators(fold(model)) == "Log Neg"


def test_a_dead_loop_of_sizes_goes_with_what_it_read() -> None:
    text = """(float[N, S] x) => (float[N, S] y) <int64[1] zero = {0}>
        {s = Shape(x) p = ReduceProd<keepdims=0>(s) n = Gather(s, zero) c = ConstantOfShape(s) y = Neg(x)}"""
    found = folded(text)
    assert operators(found) == "Neg"
    assert not found.graph.initializer
    compare(model_of(text), found, (0, 1, 2))


def test_the_number_of_an_iteration_as_an_index_stays() -> None:
    model = folded("""(float[L, 2] x, int64 n, float[1] z) => (float[1] y)
        {y = Loop<body = b (int64 i, bool go, float[1] s)
        => (c, t) {g = Gather(x, i) c = Identity(go) t = Neg(s)}>(n, , z)}""")
    (body,) = (attribute.g for node in model.graph.node for attribute in node.attribute if attribute.HasField("g"))
    assert [node.op_type for node in body.node] == ["Gather", "Identity", "Neg"]
