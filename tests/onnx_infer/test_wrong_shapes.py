"""Declared shapes that contradict the inferred ones. onnxruntime runs such models, so each cause is one warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper

from onnx_infer import ShapeInferenceError, infer, infer_shapes
from onnx_infer.__main__ import main
from onnx_infer.integrations import onnx_ir

from .sessions import REFUSED, run, session_of
from .texts import both, dims, messages, parsed

if TYPE_CHECKING:
    from pathlib import Path

BRANCHES = """g (float[N, 2] x, bool c) => (y) {{
    y = If(c) <then_branch = t () => ({}) {{ a = Neg(x) }},
    else_branch = e () => (float[K, L] b) {{ b = Identity(x) }}> }}"""
LOOP = """g (float[N, 2] x) => (y) <int64 n = {{3}}, bool c = {{1}}> {{
    y = Loop(n, c, x) <body = b (int64 i, bool d, {} s) => (bool e, {} t) {{ e = Identity(d) t = Neg(s) }}> }}"""
SCAN = "g (float[3, 2] x) => (y) {{ y = Scan<num_scan_inputs = 1, body = b ({} s) => ({} t) {{ t = Neg(s) }}>(x) }}"
WRONG = {
    "rank of an inner value": "g (float[N, 2] x) => (y) <float[A] v> { v = Relu(x) y = Neg(v) }",
    "size of an inner value": "g (float[N, 2] x) => (y) <float[A, 5] v> { v = Relu(x) y = Neg(v) }",
    "rank of an output": "g (float[N, 2] x) => (float[A] y) { y = Relu(x) }",
    "size of an output": "g (float[N, 2] x) => (float[A, 5] y) { y = Relu(x) }",
    "expression": 'g (float[N, 2] x) => (float["N + 2", 2] y) { y = Relu(x) }',
    "rank of a branch": BRANCHES.format("float[E] a"),
    "size of a branch": BRANCHES.format("float[E, 5] a"),
    "sequence": "g (float[N, 2] x) => (y) <seq(float[A]) s> { s = SequenceConstruct(x) y = SequenceLength(s) }",
}
TYPES = {
    "inner value": "g (float[N, 2] x) => (y) <int64[N, 2] v> { v = Relu(x) y = Neg(v) }",
    "output": "g (float[N, 2] x) => (int64[N, 2] y) { y = Relu(x) }",
    "branch": BRANCHES.format("int64[E, F] a"),
    "sequence": "g (float[N, 2] x) => (y) <seq(int64[A]) s> { s = SequenceConstruct(x) y = SequenceLength(s) }",
    "kind": "g (float[N, 2] x) => (float[N, 2] s) { s = SequenceConstruct(x) }",
    "input of the body of a Loop": LOOP.format("int64[E, F]", "float[P, Q]"),
    "rank of an input of the body of a Scan": SCAN.format("float[A, B]", "float[P]"),
    "size of an input of the body of a Scan": SCAN.format("float[7]", "float[P]"),
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_declared_shape_is_a_warning_and_the_inferred_one_is_written(text: str) -> None:
    """onnxruntime runs these models, with the inferred sizes."""
    model = parsed(text)
    result = both(model)
    assert [told.severity for told in result.diagnostics] == ["warning"]
    assert "declared" in messages(result)[0]
    session, feeds = session_of(model), {"x": np.zeros((3, 2), np.float32), "c": np.array(True)}
    outputs = run(session, {each.name: feeds[each.name] for each in session.get_inputs()})
    assert outputs is not None
    sizes = result.shapes["y"]
    assert sizes is not None
    assert tuple(size if isinstance(size, int) else size.evaluate({"N": 3}) for size in sizes) == np.shape(outputs[0])
    assert not infer(infer_shapes(model)).diagnostics
    for strict in (lambda: infer(model, policy="strict"), lambda: infer_shapes(model, strict_mode=True)):
        with pytest.raises(ShapeInferenceError, match="declared"):
            strict()
    with pytest.raises(ShapeInferenceError, match="declared"):
        onnx_ir.infer_shapes(ir.from_proto(model), strict_mode=True)


@pytest.mark.parametrize("text", TYPES.values(), ids=TYPES)
def test_a_wrong_element_type_and_a_wrong_input_of_a_scan_are_errors(text: str) -> None:
    """onnxruntime does not load these models."""
    model = parsed(text)
    assert "error" in {told.severity for told in infer(model).diagnostics}
    with pytest.raises(REFUSED):
        session_of(model)


def test_in_both_directions_a_declared_shape_that_no_input_gives_is_a_warning() -> None:
    """Forwards nothing is known of both outputs. Backwards, they have the shape of one input."""
    model = parsed("g (float[] x) => (float[5] y, float[7] z) { y = Relu(x) z = Neg(x) }")
    assert not messages(infer(model))
    result = infer(model, bidirectional=True)
    assert [told.severity for told in result.diagnostics] == ["warning"]
    assert messages(result) == ["value 'z': declared 7 but inferred 5 at axis 0"]
    with pytest.raises(ShapeInferenceError, match="declared 7 but inferred 5"):
        infer(model, bidirectional=True, policy="strict")


def neck(wrong: str, count: int = 12) -> onnx.ModelProto:
    """A Conv, a Resize by 2, whose tool wrote this height and width, and what the tool computed from these."""
    half = f"floor(({wrong})/2 + 1/2)"
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Resize", ["c", "", "two"], ["r0"], coordinate_transformation_mode="asymmetric"),
        *(helper.make_node("Relu", [f"r{i}"], [f"r{i + 1}"]) for i in range(count)),
        helper.make_node("Neg", [f"r{count}"], ["bare"]),  # has no declared type
        helper.make_node("Conv", ["bare", "w"], ["d0"], strides=[2, 2], pads=[1, 1, 1, 1]),
        *(helper.make_node("Relu", [f"d{i}"], [f"d{i + 1}"]) for i in range(count)),
        helper.make_node("Reshape", [f"r{count}", "flat"], ["y"]),
    ]
    sizes = {**{f"r{i}": wrong for i in range(count + 1)}, **{f"d{i}": half for i in range(count + 1)}}
    infos = [helper.make_tensor_value_info(n, 1, [1, 3, t, t.replace("H", "W")]) for n, t in sizes.items()]
    output = helper.make_tensor_value_info("y", 1, [1, 3, f"({wrong})*({wrong.replace('H', 'W')})"])
    weights = [
        helper.make_tensor("two", 1, [4], [1.0, 1.0, 2.0, 2.0]),
        helper.make_tensor("flat", 7, [3], [1, 3, -1]),
        helper.make_tensor("w", 1, [3, 3, 3, 3], [0.0] * 81),
    ]
    given = helper.make_tensor_value_info("x", 1, [1, 3, "H", "W"])
    graph = helper.make_graph(nodes, "g", [given], [output], weights, value_info=infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("options", [{}, {"bidirectional": True}])
def test_values_with_the_same_wrong_sizes_and_those_computed_from_them_are_one_cause(options: dict[str, bool]) -> None:
    result = infer(neck("2.0*floor(H/2 - 1/2) + 1 + 2"), **options)  # type: ignore[arg-type]
    assert messages(result) == [
        "value 'r0': declared 2*((H + 1)//2) + 1 but inferred 2*((H + 1)//2) at axis 2"
        " (and 12 more values, 14 computed from them)",
        "value 'r0': declared 2*((W + 1)//2) + 1 but inferred 2*((W + 1)//2) at axis 3 (and 12 more values)",
    ]
    assert str(result.types["y"]) == "f32[1, 3, 4*((H + 1)//2)*((W + 1)//2)]"


def test_the_command_tells_a_wrong_shape_and_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(parsed(WRONG["rank of an output"]), path)
    assert main([str(path), "-o", str(tmp_path / "out.onnx")]) == 0
    assert "warning: value 'y': declared rank 1 but inferred rank 2" in capsys.readouterr().out
    assert dims(onnx.load(tmp_path / "out.onnx").graph.output[0]) == ["N", 2]
    assert main([str(path), "--policy", "strict"]) == 1
    onnx.save(parsed(TYPES["output"]), path)
    assert main([str(path)]) == 1
