"""The operator cases: one line each in `cases/<family>.txt`; a line that starts with # is a remark."""

from pathlib import Path

import pytest

from onnx_infer.testing import run_case

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))


def lines(path: Path) -> list[tuple[int, str]]:
    numbered = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [(n, line.strip()) for n, line in numbered if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize(
    "line", [pytest.param(line, id=f"{path.stem}:{n}") for path in CASES for n, line in lines(path)]
)
def test_case(line: str) -> None:
    got, expected = run_case(line)
    if "error: " in expected:
        # an expected error may be the beginning of the message
        assert got.startswith(expected), got
    else:
        assert got == expected
