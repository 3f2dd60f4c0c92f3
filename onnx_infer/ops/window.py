"""Operators that slide a window over spatial axes: convolutions, pools and their inverses.

Spatial tensors are (N, C, *spatial): batch, channels, and at least one spatial axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import OpUsageError, Unknown, require
from onnx_infer.laws.granularity import demand_fit, demand_for_filters
from onnx_infer.laws.limits import common_number, demand_at_least, number_of, of_length
from onnx_infer.laws.sizes import (
    at_least,
    confirm,
    confirm_shape,
    exact_quotient,
    of_rank,
    sizes_unless_broken,
    unify,
    unify_shapes,
)
from onnx_infer.laws.statements import demand, element, fresh, reported, state
from onnx_infer.operators.registration import op
from onnx_infer.values.tensor import MAX_RANK
from symdim import product

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.laws.windows import IntVector, Window
    from onnx_infer.operators.rule import Attributes, Cost, Shapes
    from onnx_infer.ops.kinds import AnyRank, Dim, Scales, Shape, Sizes, SymTensor, Windows


def spatial_rank(*tensors: SymTensor, kernel_shape: IntVector | None = None) -> int:
    """The common rank of all these tensors, at least 3: that of the first tensor of known rank.

    If no rank is known, it follows from the kernel, which has one size per spatial axis.
    """
    for tensor in tensors:
        if tensor.shape is not None:
            require(tensor.rank >= 3, "the rank must be at least 3", tensor.rank)
            return tensor.rank
    if kernel_shape:
        return 2 + len(kernel_shape)
    raise Unknown("the rank of the input is not known")


def read_sizes(sizes: Iterable[Dim | None], name: str, first: int = 0, least: int | None = None) -> Shape:
    """The sizes in an input, from its element `first` on; a run refuses those below `least`. Unknown ones are fresh."""
    out = []
    for i, size in enumerate(sizes, first):
        if size is None:
            out.append(fresh(f"{name} is not known", value=element(name, i)))
        else:
            if least is not None:
                demand_at_least(size, least, f"a size in {name}")
            out.append(size)
    return tuple(out)


def _of_weight(window: Windows, weight: Shape) -> tuple[Window, ...]:
    """The windows of a weight's spatial axes. The attribute kernel_shape must equal these sizes."""
    sizes = window.kernel_shape
    return window.along(weight if sizes is None else unify_shapes(sizes, weight, "kernel_shape and the weight"))


def required_kernel(window: Windows) -> IntVector:
    """The attribute kernel_shape; raises `OpUsageError` if it is missing."""
    if window.kernel_shape is None:
        raise OpUsageError("required attribute kernel_shape is missing")
    return window.kernel_shape


def _of_attributes(window: Windows, count: int) -> tuple[Window, ...]:
    """The windows along `count` spatial axes, from attributes alone."""
    kernel = window.kernel_shape or ()
    require(len(kernel) == count, f"kernel_shape must have {count} elements", list(kernel))
    return window.along(kernel)


def biased(channels: Dim, bias: SymTensor | None) -> Dim:
    """The number of output channels M. A bias (M,) must have this size."""
    if bias is None or bias.shape is None:
        return channels
    if not demand(bias.rank == 1, "the rank of the bias must be 1", bias.rank):
        return channels
    return confirm(channels, bias.dims[0], "output channels and the size of the bias")


def convolution(weight: int) -> Cost:
    """Multiply-adds: the elements of the result times the terms of each, the channels of a group times the kernel."""
    return lambda inputs, outputs, _: product((*outputs[0], *inputs[weight][1:]))  # type: ignore[misc, index]


@op("Conv", cost=convolution(1))
def conv(X: AnyRank, W: AnyRank, B: AnyRank | None, *, window: Windows, group: int = 1) -> Shape:
    """(N, C, *spatial), (M, C/group, *kernel) -> (N, M, *places) (Conv-1, 11, 22)."""
    rank = spatial_rank(X, W, kernel_shape=window.kernel_shape)
    batch, channels, *spatial = of_rank(X.shape, rank, "X")
    filters, per_group, *kernel = of_rank(W.shape, rank, "W")
    with reported:
        require(group >= 1, "group must be at least 1", group)
        unify(channels, per_group * group, "input channels and the weight's axis 1 times group")
        exact_quotient(filters, group, "the number of filters")

    def places() -> Shape:
        slide = _of_weight(window, tuple(kernel))
        for w, size in zip(slide, spatial, strict=True):
            if w.same:
                demand_at_least(size, 1, "a size that is padded to SAME")
                if w.dilation != 1:  # the specification allows it
                    state("equal", w.dilation, 1, "the dilation, which onnxruntime does not allow beside SAME padding")
            elif not at_least(size + w.before + w.after - w.extent, 0):
                state("at_least", size + w.before + w.after, w.extent, "a kernel fits into the padded input")
        return tuple(w.places(size) for w, size in zip(slide, spatial, strict=True))

    return (batch, biased(filters, B), *sizes_unless_broken(len(spatial), places))


