"""Questions about dimensions with three answers: True (proved), False (refuted by an example), None (not known).

**Budget.** A question takes at most `budget` steps with the facts, and as many without them. A step is about 20
microseconds of work; large numbers and long sums cost more steps (`prover/budget.py`). Answers never depend on the
speed of the machine. If the budget does not suffice, the answer is None.

**Contradictory facts** prove nothing. If `Facts.contradiction` finds a contradiction, about any variables, an answer is
True if it is proved without facts, and None otherwise. Then there is no example and no counterexample.

**Divisors.** A dimension that divides by 0 has no value. Questions are about values, so assignments in which one of the
two sides or a fact has no value do not count. If no assignment is left, every relation is True. A divisor that
cancelled when a dimension was built, as in `x*y//y`, is no divisor any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra import dims
from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.constructors.floordiv import mod
from symdim.algebra.named_tuple import NamedTuple
from symdim.facts import Facts, with_origin
from symdim.prover.budget import Budget, OutOfBudget
from symdim.prover.hypotheses import INTERVALS, problem_of
from symdim.prover.search import decided
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var
    from symdim.prover.hypotheses import Reasons
    from symdim.prover.witness import Assignment

BUDGET = 5000


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


def holds(a: Dim, relation: str, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether `a relation b` (one of == != >= > <= <) always.

    >>> from symdim import Var
    >>> holds(Var("x") % Var("y"), "<", Var("y"))
    True
    """
    return explain(a, relation, b, facts, budget=budget).answer


def at_least(a: Dim, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether a >= b always."""
    return explain(a, ">=", b, facts, budget=budget).answer


def divides(d: Dim, n: Dim, facts: Facts | None = None, *, budget: int = BUDGET) -> bool | None:
    """Whether n % d == 0 always; raises DivisionByZero where d is the number 0."""
    return explain(mod(checked(n), checked(d)), "==", 0, facts, budget=budget).answer


def counterexample(
    a: Dim, relation: str, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET
) -> dict[Var, int] | None:
    """Values that the facts allow and for which `a relation b` is wrong; None if none were found.

    >>> from symdim import Var
    >>> counterexample(Var("x") // 2 * 2, "==", Var("x"))
    {x: 1}
    """
    return explain(a, relation, b, facts, budget=budget).counterexample


def example(
    dims: tuple[Dim, ...], facts: Facts | None = None, *, budget: int = BUDGET, within: Budget | None = None
) -> dict[Var, int] | None:
    """Values that the facts allow, for all variables in the dimensions and in the facts about them.

    All the dimensions have a value there. None if no such values are found, or if the facts contradict each other.
    The steps are also taken from the larger budget `within`.

    >>> from symdim import Var
    >>> x, y = Var("x"), Var("y")
    >>> example((x, y), Facts(["x == 3*y", "y >= 4"]))
    {y: 4, x: 12}
    """
    dims = tuple(map(checked, dims))
    known = [] if facts is None else facts.relevant(*dims)
    answer = _searched(known, dims, Budget(budget, within))
    return answer if isinstance(answer, dict) and _consistent(facts, known) else None


def explain(
    a: Dim, relation: str, b: Dim, facts: Facts | None = None, *, budget: int = BUDGET, within: Budget | None = None
) -> Proof:
    """The answer to `a relation b` (one of == != >= > <= <), with the facts and laws used or a counterexample.

    A relation that holds without the facts is found with any facts. Nothing is proved from contradictory facts. The
    steps are also taken from the larger budget `within`.

    >>> from symdim import Var
    >>> T, P = Var("T"), Var("P")
    >>> explain(T, ">", P, Facts(["T == P + 2"])).facts
    ('T == P + 2',)
    """
    a, b = checked(a), checked(b)
    wanted = Relation.of(a, relation, b).normal()
    if _evident(wanted):
        return Proof(True, laws=(INTERVALS,))
    goal = wanted.negated().normal()
    known = [] if facts is None else facts.relevant(a, b)
    for assumed in (known, []) if known else (known,):
        answer = _searched([goal, *assumed], (a, b), Budget(budget, within))
        if isinstance(answer, dict):
            if assumed is known and _consistent(facts, known):
                return Proof(False, counterexample=answer)
        elif answer is not None:
            laws = tuple(sorted(r for r in answer if isinstance(r, str)))
            used = sorted(r for r in answer if isinstance(r, int))
            if facts is None or not used:
                return Proof(True, (), laws)
            if facts.contradiction() is None:
                listed = list(facts)
                return Proof(True, tuple(with_origin(listed[i]) for i in used), laws)
    return Proof(None)


def _consistent(facts: Facts | None, met: list[Relation]) -> bool:
    """Whether no contradiction of the facts is known. Some of them, `met`, have an example already."""
    return facts is None or len(met) == len(facts) or facts.contradiction() is None


def _searched(hypotheses: list[Relation], about: tuple[Dim, ...], budget: Budget) -> Assignment | Reasons | None:
    try:
        return decided(problem_of(hypotheses, about, budget))
    except OutOfBudget:
        return None


def _evident(wanted: Relation) -> bool:
    """Whether the interval alone decides a relation in normal form."""
    kind, dim, _, _ = wanted
    if kind == "equal":
        return bounds_of(dim) == (0, 0)
    return dims.at_least(dim, 0) if kind == "at_least" else dims.excludes(dim, 0)
