"""Bounds of input sizes that operators imply: the input of a convolution must be at least as large as its kernel.

If a result depends on the sign of a value that is computed from sizes (an integer Div rounds towards zero), or a branch
depends on a condition over sizes, inference is repeated under these bounds, because they hold in every valid run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from onnx_infer.laws.sizes import differ
from symdim import Expr, Var, minimum
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import at_least, substituted
from symdim.algebra.intervals import is_empty, meet
from symdim.algebra.variable import narrowed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from onnx_infer.laws.statements import Statement
    from onnx_infer.values.tensor import Dim
    from symdim.algebra.expr import Interval
    from symdim.relations.relation import Relation


class Undecided(Exception):  # noqa: N818  (a signal inside the engine)
    """A sign is undecided, but the bounds implied so far may decide it. So it is worth starting the walk again."""


class UndecidedSigns:
    """The sizes with undecided signs in one walk, and the bounds that its statements imply for symbols in them."""

    def __init__(self, symbols: Collection[str]) -> None:
        self._symbols = symbols
        self._gaps: dict[Expr, None] = {}  # whether these are negative is not known
        self.forget()

    def add(self, size: Dim, least: Dim) -> None:
        """Record that it matters whether a size is at least another one."""
        gap = size - least
        if isinstance(gap, Expr) and gap not in self._gaps:
            self._gaps[gap] = None
            self._untried.append(gap)

    def doubt(self, a: Dim, b: Dim) -> None:
        """Record that it matters whether two different expressions of the same symbols are equal."""
        if a is b or not isinstance(a, Expr) or not isinstance(b, Expr) or a.variables() != b.variables():
            return
        if not differ(a, b):
            self.add(minimum(a - b, b - a), 0)

    def forget(self) -> None:
        """Read all statements again next time, because some of them were withdrawn."""
        self._read, self._untried = 0, list(self._gaps)
        self._bounds: dict[Var, Interval] = {}
        self._known: dict[Var, Interval] = {}
        self._tries = 0

    def decided_by(self, statements: Iterable[Statement]) -> dict[Var, Interval]:
        """The intervals of symbols that these statements imply, if they decide one of the sizes."""
        known = {v: ends for v, ends in implied_bounds(statements).items() if v.name in self._symbols}
        return known if any(_is_decided(gap, known) for gap in self._gaps) else {}

    def implied(self, statements: Sequence[Statement], *, so_far: bool = False) -> dict[Var, Interval]:
        """The implied intervals of symbols, if they decide one of these sizes.

        With `so_far`, in the middle of a walk, few sizes are tried again under a new bound, so that the tries of a walk
        grow with its number of sizes only. At the end all are tried.
        """
        if not self._gaps:
            return {}
        if self._read < len(statements):
            before, self._bounds = self._bounds, implied_bounds(statements[self._read :], self._bounds)
            self._read = len(statements)
            if self._bounds != before:
                self._known = {v: ends for v, ends in self._bounds.items() if v.name in self._symbols}
                if self._tries < 2 * len(self._gaps) + _FEW:
                    self._untried = list(self._gaps)
        if not so_far:
            self._untried = list(self._gaps)
        while self._untried:
            self._tries += 1
            if _is_decided(self._untried[-1], self._known):
                return self._known
            self._untried.pop()
        return {}


_FEW = 64
"""The tries under new bounds that are allowed beyond two for each size."""

_decided = shared_cache(1 << 10)  # (a size, intervals of symbols) -> whether the sign is known under these


def _is_decided(gap: Expr, ends: Mapping[Var, Interval]) -> bool:
    """Whether it is known under these intervals if the size is negative."""
    ends = {v: ends[v] for v in gap.variables() if v in ends}
    if not ends:
        return False
    key = gap, *ends.items()
    found: bool | None = _decided.get(key)
    if found is None:
        narrow = substituted(gap, {v: narrowed(v, low, high) for v, (low, high) in ends.items()})
        found = _decided[key] = at_least(narrow, 0) or at_least(-narrow, 1)
    return found


_solved = shared_cache(1 << 10)  # relation and sizes -> the bounds of one symbol that follow, or None


def implied_bounds(statements: Iterable[Statement], known: dict[Var, Interval] | None = None) -> dict[Var, Interval]:
    """The intervals of variables under required statements about each alone, where they narrow those that are `known`.

    A size that equals a number implies nothing. In the next inference the number is declared, and nobody states it.

    >>> from symdim import Var, minimum
    >>> from onnx_infer.laws.statements import Statement
    >>> H, S = Var("H"), Var("S")
    >>> implied_bounds([Statement("at_least", H, 10, "Conv"), Statement("at_least", (H - 10) // 5 + 1, 3, "Conv")])
    {H: (20, None)}
    >>> implied_bounds([Statement("at_most", 2 * S, 1024, "Gather")])
    {S: (1, 512)}
    >>> implied_bounds([Statement("equal", S, minimum(S, 64), "Add"), Statement("equal", H, 7, "Add")])
    {S: (1, 64)}
    """
    found = dict(known or {})
    for statement in statements:
        relation, lhs, rhs = statement[:3]
        if statement.kind == "required" and (
            relation in ("at_least", "at_most")
            or (relation == "equal" and not isinstance(lhs, int) and not isinstance(rhs, int))
        ):
            for part in of_one_symbol(statement) or ():
                _narrow(found, part)
    return found


def of_one_symbol(statement: Statement | Relation) -> Sequence[Relation] | None:
    """The bounds of its symbol that follow from a statement, if it has only one symbol; None if it never holds."""
    key = statement[:3]
    found: Sequence[Relation] | Literal["unread"] | None = _solved.get(key, "unread")
    if found == "unread":
        from symdim.relations.relation import Relation  # few models need it
        from symdim.relations.solving import solve

        condition = Relation(*key)  # type: ignore[arg-type]  # no such statement is "undecided"
        found = solve(condition) if len(condition.variables()) == 1 else ()
        _solved[key] = found
    return found


def _narrow(found: dict[Var, Interval], condition: Relation) -> None:
    """Enter a relation of a variable and a number; one that never holds is ignored."""
    relation, var, number, _ = condition
    if not isinstance(var, Var) or not isinstance(number, int):
        return
    before = found.get(var, (var.lo, var.hi))
    low = number if relation in ("at_least", "equal") else None
    high = number if relation in ("at_most", "equal") else None
    ends = meet(before, (low, high))
    if ends != before and not is_empty(ends):
        found[var] = ends
