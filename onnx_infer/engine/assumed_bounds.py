"""The intervals of symbols in assumptions: `H // 2 >= 3` means that H is at least 6.

Conditions are solved for a symbol (`symdim.relations`), each within the bounds that the others give, until nothing
changes. In an inequality of several symbols, a symbol is bounded if all others are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symdim import Var
from symdim.algebra.dims import bounds_of
from symdim.algebra.order import sorted_units
from symdim.algebra.polynomials import terms_of
from symdim.relations.relation import Relation
from symdim.relations.solving import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_infer.values.tensor import Dim

_MOST_ROUNDS = 8


class Assumption(NamedTuple):
    """A relation (one of == != >= > <= <) of two sizes, and its text."""

    text: str
    lhs: Dim
    sign: str
    rhs: Dim

    def conditions(self) -> list[Relation]:
        """The relation as conditions; empty for `!=`."""
        _, a, sign, b = self
        if sign == "==":
            return [Relation("equal", a, b)]
        if sign in (">", ">="):
            return [Relation("at_least", a, b + int(sign == ">"))]
        return [Relation("at_most", a, b - int(sign == "<"))] if sign in ("<", "<=") else []

    def variables(self) -> tuple[Var, ...]:
        """The symbols in both sides."""
        return Relation("equal", self.lhs, self.rhs).variables()


class Bounds(NamedTuple):
    """The intervals from relations, the relations that say more than intervals, and those that cannot hold."""

    of: dict[Var, tuple[int, int | None]]
    rest: list[Assumption]
    impossible: list[str]


def assumed_bounds(relations: Sequence[Assumption]) -> Bounds:
    """The bounds of symbols within which all relations hold.

    >>> H, W = Var("H"), Var("W")
    >>> found = assumed_bounds([Assumption("", *said) for said in ((H // 2, ">=", 3), (H % 8, "==", 0), (W, ">", H))])
    >>> found.of, len(found.rest)
    ({H: (8, None), W: (9, None)}, 2)
    """
    bounds = _Bounds()
    rest: list[Assumption] = []
    for _ in range(_MOST_ROUNDS):
        before = dict(bounds.of)
        rest = [relation for relation in relations if not bounds.learn(relation)]
        if bounds.of == before or bounds.impossible:
            break
    return Bounds(bounds.of, rest, bounds.impossible)


class _Bounds:
    def __init__(self) -> None:
        self.of: dict[Var, tuple[int, int | None]] = {}
        self.impossible: list[str] = []

    def learn(self, relation: Assumption) -> bool:
        """Narrow the symbols of a relation; return whether their intervals are equivalent to it."""
        if relation.sign == "!=":
            return self._differ(relation)
        originals: dict[Var, Var] = {}
        narrow: dict[Var, Dim] = {}
        for var, (low, high) in self.of.items():
            narrow[var] = new = Var.fresh(var.name, low, high)
            originals[new] = var
        complete = True
        for condition in relation.conditions():
            found = solve(condition.substitute(narrow))
            if found is None:
                self.impossible.append(relation.text)
                return True
            for part in found:
                complete &= self._enter(part, originals, relation.text)
        return complete

    def _differ(self, relation: Assumption) -> bool:
        """Use `symbol != number`; return whether the interval is equivalent to it, which shrinks only at its ends."""
        var, number = relation.lhs, relation.rhs
        if not isinstance(var, Var) or not isinstance(number, int):
            return False
        low, high = self.of.get(var, (var.lo or 0, var.hi))
        if low < number and (high is None or number < high):
            return False
        if number in (low, high):
            self._narrow(var, low + (number == low), None if high is None else high - (number == high), relation.text)
        return True

    def _enter(self, condition: Relation, originals: dict[Var, Var], text: str) -> bool:
        """Narrow by a solved condition; return whether intervals are equivalent to it."""
        relation, lhs, rhs, _ = condition
        if relation == "divides":
            if isinstance(lhs, int) and isinstance(rhs, Var):
                var = originals.get(rhs, rhs)
                low, high = self.of.get(var, (var.lo or 0, var.hi))
                self._narrow(var, -(-low // lhs) * lhs, None if high is None else high // lhs * lhs, text)
            return False
        if relation not in ("equal", "at_least", "at_most"):
            return False
        for sign in (1, -1):
            if relation == "equal" or (relation == "at_least") == (sign == 1):
                self._linear(sign * (lhs - rhs), originals, text)
        return isinstance(lhs, Var) and isinstance(rhs, int)

    def _linear(self, gap: Dim, originals: dict[Var, Var], text: str) -> None:
        """`k*v + rest >= 0` bounds v if `rest` is bounded."""
        terms, _ = terms_of(gap)
        for unit in sorted_units(terms):
            k = terms[unit]
            if not isinstance(unit, Var):
                continue
            rest = gap - k * unit
            most = bounds_of(rest)[1]
            if most is None:
                continue
            var = originals.get(unit, unit)
            low, high = self.of.get(var, (var.lo or 0, var.hi))
            end = -(most // k) if k > 0 else most // -k
            if k > 0:
                self._narrow(var, max(low, end), high, text)
            else:
                self._narrow(var, low, end if high is None else min(high, end), text)

    def _narrow(self, var: Var, low: int, high: int | None, text: str) -> None:
        if high is not None and high < low:
            self.impossible.append(text)
        elif (low, high) != self.of.get(var, (var.lo or 0, var.hi)):
            self.of[var] = low, high
