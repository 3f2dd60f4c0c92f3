"""The vocabulary of forms: relations between the rows of one node's operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import normalize_axes
from onnx_infer.values.tensor import MAX_RANK
from symdim import Expr
from symdim.rows import Row, RowVar
from symdim.store import Origin, Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Dim = int | Expr
    Rows = tuple[Row, ...]


class Relations:
    """The relations of one node. The origin of each is the node, an operand and an axis.

    >>> from symdim import Store
    >>> store, x, y = Store(), Row.unknown(), Row.of(["N", 8])
    >>> s = Relations(store, "Relu_0", {x: "X", y: "Y"})
    >>> s.same(x, y)
    >>> print(store.row(x), store.explain(x))
    [N, 8] ('[N, 8] == [...] (Relu_0, X)',)
    """

    def __init__(self, store: Store, node: str, names: Mapping[Row, str]) -> None:
        self.store, self.node, self._names = store, node, names
        self._joined: list[tuple[Row, Row]] = []

    def origin(self, row: Row | None = None, axis: int | None = None) -> Origin:
        """The origin of a relation about a row."""
        return Origin(self.node, "" if row is None else self._names.get(row, ""), axis)

    def fresh(self) -> Dim:
        """An unknown size."""
        return self.store.fresh()

    # sizes

    def eq(
        self, a: Dim | None, b: Dim | None, of: Row | None = None, axis: int | None = None, law: str = "size"
    ) -> None:
        """a == b, a size of the row `of`. Nothing if one is not a size (an unknown element, or a float)."""
        if isinstance(a, int | Expr) and isinstance(b, int | Expr) and (isinstance(a, int) or a is not b):
            self.store.eq(a, b, origin=self.origin(of, axis), law=law)

    def at_least(self, dim: Dim, lo: int, of: Row | None = None, axis: int | None = None, law: str = "size") -> None:
        """dim >= lo."""
        if not isinstance(dim, int) or dim < lo:
            self.store.bounds(dim, lo, origin=self.origin(of, axis), law=law)

    def divisible(self, dim: Dim, by: int, of: Row | None = None, axis: int | None = None) -> None:
        """dim % by == 0."""
        self.store.divisible(dim, by, origin=self.origin(of, axis))

    # rows

    def be(self, row: Row | None, template: Row | Sequence[Dim] | None) -> None:
        """The row has these axes. Nothing for an absent operand or for None as axes."""
        if row is not None and template is not None:
            wanted = template if isinstance(template, Row) else Row(trail=tuple(template))
            self.store.eq_row(row, wanted, origin=self.origin(row))

    def same(self, *rows: Row | None) -> None:
        """All rows that are present have the same axes."""
        first, *others = [row for row in rows if row is not None]
        for row in others:
            self.store.eq_row(row, first, origin=self.origin(row if row.is_open else first))

    def bcast(self, out: Row, rows: Sequence[Row]) -> None:
        """`out` is the result of broadcasting the rows by NumPy's rule. Without rows the operands are no tensors."""
        if len(rows) == 1:
            self.same(rows[0], out)
        elif rows:
            self.store.bcast(out, rows, origin=self.origin(out))
            if len(rows) == 2:
                self._joined.append((rows[0], rows[1]))

    def joined_sizes(self) -> Iterator[tuple[Dim, Dim]]:
        """The sizes of two operands that are broadcast to each other, if both ranks are known."""
        for a, b in self._joined:
            if not a.is_open and not b.is_open:
                yield from zip(reversed(a.dims), reversed(b.dims), strict=False)

    def bcast_to(self, target: Row, row: Row | None) -> None:
        """The row broadcasts to the target, one way."""
        if row is not None:
            self.store.bcast_to(target, row, origin=self.origin(row))

    def as_many(self, a: Row, b: Row) -> None:
        """The rows have the same number of elements."""
        self.eq(self.store.count(a), self.store.count(b), b, law="elements")

    # axes

    def new_axes(self, count: int) -> tuple[Dim, ...]:
        """Unknown sizes. Raises ShapeInferenceError for more axes than any tensor has."""
        require(count <= MAX_RANK, f"an axis beyond the first {MAX_RANK}", count)
        return tuple(self.fresh() for _ in range(count))

    def axes(self, row: Row, rank: int) -> tuple[Dim, ...]:
        """The sizes of a row of this rank."""
        if row.rank == rank:
            return row.dims
        dims = self.new_axes(rank)
        self.be(row, dims)
        return dims

    def leading(self, row: Row, count: int) -> tuple[tuple[Dim, ...], Row]:
        """The first sizes of a row, and the row after them."""
        if row.rank is not None and row.rank >= count:
            return row.dims[:count], Row(trail=row.dims[count:])
        dims, rest = self.new_axes(count), RowVar.fresh()
        self.be(row, Row(dims, rest))
        return dims, Row(variable=rest)

    def trailing(self, row: Row, count: int) -> tuple[Row, tuple[Dim, ...]]:
        """The row before the last sizes of a row, and these sizes."""
        if row.rank is not None and row.rank >= count:
            start = row.rank - count
            return Row(trail=row.dims[:start]), row.dims[start:]
        rest, dims = RowVar.fresh(), self.new_axes(count)
        self.be(row, Row((), rest, dims))
        return Row(variable=rest), dims

    def size(self, row: Row, axis: int) -> Dim:
        """The size at an axis. This states that the row has the axis."""
        return self.leading(row, axis + 1)[0][axis] if axis >= 0 else self.trailing(row, -axis)[1][0]

    def apart_from(self, axes: Iterable[int], *rows: Row) -> list[tuple[Dim, ...]] | None:
        """The rows are equal except at these axes; returns each row's sizes there, in the order of `axes`.

        None, with nothing stated, if the rank is not known and axes are counted from both ends.
        """
        axes, rank = tuple(axes), rank_of(*rows)
        beyond = [] if rank is None else [axis for axis in axes if not -rank <= axis < rank]
        if beyond:  # a contradiction
            self.size(next(row for row in rows if row.rank == rank), beyond[0])
            return None
        if rank is not None:
            places = normalize_axes(axes, rank)
            dims = [self.axes(row, rank) for row in rows]
            for row, others in zip(rows[1:], dims[1:], strict=True):
                for i in range(rank):
                    if i not in places:
                        self.eq(others[i], dims[0][i], row, i)
            return [tuple(sizes[i] for i in places) for sizes in dims]
        if axes and min(axes) < 0 <= max(axes):
            return None
        between, from_end = RowVar.fresh(), bool(axes) and axes[0] < 0
        count = (-min(axes) if from_end else max(axes) + 1) if axes else 0
        shared, apart = self.new_axes(count), []
        for row in rows:
            sizes = list(shared)
            for axis in axes:
                sizes[axis] = self.fresh()
            self.be(row, Row((), between, tuple(sizes)) if from_end else Row(tuple(sizes), between))
            apart.append(tuple(sizes[axis] for axis in axes))
        return apart


