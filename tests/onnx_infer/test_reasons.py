"""Why something is unknown: where it begins, and what would tell it."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_infer import infer
from onnx_infer.results.reasons import Reason
from onnx_infer.values.text import MOST_CHARACTERS

HEAD = '<ir_version: 10, opset_import: ["": 20, "com.acme": 1, "com.microsoft": 1]>'


def parsed(graph: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"{HEAD} {graph}")


def reason(graph: str, name: str = "y") -> Reason:
    (found,) = infer(parsed(graph)).reasons[name]
    return found


# a graph, the kind of the reason of y, the node where it begins, what it names
REASONS = [
    ("g (float[N, M] x) => (y) { i = NonZero (x) y = Neg (i) }", "data", "i", ("NonZero",)),
    ("g (float[N] x, int64[2] s) => (y) { y = Reshape (x, s) }", "value", "y", ("s",)),
    (
        "g (float[N] x, int64 a, int64 b) => (y) { c = Add (a, b) z = Neg (c) y = Range (a, c, b) }",
        "value",
        "y",
        ("a", "b"),
    ),
    (
        "g (float[N] x) => (y) { i = ArgMax <axis = 0> (x) y = ConstantOfShape (i) }",
        "data",
        "i",
        ("ArgMax",),
    ),
    ("g (float[N] x) => (y) { f = com.acme.Foo (x) y = Neg (f) }", "no rule", "f", ("com.acme::Foo",)),
    ("g (float[N, 3] x, float[4, 5] w) => (y) { m = MatMul (x, w, x) y = Neg (m) }", "error", "m", ()),
    ("g (float[3] a, float[4] b) => (y) { m = Add (a, b) y = Neg (m) }", "error", "m", ()),
    ("g (float[] x) => (y) { n = Neg (x) y = Neg (n) }", "undeclared", "", ("x",)),
    ("g (float[N, H] x) => (y) { s = Squeeze (x) y = Neg (s) }", "assumption", "s", ("N >= 2", "H >= 2")),
    ("g (float[N, 4] x) => (y) { s = Squeeze (x) y = Neg (s) }", "assumption", "s", ("N >= 2",)),
    (
        """g (float[N, T, 8] x) => (y) {
            s = Shape <start = 1, end = 2> (x) one = Constant <value_ints = [1]> () c = Equal (s, one)
            f = If (c) < then_branch = a () => (t) { ax = Constant <value_ints = [1]> () t = Squeeze (x, ax) },
                else_branch = b () => (e) { e = Identity (x) }> y = Neg (f) }""",
        "assumption",
        "f",
        ("T >= 2",),
    ),
    (  # what an optional or a sequence holds is decided by the caller, as the elements of a tensor are
        """g (optional(float[N, C]) o, float[M, C] x) => (y) {
            h = OptionalHasElement (o)
            y = If (h) <then_branch = t () => (a) { e = OptionalGetElement (o) a = Concat <axis = 0> (e, x) },
                else_branch = f () => (b) { b = Identity (x) }> }""",
        "value",
        "y",
        ("o",),
    ),
    ("g (float[N] x, int64[M] k) => (y) { y = Expand (x, k) }", "value", "y", ("k",)),
    ("g (float[N] x, int64[M] k) => (y) { a = Abs (k) y = SplitToSequence (x, a) }", "value", "y", ("k",)),
    ("g (float[N] x, bool[M] c) => (y) { y = Compress (x, c) }", "value", "y", ("c",)),
    ("g (float[N, C] x, seq(float[R, C]) s) => (y) { t = SequenceInsert (s, x) y = ConcatFromSequence<axis=0> (t) }",
        "value", "y", ("s",)),
    ("g (float[N, C] x, seq(float[R, C]) s, int64 i) => (y) { t = SequenceInsert (s, x) y = SequenceAt (t, i) }",
        "value", "y", ("s", "i")),
    ("g (float[N] x, int64 k) => (y) { t = SplitToSequence (x, k) y = SequenceErase (t) }",
        "value", "y", ("k",)),
    ("g (float[N] x) => (y) { b = Greater (x, x) n = NonZero (b) t = SequenceConstruct (n, n) y = SequenceErase (t) }",
        "data", "n", ("NonZero",)),
    ("g (float[N, M] x) => (y) <int64 two = {2}> { t = SplitToSequence (x, two) y = SequenceInsert (t, x) }",
        "data", "y", ("SequenceInsert",)),
]  # fmt: skip


@pytest.mark.parametrize(("graph", "kind", "node", "names"), REASONS)
def test_what_is_unknown_names_what_decides_it(graph, kind, node, names):
    found = reason(graph)
    assert (found.kind, found.node, found.names) == (kind, node, names), found
    for name in names if kind == "no rule" else (*names, node):
        assert name in found.text


@pytest.mark.parametrize("graph", [case[0] for case in REASONS if case[1] == "assumption"])
def test_the_assumption_that_is_named_settles_it(graph):
    found = reason(graph)
    assert "y" not in infer(parsed(graph), assume=list(found.names)).reasons
    if len(found.names) > 1:
        assert "y" in infer(parsed(graph), assume=found.names[:1]).reasons


def test_a_graph_for_a_device_is_the_reason():
    assert "the graph is compiled" in reason("g (float[N] x) => (y) { y = com.microsoft.EPContext (x) }").text


def test_a_node_without_a_rank_says_whose_rank_it_needs():
    graph = "g (float[] x, float[C] s) => (y) { y = InstanceNormalization (x, s, s) }"
    assert infer(parsed(graph)).notes == {"y": "the rank of X is not known"}


def test_an_unknown_rank_names_inference_in_both_directions():
    assert "bidirectional=True" in reason("g (float[] x) => (y) { y = Neg (x) }").text


def test_of_several_sizes_each_has_its_reason():
    result = infer(parsed("g (float[N] x, int64[1] k) => (y) { i = NonZero (x) v, w = TopK (x, k) y = Mul (i, v) }"))
    assert {name: [r.kind for r in found] for name, found in result.reasons.items()} == {
        "i": ["data"],
        "v": ["value"],
        "w": ["value"],
        "y": ["value", "data"],
    }


def test_sequences_with_other_elements_have_other_reasons():
    graph = """g (float[N, C] x, seq(float[R, C]) s) => (y, z, w) <int64 two = {2}> {
        y = SplitToSequence (x, two) z = SequenceInsert (s, x) w = SequenceErase (z) }"""
    found = infer(parsed(graph)).reasons
    assert {name: [(r.kind, r.node) for r in told] for name, told in found.items()} == {
        "z": [("value", "z")],
        "w": [("value", "w")],
    }


def test_a_sequence_of_which_each_element_is_known_has_no_reason():
    assert infer(parsed("g (float[N] x, float[M] z) => (y) { y = SequenceConstruct (x, z) }")).reasons == {}


def test_what_is_known_has_no_reason():
    assert infer(parsed("g (float[N] x, float[M] z) => (y) { y = Add (x, z) }")).reasons == {}


def test_the_text_says_which_element_is_a_size_and_by_which_input() -> None:
    found = reason("g (float[N, C] x, int64[1] k) => (y, z) { y, z = TopK (x, k) }")
    assert found.text == "TopK 'y': K is k[0]; the value of input 'k' decides"


def test_nothing_of_an_empty_sequence_is_unknown() -> None:
    assert not infer(parsed("g () => (y) { y = SequenceEmpty () }")).reasons


def test_a_size_that_is_declared_without_a_number_at_a_node_without_a_rule() -> None:
    assert (
        reason("g (float[N] x) => (float[?] y) { y = com.acme.Foo (x) }").text == "unsupported operator com.acme::Foo"
    )


LONG = [f"a_rather_long_name_of_a_size_{i}" for i in range(60)]
SIZES, PARTS = ", ".join(f"float[{n}, 3] {n}" for n in LONG), ", ".join(LONG)


@pytest.mark.parametrize(
    "graph",
    [
        f"g ({SIZES}, float[7, 4] w) => (y) {{ c = Concat<axis = 0>({PARTS}) t = Transpose(c) y = MatMul(t, w) }}",
        f"g ({SIZES}) => (y) <float['{' + '.join(LONG)} + 1', 3] c> {{ c = Concat<axis = 0>({PARTS}) y = Neg(c) }}",
        f"g ({', '.join(f'int64[1] {n}' for n in LONG)}, float[N] x) => (y)"
        f" {{ c = Concat<axis = 0>({PARTS}) y = Reshape(x, c) }}",
        f"g (float[N] x) => (y) {{ z = com.acme.{'F' * 5000} (x) y = Neg(z) }}",
        f"g (float[N] x) => (y) {{ {'z' * 5000} = NonZero (x) y = Neg ({'z' * 5000}) }}",
    ],
)
def test_no_text_is_longer_than_some_hundred_characters(graph: str) -> None:
    result = infer(parsed(graph.replace("'", '"')))
    told = [d.message for d in result.diagnostics] + list(result.notes.values())
    told += [each.text for found in result.reasons.values() for each in found]
    told += [line for d in result.diagnostics for line in str(d).splitlines()]
    assert told
    assert max(map(len, told)) <= MOST_CHARACTERS + len("  inputs: ")
    assert "more characters) ..." in max(told, key=len)
