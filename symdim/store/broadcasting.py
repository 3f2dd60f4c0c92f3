"""The rules of broadcasting: one way, and exactly to the result.

One way, an operand's axis is 1 or the result's, or is missing at the operand's gap. Sizes, or rows, that refine each
other are equal. By NumPy's rule the operands determine the result exactly. In addition to the rules for each operand:

    (a) an operand's axis that is not 1 equals the result's
    (b) if the result is 1, all operands are
    (c) if all operands except one are 1 or lack the axis, that one equals the result
    (d) the result's rank is the greatest rank of the operands
    (e) the result of two different sizes >= 1 is their maximum (only for answers, see answers.py)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.variable import Var
from symdim.rows import Row, RowVar
from symdim.store.constraints import RowEqual, RowJoin, RowRefines, SizeEqual, SizeJoin, SizeRefines

if TYPE_CHECKING:
    from typing import TypeAlias

    from symdim.algebra.expr import Dim
    from symdim.store.constraints import Constraint
    from symdim.store.state import State

    Node: TypeAlias = Var | RowVar

# one way


def is_one(p: State, dim: Dim) -> bool:
    """Whether an axis is known to have size 1 and no label. Such an axis is stretched."""
    return p.size(dim) == 1 and not is_labelled(p, dim)


def is_labelled(p: State, dim: Dim) -> bool:
    """Whether the axis has a denotation."""
    return isinstance(dim, Var) and p.labels.of(dim) is not None


def is_rigid(p: State, dim: Dim) -> bool:
    """Whether an axis is known not to be stretched."""
    return is_labelled(p, dim) or p.excludes(p.size(dim), 1)


def size_refines(p: State, fact: SizeRefines) -> bool:
    """The operand is 1 or equal to the result."""
    result, operand = p.size(fact.result), p.size(fact.operand)
    if result == operand and not isinstance(operand, int):
        return True
    if is_rigid(p, fact.operand):
        p.equate(fact.result, fact.operand, fact)
        return True
    if operand == 1:
        return True
    if result == 1 or p.differ(result, operand):
        p.equate(fact.operand, 1, fact)
        return True
    low, high = p.holder(fact.operand), p.holder(fact.result)
    if isinstance(low, Var):
        if isinstance(high, int):
            p.limit(low, high, fact)
        elif isinstance(high, Var):
            add_edge(p, high, low, fact)
            if high in p.ceilings:
                p.limit(low, p.ceilings[high][0], fact)
    return isinstance(p.size(fact.operand), int)


def row_refines(p: State, fact: RowRefines) -> bool:
    """Pair the axes that meet for all values of the variables; each pair once."""
    result, operand, floating = facing(p, fact)
    if fact not in p.paired:
        p.ranks.add(result.variable, operand.variable, operand.least_rank + floating - result.least_rank, fact)
    # the ranks refuse an operand that has more axes than a closed result
    assert result.variable is not None or result.least_rank >= operand.least_rank + floating
    before, after = _known_pairs(result, operand)
    left, right = p.paired.get(fact, (0, 0))
    p.paired[fact] = before, after
    lead, trail = (result.lead, result.trail) if result.is_open else (result.dims, result.dims)
    for axis in range(left, before):
        _refine(p, fact, lead[axis], operand.lead[axis], axis)
    for axis in range(-after, -right):
        _refine(p, fact, trail[axis], operand.trail[axis], axis)
    if operand.variable is None and before + after == operand.least_rank:
        return True
    result, operand = _without(result, before, after), _without(operand, before, after)
    if result.variable is None:
        return False
    if not operand.dims and not floating and not result.dims and operand.variable is not None:
        add_edge(p, result.variable, operand.variable, fact)
        return result.variable == operand.variable
    return _grow(p, fact, result, operand, floating)


def facing(p: State, fact: RowRefines) -> tuple[Row, Row, int]:
    """The result; the operand with the axes whose places are known; the number of its other known axes.

    The axes that an operand lacks are missing to the left of its row variable. So the axes before the variable meet the
    first axes of the result, and the axes at the right end meet the last ones. If the variable has an open value, the
    places of the value's first axes are known only if the rank is.
    """
    result, own = p.splice(fact.result), fact.operand
    value = p.splice(Row((), own.variable))
    anchored = () if fact.leftmost else own.lead
    inside = own.lead[len(anchored) :] + value.lead
    if value.variable is None:
        return result, Row(anchored, None, inside + value.trail + own.trail), 0
    return result, Row(anchored, value.variable, value.trail + own.trail), len(inside)


def left_over(p: State, fact: RowRefines) -> tuple[Row, Row] | None:
    """The result and the operand without the axes that are paired; None if a known axis has no place yet."""
    result, operand, floating = facing(p, fact)
    before, after = _known_pairs(result, operand)
    return None if floating else (_without(result, before, after), _without(operand, before, after))


def _known_pairs(result: Row, operand: Row) -> tuple[int, int]:
    """The number of the operand's axes that meet known axes of the result, from the left and from the right."""
    if result.variable is None:
        return len(operand.lead), len(operand.trail)
    return min(len(operand.lead), len(result.lead)), min(len(operand.trail), len(result.trail))


