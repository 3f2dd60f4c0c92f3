"""Models from onnx's text format."""

from __future__ import annotations

import onnx
import onnx.parser
from onnx import TensorProto

from onnx_infer import InferenceResult, infer

HEAD = '<ir_version: 10, opset_import: ["": 18, "com.acme": 1]>'


def parsed(graph: str, head: str = HEAD) -> onnx.ModelProto:
    """A model; outputs of which the text says no type have none."""
    model = onnx.parser.parse_model(f"{head}\n{graph}")
    for output in model.graph.output:
        if output.type.tensor_type.elem_type == TensorProto.UNDEFINED:
            output.ClearField("type")
    return model


def types(model: onnx.ModelProto, *names: str) -> list[str]:
    """The inferred types of values, of a model of which inference has nothing to say."""
    result = infer(model)
    assert not [str(d) for d in result.diagnostics]
    return [str(result.types[name]) for name in names]


def messages(result: InferenceResult) -> list[str]:
    """What inference has to say."""
    return [d.message for d in result.diagnostics]
