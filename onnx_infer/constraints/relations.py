"""What a form says with: relations between the rows of one node's operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import normalize_axes
from symdim import Expr
from symdim.rows import Row, RowVar
from symdim.store import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from symdim.store import Store

    Dim = int | Expr
    Rows = tuple[Row, ...]


MOST_AXES = 1 << 10
"""The most axes that are told apart where a rank is not known: an attribute can name any axis."""


class Relations:
    """The facts of one node; each has as its origin the node, an operand and an axis.

    >>> from symdim import Store
    >>> store, x, y = Store(), Row.unknown(), Row.of(["N", 8])
    >>> s = Relations(store, "Relu_0", {x: "X", y: "Y"})
    >>> s.same(x, y)
    >>> print(store.row(x), store.explain(x))
    [N, 8] ('[N, 8] == [...] (Relu_0, X)',)
    """

    def __init__(self, store: Store, node: str, names: Mapping[Row, str]) -> None:
        self.store, self.node, self._names = store, node, names

    def origin(self, row: Row | None = None, axis: int | None = None) -> Origin:
        """The origin of a fact about a row."""
        return Origin(self.node, "" if row is None else self._names.get(row, ""), axis)

    def fresh(self) -> Dim:
        """A size of which nothing is known."""
        return self.store.fresh()

    # sizes

    def eq(
        self, a: Dim | None, b: Dim | None, of: Row | None = None, axis: int | None = None, law: str = "size"
    ) -> None:
        """a == b, a size of the row `of`; nothing where one is no size: an element that is not known, or a float."""
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
        """The row has these axes; an absent operand, or axes that cannot be said (None), say nothing."""
        if row is not None and template is not None:
            wanted = template if isinstance(template, Row) else Row(trail=tuple(template))
            self.store.eq_row(row, wanted, origin=self.origin(row))

    def same(self, *rows: Row | None) -> None:
        """The rows that are present have the same axes."""
        first, *others = [row for row in rows if row is not None]
        for row in others:
            self.store.eq_row(row, first, origin=self.origin(row if row.is_open else first))

    def bcast(self, out: Row, rows: Sequence[Row]) -> None:
        """The rows broadcast to exactly `out`, by NumPy's rule."""
        if len(rows) == 1:
            self.same(rows[0], out)
        else:
            self.store.bcast(out, rows, origin=self.origin(out))

    def bcast_to(self, target: Row, row: Row | None) -> None:
        """The row broadcasts one way to the target."""
        if row is not None:
            self.store.bcast_to(target, row, origin=self.origin(row))

    def as_many(self, a: Row, b: Row) -> None:
        """The rows have as many elements."""
        self.eq(self.store.count(a), self.store.count(b), b, law="elements")

    # axes

    def new_axes(self, count: int) -> tuple[Dim, ...]:
        """Sizes of which nothing is known; no tensor has as many axes as some models name."""
        require(count <= MOST_AXES, f"an axis beyond the first {MOST_AXES}", count)
        return tuple(self.fresh() for _ in range(count))

    def axes(self, row: Row, rank: int) -> tuple[Dim, ...]:
        """The sizes of a row of this rank."""
        if row.rank == rank:
            return row.dims
        dims = self.new_axes(rank)
        self.be(row, dims)
        return dims

    def leading(self, row: Row, count: int) -> tuple[tuple[Dim, ...], Row]:
        """The first sizes of a row, and what comes after them."""
        if row.rank is not None and row.rank >= count:
            return row.dims[:count], Row(trail=row.dims[count:])
        dims, rest = self.new_axes(count), RowVar.fresh()
        self.be(row, Row(dims, rest))
        return dims, Row(variable=rest)

    def trailing(self, row: Row, count: int) -> tuple[Row, tuple[Dim, ...]]:
        """What comes before the last sizes of a row, and these."""
        if row.rank is not None and row.rank >= count:
            start = row.rank - count
            return Row(trail=row.dims[:start]), row.dims[start:]
        rest, dims = RowVar.fresh(), self.new_axes(count)
        self.be(row, Row((), rest, dims))
        return Row(variable=rest), dims

    def size(self, row: Row, axis: int) -> Dim:
        """The size at an axis, which the row has."""
        return self.leading(row, axis + 1)[0][axis] if axis >= 0 else self.trailing(row, -axis)[1][0]

    def apart_from(self, axes: Iterable[int], *rows: Row) -> list[tuple[Dim, ...]] | None:
        """The rows are equal but for these axes; each one's sizes there, in the order of `axes`.

        None, and nothing stated, where the rank is not known and axes are counted from both ends.
        """
        axes, rank = tuple(axes), rank_of(*rows)
        beyond = [] if rank is None else [axis for axis in axes if not -rank <= axis < rank]
        if beyond:  # which is a contradiction
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
        shared, found = self.new_axes(count), []
        for row in rows:
            sizes = list(shared)
            for axis in axes:
                sizes[axis] = self.fresh()
            self.be(row, Row((), between, tuple(sizes)) if from_end else Row(tuple(sizes), between))
            found.append(tuple(sizes[axis] for axis in axes))
        return found


def rank_of(*rows: Row | None) -> int | None:
    """The rank of the first row of which it is known.

    >>> rank_of(Row.unknown(), None, Row.of([2, 3]))
    2
    """
    return next((row.rank for row in rows if row is not None and row.rank is not None), None)


def places_of(axes: Sequence[int], rank: int | None) -> set[int] | None:
    """The axes counted from the front, each once; as far as they reach where the rank is not known.

    None where they do not exist, or are counted from both ends of an unknown rank.

    >>> places_of((0, -1), 3), places_of((-1, -3), None), places_of((0, -1), None)
    ({0, 2}, {0, 2}, None)
    """
    if rank is None:
        if min(axes) < 0 <= max(axes):
            return None
        rank = max(axes) + 1 if min(axes) >= 0 else -min(axes)
    return {axis % rank for axis in axes} if all(-rank <= axis < rank for axis in axes) else None


def known(values: Sequence[Dim | None] | Unknown | None) -> tuple[int, ...] | None:
    """The numbers, where all of them are known.

    >>> known((1, 2)), known((1, None))
    ((1, 2), None)
    """
    if isinstance(values, Unknown) or values is None:
        return None
    found = tuple(value for value in values if isinstance(value, int))
    return found if len(found) == len(values) else None


def joined(*parts: Row | Sequence[Dim]) -> Row | None:
    """The row of these parts one after the other; None where more than one of them is open.

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
