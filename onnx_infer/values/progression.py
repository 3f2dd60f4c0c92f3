"""Arithmetic progressions: elements that `Range` makes, whose number need not be known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim


class Progression(NamedTuple):
    """The elements `start`, `start + step`, ...; `length` of them."""

    start: Dim
    step: Dim
    length: Dim

    @property
    def last(self) -> Dim:
        """The last element, if there is one."""
        return self.at(self.length - 1)

    def at(self, index: Dim) -> Dim:
        """The element at an index."""
        return self.start + index * self.step

    def part(self, begin: Dim, length: Dim) -> Progression:
        """So many elements from an index on."""
        return Progression(self.at(begin), self.step, length)

    def backward(self) -> Progression:
        """The elements in reverse order."""
        return Progression(self.last, -self.step, self.length)
