"""Divisions, maxima and minima are ordered as their parts are: what follows, from which facts, and what does not."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from symdim import Expr, Var, maximum, minimum
from symdim.prove import BUDGET
from symdim.prover.axioms import LINEAR
from symdim.prover.budget import Budget
from symdim.prover.hypotheses import problem_of
from symdim.prover.nesting import NESTING
from symdim.prover.ordering import MONOTONE, _Order, with_order
from symdim.relations.relation import Relation
from tests.counting import calls_of
from tests.symdim.text_cases import explain_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from symdim import Dim

FOLLOWS = [
    ("(x + y)//z", "(x + y + w)//z"),
    ("x*(y//z)", "x*((y + w)//z)"),
    ("x//z", "y//z", "x <= y"),
    ("x//z", "(y + w)//z", "x <= y"),
    ("x//z", "y//z", "x <= w", "w <= y"),
    ("(2*x)//z", "(2*y)//z", "x <= y"),
    ("(x*v)//z", "(y*v)//z", "x <= y"),
    ("(x//2)//z", "(y//2)//z", "x <= y"),
    ("x//(4*s)", "y//(4*s)", "x//4 <= y//4"),
    ("(2*x)//z", "(3*y)//z", "2*x <= 3*y"),
    ("min(x//z, w)", "min(y//z, w + 1)", "x <= y"),
    ("max(x//z, 3)*v", "max(y//z, 4)*v", "x <= y"),
    ("max(x//z, v//z)", "max(y//z, w//z)", "x <= y", "v <= w"),
    ("min(x//z, v//z)", "min(y//z, w//z)", "x <= y", "v <= w"),
    ("x//z + v//w", "y//z + (v + 1)//w", "x <= y"),
]


@pytest.mark.parametrize(("smaller", "larger", "facts"), [(a, b, tuple(facts)) for a, b, *facts in FOLLOWS])
def test_order_of_the_parts_is_that_of_the_whole(smaller: str, larger: str, facts: tuple[str, ...]) -> None:
    proof = explain_text(smaller, "<=", larger, {}, facts)
    assert (proof.answer, proof.facts) == (True, facts)
    assert MONOTONE in proof.laws
    assert explain_text(larger, "<=", smaller, {}, facts).answer is False
    assert explain_text(smaller, "<", larger, {}, facts).answer is False
    for fact in facts:
        assert explain_text(smaller, "<=", larger, {}, tuple({*facts} - {fact})).answer is False


def test_a_part_that_may_stay_is_in_order_too() -> None:
    may_be_0 = {"x": (0, None), "w": (0, None)}
    assert explain_text("x*(y//z)", "<=", "x*((y + w)//z)", may_be_0).answer is True


def test_the_first_factor_of_the_divisor_that_orders_the_quotients_suffices() -> None:
    proof = explain_text("x//(2*s*t)", "<=", "y//(2*s*t)", {}, ["x//s <= y//s"])
    assert (proof.answer, {*proof.laws}) == (True, {LINEAR, MONOTONE})


@pytest.mark.parametrize("extremum", [minimum, maximum])
def test_what_order_adds_holds_wherever_the_hypotheses_do(extremum: Callable[..., Dim]) -> None:
    """x//s and y//s are at most (x + y)//s. That orders the maxima, and not the minima."""
    x, y, z, s = variables = [Var(name) for name in "xyzs"]
    smaller, larger = extremum(x // s, y // s), extremum((x + y) // s, z)
    given = larger - smaller + 3
    problem = problem_of([Relation("at_least", given, 0, frozenset())], (), Budget(BUDGET))
    ordered = with_order(problem)
    dims = [] if ordered is None else [h.left for h in ordered.hypotheses]
    assert (larger - smaller in dims) is (extremum is maximum)
    for point in product(range(1, 9), range(1, 9), range(1, 4), range(1, 4)):
        values = dict(zip(variables, point, strict=True))
        if given.evaluate(values) >= 0:
            assert all(isinstance(dim, Expr) and dim.evaluate(values) >= 0 for dim in dims), (point, dims)


@pytest.mark.parametrize("depth", [16, 64, 256])
def test_a_comparison_pays_for_the_nodes_that_it_compares(depth: int) -> None:
    """A step is about 100 function calls, 130 with empty caches, however deep the compared parts are."""

    def nested(name: str) -> Dim:
        size: Dim = Var(name)
        for i in range(depth):
            size = (3 * size + Var(f"{name}{i}")) // (i + 5) * 2 + 1
        return size

    a, b, c, d = map(nested, "abcd")
    difference = maximum(a, b) - minimum(c, d) + 5
    budget = Budget(10**6)
    problem = problem_of([Relation("at_least", difference, 0, frozenset())], (), budget)
    before = budget.steps
    with_order(problem)
    steps = before - budget.steps
    assert 0 < calls_of(lambda: with_order(problem)) <= 130 * steps


@pytest.mark.parametrize(("factor", "other"), [("x + 1", "w"), ("x + 1", "(w + 2)"), ("x*y + 1", "x"), ("x + 1", "3")])
def test_a_larger_divisor_leaves_a_smaller_multiple(factor: str, other: str) -> None:
    """The quotient by a product is a quotient of the quotient by a factor: the shorter divisor comes first."""
    whole = f"(({factor})*{other})"
    proof = explain_text(f"n//{whole}*{whole}", "<=", f"n//({factor})*({factor})", {})
    assert proof.answer is True
    assert NESTING in proof.laws


def test_what_is_learnt_answers_a_question_that_was_open() -> None:
    x, y = Var("x"), Var("y")
    problem = problem_of([Relation("at_least", x - 1, 0, frozenset())], (), Budget(BUDGET))
    assert problem is not None
    known, why = _Order(problem), frozenset(("fact",))
    assert known._nonnegative(y - x) is None
    known.learn(Relation("at_least", y - x, 0, why))
    assert known._nonnegative(y - x) == why
