"""Gather, Scatter and Slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import Operand, form
from onnx_infer.constraints.relations import joined, known
from onnx_infer.constraints.reshaping import same_rank
from onnx_infer.errors import Unknown
from onnx_infer.laws.slices import slice_length
from onnx_infer.values.tensor import SymTensor
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Dim, Relations
    from onnx_infer.ops.kinds import Ints


@form("Gather")
def gather(s: Relations, data: Row, indices: Operand, out: Row, axis: int = 0) -> None:
    """(..p.., x, ..q..), (..i..) -> (..p.., ..i.., ..q..); x is at least as large as constant indices demand."""
    value = indices.value()
    for index in value.data or () if isinstance(value, SymTensor) else ():
        if isinstance(index, int):
            s.at_least(s.size(data, axis), index + 1 if index >= 0 else -index, data, axis, law="index")
    _gathered(s, data, indices.row, out, axis)


def _gathered(s: Relations, data: Row, indices: Row, out: Row, axis: int) -> None:
    if data.rank is None and indices.rank is not None and out.rank is not None:
        s.axes(data, out.rank - indices.rank + 1)
    if data.rank is not None and indices.rank is None and out.rank is not None:
        s.axes(indices, out.rank - data.rank + 1)
    before, _, after = _around(s, data, axis)
    result = joined(before, indices, after)
    if result is not None:
        s.be(out, result)
    elif out.rank is not None:
        s.store.exact([before, indices, after], out.dims, origin=s.origin(out))
    elif before.rank is not None:
        s.be(out, Row(before.dims, RowVar.fresh()))
    else:  # an axis from the end: what follows it is known
        s.be(out, Row((), RowVar.fresh(), after.dims))


def _around(s: Relations, row: Row, axis: int) -> tuple[Row, Dim, Row]:
    """The row before an axis, the size of the axis, and the row after it."""
    if axis >= 0:
        head, rest = s.leading(row, axis + 1)
        return Row(trail=head[:axis]), head[axis], rest
    rest, tail = s.trailing(row, -axis)
    return rest, tail[0], Row(trail=tail[1:])


@form("GatherElements")
def gather_elements(s: Relations, data: Row, indices: Row, out: Row, axis: int = 0) -> None:
    """The indices' shape. The data have the same number of axes, and are at least as long along the other axes."""
    s.same(indices, out)
    rank = same_rank(s, data, indices, out)
    pairs = zip(s.axes(data, rank), s.axes(indices, rank), strict=True) if rank else ()
    for i, (size, count) in enumerate(pairs):
        if rank and i != axis % rank:
            s.at_least(size - count, 0, indices, i)


@form("ScatterElements", "Scatter")
def scatter_elements(s: Relations, data: Row, indices: Row, updates: Row, out: Row, axis: int = 0) -> None:
    """The shape of data. Updates and indices have equal shapes, and as many axes as data."""
    s.same(data, out)
    s.same(indices, updates)
    same_rank(s, data, indices, updates, out)


@form("GatherND")
def gather_nd(s: Relations, data: Row, indices: Row, out: Row, batch_dims: int = 0) -> None:
    """(..b.., ..x.., ..q..), (..b.., ..i.., t) -> (..b.., ..i.., ..q..), where x has t axes."""
    batch, before = s.leading(data, batch_dims)
    also, rest = s.leading(indices, batch_dims)
    for axis, (one, other) in enumerate(zip(batch, also, strict=True)):
        s.eq(one, other, indices, axis)
    index, (depth,) = s.trailing(rest, 1)
    if isinstance(depth, int):
        _, after = s.leading(before, depth)
        s.be(out, joined(batch, index, after))
    elif data.rank is not None and indices.rank is not None and out.rank is not None:
        s.eq(depth, data.rank + indices.rank - 1 - batch_dims - out.rank, indices, -1)


@form("ScatterND")
def scatter_nd(s: Relations, data: Row, indices: Row, updates: Row, out: Row) -> None:
    """The shape of data (..x.., ..q..); indices (..i.., t) and updates (..i.., ..q..), where x has t axes."""
    s.same(data, out)
    rank = data.rank if data.rank is not None else out.rank
    index, (depth,) = s.trailing(indices, 1)
    if rank is not None and indices.rank is not None and updates.rank is not None:
        s.eq(depth, rank + indices.rank - 1 - updates.rank, indices, -1)
        depth = rank + indices.rank - 1 - updates.rank
    if isinstance(depth, int) and depth >= 0:
        _, after = s.leading(data, depth)
        s.be(updates, joined(index, after))


@form("Slice")
def cut(s: Relations, data: Row, starts: Ints, ends: Ints, out: Row, axes: Ints | Unknown | None,
        steps: Ints | Unknown | None = None) -> None:  # fmt: skip
    """Each named axis has the length of its slice; the others are unchanged."""
    places = tuple(range(len(starts))) if axes is None else known(axes)
    apart = None if places is None else s.apart_from(places, data, out)
    if places is None or apart is None:
        same_rank(s, data, out)
        return
    by = (1,) * len(places) if steps is None else (None,) * len(places) if isinstance(steps, Unknown) else steps
    for axis, size, kept, start, end, step in zip(places, *apart, starts, ends, by, strict=True):
        if all(isinstance(bound, int) for bound in (start, end, step)):
            s.eq(kept, slice_length(size, start, end, step), out, axis)
