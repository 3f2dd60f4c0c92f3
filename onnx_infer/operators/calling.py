"""Any rule as a function `(ctx, node)`: the results of `registry.get(...)` can be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import OnnxInferError, OpUsageError
from onnx_infer.laws.statements import Trace
from onnx_infer.model.graph import Attributes
from onnx_infer.operators.lookup import operator_of
from onnx_infer.operators.schema import NEWEST

if TYPE_CHECKING:
    from onnx_infer.operators.context import Node, ShapeInferenceContext
    from onnx_infer.operators.rule import Rule


def call_rule(rule: Rule, ctx: ShapeInferenceContext, node: Node) -> None:
    """Apply a rule to a node. The types of its outputs are merged into those of the node's values.

    Raises `OpUsageError` for a node that does not follow the operator's schema. Broken laws go to `ctx.record_error`.

    >>> from onnx_infer import Node, ShapeInferenceContext, ValueInfo, registry
    >>> from onnx_infer.testing import ts
    >>> ctx, y = ShapeInferenceContext({"": 20}), ValueInfo("y")
    >>> registry.get("", "Flatten", 20)(ctx, Node("Flatten", [ValueInfo("x", ts(1, ["N", 3, 4]))], [y], {"axis": 1}))
    >>> y
    y: f32[N, 12]
    """
    if rule.style == "context":
        rule.shape(ctx, node)
        return
    version = ctx.get_opset_version(rule.domain)
    operator = operator_of(rule, rule.domain, node.op_type, NEWEST if version is None else version)
    inputs = tuple([None if value is None else value.type for value in node.inputs])
    with Trace() as trace:
        try:
            values, _, wrong = operator.infer(inputs, Attributes(node.attributes), len(node.outputs))
        except OpUsageError:
            raise
        except OnnxInferError as error:
            ctx.record_error(node, str(error))
            return
    for output, value in zip(node.outputs, values, strict=True):
        ctx.set_type(output, value)
    for law in (*trace.errors, *([wrong] if wrong else ())):
        ctx.record_error(node, law)
