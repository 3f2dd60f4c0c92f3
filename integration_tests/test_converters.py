"""`infer_shapes` in the place of onnx's, where onnxslim and the conversion to float16 call it."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.shape_inference
import onnxslim
import pytest
from onnxconverter_common import float16

import onnx_infer

from . import models


@pytest.fixture
def inferred_here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """onnx's calls are this package's; the list counts them."""
    calls: list[int] = []

    def call(model: onnx.ModelProto, *args: object, **options: object) -> onnx.ModelProto:
        calls.append(len(model.graph.node))
        return onnx_infer.infer_shapes(model, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", call)
    monkeypatch.setattr(onnx.shape_inference, "infer_shapes_path", onnx_infer.infer_shapes_path)
    return calls


@pytest.mark.parametrize("name", ["attention", "windows"])
def test_onnxslim_leaves_no_more_nodes(name: str, request: pytest.FixtureRequest) -> None:
    before = onnxslim.slim(models.model(name))
    calls = request.getfixturevalue("inferred_here")
    after = onnxslim.slim(models.model(name))
    assert calls
    assert len(after.graph.node) <= len(before.graph.node)
    for a, b in zip(models.run(models.model(name), models.inputs(name)),
                    models.run(after, models.inputs(name)), strict=True):  # fmt: skip
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_the_conversion_to_float16_gives_a_model_that_runs(inferred_here: list[int]) -> None:
    model = float16.convert_float_to_float16(models.model("windows"))
    assert inferred_here
    halves = {name: value.astype(np.float16) for name, value in models.inputs("windows").items()}
    for a, b in zip(models.run(models.model("windows"), models.inputs("windows")),
                    models.run(model, halves), strict=True):  # fmt: skip
        np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", ["attention", "windows"])
def test_it_makes_the_nodes_that_it_makes_with_onnx(name: str, request: pytest.FixtureRequest) -> None:
    def nodes() -> list[str]:
        return [
            node.name for node in float16.convert_float_to_float16(models.model(name), keep_io_types=True).graph.node
        ]

    before = nodes()
    assert request.getfixturevalue("inferred_here") == []
    assert nodes() == before
