"""Convolutions and pools of onnxruntime: fused, quantized, in other layouts; crops and samples of images."""

from __future__ import annotations

from functools import wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.granularity import demand_scalars, demand_single, demand_vector
from onnx_infer.laws.limits import demand_at_least, of_length
from onnx_infer.laws.sizes import confirm_shape, doubtful_sizes, may_be_empty, of_rank, unify
from onnx_infer.laws.statements import Kind, demand, fresh
from onnx_infer.operators.registration import op
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.movement import depth_to_space, space_to_depth
from onnx_infer.ops.resize import grid_sample, resize
from onnx_infer.ops.unary import same_shape, same_shape_of_input
from onnx_infer.ops.window import (
    conv,
    conv_transpose,
    convolution,
    global_pool,
    max_unpool,
    pool,
    qlinear_conv,
    required_kernel,
    transposed_convolution,
)
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.ops.kinds import AnyRank, Ints, IntVector, Scales, Shape, Sizes, Windows


def of_channels_last(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A rule for (N, *spatial, C) from one for (N, C, *spatial): its first input and its result have channels last.

    >>> from onnx_infer.values.tensor import SymTensor
    >>> of_channels_last(global_pool)(X=SymTensor(1, (2, 5, 7, 3)))
    [(2, 1, 1, 3)]
    """
    first = unwrap(rule).__code__.co_varnames[0]

    @wraps(rule)
    def of_last(**arguments: Any) -> list[Shape | None]:
        x = arguments[first]
        if x.shape is not None:
            require(x.rank >= 3, "the rank must be at least 3", x.rank)
            arguments[first] = SymTensor(x.dtype, (x.dims[0], x.dims[-1], *x.dims[1:-1]))
        result = rule(**arguments)
        batch, channels, *spatial = result[0] if isinstance(result, list) else result
        return [(batch, *spatial, channels)]

    return of_last


# -- convolutions ------------------------------------------------------------------------------------------------------


@contrib("FusedConv", inputs="X W B? Z?", cost=convolution(1))
def conv_and_sum(
    X: AnyRank, W: AnyRank, B: AnyRank | None, Z: AnyRank | None, *, window: Windows, group: int = 1
) -> Shape:
    """As Conv. Z is added to the result, and has its shape: it is not broadcast. An empty result ignores Z."""
    out: Shape = conv(X, W, B, window=window, group=group)
    if Z is None:
        return out
    kind: Kind = "assumed" if may_be_empty(out) else "required"
    return confirm_shape(out, Z.shape, "the sizes of the result and of Z", kind, doubtful_sizes(out))


contrib("NhwcConv", inputs="X W B?", cost=convolution(1))(of_channels_last(conv))
contrib("NhwcFusedConv", inputs="X W B? Z?", cost=convolution(1))(of_channels_last(conv))


@contrib(
    "QLinearConv",
    inputs="x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B?",
    dtype=lambda y_zero_point: y_zero_point.dtype,
    cost=convolution(3),
)
def quantized_conv(
    x: AnyRank,
    w: AnyRank,
    B: AnyRank | None,
    scales: Scales,
    *,
    window: Windows,
    channels_last: int = 0,
    group: int = 1,
) -> list[Shape] | Shape:
    """As QLinearConv of ONNX. The weight is (M, C/group, *kernel) even if the channels are last."""
    demand_single(scales, "x_scale", "x_zero_point", "y_scale", "y_zero_point")
    if w.shape:
        demand_vector(w.dims[0], scales, "w_scale", "w_zero_point")
    rule = of_channels_last(qlinear_conv) if channels_last else qlinear_conv
    out: list[Shape] | Shape = rule(x=x, w=w, B=B, scales=scales, window=window, group=group)
    return out


@contrib("ConvTransposeWithDynamicPads", inputs="X W Pads? B?", cost=transposed_convolution)
def conv_transpose_of_pads(
    X: AnyRank, W: AnyRank, Pads: Ints | Unknown | None, B: AnyRank | None, *, window: Windows, group: int = 1
) -> Shape:
    """As ConvTranspose, with the pads as an input."""
    known = Pads is None or (isinstance(Pads, tuple) and all(isinstance(pad, int) for pad in Pads))
    pads: Any = Pads if known else None
    out = conv_transpose(X, W, B, window=window._replace(pads=pads), group=group)
    return out if known else (*out[:2], *(fresh("the pads are not known", at_most=size) for size in out[2:]))


# -- pools -------------------------------------------------------------------------------------------------------------


@contrib("MaxpoolWithMask", inputs="X M")
def pool_of_mask(X: AnyRank, M: AnyRank, *, window: Windows) -> list[Shape]:
    """As MaxPool. The mask has the spatial sizes of X; it repeats along the first two axes, whatever its sizes are."""
    if X.shape is not None and M.shape is not None:
        demand(len(M.shape) == len(X.shape), "the ranks of X and of the mask differ", len(X.shape), len(M.shape))
        confirm_shape(X.shape[2:], M.shape[2:], "spatial sizes of X and of the mask")
    out: list[Shape] = pool(X, window=window)
    return out[:1]


@contrib("NhwcMaxPool", inputs="x")
def pool_of_channels_last(x: SymTensor, *, window: Windows) -> list[Shape | None]:
    """(N, *spatial, C) -> (N, *places, C)."""
    required_kernel(window)
    out: list[Shape | None] = of_channels_last(pool)(X=x, window=window)
    return out


@contrib("QLinearAveragePool", inputs="X x_scale x_zero_point? y_scale y_zero_point?")
def quantized_pool(X: SymTensor, scales: Scales, *, window: Windows, channels_last: int = 0) -> Shape:
    """As AveragePool, for (N, C, *spatial) or (N, *spatial, C)."""
    demand_scalars(scales)
    required_kernel(window)
    rule = of_channels_last(pool) if channels_last else pool
    out: list[Shape] = rule(X=X, window=window)
    return out[0]


@contrib("QLinearGlobalAveragePool", inputs="X x_scale x_zero_point y_scale y_zero_point")
def quantized_global_pool(X: SymTensor, scales: Scales, *, channels_last: int = 0) -> Shape:
    """(N, C, *spatial) or (N, *spatial, C) -> all spatial sizes 1."""
    demand_single(scales)
    pooled = global_pool(X)
    return (X.dims[0], *pooled[2:], X.dims[-1]) if channels_last else pooled


# -- samples -----------------------------------------------------------------------------------------------------------


@contrib("CropAndResize", inputs="X rois batch_indices crop_size")
def crop_and_resize(X: AnyRank, rois: AnyRank, batch_indices: AnyRank, crop_size: Sizes | Unknown) -> Shape:
    """(N, C, H, W), rois (R, 4), indices (R), two sizes -> (R, C, *crop_size)."""
    regions, coordinates = of_rank(rois.shape, 2, "rois")
    (count,) = of_rank(batch_indices.shape, 1, "batch_indices")
    unify(coordinates, 4, "axis 1 of rois and 4")
    sizes = of_length(crop_size, 2, "the number of sizes in crop_size and 2")
    crop = (fresh("crop_size is not known") if size is None else size for size in sizes)
    return (unify(regions, count, "the numbers of rois and batch_indices"), of_rank(X.shape, 4, "X")[1], *crop)


contrib("GridSample", inputs="X Grid=grid")(grid_sample)


@contrib("UnfoldTensor", inputs="input")
def unfold(input: SymTensor, *, size: int, dim: int = -1, step: int = 1) -> Shape:
    """All slices of `size` along an axis. The axis gets `(length - size)//step + 1` entries, the slices a new axis."""
    require(size >= 1 and step >= 1, "size and step must be at least 1", size, step, sign=",")
    require(-input.rank <= dim < input.rank, f"dim {dim} is out of range for rank {input.rank}")
    sizes = list(input.dims)
    demand_at_least(sizes[dim], size, "the unfolded axis")
    sizes[dim] = (sizes[dim] - size) // step + 1
    return (*sizes, size)


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


op(
    "QLinearConvTranspose",
    domain=_LAST,
    inputs="x=X x_scale x_zero_point w=W w_scale w_zero_point y_scale y_zero_point B?",
    dtype=lambda y_zero_point: y_zero_point.dtype,
)(of_channels_last(conv_transpose))
# the statistics of training are unknown
op("BatchNormalization", domain=_LAST, inputs="X scale B mean var", dtype=lambda X: X.dtype)(same_shape)
op("BatchNormalization", domain=_LAST, since=14, inputs="X scale B input_mean input_var", dtype=lambda X: X.dtype)(
    same_shape
)
op("LRN", domain=_LAST, inputs="X")(same_shape)
op("InstanceNormalization", domain=_LAST, inputs="input scale B")(same_shape_of_input)
