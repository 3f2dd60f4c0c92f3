"""A law that a node breaks costs only the sizes that hang on it; what onnxruntime refuses is an error too."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest

import onnx_infer
from onnx_infer.errors import ShapeInferenceError
from onnx_infer.laws.sizes import broadcast
from onnx_infer.laws.statements import Trace
from symdim import Var

HEADER = '<ir_version: 10, opset_import: ["": 21, "l": 1]> '


def read(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


def messages(model: onnx.ModelProto) -> list[str]:
    return [d.message for d in onnx_infer.infer(model).diagnostics if d.severity == "error"]


def test_one_error_does_not_spread() -> None:
    model = read(
        "g (float[N, 100, 16] x, float[1, 64, 16] y) => (float[a, b, c] z, int64[d] s) {"
        " bad = Add (x, y) z = Relu (bad) s = Shape (z) }"
    )
    result = onnx_infer.infer(model)
    assert len(result.diagnostics) == 1, result.diagnostics
    assert "sizes do not broadcast: 100 and 64" in str(result.diagnostics[0])
    shape = result.types["bad"].shape
    assert (str(shape[0]), shape[2]) == ("N", 16)
    assert "100 and 64" in str(shape[1].origin)
    assert len(result.types["s"].data) == 3
    assert not result.guards


@pytest.mark.parametrize(
    "options", [{"strict_mode": True}, {"policy": "strict"}], ids=["strict mode", "the policy strict"]
)
def test_strict_raises_what_is_only_reported(options: dict[str, object]) -> None:
    model = read("g (float[N, 100] x, float[64] y) => (float[a, b] z) { z = Add (x, y) }")
    onnx_infer.infer_shapes(model)
    with pytest.raises(ShapeInferenceError, match="do not broadcast: 100 and 64"):
        onnx_infer.infer_shapes(model, **options)


def test_a_contradiction_states_no_other_fact() -> None:
    with Trace() as trace:
        shape = broadcast((Var("N"), 3), (Var("M"), 4))
    assert trace.errors == ["sizes do not broadcast: 3 and 4"]
    assert len(shape) == 2
    model = read("g (float[N, 3] x, float[M, 4] y) => (float[a, b] z) { z = Add (x, y) }")
    assert not onnx_infer.infer(model).guards


# -- refusals of whole models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "conflict"), [("float[4, 3]", True), ("float[8]", True), ("int64[8, 7]", True), ("float[N, 7]", False)]
)
@pytest.mark.parametrize("ir_version", [3, 10])
def test_an_initializer_that_contradicts_its_input(declared: str, conflict: bool, ir_version: int) -> None:
    zeros = ", ".join(["0"] * 56)
    model = read(f"g ({declared} w) => (float[a, b] y) <float[8, 7] w = {{{zeros}}}> {{ y = Neg (w) }}")
    model.ir_version = ir_version
    found = [m for m in messages(model) if "initializer 'w' is f32[8, 7]" in m]
    assert bool(found) == conflict


def test_an_input_without_a_type() -> None:
    model = read("g (float[3] x) => (float[a] y) { y = Relu (x) }")
    model.graph.input[0].ClearField("type")
    assert messages(model) == ["graph input 'x' has no type"]
    assert onnx_infer.infer_shapes(model) is not None


def test_a_sequence_in_place_of_a_tensor_is_an_error_of_its_type() -> None:
    model = read("g (float[3] x, seq(float[3]) y) => (float[a] z) { z = Add (x, y) }")
    with pytest.raises(onnx.shape_inference.InferenceError, match="seq"):
        onnx.shape_inference.infer_shapes(model, check_type=True)
    with pytest.raises(onnx.shape_inference.InferenceError, match="element type seq"):
        onnx_infer.infer_shapes(model, check_type=True)
