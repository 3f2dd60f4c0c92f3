"""Every "free" is true: sizes as data are changed; pins in bodies, and numbers that a trace may have left, are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnx_infer import Dynamic, make_dynamic
from onnx_infer.rules import Ints, SymTensor, op

from .sessions import session_of
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 20, "t": 1]>'
BATCH = {"x": {0: "batch"}}
IMAGE = "float[1, 3, 4, 4] x"


def freed(text: str, axes: dict[str, dict[int, str]], **options: Any) -> Dynamic:
    return make_dynamic(parsed(f"g {text}", HEAD), axes, **options)


SIZES = {
    "Resize": "<int64[4] s = {1, 3, 8, 8}> { y = Resize(x, , , s) }",
    "Resize by Concat": "<int64[2] b = {1, 3}, int64[2] hw = {8, 8}>"
    " { s = Concat<axis = 0>(b, hw) u = Resize(x, , , s) y = Relu(u) }",
    "Resize of named axes": "<int64[2] s = {1, 8}> { y = Resize<axes = [0, 3]>(x, , , s) }",
    "CenterCropPad": "<int64[4] s = {1, 3, 2, 2}> { y = CenterCropPad(x, s) }",
    "Expand": "<int64[4] s = {1, 3, 4, 4}> { y = Expand(x, s) }",
}


@pytest.mark.parametrize("name", SIZES)
def test_a_size_as_data_becomes_free(name: str) -> None:
    made = freed(f"({IMAGE}) => (y) {SIZES[name]}", BATCH, apply=True)
    assert made.is_free, (made.pins, made.doubts)
    (y,) = session_of(made.model).run(None, {"x": np.ones((3, 3, 4, 4), np.float32)})
    assert y.shape[0] == 3
    assert str(made.result.types["y"].shape[0]) == "batch"  # type: ignore[union-attr]


BODIES = {
    "a function": """(float[1, 8] x) => (y) { y = t.f (x) }
        <domain: "t", opset_import: ["": 20]> f (v) => (r) { s = Constant <value_ints = [1, 2, 4]> ()
        r = Reshape (v, s) }""",
    "a function that reads sizes": """(float[1, 8] x) => (y) { y = t.f (x) } <domain: "t", opset_import: ["": 20]>
        f (v) => (r) { s = Constant <value_ints = [1, 4]> ()  r = CenterCropPad (v, s) }""",
    "a Scan": """(float[1, 8] x, float[5, 3] z) => (y) { y = Scan <num_scan_inputs = 1,
        body = b (float[3] v) => (float[2, 4] w) <int64[2] s = {2, 4}> { w = Reshape (x, s) }> (z) }""",
    "a Loop": """(float[1, 8] x, int64 n, bool go) => (y) { y = Loop <body = b (int64 i, bool c) => (bool d, w)
        <int64[2] s = {2, 4}> { d = Identity (c)  w = Reshape (x, s) }> (n, go) }""",
    "both branches": """(float[1, 8] x, bool c) => (y) { y = If (c)
        <then_branch = a () => (o) <int64[3] s = {1, 2, 4}> { o = Reshape (x, s) },
        else_branch = e () => (p) <int64[3] q = {1, 2, 4}> { n = Neg (x)  p = Reshape (n, q) }> }""",
    "one branch": """(float[1, 8] x, bool c) => (y) { y = If (c)
        <then_branch = a () => (o) <int64[2] s = {1, 4}> { o = CenterCropPad (x, s) },
        else_branch = e () => (p) { p = Neg (x) }> }""",
}


@pytest.mark.parametrize("apply", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_a_pin_in_a_body_is_found(name: str, apply: bool) -> None:
    made = freed(BODIES[name], BATCH, apply=apply)
    assert not made.is_free
    assert {pin.operator for pin in made.pins} <= {"Reshape", "CenterCropPad", "If"}, made.pins
    assert made.pins


DOUBTS = {
    "a kernel": ("(float[2, 3, 7, 7] x) => (y) { y = AveragePool<kernel_shape = [7, 7]>(x) }", {2: "H"},
        "AveragePool 'y': kernel_shape 7 on axis 2 of size H"),
    "a kernel of a part of the size": ("(float[2, 3, 14, 9] x) => (y) { p = MaxPool<kernel_shape = [2, 2],"
        " strides = [2, 2]>(x) y = AveragePool<kernel_shape = [7, 1]>(p) }", {2: "H"},
        "AveragePool 'y': kernel_shape 7 on axis 2 of size H//2"),
    "a count": ("(float[5, 8] x) => (x, y) <int64 n = {5}> { y = Loop<body = b (int64 i, bool c, v) => (bool d, w)"
        " { d = Identity(c) w = Neg(v) }>(n, , n) }", {0: "S"}, "Loop 'y': M 5, as S was"),
    "an index elsewhere": ("(float[13] x, float[64, 8] t) => (x, y) <int64 i = {13}> { y = Gather(t, i) }", {0: "S"},
        "Gather 'y': index 13, as S was"),
    "an end elsewhere": ("(float[13] x, float[64] t) => (x, y) <int64[1] z = {0}, int64[1] e = {13}>"
        " { s = Slice(t, z, e) y = ReduceSum(s) }", {0: "S"}, "Slice 's': ends 13, as S was"),
    "noise for all": ("(float[1, 8] x) => (y) { n = RandomNormal<shape = [1, 8]>() y = Add(x, n) }", {0: "batch"},
        "RandomNormal 'n': shape 1, as batch was"),
    "zeros": ("(float[5] x) => (x, y) <int64[2] s = {5, 2}> { y = ConstantOfShape(s) }", {0: "S"},
        "ConstantOfShape 'y': input 5, as S was"),
    "a constant of zeros": ("(float[5, 1] x) => (x, y) <float[5, 2] c = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}>"
        " { y = Softmax(c) }", {0: "S"}, "Softmax 'y': constant 'c' has 5 at axis 0, as S was"),
    "another size": ("(float[2, 3, 4, 4] x) => (y) <int64[4] s = {2, 3, 8, 8}> { y = Resize(x, , , s) }", {2: "H"},
        "Resize 'y': sizes 8 on axis 2 of size H"),
    "an output_shape": ("(float[2, 3, 4, 4] x, float[3, 1, 2, 2] w) => (y) { y = ConvTranspose<strides = [2, 2],"
        " output_shape = [8, 8]>(x, w) }", {2: "H"}, "ConvTranspose 'y': output_shape 8 on axis 2 of size H"),
    "a grid": ("(float[2, 3, 9, 9] x, float[2, 5, 6, 2] g) => (y) { y = GridSample(x, g) }", {2: "H"},
        "GridSample 'y': size 5 of 'g' on axis 2 of size H"),
    "in a body": ("(float[2, 3, 7, 7] x, bool c) => (y) { y = If(c)<then_branch = t () => (a)"
        " { a = AveragePool<kernel_shape = [7, 1]>(x) }, else_branch = e () => (b) { b = Abs(x) }> }", {2: "H"},
        "AveragePool 'a': kernel_shape 7 on axis 2 of size H"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTS)
def test_a_number_that_may_have_come_from_a_size_is_a_doubt(name: str) -> None:
    text, axes, said = DOUBTS[name]
    made = freed(text, {"x": axes}, apply=True)
    assert said in map(str, made.doubts), [str(x) for x in (*made.doubts, *made.pins)]
    assert not made.is_free
    assert not made.applied


MEANT = {
    "a kernel on an axis of another size": "(float[5, 3, 9, 9] x) => (y) { y = AveragePool<kernel_shape = [5, 5]>(x) }",
    "the kernel of weights": "(float[5, 3, 5, 5] x, float[2, 3, 5, 5] w) => (y) {"
    " y = Conv<kernel_shape = [5, 5]>(x, w) }",
    "each element of an axis": """(float[5, 6] x) => (y) <int64 i = {4}, int64 j = {5}>
        { a = Gather<axis = 1>(x, i) b = Gather<axis = 1>(x, j) y = Add(a, b) }""",
    "the number of outputs": "(float[5, 6] x) => (y, z) { y, z = Split<axis = 1, num_outputs = 2>(x) }",
    "a step": """(float[5, 6] x) => (y) <int64[1] z = {0}, int64[1] e = {9223372036854775807}, int64[1] s = {2}>
        { y = Slice(x, z, e, z, s) }""",
    "a node that no output needs": "(float[5, 6] x) => (y) <int64[2] s = {5, 6}> { z = ConstantOfShape(s) y = Neg(x) }",
    "the first of the axis": "(float[5, 6] x) => (y) <int64[1] z = {0}, int64[1] o = {1}> { y = Slice(x, z, o, z) }",
}


@pytest.mark.parametrize("name", MEANT)
def test_what_the_author_means_is_no_doubt(name: str) -> None:
    made = freed(MEANT[name], BATCH, apply=True)
    assert made.is_free, (made.pins, made.doubts)


def test_an_operator_of_a_plug_in_is_asked() -> None:
    @op("CropTo", domain="t")
    def crop_to(X: SymTensor, sizes: Ints) -> tuple[Any, ...]:
        """sizes, n sizes -> these sizes (t, CropTo-1)."""
        return tuple(sizes)

    text = "(float[1, 3] x) => (y) <int64[2] s = {1, 2}> { y = t.CropTo (x, s) }"
    made = freed(text, BATCH, apply=True)
    assert [str(change) for change in made.changes] == ["t::CropTo 'y': operand 's': 1 at index 0 becomes batch"]
    assert made.is_free
    assert freed("(float[1, 3] x) => (y) { y = t.Nobody (x) }", BATCH).pins[0].node == "y"


def test_an_unfinished_model_has_its_changes_only_if_asked() -> None:
    text = (
        "(float[1, 13] x) => (y) <int64[4] p = {0, 0, 0, 3}, int64[2] t = {1, 13}> { r = Reshape(x, t) y = Pad(r, p) }"
    )
    made, asked = (freed(text, {"x": {1: "S"}}, apply=True, unfinished=each) for each in (False, True))
    assert made.changes == asked.changes
    assert made.doubts == asked.doubts
    assert (made.applied, asked.applied) == (False, True)
    assert (str(made.result.types["y"]), str(asked.result.types["y"])) == ("f32[1, 16]", "f32[1, S + 3]")
