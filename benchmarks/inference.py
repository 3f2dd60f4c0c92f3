"""Shape inference engines for whole models behind one interface: a loaded ModelProto in, a new one out.

Those that are not installed are left out. What an engine has to convert, it converts within its time.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from symdim import Expr, SymdimError, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import ModelProto, TensorShapeProto

    Inference = Callable[[ModelProto], ModelProto]


def by_onnx() -> Inference:
    """onnx's C++ inference, with data propagation."""
    import onnx.shape_inference

    return lambda model: onnx.shape_inference.infer_shapes(model, data_prop=True)


def by_this_project() -> Inference:
    """`onnx_infer.infer_shapes`."""
    from onnx_infer import infer_shapes

    return infer_shapes


def by_onnx_shape_inference() -> Inference:
    """The package onnx-shape-inference, on onnx_ir and SymPy."""
    from onnx_ir.serde import deserialize_model, serialize_model
    from onnx_shape_inference import infer_symbolic_shapes

    return lambda model: serialize_model(infer_symbolic_shapes(deserialize_model(model), warn_on_missing=False))


def by_onnxruntime() -> Inference:
    """onnxruntime's script `symbolic_shape_infer`, on SymPy."""
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    return lambda model: SymbolicShapeInference.infer_shapes(model, auto_merge=True)


ENGINES: dict[str, tuple[str, Callable[[], Inference]]] = {
    "onnx_infer": ("onnx_infer", by_this_project),
    "onnx C++": ("onnx", by_onnx),
    "onnx-shape-inference": ("onnx_shape_inference", by_onnx_shape_inference),
    "onnxruntime script": ("onnxruntime", by_onnxruntime),
}


def installed() -> list[str]:
    """The engines that can be imported, this project first."""
    return [name for name, (module, _) in ENGINES.items() if find_spec(module) is not None]


def known_share(model: ModelProto) -> float:
    """The share of node outputs of which the rank and all sizes are functions of the input sizes."""
    symbols = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}

    def known(dim: TensorShapeProto.Dimension) -> bool:
        if not dim.dim_param:
            return dim.HasField("dim_value")
        try:
            size = parse(dim.dim_param, symbols)
        except SymdimError:
            return False
        return not isinstance(size, Expr) or size.free_symbols() <= symbols

    types = {info.name: info.type.tensor_type for info in (*model.graph.value_info, *model.graph.output)}
    outputs = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output if name]
    complete = [n for n in outputs if n in types and types[n].HasField("shape") and all(map(known, types[n].shape.dim))]
    return len(complete) / max(1, len(outputs))
