"""Operators that slide a window over spatial axes: (batch, channels, *space)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import rank_of
from onnx_infer.errors import Unknown, require
from symdim import product
from symdim.algebra.dims import at_least
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Dim, Relations, Rows
    from onnx_infer.laws.windows import IntVector, Window, Windows


def _spatial_rank(window: Windows | None, *rows: Row | None) -> int | None:
    """The rank of the operands: from one of them, or from an attribute with a fixed count per spatial axis.

    None also for ranks below 3: there must be a batch axis, a channel axis and a spatial axis.
    """
    rank = rank_of(*rows)
    if rank is None and window is not None:
        attributes = (window.kernel_shape, 1), (window.strides, 1), (window.dilations, 1), (window.pads, 2)
        rank = next((2 + len(values) // per_axis for values, per_axis in attributes if values), None)
    return rank if rank is not None and rank > 2 else None


@form("Conv")
@form("FusedConv", domain="com.microsoft")
def conv(s: Relations, X: Row, W: Row, B: Row | None, out: Row, window: Windows, group: int = 1) -> None:
    """(n, c, ..space..), (m, c / group, ..kernel..), (m) -> (n, m, ..windows..). Channels are stated for any rank."""
    rank = _spatial_rank(window, X, W, out)
    n, c, *space = s.leading(X, 2)[0] if rank is None else s.axes(X, rank)
    m, per_group, *kernel = s.leading(W, 2)[0] if rank is None else s.axes(W, rank)
    s.eq(c, per_group * group, X, 1)
    s.divisible(m, group, W, 0)
    s.be(B, (m,))
    for axis, (size, expected) in enumerate(zip(kernel, window.kernel_shape or (), strict=False), 2):
        s.eq(size, expected, W, axis)
    places = [s.fresh() for _ in space]
    s.be(out, Row((n, m), RowVar.fresh()) if rank is None else (n, m, *places))
    slide = () if rank is None else window.along(tuple(kernel))
    for axis, (size, place, w) in enumerate(zip(space, places, slide, strict=True), 2):
        s.store.window(size, place, w.kernel, stride=w.stride, dilation=w.dilation, pads=(w.before, w.after),
                       auto_pad="SAME_UPPER" if w.same else "NOTSET", origin=s.origin(X, axis))  # fmt: skip


@form("ConvInteger")
def conv_integer(s: Relations, x: Row, w: Row, out: Row, window: Windows, group: int = 1) -> None:
    """As Conv, for integers."""
    conv(s, x, w, None, out, window, group)


@form("QLinearConv")
@form("QLinearConv", domain="com.microsoft")
def qlinear_conv(
    s: Relations, x: Row, w: Row, B: Row | None, out: Row, window: Windows, group: int = 1, channels_last: int = 0
) -> None:
    """As Conv, for quantized tensors."""
    if not channels_last:
        conv(s, x, w, B, out, window, group)


@form("ConvTranspose")
def conv_transpose(s: Relations, X: Row, W: Row, B: Row | None, out: Row, window: Windows, group: int = 1) -> None:
    """(n, c, ..space..), (c, m / group, ..kernel..), (m) -> (n, m, ..spread..)."""
    rank = _spatial_rank(window, X, W, out)
    padding, given = window.output_padding, window.output_shape
    if rank is None:
        (n, c), _ = s.leading(X, 2)
        (depth, per_group), _ = s.leading(W, 2)
        s.be(out, Row((n, per_group * group), RowVar.fresh()))
    else:
        n, c, *space = s.axes(X, rank)
        depth, per_group, *kernel = s.axes(W, rank)
        spread = s.axes(out, rank)
        s.eq(spread[0], n, out, 0)
        s.eq(spread[1], per_group * group, out, 1)
        slide = window.along(tuple(kernel))
        for name, values in (("output_padding", padding), ("output_shape", given)):
            require(not values or len(values) == len(slide), f"{name} must have {len(slide)} elements", values)
        for axis, (size, w) in enumerate(zip(space, slide, strict=True)):
            wanted = given[axis] if given else w.spread(size, padding[axis] if padding else 0)
            s.eq(spread[2 + axis], wanted, out, 2 + axis, law="window")
    s.eq(c, depth, X, 1)
    s.divisible(c, group, X, 1)
    s.be(B, (per_group * group,))


@form("MaxPool", "AveragePool", "LpPool")
def pool(s: Relations, X: Row, outs: Rows, window: Windows) -> None:
    """(n, c, ..space..) -> (n, c, ..windows..); also MaxPool's indices."""
    if window.kernel_shape is None:
        raise Unknown("kernel_shape is absent")
    rank = 2 + len(window.kernel_shape)
    n, c, *space = s.axes(X, rank)
    s.same(*outs)
    out = next(row for row in outs if row is not None)
    batch, channels, *places = s.axes(out, rank)
    s.eq(batch, n, out, 0)
    s.eq(channels, c, out, 1)
    slide = window.along(window.kernel_shape)
    for axis, (size, place, w) in enumerate(zip(space, places, slide, strict=True), 2):
        if _agreed(w, size, place):
            s.eq(place, w.pooled(size, window.ceil_mode), X, axis, law="window")


