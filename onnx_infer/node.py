"""Inference of a single node, with the signature of `onnx.shape_inference.infer_node_outputs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from onnx_infer.diagnostics import about_node
from onnx_infer.engine.engine import apply
from onnx_infer.errors import OpUsageError, ShapeInferenceError
from onnx_infer.laws.statements import named
from onnx_infer.model.attributes import constant, value_type
from onnx_infer.model.graph import NO_ATTRIBUTES
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.lookup import NEWEST, bind
from onnx_infer.protobuf.reading import read_attributes
from onnx_infer.protobuf.wire import type_bytes
from onnx_infer.values.tensor import SymTensor, substitute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.values.tensor import Value


def infer_node_outputs(
    schema: onnx.defs.OpSchema | None,
    node: onnx.NodeProto,
    input_types: Mapping[str, onnx.TypeProto],
    input_data: Mapping[str, onnx.TensorProto] | None = None,
    input_sparse_data: Mapping[str, onnx.SparseTensorProto] | None = None,
    opset_imports: Sequence[onnx.OperatorSetIdProto] | None = None,
    ir_version: int = onnx.IR_VERSION,
) -> dict[str, onnx.TypeProto]:
    """The types of a node's outputs by name; an output of which nothing is known is left out.

    The version is the schema's; without a schema it is that of `opset_imports`, else the newest. Raises `OpUsageError`
    and `ShapeInferenceError` with operator, node and operands. `input_sparse_data` and `ir_version` are accepted for
    compatibility: no rule needs them.

    >>> node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    >>> types = {n: onnx.helper.make_tensor_type_proto(1, ["N", d]) for n, d in (("a", 1), ("b", 5))}
    >>> [d.dim_param or d.dim_value for d in infer_node_outputs(None, node, types)["c"].tensor_type.shape.dim]
    ['N', 5]
    """
    version = next((o.version for o in opset_imports or () if o.domain == node.domain), NEWEST)
    operator = bind(node.domain, node.op_type, schema.since_version if schema is not None else version)
    if operator is None:
        raise OpUsageError(f"no rule for {node.domain or 'ai.onnx'}::{node.op_type}")
    params = [d.dim_param for t in input_types.values() for d in t.tensor_type.shape.dim if d.dim_param]
    symbols = Symbols(params)
    data = input_data or {}
    values: list[Value | None] = []
    for name in node.input:
        if not name:
            values.append(None)
        elif name in data:
            values.append(constant(data[name]))
        else:
            found = value_type(input_types[name], symbols.read) if name in input_types else None
            values.append(found if found is not None else SymTensor(None, None))
    attributes = read_attributes(node.attribute) if node.attribute else NO_ATTRIBUTES
    outcome = apply(operator, attributes, tuple(values), len(node.output))
    if outcome.error is not None and outcome.error[0] != "warning":
        severity, message = outcome.error
        text = str(about_node(severity, operator.schema, node.name, message, tuple(values), attributes.values))
        raise ShapeInferenceError(text)
    names = named(outcome.fresh, symbols.name)
    out = {}
    for name, value in zip(node.output, outcome.values, strict=False):
        payload = type_bytes(substitute(value, names)) if name else b""
        if payload:
            out[name] = onnx.TypeProto.FromString(payload)
    return out
