"""Scan and SequenceMap in models."""

from __future__ import annotations

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from onnx_infer import InferenceResult, fold, infer

from .sessions import check_guards, run, session_of, shape_at
from .texts import messages, parsed, types

OPSET_8 = '<ir_version: 3, opset_import: ["": 8]>'


def inferred(text: str) -> InferenceResult:
    return infer(parsed(text))


# -- Scan -------------------------------------------------------------------------------------------------------------


def scan(attributes: str, state: str, item: str, body: str = "s1 = Add(s, i) o = Concat<axis=0>(s, i)") -> str:
    return f"""g (float[{state}] h, float[{item}] x) => (y, z) {{
        y, z = Scan<num_scan_inputs=1{attributes}, body = b (float[] s, float[] i) => (s1, o) {{ {body} }}>(h, x) }}"""


@pytest.mark.parametrize(
    ("attributes", "state", "item", "final", "stacked"),
    [
        ("", "N, 4", "T, N, 4", "f32[N, 4]", "f32[T, 2*N, 4]"),
        (", scan_input_axes=[1]", "N, 4", "N, T, 4", "f32[N, 4]", "f32[T, 2*N, 4]"),
        (", scan_input_axes=[-1]", "N, 4", "N, 4, T", "f32[N, 4]", "f32[T, 2*N, 4]"),
        (", scan_output_axes=[1]", "N, 4", "T, N, 4", "f32[N, 4]", "f32[2*N, T, 4]"),
        (", scan_output_axes=[-1]", "N, 4", "T, N, 4", "f32[N, 4]", "f32[2*N, 4, T]"),
        (", scan_input_directions=[1], scan_output_directions=[1]", "N", "T, N", "f32[N]", "f32[T, 2*N]"),
    ],
)
def test_axes_of_scan(attributes: str, state: str, item: str, final: str, stacked: str) -> None:
    assert types(parsed(scan(attributes, state, item)), "y", "z") == [final, stacked]


def test_a_state_that_only_the_data_decide_stays_open_in_a_loop() -> None:
    """A Scan with one iteration may change its state, and no guard of the Loop's body would tell that it does not."""
    model = parsed("""g (float[N] x, float[T, K] items, int64 m, bool[C] c) => (y) <bool yes = {1}> {
        y = Loop (m, yes, x) <body = b (int64 i, bool go, float[A] v) => (bool on, float[B] w) {
            on = Identity (go)
            w, o = Scan <num_scan_inputs = 1, body = s (float[D] a, float[K] e) => (float[E] z, float[K] o1) {
                z = Compress (a, c)  o1 = Identity (e) }> (v, items) }> }""")
    found = infer(model)
    assert found.shapes["y"] != infer(model).shapes["x"]
    feeds = {"x": np.ones(3, np.float32), "items": np.ones((1, 2), np.float32), "m": np.array(1)}
    (y,) = ReferenceEvaluator(model).run(None, {**feeds, "c": np.array([True, False, True])})  # onnxruntime refuses it
    assert y.shape == (2,)


def test_the_state_of_a_scan_keeps_its_shape() -> None:
    # what the initial value and the body say of it holds together; a size of the body that it equals is known then
    body = "s1 = Slice(i, k, n) o = Neg(s) k = Constant<value_ints=[0]>() n = Cast<to=7>(m) m = ReduceSum(i)"
    assert types(parsed(scan("", "N", "T, M", body)), "y", "z") == ["f32[N]", "f32[T, N]"]
    result = inferred(scan("", "2", "2, 3", "s1 = Identity(i) o = Neg(s)"))
    assert messages(result) == ["shapes of state 0 at axis 0 differ: 2 != 3"]
    result = inferred(scan("", "2", "2, 3", "s1 = Cast<to=7>(s) o = Neg(s)"))
    assert messages(result) == ["the element types of state 0 differ: f32 != i64"]


