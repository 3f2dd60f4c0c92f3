"""`lint`: all rules over a model, and onnx's own checker for what they do not have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import onnx
import onnx.checker
import onnx.serialization
from google.protobuf.message import DecodeError, EncodeError

from onnx_infer.protobuf.files import Source, read_model
from onnx_infer.protobuf.lint.findings import Finding, Findings
from onnx_infer.protobuf.lint.functions import function_findings, imported, node_findings, version_findings
from onnx_infer.protobuf.lint.names import name_findings, node_label, scopes
from onnx_infer.protobuf.lint.tensors import external, file_findings, tensor_findings
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.protobuf.lint.names import Scope

_format_of = onnx.serialization.registry.get_format_from_file_extension

_REMOVED = frozenset(
    (
        *("ATen", "Affine", "ConstantFill", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill", "ImageScaler"),
        *("ParametricSoftplus", "Scale", "ScaledTanh"),
    )
)
"""Operators about which onnx's checker prints a line on standard output, so it is not asked."""


def lint(model: Source, path: str | os.PathLike[str] | None = None) -> Findings:
    """What onnx's checker or onnxruntime refuses when it loads a model, in order of the model.

    The files of its weights are looked at if the model is a path, or lies at the given one. `unseen` of the result says
    what could not be looked at. Sizes and element types are not: `infer` tells what is wrong with them. Neither are the
    kernels of a runtime, and operators of other domains than onnx's.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
    ...     g (float[2] x, bool c) => (float[2] y) {
    ...         t = Relu (x)
    ...         y = If (c) <then_branch = a () => (float[2] t) {}, else_branch = b () => (float[2] u) { u = Neg (x) }>
    ...     }''')
    >>> for finding in lint(model):
    ...     print(finding.rule, "|", finding.place, "|", finding.name, "|", finding.cure)
    outer-value-returned | If 'y' then_branch | t | return an Identity of the value
    """
    proto = read_model(model)
    place = model if isinstance(model, (str, os.PathLike)) else path
    findings = list(version_findings(proto))
    graphs = list(scopes(proto))
    read = frozenset(name for scope in graphs for name in scope.read())
    opsets = {id(root): imported(root) for root in (proto, *proto.functions)}
    for scope in graphs:
        findings += name_findings(scope)
        if proto.opset_import:
            findings += node_findings(scope, opsets[id(scope.root)])
        findings += tensor_findings(scope, read)
    findings += function_findings(proto, graphs)
    weights = external(graphs)
    findings += file_findings(proto, weights, place)
    unseen = []
    if weights and place is None:
        unseen.append("files of weights: the folder of the model is not given")
    if not findings:
        told = _of_checker(proto, graphs, model if weights else None)
        if isinstance(told, Finding):
            findings.append(told)
        elif told:
            unseen.append(f"what only onnx's checker knows: {told}")
    return Findings(findings, unseen)


def _of_checker(model: onnx.ModelProto, graphs: Iterable[Scope], source: Source | None) -> Finding | str:
    """What onnx's checker says of a model, or why it is not asked; empty if it accepts the model.

    The `source` is what the model was read from, if it has weights in files; else None.
    """
    for node in (node for scope in graphs for node in scope.graph.node):
        if node.op_type in _REMOVED and text(node.domain) in ("", "ai.onnx"):
            return f"{node_label(node)} is an operator that was removed"
    if not isinstance(source, (str, os.PathLike, type(None))):
        return "with weights in files it needs the path of the model"
    if source is not None and _format_of(os.path.splitext(source)[1]) not in (None, "protobuf"):
        return "with weights in files it reads binary models only"
    try:
        onnx.checker.check_model(model if source is None else source)
    except onnx.checker.ValidationError as error:
        return Finding("refused-by-onnx", "model", text(model.graph.name), " ".join(str(error).split()))
    except (ValueError, EncodeError, DecodeError, RuntimeError) as error:  # more than 2 GB, another format
        return f"it cannot read the model ({error})"
    return ""
