"""onnx's backend node tests as an oracle: whatever is inferred must be what the test's recorded run produced.

Each test is inferred three times: with its small inputs as initializers, with all inputs as inputs, and with a symbol
for every size. No claim may be wrong in any of them: not a size, not an element type, not an element.
"""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_infer import InferenceResult, SymTensor, infer, infer_shapes
from tests.onnx_infer.oracle import contradictions

MAX_CONSTANT = 64
MAX_POOLED = 5000
"""The most windows that are pooled: in Python they take long, and elements of so many floats are never inferred."""

DATA_DEPENDENT = {
    "ImageDecoder": "the size of the decoded image",
    "NonMaxSuppression": "the number of boxes kept",
    "NonZero": "the number of non-zero elements, of a matrix",
    "StringNormalizer": "the number of strings that are not stop words",
    "StringSplit": "the largest number of parts",
    "Unique": "the number of distinct elements",
}
"""Operators whose output sizes only the data decide, and what that is. This list may only shrink."""


class Case(NamedTuple):
    """A node test: its model, and the arrays that went in and came out."""

    name: str
    operator: str
    model: onnx.ModelProto
    inputs: dict[str, Any]
    outputs: dict[str, Any]


@cache
def cases() -> list[Case]:
    """Every node test whose inputs and outputs are recorded."""
    from onnx.backend.test.case import base
    from onnx.backend.test.case.node import collect_testcases
    from onnx.reference.ops import op_pool_common

    pool = op_pool_common.pool

    def of_few(padded: Any, x_shape: Any, kernel: Any, strides: Any, out_shape: Any, *rest: Any, **options: Any) -> Any:
        if math.prod(out_shape) > MAX_POOLED:
            return np.zeros((*x_shape[:2], *out_shape), padded.dtype)
        return pool(padded, x_shape, kernel, strides, out_shape, *rest, **options)

    with warnings.catch_warnings(), patch.object(op_pool_common, "pool", of_few), patch.object(base, "process_snippet"):
        warnings.simplefilter("ignore")
        base.process_snippet.return_value = "", ""  # the sources of the tests, for a page
        tests = collect_testcases(None)
    operators = {t.name: t.model.graph.node[0].op_type for t in tests if "_expanded" not in t.name}
    found = []
    for test in tests:
        graph = test.model.graph
        inputs, outputs = test.data_sets[0]
        if len(inputs) != len(graph.input):
            continue
        found.append(
            Case(
                test.name,
                operators.get(test.name.partition("_expanded")[0], graph.node[0].op_type),
                test.model,
                {info.name: _plain(x) for info, x in zip(graph.input, inputs, strict=True)},
                {info.name: _plain(x) for info, x in zip(graph.output, outputs, strict=False)},
            )
        )
    return found


def _plain(x: Any) -> Any:
    if isinstance(x, onnx.TensorProto):
        return numpy_helper.to_array(x)
    return np.asarray(x) if isinstance(x, np.generic) else x


def stripped(case: Case) -> onnx.ModelProto:
    """The model without any type but those of its inputs."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.ClearField("type")
    return model


def with_constants(case: Case) -> onnx.ModelProto:
    """The model with its scalars and short vectors as initializers."""
    model = stripped(case)
    kept = []
    for info in model.graph.input:
        value = case.inputs[info.name]
        if isinstance(value, np.ndarray) and value.ndim <= 1 and value.size <= MAX_CONSTANT and value.dtype != object:
            tensor = numpy_helper.from_array(value, info.name)
            if tensor.data_type == info.type.tensor_type.elem_type:
                model.graph.initializer.append(tensor)
                continue
        kept.append(info)
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model


def with_symbols(case: Case) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The model with constants and a symbol for every size of its other inputs, and the sizes of these symbols."""
    model, sizes = with_constants(case), {}
    for info in model.graph.input:
        shape = np.shape(case.inputs[info.name]) if info.type.HasField("tensor_type") else ()
        for axis, (dim, size) in enumerate(zip(info.type.tensor_type.shape.dim, shape, strict=False)):
            if size > 0:
                dim.dim_param = f"s{len(sizes)}_{axis}"
                sizes[dim.dim_param] = size
    return model, sizes


@cache
def of_constants() -> dict[str, InferenceResult]:
    """What is inferred of each test with constants, by its name."""
    return {case.name: infer(with_constants(case)) for case in cases()}


def problems(case: Case, result: InferenceResult, sizes: dict[str, int]) -> list[str]:
    """Everything that inference says wrongly of one test."""
    found = [f"{case.name}: {d}" for d in result.diagnostics if d.severity != "warning"]
    for name, actual in case.outputs.items():
        found += [f"{case.name}: {name}: {text}" for text in contradictions(result.types.get(name), actual, sizes)]
    return found


def test_nothing_inferred_is_wrong_and_every_size_that_the_inputs_determine_is_found() -> None:
    """One test, because the cases are computed once in a process."""
    wrong, missed = [], []
    for case in cases():
        with_names, sizes = with_symbols(case)
        for result, at in ((of_constants()[case.name], {}), (infer(stripped(case)), {}), (infer(with_names), sizes)):
            wrong += problems(case, result, at)
    assert len(cases()) > 1500
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong[:50]])
    for case in cases():
        if case.operator in DATA_DEPENDENT:
            continue
        types = of_constants()[case.name].types
        for name, actual in case.outputs.items():
            value = types.get(name)
            if isinstance(actual, np.ndarray) and not (
                isinstance(value, SymTensor) and value.dtype and value.shape == actual.shape
            ):
                missed.append(f"{case.name} ({case.operator}): {name}: {value} is {actual.dtype}{actual.shape}")
    assert not missed, "\n".join([f"{len(missed)} missed", *missed[:50]])


OTHER_THAN_ONNX = dict.fromkeys(
    ("test_stft", "test_stft_with_window"), "onnx forgets that STFT is one-sided by default"
)
"""Tests in which onnx's shape inference says another size than the recorded run has, and why."""


def outputs_of(model: onnx.ModelProto) -> dict[str, list[int | str] | None]:
    """The shapes of the outputs that are tensors, as they are written; None where the rank is not known."""
    infos = {info.name: info.type.tensor_type for info in (*model.graph.value_info, *model.graph.output)}
    return {
        o.name: [d.dim_value if d.HasField("dim_value") else d.dim_param for d in infos[o.name].shape.dim]
        if infos[o.name].HasField("shape")
        else None
        for o in model.graph.output
    }


def misses(ours: list[int | str] | None, theirs: list[int | str] | None) -> bool:
    """Whether a rank or a number that they have is another one with us, or none."""
    if theirs is None:
        return False
    if ours is None or len(ours) != len(theirs):
        return True
    return any(isinstance(b, int) and a != b for a, b in zip(ours, theirs, strict=True))


def test_no_size_is_missing_that_onnx_finds() -> None:
    missed, compared = set(), 0
    for case in cases():
        model = with_constants(case)
        try:
            theirs = outputs_of(onnx.shape_inference.infer_shapes(model, data_prop=True))
        except onnx.shape_inference.InferenceError:
            continue
        ours = outputs_of(infer_shapes(model))
        compared += sum(shape is not None for shape in theirs.values())
        missed |= {case.name for name, shape in theirs.items() if misses(ours[name], shape)}
    assert missed == OTHER_THAN_ONNX.keys()
    assert compared > 1900
