"""Operators that change only the shape (Reshape, Flatten, Squeeze, Unsqueeze), and Shape, Size, Range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import Relations, joined, known, places_of, rank_of
from onnx_infer.errors import Unknown
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
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


def without_axes(
    s: Relations, longer: Row, shorter: Row, axes: tuple[int, ...], *, ones: bool, keepdims: bool = False
) -> bool:
    """The shorter row is the longer one without these axes, or with 1 there. In the longer one they are `ones`, or any.

    False, with nothing stated, if the axes do not exist or are counted from both ends of an unknown rank.
    """
    reach, rank = places_of(axes, None), longer.rank
    if rank is None and shorter.rank is not None and (keepdims or reach is not None):
        rank = shorter.rank if keepdims else shorter.rank + len(reach or ())
    places = reach if rank is None else places_of(axes, rank)
    if places is None:
        return False
    count = rank if rank is not None else max(axes) + 1 if axes[0] >= 0 else -min(axes)
    sizes = s.axes(longer, count) if rank is not None else s.new_axes(count)
    kept = tuple(1 if i in places else size for i, size in enumerate(sizes) if keepdims or i not in places)
    whole = tuple(1 if ones and i in places else size for i, size in enumerate(sizes))
    between = Row() if rank is not None else Row(variable=RowVar.fresh())
    for row, part in ((longer, whole), (shorter, kept)):
        s.be(row, joined(part, between) if axes[0] >= 0 else joined(between, part))
    return True


@form("Squeeze")
def squeeze(s: Relations, data: Row, axes: Ints | Unknown | None, out: Row) -> None:
    """The named axes, of size 1, are left out. Without axes, all of size 1: only the number of elements is stated."""
    if places := known(axes):
        without_axes(s, data, out, places, ones=True)
    else:
        s.as_many(data, out)


@form("Unsqueeze")
def unsqueeze(s: Relations, data: Row, axes: Ints | Unknown, out: Row) -> None:
    """Axes of size 1 are inserted; the axes are counted in the result."""
    if places := known(axes):
        without_axes(s, out, data, places, ones=True)
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
