"""Linear quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import differ, normalize_axis, unify
from onnx_infer.operators.registration import op
from onnx_infer.values import dtype as dt
from symdim import ceildiv

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Shape, SymTensor


def _scaled(
    x: SymTensor, scale: AnyRank, zero_point: AnyRank | None, axis: int | None, block_size: int | None
) -> Shape:
    """x's shape, as x and the scale tell it.

    The scale has one element, or one per index of the axis, or with blocks x's shape with `ceil(size / block_size)` at
    the axis; the zero point has the scale's shape.
    """
    require(not block_size or block_size > 0, "block_size is negative", block_size)
    if scale.shape is None:
        return x.dims
    if zero_point is not None and zero_point.shape is not None and len(zero_point.shape) == len(scale.shape):
        for i, (a, b) in enumerate(zip(scale.shape, zero_point.shape, strict=True)):
            unify(a, b, f"sizes of the scale and the zero point at axis {i}")
    if block_size:
        return _scaled_in_blocks(x.dims, scale.shape, axis or 0, block_size)
    if len(scale.shape) != 1 or not differ(scale.shape[0], 1) or axis is None:
        return x.dims
    axis = normalize_axis(axis, x.rank)
    size = unify(x.dims[axis], scale.shape[0], f"size of x at axis {axis} and size of the scale")
    return (*x.dims[:axis], size, *x.dims[axis + 1 :])


def _scaled_in_blocks(shape: Shape, scale: Shape, axis: int, block_size: int) -> Shape:
    require(len(scale) == len(shape), "ranks of x and the scale differ", len(shape), len(scale))
    axis = normalize_axis(axis, len(shape))
    out = list(shape)
    for i, (size, count) in enumerate(zip(shape, scale, strict=True)):
        if i == axis:
            unify(ceildiv(size, block_size), count, "number of blocks and size of the scale")
        else:
            out[i] = unify(size, count, f"sizes of x and the scale at axis {i}")
    return tuple(out)


def _quantized_type(y_zero_point: AnyRank | None, output_dtype: int | None) -> int | None:
    """The zero point's type, or `output_dtype` (from version 21 on), or uint8 where neither is given."""
    if y_zero_point is None:
        return output_dtype or dt.UINT8
    given = y_zero_point.dtype
    require(not output_dtype or given in (None, output_dtype), "output_dtype differs from the zero point's", given)
    return given or output_dtype or None


@op("QuantizeLinear", dtype=_quantized_type)
def quantize(
    x: SymTensor, y_scale: AnyRank, y_zero_point: AnyRank | None, axis: int | None, block_size: int | None
) -> Shape:
    """x's shape (QuantizeLinear-10 to 28; `axis` from 13, `block_size` from 21 on)."""
    return _scaled(x, y_scale, y_zero_point, axis, block_size)


def _dequantized_type(x_scale: AnyRank, output_dtype: int | None) -> int | None:
    """`output_dtype` (from version 23 on), or the scale's type."""
    return output_dtype or x_scale.dtype


@op("DequantizeLinear", dtype=_dequantized_type)
def dequantize(
    x: SymTensor, x_scale: AnyRank, x_zero_point: AnyRank | None, axis: int | None, block_size: int | None
) -> Shape:
    """x's shape, of the scale's type or, from version 23 on, `output_dtype` (DequantizeLinear-10 to 28)."""
    return _scaled(x, x_scale, x_zero_point, axis, block_size)


@op("DynamicQuantizeLinear")
def dynamic_quantize(x: AnyRank) -> list[Shape | None]:
    """x's shape, a scalar scale and a scalar zero point (DynamicQuantizeLinear-11)."""
    return [x.shape, (), ()]