@pytest.mark.parametrize(
    ("new_state", "min_dim", "final", "stacked", "guards"),
    [
        ("Neg(w)", 1, "f32[2, 8]", "f32[T, S + 4, 8]", ["T == 1"]),
        ("Neg(w)", 0, "f32[S*max(T, 1) - S*T - 2*min(T, 1) + 4, 8]", "f32[T, S + 4, 8]", ["T <= 1"]),
        ("Reshape(w, flat)", 1, "f32[16]", "f32[T, S + 4, 8]", ["T == 1"]),
        ("Reshape(w, flat)", 0, "f32[...]", "f32[T, S + 4, 8]", ["T <= 1"]),
        ("Neg(s)", 1, "f32[S + 4, 8]", "f32[T, S + 4, 8]", []),
    ],
)
def test_a_state_whose_shape_the_first_iteration_changes(
    new_state: str, min_dim: int, final: str, stacked: str, guards: list[str]
) -> None:
    """There is no second iteration. onnxruntime makes the first one if it does not see the other shape before."""
    text = f"""g (float[S, 8] h, float[T] x, float[2, 8] w) => (y, z) {{ flat = Constant<value_ints=[-1]>()
        grown = Concat<axis=0>(h, w, w) y, z = Scan<num_scan_inputs=1,
        body = b (float[u, v] s, float i) => (t, o) {{ t = {new_state} o = Neg(s) }}>(grown, x) }}"""
    result = infer(parsed(text), min_dim=min_dim)
    assert "error" not in [d.severity for d in result.diagnostics]
    assert (str(result.types["y"]), str(result.types["z"])) == (final, stacked)
    assert [(str(g), g.kind) for g in result.guards] == [(guard, "required") for guard in guards]
    if "Reshape" in new_state:
        return  # a rank that onnxruntime sees
    session = session_of(parsed(text))
    for turns in (1, 2):
        feeds = {"h": np.ones((3, 8)), "x": np.ones(turns), "w": np.ones((2, 8))}
        outputs = run(session, {name: array.astype(np.float32) for name, array in feeds.items()})
        assert (outputs is None) is bool(result.check({"S": 3, "T": turns}))
        for name, output in zip("yz", outputs or (), strict=False):
            assert shape_at(result, name, {"S": 3, "T": turns}) == output.shape


def test_a_scan_of_one_iteration_may_change_its_state() -> None:
    result = inferred(scan("", "2", "1, 3", "s1 = Identity(i) o = Neg(s)"))
    assert (messages(result), str(result.types["y"]), str(result.types["z"])) == ([], "f32[3]", "f32[1, 2]")


@pytest.mark.parametrize(("length", "kind"), [("1", "assumed"), ("T", "assumed"), ("2", "required")])
def test_only_a_second_iteration_refuses_another_shape_of_the_state(length: str, kind: str) -> None:
    text = f"""g (float[S, 8] h, float[{length}] x, float[1, 8] w) => (y) {{
        y = Scan<num_scan_inputs=1, body = b (float[u, 8] s, float i) => (s1) {{ s1 = Identity(w) }}>(h, x) }}"""
    guards = infer(parsed(text)).guards
    assert [(str(guard), guard.kind) for guard in guards] == [("S == 1", kind)]


@pytest.mark.parametrize("state", ["Identity(w)", "Concat<axis=0>(h, w)", "Neg(grown)"])
def test_a_scan_whose_state_changes_its_shape_ends_without_assumptions(state: str) -> None:
    text = f"""g (float[S, 8] h, float[T] x, float[K, 8] w) => (y) {{ y = Scan<num_scan_inputs=1,
        body = b (float[u, 8] s, float i) => (s1) {{ grown = Concat<axis=0>(s, w) s1 = {state} }}>(h, x) }}"""
    assert [node.op_type for node in fold(parsed(text)).graph.node] == ["Scan"]


