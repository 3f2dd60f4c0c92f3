"""Rules of onnxruntime's own operators that have no kernel for the CPU, against the shapes that onnxruntime infers.

It replaces the Shape of a value by a constant if it has inferred the sizes, and then drops the node. So it answers for
nodes that it cannot run.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from onnx_infer import SymTensor, infer
from tests.fuzz.cases import Case, at, cases

from .node_cases import CASES, attribute_proto, tensor_proto
from .sessions import REFUSED, VERSION
from .test_contrib import schemas

if TYPE_CHECKING:
    from collections.abc import Sequence

OTHERWISE = {"QOrderedAttention": "the shape of the input; its kernel gives the columns of V_weight"}
"""Operators of which onnxruntime infers another shape than it makes."""

if VERSION < (1, 32):
    OTHERWISE["GatedDeltaNet"] = "changes of the state with one decay for each head only"

NOT_INFERRED = {
    "ComplexMul", "ComplexMulConj", "DequantizeBFP", "EPContext", "GemmFloat8", "Irfft", "IsAllFinite",
    "MatMulBlockQuantizedFp8Weight", "MulInteger", "ReduceSumInteger", "RelativePositionBias", "Rfft", "Snpe",
}  # fmt: skip
"""Operators of which onnxruntime may infer nothing."""

_errors = ort.capi.onnxruntime_pybind11_state


def operators() -> list[str]:
    """The operators with cases that the installed onnxruntime has, but cannot run."""
    kernels = _errors.get_all_opkernel_def()
    run = {kernel.op_name for kernel in kernels if kernel.provider == "CPUExecutionProvider"}
    names = {name for domain, name, _ in schemas() if domain == "com.microsoft"} - run - OTHERWISE.keys()
    lines = "\n".join(path.read_text("utf-8") for path in CASES.glob("contrib_*.txt"))
    return sorted(names & {*re.findall(r"^com\.microsoft::(\w+)-", lines, re.M)})


def at_sizes(case: Case) -> list[SymTensor | None] | None:
    """The inputs at concrete sizes; None if there are no such sizes."""
    rng, sizes = Random(1), dict[str, int]()
    out: list[SymTensor | None] = []
    for value in case.inputs:
        if value is None:
            out.append(None)
            continue
        if not isinstance(value, SymTensor) or value.dtype is None or value.shape is None:
            return None
        shape = [at(d, sizes, rng) for d in value.shape]
        data = [x if isinstance(x, (int, float, bool, str)) else at(x, sizes, rng) for x in value.data or ()]
        if None in data or any(size is None or size < 0 for size in shape):
            return None
        out.append(SymTensor(value.dtype, [size or 0 for size in shape], None if value.data is None else data))
    return out


def model_of(case: Case, inputs: Sequence[SymTensor | None], asked: int | None = None) -> onnx.ModelProto:
    """The node, of floats that are cast to its types. If an output is asked for, only its Shape is made."""
    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(case.output_count)]
    entries, tensors, nodes = [], [], []
    for name, value in zip(names, inputs, strict=True):
        if value is not None and value.data is not None:
            tensors.append(tensor_proto(value))
            tensors[-1].name = name
        elif value is not None:
            entries.append(helper.make_tensor_value_info(f"float_{name}", TensorProto.FLOAT, list(value.dims)))
            nodes.append(helper.make_node("Cast", [f"float_{name}"], [name], to=value.dtype))
    nodes.append(helper.make_node(case.name, names, outputs, domain=case.domain))
    nodes[-1].attribute.extend(attribute_proto(None, k, v) for k, v in case.attributes.items())
    results = [onnx.ValueInfoProto(name=name) for name in outputs]
    if asked is not None:
        nodes.append(helper.make_node("Shape", [f"y{asked}"], ["shape"]))
        results = [helper.make_tensor_value_info("shape", TensorProto.INT64, [None])]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(
        helper.make_graph(nodes, "g", entries, results, tensors), opset_imports=opsets, ir_version=10
    )


def answer(model: onnx.ModelProto) -> tuple[int, ...] | None:
    """The shape that onnxruntime infers, or None."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except (*REFUSED, _errors.InvalidGraph, _errors.NotImplemented):
        return None
    feeds = {entry.name: np.zeros(entry.shape, np.float32) for entry in session.get_inputs()}
    return tuple(session.run(None, feeds)[0].tolist())


def compared(case: Case) -> list[tuple[Any, tuple[int, ...]]]:
    """The inferred shape of each output, and the one that onnxruntime infers, where it does."""
    inputs = at_sizes(case)
    if inputs is None:
        return []
    result = infer(model_of(case, inputs))
    if result.diagnostics:  # the sizes break a law
        return []
    answers = [(result.shapes.get(f"y{i}"), answer(model_of(case, inputs, i))) for i in range(case.output_count)]
    return [(ours, theirs) for ours, theirs in answers if theirs is not None]


@pytest.mark.parametrize("name", operators())
def test_the_shapes_are_those_of_onnxruntime(name: str) -> None:
    pairs = [pair for case in cases() if (case.domain, case.name) == ("com.microsoft", name) for pair in compared(case)]
    for ours, theirs in pairs:
        assert ours is not None
        known = [size if isinstance(size, int) else other for size, other in zip(ours, theirs, strict=True)]
        assert tuple(known) == theirs
    assert pairs or name in NOT_INFERRED


def test_a_search_takes_no_more_steps_than_the_result_is_long() -> None:
    names, dtypes = ("input_ids", "max_length", "", "num_beams", "num_return_sequences"), (6, 6, 0, 6, 6)
    node = helper.make_node("BeamSearch", names, ["found", "", "scores"], domain="com.microsoft", vocab_size=50)
    shapes: list[list[int | str]] = [["B", "S"], [1], [], [1], [1]]
    inputs = [helper.make_tensor_value_info(n, d, s) for n, d, s in zip(names, dtypes, shapes, strict=True) if n]
    length = helper.make_tensor("max_length", TensorProto.INT32, [1], [20])
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name="scores")], [length])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    )
    scores = infer(model, initializers="constant").types["scores"]
    assert isinstance(scores, SymTensor)
    assert getattr(scores.dims[0], "at_most", None) == 20
