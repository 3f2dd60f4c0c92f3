"""Symbolic shape, type and value inference for ONNX: every size as an expression of the input sizes.

`infer_shapes` takes what `onnx.shape_inference.infer_shapes` takes; `infer` gives the whole result.
"""

from __future__ import annotations

try:
    import onnx as _onnx  # noqa: F401
except ImportError as error:
    raise ImportError("onnx_infer needs onnx: pip install 'onnx-symdim[onnx]'") from error

from .api import infer, infer_shapes, infer_symbolic_shapes
from .context import Node, ShapeInferenceContext, ValueInfo, broadcast_shapes, check_inputs, require_attr
from .diagnostics import Diagnostic
from .errors import OpUsageError, ShapeInferenceError, Unknown
from .merge import ShapeMergePolicy
from .node import infer_node_outputs
from .registry import OpShapeInferenceRegistry, op, registry
from .result import InferenceResult
from .tensor import Map, Optional, Sequence, Sparse, SymTensor

__all__ = [
    "Diagnostic", "InferenceResult", "Map", "Node", "OpShapeInferenceRegistry", "OpUsageError", "Optional", "Sequence",
    "ShapeInferenceContext", "ShapeInferenceError", "ShapeMergePolicy", "Sparse", "SymTensor", "Unknown", "ValueInfo",
    "broadcast_shapes", "check_inputs", "infer", "infer_node_outputs", "infer_shapes", "infer_symbolic_shapes", "op",
    "registry", "require_attr",
]  # fmt: skip
