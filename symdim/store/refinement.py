"""What one-way broadcasting entails: an operand's axis is 1 or the result's, or is missing at the operand's gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.variable import Var
from symdim.rows import Row, RowVar
from symdim.store.constraints import RowRefines, SizeRefines
from symdim.store.cycles import add_edge

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.store.propagation import Propagation


def is_one(p: Propagation, dim: Dim) -> bool:
    """Whether an axis is known to have size 1 and no label: such an axis is stretched."""
    return p.size(dim) == 1 and not is_labelled(p, dim)


def is_labelled(p: Propagation, dim: Dim) -> bool:
    """Whether the axis has a denotation."""
    return isinstance(dim, Var) and p.labels.of(dim) is not None


def is_rigid(p: Propagation, dim: Dim) -> bool:
    """Whether an axis is known not to be stretched."""
    return is_labelled(p, dim) or p.excludes(p.size(dim), 1)


def size_refines(p: Propagation, fact: SizeRefines) -> bool:
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


def row_refines(p: Propagation, fact: RowRefines) -> bool:
    """Pair the axes that face each other whatever the variables are; each pair once."""
    result, operand, floating = facing(p, fact)
    if fact not in p.paired:
        p.ranks.add(result.variable, operand.variable, operand.least_rank + floating - result.least_rank, fact)
    if result.variable is None and result.least_rank < operand.least_rank + floating:
        raise p.ranks_differ(fact, result, operand)
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


def facing(p: Propagation, fact: RowRefines) -> tuple[Row, Row, int]:
    """The result; the operand with the axes of which the place is known; the number of its other known axes.

    A row variable stands for axes, and axes that an operand lacks are missing to the left of them. So the axes that the
    operand has before its variable face the result's first ones, all axes at its right end face the last ones, and the
    first axes of an open value face what its last axes leave: only a known rank says which.
    """
    result, own = p.splice(fact.result), fact.operand
    value = p.splice(Row((), own.variable))
    anchored = () if fact.leftmost else own.lead
    inside = own.lead[len(anchored) :] + value.lead
    if value.variable is None:
        return result, Row(anchored, None, inside + value.trail + own.trail), 0
    return result, Row(anchored, value.variable, value.trail + own.trail), len(inside)


def left_over(p: Propagation, fact: RowRefines) -> tuple[Row, Row] | None:
    """The result and the operand without the axes that have been paired; None where a known axis has no place yet."""
    result, operand, floating = facing(p, fact)
    before, after = _known_pairs(result, operand)
    return None if floating else (_without(result, before, after), _without(operand, before, after))


def _known_pairs(result: Row, operand: Row) -> tuple[int, int]:
    """How many axes of the operand face axes of the result that are known, from the left and from the right."""
    if result.variable is None:
        return len(operand.lead), len(operand.trail)
    return min(len(operand.lead), len(result.lead)), min(len(operand.trail), len(result.trail))


def _refine(p: Propagation, fact: RowRefines, result: Dim, operand: Dim, axis: int) -> None:
    p.push(SizeRefines(fact.origin._replace(axis=axis), (fact,), fact.law, result, operand))


def _without(row: Row, before: int, after: int) -> Row:
    """A row without so many axes at its ends; the gap of a closed one stays as far as it can."""
    if row.is_open:
        return Row(row.lead[before:], row.variable, row.trail[: len(row.trail) - after])
    dims, gap = row.dims[before : row.least_rank - after], len(row.lead) - before
    gap = min(max(gap, 0), len(dims))
    return Row(dims[:gap], None, dims[gap:])


def _grow(p: Propagation, fact: RowRefines, result: Row, operand: Row, floating: int) -> bool:
    """A result that has too few axes gets new ones, at the end where the operand has more of them.

    By now at each end one side at most has axes left. Growth waits until all else is said, so that a rank cycle is
    found before.
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
