"""Symbolic shape, type and value inference for ONNX: every size as an expression of the input sizes.

`infer_shapes` takes what `onnx.shape_inference.infer_shapes` takes; `infer` gives the whole result. The package costs
next to nothing to import: its modules load with the first name that is used.

    the calls         api, __main__ (demo, report), node, specialize, testing; integrations/
    a model           graph (the view that the engine reads), proto and attributes (from ModelProtos), symbols,
                      declared_bounds, order
    the walk          inference (walks until bounds are settled), engine, frame, scope, subgraph, functions, outcome,
                      trace (facts and fresh sizes), solution and implied (what facts say), merge and join (of types)
    an operator       registration, schema, schema_functions, parameters, arguments, binding, operators, verification,
                      context; the rules: ops/
    values            tensor, dtype; elements: values, lifting, comparison, ratio, aggregation; run_time (in runs only)
    shared laws       geometry, window_geometry, slicing
    both directions   bidirectional/; operators as constraints: constraints/
    a result          result, diagnostics, errors; guards, guarantees, sources, materialization, planning/
    writing back      writing, wire, former_names
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import onnx as _onnx  # noqa: F401
except ImportError as error:
    raise ImportError("onnx_infer needs onnx: pip install 'onnx-symdim[onnx]'") from error

if TYPE_CHECKING:
    from onnx_infer.api import infer, infer_shapes, infer_symbolic_shapes
    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.errors import OpUsageError, ShapeInferenceError, Unknown
    from onnx_infer.node import infer_node_outputs
    from onnx_infer.operators.context import (
        Node,
        ShapeInferenceContext,
        ValueInfo,
        broadcast_shapes,
        check_inputs,
        require_attr,
    )
    from onnx_infer.operators.registration import OpShapeInferenceRegistry, op, registry
    from onnx_infer.result import InferenceResult
    from onnx_infer.results.guards import Guard, Violation
    from onnx_infer.results.materialization import Materialized, materialize
    from onnx_infer.types.merge import ShapeMergePolicy
    from onnx_infer.values.tensor import Map, Optional, Sequence, Sparse, SymTensor

__all__ = [
    "Diagnostic", "Guard", "InferenceResult", "Map", "Materialized", "Node", "OpShapeInferenceRegistry", "OpUsageError",
    "Optional", "Sequence", "ShapeInferenceContext", "ShapeInferenceError", "ShapeMergePolicy", "Sparse", "SymTensor",
    "Unknown", "ValueInfo", "Violation", "broadcast_shapes", "check_inputs", "infer", "infer_node_outputs",
    "infer_shapes", "infer_symbolic_shapes", "materialize", "op", "registry", "require_attr",
]  # fmt: skip

_MODULES = {
    "api": ("infer", "infer_shapes", "infer_symbolic_shapes"),
    "operators.context": (
        "Node",
        "ShapeInferenceContext",
        "ValueInfo",
        "broadcast_shapes",
        "check_inputs",
        "require_attr",
    ),
    "diagnostics": ("Diagnostic",),
    "errors": ("OpUsageError", "ShapeInferenceError", "Unknown"),
    "results.guards": ("Guard", "Violation"),
    "results.materialization": ("Materialized", "materialize"),
    "types.merge": ("ShapeMergePolicy",),
    "node": ("infer_node_outputs",),
    "operators.registration": ("OpShapeInferenceRegistry", "op", "registry"),
    "result": ("InferenceResult",),
    "values.tensor": ("Map", "Optional", "Sequence", "Sparse", "SymTensor"),
}


def __getattr__(name: str) -> object:
    """A public name, its module loaded now."""
    from importlib import import_module

    for module, names in _MODULES.items():
        if name in names:
            loaded = import_module(f".{module}", __name__)
            globals().update({public: getattr(loaded, public) for public in names})
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
