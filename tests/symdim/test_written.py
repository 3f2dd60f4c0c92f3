"""Written statements of the kinds that shape code asks: every true one is proved, every false one refuted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.symdim.deep_statements import deep_statements
from tests.symdim.fuzz_prover import wrong
from tests.symdim.statements import Bounds, Statement, violation
from tests.symdim.text_cases import explain_text

LINES = Path(__file__).with_name("written_statements.txt").read_text().splitlines()
STATEMENTS = [line for line in LINES if line and not line.startswith("#")]
LINE = re.compile(r"(false: )?(.+?) (==|!=|<=|>=|<|>) (.+?)(?: for (.+?))?(?: given (.+))?")


def read(line: str) -> tuple[Statement, bool]:
    """A line of the file, and whether it holds."""
    match = LINE.fullmatch(line)
    assert match is not None, line
    false, lhs, relation, rhs, intervals, assumed = match.groups()
    bounds: Bounds = {}
    for interval in intervals.split(", ") if intervals else ():
        name, ends = interval.split(" in ")
        lo, hi = ends.split("..")
        bounds[name] = (int(lo) if lo else None, int(hi) if hi else None)
    return Statement(lhs, relation, rhs, bounds, tuple(assumed.split("; ")) if assumed else ()), false is None


@pytest.mark.parametrize("line", STATEMENTS)
def test_answer(line):
    statement, expected = read(line)
    proof = explain_text(*statement)
    assert proof.answer is expected
    assert not wrong(statement, proof, violation(statement, 300))


@pytest.mark.parametrize("seed", range(5))
def test_deep_statements(seed):
    """No wrong answer about harder ones; `fuzz_prover --deep` runs the same for longer."""
    for statement in deep_statements(seed, 40):
        proof = explain_text(*statement)
        assert not wrong(statement, proof, violation(statement, 400)), (statement, proof)
