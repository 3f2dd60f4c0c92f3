"""Which rule is for which kind of constraint."""

from __future__ import annotations

from typing import Any

from symdim.store import broadcast, constraints, refinement, rows, sizes
from symdim.store.constraints import Constraint
from symdim.store.cycles import cycles_are_equal
from symdim.store.intervals import narrow_within
from symdim.store.propagation import Propagation, Rules
from symdim.store.windows import window_count


def label(p: Propagation, fact: constraints.Label) -> bool:
    """Label the set of a variable."""
    for v in p.labels.put(p, fact.dim, fact.label, fact):
        p.touch_value(v)
    return True


_OF_FACTS: dict[type[Constraint], Any] = {
    constraints.SizeEqual: sizes.equal,
    constraints.Bounds: sizes.bounds,
    constraints.Divisible: sizes.divisible,
    constraints.SizeRefines: refinement.size_refines,
    constraints.RowRefines: refinement.row_refines,
    constraints.SizeJoin: broadcast.size_join,
    constraints.RowJoin: broadcast.row_join,
    constraints.RowEqual: rows.row_equal,
    constraints.RowsEqual: rows.rows_equal,
    constraints.RankEdge: rows.rank_edge,
    constraints.WindowCount: window_count,
    constraints.Label: label,
}

RULES = Rules(_OF_FACTS, narrow_within, cycles_are_equal)
