"""onnxruntime's names and flags."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_infer import infer
from onnx_infer.integrations.onnxruntime import (
    SymbolicShapeInference,
    SymbolicShapeInferenceHelper,
    main,
    replaced,
)

from . import models
from .texts import parsed

MODEL = """g (float[N, 8] x, float[8, 4] w) => (float[A, B] y) { m = MatMul (x, w)  y = Relu (m) }"""
HEAD = '<ir_version: 10, opset_import: ["": 20]>'
ROOT = Path(__file__).parents[2]


def shape(model: onnx.ModelProto, name: str) -> list[str | int]:
    values = {value.name: value for value in (*model.graph.value_info, *model.graph.output)}
    return [d.dim_param or d.dim_value for d in values[name].type.tensor_type.shape.dim]


def test_the_call_has_onnxruntime_s_parameters() -> None:
    model = parsed(MODEL, HEAD)
    parameters = list(inspect.signature(SymbolicShapeInference.infer_shapes).parameters)
    assert parameters == ["in_mp", "int_max", "auto_merge", "guess_output_rank", "verbose"]
    inferred = SymbolicShapeInference.infer_shapes(model, 2**31 - 1, True, False, 0)
    assert (shape(inferred, "m"), len(model.graph.value_info)) == (["N", 4], 0)
    assert SymbolicShapeInference.infer_shapes(models.windows(), verbose=3) is not None


def test_the_command_has_onnxruntime_s_flags(tmp_path: Path) -> None:
    source, target = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(parsed(MODEL, HEAD), source)
    command = [sys.executable, "-m", "onnx_infer.integrations.onnxruntime", "--input", str(source)]
    flags = ["--output", str(target), "--auto_merge", "--int_max", "1000", "--guess_output_rank", "--verbose", "1"]
    subprocess.run([*command, *flags], check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert shape(onnx.load(target), "m") == ["N", 4]


def test_weights_beside_the_model_are_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = parsed("g (float[N, 8] x) => (y) { y = MatMul (x, w) }", HEAD)
    model.graph.initializer.append(numpy_helper.from_array(np.zeros((8, 4), np.float32), "w"))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="w.bin")
    (tmp_path / "out").mkdir()
    assert main(["--input", str(tmp_path / "m.onnx"), "--output", str(tmp_path / "out" / "m.onnx")]) == 2
    assert "w.bin; --save_as_external_data writes them there" in capsys.readouterr().err
    assert main(["--input", str(tmp_path / "m.onnx"), "--output", str(tmp_path / "n.onnx")]) == 0
    assert shape(onnx.load(tmp_path / "n.onnx"), "y") == ["N", 4]


def test_weights_are_written_where_the_flags_say(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    source, target = tmp_path / "m.onnx", tmp_path / "out" / "m.onnx"
    model = parsed("g (float[N, 8] x) => (y) { y = MatMul (x, w) }", HEAD)
    model.graph.initializer.append(numpy_helper.from_array(np.ones((8, 4), np.float32), "w"))
    onnx.save(model, source, save_as_external_data=True, size_threshold=0, location="w.bin")
    flags = ["--save_as_external_data", "--all_tensors_to_one_file", "--external_data_location", "other.bin"]
    command = ["--input", str(source), "--output", str(target), "--external_data_size_threshold", "0"]
    assert main([*command, *flags]) == 0
    assert sorted(os.listdir(target.parent)) == ["m.onnx", "other.bin"]
    assert numpy_helper.to_array(onnx.load(target).graph.initializer[0]).sum() == 32


def test_without_output_nothing_is_written_and_wrong_files_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(parsed(MODEL, HEAD), "m.onnx")
    assert main(["--input", "m.onnx"]) == 0
    assert os.listdir(tmp_path) == ["m.onnx"]
    assert main(["--input", "absent.onnx"]) == 2
    assert "absent.onnx" in capsys.readouterr().err
    Path("text.onnx").write_text("no model")
    assert main(["--input", "text.onnx"]) == 2
    assert "not an ONNX model" in capsys.readouterr().err


def test_the_fusions_of_onnxruntime_get_what_they_ask() -> None:
    found = SymbolicShapeInferenceHelper(parsed(MODEL, HEAD))
    assert found.get_edge_shape("m") == ["N", 4]
    assert found.infer({"N": 3, "other": 5})
    assert (found.get_edge_shape("m"), found.get_edge_shape("absent")) == ([3, 4], None)
    assert (found.compare_shape("m", "y"), found.compare_shape("m", "x")) == (True, False)
    assert not found.compare_shape("absent", "absent")
    assert found.known_vi_["y"].type.tensor_type.elem_type == 1


def test_the_modules_of_onnxruntime_are_back_after_the_block() -> None:
    name = "onnxruntime.tools.symbolic_shape_infer"
    before = sys.modules.get(name)
    with replaced():
        assert sys.modules[name].SymbolicShapeInference is SymbolicShapeInference
    assert sys.modules.get(name) is before
    with pytest.raises(FileNotFoundError), replaced():
        Path("no such file").read_text()
    assert sys.modules.get(name) is before


def test_sizes_in_two_forms_have_one_text() -> None:
    """A patch that is padded to an even size and halved, and one that is pooled with ceil_mode, are added."""
    graph = """g (float[B, 4, H, W] x) => (y) {
        p = AveragePool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (x)
        h = Shape <start = 2, end = 3> (x) w = Shape <start = 3> (x) two = Constant <value_ints = [2]> ()
        b = Shape <end = 1> (x) all = Constant <value_ints = [-1]> () four = Constant <value_ints = [4]> ()
        i = Div (h, two) j = Sub (h, i) k = Div (w, two) l = Sub (w, k) n = Mul (j, l)
        s = Concat <axis = 0> (b, four, n) zero = ConstantOfShape (s)
        f = Concat <axis = 0> (b, four, all) q = Reshape (p, f) y = Add (q, zero)
    }"""
    model = parsed(graph)
    helper = SymbolicShapeInferenceHelper(model)
    assert helper.get_edge_shape("zero") == ["B", 4, "((H + 1)//2)*((W + 1)//2)"]
    assert helper.compare_shape("q", "zero")
    assert helper.compare_shape("q", "y")
    assert [str(g) for g in infer(model).guards if g.kind == "required"] == []