def _agreed(w: Window, size: Dim, place: Dim) -> bool:
    """Whether runtimes agree on the number of windows.

    They disagree about dilated windows with SAME, and about strided windows that do not fit (some count one window).
    """
    if w.same:
        return w.dilation == 1
    room = size + w.before + w.after - w.extent
    return place != 1 or w.stride == 1 or at_least(room, 0)


@form("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(s: Relations, X: Row, out: Row) -> None:
    """(n, c, ..space..) -> (n, c, 1, ..)."""
    rank = rank_of(X, out)
    if rank is None or rank < 2:
        s.be(out, Row(s.leading(X, 2)[0], RowVar.fresh()))
    else:
        s.be(out, (*s.axes(X, rank)[:2], *(1,) * (rank - 2)))


@form("MaxRoiPool")
def max_roi_pool(s: Relations, X: Row, rois: Row, out: Row, pooled_shape: IntVector) -> None:
    """(n, c, h, w), (r, 5) -> (r, c, *pooled_shape)."""
    regions, coordinates = s.axes(rois, 2)
    s.eq(coordinates, 5, rois, 1)
    s.be(out, (regions, s.axes(X, 4)[1], *pooled_shape))


@form("RoiAlign")
def roi_align(s: Relations, X: Row, rois: Row, batch_indices: Row, out: Row, output_height: int = 1,
              output_width: int = 1) -> None:  # fmt: skip
    """(n, c, h, w), (r, 4), (r) -> (r, c, output_height, output_width)."""
    regions, coordinates = s.axes(rois, 2)
    s.eq(coordinates, 4, rois, 1)
    s.be(batch_indices, (regions,))
    s.be(out, (regions, s.axes(X, 4)[1], output_height, output_width))


@form("GridSample")
def grid_sample(s: Relations, X: Row, grid: Row, out: Row) -> None:
    """(n, c, ..space..), (n, ..places.., r) -> (n, c, ..places..) for r spatial axes."""
    rank = _spatial_rank(None, X, grid, out)
    if rank is None:
        return
    n, c, *_ = s.axes(X, rank)
    batch, *places, coordinates = s.axes(grid, rank)
    s.eq(batch, n, grid, 0)
    s.eq(coordinates, rank - 2, grid, -1)
    s.be(out, (n, c, *places))


@form("DeformConv")
def deform_conv(s: Relations, X: Row, W: Row, offset: Row, B: Row | None, mask: Row | None, out: Row, window: Windows,
                group: int = 1, offset_group: int = 1) -> None:  # fmt: skip
    """As Conv, with an offset (n, offset_group*prod(kernel)*r, ..windows..) and a mask without the factor r."""
    conv(s, X, W, B, out, window, group)
    rank = _spatial_rank(window, X, W, out)
    if rank is not None:
        n, _, *places = s.axes(out, rank)
        samples = product(window.kernel_shape or s.axes(W, rank)[2:]) * offset_group
        s.be(offset, (n, samples * (rank - 2), *places))
        s.be(mask, (n, samples, *places))
