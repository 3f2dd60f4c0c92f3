"""The versions that a model says it has: of the IR, and of its opsets; and its metadata."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import onnx

from onnx_infer.model.graph import normal_domain
from onnx_infer.operators.known_schemas import newest_known
from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.nodes import graphs_of
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import ModelProto

_WITH_OPSETS = 3
"""From this IR version on a model imports opsets."""
_MOST = 2**31 - 1


def version_findings(model: ModelProto) -> Iterator[Finding]:
    """The findings about the versions of a model, and about its metadata."""
    ir = model.ir_version
    if ir <= 0:
        yield Finding("ir-version", "model", str(ir), "it is not set")
    elif ir > onnx.IR_VERSION:
        yield Finding("ir-version", "model", str(ir), f"onnx {onnx.__version__} knows {onnx.IR_VERSION}")
    elif ir < _WITH_OPSETS and model.opset_import:
        yield Finding("ir-version", "model", str(ir), "a model of this version imports no opsets")
    if ir >= _WITH_OPSETS and not model.opset_import:
        yield Finding("no-opset", "model", "")
    for owner in (model, *model.functions):
        root = model.graph if owner is model else owner
        used = {normal_domain(text(node.domain)) for graph in graphs_of(root) for node in graph.node}
        for opset in owner.opset_import:
            domain, version = normal_domain(text(opset.domain)), opset.version
            newest = newest_known(domain)
            is_low = version < 1 and newest is not None and domain in used
            if is_low or version > (_MOST if newest is None else newest):
                known = "" if newest is None else f"1 to {newest} are known"
                yield Finding("opset-version", "model", f"{domain or 'ai.onnx'} {version}", known)
    for key, count in Counter(text(entry.key) for entry in model.metadata_props).items():
        if count > 1:
            yield Finding("repeated-metadata", "model", key)
