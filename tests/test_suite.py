"""What the suite promises of itself."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent


def test_no_test_can_be_skipped() -> None:
    """A second opinion that is not installed is a failure and no skip: `pip install '.[test]'` brings all of them."""
    skips = re.compile(r"\b(importorskip|skipif|unittest\.skip|pytest\.skip|mark\.skip)\b")
    found = [path.name for path in TESTS.rglob("*.py") if path != Path(__file__) and skips.search(path.read_text())]
    assert not found
