"""Points that satisfy hypotheses: an example of a reduced problem is one of the original problem, too."""

from __future__ import annotations

from symdim import Var
from symdim.prover.budget import Budget
from symdim.prover.hypotheses import Problem, problem_of
from symdim.prover.search import one_sided
from symdim.prover.witness import witness
from symdim.relations.relation import Relation
from tests.symdim.text_cases import explain_text

n, m = Var("n"), Var("m")


def at_least(*bounds: int) -> Problem:
    """The problem that n is at least each bound."""
    return problem_of([Relation("at_least", n - bound, 0, frozenset()) for bound in bounds], (), Budget(1000))


def test_an_example_satisfies_the_original_hypotheses() -> None:
    """A reduced problem may demand less than the original one."""
    for reduced in (at_least(3), at_least(5), at_least(3, 8)):
        found = witness(at_least(5), reduced, 0, 100)
        assert found is not None
        assert found[n] >= 5
    assert witness(problem_of([Relation("at_least", -n, 0)], (), Budget(1000)), at_least(3), 0, 100) is None


def test_sizes_that_differ_are_apart_on_either_side() -> None:
    differ, bound = Relation("unequal", n - m, 0, frozenset("d")), Relation("at_least", n - 3, 0, frozenset("b"))
    sides = one_sided(problem_of([bound, differ], (), Budget(1000)))
    assert [[h.left for h in side.hypotheses] for side in sides] == [[n - m - 1, n - 3], [m - n - 1, n - 3]]


def test_an_example_of_the_reduced_problem_suffices() -> None:
    """The original problem has no example among its own first points."""
    facts = ["(a + 6) % 4 == 2", "(a + 5) % a == (b + 9)//10"]
    found = explain_text("a//b", "<=", "7", {"a": (0, None), "b": (1, None)}, facts)
    assert found.answer is False
    facts = ["(a*a) % 7 == a % 12 + (a*b)//a"]
    assert explain_text("a//b", "<=", "3", {}, facts).answer is False
