"""What a user reads is in the field's words: pages, help, messages, the report, docstrings of public names."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pages import PAGES, ROOT, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = (ROOT / "tests" / "data" / "wording.txt").read_text("utf-8").splitlines()[3:]
WORDINGS = dict(line.rsplit(" | ", 1) for line in LINES)
"""What is not written, as a regular expression -> what is written instead."""


def messages_of(path: Path) -> Iterator[str]:
    """The texts in a file of Python, without docstrings. A value in an f-string is `{}`."""

    def visit(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            for child in ast.iter_child_nodes(node):
                yield from visit(child)

    return visit(ast.parse(path.read_text("utf-8")))


def docstrings() -> Iterator[tuple[str, str]]:
    """The names in the reference with their docstrings, and those of their public methods."""
    for name in (name for page in PAGES for name in re.findall(r"^::: ([\w.]+)$", text_of(page), re.M)):
        module, _, last = name.rpartition(".")
        found = getattr(import_module(module), last)
        for each, member in [(name, found), *inspect.getmembers(found, callable)]:
            text = member.__dict__.get("__doc__") if inspect.isclass(member) else getattr(member, "__doc__", None)
            if isinstance(text, str) and not each.startswith("_"):
                yield f"{name}: {each}", text


@cache
def texts() -> list[tuple[str, str]]:
    """All that a user reads, with the place."""
    return [(place, " ".join(text.split())) for place, text in places_and_texts()]


def places_and_texts() -> Iterator[tuple[str, str]]:
    """The texts as they are written."""
    for page in (*PAGES, "mkdocs.yml"):
        yield page, text_of(page)
    for top in ("symdim", "onnx_infer"):
        for path in sorted((ROOT / top).rglob("*.*")):
            place = path.relative_to(ROOT).as_posix()
            if path.suffix == ".py":
                yield from ((place, text) for text in messages_of(path))
            elif path.suffix in (".js", ".html"):
                yield place, path.read_text("utf-8")
    yield from docstrings()


def test_there_is_something_to_read() -> None:
    places = {place for place, _ in texts()}
    assert {"README.md", "docs/planning.md", "onnx_infer/tools/cli/arguments.py"} <= places
    assert "onnx_infer.infer: onnx_infer.infer" in places


@pytest.mark.parametrize("wording", WORDINGS)
def test_no_text_has_a_wording_that_puzzles(wording: str) -> None:
    found = [f"{place}: {match[0]}" for place, text in texts() for match in re.finditer(wording, text)]
    assert found == [], f"write: {WORDINGS[wording]}"


@pytest.mark.parametrize("wording", WORDINGS)
def test_each_wording_is_an_expression(wording: str) -> None:
    assert re.search(wording, "all is well") is None
