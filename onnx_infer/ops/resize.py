"""Operators that resample images: Resize, Upsample, GridSample, AffineGrid, RoiAlign."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.ratio import Ratio, Rounded
from onnx_infer.elements.scaling import is_power_of_two, scaled
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import common_number, demand_at_least, number_of, of_length, open_sizes
from onnx_infer.laws.sizes import (
    at_least,
    differ,
    doubtful_sizes,
    may_be_empty,
    normalize_axes,
    of_rank,
    sizes_unless_broken,
    unify,
)
from onnx_infer.laws.statements import Kind, call_mode, demand, fresh, state
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import Reread
from onnx_infer.ops.window import read_sizes, spatial_rank
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, maximum, minimum, product
from symdim.algebra.bounds import bounds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_infer.operators.rule import Attributes, Values
    from onnx_infer.ops.kinds import AnyRank, Dim, FlatSizes, Floats, Ints, Shape, Sizes

POLICIES = ("stretch", "not_larger", "not_smaller")


def _nearest(size: Dim, target: Dim, other: Dim) -> tuple[Dim, Dim] | None:
    """The least and the greatest number to which `size * target / other` may be rounded; None where other may be 0.

    The nearest whole number, halves up. onnxruntime multiplies by the float32 nearest to the ratio, so it may round a
    half down unless that float is exact. Known sizes give two numbers. Other sizes are assumed to meet no such half.
    """
    if not at_least(other, 1):
        return None
    product = size * target
    if (product % other) == 0:
        return product // other, product // other
    nearest = (2 * product + other) // (2 * other)
    from_half = (2 * product) % (2 * other) - other
    divisor = other // math.gcd(target, other) if isinstance(target, int) and isinstance(other, int) else other
    if isinstance(divisor, int) and (divisor % 2 or is_power_of_two(divisor)):
        return nearest, nearest  # there is no half, or the ratio is a float
    if isinstance(from_half, int):
        return nearest - (from_half == 0), nearest
    if not differ(from_half, 0):
        if call_mode().is_cautious:
            return None
        law = "how far a scaled size is from a half, of which floats decide"
        state("at_least", maximum(from_half, -from_half), 1, law, "assumed")
    return nearest, nearest


def kept_aspect(sizes: Shape, targets: Shape, policy: str) -> Shape:
    """The sizes scaled by a common ratio: the least `target / size` (not_larger) or the greatest (not_smaller).

    `round(size_i * min_j(target_j / size_j))` is `min_j(round(size_i * target_j / size_j))`, as rounding is monotone.

    >>> kept_aspect((4, 6), (7, 9), "not_larger"), kept_aspect((4, 6), (5, 5), "not_smaller")
    ((6, 9), (5, 8))
    """
    choose = minimum if policy == "not_larger" else maximum
    out: list[Dim] = []
    for i, (size, own) in enumerate(zip(sizes, targets, strict=True)):
        pairs = enumerate(zip(sizes, targets, strict=True))
        options = [(own, own) if i == j else _nearest(size, target, other) for j, (other, target) in pairs]
        known = [n for n in options if n is not None]
        least, most = choose(*(n[0] for n in known)), choose(*(n[1] for n in known))
        if len(known) < len(options) or least != most:
            most = fresh("floats round a ratio of sizes", at_most=own if policy == "not_larger" else None)
        out.append(most)
    return tuple(out)


def _repeated(X: Any, scales: Floats | None, sizes: Ints | None, mode: str = "nearest", nearest_mode: str = "",
              coordinate_transformation_mode: str = "", axes: tuple[int, ...] = (),
              keep_aspect_ratio_policy: str = "stretch", since_version: int = 0) -> Any:  # fmt: skip
    """The nearest element if it is unambiguous: every element is repeated an integral number of times.

    Place i comes from `(i + 1/2)/s - 1/2` rounded, or `i/s` rounded down. Both are `i // s`.
    """
    ways = (("half_pixel", "round_prefer_floor"), ("asymmetric", "floor"))
    plain = since_version < 11 or (coordinate_transformation_mode, nearest_mode) in ways
    if mode != "nearest" or not plain or keep_aspect_ratio_policy != "stretch":
        raise Unknown("which element is the nearest hangs on rounding")
    at = normalize_axes(axes, X.ndim) if axes else range(X.ndim)
    out = X
    for axis, wanted in zip(at, scales or sizes or (), strict=True):
        times = wanted
        if not scales:
            whole = isinstance(wanted, int) and X.shape[axis] and wanted % X.shape[axis] == 0
            times = wanted // X.shape[axis] if whole else 0
        if not isinstance(times, (float, int)) or times < 1 or times != int(times):
            raise Unknown("a scale is not a whole number")
        out = np.repeat(out, int(times), axis)
    return out


_EXACT_IN_FLOAT32 = 2**24
"""Whole numbers up to this one are exact in float32."""


def resize_axes(elements: Shape, shape: Shape, axes: Sequence[int]) -> tuple[list[int], tuple[Dim, ...]]:
    """The axes that a Resize changes, of those that it has sizes for, and their sizes.

    >>> from symdim import Var
    >>> N, H = Var("N"), Var("H")
    >>> resize_axes((N, 3, 56, H), (N, 3, H, H), range(4))
    ([2], (56,))
    """
    changed = [(axis, e) for axis, e in zip(axes, elements, strict=True) if e != shape[axis]]
    return [axis for axis, _ in changed], tuple(e for _, e in changed)


def resize_scales(elements: Shape, shape: Shape) -> tuple[int, ...] | None:
    """The whole numbers by which a Resize scales a shape; None if there are none.

    A runtime computes a size from its scale in float32, so bounds must show that it is exact there.

    >>> from symdim import Var
    >>> n, h, w = Var.fresh("n", 1, 8), Var.fresh("h", 1, 4096), Var.fresh("w")
    >>> resize_scales((n, 2 * h), (n, h)), resize_scales((n, h + 1), (n, h)), resize_scales((w,), (w,))
    ((1, 2), None, None)
    """
    scales = [_whole_scale(e, size) for e, size in zip(elements, shape, strict=True)]
    whole = tuple(scale for scale in scales if scale is not None)
    return whole if len(whole) == len(scales) else None


def _whole_scale(element: Dim, size: Dim) -> int | None:
    _, most = bounds_of(element)
    if most is None or most > _EXACT_IN_FLOAT32 or not at_least(size, 1):
        return None
    scale = element // size
    return scale if isinstance(scale, int) and scale >= 1 and scale * size == element else None


def _rereads(inputs: Values, _: Values, attributes: Attributes, names_axes: bool = False) -> Reread | None:
    """Sizes of the axes that change, where they can be named (since version 18), or whole scales."""
    data, sizes = inputs[0], open_sizes(inputs[3]) if len(inputs) > 3 else None
    if sizes is None or not isinstance(data, SymTensor) or data.shape is None:
        return None
    shape = data.shape
    axes = [axis % max(len(shape), 1) for axis in attributes.get("axes", range(len(shape)))]
    # a crop reads the roi of each axis
    is_plain = attributes.get("coordinate_transformation_mode") != "tf_crop_and_resize"
    if not is_plain or attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch" or len(axes) != len(sizes):
        return None
    if names_axes:
        axes, sizes = resize_axes(sizes, shape, axes)
    if not axes:
        return None
    scales = resize_scales(sizes, tuple(shape[axis] for axis in axes))
    named = {"axes": axes} if len(axes) < len(shape) else {}
    if scales is None or not any(isinstance(size, Expr) for size in sizes):
        return Reread({3: sizes}, named)
    return Reread({2: tuple(map(float, scales)), 3: None}, named)


@op("Resize", data=_repeated, rereads=_rereads)
@op("Resize", since=18, data=_repeated, rereads=partial(_rereads, names_axes=True))
def resize(X: AnyRank, scales: Floats | Unknown | None, sizes: FlatSizes | Unknown | None, *,
           roi: AnyRank | None = None, axes: tuple[int, ...] = (), keep_aspect_ratio_policy: str = "stretch",
           coordinate_transformation_mode: str = "half_pixel") -> Shape:  # fmt: skip
    """floor(size * scale), or `sizes`, at each of `axes` (Resize-10, 11, 13, 18, 19); an empty input is none.

    A crop reads the start and the end of each axis in roi.
    """
    wanted: Any = scales if scales not in (None, ()) else sizes
    if X.shape is None and (axes or not isinstance(wanted, tuple)):
        raise Unknown("the rank of X is not known")
    shape = of_rank(X.shape, len(wanted) if X.shape is None else X.rank, "X")
    if coordinate_transformation_mode == "tf_crop_and_resize" and roi is not None and roi.shape is not None:
        _demand_ends(product(roi.shape), shape, len(axes))
    return sizes_unless_broken(len(shape), lambda: _resized(shape, scales, sizes, axes, keep_aspect_ratio_policy))


def _demand_ends(number: Dim, shape: Shape, axes: int) -> None:
    """Demand two elements of roi for each axis of X, or for each of `axes`. The reference evaluator allows more.

    onnxruntime does not look at the roi of an empty tensor.
    """
    law, least = "the number of elements of roi and twice the number of axes", 2 * (axes or len(shape))
    kind: Kind = "assumed" if may_be_empty(shape) else "required"
    if isinstance(number, int):
        demand(0 in shape or number >= least, law, number, least, sign="<", kind=kind)
    elif not axes:
        unify(number, least, law, kind, doubtful_sizes(shape))


def _resized(shape: Shape, scales: Floats | Unknown | None, sizes: Ints | Unknown | None, axes: tuple[int, ...],
             policy: str) -> Shape:  # fmt: skip
    by_scale, by_size = scales not in (None, ()), sizes not in (None, ())
    require(by_scale != by_size, "one of scales and sizes must be given")
    require(policy in POLICIES, "keep_aspect_ratio_policy is unknown", policy)
    require(policy == "stretch" or by_size, "scales excludes keep_aspect_ratio_policy", policy)
    wanted: Any = scales if by_scale else sizes
    at = normalize_axes(axes, len(shape)) if axes else tuple(range(len(shape)))
    wanted = of_length(wanted, len(at), "the numbers of scales or sizes and of axes")
    if by_scale:
        new = tuple(scaled(shape[axis], scale) for axis, scale in zip(at, wanted, strict=True))
    else:
        new = read_sizes(wanted, "sizes")
        for axis, target in zip(at, new, strict=True):
            if policy == "stretch" and at_least(shape[axis], 1):
                demand_at_least(target, 1, "a target size")
    if policy != "stretch":
        new = kept_aspect(tuple(shape[axis] for axis in at), new, policy)
    changed = dict(zip(at, new, strict=True))
    return tuple(changed.get(axis, size) for axis, size in enumerate(shape))


@op("Upsample")
def upsample(X: AnyRank, scales: Floats | Unknown | None, *, height_scale: float = 1.0,
             width_scale: float = 1.0) -> Shape:  # fmt: skip
    """As Resize by scales (Upsample-7, 9, 10); by two scales (N, C, H, W) -> (N, C, H*h, W*w) (Upsample-1)."""
    if scales is None:
        demand(X.shape is None or X.rank == 4, "the rank of X must be 4")
        scales = (1.0, 1.0, height_scale, width_scale)
    for scale in scales if isinstance(scales, tuple) else ():
        if isinstance(scale, Rounded):
            continue
        if isinstance(scale, Ratio):
            demand_at_least(scale.num, scale.den, "a scale")
        else:
            demand(scale is None or scale >= 1, "a scale is below 1", scale)
    return resize(X, scales, None)


@op("GridSample")
def grid_sample(X: AnyRank, grid: AnyRank) -> Shape:
    """(N, C, *spatial), (N, *out, n) -> (N, C, *out), n spatial axes (GridSample-16, 20, 22)."""
    rank = spatial_rank(X, grid)
    batch, channels, *_ = of_rank(X.shape, rank, "X")
    points, *out, dims = of_rank(grid.shape, rank, "grid")
    unify(dims, rank - 2, "the last axis of grid and the number of spatial axes")
    return (unify(batch, points, "batches of X and grid"), channels, *out)


@op("AffineGrid")
def affine_grid(theta: AnyRank, size: Sizes | Unknown) -> Shape:
    """theta (N, n, n + 1), size (N, C, *spatial) -> (N, *spatial, n) for n = 2, 3 spatial axes (AffineGrid-20)."""
    batch, rows, columns = of_rank(theta.shape, 3, "theta")
    n = len(size) - 2 if isinstance(size, tuple) else rows if isinstance(rows, int) else columns - 1
    common_number("the numbers of sizes and of axes", number_of(size), n + 2)
    if not isinstance(n, int):
        raise Unknown("the number of spatial axes is not known")
    require(n in (2, 3), "size must have 4 or 5 elements for 2 or 3 spatial axes", n)
    unify(rows, n, "axis 1 of theta and the number of spatial axes")
    unify(columns, n + 1, "axis 2 of theta and the number of spatial axes plus 1")
    first, _, *spatial = size if isinstance(size, tuple) else (None,) * (n + 2)
    batch = batch if first is None else unify(batch, first, "the batch of theta and size")
    return (batch, *read_sizes(spatial, "size", 2, least=1), n)


@op("RoiAlign")
def roi_align(X: AnyRank, rois: AnyRank, batch_indices: AnyRank, *, output_height: int, output_width: int) -> Shape:
    """(N, C, H, W), (R, 4), (R,) -> (R, C, output_height, output_width) (RoiAlign-10, 16, 22)."""
    channels = of_rank(X.shape, 4, "X")[1]
    regions, coordinates = of_rank(rois.shape, 2, "rois")
    (indices,) = of_rank(batch_indices.shape, 1, "batch_indices")
    unify(coordinates, 4, "axis 1 of rois and 4")
    return (unify(regions, indices, "the numbers of rois and batch_indices"), channels, output_height, output_width)
