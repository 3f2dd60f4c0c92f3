"""Conditions that bound one variable, as an interval, and an interval as conditions."""

from __future__ import annotations

from symdim.algebra.bounds.intervals import is_empty, meet
from symdim.algebra.variable import Var
from symdim.conditions.condition import Condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.expr import Interval


def interval_of(conditions: Sequence[Condition]) -> tuple[Var, Interval] | None:
    """The variable and its interval, if all conditions are bounds of one variable; else None."""
    variable: Var | None = None
    interval: Interval = (None, None)
    for relation, lhs, rhs in conditions:
        if not isinstance(lhs, Var) or not isinstance(rhs, int) or (variable is not None and lhs is not variable):
            return None
        variable = lhs
        ends = {"equal": (rhs, rhs), "at_least": (rhs, None), "at_most": (None, rhs)}.get(relation)
        if ends is None:
            return None
        interval = meet(interval, ends)
    return None if variable is None else (variable, interval)


def union_of(ranges: list[tuple[Var, Interval] | None]) -> tuple[Var, Interval] | None:
    """The union of intervals of one variable, if it is an interval; else None."""
    known = [found for found in ranges if found is not None]
    if len(known) < len(ranges) or len({variable for variable, _ in known}) != 1:
        return None
    variable = known[0][0]
    ends = [
        (variable.lo if lo is None else lo, variable.hi if hi is None else hi)
        for _, (lo, hi) in known
        if not is_empty((lo, hi))
    ]
    if not ends or any(lo is None for lo, _ in ends):
        return None
    (low, high), *others = sorted(ends, key=lambda end: end[0])  # type: ignore[arg-type, return-value]
    for lo, hi in others:
        assert lo is not None
        if high is not None and lo > high + 1:
            return None
        high = None if high is None or hi is None else max(high, hi)
    return variable, (low, high)


def as_conditions(variable: Var, interval: Interval) -> list[Condition] | None:
    """An interval as conditions; None if it is empty."""
    low, high = interval
    low = None if low is not None and variable.lo is not None and low <= variable.lo else low
    high = None if high is not None and variable.hi is not None and high >= variable.hi else high
    least, most = (variable.lo if low is None else low), (variable.hi if high is None else high)
    if least is not None and most is not None and least >= most:
        return None if least > most else [Condition("equal", variable, least)]
    found = [] if low is None else [Condition("at_least", variable, low)]
    return found if high is None else [*found, Condition("at_most", variable, high)]
