"""Propagation: a worklist of constraints, cheapest kinds first, to a fixed point.

A rule returns whether its constraint is settled: it holds for all values of the remaining unknowns. Other constraints
are looked at again when the store learns more about one of their variables. Settled constraints on sizes go on to
narrow intervals, in their stated form: if an equation is solved for one variable, its other consequences are not lost,
so the choice of the variable does not matter. For the same reason linear equations are solved before products and
divisions.

Rules never guess and never call the prover. They terminate: every variable gets a value at most once, and later a
number instead; its interval is narrowed a bounded number of times; rows grow no longer than their least ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symdim.algebra.variable import Var
from symdim.errors import DivisionByZero
from symdim.store import broadcasting, constraints, rows, sizes
from symdim.store.constraints import Bounds, Constraint, Origin, RankEdge, SizeEqual
from symdim.store.intervals import narrow_within

if TYPE_CHECKING:
    from symdim.store.state import State


def run(p: State) -> None:
    """Work until no constraint gives anything new. Raises Contradiction."""
    while True:
        fact = p.take()
        if fact is None:
            if _ranks_that_are_known(p):
                continue
            return
        try:
            _apply(p, fact)
        except DivisionByZero as error:
            raise p.without_value(fact, error) from None


def _apply(p: State, fact: Constraint) -> None:
    if _RULES[type(fact)](p, fact):
        p.pending.pop(fact, None)
        p.growing.discard(fact)
    else:
        p.watch(fact)
    if isinstance(fact, SizeEqual | Bounds):
        _narrow_as_stated(p, fact)


def _narrow_as_stated(p: State, fact: SizeEqual | Bounds) -> None:
    """Narrow intervals by a constraint in its stated form, now and whenever one of its intervals is narrowed."""
    if isinstance(fact, Bounds):
        dim, wanted = fact.dim, (fact.lo, fact.hi)
    elif isinstance(fact.a, int | Var) and isinstance(fact.b, int | Var):
        return
    else:
        stated = p.stated.get(fact)
        dim, wanted = fact.a - fact.b if stated is None else stated, (0, 0)
    narrow_within(p, fact, dim, wanted)
    p.watch_intervals(fact, dim)


def _ranks_that_are_known(p: State) -> bool:
    """Give rows their axes once their rank is known; return whether there was such a row."""
    any_new = False
    while p.ranks.changed:
        variable = next(iter(p.ranks.changed))
        del p.ranks.changed[variable]
        least, most = p.ranks.bounds(variable)
        if variable not in p.rows:
            p.touch(variable)
            any_new = True
            if least == most:
                facts = tuple(edge[2] for edge in p.ranks.below.get(variable, ()))[:1]
                facts += tuple(edge[2] for edge in p.ranks.above.get(variable, ()))[:1]
                edge = RankEdge(facts[0].origin if facts else Origin(), facts, "rank", variable, None, least)
                p.bind_row(variable, p.fresh_row(least), edge)
    return any_new


def _label(p: State, fact: constraints.Label) -> bool:
    """Label the set of a variable."""
    for v in p.labels.put(p, fact.dim, fact.label, fact):
        p.touch_value(v)
    return True


_RULES: dict[type[Constraint], Any] = {
    constraints.SizeEqual: sizes.equal,
    constraints.Bounds: sizes.bounds,
    constraints.Divisible: sizes.divisible,
    constraints.SizeRefines: broadcasting.size_refines,
    constraints.RowRefines: broadcasting.row_refines,
    constraints.SizeJoin: broadcasting.size_join,
    constraints.RowJoin: broadcasting.row_join,
    constraints.RowEqual: rows.row_equal,
    constraints.RowsEqual: rows.rows_equal,
    constraints.RankEdge: rows.rank_edge,
    constraints.Label: _label,
}
"""Which rule is for which kind of constraint."""
