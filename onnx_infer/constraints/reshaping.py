"""Operators that change only the shape (Reshape, Flatten, Squeeze, Unsqueeze), and Shape, Size, Range.

Also those that select by indices: Gather, Scatter, Slice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import Operand, form
from onnx_infer.constraints.relations import Relations, joined, known, places_of, rank_of
from onnx_infer.errors import Unknown
from onnx_infer.laws.slices import slice_length
from onnx_infer.values.tensor import SymTensor
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Dim, Relations
    from onnx_infer.ops.kinds import Ints


@form("Reshape")
def reshape(s: Relations, data: Row, shape: Ints | Unknown, out: Row, allowzero: int = 0) -> None:
    """The number of elements stays. 0 copies a size; -1 stands for the rest, and then no other size is 0."""
    s.as_many(data, out)
    if isinstance(shape, Unknown):
        return
    sizes = s.axes(out, len(shape))
    for axis, (size, wanted) in enumerate(zip(sizes, shape, strict=True)):
        if wanted == 0 and not allowzero:
            s.eq(size, s.size(data, axis), out, axis)
        elif wanted != -1:
            s.eq(size, wanted, out, axis)
        if wanted != -1 and -1 in shape:
            s.at_least(size, 1, out, axis)


@form("Flatten")
def flatten(s: Relations, input: Row, out: Row, axis: int = 1) -> None:
    """(..p.., ..q..) -> (elements of p, elements of q), where p has `axis` axes."""
    rows, columns = s.axes(out, 2)
    if axis < 0:
        before, tail = s.trailing(input, -axis)
        after = Row(trail=tail)
    else:
        head, after = s.leading(input, axis)
        before = Row(trail=head)
    s.eq(s.store.count(before), rows, out, 0, law="elements")
    s.eq(s.store.count(after), columns, out, 1, law="elements")


def _insert(s: Relations, longer: Row, shorter: Row, axes: tuple[int, ...]) -> None:
    """The longer row is the shorter one with sizes of 1 at these axes, counted in the longer row."""
    reach, rank = places_of(axes, None), longer.rank
    if rank is None and shorter.rank is not None and reach is not None:
        rank = shorter.rank + len(reach)
    places = reach if rank is None else places_of(axes, rank)
    if places is None:
        return
    if rank is not None:
        rest = iter(s.axes(shorter, rank - len(places)))
        s.be(longer, tuple(1 if i in places else next(rest) for i in range(rank)))
        return
    count = max(axes) + 1 if axes[0] >= 0 else -min(axes)
    kept = s.new_axes(count - len(places))
    rest, between = iter(kept), Row(variable=RowVar.fresh())
    sizes = tuple(1 if i in places else next(rest) for i in range(count))
    for row, part in ((longer, sizes), (shorter, kept)):
        s.be(row, joined(part, between) if axes[0] >= 0 else joined(between, part))


@form("Squeeze")
def squeeze(s: Relations, data: Row, axes: Ints | Unknown | None, out: Row) -> None:
    """The named axes, of size 1, are left out. Without axes, all of size 1: only the number of elements is stated."""
    if places := known(axes):
        _insert(s, data, out, places)
    else:
        s.as_many(data, out)


@form("Unsqueeze")
def unsqueeze(s: Relations, data: Row, axes: Ints | Unknown, out: Row) -> None:
    """Axes of size 1 are inserted; the axes are counted in the result."""
    if places := known(axes):
        _insert(s, out, data, places)
    else:
        s.as_many(data, out)


@form("Shape")
def shape_of(s: Relations, data: Row, out: Row, start: int = 0, end: int | None = None) -> None:
    """The result has one element per axis. So the number of elements gives the rank."""
    (count,) = s.axes(out, 1)
    if start == 0 and end is None:
        if data.rank is not None:
            s.eq(count, data.rank, out, 0)
        elif isinstance(count, int):
            s.axes(data, count)


@form("Size")
def size_of(s: Relations, data: Row, out: Row) -> None:
    """A scalar."""
    s.be(out, ())


@form("Range")
def positions(s: Relations, out: Row) -> None:
    """A vector."""
    s.axes(out, 1)


def same_rank(s: Relations, *rows: Row) -> int | None:
    """The rank that these rows share. If it is known for one row, it is stated for all."""
    rank = rank_of(*rows)
    if rank is not None:
        for row in rows:
            s.axes(row, rank)
    return rank


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
    found = None if places is None else s.apart_from(places, data, out)
    if places is None or found is None:
        same_rank(s, data, out)
        return
    by = (1,) * len(places) if steps is None else (None,) * len(places) if isinstance(steps, Unknown) else steps
    for axis, size, kept, start, end, step in zip(places, *found, starts, ends, by, strict=True):
        if all(isinstance(bound, int) for bound in (start, end, step)):
            s.eq(kept, slice_length(size, start, end, step), out, axis)
