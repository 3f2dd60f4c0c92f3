"""Quantized tensors of onnxruntime: operators with a scale and a zero point for each tensor, and conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.granularity import demand_scalars, demand_single
from onnx_infer.laws.sizes import normalize_axis, of_rank
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.elementwise import broadcast_binary, where
from onnx_infer.ops.joining import joined_sizes
from onnx_infer.ops.quantization import dequantize, quantize
from onnx_infer.ops.reduction import reduce
from onnx_infer.ops.unary import same_shape_of_input
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, AnyRanks, Ints, Shape

_BINARY = "A A_scale A_zero_point? B B_scale B_zero_point? C_scale C_zero_point?"
_UNARY = "X X_scale X_zero_point? Y_scale Y_zero_point?"


@contrib("QLinearAdd", "QLinearMul", inputs=_BINARY)
def quantized_binary(
    A: SymTensor,
    A_scale: AnyRank,
    A_zero_point: AnyRank | None,
    B: SymTensor,
    B_scale: AnyRank,
    B_zero_point: AnyRank | None,
    C_scale: AnyRank,
    C_zero_point: AnyRank | None,
) -> Shape:
    """The broadcast shape. All parameters are scalars."""
    demand_scalars(A_scale=A_scale, A_zero_point=A_zero_point, B_scale=B_scale, B_zero_point=B_zero_point)
    demand_scalars(C_scale=C_scale, C_zero_point=C_zero_point)
    return broadcast_binary(A, B)


@contrib("QLinearLeakyRelu", "QLinearSigmoid", inputs=_UNARY)
def quantized_unary(
    X: AnyRank, X_scale: AnyRank, X_zero_point: AnyRank | None, Y_scale: AnyRank, Y_zero_point: AnyRank | None
) -> Shape | None:
    """X's shape."""
    demand_single(X_scale=X_scale, X_zero_point=X_zero_point, Y_scale=Y_scale, Y_zero_point=Y_zero_point)
    return X.shape


contrib(
    "QLinearWhere",
    inputs="condition X x_scale x_zero_point Y y_scale y_zero_point z_scale z_zero_point",
    dtype=lambda X: X.dtype,
)(where)


@contrib("QLinearSoftmax", inputs="X X_scale x_zero_point? y_scale y_zero_point")
def quantized_softmax(X: SymTensor, axis: int = -1) -> Shape:
    """X's shape."""
    normalize_axis(axis, X.rank)
    return X.dims


@contrib("QLinearConcat", inputs="Y_scale Y_zero_point inputs*", dtype=lambda Y_zero_point: Y_zero_point.dtype)
def quantized_concat(inputs: AnyRanks, axis: int) -> Shape:
    """As Concat; the inputs are triples of a tensor, its scale and its zero point."""
    require(len(inputs) % 3 == 0, "the number of inputs is not a multiple of 3", len(inputs))
    return joined_sizes(inputs[::3], axis)


@contrib("QLinearReduceMean", inputs="data data_scale data_zero_point? reduced_scale reduced_zero_point?")
@contrib("ReduceSumInteger", inputs="data", dtype=lambda: None)
def quantized_reduce(data: AnyRank, axes: Ints, keepdims: int) -> Shape:
    """The sizes at `axes` become 1, or are removed without keepdims. The model declares the type of sums."""
    return reduce(data, axes, keepdims)


# -- conversions -------------------------------------------------------------------------------------------------------


@contrib(
    "QuantizeLinear",
    inputs="x y_scale y_zero_point?",
    dtype=lambda y_zero_point: dt.UINT8 if y_zero_point is None else y_zero_point.dtype,
)
def quantize_linear(x: SymTensor, y_scale: AnyRank, y_zero_point: AnyRank | None, axis: int = 1) -> Shape:
    """x's shape (as QuantizeLinear-13)."""
    return quantize(x, y_scale, y_zero_point, axis, None, 13)


@contrib("DequantizeLinear", inputs="x x_scale x_zero_point?", dtype=lambda x_scale: x_scale.dtype)
def dequantize_linear(x: SymTensor, x_scale: AnyRank, x_zero_point: AnyRank | None, axis: int = 1) -> Shape:
    """x's shape (as DequantizeLinear-13)."""
    return dequantize(x, x_scale, x_zero_point, axis, None, 13)


# the order of the elements in memory does not matter
contrib("QuantizeWithOrder", inputs="input scale_input", dtype=lambda: dt.INT8)(same_shape_of_input)
contrib("DequantizeWithOrder", inputs="input scale_input", dtype=lambda to: to)(same_shape_of_input)


@contrib("QuantizeBFP", inputs="x", dtype=lambda: [dt.UINT8, dt.INT64, dt.INT64])
def quantize_blocks(x: SymTensor) -> list[Shape | SymTensor]:
    """x -> its bytes, its shape and its strides, as vectors."""
    return [(fresh("the number of bytes depends on bfp_type"),), SymTensor(dt.INT64, (x.rank,), x.dims), (x.rank,)]


@contrib("DequantizeBFP", inputs="x shape strides", dtype=lambda dtype=dt.FLOAT: dtype)
def dequantize_blocks(shape: Ints) -> Shape:
    """Bytes -> the shape given."""
    return tuple(fresh("the shape is not known") if size is None else size for size in shape)


# -- Gather ------------------------------------------------------------------------------------------------------------


@contrib(
    "GatherBlockQuantized", inputs="data indices scales zero_points?", dtype=lambda scales: scales.dtype, indices=(1,)
)
def gather_blocks(
    data: SymTensor, indices: SymTensor, scales: AnyRank, gather_axis: int = 0, quantize_axis: int = 1, bits: int = 4
) -> Shape:
    """As Gather. If bytes contain several elements, the last axis has `8 / bits` elements per byte."""
    sizes = list(data.dims)
    gather = normalize_axis(gather_axis, data.rank)
    normalize_axis(quantize_axis, data.rank)
    if data.dtype is None:
        sizes[-1] = fresh("whether bytes are packed is not known")
    elif data.dtype == dt.UINT8:
        require(bits in (2, 4, 8), "bits is none of 2, 4 and 8", bits)
        sizes[-1] = sizes[-1] * (8 // bits)
    return (*sizes[:gather], *indices.dims, *sizes[gather + 1 :])


@contrib("GatherPacked", inputs="data indices", dtype=lambda output_dtype=dt.BFLOAT16: output_dtype)
def gather_packed(data: AnyRank, indices: SymTensor, K: int) -> Shape:
    """Rows (count, bytes) of K packed elements each -> (*indices, K). An index out of bounds selects the first row."""
    of_rank(data.shape, 2, "data")
    demand(K > 0, "K must be positive", K)
    return (*indices.dims, K)