@op("ConvInteger", cost=convolution(1))
def conv_integer(x: AnyRank, w: AnyRank, scales: Scales, *, window: Windows, group: int = 1) -> Shape:
    """As Conv, for integers; onnxruntime has one zero point for all filters (ConvInteger-10)."""
    out: Shape = conv(x, w, None, window=window, group=group)
    demand_fit(x.shape, scales, "x_zero_point")
    demand_fit((out[1],), scales, "w_zero_point")
    return out


@op("QLinearConv", cost=convolution(3))
def qlinear_conv(
    x: AnyRank, w: AnyRank, B: AnyRank | None, scales: Scales, *, window: Windows, group: int = 1
) -> Shape:
    """As Conv, for quantized tensors; scale and zero point of w may be those of each filter (QLinearConv-10)."""
    out: Shape = conv(x, w, B, window=window, group=group)
    demand_fit(x.shape, scales, "x_zero_point")
    demand_fit(out, scales, "x_scale", "y_scale", "y_zero_point")
    demand_for_filters(out, out[1], scales, "w_scale", "w_zero_point")
    return out


@op("DeformConv", cost=convolution(1))
def deform_conv(
    X: AnyRank,
    W: AnyRank,
    offset: AnyRank,
    B: AnyRank | None,
    mask: AnyRank | None,
    *,
    window: Windows,
    group: int,
    offset_group: int,
) -> Shape:
    """As Conv, with offset (N, offset_group*prod(kernel)*n, *places), mask without the n (DeformConv-19, 22)."""
    out = conv(X, W, B, window=window, group=group)
    rank = len(out)
    samples = product(window.kernel_shape or of_rank(W.shape, rank, "W")[2:]) * offset_group
    batch, channels, *places = out
    for tensor, name, per_sample in ((offset, "offset", rank - 2), (mask, "mask", 1)):
        if tensor is not None and tensor.shape is not None:
            demanded = (batch, samples * per_sample, *places)
            batch, _, *places = confirm_shape(
                demanded, of_rank(tensor.shape, rank, name), f"sizes of the result and {name}"
            )
    return (batch, channels, *places)


def transposed_convolution(inputs: Shapes, _: Shapes, __: Attributes) -> Dim:
    """Multiply-adds: each element of X is multiplied with the kernels of the channels of its group."""
    return product((*inputs[0], *inputs[1][1:]))  # type: ignore[misc, index]


@op("ConvTranspose", cost=transposed_convolution)
def conv_transpose(
    X: AnyRank, W: AnyRank, B: AnyRank | None, *, window: Windows, group: int = 1, since_version: int = 0
) -> Shape:
    """(N, C, *spatial), (C, M/group, *kernel) -> (N, M, *output_shape or *spread) (ConvTranspose-1, 11, 22)."""
    rank = spatial_rank(X, W, kernel_shape=window.kernel_shape)
    padding, given = window.output_padding, window.output_shape
    batch, channels, *spatial = of_rank(X.shape, rank, "X")
    depth, per_group, *kernel = of_rank(W.shape, rank, "W")
    with reported:
        require(group >= 1, "group must be at least 1", group)
        exact_quotient(unify(channels, depth, "input channels and the weight's axis 0"), group, "the input channels")
        free = since_version < 11 or not window.pads or window.auto_pad == "NOTSET"
        require(free, "pads excludes auto_pad", window.pads, window.auto_pad, sign=",")
        require(min(padding or (0,)) >= 0, "output_padding must be at least 0", list(padding or ()))

    def spread() -> Iterable[Dim]:
        slide = _of_weight(window, tuple(kernel))
        for name, values in (("output_padding", padding), ("output_shape", given)):
            right = values is None or len(values) == len(slide)
            require(right, f"{name} must have {len(slide)} elements", list(values or ()))
        extra = padding or (0,) * len(spatial)
        if given:
            for w, count, more, wanted in zip(slide, spatial, extra, given, strict=True):
                demand_at_least(count, 1, "a spatial size")
                most = count * w.stride + w.extent + more - 1
                demand_at_least(most, wanted, "the most that places of the window cover, and output_shape")
            return given
        spread = [w.spread(n, more) for w, n, more in zip(slide, spatial, extra, strict=True)]
        for size in spread:
            demand_at_least(size, 1, "a size of the result")
        return spread

    return (batch, biased(per_group * group, B), *sizes_unless_broken(len(spatial), spread))


