"""Questions about dimensions with three answers: True (proved), False (refuted by an example), None (not known)."""

from __future__ import annotations

from typing import NamedTuple

from symdim.bounds import bounds_of
from symdim.budget import Budget, OutOfBudget
from symdim.elimination import solved
from symdim.evaluate import variables_of
from symdim.expr import Expr
from symdim.facts import Facts
from symdim.floordiv import mod
from symdim.hypotheses import Contradiction, Hypothesis, Problem
from symdim.polynomial import add, checked, scale, subtract
from symdim.search import Found, Search
from symdim.variable import Scope
from symdim.witness import witness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.expr import Dim
    from symdim.hypotheses import Relation
    from symdim.variable import Var

BUDGET = 4000
_FIRST, _ALL = 24, 600  # points tried before and after the search for a proof
_NEGATION: dict[str, str] = {"==": "!=", "!=": "=="}


class Proof(NamedTuple):
    """An answer with its grounds: the facts and laws used for True, the values of variables for False."""

    answer: bool | None
    facts: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()
    counterexample: dict[Var, int] | None = None


def equal(a: Dim, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a == b for all values of the variables that their bounds and the facts allow.

    >>> from symdim import Var, maximum, minimum
    >>> S = Var("S")
    >>> equal(minimum(S, 512) + maximum(S - 512, 0), S), equal(S // 2 * 2, S)
    (True, False)
    """
    return explain(a, "==", b, facts, budget=budget).answer


def not_equal(a: Dim, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a != b always."""
    return explain(a, "!=", b, facts, budget=budget).answer


def at_least(a: Dim, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a >= b always."""
    return explain(a, ">=", b, facts, budget=budget).answer


def greater(a: Dim, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a > b always."""
    return explain(a, ">", b, facts, budget=budget).answer


def at_most(a: Dim, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a <= b always."""
    return explain(a, "<=", b, facts, budget=budget).answer


def less(a: Dim, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a < b always."""
    return explain(a, "<", b, facts, budget=budget).answer


def positive(a: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a >= 1 always."""
    return explain(a, ">=", 1, facts, budget=budget).answer


def nonnegative(a: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a >= 0 always."""
    return explain(a, ">=", 0, facts, budget=budget).answer


def divides(d: Dim, n: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether n % d == 0 always."""
    return explain(mod(n, d), "==", 0, facts, budget=budget).answer


def counterexample(
    a: Dim, relation: str, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET
) -> dict[Var, int] | None:
    """Values that the facts allow and for which `a relation b` is wrong; None where none was found.

    >>> from symdim import Var
    >>> counterexample(Var("x") // 2 * 2, "==", Var("x"))
    {x: 1}
    """
    return explain(a, relation, b, facts, budget=budget).counterexample


def explain(a: Dim, relation: str, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> Proof:
    """The answer to `a relation b` (one of == != >= > <= <) with the facts and laws used, or a counterexample."""
    difference, wanted = normalised(checked(a), relation, checked(b))
    if _evident(difference, wanted):
        return Proof(True, laws=("the canonical form and its interval",))
    known = () if facts is None else facts.relevant(difference)
    problem = negated(difference, wanted, list(known))
    spent = Budget(budget)
    try:
        reasons = _searched(problem, spent)
    except OutOfBudget:
        return Proof(None)
    if isinstance(reasons, dict):
        return Proof(False, counterexample=reasons)
    if reasons is None:
        return Proof(None)
    used = sorted(r for r in reasons if isinstance(r, int))
    if used:
        assert facts is not None
        if facts.contradiction() is not None:
            return Proof(None)
        return Proof(True, tuple(str(facts[i]) for i in used), tuple(sorted(r for r in reasons if isinstance(r, str))))
    return Proof(True, (), tuple(sorted(r for r in reasons if isinstance(r, str))))


def normalised(a: Dim, relation: str, b: Dim) -> tuple[Dim, Relation]:
    """(e, r) with `e r 0` equivalent to `a relation b`, where r is one of >= == !=."""
    if relation in ("==", "!="):
        return subtract(a, b), relation  # type: ignore[return-value]
    if relation in ("<", "<="):
        a, b = b, a
    elif relation not in (">", ">="):
        raise ValueError(f"a relation is one of == != >= > <= <, not {relation!r}")
    return add(subtract(a, b), -1 if relation in ("<", ">") else 0), ">="


def _evident(dim: Dim, relation: Relation) -> bool:
    """Whether the interval alone says so."""
    lo, hi = bounds_of(dim)
    if relation == "==":
        return lo == 0 == hi
    if relation == ">=":
        return lo is not None and lo >= 0
    return (lo is not None and lo > 0) or (hi is not None and hi < 0)


def negated(dim: Dim, relation: Relation, facts: list[Hypothesis]) -> Problem:
    """The problem whose solutions are the counterexamples of `dim relation 0` under the facts."""
    if relation == ">=":
        goal = Hypothesis(add(scale(dim, -1), -1), ">=", frozenset())
    else:
        goal = Hypothesis(dim, "!=" if relation == "==" else "==", frozenset())
    variables: dict[Var, Dim] = {}
    limits: list[Hypothesis] = []
    stack = [h.dim for h in (goal, *facts)]
    while stack:
        dim = stack.pop()
        for v in variables_of(dim) if isinstance(dim, Expr) else ():
            if v not in variables:
                variables[v] = v
                if isinstance(v.at_most, Expr):
                    limits.append(
                        Hypothesis(subtract(v.at_most, v), ">=", frozenset(("the upper bound of a variable",)))
                    )
                    stack.append(limits[-1].dim)
    return Problem([goal, *facts, *limits], variables, Scope())


def _searched(problem: Problem, budget: Budget) -> dict[Var, int] | frozenset[int | str] | None:
    try:
        reduced = solved(problem, budget)
    except Contradiction as contradicted:
        return contradicted.reasons
    found = witness(problem, reduced, budget, 0, _FIRST)
    if found is None:
        try:
            reasons = Search(problem, budget).refuted(reduced)
        except Found as example:
            return example.values
        except OutOfBudget:
            budget.steps = _ALL
            reasons = None
        if reasons is not None:
            return reasons
        found = witness(problem, reduced, budget, _FIRST, _ALL)
    return found
