"""onnxruntime's tools with this package in place of their own inference."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime.quantization.shape_inference import quant_pre_process
from onnxruntime.tools import symbolic_shape_infer
from onnxruntime.transformers.optimizer import optimize_model

from onnx_infer.integrations.onnxruntime import SymbolicShapeInference, replaced
from symdim import parse

from . import models


@pytest.mark.parametrize("name", ["attention", "windows"])
def test_no_size_is_known_there_and_not_here(name: str) -> None:
    theirs = symbolic_shape_infer.SymbolicShapeInference.infer_shapes(models.model(name), auto_merge=True)
    ours = SymbolicShapeInference.infer_shapes(models.model(name), auto_merge=True)
    assert models.types(ours).keys() >= models.types(theirs).keys()
    numbers = {key: [d for d in sizes if isinstance(d, int)] for key, sizes in models.types(theirs).items()}
    for key, expected in numbers.items():
        assert [d for d in models.types(ours)[key] if isinstance(d, int)] == expected, key


@pytest.mark.parametrize("name", ["attention", "windows"])
def test_quantization_prepares_a_model_that_runs_the_same(name: str, tmp_path: Path) -> None:
    source, target = tmp_path / "m.onnx", tmp_path / "prepared.onnx"
    onnx.save(models.model(name), source)
    with replaced():
        quant_pre_process(str(source), str(target), auto_merge=True)
    prepared = onnx.load(target)
    assert len(models.types(prepared)) == len({o for n in prepared.graph.node for o in n.output})
    for a, b in zip(models.run(models.model(name), models.inputs(name)),
                    models.run(prepared, models.inputs(name)), strict=True):  # fmt: skip
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_the_optimizer_asks_this_package(tmp_path: Path) -> None:
    source = tmp_path / "m.onnx"
    onnx.save(models.model("attention"), source)
    theirs = optimize_model(str(source), "bert", num_heads=4, hidden_size=16, opt_level=0)
    before = set(sys.modules)
    with replaced():
        ours = optimize_model(str(source), "bert", num_heads=4, hidden_size=16, opt_level=0)
        helper = ours.infer_runtime_shape({"batch": 3}, update=True)
    assert type(helper).__module__ == "onnx_infer.integrations.onnxruntime"
    assert helper.get_edge_shape("keys") == [3, "past + seq", 16]
    assert (helper.compare_shape("q0", "x"), helper.compare_shape("q0", "k0")) == (True, False)
    assert helper.get_edge_shape("absent") is None
    assert len(ours.model.graph.node) <= len(theirs.model.graph.node)
    assert set(sys.modules) >= before
    assert sys.modules["onnxruntime.tools.symbolic_shape_infer"] is symbolic_shape_infer


def test_sizes_are_texts_that_the_algebra_reads() -> None:
    ours = SymbolicShapeInference.infer_shapes(models.model("windows"))
    sizes = models.types(ours)["y"]
    bindings = {"batch": 2, "height": 22, "wide": 34}
    run = models.run(models.model("windows"), models.inputs("windows"))
    assert tuple(parse(str(d)).evaluate(bindings) if isinstance(d, str) else d for d in sizes) == run[0].shape
