"""One margin for all uses of a tensor, and the element in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from symdim.algebra.canonical import maximum
from symdim.algebra.dims import at_least
from symdim.einsum.projection import NO_MARGIN, Margin
from symdim.einsum.spec import SpecError


class Padding(NamedTuple):
    """The number of elements before and after each axis, and their value.

    `element` is None if the uses need different values; then the margin must be filled again before each use.
    """

    margins: tuple[Margin, ...]
    element: float | None


def padding_of(uses: Iterable[tuple[Sequence[Margin], float]], fixed: Sequence[Margin] | None = None) -> Padding:
    """The padding of a tensor with these uses (margins and neutral element): the largest margin of each axis.

    A use without a margin does not influence the element. `fixed` margins are those of an existing tensor; SpecError if
    a use may need more.

    >>> padding_of([([(1, 1), (0, 0)], 0.0), ([(0, 2), (0, 0)], 0.0)])
    Padding(margins=((1, 2), (0, 0)), element=0.0)
    """
    needed = list(uses)
    elements = {element for margins, element in needed if any(margin != NO_MARGIN for margin in margins)}
    axes = zip(*(margins for margins, _ in needed), strict=True)
    margins = tuple((maximum(*(before for before, _ in axis)), maximum(*(after for _, after in axis))) for axis in axes)
    if fixed is not None:
        for place, (have, want) in enumerate(zip(fixed, margins, strict=True)):
            if not all(at_least(there - here, 0) for there, here in zip(have, want, strict=True)):
                raise SpecError("padding_mismatch", f"axis {place} has the margin {have}, but {want} is needed")
        margins = tuple(fixed)
    return Padding(margins, elements.pop() if len(elements) == 1 else None)
