"""`fold` of the sizes of a Resize: axes and scales that are constants in every run, and look-alikes that stay."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import numpy_helper

from onnx_infer import fold

from .folding import HEAD, folded, model_of, operators

OLD = '<ir_version: 10, opset_import: ["": 17]>'
SIZES = """n = Shape<end=1>(x) h = Shape<start=2, end=3>(x) h2 = Mul(h, two) t = Concat<axis=0>(n, three, h2, eight)"""
TEXT = f"""(float[N, 3, H, 4] x) => (float[A, 3, B, 8] y)
    <int64[1] two = {{2}}, int64[1] three = {{3}}, int64[1] eight = {{8}}>
    {{{SIZES} y = Resize<mode="linear">(x, , , t)}}"""
BATCH = """(float[N, 3, 4, 4] x) => (float[N, 3, 6, 8] y) <int64[3] rest = {3, 6, 8}> {
    n = Shape<end=1>(x) t = Concat<axis=0>(n, rest) y = Resize<mode="linear"%s>(x, , , t)}"""


def resize_of(model: onnx.ModelProto) -> tuple[list[str], dict[str, Any]]:
    """The operands and attributes of the only Resize."""
    (node,) = [node for node in model.graph.node if node.op_type == "Resize"]
    return list(node.input), {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def constant(model: onnx.ModelProto, name: str) -> list[float]:
    (found,) = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer if tensor.name == name]
    return list(found)


def test_axes_that_stay_are_not_named() -> None:
    found = folded(BATCH % "")
    operands, attributes = resize_of(found)
    assert operators(found) == "Resize"
    assert (attributes["axes"], constant(found, operands[3])) == ([2, 3], [6, 8])
    assert operators(folded(BATCH % "", OLD)) == "Shape Concat Resize"


def test_own_axes_from_the_end() -> None:
    text = """(float[N, 3, 4, 4] x) => (float[N, 3, 4, 8] y) <int64[1] eight = {8}> {
        n = Shape<end=1>(x) t = Concat<axis=0>(eight, n) y = Resize<axes = [-1, 0]>(x, , , t)}"""
    found = folded(text)
    operands, attributes = resize_of(found)
    assert (operators(found), attributes["axes"], constant(found, operands[3])) == ("Resize", [3], [8])


def test_sizes_that_must_be_computed_are_fewer() -> None:
    found = folded(TEXT)
    assert resize_of(found)[1]["axes"] == [2, 3]
    assert operators(found) == "Shape Mul Concat Resize"


@pytest.mark.parametrize("head", [HEAD, OLD])
def test_bounds_make_scales_of_sizes(head: str) -> None:
    facts: dict[str, Any] = {"min_dim": 1, "bounds": {"N": (1, 64), "H": (1, 4096)}}
    found = folded(TEXT, head, (1, 2, 3, 7), **facts)
    operands, attributes = resize_of(found)
    scales = [2, 2] if head == HEAD else [1, 1, 2, 2]
    assert (operators(found), operands[3:], constant(found, operands[2])) == ("Resize", [], scales)
    assert attributes.get("axes") == ([2, 3] if head == HEAD else None)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"bounds": {"N": (0, 64), "H": (0, 4096)}}, id="a size that may be 0 has no scale"),
        pytest.param({"min_dim": 1}, id="no bound"),
        pytest.param({"bounds": {"N": (1, 64), "H": (1, 2**24)}}, id="float32 does not hold twice the bound"),
    ],
)
def test_scales_that_may_be_wrong_are_not_made(facts: dict[str, Any]) -> None:
    operands, _ = resize_of(fold(model_of(TEXT, OLD), **facts))
    assert len(operands) == 4


@pytest.mark.parametrize(
    "attribute",
    [', coordinate_transformation_mode = "tf_crop_and_resize"', ', keep_aspect_ratio_policy = "not_larger"'],
)
def test_what_depends_on_all_axes_stays(attribute: str) -> None:
    model = model_of(BATCH % attribute)
    assert resize_of(fold(model)) == resize_of(model)
