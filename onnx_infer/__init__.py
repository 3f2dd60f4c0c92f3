"""Symbolic shape, type and value inference for ONNX: every size as an expression of the input sizes.

`infer_shapes` replaces `onnx.shape_inference.infer_shapes`; `infer` returns the whole result. The package is cheap to
import: its modules are loaded when a name is first used.

    api.py           infer, infer_shapes                     inference.py      walks until bounds are settled
    result.py        the result of an inference              node.py           one node or function, as onnx does
    diagnostics.py   errors and warnings about a model       errors.py         the exceptions
    incremental.py   a model that grows                      rules.py          everything for writing rules
    testing.py       operator cases as text                  __main__.py       the command line

The rooms follow. Each has its own map in its `__init__`. A room uses only rooms above it:

    values/          types of values: tensors, sequences, optionals, maps
    laws/            laws that rules share: broadcasting, windows, slices; statements
    elements/        data propagation
    types/           two types of one value: join and merge
    model/           the engine's view of a model
    operators/       from a node to its rule
    ops/             the rules, one file per operator family
    constraints/     operators as relations, read in every direction
    engine/          the walk over a model
    bidirectional/   inference in both directions
    results/         guards, guarantees, reasons
    protobuf/        the front end of ModelProtos
    contract/        sizes judged by what a file says, before a run
    tools/           what is done with a result: fold, make_dynamic, planning, code, pages, reports, fleets, the command
    integrations/    front ends of other libraries

All above `tools/` is the core. It infers and imports no tool: a method of `InferenceResult` loads one when called.
"""

from __future__ import annotations

from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING

from symdim import __version__

if TYPE_CHECKING:
    from onnx_infer.api import infer, infer_shapes, infer_shapes_path, infer_symbolic_shapes, rename_symbols
    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.errors import (
        ArgumentError,
        ExternalDataError,
        NoModelError,
        OpUsageError,
        ShapeInferenceError,
        Unknown,
        UnknownSymbol,
    )
    from onnx_infer.incremental import Incremental
    from onnx_infer.node import infer_function_output_types, infer_node_outputs
    from onnx_infer.operators.context import (
        Node,
        ShapeInferenceContext,
        ValueInfo,
        broadcast_shapes,
        check_inputs,
        require_attr,
    )
    from onnx_infer.operators.context import call_rule as call_rule
    from onnx_infer.operators.registration import OpShapeInferenceRegistry, op, registry
    from onnx_infer.protobuf.lint import lint
    from onnx_infer.result import InferenceResult
    from onnx_infer.results.guards import Guard, Violation
    from onnx_infer.tools.materialization import Materialized, materialize
    from onnx_infer.tools.transforms.dynamic.making import Dynamic, make_dynamic
    from onnx_infer.tools.transforms.folding import fold
    from onnx_infer.types.merge import ShapeMergePolicy
    from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
    from onnx_infer.values.tensor import Dim, SymTensor

__all__ = [
    "ArgumentError", "Diagnostic", "Dim", "Dynamic", "ExternalDataError", "Guard", "Incremental", "InferenceResult",
    "Map", "Materialized", "NoModelError", "Node", "OpShapeInferenceRegistry", "OpUsageError", "Optional", "Sequence",
    "ShapeInferenceContext", "ShapeInferenceError", "ShapeMergePolicy", "Sparse", "SymTensor", "Unknown",
    "UnknownSymbol", "ValueInfo", "Violation", "__version__", "broadcast_shapes", "check_inputs", "fold", "infer",
    "infer_function_output_types", "infer_node_outputs", "infer_shapes", "infer_shapes_path", "infer_symbolic_shapes",
    "lint", "make_dynamic", "materialize", "op", "registry", "rename_symbols", "require_attr",
]  # fmt: skip

_MODULES = {
    "api": "infer infer_shapes infer_shapes_path infer_symbolic_shapes rename_symbols",
    "diagnostics": "Diagnostic",
    "errors": "ArgumentError ExternalDataError NoModelError OpUsageError ShapeInferenceError Unknown UnknownSymbol",
    "incremental": "Incremental",
    "node": "infer_function_output_types infer_node_outputs",
    "operators.context": "Node ShapeInferenceContext ValueInfo broadcast_shapes call_rule check_inputs require_attr",
    "operators.registration": "OpShapeInferenceRegistry op registry",
    "protobuf.lint": "lint",
    "result": "InferenceResult",
    "results.guards": "Guard Violation",
    "tools.materialization": "Materialized materialize",
    "tools.transforms.dynamic.making": "Dynamic make_dynamic",
    "tools.transforms.folding": "fold",
    "types.merge": "ShapeMergePolicy",
    "values.containers": "Map Optional Sequence Sparse",
    "values.tensor": "Dim SymTensor",
}
"""Module -> the public names in it, which are loaded on first use."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def needed() -> str | None:
    """What is to be installed before any name of this package can be used; None where all is there."""
    is_complete = all(map(_find_spec, ("onnx", "numpy")))
    return None if is_complete else "onnx_infer needs onnx 1.16 or newer: pip install 'onnx>=1.16'"


def __getattr__(name: str) -> object:
    """A public name. Its module is loaded now."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if missing := needed():
        raise ImportError(missing)
    import gc
    from importlib import import_module

    is_collecting = gc.isenabled()
    gc.disable()  # the many objects of modules stay, so no collection finds anything
    try:
        module = import_module(f".{_MODULE_OF[name]}", __name__)
    finally:
        if is_collecting:
            gc.enable()
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
