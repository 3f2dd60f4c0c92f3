"""Periods of divisions, and statements that only residues decide."""

from __future__ import annotations

import pytest

from symdim import Var
from symdim.prover.elimination import CONGRUENCE, EQUATION
from tests.symdim.text_cases import explain_text, prove_text

x, y = Var("x"), Var("y")


@pytest.mark.parametrize(
    ("lhs", "relation", "rhs", "assume", "expected"),
    [
        ("(x*x*x - x) % 6", "==", "0", [], True),
        ("(x*x*x - x) % 12", "==", "0", [], False),
        ("(x*x) % 8", "!=", "5", [], True),
        ("(x*x + y*y) % 4", "!=", "3", [], True),
        ("(x*x + y*y) % 4", "!=", "2", [], False),
        ("H % 35", "==", "33", ["H % 5 == 3", "H % 7 == 5"], True),
        ("H % 35", "==", "32", ["H % 5 == 3", "H % 7 == 5"], False),
        ("H % 12", "==", "0", ["H % 4 == 0", "H % 6 == 0"], True),
        ("H % 24", "==", "0", ["H % 4 == 0", "H % 6 == 0"], False),
        ("H % 105", "==", "23", ["H % 3 == 2", "H % 5 == 3", "H % 7 == 2"], True),
        ("6*x + 10*y", "!=", "15*z + 1", ["z % 2 == 0"], True),
        ("6*x + 10*y", "!=", "15*z + 1", [], False),
        ("(x//2)//3 + (x % 2)", "==", "x//6 + x % 2", [], True),
        ("(x % 6) % 3", "==", "x % 3", [], True),
        ("(x % 6) % 4", "==", "x % 4", [], False),
        ("x//3 + (x + 1)//3 + (x + 2)//3", "==", "x", [], True),
        ("x//3 + (x + 1)//3 + (x + 1)//3", "==", "x", [], False),
    ],
)
def test_statements(lhs, relation, rhs, assume, expected):
    assert prove_text(lhs, relation, rhs, {}, assume) is expected


def test_coefficients_without_a_common_factor_are_inverted():
    proof = explain_text("x % 7", "==", "(2*y) % 7", {}, ["4*x + 6*y == 7*z"])
    assert (proof.answer, {*proof.laws}) == (True, {CONGRUENCE, EQUATION})


@pytest.mark.parametrize(("m", "answer"), [(256, True), (512, None)])
def test_up_to_256_residues_are_tried(m, answer):
    """No square is 3 more than a multiple of 4."""
    assert explain_text(f"(x*x) % {m}", "!=", "3", {}).answer is answer


def test_a_fact_that_refutes_some_residues_is_named():
    facts = ("(8*b + b) % 16 == 1", "(a + 6) % 7 == (6*a)//b")
    proof = explain_text("a", "<=", "4*b + 3", {"a": (1, None), "b": (None, None)}, facts)
    assert (proof.answer, len(proof.facts)) == (True, len(facts))


def test_an_equation_of_products_is_solved_modulo_their_coefficient():
    for goal, value, fact in (("7*a % 5", "4", "7*a == 5*max(x, y) + 4"), ("2*a % 7", "5", "2*a == 7*y*z*w + 12")):
        proof = explain_text(goal, "==", value, {}, [fact])
        assert (proof.answer, proof.laws) == (True, (CONGRUENCE,))