def rank_of(*rows: Row | None) -> int | None:
    """The rank of the first row whose rank is known.

    >>> rank_of(Row.unknown(), None, Row.of([2, 3]))
    2
    """
    return next((row.rank for row in rows if row is not None and row.rank is not None), None)


def places_of(axes: Sequence[int], rank: int | None) -> set[int] | None:
    """The axes counted from the front, each once. With an unknown rank the smallest rank that has them is used.

    None if they do not exist, or if they are counted from both ends of an unknown rank.

    >>> places_of((0, -1), 3), places_of((-1, -3), None), places_of((0, -1), None)
    ({0, 2}, {0, 2}, None)
    """
    if rank is None:
        if min(axes) < 0 <= max(axes):
            return None
        rank = max(axes) + 1 if min(axes) >= 0 else -min(axes)
    return {axis % rank for axis in axes} if all(-rank <= axis < rank for axis in axes) else None


def known(values: Sequence[Dim | None] | Unknown | None) -> tuple[int, ...] | None:
    """The numbers if all are known, else None.

    >>> known((1, 2)), known((1, None))
    ((1, 2), None)
    """
    if isinstance(values, Unknown) or values is None:
        return None
    numbers = tuple(value for value in values if isinstance(value, int))
    return numbers if len(numbers) == len(values) else None


def joined(*parts: Row | Sequence[Dim]) -> Row | None:
    """The row of these parts one after the other; None if more than one part is open.

    >>> print(joined([2], Row.parse("[..r..]"), Row.of([3])))
    [2, ..r.., 3]
    """
    lead: list[Dim] = []
    trail: list[Dim] = []
    variable: RowVar | None = None
    for part in parts:
        row = part if isinstance(part, Row) else Row(trail=tuple(part))
        if variable is not None:
            if row.is_open:
                return None
            trail += row.dims
        elif row.is_open:
            lead += row.lead
            variable, trail = row.variable, list(row.trail)
        else:
            lead += row.dims
    return Row((), None, tuple(lead)) if variable is None else Row(tuple(lead), variable, tuple(trail))
