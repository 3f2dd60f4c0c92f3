"""What questions may cost: steps count words of arithmetic, coefficients stay small, `simplify` has one budget."""

from __future__ import annotations

import pytest

from symdim import Facts, Var, prove, simplify, total
from symdim.prover.budget import Budget
from tests.symdim.deep_statements import deep_statements
from tests.symdim.text_cases import explain_text

x, y, z = (Var(name) for name in "xyz")
WHOLE = 10**6
POINTS = 3 * 1000  # tried for examples of one question, in steps
SEEN = "a", "==", "2*b", {}, ("(5*a) % 8 == b % 8 + a//b",)


def test_congruences_end():
    """Each round once squared the largest coefficient, up to 538,441 bits."""
    assert explain_text(*SEEN).answer is False


@pytest.mark.parametrize("seed", range(2))
def test_hard_statements_cost_their_budget(seed):
    for statement in deep_statements(seed, 20):
        whole = Budget(WHOLE)
        explain_text(*statement, within=whole)
        assert WHOLE - whole.steps <= 2 * (prove.BUDGET + POINTS), (seed, statement)


def test_products_are_paid():
    """Products of long sums are made for one question only as far as its budget goes."""
    many = [Var(f"v{i}") for i in range(60)]
    a, b = total(many), total(v * v for v in many)
    whole = Budget(WHOLE)
    assert prove.explain(a * a, "<=", 60 * b + x * y // z, within=whole).answer is not False
    assert WHOLE - whole.steps <= 3 * (prove.BUDGET + POINTS)


@pytest.mark.parametrize("size", [x, y, x + 1, y + 1])
def test_simplify_keeps_a_size_beside_an_equally_long_one(size):
    assert simplify(size, Facts(["x == y"])) is size


def test_chains_of_facts_are_found_in_linear_work():
    """Facts that hang together one by one were looked through once for each of them."""
    facts = Facts([f"n{i} <= n{i + 1}" for i in range(400)] + [f"m{i} >= 3" for i in range(400)])
    assert len(facts.relevant(Var("n7"))) == 400
    assert len(facts.relevant(Var("m7"), Var("n0"))) == 401
    assert facts.relevant(Var("k7")) == []
    facts.assume("m7 <= n3")
    assert len(facts.relevant(Var("m7"))) == 402


ZERO = x * x // 2 * 2 - x * x + x % 2

QUESTIONS = [
    (prove.equal, (ZERO, 0), (ZERO, 1)),
    (prove.at_least, (ZERO, 0), (ZERO, 1)),
    (prove.holds, (ZERO, "<", 1), (ZERO, "<", 0)),
    (prove.divides, (3, x * (x + 1) * (x + 2)), (3, x * (x + 1))),
]


@pytest.mark.parametrize(("question", "yes", "no"), QUESTIONS, ids=[question[0].__name__ for question in QUESTIONS])
def test_every_question_takes_its_steps_from_the_budget(question, yes, no):
    assert question(*yes) is True
    assert question(*no) is False
    assert question(*yes, budget=0) is None
