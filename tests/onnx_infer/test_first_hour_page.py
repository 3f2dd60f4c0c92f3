"""docs/first_hour.md as a user goes through it: its files, its commands, its examples, in this order."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "first_hour.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.S)
FILES = ["make.py", "acme_ops.py", "own.py"]
"""The blocks of Python that are no examples, in the order of the page."""

COMMANDS = {"onnx-infer": [sys.executable, "-m", "onnx_infer"], "python": [sys.executable], "mkdir": ["mkdir"]}


def matches(expected: str, printed: str) -> bool:
    """Whether it was printed; `...` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), printed, re.S) is not None


def check_commands(text: str, folder: Path) -> None:
    """Run the commands after `$`, each with the lines that it prints below it."""
    for part in filter(None, re.split(r"^\$ ", text, flags=re.M)):
        command, _, expected = part.partition("\n")
        program, *arguments = shlex.split(command)
        done = subprocess.run(
            [*COMMANDS[program], *arguments],
            cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "160"},
        )  # fmt: skip
        printed = done.stdout + done.stderr
        assert matches(expected.rstrip(), printed.rstrip()), f"{command}\n{printed}"


def test_the_page_is_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = iter(FILES)
    for kind, text in BLOCK.findall(PAGE):
        if kind == "console":
            check_commands(text, tmp_path)
        elif text.startswith(">>>"):
            examples = doctest.DocTestParser().get_doctest(text, {}, "first_hour.md", None, 0)
            assert doctest.DocTestRunner().run(examples).failed == 0
        else:
            file = next(files)
            assert f"`{file}`" in PAGE
            Path(file).write_text(text)
    assert next(files, None) is None