def _refine(p: State, fact: RowRefines, result: Dim, operand: Dim, axis: int) -> None:
    p.push(SizeRefines(fact.origin._replace(axis=axis), (fact,), fact.law, result, operand))


def _without(row: Row, before: int, after: int) -> Row:
    """A row without some axes at its ends. The gap of a closed row stays in its place if possible."""
    if row.is_open:
        return Row(row.lead[before:], row.variable, row.trail[: len(row.trail) - after])
    dims, gap = row.dims[before : row.least_rank - after], len(row.lead) - before
    gap = min(max(gap, 0), len(dims))
    return Row(dims[:gap], None, dims[gap:])


def _grow(p: State, fact: RowRefines, result: Row, operand: Row, floating: int) -> bool:
    """Add new axes to a result that has too few, at the end where the operand has more.

    At this point at most one side has axes left at each end. Growth comes after everything else, so a rank cycle is
    found before it.
    """
    missing = operand.least_rank + floating - result.least_rank
    if missing <= 0 or result.variable is None:
        return False
    anchored, after = len(operand.lead), len(operand.trail)
    if result.lead:
        left, right = 0, min(missing, after)
    elif result.trail:
        left, right = min(missing, anchored), 0
    else:
        left, right = anchored, after
    if left + right == 0:
        return False
    if fact not in p.growing:
        p.growing.add(fact)
        p.push(fact)
        return False
    p.growing.discard(fact)
    dims = p.fresh_row(left + right).dims
    value = Row(dims[:left], RowVar.fresh(result.variable.name), dims[left:])
    p.bind_row(result.variable, value, fact)
    p.push(fact)
    return False


# exactly


def size_join(p: State, fact: SizeJoin) -> bool:
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


def _distinct(p: State, fact: SizeJoin) -> list[Dim]:
    """The distinct operands that are not known to be 1."""
    operands: dict[Dim, Dim] = {}
    for dim in fact.operands:
        if not is_one(p, dim):
            operands.setdefault(p.size(dim), dim)
    return list(operands.values())


def row_join(p: State, fact: RowJoin) -> bool:
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


def _ranks(p: State, fact: RowJoin, result: Row, opened: list[Row], rank: int) -> None:
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


def _equal(p: State, fact: RowJoin, a: Row, b: Row) -> None:
    p.push(RowEqual(fact.origin, (fact,), fact.law, a, b))


# both ways


def add_edge(p: State, high: Node, low: Node, fact: Constraint) -> None:
    """Record that size `low` is 1 or `high`, or that row `low` broadcasts to row `high`. Both ways, they are equal."""
    if high == low or (high, low) in p.edges:
        return
    p.edges[high, low] = fact
    back = p.edges.get((low, high))
    if back is None:
        return
    if isinstance(high, Var) and isinstance(low, Var):
        p.push(SizeEqual(fact.origin, (fact, back), "size", high, low))
    else:
        assert isinstance(high, RowVar)
        assert isinstance(low, RowVar)
        p.push(RowEqual(fact.origin, (fact, back), "size", Row((), high), Row((), low)))