def test_scanned_inputs_have_one_length() -> None:
    text = """g (float[T, 2] x, float[L, 3] w) => (y) {
        y = Scan<num_scan_inputs = 2, body = b (float[2] i, float[3] j) => (o) { o = Concat<axis=0>(i, j) }>(x, w) }"""
    result = inferred(text)
    assert str(result.types["y"]) == "f32[T, 5]"
    assert [str(fact) for fact in result.guards] == ["T == L"]
    wrong = inferred(text.replace("T, 2", "4, 2").replace("L, 3", "5, 3"))
    assert messages(wrong) == ["the lengths of the scanned inputs differ: 4 != 5"]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (", scan_input_axes=[2]", "axis 2 is out of range for rank 2"),
        (", scan_input_axes=[0, 1]", "the number of scan_input_axes is not that of the values: 2 != 1"),
        (", scan_output_axes=[3]", "axis 3 is out of range for rank 2"),
        (", scan_output_directions=[0, 0]", "the number of scan_output_directions is not that of the values: 2 != 1"),
    ],
)
def test_malformed_scans(attributes: str, message: str) -> None:
    assert messages(inferred(scan(attributes, "N", "T, N"))) == [message]


def test_a_scan_of_more_inputs_than_the_node_has() -> None:
    text = "g (float[T] x) => (y) { y = Scan<num_scan_inputs=2, body = b (i, j) => (o) { o = Neg(i) }>(x) }"
    assert messages(inferred(text)) == ["num_scan_inputs is out of range: 2"]


@pytest.mark.parametrize(
    ("inputs", "new_state", "final", "stacked"),
    [
        ("h, float[T, 2] x", "Identity(s)", "?[...]", "f32[T, 2]"),
        ("float[3] h, x", "Identity(s)", "f32[3]", "?[...]"),
        ("float[N] h, float[T, 2] x, int64[K] k", "Reshape(s, k)", "f32[N]", "f32[T, 2]"),
        ("seq(float[N]) h, float[T, 2] x", "Identity(s)", "seq(f32[N])", "f32[T, 2]"),
        ("float[3] h, seq(float[N]) x", "Identity(s)", "f32[3]", "f32[...]"),
    ],
)
def test_scans_of_what_is_not_known(inputs: str, new_state: str, final: str, stacked: str) -> None:
    result = inferred(
        f"""g ({inputs}) => (y, z) {{ y, z = Scan<num_scan_inputs=1, body = b (s, i) => (s1, o) {{
            s1 = {new_state} o = Neg(i) }}>(h, x) }}"""
    )
    assert "defect" not in {d.severity for d in result.diagnostics}
    assert (str(result.types["y"]), str(result.types["z"])) == (final, stacked)


def test_scan_with_batches() -> None:
    text = """g (float[B, H] h, float[B, T, K] x) => (y, z) {
        y, z = Scan<num_scan_inputs = 1, body = b (float[u] s, float[v] i) => (s1, o) {
            s1 = Neg(s) o = Concat<axis=0>(s, i) }>("", h, x) }"""
    assert types(parsed(text, OPSET_8), "y", "z") == ["f32[B, H]", "f32[B, T, H + K]"]


@pytest.mark.parametrize("length", ["1", "T"])
def test_the_first_iteration_of_a_scan_with_batches_refuses_another_shape_of_the_state(length: str) -> None:
    text = f"""g (float[B, H] h, float[B, {length}, K] x) => (y, z) {{
        y, z = Scan<num_scan_inputs = 1, body = b (float[u] s, float[v] i) => (s1, o) {{
            s1 = Neg(i) o = Neg(s) }}>("", h, x) }}"""
    model = parsed(text, OPSET_8)
    result = infer(model)
    assert [(str(guard), guard.kind) for guard in result.guards] == [("H == K", "required")]
    check_guards(model, result, [1, 2])


# -- SequenceMap ------------------------------------------------------------------------------------------------------


def sequence_map(sequence: str, body: str, more: str = "", formal: str = "") -> list[str]:
    text = f"""g (float[N, 2] x, float[M, 2] w, seq(float[K, 2]) q, float[N, T] t) => (y) {{ s = {sequence}
        y = SequenceMap(s{more}) <body = b (float[u, v] e{formal}) => (o) {{ {body} }}> }}"""
    return types(parsed(text), "y")


