"""Every file that a page, a docstring or a comment cites exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PLACES = ("onnx_infer", "symdim", "tests", "integration_tests", "benchmarks", "docs")
WRITTEN = {
    "acme_ops.py", "test_acme_ops.py", "broken_ops.py", "hostile_rules.py", "some_rules.py", "make.py", "own.py",
    "link.py", "mine.py", "example.py", "program.py", "wrong.py", "FAMILY.py",
}  # fmt: skip
"""Files that a reader, or a test, writes."""

ELSEWHERE = {"_core_test.py", "_symbolic_shapes_test.py"}
"""Files of onnx_ir."""


def files() -> list[Path]:
    found = [*ROOT.glob("*.md")]
    for place in PLACES:
        found += [path for path in (ROOT / place).rglob("*.*") if path.suffix in (".py", ".md", ".txt", ".js")]
    return [path for path in found if "__pycache__" not in path.parts]


FILES = {path.relative_to(ROOT).as_posix() for path in files()}


def lost(text: str, names: set[str]) -> list[str]:
    """The files that a text cites and that do not exist: a name alone, or with the folders that it lies in."""
    cited = set(re.findall(r"(?<![\w./*{}-])(?:[\w-]+/)*[\w-]+\.py\b", text))
    ends = {"/".join(parts[i:]) for name in names for parts in [name.split("/")] for i in range(len(parts))}
    return sorted(name for name in cited - ends if name.rpartition("/")[2] not in WRITTEN | ELSEWHERE)


@pytest.mark.parametrize("place", ["pages", *PLACES])
def test_every_cited_file_exists(place: str) -> None:
    parts = {path: path.relative_to(ROOT).parts for path in files()}
    chosen = [path for path, (first, *rest) in parts.items() if (first if rest else "pages") == place]
    assert chosen
    found = {path.relative_to(ROOT).as_posix(): lost(path.read_text("utf-8"), FILES) for path in chosen}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_file_that_is_gone_is_found() -> None:
    gone = "/".join(("ops", "walk.py"))
    assert lost(f"see `{gone}` and walk.py", {"onnx_infer/engine/walk.py"}) == [gone]
    assert lost("see engine/walk.py", {"onnx_infer/engine/walk.py"}) == []
