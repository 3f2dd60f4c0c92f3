"""Linear quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import confirm, differ, normalize_axis, unify, unify_shapes
from onnx_infer.laws.statements import demand, reported, state
from onnx_infer.operators.registration import op
from onnx_infer.values import dtype as dt
from symdim import ceildiv

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Shape, SymTensor


def _scaled(
    x: SymTensor, scale: AnyRank, zero_point: AnyRank | None, axis: int | None, block_size: int | None, version: int
) -> Shape:
    """x's shape, from x, the scale and the zero point.

    The scale has one element, or one per index of the axis, or, with blocks, x's shape with `ceil(size / block_size)`
    at the axis. The zero point has the scale's shape.
    """
    for name, shape in (("scale", scale.shape), ("zero point", None if zero_point is None else zero_point.shape)):
        if version < 21 and shape and not demand(len(shape) == 1, f"rank of the {name} is more than 1", len(shape)):
            return x.dims
    if not demand(not block_size or block_size > 0, "block_size is negative", block_size):
        return x.dims
    zeros = None if zero_point is None else zero_point.shape
    granularity = _granularity(scale.shape, zeros)
    if block_size:
        if scale.shape is zeros is None:
            return x.dims
        return _scaled_in_blocks(x.dims, granularity, axis or 0, block_size)
    for size in granularity if len(granularity) > 1 else ():
        confirm(1, size, f"a size of a scale of {len(granularity)} axes, without block_size, and 1")
    if len(granularity) != 1 or axis is None or (not differ(granularity[0], 1) and not -x.rank <= axis < x.rank):
        return x.dims
    sizes = list(x.dims)
    with reported:
        axis = normalize_axis(axis, x.rank)
        law, size = f"size of x at axis {axis} and size of the scale", granularity[0]
        if differ(size, 1):
            sizes[axis] = confirm(sizes[axis], size, law)
        elif size != 1:
            state("broadcast_to", size, sizes[axis], law)
    return tuple(sizes)


def _granularity(scale: Shape | None, zero_point: Shape | None) -> Shape:
    """The shape of the scale and the zero point. Runtimes treat () and (1,) as equal."""
    if scale is None or zero_point is None:
        return scale or zero_point or ()
    if len(scale) == len(zero_point):
        return unify_shapes(scale, zero_point, "sizes of the scale and the zero point")
    for size in (*scale, *zero_point):
        unify(size, 1, "the size of the scale or the zero point, of different ranks, and 1")
    return ()


def _scaled_in_blocks(shape: Shape, scale: Shape, axis: int, block_size: int) -> Shape:
    out = list(shape)
    with reported:
        require(len(scale) == len(shape), "ranks of x and the scale differ", len(shape), len(scale))
        axis = normalize_axis(axis, len(shape))
        for i, (size, count) in enumerate(zip(shape, scale, strict=True)):
            if i == axis:
                unify(ceildiv(size, block_size), count, "number of blocks and size of the scale")
            else:
                out[i] = confirm(size, count, f"sizes of x and the scale at axis {i}")
    return tuple(out)


def _quantized_type(y_zero_point: AnyRank | None, output_dtype: int | None) -> int | None:
    """The zero point's type, or `output_dtype` (from version 21 on), or else uint8."""
    if y_zero_point is None:
        return output_dtype or dt.UINT8
    stored = y_zero_point.dtype
    demand(not output_dtype or stored in (None, output_dtype), "output_dtype differs from the zero point's", stored)
    return stored or output_dtype or None


@op("QuantizeLinear", dtype=_quantized_type)
def quantize(
    x: SymTensor, y_scale: AnyRank, y_zero_point: AnyRank | None, axis: int | None, block_size: int | None,
    since_version: int,
) -> Shape:  # fmt: skip
    """x's shape (QuantizeLinear-10 to 28; `axis` from 13, `block_size` from 21 on)."""
    return _scaled(x, y_scale, y_zero_point, axis, block_size, since_version)


@op("DequantizeLinear", dtype=lambda x_scale, output_dtype: output_dtype or x_scale.dtype)
def dequantize(
    x: SymTensor, x_scale: AnyRank, x_zero_point: AnyRank | None, axis: int | None, block_size: int | None,
    since_version: int,
) -> Shape:  # fmt: skip
    """x's shape. The type is the scale's or, from version 23 on, `output_dtype` (DequantizeLinear-10 to 28)."""
    return _scaled(x, x_scale, x_zero_point, axis, block_size, since_version)


@op("DynamicQuantizeLinear")
def dynamic_quantize(x: AnyRank) -> list[Shape | None]:
    """x's shape, a scalar scale and a scalar zero point (DynamicQuantizeLinear-11)."""
    return [x.shape, (), ()]