@pytest.mark.parametrize(
    ("sequence", "body", "expected"),
    [
        ("SequenceConstruct(x, x)", "o = Concat<axis=0>(e, e)", "seq(f32[2*N, 2]; 2)"),
        ("SequenceConstruct(x, w)", "o = Concat<axis=0>(e, e)", "seq(f32[2*N, 2], f32[2*M, 2])"),
        ("SequenceConstruct(x, w)", "o = NonZero(e)", "seq(i64[2, _d0], i64[2, _d1])"),
        ("Identity(q)", "o = Concat<axis=0>(e, e)", "seq(f32[2*K, 2])"),
        ("Identity(q)", "o = NonZero(e)", "seq(i64[2, ?])"),
        ("SplitToSequence<axis=0>(t)", "o = Transpose(e)", "seq(f32[T, 1]; N)"),
        # what a body declares may be true of one element only
        ("SequenceEmpty()", "o = Identity(e)", "seq(f32[...]; 0)"),
    ],
)
def test_elements_of_a_mapped_sequence(sequence: str, body: str, expected: str) -> None:
    (found,) = sequence_map(sequence, body)
    assert found == expected


def test_a_sequence_beside_one_of_unknown_length() -> None:
    text = """g (seq(float[N]) s, float[M] x) => (y) { e = SequenceConstruct(x)
        y = SequenceMap(s, e) <body = b (float[] u, float[] v) => (o) { o = Concat<axis=0>(u, v) }> }"""
    result = infer(parsed(text))
    assert str(result.types["y"]) == "seq(f32[M + N])"
    assert result.diagnostics == []


def test_other_inputs_of_a_sequence_map() -> None:
    body = "o = Concat<axis=0>(e, f)"
    assert sequence_map("SequenceConstruct(x, w)", body, ", x", ", float[p, r] f") == [
        "seq(f32[2*N, 2], f32[M + N, 2])"
    ]
    assert sequence_map("SequenceConstruct(x, w)", body, ", s", ", float[p, r] f") == ["seq(f32[2*N, 2], f32[2*M, 2])"]
    # one sequence has as many elements as the other
    assert sequence_map("SequenceConstruct(x, w)", "o = Neg(f)", ", q", ", float[p, r] f") == ["seq(f32[K, 2]; 2)"]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ("x", ["the length of a sequence beside the input is too small: 1 < 2"]),
        ("x, x", []),
        ("x, x, w", []),  # the function body of the specification takes the first two
    ],
)
def test_sequences_of_other_lengths(others: str, expected: list[str]) -> None:
    model = parsed(f"""g (float[N, 2] x, float[M, 3] w) => (float[N, 2] z) {{
        s = SequenceConstruct(x, x) t = SequenceConstruct({others}) at = Constant<value_int=1>()
        y = SequenceMap(s, t) <body = b (float[u, v] e, float[p, r] f) => (float[a, c] o) {{ o = Add(e, f) }}>
        z = SequenceAt(y, at) }}""")
    result = infer(model)
    assert messages(result) == expected
    assert str(result.types["y"]) == "seq(f32[N, 2]; 2)"
    outputs = run(session_of(model), {"x": np.ones((2, 2), np.float32), "w": np.ones((2, 3), np.float32)})
    assert (outputs is None) == bool(expected)


def test_a_sequence_of_symbolic_length_beside_one_of_known_length() -> None:
    text = """g (float[N] x, float[K] w, float[L, 7] z, int64[M] k) => (y) {
        s = SequenceConstruct(x, w) t = SplitToSequence<axis=0>(z, k)
        y = SequenceMap(s, t) <body = b (float[u] e, float[p, r] f) => (o) { o = Concat<axis=0>(e, e) }> }"""
    result = inferred(text)
    assert (messages(result), [str(g) for g in result.guards]) == ([], ["M >= 2"])
    assert str(result.types["y"]) == "seq(f32[2*N], f32[2*K])"


def test_an_element_of_what_may_be_a_sequence() -> None:
    result = inferred(
        "g (float[N] x, int64 i) => (y, n) { s = com.acme.Parts(x) y = SequenceAt(s, i) n = SequenceLength(s) }"
    )
    assert [str(result.types[name]) for name in ("y", "n")] == ["?[...]", "i64[]"]
    assert messages(result) == [
        "unsupported operator; add a rule with @onnx_infer.rules.op or --import MODULE (docs/plugins.md)"
    ]
