"""Models against onnxruntime at many sizes: `runs.py` tells how the cases in `runs/*.txt` are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_infer import infer

from .runs import Case, cases, check

FILES = sorted((Path(__file__).parent / "runs").glob("*.txt"))


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{path.stem}-{number}") for path in FILES for number, case in cases(path)]
)
def test_what_is_inferred_is_what_runs_show(case: Case) -> None:
    check(case)


MODES = {}, {"bounds": {"N": (1, None)}}, {"assume": ["N >= 1"]}, {"assume": ["N % 4 >= 0"]}, {"bidirectional": True}


def test_an_error_is_the_same_in_every_mode() -> None:
    for _, case in cases(Path(__file__).parent / "runs" / "impossible.txt"):
        if len(case.texts("says")) == 1 and "error" in case.directives["says"] and not case.options():
            told = [[str(d) for d in infer(case.model(), **options).diagnostics] for options in MODES]
            assert told == [told[0]] * len(MODES), case
