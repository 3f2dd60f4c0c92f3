"""What torch knows of the sizes of a program, under its own exporter."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
import torch
from torch.export import Dim

import onnx_infer
from onnx_infer.integrations import onnx_ir
from onnx_infer.integrations import torch as of_torch

from . import models


class Encoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)

    def forward(self, image: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.conv(image).flatten(2).transpose(1, 2), tokens.reshape(tokens.shape[0], -1, 4), tokens.nonzero()


ARGS = torch.randn(2, 3, 32, 48), torch.ones(3, 24)
NAMED = ({0: Dim("batch", max=64), 2: Dim("H", min=4), 3: Dim("W", min=4, max=512)},
         {0: Dim("M"), 1: 4 * Dim("words", min=2, max=100)})  # fmt: skip
AUTO = {0: Dim.AUTO, 2: Dim.DYNAMIC, 3: Dim.DYNAMIC}, {0: Dim.AUTO, 1: Dim.DYNAMIC}
KNOWN = {"bounds": {"batch": (1, 64), "H": (4, None), "W": (4, 512), "words": (1, 100)}, "assume": ["4*words >= 8"]}


def export(shapes: Any, **options: Any) -> Any:
    return torch.onnx.export(Encoder().eval(), ARGS, dynamic_shapes=shapes, dynamo=True, verbose=False, **options)


@pytest.fixture(scope="module")
def program() -> Any:
    return export(NAMED)


def test_ranges_are_facts_of_the_names_in_the_model(program: Any) -> None:
    exported = program.exported_program
    for found in (of_torch.facts(program), of_torch.facts(exported, program.model_proto),
                  of_torch.facts(exported, program.model)):  # fmt: skip
        assert found == KNOWN
    own = of_torch.facts(exported)
    assert sorted(own["bounds"].values(), key=str) == sorted(KNOWN["bounds"].values(), key=str)
    assert set(own["bounds"]) <= {str(size) for size in exported.range_constraints}
    result = onnx_ir.infer(program.model, **of_torch.facts(program))
    assert [str(result.types[name]) for name in result.outputs] == [
        "f32[batch, ((H + 1)//2)*((W + 1)//2), 8]", "f32[M, words, 4]", "i64[u0, 2]",
    ]  # fmt: skip
    assert result.symbols["W"].bounds() == (4, 512)


def test_inputs_under_other_names_are_matched_by_their_order() -> None:
    assert of_torch.facts(export(NAMED, input_names=["a", "b"])) == KNOWN


def test_symbols_get_names_and_facts_follow_them() -> None:
    program = export(AUTO)
    image, tokens = program.model.graph.inputs
    names = {image.shape[0].value: "batch", image.shape[2].value: "H", tokens.shape[1].value: "width"}
    onnx_infer.rename_symbols(program.model, names)
    assert of_torch.facts(program) == {"bounds": {}, "assume": []}
    result = onnx_ir.infer(program.model, assume=["width % 4 == 0"])
    assert str(result.shapes[result.outputs[1]][1]) == "width//4"


def test_what_is_claimed_is_what_runs(program: Any) -> None:
    model = ir.to_proto(onnx_ir.infer_shapes(program.model, **of_torch.facts(program)))
    feeds = {"image": np.ones((5, 3, 9, 14), np.float32), "tokens": np.ones((6, 44), np.float32)}
    outputs = models.run(model, feeds)
    result = onnx_infer.infer(model)
    sizes = {"batch": 5, "H": 9, "W": 14, "M": 6, "words": 11, "u0": 264}
    for name, output in zip(result.outputs, outputs, strict=True):
        assert tuple(d if isinstance(d, int) else d.evaluate(sizes) for d in result.shapes[name]) == output.shape
    assert result.check(batch=5, H=9, W=14, M=6, words=11) == []


def test_other_objects_are_refused_with_a_sentence() -> None:
    with pytest.raises(onnx_infer.ArgumentError, match="ExportedProgram or ONNXProgram of torch, not Encoder"):
        of_torch.facts(Encoder())
    program = export(NAMED)
    for wrong, cure in (
        (program, r"onnx_ir\.infer\(program\.model\)"),
        (program.exported_program, r"torch\.onnx\.export"),
    ):
        with pytest.raises(onnx_infer.ArgumentError, match=cure):
            onnx_infer.infer(wrong)
