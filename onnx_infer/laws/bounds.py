"""What is known of sizes: bounds of symbols that relations imply, and assumptions during an inference.

`Bounds` is used wherever relations say something about symbols: the demands of operators, the assumptions of a caller,
guards, and laws that remaining nodes state. The input of a convolution must be at least as large as its kernel.

Assumptions that are intervals become the bounds of their symbols. The others are facts for the prover (`Known`). They
are active during a walk (`assuming`), as a trace is active during a rule call. Rules ask them if intervals do not
decide. Without such facts a question costs one attribute look-up.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, Literal, TypeVar

from symdim import Var
from symdim.algebra.bounds import bounds_of_sum
from symdim.algebra.caches import remembered, shared_cache
from symdim.algebra.dims import at_least, bounds_of, substituted, variables_of
from symdim.algebra.intervals import is_empty, meet
from symdim.algebra.order import sorted_units
from symdim.algebra.polynomials import terms_of
from symdim.algebra.variable import narrowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx_infer.laws.statements import Statement
    from onnx_infer.values.tensor import Dim
    from symdim import Facts
    from symdim.algebra.expr import Interval
    from symdim.relations.relation import Relation


_solved = shared_cache(1 << 10)  # relation -> the bounds of its only symbol that follow, or None


class Bounds:
    """The intervals that relations give to symbols. `of` has those that are narrower than the symbol's own bounds.

    >>> from symdim.relations.relation import Relation
    >>> H, W = Var("H"), Var("W")
    >>> bounds = Bounds([Relation("at_least", H, 10), Relation("at_least", (H - 10) // 5 + 1, 3)])
    >>> bounds.of, bounds.implies(Relation("at_least", H // 2, 10)), bounds.decides(19 - H)
    ({H: (20, None)}, True, True)
    """

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self.of: dict[Var, Interval] = {}
        self._givers: dict[Var, tuple[Relation | None, Relation | None]] = {}
        for relation in relations:
            self.narrow(relation)

    def ends(self, symbol: Var) -> Interval:
        """The interval of a symbol; None is no bound."""
        return self.of.get(symbol, (symbol.lo, symbol.hi))

    def gives_end(self, relation: Relation) -> bool:
        """Whether this is the relation that gives one end of the interval of its symbol."""
        return isinstance(relation.left, Var) and relation in self._givers.get(relation.left, ())

    # -- narrowing ------------------------------------------------------------------------------------------------

    def narrow(self, relation: Relation) -> tuple[Relation, ...]:
        """Use a relation of one symbol; others say nothing here.

        Returns the relations that leave no value: this one, and the one that gives the other end. Then nothing changes.
        The result is empty if a value is left.
        """
        parts = _of_one_symbol(relation)
        if parts is None:
            return (relation,)
        for kind, symbol, number, _ in parts:
            if isinstance(symbol, Var) and isinstance(number, int) and kind in ("equal", "at_least", "at_most"):
                ends = None if kind == "at_most" else number, None if kind == "at_least" else number
                if conflict := self._meet(symbol, ends, relation):
                    return conflict
        return ()

    def _meet(self, symbol: Var, ends: Interval, giver: Relation) -> tuple[Relation, ...]:
        """Narrow a symbol to the interval that a relation gives; the result is that of `narrow`."""
        before = self.ends(symbol)
        after = meet(before, ends)
        if after == before:
            return ()
        low, high = self._givers.get(symbol, (None, None))
        givers = (low if after[0] == before[0] else giver), (high if after[1] == before[1] else giver)
        if is_empty(after):
            return tuple(dict.fromkeys(giver for giver in givers if giver is not None))
        self.of[symbol], self._givers[symbol] = after, givers
        return ()

    def narrow_within(self, relation: Relation) -> bool | None:
        """Use a relation of any symbols, each within the bounds that are known so far.

        In an inequality of several symbols, a symbol is bounded if all others are. Returns whether the bounds are
        equivalent to the relation, or None if it leaves no value.

        >>> from symdim.relations.relation import Relation
        >>> bounds, H, W = Bounds(), Var("H"), Var("W")
        >>> [bounds.narrow_within(Relation(*r)) for r in (("at_least", H // 2, 3), ("at_least", W, H + 1))], bounds.of
        ([True, False], {H: (6, None), W: (7, None)})
        """
        from symdim.relations.solving import solve  # few models need it

        narrow = self.narrowed(relation.variables())
        symbols = {new: symbol for symbol, new in narrow.items() if isinstance(new, Var)}
        parts = solve(relation.substitute(narrow))
        if parts is None:
            return None
        is_equivalent = True
        for kind, left, right, _ in parts:
            bounds: list[tuple[Var, Interval]] = []
            if kind == "divides":
                bounds = _of_multiple(left, right)
            elif kind == "unequal":
                bounds = _beside(left, right)
            if kind in ("equal", "at_least"):
                bounds += _linear(left - right)
            if kind in ("equal", "at_most"):
                bounds += _linear(right - left)
            is_equivalent &= isinstance(left, Var) and isinstance(right, int) and bool(bounds)
            for symbol, ends in bounds:
                if self._meet(symbols.get(symbol, symbol), ends, relation):
                    return None
        return is_equivalent

    # -- questions ------------------------------------------------------------------------------------------------

    def narrowed(self, symbols: Iterable[Var]) -> dict[Var, Dim]:
        """The symbols that have bounds here, as variables of the same names within these bounds, or as numbers."""
        return {v: narrowed(v, *self.of[v]) for v in symbols if v in self.of}

    def implies(self, relation: Relation) -> bool:
        """Whether the bounds prove a relation of one symbol or none."""
        parts = _of_one_symbol(relation)
        return isinstance(parts, list) and all(self._proves(*part[:3]) for part in parts)

    def _proves(self, kind: str, symbol: Dim, number: Dim) -> bool:
        if not isinstance(symbol, Var) or not isinstance(number, int):
            return False
        low, high = self.ends(symbol)
        above, below = low is not None and low >= number, high is not None and high <= number
        return {"at_least": above, "at_most": below, "equal": above and below}.get(kind, False)

    def decides(self, gap: Dim) -> bool:
        """Whether the bounds tell if a size is negative. One without a symbol that has bounds is not asked."""
        ends = tuple([(v, self.of[v]) for v in variables_of([gap]) if v in self.of])
        return bool(ends) and _is_decided(gap, ends)


@remembered(1 << 10)
def _is_decided(gap: Dim, ends: tuple[tuple[Var, Interval], ...]) -> bool:
    """Whether it is known under these bounds of symbols if a size is negative. Each inference of a model asks again."""
    within = substituted(gap, {v: narrowed(v, *interval) for v, interval in ends})
    return at_least(within, 0) or at_least(-within, 1)


def _of_multiple(number: Dim, multiple: Dim) -> list[tuple[Var, Interval]]:
    """The bounds of a variable that is a multiple of a number: the least and the largest multiple in its own."""
    if not isinstance(number, int) or not isinstance(multiple, Var):
        return []
    low = None if multiple.lo is None else -(-multiple.lo // number) * number
    return [(multiple, (low, None if multiple.hi is None else multiple.hi // number * number))]


def _beside(symbol: Dim, number: Dim) -> list[tuple[Var, Interval]]:
    """The bounds of a variable that is not a number, which narrows it at its ends only."""
    if not isinstance(symbol, Var) or not isinstance(number, int) or number not in (symbol.lo, symbol.hi):
        return []
    return [(symbol, (number + 1, None) if number == symbol.lo else (None, number - 1))]


def _linear(gap: Dim) -> list[tuple[Var, Interval]]:
    """The bounds of variables where `gap >= 0`: `k*v + rest >= 0` bounds v if `rest` is bounded."""
    terms, _ = terms_of(gap)
    bounds: list[tuple[Var, Interval]] = []
    for unit in sorted_units(terms):
        k = terms[unit]
        most = bounds_of(gap - k * unit)[1] if isinstance(unit, Var) else None
        if isinstance(unit, Var) and most is not None:
            bounds.append((unit, (-(most // k), None) if k > 0 else (None, most // -k)))
    return bounds


def _of_one_symbol(relation: Relation) -> Sequence[Relation] | None:
    """The relations that follow from one with only one symbol, solved for it; None if it never holds."""
    parts: Sequence[Relation] | Literal["unread"] | None = _solved.get(relation, "unread")
    if parts == "unread":
        from symdim.relations.solving import solve  # few models need it

        parts = _solved[relation] = solve(relation) if len(relation.variables()) <= 1 else ()
    return parts


def implied_bounds(statements: Iterable[Statement]) -> Bounds:
    """The bounds that required statements imply, each alone.

    A size that equals a number implies nothing. In the next inference the number is declared, and nobody states it.

    >>> from onnx_infer.laws.statements import Statement
    >>> from symdim import minimum
    >>> H, S = Var("H"), Var("S")
    >>> implied_bounds([Statement("at_most", 2 * S, 1024, "Gather")]).of
    {S: (1, 512)}
    >>> implied_bounds([Statement("equal", S, minimum(S, 64), "Add"), Statement("equal", H, 7, "Add")]).of
    {S: (1, 64)}
    """
    bounds = Bounds()
    narrow_by(statements, bounds)
    return bounds


def narrow_by(statements: Iterable[Statement], bounds: Bounds) -> None:
    """Use what required statements imply; see `implied_bounds`."""
    for statement in statements:
        relation, lhs, rhs = statement[:3]
        if statement.kind == "required" and (
            relation in ("at_least", "at_most")
            or (relation == "equal" and not isinstance(lhs, int) and not isinstance(rhs, int))
        ):
            bounds.narrow(statement.condition)


T = TypeVar("T")

_BUDGET = 300
"""Steps of the prover for one question. A question is asked once per walk."""


class Known:
    """The facts of one walk, and the questions that have been answered.

    >>> from symdim import Facts, Var
    >>> from onnx_infer.laws.sizes import differ
    >>> N, M = Var("N"), Var("M")
    >>> assuming(Known(Facts(["N >= M + 1"])), lambda: (differ(N, M), holds(N, ">", M), holds(N, "==", 4)))
    (True, True, False)
    >>> differ(N, M)
    False
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._answers: dict[tuple[Dim, str, Dim], bool] = {}

    def holds(self, a: Dim, relation: str, b: Dim) -> bool:
        """Whether the facts prove `a relation b`. False if they are not about these symbols."""
        question = a, relation, b
        proved = self._answers.get(question)
        if proved is None:
            from symdim import prove

            related = bool(self.facts.relevant(a, b))
            proved = related and prove.explain(a, relation, b, self.facts, budget=_BUDGET).answer is True
            self._answers[question] = proved
        return proved


class Case:
    """One side of a condition: a size that is at least 0 there, beside the facts around it.

    A relation follows if the size, subtracted from its own, leaves what an interval decides. The prover is not asked:
    a rule asks many questions, and each is asked for both sides.
    """

    def __init__(self, size: Dim, outer: Known | Case | None) -> None:
        self.size, self.outer = size, outer

    def holds(self, a: Dim, relation: str, b: Dim) -> bool:
        """Whether `a relation b` follows from the size, or from the facts around it."""
        least = int(relation in (">", "<", "!="))
        rises = relation in (">=", ">", "!=", "==") and self._is_above(a, b, least)
        if rises and relation != "==":
            return True
        falls = relation in ("<=", "<", "!=", "==") and self._is_above(b, a, least)
        if falls and (rises or relation != "=="):
            return True
        return self.outer is not None and self.outer.holds(a, relation, b)

    def _is_above(self, a: Dim, b: Dim, least: int) -> bool:
        """Whether an interval proves `a - b - size >= least`, which implies `a - b >= least` here."""
        low, _ = bounds_of_sum((a, 1), (b, -1), (self.size, -1))
        return low is not None and low >= least


class _Active(local):
    """The facts of the innermost walk of a thread, if it has some, or the case of a condition."""

    known: Known | Case | None = None


_ACTIVE = _Active()


def assuming(known: Known | Case | None, action: Callable[[], T]) -> T:
    """The result of an action. These facts, or none, are active while it runs.

    A plain assignment ends that: an interrupt can stop the `__exit__` of a context before it has done anything.
    """
    outer = _ACTIVE.known
    try:
        _ACTIVE.known = known
        return action()
    finally:
        _ACTIVE.known = outer


def supposing(size: Dim, action: Callable[[], T]) -> T:
    """The result of an action. While it runs, the size is known to be at least 0, beside the facts of the walk.

    >>> from onnx_infer.laws.sizes import at_least
    >>> from symdim import Var
    >>> supposing(Var("N") - 5, lambda: at_least(Var("N") - 3, 2)), at_least(Var("N") - 3, 2)
    (True, False)
    """
    return assuming(Case(size, _ACTIVE.known), action)


def holds(a: Dim, relation: str, b: Dim) -> bool:
    """Whether the assumptions prove `a relation b` (one of == != >= > <= <)."""
    known = _ACTIVE.known
    return known is not None and known.holds(a, relation, b)
