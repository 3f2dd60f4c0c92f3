"""Which rule looks at which kind of fact."""

from __future__ import annotations

from typing import Any

from symdim.store import broadcast, labels, refinement, rows, sizes
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
from symdim.store.windows import window_count

RULES: dict[type[Fact], Any] = {
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
    Label: labels.label,
}
