"""What the suite promises of itself."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pages import toml_of

TESTS = Path(__file__).parent


SKIPS = re.compile(r"\b(importorskip|skipif|unittest\.skip|pytest\.skip|mark\.skip)\b")
REASONS = 'reason="the system has no ', 'reason=f"onnxruntime {installed} '
"""What may be: a system without something, and an onnxruntime after which there is none for the Python."""


def test_no_test_is_skipped_for_want_of_a_package() -> None:
    """A second opinion that is not installed is a failure and no skip: `pip install '.[test]'` brings all of them."""
    lines = [
        f"{path.name}: {line}"
        for path in TESTS.rglob("*.py")
        if path != Path(__file__)
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert [line for line in lines if SKIPS.search(line) and not any(r in line for r in REASONS)] == []


def test_the_page_of_the_package_links_to_nothing_that_an_index_lacks() -> None:
    root = TESTS.parent
    project = toml_of((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (root / project["readme"]).read_text(encoding="utf-8")
    assert [link for link in re.findall(r"\]\(([^)]*)\)", page) if not link.startswith("https://")] == []
    named = re.findall(r"`((?:docs/)?\w+\.md)`", page)
    assert named
    assert [name for name in named if not (root / name).exists()] == []
