"""The operator cases: one line each in `cases/<family>.txt`; a line that starts with # is a remark."""

from pathlib import Path

import pytest

from onnx_infer.testing import run_case

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))


def lines(path: Path) -> list[tuple[int, str]]:
    numbered = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [(n, line.strip()) for n, line in numbered if line.strip() and not line.startswith("#")]


def is_as_expected(got: str, expected: str) -> bool:
    """Whether a result is that of the case. An expected error may be the beginning of the message."""
    return got.startswith(expected) if "error: " in expected else got == expected


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_case_of_a_family(path: Path) -> None:
    wrong = []
    for number, line in lines(path):
        got, expected = run_case(line)
        if not is_as_expected(got, expected):
            wrong.append(f"{path.name}:{number}: {line}\n  got: {got}")
    assert not wrong, "\n".join(wrong)
