"""`fold` and graphs inside graphs: Ifs that are decided, bodies of Loops, names that clash, functions."""

from __future__ import annotations

import onnx
import pytest

from onnx_infer import fold
from onnx_infer.tools.nodes_of_sizes import unused_name
from onnx_infer.tools.transforms.draft import count_nodes, graphs_of

from .folding import compare, folded, model_of, operators

RANK = """(float[N, 1, 8] x) => (float[A, B] y) <int64 one = {1}, int64[1] axis = {1}, int64[2] t = {-1, 8}> {
    s = Shape(x) d = Gather(s, one) c = Equal(d, one)
    r = If (c) <then_branch = a () => (p) {p = Squeeze(x, axis)}, else_branch = b () => (q) {q = Reshape(x, t)}>
    y = Neg(r)}"""


def test_a_decided_if_becomes_its_branch() -> None:
    assert operators(folded(RANK)) == "Squeeze Neg"
    assert operators(folded(RANK.replace("one = {1}", "one = {2}"))) == "Reshape Neg"


def test_an_if_that_sizes_decide_stays() -> None:
    text = """(float[N] x) => (float[N] y) <int64 zero = {0}, int64 two = {2}> {
        s = Shape(x) d = Gather(s, zero) c = Greater(d, two)
        y = If (c) <then_branch = a () => (p) {p = Neg(x)}, else_branch = b () => (q) {q = Abs(x)}>}"""
    assert operators(folded(text)) == "Shape Gather Greater If"


def test_an_if_that_refuses_one_side_stays() -> None:
    """The first branch fails in every run, so N is 1 where the second is taken: the If is what says so."""
    text = """(float[N] x) => (float[3] y) <int64 zero = {0}, int64 one = {1}, int64[1] three = {3}, float[2] w =
        {1, 2}> {
        s = Shape(x) d = Gather(s, zero) c = Equal(d, one)
        r = If (c) <then_branch = a () => (p) {p = Expand(x, three)}, else_branch = b () => (q) {q = Reshape(w, three)}>
        y = Neg(r)}"""
    assert "If" in operators(folded(text))


def test_names_of_a_branch_clash_with_none() -> None:
    text = """(float[N] x) => (float[N] y, float[N] z) <bool yes = {1}> {
        y = If (yes) <then_branch = a () => (r) {v = Neg(x) r = Abs(v)},
                      else_branch = b () => (r) {v = Abs(x) r = Neg(v)}>
        v = Exp(x)
        w = Neg(v)
        z = If (yes) <then_branch = a () => (r) {u = Neg(w) r = Abs(u)}, else_branch = b () => (r) {u = Abs(x)
            r = Neg(u)}>}"""
    assert operators(folded(text)) == "Neg Abs Exp Neg Neg Abs"


def test_an_if_within_a_branch_and_its_constants() -> None:
    text = """(float[N] x, bool c) => (float[N] y) <bool yes = {1}, int64 zero = {0}> {
        y = If (c) <then_branch = a () => (r) {
            k = Constant<value_float = 2.0>()
            v = If (yes) <then_branch = d () => (o) {e = Constant<value_float = 3.0>() o = Mul(x, e)},
                          else_branch = f () => (o) {o = Abs(x)}>
            r = Mul(v, k)}, else_branch = b () => (r) {i = Identity(x) r = Neg(i)}>}"""
    found = folded(text)
    inner = [operators_of(graph) for graph in graphs_of(found.graph)]
    assert inner == ["If", "Mul Mul", "Neg"]


def operators_of(graph: onnx.GraphProto) -> str:
    return " ".join(node.op_type for node in graph.node)


def test_the_branch_gives_a_value_from_outside_or_a_constant() -> None:
    text = """(float[N] x) => (float[N] y, float[1] z) <bool no = {0}> {
        y = If (no) <then_branch = a () => (p) {p = Neg(x)}, else_branch = b () => (q) {q = Identity(x)}>
        z = If (no) <then_branch = c () => (p) {p = Constant<value_floats = [1.0]>()},
                     else_branch = d () => (q) {q = Constant<value_floats = [2.0]>()}>}"""
    assert operators(folded(text)) == "Identity Identity"


LOOP = """(float[N, 4] x, float[4] w) => (float[N, 4] y) <int64 count = {3}, bool go = {1}> {
    y = Loop (count, go, x) <body = b (int64 i, bool c, float[N, 4] v) => (o, r) {
        o = Identity(c)
        s = Shape(w)
        t = Add(s, s)
        h = Sub(t, s)
        e = Expand(w, h)
        a = Add(v, e)
        d = Add(v, e)
        r = Mul(a, d)}>}"""


def test_the_body_of_a_loop() -> None:
    found = folded(LOOP)
    assert [operators_of(graph) for graph in graphs_of(found.graph)] == ["Loop", "Identity Add Mul"]


def test_a_size_that_changes_in_a_loop_is_no_constant() -> None:
    text = """(float[N] x) => (int64 y) <int64 count = {3}, bool go = {1}, int64 first = {1}> {
        y = Loop (count, go, first) <body = b (int64 i, bool c, int64 v) => (o, r) {
            o = Identity(c) r = Add(v, v)}>}"""
    assert [operators_of(graph) for graph in graphs_of(folded(text).graph)] == ["Loop", "Identity Add"]


