"""Models against onnxruntime at many sizes: `runs.py` tells how the cases in `runs/*.txt` are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from .runs import Case, cases, check

FILES = sorted((Path(__file__).parent / "runs").glob("*.txt"))


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{path.stem}-{number}") for path in FILES for number, case in cases(path)]
)
def test_what_is_inferred_is_what_runs_show(case: Case) -> None:
    check(case)
