"""The elements of a sequence that SplitToSequence cuts from a tensor, of which the last one may be smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symdim import Var, minimum
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim

CHUNK = Var.fresh("chunk", 1, origin="the size of a part")
"""The size of a part in `Parts`."""


class Parts(NamedTuple):
    """The elements of a sequence: `each`, a tensor of `CHUNK`, the size of a part of a `size` that is cut in chunks.

    That is `min(chunk, size - i*chunk)` for the i-th part, from 0 on.
    """

    size: Dim
    chunk: Dim
    each: Any

    def at(self, position: Dim) -> Any:
        """The element at a position of the sequence."""
        return self.each_of(minimum(self.chunk, self.size - position * self.chunk))

    def last(self, length: Dim) -> Any:
        """The last element of a sequence of this length."""
        return self.each_of(self.size - (length - 1) * self.chunk)

    def each_of(self, size: Dim) -> Any:
        """The element of a part of this size."""
        return self.each.substitute({CHUNK: size})
