"""Written statements about integers, of which one in seven is false and looks true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.symdim.text_cases import prove_text

CASES = json.loads(Path(__file__).with_name("equiv_cases.json").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_answer(case):
    bounds = {name: tuple(ends) for name, ends in case["bounds"].items()}
    answer = prove_text(case["lhs"], case["relation"], case["rhs"], bounds, case["assume"])
    assert answer is case["expected"]


def test_converse_is_never_proved_too():
    """A statement and its negation are never both proved."""
    negation = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
    for case in CASES:
        bounds = {name: tuple(ends) for name, ends in case["bounds"].items()}
        answer = prove_text(case["lhs"], negation[case["relation"]], case["rhs"], bounds, case["assume"])
        if case["expected"]:
            assert answer is not True, case
