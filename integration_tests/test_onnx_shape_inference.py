"""The package onnx-shape-inference and this one, by the same calls."""

from __future__ import annotations

import inspect

import onnx_ir as ir
import onnx_shape_inference as theirs
import pytest

import onnx_infer

from . import models


def test_the_names_and_parameters_are_the_same() -> None:
    def parameters(call: object) -> dict[str, object]:
        return {p.name: p.default for p in inspect.signature(call).parameters.values()}  # type: ignore[arg-type]

    assert parameters(onnx_infer.infer_symbolic_shapes) == parameters(theirs.infer_symbolic_shapes)
    missing = set(theirs.__all__) - set(onnx_infer.__all__)
    assert missing == {"SYM_DATA_KEY"}  # the page says where the elements are


@pytest.mark.parametrize("policy", ["refine", "override", "skip", "strict"])
@pytest.mark.parametrize("name", ["attention", "windows"])
def test_no_size_is_known_there_and_not_here(name: str, policy: str) -> None:
    def sizes(package: object) -> dict[str, int]:
        model = ir.from_proto(models.model(name))
        assert package.infer_symbolic_shapes(model, policy=policy) is model  # type: ignore[attr-defined]
        return {v.name: len(v.shape) for n in model.graph for v in n.outputs if v.shape is not None}  # type: ignore[misc]

    assert sizes(onnx_infer).items() >= sizes(theirs).items()
