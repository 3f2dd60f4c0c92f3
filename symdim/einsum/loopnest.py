"""The loops of one operation, with the index of every axis of every tensor as a function of the iterators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as choices
from typing import NamedTuple

from symdim.algebra.dims import at_least
from symdim.einsum.coverage import covers, is_injective
from symdim.einsum.index import Concat, Dim, Index, Static, in_walk, iterators_of, terms_of
from symdim.einsum.projection import Margin


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
                i: found for i, arg in enumerate(self.args) if (found := _indices(arg, possible, sizes)) is not None
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
    found = [in_walk(index, walked, sizes) for index in indices]
    return None if None in found else tuple(index for index in found if index is not None)


def _terms(index: Index) -> tuple[dict[str, Dim], Dim]:
    terms, offset = terms_of(index)
    return {name: coefficient for coefficient, name in terms}, offset
