"""Whole models: every value at several sizes against a real run, and the printed expressions of chosen values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from onnx_infer import SymTensor, infer, infer_shapes, infer_symbolic_shapes
from onnx_infer.tools.cli.files import demo_model
from symdim import Expr, Var
from tests.onnx_infer import models
from tests.onnx_infer.oracle import contradictions

if TYPE_CHECKING:
    from collections.abc import Callable

EXPECTED: dict[Callable[[], onnx.ModelProto], dict[str, str]] = {
    models.decoder: {
        "total": "i64[]={past + seq}",
        "visible": "bool[seq, past + seq]",
        "present_1_v": "f32[batch, 2, past + seq, 8]",
        "scores_1": "f32[batch, 4, seq, past + seq]",
        "hidden_1": "f32[batch, seq, 32]",
        "logits": "f32[batch, seq, 100]",
    },
    models.cnn: {
        "pooled": "f32[N, 8, (H + 3)//4, (W + 3)//4]",
        "block_3": "f32[N, 8, (H + 15)//16, (W + 15)//16]",
        "scores": "f32[N, 10]",
    },
    models.unet: {"up_0": "f32[N, 4, H, W]", "up_1": "f32[N, 4, (H + 1)//2, (W + 1)//2]"},
    models.windows: {
        "padded": "f32[N, 7*((H + 6)//7), 7*((W + 6)//7), 4]",
        "tokens": "f32[((H + 6)//7)*N*((W + 6)//7), 49, 4]",
        "whole": "f32[N, 7*((H + 6)//7), 7*((W + 6)//7), 4]",
        "y": "f32[N, H, W, 4]",
    },
    models.detector: {"found": "i64[2, _d0]", "kept": "f32[_d0, 4]", "twice": "f32[_d0, 4]"},
    demo_model: {
        "conv1": "f32[N, 64, (H + 1)//2, (W + 1)//2]",
        "kept": "i64[3, K]",
    },
}
SIZES = [
    {"batch": 2, "seq": 5, "past": 3, "N": 2, "H": 37, "W": 53, "S": 11, "boxes": 7, "classes": 3},
    {"batch": 3, "seq": 1, "past": 13, "N": 1, "H": 32, "W": 28, "S": 1, "boxes": 2, "classes": 5},
]


def feeds(model: onnx.ModelProto, sizes: dict[str, int]) -> dict[str, np.ndarray[Any, Any]]:
    """Arrays for the inputs of a model: floats between 0 and 1, and small integers."""
    random = np.random.default_rng(0)
    out = {}
    for info in model.graph.input:
        tensor = info.type.tensor_type
        shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        out[info.name] = (random.random(shape) if dtype.kind == "f" else random.integers(0, 9, shape)).astype(dtype)
    return out


def run(model: onnx.ModelProto, sizes: dict[str, int]) -> dict[str, Any]:
    """What every node of the model gives at these sizes, by onnx's reference evaluator."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    names = [name for node in model.graph.node for name in node.output if name]
    del probe.graph.output[:]
    probe.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return dict(zip(names, ReferenceEvaluator(probe).run(None, feeds(model, sizes)), strict=True))


@pytest.mark.parametrize("make", EXPECTED, ids=lambda make: make.__name__)
def test_every_value_is_what_a_run_produces(make: Callable[[], onnx.ModelProto]) -> None:
    model = make()
    types = infer(model).types
    for sizes in SIZES:
        for name, actual in run(model, sizes).items():
            assert list(contradictions(types.get(name), actual, sizes)) == [], name


@pytest.mark.parametrize("make", EXPECTED, ids=lambda make: make.__name__)
def test_sizes_are_the_expected_expressions(make: Callable[[], onnx.ModelProto]) -> None:
    result = infer(make())
    assert [str(d) for d in result.diagnostics] == []
    assert {name: str(result.types[name]) for name in EXPECTED[make]} == EXPECTED[make]


@pytest.mark.parametrize("make", [models.decoder, models.cnn, models.unet, models.windows], ids=lambda m: m.__name__)
def test_every_size_is_a_function_of_the_input_sizes(make: Callable[[], onnx.ModelProto]) -> None:
    result = infer(make())
    inputs = {v for name in result.inputs for d in result.shapes[name] if isinstance(d, Expr) for v in d.variables()}
    for name, value in result.types.items():
        assert isinstance(value, SymTensor), name
        assert value.shape is not None, (name, result.notes.get(name))
        assert {v for d in value.shape if isinstance(d, Expr) for v in d.variables()} <= inputs, (name, value)


def test_a_data_dependent_size_is_bounded_and_says_why() -> None:
    result = infer(models.detector())
    found = result.shapes["found"][1]
    assert isinstance(found, Var)
    assert str(found.at_most) == "boxes*classes"
    assert "non-zero" in str(found.origin)


def test_what_is_written_is_valid_and_complete() -> None:
    inferred = infer_shapes(models.decoder())
    onnx.checker.check_model(inferred)
    known = {info.name for info in inferred.graph.value_info} | {info.name for info in inferred.graph.output}
    assert {name for node in inferred.graph.node for name in node.output} <= known


def test_infer_shapes_makes_a_copy_and_infer_symbolic_shapes_none() -> None:
    model = models.cnn()
    before = model.SerializeToString()
    copy = infer_shapes(model)
    assert copy is not model
    assert model.SerializeToString() == before
    assert infer_symbolic_shapes(model) is model
    assert model.SerializeToString() == copy.SerializeToString()


def test_declared_shapes_of_onnx_are_never_lost() -> None:
    model = models.unet()
    by_onnx = onnx.shape_inference.infer_shapes(model, data_prop=True)
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in by_onnx.graph.value_info}
    shapes = infer(by_onnx).shapes
    assert {name: len(shapes[name]) for name in ranks} == ranks
