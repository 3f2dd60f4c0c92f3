"""Periods of divisions, and statements that only residues decide."""

from __future__ import annotations

import pytest

from symdim import Var
from symdim.prover.elimination import CONGRUENCE, EQUATION
from tests.symdim.text_cases import explain_text

x, y = Var("x"), Var("y")


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
