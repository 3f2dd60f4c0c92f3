"""Questions end in their time, whatever they are asked about: budgets count what constructors do."""

from __future__ import annotations

import pytest

from symdim import Facts, Var, maximum, simplify
from symdim.prove import explain
from symdim.prover.budget import Budget
from symdim.relations.relation import Relation
from symdim.relations.solving import solve
from tests.counting import calls_of

x, y = Var("x"), Var("y")


def nest(depth: int):
    """Each operation has the former one twice."""
    e = x
    for i in range(depth):
        e = maximum(e // 2 + i, e % 3 * y)
    return e


@pytest.mark.parametrize("facts", [["x % 8 == 0"], ["x % 8 == 0", "y >= 2"]])
def test_a_nest_is_simplified_in_time(facts):
    """The constructors of six levels once took more than a minute."""
    e, short = nest(7), []
    assert calls_of(lambda: short.append(simplify(e, Facts(facts)))) < 6_000_000  # about a second
    assert short[0].evaluate(x=24, y=5) == e.evaluate(x=24, y=5)


def test_a_question_about_a_nest_takes_its_steps():
    whole, e = Budget(10**6), nest(12)
    explain(e, ">=", x // 4, Facts(["x % 8 == 0", "y >= 2"]), within=whole)
    assert 10**6 - whole.steps < 20_000


HOURS = [
    Relation("at_least", 100 % (2 * y - 1), 1),
    Relation("at_least", 1, 100 % (12 * y - 1)),
    Relation("at_most", x % (3 * y - 2), 4),
    Relation("equal", 77 % (5 * y + 1), 2),
    Relation("broadcast", x % (2 * y + 1), 100 % (2 * y - 1) + 1),
]


@pytest.mark.parametrize("condition", HOURS, ids=str)
def test_a_remainder_by_an_expression_is_solved(condition):
    """A quotient beside its own multiples was multiplied out and divided back without an end."""
    found = solve(condition)
    assert found is not None
    for a in range(1, 30):
        for b in range(1, 30):
            values = {"x": a, "y": b}
            assert condition.holds(values) == all(part.holds(values) for part in found)
