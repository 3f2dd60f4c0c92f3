"""Operators that move, repeat or scale axes: Transpose, Expand, Tile, Pad, Resize, DepthToSpace, Concat, Split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import known, rank_of
from onnx_infer.constraints.reshaping import same_rank
from onnx_infer.elements.scaling import scaled
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import MOST_OPEN_PARTS
from symdim.rows import Row

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Dim, Relations, Rows
    from onnx_infer.laws.windows import IntVector
    from onnx_infer.ops.kinds import Floats, Ints


@form("Transpose")
def transpose(s: Relations, data: Row, out: Row, perm: IntVector | None = None) -> None:
    """Axis i of the result is axis perm[i] of the input; without perm the axes are reversed."""
    rank = rank_of(data, out) if perm is None else len(perm)
    if rank is not None:
        order = tuple(range(rank))[::-1] if perm is None else perm
        require(sorted(order) == list(range(rank)), "perm is not a permutation", list(order))
        sizes = s.axes(data, rank)
        s.be(out, tuple(sizes[axis] for axis in order))


@form("Expand")
def expand(s: Relations, input: Row, shape: Ints, out: Row) -> None:
    """The input and the target broadcast to the result. An unknown size of the target may be 1."""
    require(not any(isinstance(size, int) and size < 0 for size in shape), "a size is negative", list(shape))
    target = tuple(s.fresh() if size is None else size for size in shape)
    s.bcast(out, (input, Row(trail=target)))


@form("Tile", since=6)
def tile(s: Relations, input: Row, repeats: Ints, out: Row) -> None:
    """Each axis is repeated the given number of times."""
    pairs = zip(s.axes(input, len(repeats)), s.axes(out, len(repeats)), strict=True)
    for axis, ((size, tiled), count) in enumerate(zip(pairs, repeats, strict=True)):
        if count is not None:
            s.eq(tiled, size * count, out, axis, law="stride")


@form("Pad")
def pad(s: Relations, data: Row, out: Row, pads: Ints | Unknown | None, paddings: Ints | None = None,
        axes: Ints | Unknown | None = None) -> None:  # fmt: skip
    """Each padded axis grows by the pads at both of its ends, or shrinks if these are negative."""
    wanted = paddings if pads is None else () if isinstance(pads, Unknown) else pads
    if axes is None and wanted:
        axes = tuple(range(len(wanted) // 2))
        s.axes(data, len(axes))
    places = known(axes)
    apart = None if places is None else s.apart_from(places, data, out)
    if places is None or apart is None:
        same_rank(s, data, out)
    elif wanted:
        ends = zip(wanted[: len(places)], wanted[len(places) :], strict=True)
        for axis, (before, after), size, padded in zip(places, ends, *apart, strict=True):
            if before is not None and after is not None:
                s.eq(padded, size + before + after, out, axis)


@form("Resize", since=11)
@form("Resize", "Upsample")
def resize(s: Relations, X: Row, out: Row, scales: Floats | Unknown | None = None, sizes: Ints | Unknown | None = None,
           axes: IntVector | None = None, keep_aspect_ratio_policy: str = "stretch") -> None:  # fmt: skip
    """The rank stays. Named axes have the given sizes, or floor(size * scale)."""
    rank = rank_of(X, out)
    values = sizes if isinstance(sizes, tuple) else scales if isinstance(scales, tuple) else ()
    if rank is None and values and axes is None:
        rank = len(values)
        s.axes(X, rank)
    if rank is not None and not axes:
        axes = tuple(range(rank))
    if axes is None:
        return
    apart = s.apart_from(axes, X, out)
    if apart is None or len(values) != len(axes) or keep_aspect_ratio_policy != "stretch":
        return
    for axis, size, resized, wanted in zip(axes, *apart, values, strict=True):
        if wanted is None:
            continue
        if values is sizes:
            s.eq(resized, wanted, out, axis)
        elif wanted == int(wanted):
            s.eq(resized, size * int(wanted), out, axis, law="stride")
        else:
            s.eq(resized, scaled(size, wanted), out, axis, law="window")


@form("DepthToSpace")
def depth_to_space(s: Relations, input: Row, out: Row, blocksize: int) -> None:
    """(n, c*b*b, h, w) -> (n, c, h*b, w*b)."""
    _blocks(s, out, input, blocksize)


@form("SpaceToDepth")
def space_to_depth(s: Relations, input: Row, out: Row, blocksize: int) -> None:
    """(n, c, h*b, w*b) -> (n, c*b*b, h, w)."""
    _blocks(s, input, out, blocksize)


def _blocks(s: Relations, space: Row, depth: Row, b: int) -> None:
    n, c, *sides = s.axes(space, 4)
    batch, channels, *blocks = s.axes(depth, 4)
    s.eq(batch, n, depth, 0)
    s.eq(channels, c * b * b, depth, 1, law="stride")
    for axis, (side, count) in enumerate(zip(sides, blocks, strict=True), 2):
        s.eq(side, count * b, space, axis, law="stride")


def _parts(s: Relations, axis: int, whole: Row, parts: Rows) -> tuple[Dim, list[Dim]]:
    """The sizes at an axis, of the whole row (the sum of the parts) and of the parts. The other axes are equal."""
    apart = s.apart_from((axis,), *parts, whole)
    if apart is None:
        return s.fresh(), [s.fresh() for _ in parts]
    *sizes, size = [dim for (dim,) in apart]
    s.store.concat(size, sizes, origin=s.origin(whole, axis))
    return size, sizes


@form("Concat")
def concat(s: Relations, inputs: Rows, axis: int, out: Row) -> None:
    """The result's size at the axis is the sum of the inputs' sizes; other axes are equal."""
    _parts(s, axis, out, inputs)


@form("Split")
def split(s: Relations, input: Row, outs: tuple[Row | None, ...], split: Ints | Unknown | None, axis: int = 0,
          num_outputs: int | None = None) -> None:  # fmt: skip
    """The sizes at the axis are given, or equal. With num_outputs the last one may be smaller."""
    parts = tuple(row for row in outs if row is not None)
    if len(parts) < len(outs) or not parts or len(parts) > MOST_OPEN_PARTS:
        return
    whole, sizes = _parts(s, axis, input, parts)
    if isinstance(split, tuple):
        require(len(split) == len(parts), "split and the outputs differ in number", len(split), len(parts))
        for part, size, wanted in zip(parts, sizes, split, strict=True):
            s.eq(size, wanted, part, axis)
        return
    if split is None:
        for part, size in zip(parts[1:-1] if num_outputs else parts[1:], sizes[1:], strict=False):
            s.eq(size, sizes[0], part, axis)
        if num_outputs:
            s.eq(sizes[0], -(-whole // num_outputs), parts[0], axis)
