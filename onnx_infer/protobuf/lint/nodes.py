"""Nodes: the opset of their domain, and outputs that every node of the operator has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.model.graph import normal_domain
from onnx_infer.operators.known_schemas import schema_at
from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.lint.scopes import node_label
from onnx_infer.values.text import text, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.protobuf.lint.scopes import Scope


def imported(root: Any) -> dict[str, int]:
    """The version that a model or a function imports of each domain, as it is written. `ai.onnx` serves for none."""
    found = {text(opset.domain): opset.version for opset in root.opset_import}
    return {"": found["ai.onnx"], **found} if "ai.onnx" in found else found


def node_findings(scope: Scope, opsets: dict[str, int]) -> Iterator[Finding]:
    """The findings about the nodes of one graph, under the opsets of its model or function."""
    told: set[str] = set()
    for node in scope.graph.node:
        domain = text(node.domain)
        version = opsets.get(domain)
        if version is None:
            if domain not in told and not scope.is_function:  # `function-opset` is about nodes of functions
                told.add(domain)
                yield Finding("domain-not-imported", scope.place, domain, f"{node_label(node)} is of it")
            continue
        outputs = texts(node.output)
        schema = schema_at(normal_domain(domain), text(node.op_type), version) if "" in outputs else None
        if schema is None or not schema.known:
            continue
        for formal, name in zip(schema.outputs, outputs, strict=False):
            if not (name or formal.optional or formal.variadic):
                yield Finding("unnamed-output", scope.place, formal.name, f"of {schema.title} {node_label(node)}")
