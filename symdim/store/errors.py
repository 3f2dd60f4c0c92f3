"""Contradictions: constraints that cannot hold together, with the chain that leads to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.errors import SymdimError

if TYPE_CHECKING:
    from symdim.store.constraints import Constraint

LONGEST_CHAIN = 20

# law of the violated constraint -> kind of error in three situations: both sides are known and differ; a division
# leaves a remainder; an unknown would have to lie outside its bounds
_KINDS = {
    "size": ("size_mismatch", "stride_mismatch", "size_mismatch"),
    "stride": ("size_mismatch", "stride_mismatch", "size_mismatch"),
    "window": ("size_mismatch", "stride_mismatch", "kernel_mismatch"),
    "concat": ("size_mismatch", "stride_mismatch", "concat_exceeds"),
    "elements": ("elements_mismatch",) * 3,
    "index": ("index_out_of_range",) * 3,
    "rank": ("rank_mismatch",) * 3,
    "label": ("label_mismatch",) * 3,
}
UNEQUAL, INDIVISIBLE, OUT_OF_RANGE = range(3)


def kind_of(law: str, situation: int) -> str:
    """The kind of error for a violation of a law.

    >>> kind_of("concat", OUT_OF_RANGE), kind_of("stride", INDIVISIBLE)
    ('concat_exceeds', 'stride_mismatch')
    """
    return _KINDS[law][situation]


class Contradiction(SymdimError):  # noqa: N818
    """Constraints that cannot hold together.

    `kind` is one of size_mismatch, rank_mismatch, label_mismatch, index_out_of_range, infinite_rank, rank_cycle,
    occurs, stride_mismatch, kernel_mismatch, concat_exceeds, elements_mismatch; while closing also closing_conflict and
    unspecified_parameter. `chain` holds the stated constraints that led to it, the nearest first, at most 20.
    """

    def __init__(self, kind: str, message: str, chain: tuple[Constraint, ...] = ()) -> None:
        super().__init__(kind, message, chain)
        self.kind = kind
        self.message = message
        self.chain = chain

    def __str__(self) -> str:
        lines = [f"{self.kind.replace('_', ' ')}: {self.message}"]
        for fact in self.chain:
            lines.append(f"    {fact}" + (f"    ({fact.origin})" if str(fact.origin) else ""))
        return "\n".join(lines)
