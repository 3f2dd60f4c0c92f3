"""Which rule looks at which kind of fact."""

from __future__ import annotations

from typing import Any

from symdim.store import broadcast, facts, refinement, rows, sizes
from symdim.store.cycles import cycles_are_equal
from symdim.store.facts import Fact
from symdim.store.intervals import narrow_within
from symdim.store.propagation import Propagation, Rules
from symdim.store.windows import window_count


def label(p: Propagation, fact: facts.Label) -> bool:
    """Give the set of a variable its label."""
    for v in p.labels.put(p, fact.dim, fact.label, fact):
        p.touch_value(v)
    return True


_OF_FACTS: dict[type[Fact], Any] = {
    facts.SizeEqual: sizes.equal,
    facts.Bounds: sizes.bounds,
    facts.Divisible: sizes.divisible,
    facts.SizeRefines: refinement.size_refines,
    facts.RowRefines: refinement.row_refines,
    facts.SizeJoin: broadcast.size_join,
    facts.RowJoin: broadcast.row_join,
    facts.RowEqual: rows.row_equal,
    facts.RowsEqual: rows.rows_equal,
    facts.RankEdge: rows.rank_edge,
    facts.Windows: window_count,
    facts.Label: label,
}

RULES = Rules(_OF_FACTS, narrow_within, cycles_are_equal)
