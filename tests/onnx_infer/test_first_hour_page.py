"""The page of the first hour as a user goes through it: its files, commands and examples in their order."""

from __future__ import annotations

import doctest
from itertools import chain
from pathlib import Path

import pytest

from tests.pages import blocks_of, check_commands, text_of

PAGE = "docs/first_hour.md"

FILES = {"make.py": 160, "acme_ops.py": 160, "own.py": 160, "models.py": 80}
"""The blocks of Python that are no examples, in their order -> the width of the terminal after each."""


def test_the_page_is_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files, columns = iter(FILES), 160
    for block in blocks_of(PAGE):
        if block.language == "console":
            check_commands(block.text, tmp_path, columns)
        elif block.is_example:
            examples = doctest.DocTestParser().get_doctest(block.text, {}, "first_hour.md", None, 0)
            assert doctest.DocTestRunner().run(examples).failed == 0
        elif block.language == "python":
            file = next(files)
            columns = FILES[file]
            assert f"`{file}`" in text_of(PAGE)
            Path(file).write_text(block.text)
    assert next(files, None) is None


def test_example_outputs_fit_into_80_columns() -> None:
    text = text_of(PAGE).partition("\n## Example outputs\n")[2]
    blocks = [block.text for block in blocks_of(PAGE) if block.language == "console" and block.text in text]
    assert len(blocks) == 5
    for line in chain.from_iterable(block.splitlines() for block in blocks):
        assert len(line) <= 80 or line.startswith(("$ ", "onnx-infer: ")), line  # a refusal is one line
