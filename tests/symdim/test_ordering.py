"""Divisions, maxima and minima are ordered as their parts are: what follows, from which facts, and what does not."""

from __future__ import annotations

import pytest

from symdim.prover.ordering import MONOTONE
from symdim.testing import explain_text

FOLLOWS = [
    ("(x + y)//z", "(x + y + w)//z"),
    ("x*(y//z)", "x*((y + w)//z)"),
    ("x//z", "y//z", "x <= y"),
    ("x//z", "(y + w)//z", "x <= y"),
    ("x//z", "y//z", "x <= w", "w <= y"),
    ("(2*x)//z", "(2*y)//z", "x <= y"),
    ("(x*v)//z", "(y*v)//z", "x <= y"),
    ("(x//2)//z", "(y//2)//z", "x <= y"),
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
