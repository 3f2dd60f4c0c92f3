"""Conditions on sizes: their texts, and whether they hold. `solving.py` brings them into plain form."""

from __future__ import annotations

from typing import Literal, NamedTuple

from symdim.algebra.evaluate import variables_of
from symdim.algebra.expr import Expr
from symdim.errors import DivisionByZero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var

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
        return self.spelled(str)

    def spelled(self, write: Callable[[Dim], str]) -> str:
        """The condition, in which `write` makes the texts of the sizes."""
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
        found = (v for side in (self.lhs, self.rhs) if isinstance(side, Expr) for v in variables_of(side))
        return tuple(dict.fromkeys(found))

    def substitute(self, sizes: Mapping[Var, Dim]) -> Condition:
        """The condition with other sizes in place of variables."""
        lhs, rhs = (side.substitute(sizes) if isinstance(side, Expr) else side for side in self[1:])
        return Condition(self.relation, lhs, rhs)

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
