"""Convolutions and pools of onnxruntime: fused, quantized, with channels last; crops and samples of images."""

from __future__ import annotations

from functools import wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.granularity import demand_scalars, demand_single, demand_vector
from onnx_infer.laws.lengths import of_length
from onnx_infer.laws.limits import demand_at_least
from onnx_infer.laws.sizes import confirm_shape, doubtful_sizes, may_be_empty, of_rank, unify
from onnx_infer.laws.statements import Kind, demand, fresh
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.resize import grid_sample
from onnx_infer.ops.window import (
    conv,
    conv_transpose,
    convolution,
    global_pool,
    pool,
    qlinear_conv,
    required_kernel,
    transposed_convolution,
)
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.ops.kinds import AnyRank, Ints, Shape, Sizes, Windows


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
    x_scale: AnyRank,
    x_zero_point: AnyRank,
    w: AnyRank,
    w_scale: AnyRank,
    w_zero_point: AnyRank,
    y_scale: AnyRank,
    y_zero_point: AnyRank,
    B: AnyRank | None,
    *,
    window: Windows,
    channels_last: int = 0,
    group: int = 1,
) -> list[Shape] | Shape:
    """As QLinearConv of ONNX. The weight is (M, C/group, *kernel) even if the channels are last."""
    demand_single(x_scale=x_scale, x_zero_point=x_zero_point, y_scale=y_scale, y_zero_point=y_zero_point)
    if w.shape:
        demand_vector(w.dims[0], w_scale=w_scale, w_zero_point=w_zero_point)
    rule = of_channels_last(qlinear_conv) if channels_last else qlinear_conv
    quantization = {
        "x_scale": x_scale, "x_zero_point": x_zero_point, "w_scale": w_scale, "w_zero_point": w_zero_point,
        "y_scale": y_scale, "y_zero_point": y_zero_point,
    }  # fmt: skip
    out: list[Shape] | Shape = rule(x=x, w=w, B=B, window=window, group=group, **quantization)
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
def quantized_pool(
    X: SymTensor, x_scale: AnyRank, x_zero_point: AnyRank | None, y_scale: AnyRank, y_zero_point: AnyRank | None, *,
    window: Windows, channels_last: int = 0,
) -> Shape:  # fmt: skip
    """As AveragePool, for (N, C, *spatial) or (N, *spatial, C)."""
    demand_scalars(x_scale=x_scale, x_zero_point=x_zero_point, y_scale=y_scale, y_zero_point=y_zero_point)
    required_kernel(window)
    rule = of_channels_last(pool) if channels_last else pool
    out: list[Shape] = rule(X=X, window=window)
    return out[0]


@contrib("QLinearGlobalAveragePool", inputs="X x_scale x_zero_point y_scale y_zero_point")
def quantized_global_pool(
    X: SymTensor, x_scale: AnyRank, x_zero_point: AnyRank, y_scale: AnyRank, y_zero_point: AnyRank, *,
    channels_last: int = 0,
) -> Shape:  # fmt: skip
    """(N, C, *spatial) or (N, *spatial, C) -> all spatial sizes 1."""
    demand_single(x_scale=x_scale, x_zero_point=x_zero_point, y_scale=y_scale, y_zero_point=y_zero_point)
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


@contrib("GridSample", inputs="X Grid")
def grid_sample_of_images(X: AnyRank, Grid: AnyRank) -> Shape:
    """(N, C, H, W), (N, *out, 2) -> (N, C, *out)."""
    return grid_sample(X, Grid)


@contrib("UnfoldTensor", inputs="input")
def unfold(input: SymTensor, *, size: int, dim: int = -1, step: int = 1) -> Shape:
    """All slices of `size` along an axis. The axis gets `(length - size)//step + 1` entries, the slices a new axis."""
    require(size >= 1 and step >= 1, "size and step must be at least 1", size, step, sign=",")
    require(-input.rank <= dim < input.rank, f"dim {dim} is out of range for rank {input.rank}")
    sizes = list(input.dims)
    demand_at_least(sizes[dim], size, "the unfolded axis")
    sizes[dim] = (sizes[dim] - size) // step + 1
    return (*sizes, size)