def test_a_refusal_in_a_branch_stays() -> None:
    text = """(float[H, W] x, bool c) => (float[H, W] y) <int64[2] t = {2, 3}, int64[2] u = {0, -1}> {
        y = If (c) <then_branch = a () => (p) {r = Reshape(x, t) p = Neg(x)},
                    else_branch = b () => (q) {s = Shape(x) r = Reshape(x, s) q = Abs(r)}>}"""
    found = folded(text)
    assert [operators_of(graph) for graph in graphs_of(found.graph)] == ["If", "Reshape Neg", "Abs"]


def test_a_reshape_in_a_body_refuses_other_numbers_of_elements() -> None:
    """The size L in the target may be 0 without assumptions, so only the rule that assumes it is not states the law."""
    text = """(float[L, 4] x, float[K, M] w) => (float[A, B] y, int64[C] z) {
        n = Shape(x) y, z = Scan <num_scan_inputs = 1, body = b (float[u, v] s, int64 i) => (t, o) {
            r = Reshape(w, n) t = Identity(s) o = Identity(i)}> (x, n)}"""
    assert [operators_of(graph) for graph in graphs_of(folded(text).graph)][1] == "Reshape Identity Identity"


@pytest.mark.parametrize("length", ["1", "T", "2"])
def test_a_reshape_of_the_state_of_a_scan_stays(length: str) -> None:
    """One iteration may change the state, and a second one refuses what the Reshape makes: nothing without it."""
    text = f"""(float[K, 4] x, int64[{length}] i) => (float[A, 4] y, int64[B] z) <int64[2] two = {{2, 4}}> {{
        y, z = Scan <num_scan_inputs = 1, body = b (float[u, v] s, int64 e) => (t, o) {{
            r = Reshape(s, two) t = Identity(r) o = Identity(e)}}> (x, i)}}"""
    assert [operators_of(graph) for graph in graphs_of(folded(text).graph)][1] == "Reshape Identity"


def test_a_size_that_a_later_node_demands_is_no_constant_before() -> None:
    text = """(float[N] x) => (float[A, 3] y) <int64[1] one = {1}, int64[1] two = {2}, int64[1] zero = {0},
        int64[1] three = {3}, float[3] w = {1, 2, 3}> {
        i = NonZero(x) n = Shape<start=1>(i) t = Concat<axis=0>(n, three) y = Reshape(w, t)}"""
    assert operators(folded(text)) == "NonZero Shape Concat Reshape"


@pytest.mark.parametrize("keep_guards", [False, True])
def test_nodes_out_of_order_are_sorted_by_no_one(keep_guards: bool) -> None:
    model = model_of("(float[N, 4] x) => (float[N, 4] y) {y = Reshape(x, s) s = Shape(x)}")
    found = fold(model, keep_guards=keep_guards)
    assert count_nodes(found) <= count_nodes(model)
    compare(model, found, (0, 1, 3))


def test_a_body_that_inference_repeats_folds_as_at_first() -> None:
    """A record of a body that is repeated has only the names of its constants."""
    model = model_of("""(float[N] x, int64[K] p) => (int64[M] y) <int64 turns = {2}, bool go = {1}> {
        y = Loop(turns, go, p) <body = b (int64 i, bool c, int64[] h) => (bool[] d, int64[] k) {
            u, w = Loop(i, c, x, x) <body = e (int64 j, bool f, float[] a, float[] q) =>
                (bool[] g, float[] r, float[] s) {
                g = Identity(f) half = Constant<value = float {0.5}>() s = Identity(half) r = Identity(a)
            }>
            d = Identity(c) t = Concat<axis=0>(p, h) k = Identity(t)
        }>}""")
    first = fold(model)
    assert fold(model) == first


def test_numbers_of_new_names_are_tried_once() -> None:
    """With the numbers tried so far, the names are those that a search from 1 finds."""
    used, again = {"a", "a_2", "b"}, {"a", "a_2", "b"}
    tried: dict[str, int] = {}
    bases = ["a", "b", "a", "c", "a", "c", "b"]
    assert [unused_name(x, used, tried) for x in bases] == [unused_name(x, again) for x in bases]
    assert tried == {"a": 4, "b": 2, "c": 1}


@pytest.mark.parametrize("bound", [2, 9])
def test_a_condition_that_is_one_of_two_ranks_is_no_constant(bound: int) -> None:
    """N == 1 decides the rank of v, and whether its element is below 2. It is always below 9: only the rank is open."""
    model = model_of(
        f"""(float[N, 4] x) => (bool[?] y) <int64 one = {{1}}, int64 two = {{2}}, int64 bound = {{{bound}}}> {{
        n = Shape<end=1>(x) is_one = Equal(n, one)
        v = If(is_one) <then_branch = a () => (p) {{ p = Identity(two) }},
                        else_branch = b () => (q) {{ q = Shape(n) }}>
        y = Less(v, bound) }}"""
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    found = fold(model)
    assert operators(found) == "Shape Equal If Less"
    compare(model, found, (0, 1, 2, 3))
