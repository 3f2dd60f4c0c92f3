"""What equalities say about fresh sizes: `_d0 == N` means that `_d0` is `N` wherever it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim import Expr, Var

from .geometry import is_fresh
from .tensor import substitute

if TYPE_CHECKING:
    from .tensor import Dim, Value
    from .trace import Fact


class Solution:
    """Fresh sizes and what they equal, collected from the facts of the main graph.

    Only a fresh variable is replaced, by an expression that does not contain it; declared names are never merged.
    """

    def __init__(self) -> None:
        self._of: dict[Var, Dim] = {}

    def __bool__(self) -> bool:
        return bool(self._of)

    def add(self, fact: Fact) -> None:
        """Learn from an equality."""
        if fact.kind != "equal":
            return
        lhs, rhs = self.resolve(fact.lhs), self.resolve(fact.rhs)
        if lhs is rhs or lhs == rhs:
            return
        for a, b in ((lhs, rhs), (rhs, lhs)):
            if isinstance(a, Var) and is_fresh(a) and not (isinstance(b, Expr) and a in b.variables()):
                self._of[a] = b
                return
        gap = lhs - rhs
        for unit, k in gap.terms.items() if isinstance(gap, Expr) and gap.terms else ():
            # k * unit + rest == 0 for k = 1 or -1, so unit == -k * rest
            if abs(k) == 1 and isinstance(unit, Var) and is_fresh(unit):
                rest = gap - k * unit
                if not (isinstance(rest, Expr) and (unit in rest.variables() or is_fresh(rest))):
                    self._of[unit] = -k * rest
                    return

    def resolve(self, dim: Dim) -> Dim:
        """The size with solved variables replaced."""
        while isinstance(dim, Expr):
            known = {v: self._of[v] for v in dim.variables() if v in self._of}
            if not known:
                break
            dim = dim.substitute(known)
        return dim

    def apply(self, value: Value) -> Value:
        """The value with solved variables replaced."""
        for _ in range(len(self._of)):
            replaced = substitute(value, self._of)
            if replaced is value:
                break
            value = replaced
        return value
