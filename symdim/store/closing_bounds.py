"""Bounds for closing: the least results that a size or row is broadcast to, and the sizes that are broadcast to it."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from symdim.algebra.constructors.extrema import maximum
from symdim.algebra.variable import Var
from symdim.rows import Row, RowVar
from symdim.store.broadcasting import left_over
from symdim.store.constraints import RowRefines, SizeRefines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from symdim.algebra.expr import Dim
    from symdim.store.state import State


def size_bound(state: State, v: Var, is_known: Callable[[Dim], bool]) -> Dim | None:
    """The least known size that v is broadcast to; 1 if two of them differ."""
    limits: dict[Dim, None] = {}
    seen, queue = {v}, [v]
    above = _above(state)
    for one in queue:
        for result in above.get(one, ()):
            if is_known(result):
                limits[result] = None
            elif isinstance(result, Var) and result not in seen:
                seen.add(result)
                queue.append(result)
    return None if not limits else next(iter(limits)) if len(limits) == 1 else 1


def _above(state: State) -> dict[Var, list[Dim]]:
    above: dict[Var, list[Dim]] = {}
    for fact in state.pending:
        if isinstance(fact, SizeRefines):
            operand = state.size(fact.operand)
            if isinstance(operand, Var):
                above.setdefault(operand, []).append(state.size(fact.result))
    return above


def stretched_from(state: State, sizes: Iterable[Var], is_given: Callable[[Dim], bool]) -> dict[Var, Dim]:
    """For each size the maximum of the given sizes that are broadcast to it: each of them is 1 or the size."""
    given: dict[Dim, list[Dim]] = {}
    for fact in state.pending:
        if isinstance(fact, SizeRefines) and is_given(operand := state.size(fact.operand)):
            given.setdefault(state.size(fact.result), []).append(operand)
    return {v: maximum(*given[v]) for v in sizes if v in given}


def row_bound(state: State, v: RowVar) -> Row | None:
    """The join of the rows that a row variable is broadcast to; None if there are none."""
    rows = _rows_above(state, v)
    return reduce(lambda a, b: _joined(a, b, state), rows) if rows else None


def _rows_above(state: State, v: RowVar) -> list[Row]:
    """The closed rows that a row variable is broadcast to, also through other variables."""
    found: list[Row] = []
    rests = [rest for fact in state.pending if isinstance(fact, RowRefines) and (rest := left_over(state, fact))]
    seen, queue = {v}, [v]
    for one in queue:
        for result, operand in rests:
            if operand != Row((), one):
                continue
            if result.variable is None:
                found.append(state.row(result))
            elif not result.dims and result.variable not in seen:
                seen.add(result.variable)
                queue.append(result.variable)
    return found


def _joined(a: Row, b: Row, state: State) -> Row:
    """The greatest row that broadcasts to both: axis by axis if the ranks agree, else the ends that both have."""
    if a.rank == b.rank:
        dims = tuple(_meet(x, y, state) for x, y in zip(a.dims, b.dims, strict=True))
        gap = min(len(a.lead), len(b.lead))
        return Row(dims[:gap], None, dims[gap:])
    before, after = min(len(a.lead), len(b.lead)), min(len(a.trail), len(b.trail))
    lead = tuple(_meet(x, y, state) for x, y in zip(a.lead[:before], b.lead[:before], strict=True))
    left, right = a.trail[len(a.trail) - after :], b.trail[len(b.trail) - after :]
    return Row(lead, None, tuple(_meet(x, y, state) for x, y in zip(left, right, strict=True)))


def _meet(a: Dim, b: Dim, state: State) -> Dim:
    return a if state.size(a) == state.size(b) else 1
