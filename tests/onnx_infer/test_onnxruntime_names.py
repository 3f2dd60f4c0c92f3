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

from onnx_infer.integrations.onnxruntime import SymbolicShapeInference, main

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
    assert "--copy-data" in capsys.readouterr().err
    assert main(["--input", str(tmp_path / "m.onnx"), "--output", str(tmp_path / "n.onnx")]) == 0
    assert shape(onnx.load(tmp_path / "n.onnx"), "y") == ["N", 4]
