"""Two results side by side: what differs, and what only has other names."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_infer import infer
from onnx_infer.tools.comparison.comparison import Comparison, compare

HEAD = '<ir_version: 10, opset_import: ["": 20]> '
TEXT = """g (float[N, H] x, float[M, 4] w) => (y, k) {
    a = MatMul(x, w) b = Relu(a) y = Add(b, b) k = NonZero(b) }"""


def compared(first: str, second: str) -> Comparison:
    return compare(*(infer(onnx.parser.parse_model(HEAD + text)) for text in (first, second)))


@pytest.mark.parametrize(
    "second",
    [
        TEXT,
        TEXT.replace("N, H", "batch, width").replace("M, 4", "rows, 4"),
        TEXT.replace("a =", "t1 =").replace("(a)", "(t1)").replace("(b)", "(t2)").replace("b =", "t2 =").replace(
            "(b, b)", "(t2, t2)"
        ),
        TEXT.replace("x", "image").replace("y", "logits").replace("k", "indices"),
    ],
    ids=["same", "symbols", "inner names", "ends"],
)  # fmt: skip
def test_names_make_no_difference(second: str) -> None:
    found = compared(TEXT, second)
    assert found.is_equal, found


def test_exchanged_symbols_are_renamed_at_once() -> None:
    found = compared(TEXT, TEXT.replace("N, H", "H, N"))
    assert found.symbols == {"H": "N", "N": "H"}
    assert found.is_equal


def test_equal_sizes_of_other_form_are_equal() -> None:
    chunks = "g (float[N] x) => (y) <int64[2] s = {-1, %s}> { y = Reshape(x, s) }"
    assert not compared(chunks % 2, chunks % 4).is_equal
    pooled = "g (float[1, 1, N] x) => (y) { y = MaxPool<kernel_shape=[%d], strides=[2], pads=[0, %d]>(x) }"
    assert not compared(pooled % (2, 0), pooled % (2, 1)).is_equal


def test_what_differs_is_told() -> None:
    second = (
        TEXT.replace("N, H", "N, 3")
        .replace("Relu(a)", "Sigmoid(a)")
        .replace("y = Add(b, b)", "c = Add(b, b) y = Neg(c)")
    )
    found = compared(TEXT, second)
    assert [(d.first, str(d.first_type), str(d.second_type)) for d in found.inputs] == [("x", "f32[N, H]", "f32[N, 3]")]
    assert (found.outputs, found.values) == ([], [])
    assert [tuple(count) for count in found.operators] == [("Neg", 0, 1), ("Relu", 1, 0), ("Sigmoid", 0, 1)]
    assert (found.only_first, found.only_second) == ([], ["c"])
    assert [str(g) for g in found.guards_first], [str(g) for g in found.guards_second] == (["H == M"], ["M == 3"])


def test_sequences_of_other_elements_differ() -> None:
    text = "g (float[N, %s] x) => (y) { s = SequenceConstruct(x, x) y = SplitToSequence<axis = 0>(x) }"
    assert compared(text % 3, text % 3).is_equal
    found = compared(text % 3, text % 4)
    assert [(d.first, d.second) for d in found.outputs] == [("y", "y")]
    assert str(found.outputs[0].first_type) != str(found.outputs[0].second_type)


def test_equal_structures_are_matched_in_order() -> None:
    text = "g (float[N] x) => (y) { a = Relu(x) b = Relu(x) c = Neg(b) y = Add(a, c) }"
    other = text.replace("a ", "p ").replace("(a", "(p").replace("b ", "q ").replace("(b)", "(q)")
    assert compared(text, other).is_equal
    assert compared(text, other.replace("Relu(x) q", "Abs(x) q")).only_first == ["b"]


def test_a_missing_output_and_another_rank() -> None:
    found = compared(TEXT, TEXT.replace("(y, k)", "(y)").replace("float[N, H]", "float[2, N, H]"))
    assert [(d.first, d.second, d.second_type) for d in found.outputs][1:] == [("k", None, None)]
    assert [str(d.second_type) for d in found.outputs][:1] == ["f32[2, N, 4]"]
