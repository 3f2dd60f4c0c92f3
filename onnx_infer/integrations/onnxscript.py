"""Inference inside onnxscript's optimizer and its builders; see docs/coming_from.md.

from onnx_infer.integrations import onnxscript

model = onnxscript.optimize(model)  # in place of onnxscript.optimizer.optimize(model)
with onnxscript.installed():  # here a GraphBuilder, and the optimizer, infer each node with this package
    ...
"""

from __future__ import annotations

import warnings
from functools import partialmethod
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import onnx
import onnx_ir as ir

from onnx_infer.errors import OnnxInferError, ShapeInferenceError
from onnx_infer.inference import Options, with_options
from onnx_infer.integrations.onnx_ir import SymbolicShapeInferencePass
from onnx_infer.integrations.onnx_ir_folding import FoldKnownValuesPass
from onnx_infer.integrations.onnx_ir_nodes import NodeInference
from onnx_infer.integrations.replacing import Replacement, replace_members

if TYPE_CHECKING:
    from collections.abc import Callable

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


# -- in place of onnx's inference of nodes ----------------------------------------------------------------------------


class ShapeInferenceWarning(UserWarning):
    """A node cannot run with the types of its operands; nothing is known of its outputs."""


_ERROR = "pkg.onnxscript.shape_inference_error"
"""The metadata of a node for which onnxscript's builder keeps the error of inference."""


def _replace() -> Callable[[], None]:
    from onnxscript import BuilderBase, GraphBuilder
    from onnxscript.optimizer._constant_folding import FoldConstantsPass

    builders: WeakKeyDictionary[Any, NodeInference] = WeakKeyDictionary()
    models: WeakKeyDictionary[Any, NodeInference] = WeakKeyDictionary()

    def infer_shapes(builder: Any, node: ir.Node) -> None:
        is_graph = isinstance(builder, GraphBuilder)
        root = builder.root if is_graph else builder
        if root not in builders:
            builders[root] = NodeInference(root.graph, root.functions) if is_graph else NodeInference()
        _update(builders[root], node)

    def call(builder: Any, former: Callable[..., Any], function: Any, *args: Any, **attributes: Any) -> Any:
        known = getattr(function, "function_ir", function)
        if isinstance(known, ir.Function):
            builder.functions.setdefault(known.identifier(), known)  # `former` enters it too late for its first call
        return former(builder, function, *args, **attributes)

    def fold(folding: Any, former: Callable[..., Any], model: ir.Model) -> Any:
        models[folding] = NodeInference.of(model, assumes=False)
        return former(folding, model)

    def infer_node(folding: Any, node: ir.Node) -> None:
        _update(models[folding], node)

    members = {
        (BuilderBase, "_infer_shapes"): infer_shapes,
        (GraphBuilder, "call"): partialmethod(call, GraphBuilder.call),
        (FoldConstantsPass, "call"): partialmethod(fold, FoldConstantsPass.call),
        (FoldConstantsPass, "_do_inference"): infer_node,
    }
    return replace_members(members)


_replacement = Replacement(_replace)
install, uninstall, installed = _replacement.install, _replacement.uninstall, _replacement.installed
"""Let onnxscript's builders and its optimizer infer each node with this package.

A value has its type as soon as a builder has made it, also in the body of a Loop, a Scan or an If, and so has each
result of a function that is called. Guards are those of the finished model: `onnx_ir.infer(model).guards`.
"""


def _update(inference: NodeInference, node: ir.Node) -> None:
    """Write the types of a node's outputs. An error is kept in its metadata, as by onnxscript, and warned of."""
    try:
        inference.update(node)
    except OnnxInferError as error:
        node.metadata_props[_ERROR] = str(error)
        if isinstance(error, ShapeInferenceError):
            warnings.warn(f"shape inference: {error}", ShapeInferenceWarning, stacklevel=2)
