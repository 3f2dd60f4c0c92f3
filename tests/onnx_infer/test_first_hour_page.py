"""docs/first_hour.md as a user goes through it: its files, its commands, its examples, in this order."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.pages import blocks_of, check_commands, text_of

PAGE = "docs/first_hour.md"
FILES = ["make.py", "acme_ops.py", "own.py"]
"""The blocks of Python that are no examples, in the order of the page."""


def test_the_page_is_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = iter(FILES)
    for block in blocks_of(PAGE):
        if block.language == "console":
            check_commands(block.text, tmp_path)
        elif block.is_example:
            examples = doctest.DocTestParser().get_doctest(block.text, {}, "first_hour.md", None, 0)
            assert doctest.DocTestRunner().run(examples).failed == 0
        elif block.language == "python":
            file = next(files)
            assert f"`{file}`" in text_of(PAGE)
            Path(file).write_text(block.text)
    assert next(files, None) is None
