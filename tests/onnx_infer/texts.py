"""Models from onnx's text format."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.parser
import onnx_ir as ir
from onnx import TensorProto

from onnx_infer import InferenceResult, infer
from onnx_infer.integrations import onnx_ir

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


def declared(result: InferenceResult) -> list[str]:
    """The guards that rest on declared types alone."""
    return [str(g) for g in (*result.guards, *result.data_guards) if g.kind == "declared"]


def both(model: onnx.ModelProto, **options: Any) -> InferenceResult:
    """The result, which the front end of onnx_ir has too."""
    result = infer(model, **options)
    other = onnx_ir.infer(ir.from_proto(model), **options)
    assert {n: str(v) for n, v in other.types.items()} == {n: str(v) for n, v in result.types.items()}
    assert list(map(str, (*other.guards, *other.data_guards))) == list(map(str, (*result.guards, *result.data_guards)))
    return result


def dims(info: onnx.ValueInfoProto) -> list[str | int | None]:
    """The sizes of a tensor as they are written."""
    shape = info.type.tensor_type.shape
    return [getattr(d, d.WhichOneof("value")) if d.WhichOneof("value") else None for d in shape.dim]
