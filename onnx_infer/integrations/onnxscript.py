"""Inference inside onnxscript's optimizer; see docs/coming_from_onnxscript.md.

from onnx_infer.integrations.onnxscript import optimize

model = optimize(model)  # in place of onnxscript.optimizer.optimize(model)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import onnx_ir as ir

from onnx_infer.inference import Options
from onnx_infer.integrations.onnx_ir import SymbolicShapeInferencePass
from onnx_infer.integrations.onnx_ir_folding import FoldKnownValuesPass
from onnx_infer.options import with_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from onnx_infer.api import Model


@with_options(Options)
def optimize(model: Model, **options: Unpack[Options]) -> Model:
    """The model after onnxscript's optimizer, for which this package infers in place of onnx.

    An `onnx_ir.Model` is optimized in place, of a ModelProto a new one is made, as by `onnxscript.optimizer.optimize`.
    Calls of functions are inlined, what inference knows becomes constants, the optimizer folds what follows from them,
    and the types of what is left are written. The options are those of `onnx_infer.infer`.
    """
    from onnxscript import optimizer

    if isinstance(model, onnx.ModelProto):
        return ir.to_proto(optimize(ir.from_proto(model), **options))
    optimizer.inline(model)
    FoldKnownValuesPass(**options)(model)
    optimizer.optimize(model, onnx_shape_inference=False)
    SymbolicShapeInferencePass(**options)(model)
    return model
