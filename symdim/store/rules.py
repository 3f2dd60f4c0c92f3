"""Which rule looks at which kind of fact."""

from __future__ import annotations

from typing import Any

from symdim.store import broadcast, refinement, rows, sizes
from symdim.store.cycles import cycles_are_equal
from symdim.store.facts import (
    Bounds,
    Divisible,
    Fact,
    Label,
    RankEdge,
    RowEqual,
    RowJoin,
    RowRefines,
    RowsEqual,
    SizeEqual,
    SizeJoin,
    SizeRefines,
    Windows,
)
from symdim.store.intervals import narrow_within
from symdim.store.propagation import Propagation, Rules
from symdim.store.windows import window_count


def label(p: Propagation, fact: Label) -> bool:
    """Give the set of a variable its label."""
    for v in p.labels.put(p, fact.dim, fact.label, fact):
        p.touch_value(v)
    return True


_OF_FACTS: dict[type[Fact], Any] = {
    SizeEqual: sizes.equal,
    Bounds: sizes.bounds,
    Divisible: sizes.divisible,
    SizeRefines: refinement.size_refines,
    RowRefines: refinement.row_refines,
    SizeJoin: broadcast.size_join,
    RowJoin: broadcast.row_join,
    RowEqual: rows.row_equal,
    RowsEqual: rows.rows_equal,
    RankEdge: rows.rank_edge,
    Windows: window_count,
    Label: label,
}

RULES = Rules(_OF_FACTS, narrow_within, cycles_are_equal)
