"""Models run by onnxruntime, without its optimizations: each node is run as it stands in the model."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import onnx

    from onnx_infer import InferenceResult

_errors = ort.capi.onnxruntime_pybind11_state
VERSION = tuple(map(int, ort.__version__.split(".")[:2]))
"""The installed onnxruntime. An older one lacks operators, and refuses more."""

REFUSED = (_errors.Fail, _errors.InvalidArgument, _errors.RuntimeException, _errors.EPFail)
"""What onnxruntime raises where it does not run a node."""

NOT_LOADED = (*REFUSED, _errors.InvalidGraph)
"""What onnxruntime raises where it does not load a model."""


def session_of(model: onnx.ModelProto) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(session: ort.InferenceSession, feeds: Mapping[str, Any]) -> list[Any] | None:
    """The outputs, or None where onnxruntime does not run the model."""
    try:
        return session.run(None, dict(feeds))  # type: ignore[no-any-return]
    except REFUSED:
        return None


def shape_at(result: InferenceResult, name: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The inferred shape of a value at these sizes."""
    return tuple([d if isinstance(d, int) else d.to_int(sizes) for d in result.shapes[name] or ()])


def counting(result: InferenceResult, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Floats 0, 1, 2, ... for each input."""
    shapes = {name: shape_at(result, name, sizes) for name in result.inputs}
    return {name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape) for name, shape in shapes.items()}


def all_sizes(result: InferenceResult, sizes: Sequence[int]) -> list[dict[str, int]]:
    """Each of these sizes for each symbol, in all combinations."""
    names = sorted({v.name for v in result.sources.symbols})
    return [dict(zip(names, values, strict=True)) for values in product(sizes, repeat=len(names))]


def check_guards(model: onnx.ModelProto, result: InferenceResult, sizes: Sequence[int]) -> None:
    """Where a guard fails the model does not run; where all hold it runs. Both occur."""
    session, outcomes = session_of(model), set()
    for bindings in all_sizes(result, sizes):
        holds = not result.check(bindings)
        outcomes.add(holds)
        assert (run(session, counting(result, bindings)) is not None) is holds, bindings
    assert outcomes == {True, False}
