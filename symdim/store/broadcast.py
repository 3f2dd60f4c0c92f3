"""The rules of NumPy's broadcasting: the operands determine the result exactly.

In addition to the rules of refinement.py for each operand:

    (a) an operand's axis that is not 1 equals the result's
    (b) if the result is 1, all operands are
    (c) if all operands except one are 1 or lack the axis, that one equals the result
    (d) the result's rank is the greatest rank of the operands
    (e) the result of two different sizes >= 1 is their maximum (only for answers, see answers.py)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.rows import Row
from symdim.store.constraints import RowEqual, RowJoin, SizeJoin
from symdim.store.refinement import is_one, is_rigid

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.store.propagation import Propagation


def size_join(p: Propagation, fact: SizeJoin) -> bool:
    """Rules (a) to (c)."""
    able = _distinct(p, fact)
    if not able:
        p.equate(fact.result, 1, fact)
        return True
    rigid = [dim for dim in able if is_rigid(p, dim)]
    if len(able) == 1 or rigid:
        p.equate(fact.result, (rigid or able)[0], fact)
        return True  # the refinement of each operand says that the others are 1 or equal
    if p.size(fact.result) == 1:
        for dim in able:
            p.equate(dim, 1, fact)
        return True
    return False


def _distinct(p: Propagation, fact: SizeJoin) -> list[Dim]:
    """The distinct operands that are not known to be 1."""
    found: dict[Dim, Dim] = {}
    for dim in fact.operands:
        if not is_one(p, dim):
            found.setdefault(p.size(dim), dim)
    return list(found.values())


def row_join(p: Propagation, fact: RowJoin) -> bool:
    """Join axis by axis from the right, as far as the axes that meet are known."""
    result = p.splice(fact.result).flat()
    operands = [p.splice(row).flat() for row in fact.operands]
    opened = [row for row in operands if row.is_open]
    rank = max((row.least_rank for row in operands if not row.is_open), default=0)
    _ranks(p, fact, result, opened, rank)
    known = min(len(row.trail) for row in opened) if opened else rank
    if result.is_open:
        known = min(known, len(result.trail))
    elif operands and len(result.dims) < (longest := max(operands, key=lambda row: row.least_rank)).least_rank:
        raise p.ranks_differ(fact, result, longest)
    done = p.progress.get(fact, 0)
    for axis in range(done + 1, known + 1):
        facing = tuple(row.trail[-axis] for row in operands if len(row.trail) >= axis)
        joined = SizeJoin(fact.origin._replace(axis=-axis), (fact,), fact.law, result.trail[-axis], facing)
        p.push(joined)
    p.progress[fact] = max(done, known)
    return not opened and not result.is_open


def _ranks(p: Propagation, fact: RowJoin, result: Row, opened: list[Row], rank: int) -> None:
    """Rule (d); and the leftmost axes of the result, if only one operand has them, are the axes of this operand."""
    if not opened:
        if result.is_open or len(result.dims) != rank:
            _equal(p, fact, result, p.fresh_row(rank))
        return
    if result.rank is not None:
        if rank < result.rank and len({row.variable for row in opened}) == 1:
            _equal(p, fact, max(opened, key=lambda row: row.least_rank), p.fresh_row(result.rank))
        return
    first, after = opened[0], len(opened[0].trail)
    places = {(row.variable, row.lead, len(row.trail)) for row in opened}
    if len(places) == 1 and rank <= after and (result.variable, result.lead, len(result.trail)) not in places:
        _equal(p, fact, result, Row(first.lead, first.variable, p.fresh_row(after).dims))


def _equal(p: Propagation, fact: RowJoin, a: Row, b: Row) -> None:
    p.push(RowEqual(fact.origin, (fact,), fact.law, a, b))
