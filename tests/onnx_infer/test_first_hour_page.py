"""Pages as a user goes through them: files, commands and examples in their order. `outputs.md` has 80 columns."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.pages import blocks_of, check_commands, text_of

FILES = {"docs/first_hour.md": ["make.py", "acme_ops.py", "own.py"], "docs/outputs.md": ["make.py"]}
"""Page -> its blocks of Python that are no examples, in its order."""


@pytest.mark.parametrize("page, columns", [("docs/first_hour.md", 160), ("docs/outputs.md", 80)])
def test_the_page_is_what_happens(page: str, columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = iter(FILES[page])
    for block in blocks_of(page):
        if block.language == "console":
            check_commands(block.text, tmp_path, columns)
        elif block.is_example:
            examples = doctest.DocTestParser().get_doctest(block.text, {}, "first_hour.md", None, 0)
            assert doctest.DocTestRunner().run(examples).failed == 0
        elif block.language == "python":
            file = next(files)
            assert f"`{file}`" in text_of(page)
            Path(file).write_text(block.text)
    assert next(files, None) is None


def test_outputs_fit_into_80_columns() -> None:
    blocks = [block for block in blocks_of("docs/outputs.md") if block.language == "console"]
    assert len(blocks) == 5
    for line in "\n".join(block.text for block in blocks).splitlines():
        assert len(line) <= 80 or line.startswith(("$ ", "onnx-infer: ")), line  # a refusal is one line
