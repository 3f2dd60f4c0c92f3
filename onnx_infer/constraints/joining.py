"""Concat and Split: the size of an axis is the sum of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import MOST_OPEN_PARTS

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Dim, Relations, Rows
    from onnx_infer.ops.kinds import Ints
    from symdim.rows import Row


def _parts(s: Relations, axis: int, whole: Row, parts: Rows) -> tuple[Dim, list[Dim]]:
    """The sizes at an axis, of the whole row (the sum of the parts) and of the parts. The other axes are equal."""
    found = s.apart_from((axis,), *parts, whole)
    if found is None:
        return s.fresh(), [s.fresh() for _ in parts]
    *sizes, size = [dim for (dim,) in found]
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
        for part, size, given in zip(parts, sizes, split, strict=True):
            s.eq(size, given, part, axis)
        return
    if split is None:
        for part, size in zip(parts[1:-1] if num_outputs else parts[1:], sizes[1:], strict=False):
            s.eq(size, sizes[0], part, axis)
        if num_outputs:
            s.eq(sizes[0], -(-whole // num_outputs), parts[0], axis)
