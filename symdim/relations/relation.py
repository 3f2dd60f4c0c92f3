"""Relations of sizes: texts, values, normal form, and those of one variable as an interval.

`solving.py` brings them into the form in which a person writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from symdim.algebra.constructors.arithmetic import add, product, subtract
from symdim.algebra.constructors.floordiv import mod
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.expr import Expr
from symdim.algebra.intervals import is_empty, meet
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.order import dim_order
from symdim.algebra.polynomials import terms_of
from symdim.algebra.variable import Var
from symdim.errors import DivisionByZero, UnboundName

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from symdim.algebra.expr import Dim, Interval

RelationKind = Literal[
    "equal", "unequal", "at_least", "at_most", "greater", "less", "divides", "broadcast", "broadcast_to"
]
"""A new kind needs a line in `_HOLDS`, `spelled` and `normal`, in the table of the class, and in `solving.py`. It must
have a normal form `>= 0`, `== 0` or `!= 0`: facts, prover and store know no others. Programs on top name kinds, too,
and emitted code calls a function of the kind's name (see dialects/arithmetic.*).
"""

_HOLDS: dict[RelationKind, Callable[[int, int], bool]] = {
    "equal": lambda a, b: a == b,
    "unequal": lambda a, b: a != b,
    "at_least": lambda a, b: a >= b,
    "at_most": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "less": lambda a, b: a < b,
    "divides": lambda a, b: a != 0 and b % a == 0,
    "broadcast": lambda a, b: a == b or 1 in (a, b),
    "broadcast_to": lambda a, b: a in (b, 1),
}
_KINDS: dict[str, RelationKind] = {
    "==": "equal", "!=": "unequal", ">=": "at_least", "<=": "at_most", ">": "greater", "<": "less",
}  # fmt: skip
SIGNS = {kind: sign for sign, kind in _KINDS.items()}
OPPOSITES: dict[RelationKind, RelationKind] = {
    "equal": "unequal", "unequal": "equal", "at_least": "less", "less": "at_least", "at_most": "greater",
    "greater": "at_most",
}  # fmt: skip


class Relation(NamedTuple):
    """A relation of two sizes, and where it comes from. Its text is a Python condition.

    | kind                            | condition                             |
    |---------------------------------|---------------------------------------|
    | equal, unequal                  | left == right, left != right          |
    | at_least, at_most               | left >= right, left <= right          |
    | greater, less                   | left > right, left < right            |
    | divides                         | left divides right                    |
    | broadcast                       | left == right or 1 in (left, right)   |
    | broadcast_to                    | left == right or left == 1            |

    >>> from symdim import Var
    >>> N, M = Var("N"), Var("M")
    >>> print(Relation("divides", 4, N + M), Relation("broadcast", N, 3), Relation("broadcast", N, M), sep="; ")
    (M + N) % 4 == 0; N in (3, 1); N == M or 1 in (N, M)
    """

    kind: RelationKind
    left: Dim
    right: Dim
    origins: frozenset[Hashable] = frozenset()

    @classmethod
    def of(cls, a: Dim, sign: str, b: Dim, origins: frozenset[Hashable] = frozenset()) -> Relation:
        """The relation `a sign b`; the sign is one of == != >= > <= <. Raises `ValueError` for another one."""
        if sign not in _KINDS:
            raise ValueError(f"a relation is one of == != >= > <= <, not {sign!r}")
        return cls(_KINDS[sign], a, b, origins)

    def __str__(self) -> str:
        """The condition, in which sizes have short texts; `spelled(str)` has the whole ones."""
        return self.spelled(repr)

    def spelled(self, write: Callable[[Dim], str]) -> str:
        """The condition, in which `write` makes the texts of the sizes."""
        kind, left, right, _ = self
        if kind == "equal" and right == 0 and (choice := _one_of(left, write)):
            return choice
        if kind == "broadcast_to" and all(isinstance(side, Expr) and side._const > 0 for side in (left, right)):
            return f"{write(left - 1)} in ({write(right - 1)}, 0)"
        a, b = write(left), write(right)
        if kind == "divides":
            return f"{f'({b})' if ' ' in b else b} % {a if a.isalnum() else f'({a})'} == 0"
        if kind == "broadcast_to" or (kind == "broadcast" and isinstance(right, int)):
            return f"{a} in ({b}, 1)"
        if kind == "broadcast":
            return f"{a} == {b} or 1 in ({a}, {b})"
        return f"{a} {SIGNS[kind]} {b}"

    def variables(self) -> tuple[Var, ...]:
        """The variables of both sides, in the order of their first occurrence."""
        return variables_of((self.left, self.right))

    def substitute(self, sizes: Mapping[Any, Dim]) -> Relation:
        """The relation with other sizes in place of variables."""
        return self._replace(left=substituted(self.left, sizes), right=substituted(self.right, sizes))

    def normal(self) -> Relation:
        """The equivalent relation of a size to 0 that is an equality, an inequality `!=` or a bound `>=`.

        Raises `DivisionByZero` for `0 divides n`.

        >>> from symdim import Var
        >>> N, M = Var("N"), Var("M")
        >>> print(Relation("less", N, M).normal(), Relation("divides", 4, N).normal(), sep="; ")
        M - N - 1 >= 0; N % 4 == 0
        """
        kind, a, b, origins = self
        if kind in ("at_most", "less"):
            a, b = b, a
        if kind == "divides":
            return Relation("equal", mod(b, a), 0, origins)
        difference = a if b == 0 else subtract(a, b)
        if kind in ("equal", "unequal"):
            return Relation(kind, difference, 0, origins)
        if kind in ("broadcast", "broadcast_to"):
            choices = [difference, subtract(a, 1), subtract(b, 1)]
            return Relation("equal", product(choices[: 3 if kind == "broadcast" else 2]), 0, origins)
        return Relation("at_least", add(difference, -1) if kind in ("greater", "less") else difference, 0, origins)

    def negated(self) -> Relation:
        """The relation that holds where this one does not, if both sides have a value."""
        if self.kind not in OPPOSITES:
            return self.normal().negated()
        return self._replace(kind=OPPOSITES[self.kind])

    def sides(self, bindings: Mapping[str | Var, int]) -> tuple[int, int] | None:
        """The values of both sides at these sizes; None if a divisor in them is 0. Raises `UnboundName`."""
        try:
            a, b = (side.to_int(bindings) if isinstance(side, Expr) else side for side in (self.left, self.right))
        except DivisionByZero:
            return None
        return a, b

    def holds(self, bindings: Mapping[str | Var, int]) -> bool | None:
        """Whether it holds at these sizes; False if a divisor in it is 0, None if a variable has no size."""
        try:
            sides = self.sides(bindings)
        except UnboundName:
            return None
        return sides is not None and self.compares(*sides)

    def compares(self, left: Any, right: Any) -> bool:
        """Whether two numbers, such as values of both sides, are in this relation."""
        return _HOLDS[self.kind](left, right)


def length_of(relations: Sequence[Relation]) -> int:
    """The number of characters in the whole text of some relations."""
    return sum([len(relation.spelled(str)) + 2 for relation in relations]) - 2


def _one_of(product: Dim, write: Callable[[Dim], str]) -> str:
    """The text of `product == 0` as the equalities of which one must hold; empty if this is no product of differences.

    >>> from symdim import Var
    >>> B, S, T = Var("B"), Var("S"), Var("T")
    >>> print(Relation("equal", (B - 1) * (S - 1) * (T - S), 0))
    B == 1 or S in (1, T)
    """
    if not isinstance(product, Expr) or product._terms is None or len(product._terms) < 3:
        return ""
    sides = [_sides(part) for part in _sums_in(product)]
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


def _sums_in(node: Expr) -> list[Expr]:
    """The sums whose product a sum is, each linear in some variable; the sum itself if it is no such product.

    >>> from symdim import Var
    >>> x, y, z = Var("x"), Var("y"), Var("z")
    >>> _sums_in((x - 1) * (y - 1) * (z - y)), _sums_in(x * y + z)
    ([x - 1, y - 1, z - y], [x*y + z])
    """
    from symdim.algebra.texts.factoring import MOST_TERMS, factors_at  # few conditions need it

    sums, pending = [], [node]
    while pending:
        part = pending.pop()
        terms, const = terms_of(part)
        factors = None
        if 2 < len(terms) + (const != 0) <= MOST_TERMS and part._height == 0:
            factors = next((s for v in part.variables() if (s := factors_at(part, terms, v)) is not None), None)
        if factors is None:
            sums.append(part)
        else:
            pending += factors
    return sorted(sums, key=dim_order)


def _sides(difference: Expr) -> tuple[Dim, Dim] | None:
    """(a, b) of a difference `a - b` of a variable and another one, or a number; else None."""
    terms, const = difference._terms or {difference: 1}, difference._const if difference._terms else 0
    variables = sorted(terms, key=lambda monomial: -terms[monomial])
    if sorted(terms.values()) not in ([1], [-1], [-1, 1]) or not all(
        isinstance(monomial, Var) for monomial in variables
    ):
        return None
    if len(variables) == 2:
        return None if const else (variables[0], variables[1])
    return variables[0], -const * terms[variables[0]]


def interval_of(relations: Sequence[Relation]) -> tuple[Var, Interval] | None:
    """The variable and its interval, if all relations are bounds of one variable; else None."""
    variable: Var | None = None
    interval: Interval = (None, None)
    for kind, lhs, rhs, _ in relations:
        if not isinstance(lhs, Var) or not isinstance(rhs, int) or (variable is not None and lhs is not variable):
            return None
        variable = lhs
        ends = {"equal": (rhs, rhs), "at_least": (rhs, None), "at_most": (None, rhs)}.get(kind)
        if ends is None:
            return None
        interval = meet(interval, ends)
    return None if variable is None else (variable, interval)


def union_of(ranges: list[tuple[Var, Interval] | None]) -> tuple[Var, Interval] | None:
    """The union of intervals of one variable, if it is an interval; else None."""
    known = [interval for interval in ranges if interval is not None]
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


def as_relations(variable: Var, interval: Interval) -> list[Relation] | None:
    """An interval as relations; None if it is empty."""
    low, high = interval
    low = None if low is not None and variable.lo is not None and low <= variable.lo else low
    high = None if high is not None and variable.hi is not None and high >= variable.hi else high
    least, most = (variable.lo if low is None else low), (variable.hi if high is None else high)
    if least is not None and most is not None and least >= most:
        return None if least > most else [Relation("equal", variable, least)]
    relations = [] if low is None else [Relation("at_least", variable, low)]
    return relations if high is None else [*relations, Relation("at_most", variable, high)]
