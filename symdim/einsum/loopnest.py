"""The loops of one operation, with the index of every axis of every tensor as a function of the iterators.

Whether index maps reach a position twice, and whether they reach all positions, is True, False, or None (not known). A
map takes a point of a box (one value in `0..size - 1` per iterator) to one position per axis, an affine function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from itertools import product as choices
from itertools import product as points
from operator import mul
from typing import TypeAlias

from symdim.algebra.canonical import product, total
from symdim.algebra.dims import at_least, at_most, bounds_of
from symdim.algebra.named_tuple import NamedTuple
from symdim.einsum.projection import Concat, Dim, Index, Margin, Static, connected, in_walk, iterators_of, terms_of

Terms = dict[str, Dim]
"""Iterator -> coefficient."""
Axis: TypeAlias = tuple[Mapping[str, Dim], Dim]
"""The terms and the offset of the index of an axis."""

_BUDGET = 20_000  # the most points of a box that are tried one by one


def is_injective(axes: Iterable[Mapping[str, Dim]], sizes: Mapping[str, Dim]) -> bool | None:
    """Whether no two points of the box have the same positions on all axes.

    Exact for small numbers. Symbolic sizes use mixed radix: if the coefficient of an iterator exceeds the span of all
    others on its axis, the position determines the iterator.

    >>> is_injective([{"o": 2, "w": 1}], {"o": 3, "w": 2}), is_injective([{"o": 2, "k": 1}], {"o": 3, "k": 3})
    (True, False)
    """
    if any(size == 0 for size in sizes.values()):
        return True
    open_ = {name for name, size in sizes.items() if size != 1}
    rows = [{name: c for name, c in axis.items() if name in open_ and c != 0} for axis in axes]
    readable: set[str] | None = None
    while readable is None or readable:
        readable = {name for row in rows for name in _readable(row, sizes)}
        open_ -= readable
        rows = [{name: c for name, c in row.items() if name not in readable} for row in rows]
    if not open_:
        return True
    is_filled = all(at_least(size, 1) for size in sizes.values())
    if unread := [name for name in open_ if not any(name in row for row in rows)]:
        return False if is_filled and any(at_least(sizes[name], 2) for name in unread) else None
    maps: list[Axis] = [(row, 0) for row in rows]
    answers = [_meets_twice([maps[place] for place in group], sizes) for group in _groups(maps)]
    if True in answers:
        return False if is_filled else None
    return None if None in answers else True


def is_onto(index: Mapping[str, Dim], offset: Dim, sizes: Mapping[str, Dim], extent: Dim) -> bool | None:
    """Whether one affine index takes every value in `0..extent - 1`. The sizes are at least 1.

    The iterators are taken by rising coefficient. An iterator extends the reached values without a gap if its
    coefficient is at most the first value that is not reached. A greater coefficient skips that value.

    >>> is_onto({"o": 2, "k": 1}, 0, {"o": 3, "k": 2}, 6), is_onto({"o": 2}, 0, {"o": 3}, 6)
    (True, False)
    """
    terms = [(coefficient, sizes[name]) for name, coefficient in index.items() if sizes[name] != 1]
    # An iterator that counts down reaches the same values as one that counts up from its other end.
    offset = total([offset, *(c * (size - 1) for c, size in terms if isinstance(c, int) and c < 0)])
    left = [(_magnitude(c), size) for c, size in terms]
    if any(not at_least(coefficient, 1) for coefficient, _ in left):
        return None
    if not at_most(offset, 0):
        return False if at_least(offset, 1) and at_least(extent, 1) else None
    reached = offset  # every value from the offset up to this one is reached
    while fitting := [term for term in left if at_least(reached - offset + 1 - term[0], 0)]:
        coefficient, size = fitting[0]
        left.remove(fitting[0])
        reached = reached + coefficient * (size - 1)
    missing = reached + 1
    is_gap = all(at_least(coefficient - missing + offset - 1, 0) for coefficient, _ in left)
    if at_least(missing - extent, 0):
        return True
    return False if is_gap and at_least(missing, 0) and at_least(extent - 1 - missing, 0) else None


def covers(axes: Sequence[Axis], sizes: Mapping[str, Dim], shape: Sequence[Dim]) -> bool | None:
    """Whether the box reaches every position of a shape. `axes` are the terms and the offset of each axis.

    Axes without a common iterator are independent of each other.
    """
    if any(extent == 0 for extent in shape):
        return True
    if any(size == 0 for size in sizes.values()):
        return False if all(at_least(extent, 1) for extent in shape) else None
    answers = [_group_covers(group, axes, sizes, shape) for group in _groups(axes)]
    if False in answers:
        return False if all(at_least(extent, 1) for extent in shape) else None
    return None if None in answers else True


def _group_covers(
    group: list[int],
    axes: Sequence[Axis],
    sizes: Mapping[str, Dim],
    shape: Sequence[Dim],
) -> bool | None:
    if len(group) == 1:
        return is_onto(*axes[group[0]], sizes, shape[group[0]])
    own, extents = [axes[i] for i in group], [shape[i] for i in group]
    inside, cells = product([sizes[name] for name in _names(own)]), product(extents)
    if at_least(cells - inside, 1):
        return False
    positions = _positions(own, sizes)
    if positions is None or not (isinstance(inside, int) and isinstance(cells, int) and inside <= _BUDGET):
        return None
    hit = {p for p in positions if all(0 <= x < extent for x, extent in zip(p, extents, strict=True))}
    return len(hit) == cells


def _meets_twice(axes: Sequence[Axis], sizes: Mapping[str, Dim]) -> bool | None:
    """Whether two points of the box have one position; None if that takes too long to see, or depends on symbols."""
    positions = _positions(axes, sizes)
    if positions is None:
        return None
    seen: set[tuple[int, ...]] = set()
    for position in islice(positions, _BUDGET):
        if position in seen:
            return True
        seen.add(position)
    return False if next(positions, None) is None else None


def _positions(axes: Sequence[Axis], sizes: Mapping[str, Dim]) -> Iterator[tuple[int, ...]] | None:
    """The positions of the points of a box, point by point; None if a number in them is symbolic."""
    names = _names(axes)
    numbers = [[*[terms.get(name, 0) for name in names], offset] for terms, offset in axes]
    ranges = [range(size) for name in names if isinstance(size := sizes[name], int)]
    if len(ranges) < len(names) or not all(isinstance(k, int) for row in numbers for k in row):
        return None
    return (tuple([sum(map(mul, row, (*point, 1))) for row in numbers]) for point in points(*ranges))


def _names(axes: Sequence[Axis]) -> list[str]:
    """The iterators of some axes."""
    return sorted({name for terms, _ in axes for name in terms})


def _groups(axes: Sequence[Axis]) -> list[list[int]]:
    """The places of the axes, grouped by common iterators."""
    groups = connected([[*terms, place] for place, (terms, _) in enumerate(axes)])
    return [[member for member in group if isinstance(member, int)] for group in groups]


def _readable(row: Terms, sizes: Mapping[str, Dim]) -> list[str]:
    """The iterators that the position on an axis determines, the largest coefficient first."""
    names: list[str] = []
    sizes_of = {name: _magnitude(c) for name, c in row.items()}
    for name in sorted(row, key=lambda name: (-(bounds_of(sizes_of[name])[0] or 0), name)):
        rest = total([sizes_of[other] * (sizes[other] - 1) for other in row if other != name and other not in names])
        if not at_least(sizes_of[name] - rest, 1):
            break
        names.append(name)
    return names


def _magnitude(coefficient: Dim) -> Dim:
    return abs(coefficient) if isinstance(coefficient, int) else coefficient


class Walk(NamedTuple):
    """One nest of loops: its iterators, and the indices of the result and of the operands in it."""

    iterators: tuple[str, ...]
    out: tuple[Index, ...]
    args: dict[int, tuple[Index, ...]]


@dataclass(frozen=True, slots=True)
class LoopNest:
    """The loops of an operation.

    `product` holds components of (iterator, size). Components are nested; the iterators of one component run one after
    the other. `out` and `args` are the indices of the axes of the result and of the operands, in the order of storage
    (batch, output, input). `shapes` and `margins` are those of the operands and, last, of the result. A margin says how
    far an index may go beyond the first and the last element; elements there are padding. The caller gives the indices
    named in `statics`.
    """

    product: tuple[tuple[tuple[str, Dim], ...], ...]
    out: tuple[Index, ...]
    args: tuple[tuple[Index, ...], ...]
    shapes: tuple[tuple[Dim, ...], ...]
    margins: tuple[tuple[Margin, ...], ...]
    statics: tuple[str, ...] = ()

    @property
    def sizes(self) -> dict[str, Dim]:
        """The sizes of the iterators."""
        return {name: size for component in self.product for name, size in component}

    def walks(self) -> Iterator[Walk]:
        """The nests of loops that write something: one iterator per component, a result and at least one operand."""
        sizes = self.sizes
        stack: list[tuple[str, ...]] = [()]
        while stack:
            walked = stack.pop()
            # For components that are not chosen yet, any iterator is possible.
            later = [name for component in self.product[len(walked) :] for name, _ in component]
            possible = {*walked, *later, *self.statics}
            out = _indices(self.out, possible, sizes)
            args = {
                i: indices for i, arg in enumerate(self.args) if (indices := _indices(arg, possible, sizes)) is not None
            }
            if out is None or (self.args and not args):
                continue
            if len(walked) == len(self.product):
                yield Walk(walked, out, args)
            else:
                stack += [(*walked, name) for name, _ in reversed(self.product[len(walked)])]

    @property
    def injective(self) -> bool | None:
        """Whether no element of the result is written twice; None if that is not known for all sizes."""
        answers: list[bool | None] = []
        seen: set[tuple[str, ...]] = set()
        for walk in self.walks():
            sizes = {name: self.sizes[name] for name in walk.iterators}
            answers.append(is_injective([_terms(index)[0] for index in walk.out], sizes))
            # Two walks write to the same elements unless a concatenated axis of the result separates them.
            parts = self._parts(walk)
            if parts in seen:
                answers.append(False if all(at_least(size, 1) for size in self.sizes.values()) else None)
            seen.add(parts)
        return False if False in answers else None if None in answers else True

    @property
    def surjective(self) -> bool | None:
        """Whether every element of the result is written; None if that is not known for all sizes."""
        sizes = self.sizes
        written: dict[tuple[str, ...], bool | None] = {}
        for walk in self.walks():
            axes: list[tuple[dict[str, Dim], Dim]] = []
            extents: list[Dim] = []
            for index, of_walk, extent in zip(self.out, walk.out, self.shapes[-1], strict=True):
                if isinstance(index, Concat):
                    part = next(name for name in index.parts if name in walk.iterators)
                    axes.append(({part: 1}, 0))
                    extents.append(sizes[part])
                elif not set(iterators_of(index)).isdisjoint(self.statics):
                    if extent != 1:  # only one position is written, and it is not known
                        return False if isinstance(index, Static) and at_least(extent, 2) else None
                else:
                    axes.append(_terms(of_walk))
                    extents.append(extent)
            written[self._parts(walk)] = covers(axes, {name: sizes[name] for name in walk.iterators}, extents)
        wanted = choices(*(index.parts for index in self.out if isinstance(index, Concat)))
        missing = [parts for parts in wanted if written.get(parts) is not True]
        if not missing:
            return True
        is_certain = any(
            written.get(parts, False) is False and all(at_least(sizes[name], 1) for name in parts) for parts in missing
        )
        return False if is_certain and all(at_least(extent, 1) for extent in self.shapes[-1]) else None

    @property
    def accumulates(self) -> bool:
        """Whether an element of the result may be written twice, so values must be added up."""
        return self.injective is not True

    @property
    def clears(self) -> bool:
        """Whether the result must start as the neutral element: values are added up, or some may never be written."""
        pads = any(margin != (0, 0) for margins in self.margins for margin in margins)
        return self.accumulates or pads or self.surjective is not True

    def _parts(self, walk: Walk) -> tuple[str, ...]:
        """The part of each concatenated axis of the result that a walk writes."""
        return tuple(
            next(name for name in index.parts if name in walk.iterators)
            for index in self.out
            if isinstance(index, Concat)
        )


def _indices(indices: Sequence[Index], walked: set[str], sizes: Mapping[str, Dim]) -> tuple[Index, ...] | None:
    walked_indices = [in_walk(index, walked, sizes) for index in indices]
    return None if None in walked_indices else tuple(index for index in walked_indices if index is not None)


def _terms(index: Index) -> tuple[dict[str, Dim], Dim]:
    terms, offset = terms_of(index)
    return {name: coefficient for coefficient, name in terms}, offset
