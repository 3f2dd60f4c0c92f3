"""Questions about dimensions with three answers: True (proved), False (refuted by an example), None (not known)."""

from __future__ import annotations

from typing import NamedTuple

from symdim.algebra.floordiv import mod
from symdim.algebra.intervals import bounds_of
from symdim.algebra.polynomial import add, checked, scale
from symdim.facts import Facts
from symdim.prover.budget import Budget, OutOfBudget
from symdim.prover.elimination import solved
from symdim.prover.hypotheses import INTERVALS, Contradiction, Hypothesis, Problem, normalised, problem_of
from symdim.prover.search import decided
from symdim.prover.witness import witness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var
    from symdim.prover.hypotheses import Relation

BUDGET = 3000
_ALL = 1000  # points tried for an example


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


def example(dims: tuple[Dim, ...], facts: Facts | None = None) -> dict[Var, int] | None:
    """Values, allowed by the facts, of all variables that the dimensions or the facts about them mention.

    >>> from symdim import Var
    >>> x, y = Var("x"), Var("y")
    >>> example((x, y), Facts(["x == 3*y", "y >= 4"]))
    {y: 4, x: 12}
    """
    problem = problem_of([] if facts is None else facts.relevant(*dims), dims, Budget(BUDGET))
    try:
        return witness(problem, solved(problem), Budget(BUDGET), 0, _ALL)
    except (Contradiction, OutOfBudget):
        return None


def explain(a: Dim, relation: str, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> Proof:
    """The answer to `a relation b` (one of == != >= > <= <) with the facts and laws used, or a counterexample.

    What holds without the facts is found whatever the facts are. Nothing is proved from facts that contradict.

    >>> from symdim import Var
    >>> T, P = Var("T"), Var("P")
    >>> explain(T, ">", P, Facts(["T == P + 2"])).facts
    ('T == P + 2',)
    """
    difference, wanted = normalised(checked(a), relation, checked(b))
    if _evident(difference, wanted):
        return Proof(True, laws=(INTERVALS,))
    known = [] if facts is None else facts.relevant(a, b)
    answer = decided(_negated(difference, wanted, known, (a, b), Budget(budget)))
    if answer is None and known:
        answer = decided(_negated(difference, wanted, [], (), Budget(budget)))
        if isinstance(answer, dict):  # an example that pays no heed to the facts
            answer = None
    if answer is None:
        return Proof(None)
    if isinstance(answer, dict):
        consistent = facts is None or len(known) == len(facts) or facts.contradiction() is None
        return Proof(False, counterexample=answer) if consistent else Proof(None)
    used = sorted(r for r in answer if isinstance(r, int))
    laws = tuple(sorted(r for r in answer if isinstance(r, str)))
    if facts is None or not used:
        return Proof(True, (), laws)
    if facts.contradiction() is not None:
        return Proof(None)
    return Proof(True, tuple(str(facts[i]) for i in used), laws)


def _evident(dim: Dim, relation: Relation) -> bool:
    """Whether the interval alone says so."""
    lo, hi = bounds_of(dim)
    if relation == "==":
        return lo == 0 == hi
    if relation == ">=":
        return lo is not None and lo >= 0
    return (lo is not None and lo > 0) or (hi is not None and hi < 0)


def _negated(dim: Dim, relation: Relation, facts: list[Hypothesis], about: tuple[Dim, ...], budget: Budget) -> Problem:
    """The problem whose solutions are the counterexamples of `dim relation 0` under the facts."""
    if relation == ">=":
        goal = Hypothesis(add(scale(dim, -1), -1), ">=", frozenset())
    else:
        goal = Hypothesis(dim, "!=" if relation == "==" else "==", frozenset())
    return problem_of([goal, *facts], about, budget)
