"""Conditions on sizes: their texts, whether they hold, and those of one variable as an interval.

`solving.py` brings them into plain form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.expr import Expr
from symdim.algebra.intervals import is_empty, meet
from symdim.algebra.variable import Var
from symdim.errors import DivisionByZero

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symdim.algebra.expr import Dim, Interval

Relation = Literal["equal", "at_least", "at_most", "divides", "broadcast", "broadcast_to"]

_HOLDS: dict[Relation, Callable[[int, int], bool]] = {
    "equal": lambda a, b: a == b,
    "at_least": lambda a, b: a >= b,
    "at_most": lambda a, b: a <= b,
    "divides": lambda a, b: a != 0 and b % a == 0,
    "broadcast": lambda a, b: a == b or 1 in (a, b),
    "broadcast_to": lambda a, b: a in (b, 1),
}

_SIGNS = {"equal": "==", "at_least": ">=", "at_most": "<="}


class Condition(NamedTuple):
    """A relation of two sizes; its text is a Python condition.

    | relation     | condition                           |
    |--------------|-------------------------------------|
    | equal        | lhs == rhs                          |
    | at_least     | lhs >= rhs                          |
    | at_most      | lhs <= rhs                          |
    | divides      | lhs divides rhs                     |
    | broadcast    | lhs == rhs or lhs == 1 or rhs == 1  |
    | broadcast_to | lhs == rhs or lhs == 1              |

    >>> from symdim import Var
    >>> N, M = Var("N"), Var("M")
    >>> print(Condition("divides", 4, N + M), Condition("broadcast", N, 3), Condition("broadcast", N, M), sep="; ")
    (M + N) % 4 == 0; N in (3, 1); N == M or 1 in (N, M)
    """

    relation: Relation
    lhs: Dim
    rhs: Dim

    def __str__(self) -> str:
        """The condition, in which sizes have short texts; `spelled(str)` has the whole ones."""
        return self.spelled(repr)

    def spelled(self, write: Callable[[Dim], str]) -> str:
        """The condition, in which `write` makes the texts of the sizes."""
        if self.relation == "equal" and self.rhs == 0 and (choice := _one_of(self.lhs, write)):
            return choice
        if self.relation == "broadcast_to" and all(isinstance(side, Expr) and side.const > 0 for side in self[1:]):
            return f"{write(self.lhs - 1)} in ({write(self.rhs - 1)}, 0)"
        relation, lhs, rhs = self.relation, write(self.lhs), write(self.rhs)
        if relation == "divides":
            return f"{f'({rhs})' if ' ' in rhs else rhs} % {lhs if lhs.isalnum() else f'({lhs})'} == 0"
        if relation == "broadcast_to" or (relation == "broadcast" and isinstance(self.rhs, int)):
            return f"{lhs} in ({rhs}, 1)"
        if relation == "broadcast":
            return f"{lhs} == {rhs} or 1 in ({lhs}, {rhs})"
        return f"{lhs} {_SIGNS[relation]} {rhs}"

    def variables(self) -> tuple[Var, ...]:
        """The variables of both sides, in the order of their first occurrence."""
        return variables_of(self[1:])

    def substitute(self, sizes: Mapping[Any, Dim]) -> Condition:
        """The condition with other sizes in place of variables."""
        return Condition(self.relation, substituted(self.lhs, sizes), substituted(self.rhs, sizes))

    def sides(self, bindings: Mapping[str | Var, int]) -> tuple[int, int] | None:
        """The values of both sides at these sizes of all variables; None if a divisor in them is 0."""
        try:
            lhs, rhs = (side.to_int(bindings) if isinstance(side, Expr) else side for side in self[1:])
        except DivisionByZero:
            return None
        return lhs, rhs

    def holds(self, bindings: Mapping[str | Var, int]) -> bool:
        """Whether it holds at these sizes of all variables. False if a divisor in it is 0."""
        sides = self.sides(bindings)
        return sides is not None and _HOLDS[self.relation](*sides)


def length_of(conditions: Sequence[Condition]) -> int:
    """The number of characters in the whole text of some conditions."""
    return sum([len(condition.spelled(str)) + 2 for condition in conditions]) - 2


def _one_of(product: Dim, write: Callable[[Dim], str]) -> str:
    """The text of `product == 0` as the equalities of which one must hold; empty if this is no product of differences.

    >>> from symdim import Var
    >>> B, S, T = Var("B"), Var("S"), Var("T")
    >>> print(Condition("equal", (B - 1) * (S - 1) * (T - S), 0))
    B == 1 or S in (1, T)
    """
    if not isinstance(product, Expr) or product.terms is None or len(product.terms) < 3:
        return ""
    from symdim.algebra.texts.factoring import sums_in  # few conditions need it

    sides = [_sides(part) for part in sums_in(product)]
    if len(sides) < 2 or None in sides:
        return ""
    met = [side for pair in sides if pair for side in pair if isinstance(side, Var)]
    common = max(met, key=met.count)
    others = [b if a is common else a for a, b in filter(None, sides) if common in (a, b)]
    texts = [f"{write(a)} == {write(b)}" for a, b in filter(None, sides) if len(others) < 2 or common not in (a, b)]
    if len(others) > 1:
        others.sort(key=lambda side: isinstance(side, Expr))
        texts.append(f"{write(common)} in ({', '.join(map(write, others))})")
    return " or ".join(texts)


def _sides(difference: Expr) -> tuple[Dim, Dim] | None:
    """(a, b) of a difference `a - b` of a variable and another one, or a number; else None."""
    terms, const = difference.terms or {difference: 1}, difference.const if difference.terms else 0
    variables = sorted(terms, key=lambda unit: -terms[unit])
    if sorted(terms.values()) not in ([1], [-1], [-1, 1]) or not all(isinstance(unit, Var) for unit in variables):
        return None
    if len(variables) == 2:
        return None if const else (variables[0], variables[1])
    return variables[0], -const * terms[variables[0]]


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