@op("MaxPool", "AveragePool", "LpPool")
def pool(X: AnyRank, *, window: Windows) -> list[Shape]:
    """(N, C, *spatial) -> (N, C, *places); also MaxPool's Indices (MaxPool-1 to 22; LpPool, AveragePool)."""
    batch, channels, *spatial = of_rank(X.shape, spatial_rank(X, kernel_shape=window.kernel_shape), "X")
    if window.kernel_shape is None:
        raise Unknown("kernel_shape is not given")

    def places() -> Iterable[Dim]:
        slide = _of_attributes(window, len(spatial))
        return [w.pooled(size, window.ceil_mode) for w, size in zip(slide, spatial, strict=True)]

    return [(batch, channels, *sizes_unless_broken(len(spatial), places))] * 2


@op("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(X: SymTensor) -> Shape:
    """(N, C, *spatial) -> (N, C, 1, ..., 1) (all versions)."""
    require(X.rank >= 2, "the rank must be at least 2", X.rank)
    return (*X.dims[:2], *(1,) * (X.rank - 2))


@op("MaxUnpool")
def max_unpool(X: AnyRank, I: AnyRank, output_shape: Sizes | Unknown | None, *, window: Windows) -> Shape:  # noqa: E741
    """(N, C, *spatial), indices likewise -> output_shape, or (N, C, *spread) (MaxUnpool-9, 11, 22)."""
    rank = spatial_rank(X, I, kernel_shape=required_kernel(window))
    batch, channels, *spatial = unify_shapes(
        of_rank(X.shape, rank, "X"), of_rank(I.shape, rank, "I"), "sizes of X and I"
    )

    def spread() -> Iterable[Dim]:
        return [w.spread(n) for w, n in zip(_of_attributes(window, len(spatial)), spatial, strict=True)]

    least = sizes_unless_broken(len(spatial), spread)
    if output_shape is None:
        return (batch, channels, *least)
    wanted = of_length(output_shape, rank, "the numbers of sizes in output_shape and of axes")
    pairs = zip((batch, channels), wanted, strict=False)
    same = (old if new is None else unify(old, new, "sizes of X and output_shape") for old, new in pairs)
    out = read_sizes(wanted[2:], "output_shape", 2)
    demand_at_least(product(out), product(least), "the number of elements in output_shape")
    return (*same, *out)


@op("MaxRoiPool")
def max_roi_pool(X: AnyRank, rois: AnyRank, *, pooled_shape: IntVector) -> Shape:
    """(N, C, H, W), (R, 5) -> (R, C, *pooled_shape) (MaxRoiPool-1, 22)."""
    channels = of_rank(X.shape, 4, "X")[1]
    regions, coordinates = of_rank(rois.shape, 2, "rois")
    unify(coordinates, 5, "axis 1 of rois and 5")

    def pooled() -> IntVector:
        require(len(pooled_shape) == 2, "pooled_shape must have 2 elements", list(pooled_shape))
        require(min(pooled_shape) >= 1, "pooled_shape must be positive", list(pooled_shape))
        return pooled_shape

    return (regions, channels, *sizes_unless_broken(2, pooled))


@op("Col2Im")
def col2im(input: AnyRank, image_shape: Sizes | Unknown, block_shape: Sizes | Unknown, *, window: Windows) -> Shape:
    """(N, C*prod(block), L) -> (N, C, *image), where L is the number of positions of the block (Col2Im-18)."""
    batch, columns, count = of_rank(input.shape, 3, "input")
    law = "the numbers of elements of image_shape and block_shape"
    number = common_number(law, number_of(image_shape), number_of(block_shape))
    if not isinstance(number, int):
        raise Unknown("the number of spatial axes is not known")
    if number > MAX_RANK:
        raise Unknown(f"{number:,} spatial axes are more than any tensor has")
    image = read_sizes(of_length(image_shape, number, law), "image_shape", least=1)
    block_shape = of_length(block_shape, number, law)
    with reported:
        attributes = ("strides", window.strides, 1), ("dilations", window.dilations, 1), ("pads", window.pads, 2)
        for name, values, per_axis in attributes:
            expected = per_axis * len(block_shape)
            right = values is None or len(values) == expected
            require(right, f"{name} must have {expected} elements", list(values or ()))
    if None in block_shape:
        return (batch, fresh("block_shape is not known", at_most=columns), *image)
    with reported:
        slide = zip(window.along(block_shape), image, strict=True)
        unify(count, product(w.places(size) for w, size in slide), "blocks and their places")
    return (batch, exact_quotient(columns, product(block_shape), "the channels times the block"), *image)
