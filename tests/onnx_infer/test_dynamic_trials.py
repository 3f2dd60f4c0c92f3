"""`make_dynamic` follows every operator that has a rule, also those of onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from onnx_infer import make_dynamic

from .folding import lost_in_casts
from .sessions import session_of
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>'
CASES: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "a join of onnxruntime": ("y = com.microsoft.SkipLayerNormalization(x, skip, gamma)",
        {"skip": (2, 5, 8), "gamma": (8,)}),
    "a product of onnxruntime": ("y = com.microsoft.FusedMatMul(x, w)", {"w": (2, 8, 8)}),
    "back through a convolution": ("c = Conv(past, kernel) y = Concat<axis = 2>(x, c)",
        {"past": (2, 8, 7), "kernel": (5, 8, 3)}),
    "back through a product of two operands":
        ('c = Einsum<equation = "bi,bj->bji">(a, b) y = Add(x, c)', {"a": (2, 8), "b": (2, 5)}),
    "both states of an LSTM": ("t = Transpose<perm = [1, 0, 2]>(x) l, h, c = LSTM<hidden_size = 4>(t, w, r, , , h0, c0)"
        " y = Transpose<perm = [1, 0, 2]>(c)",
        {"w": (1, 16, 8), "r": (1, 16, 4), "h0": (1, 2, 4), "c0": (1, 2, 4)}),
    "an index as large as the data": ("i = Cast<to = 7>(c) y = GatherElements<axis = 2>(x, i)", {"c": (2, 5, 8)}),
    "back through an Unsqueeze": ("u = Unsqueeze(c, one) y = Concat<axis = 1>(x, u)", {"c": (2, 8)}),
    "back through a Squeeze": ("u = Squeeze(c, two) y = Add(x, u)", {"c": (2, 5, 1, 8)}),
    "back through a Flatten": ("f = Flatten<axis = 2>(c) r = Flatten<axis = 2>(x) a = Add(r, f) y = Reshape(a, whole)",
        {"c": (2, 5, 8, 1)}),
    "a Reshape of a constant": ("r = Reshape(c, whole) y = Add(x, r)", {"c": (2, 40)}),
    "a Reshape of a constant of other rows": ("r = Reshape(c, whole) y = Add(x, r)", {"c": (10, 8)}),
    "a Reshape that merges": ("q = Reshape(c, rows) r = Reshape(x, rows) a = Add(r, q) y = Reshape(a, whole)",
        {"c": (2, 5, 8)}),
    "back through a Concat": ("j = Concat<axis = -1>(c, d) y = Add(x, j)", {"c": (2, 5, 3), "d": (2, 5, 5)}),
    "back through a Slice": ("s = Slice(c, one, nine, two) y = Add(x, s)", {"c": (2, 5, 9)}),
    "the end of a Slice": ("s = Slice(c, zero, two, zero, one) y = Add(x, s)", {"c": (6, 5, 8)}),
    "the repeats of a Tile": ("t = Tile(c, batch) y = Add(x, t)", {"c": (1, 5, 8)}),
    "back through a Tile": ("t = Tile(c, last) y = Add(x, t)", {"c": (2, 5, 1)}),
    "the target of an Expand": ("t = Expand(c, whole) y = Add(x, t)", {"c": (1, 5, 8)}),
    "back through an Expand of a shorter target": ("t = Expand(c, plane) y = Add(x, t)", {"c": (2, 5, 8)}),
    "one of two that broadcast": ("t = Add(c, d) y = Add(x, t)", {"c": (2, 1, 8), "d": (5, 1)}),
    "a constant that is read twice": ("t = Add(c, c) y = Add(x, t)", {"c": (2, 5, 8)}),
    "back through an operator of onnxruntime": ("t = com.microsoft.Gelu(c) y = Add(x, t)", {"c": (2, 5, 8)}),
    "back through a Squeeze of a later axis": ("t = Transpose<perm = [1, 0, 2]>(x) u = Squeeze(c, two) a = Add(t, u)"
        " y = Transpose<perm = [1, 0, 2]>(a)", {"c": (5, 2, 1, 8)}),
    "an end as an int32": ("z = Slice(x, short_zero, short_two, short_zero) y = Add(x, z)", {}),
    "sizes of a Resize for named axes": ("r = Resize<axes = [0], mode = \"nearest\">(c, , , two) y = Add(x, r)",
        {"c": (1, 5, 8)}),
    "an end that is not known": ("k = Exp(c) m = Cast<to = 7>(k) s = Slice(x, zero, m, one) y = Concat<axis = 1>(x, s)",
        {"c": (1,)}),
    "the largest of each row": ("v, i = TopK(x, three) y = Concat<axis = 2>(x, v)", {}),
}  # fmt: skip
NUMBERS = """<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] nine = {9}, int64[2] rows = {10, 8},
    int64[3] whole = {2, 5, 8}, int64[2] plane = {5, 8}, int64[3] batch = {2, 1, 1}, int64[3] last = {1, 1, 8},
    int64[1] three = {3}, int64[2] ends = {1, 2}, int64[2] halves = {1, 1},
    int32[1] short_zero = {0}, int32[1] short_two = {2},
    int16 small_start = {0}, int16 small_end = {2}, int16 small_step = {1}, int8[2] small = {0, 1},
    int64 start = {1}, int64 end = {3}>"""


def traced(text: str, constants: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
    """A model whose constants are equal along each axis."""
    model = parsed(f"g (float[2, 5, 8] x) => (float[A, B, C] y) {NUMBERS} {{{text}}}", HEAD)
    for constant, shape in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.ones(shape, np.float32), constant))
    return model


@pytest.mark.parametrize("name", CASES)
def test_a_batch_becomes_free(name: str) -> None:
    model = traced(*CASES[name])
    made = make_dynamic(model, {"x": {0: "N"}}, apply=True)
    assert made.is_free, made.pins
    x = np.arange(240, dtype=np.float32).reshape(6, 5, 8)
    parts = [session_of(model).run(None, {"x": x[i : i + 2]})[0] for i in (0, 2, 4)]
    assert not lost_in_casts(made.model, model)
    whole: Any = session_of(made.model).run(None, {"x": x})[0]
    assert np.array_equal(whole, np.concatenate(parts))


def test_a_change_of_one_element_keeps_those_that_the_model_computes() -> None:
    model = parsed(
        """g (float[2, 5, 8] x) => (float[A, B, C] y)
        <int64[1] zero = {0}, int64[1] five = {5}, int64[1] eight = {8}, float[1, 1, 1] c = {3}> {
        sizes = Shape(x) batch = Gather(sizes, zero) target = Concat<axis = 0>(batch, five, eight)
        e = Expand(c, target) y = Add(x, e) }""",
        HEAD,
    )
    made = make_dynamic(model, {"x": {0: "N", 1: "S"}}, apply=True)
    assert [str(change) for change in made.changes] == ["Expand 'e': operand 'target': 5 at index 1 becomes S"]
    assert made.is_free, made.pins
    x = np.zeros((3, 7, 8), np.float32)
    assert session_of(made.model).run(None, {"x": x})[0].shape == x.shape


def test_the_end_of_an_axis_is_written_in_the_type_of_the_other_ends() -> None:
    model = parsed(
        """g (float[2, 5, 8] x) => (float[A, B, C] y) <int32[1] k = {2}, int32[1] e = {5}, int32[2] zeros = {0, 0},
        int64[1] i = {0}, int64[1] j = {1}> { s = Shape(x) c = Cast<to = 6>(s) n = Slice(c, i, j) d = Mul(n, k)
        ends = Concat<axis = 0>(d, e) y = Slice(x, zeros, ends) }""",
        HEAD,
    )
    made = make_dynamic(model, {"x": {0: "N", 1: "S"}}, apply=True)
    assert made.is_free, made.pins
    assert not lost_in_casts(made.model, model)
    x = np.zeros((3, 7, 8), np.float32)
    assert session_of(made.model).run(None, {"x": x})[0].shape == x.shape


def test_a_mask_keeps_numbers_that_float32_has_not() -> None:
    mask = np.where(np.tri(4, dtype=bool), np.uint32(0), np.uint32(2**32 - 1))
    nodes = "z = Identity(mask) f = Cast<to = 1>(z) g = Gemm<transB = 1>(x, x) y = Add(f, g)"
    model = parsed(f"g (float[4, 8] x) => (z, y) {{ {nodes} }}", HEAD)
    model.graph.initializer.append(numpy_helper.from_array(mask, "mask"))
    made = make_dynamic(model, {"x": {0: "N"}}, apply=True)
    assert made.is_free, made.pins
    (found, _) = session_of(made.model).run(None, {"x": np.zeros((5, 8), np.float32)})
    assert found.tolist() == np.where(np.tri(5, dtype=bool), 0, 2**32 - 1).tolist()


PINS: dict[str, tuple[str, dict[str, tuple[int, ...]], str]] = {
    "rows from the middle": ("s = Slice(c, one, three) y = Add(x, s)", {"c": (6, 5, 8)},
        "Slice 's': gives 2 at axis 0"),
    "every second row": ("s = Slice(c, zero, three, zero, two) y = Add(x, s)", {"c": (6, 5, 8)},
        "Slice 's': gives 2 at axis 0"),
    "constants one after the other": ("j = Concat<axis = 0>(c, d) y = Add(x, j)", {"c": (1, 5, 8), "d": (1, 5, 8)},
        "Concat 'j': gives 2 at axis 0"),
    "a Range from 1 on": ("r = Range(start, end, start) f = Cast<to = 1>(r) u = Unsqueeze(f, ends) y = Add(x, u)", {},
        "Range 'r': gives 2 at axis 0"),
    "a Range of small integers": ("r = Range(small_start, small_end, small_step) f = Cast<to = 1>(r)"
        " u = Unsqueeze(f, ends) y = Add(x, u)", {}, "cannot be written: the size N may be too large for int16"),
    "a count of small integers": ("f = Cast<to = 1>(small) u = Unsqueeze(f, ends) y = Add(x, u)", {},
        "constant 'small' of shape [2] has 2 at axis 0"),
    "a target that is not known": ("k = Sin(d) t = Cast<to = 7>(k) e = Expand(c, t) y = Add(x, e)",
        {"c": (2, 5, 8), "d": (3,)}, "Expand 'e': gives 2 at axis 0"),
    "a start that is not known": ("k = Sin(d) m = Cast<to = 7>(k) s = Slice(c, m, nine, one) y = Add(x, s)",
        {"c": (2, 9, 8), "d": (1,)}, "Slice 's': gives 2 at axis 0"),
    "branches": ("b = Cast<to = 9>(d) e = If<then_branch = t () => (u) {u = Neg(c)},"
        " else_branch = f () => (v) {v = Abs(c)}>(b) y = Add(x, e)", {"c": (2, 5, 8), "d": ()},
        "If 'e': gives 2 at axis 0"),
    "a node that does not run": ("j = Concat<axis = 0>(x, c) y = Neg(x)", {"c": (2, 5)},
        "Concat 'j': ranks of the inputs differ: 3 != 2"),
    "parts whose sizes are constants": ("a, b = Split<axis = 0>(x, halves) y = Concat<axis = 0>(b, a)", {},
        "Split 'a': the sum of split and the size to split; it runs only where N == 2"),
    "a Reshape of no elements": ("r = Reshape(c, whole) y = Add(x, r)", {"c": (2, 0, 8)},
        "Reshape 'r': gives 2 at axis 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", PINS)
def test_what_gives_the_traced_size_is_a_pin(name: str) -> None:
    text, constants, said = PINS[name]
    pins = [str(pin) for pin in make_dynamic(traced(text, constants), {"x": {0: "N"}}, apply=True).pins]
    assert any(said in pin for pin in pins), pins


def test_a_constant_whose_elements_are_not_at_hand_is_a_pin() -> None:
    model = traced("y = Add(x, c)", {"c": (2, 5, 8)})
    (tensor,) = (t for t in model.graph.initializer if t.name == "c")
    elsewhere = TensorProto(name="c", dims=[2, 5, 8], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    elsewhere.external_data.add(key="location", value="weights.bin")
    torn = TensorProto(name="c", dims=[2, 5, 8], data_type=TensorProto.FLOAT, raw_data=tensor.raw_data[:-4])
    for other in (elsewhere, torn):
        tensor.CopyFrom(other)
        (pin,) = make_dynamic(model, {"x": {0: "N"}}, apply=True).pins
        assert pin.why == "constant 'c' of shape [2, 5, 8] has 2 at axis 0"


TRIANGLE = np.tri(3, dtype=np.uint8)


@pytest.mark.parametrize(
    "array",
    [np.full((3, 3), "a", object), np.array(["b", "a"], object)[TRIANGLE], np.arange(3, dtype=np.uint8), TRIANGLE],
)
def test_a_model_that_is_met_again_is_freed_alike(array: Any) -> None:
    # a Constant that was read before is known by its bytes, but its tensor has the element type of the first time
    add = "y = StringConcat(x, c)" if array.dtype == object else "k = Cast<to = 1>(c) y = Add(x, k)"
    kind = "string" if array.dtype == object else "float"
    model = parsed(f"g ({kind}[3, 3] x) => ({kind}[A, B] y) {{ {add} }}", '<ir_version: 10, opset_import: ["": 20]>')
    tensor = numpy_helper.from_array(array, "c")
    model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["c"], value=tensor))
    freed = [make_dynamic(model, {"x": {0: "N", 1: "M"}}, apply=True) for _ in range(4)]
    said = {(made.is_free, *map(str, (*made.changes, *made.pins))) for made in freed}
    assert len(said) == 1
    assert freed[0].is_free == bool((array == array[0]).all() or array is TRIANGLE), said


def test_an_element_that_the_freed_model_does_not_tell() -> None:
    # The square root is not followed for a free size, so the target of the freed model is not known there.
    model = parsed(
        """g (float[2, 5, 8] x) => (float[A, B, C] y)
        <int64[1] zero = {0}, int64[1] five = {5}, int64[1] eight = {8}, float[1, 1, 1] c = {3}> {
        sizes = Shape(x) batch = Gather(sizes, zero) f = Cast<to = 1>(batch) q = Mul(f, f) r = Sqrt(q)
        b = Cast<to = 7>(r) target = Concat<axis = 0>(b, five, eight) e = Expand(c, target) y = Add(x, e) }""",
        HEAD,
    )
    made = make_dynamic(model, {"x": {0: "N", 1: "S"}}, apply=True, unfinished=True)
    assert [str(change) for change in made.changes] == ["Expand 'e': operand 'target': 5 at index 1 becomes S"]
    assert [str(pin) for pin in made.pins] == ["Add 'y': broadcast sizes; it runs only where N <= 2"]
    assert session_of(made.model).run(None, {"x": np.zeros((2, 7, 8), np.float32)})[0].shape == (2, 7, 8)


def test_a_mask_is_continued_to_sizes_that_only_the_target_has() -> None:
    model = parsed(
        """g (float[2, 3] x) => (y) <float[3, 3] mask = {0, -9, -9, 0, 0, -9, 0, 0, 0}> {
        s = Shape<start = 1>(x) target = Concat<axis = 0>(s, s) y = Expand(mask, target) }""",
        HEAD,
    )
    made = make_dynamic(model, {"x": {1: "S"}}, apply=True)
    assert ([change.kind for change in made.changes], made.is_free) == (["mask", "mask"], True)
    (mask,) = session_of(made.model).run(None, {"x": np.zeros((2, 5), np.float32)})
    assert (mask == np.where(np.tri(5, dtype=bool), 0, -9)).all()
