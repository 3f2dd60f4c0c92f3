"""Operators that onnxruntime inserts for other layouts: blocks of channels, and ONNX's operators with channels last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.statements import fresh
from onnx_infer.operators.registration import op
from onnx_infer.ops.contrib.window import of_channels_last
from onnx_infer.ops.movement import depth_to_space, space_to_depth
from onnx_infer.ops.resize import grid_sample, resize
from onnx_infer.ops.unary import same_shape, same_shape_of_input
from onnx_infer.ops.window import conv, conv_transpose, convolution, global_pool, max_unpool, pool, qlinear_conv
from onnx_infer.values import dtype as dt

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, IntVector, Shape, SymTensor, Windows

_BLOCKED = "com.microsoft.nchwc"

_LARGEST_BLOCK = 16


@op("ReorderInput", domain=_BLOCKED, inputs="X")
def reorder_input(X: SymTensor, *, channels_last: int = 0) -> Shape:
    """(N, C, *spatial) or (N, *spatial, C) -> (N, C rounded up to the machine's block of at most 16, *spatial)."""
    require(X.rank >= 2, "the rank must be at least 2", X.rank)
    channels = X.dims[-1 if channels_last else 1]
    if channels % _LARGEST_BLOCK != 0:
        channels = fresh("the machine's block of channels", at_most=channels + _LARGEST_BLOCK - 1)
    return (X.dims[0], channels, *(X.dims[1:-1] if channels_last else X.dims[2:]))


@op("ReorderOutput", domain=_BLOCKED, inputs="X")
def reorder_output(X: SymTensor, *, channels: int = 0, channels_last: int = 0) -> Shape:
    """(N, blocked channels, *spatial) -> (N, channels, *spatial) or (N, *spatial, channels)."""
    require(X.rank >= 2, "the rank must be at least 2", X.rank)
    require(channels > 0, "channels must be positive", channels)
    batch, _, *spatial = X.dims
    return (batch, *spatial, channels) if channels_last else (batch, channels, *spatial)


@op("Upsample", domain=_BLOCKED, inputs="X")
def upsample_blocked(X: SymTensor, *, scales: IntVector | None) -> Shape:
    """Each size times its scale."""
    if scales is None:
        raise Unknown("scales is not given")
    require(len(scales) == X.rank, "scales must have one element per axis", len(scales), X.rank)
    return tuple(size * scale for size, scale in zip(X.dims, scales, strict=True))


op("Conv", domain=_BLOCKED, inputs="X W B? Sum?", cost=convolution(1))(conv)
op("AveragePool", "MaxPool", domain=_BLOCKED, inputs="X")(pool)
op("GlobalAveragePool", "GlobalMaxPool", domain=_BLOCKED, inputs="X")(global_pool)

# -- ONNX's operators with channels last -------------------------------------------------------------------------------

_LAST = "com.ms.internal.nhwc"
_QUANTIZED = "x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B?"

for _rule, _inputs, *_names in (
    (conv, "X W B?", "Conv"),
    (conv_transpose, "X W B?", "ConvTranspose"),
    (pool, "X", "AveragePool", "LpPool"),
    (global_pool, "X", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"),
    (max_unpool, "X I output_shape?", "MaxUnpool"),
    (grid_sample, "X grid", "GridSample"),
    (depth_to_space, "input", "DepthToSpace"),
    (space_to_depth, "input", "SpaceToDepth"),
    (pool, "X x_scale x_zero_point? y_scale y_zero_point?", "QLinearAveragePool"),
):
    op(*_names, domain=_LAST, inputs=_inputs)(of_channels_last(_rule))

op("QLinearConv", domain=_LAST, inputs=_QUANTIZED, dtype=lambda y_zero_point: y_zero_point.dtype)(
    of_channels_last(qlinear_conv)
)
op("MaxPool", domain=_LAST, inputs="X", dtype=lambda X: [X.dtype, dt.INT64])(of_channels_last(pool))
# scales and sizes are in the order of X's axes
op("Resize", domain=_LAST, inputs="X roi? scales? sizes?")(resize)


@op("QLinearConvTranspose", domain=_LAST, inputs=_QUANTIZED, dtype=lambda y_zero_point: y_zero_point.dtype)
def quantized_conv_transpose(
    x: AnyRank, w: AnyRank, B: AnyRank | None, *, window: Windows, group: int = 1
) -> list[Shape]:
    """As ConvTranspose, with channels last."""
    out: list[Shape] = of_channels_last(conv_transpose)(X=x, W=w, B=B, window=window, group=group)
    return out


# the statistics of training are unknown
op("BatchNormalization", domain=_LAST, inputs="X scale B mean var", dtype=lambda X: X.dtype)(same_shape)
op("BatchNormalization", domain=_LAST, since=14, inputs="X scale B input_mean input_var", dtype=lambda X: X.dtype)(
    same_shape
)
op("LRN", domain=_LAST, inputs="X")(same_shape)
op("InstanceNormalization", domain=_LAST, inputs="input scale B")(same_shape_of_input)
