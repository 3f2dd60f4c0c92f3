"""What a typed user meets: the examples of the pages pass `mypy --strict`; what is no operation is none for mypy."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.pages import PAGES, ROOT, blocks_of

WRONG = """
from symdim import Var
Var("N") / 2
"""

UNTYPED = {"docs/coming_from.md": "torch, whose classes have the type Any where it is not installed"}
"""Pages with examples that are short at the cost of types, and with what."""

OPTIONS = [
    *("--strict", "--ignore-missing-imports", "--follow-imports=silent", "--config-file="),
    # A session gives a name again, writes functions without annotations, and compares what is never equal.
    *("--allow-redefinition-new", "--local-partial-types", "--no-strict-equality"),
    *("--allow-untyped-defs", "--allow-untyped-calls", "--allow-incomplete-defs"),
]


def examples(page: str) -> str:
    """The examples of a page that raise nothing, as a program."""
    parser = doctest.DocTestParser()
    found = [example for block in blocks_of(page) if block.is_example for example in parser.get_examples(block.text)]
    return "".join(example.source for example in found if example.exc_msg is None)


def test_the_examples_are_typed(tmp_path: Path) -> None:
    programs = {re.sub(r"\W", "_", page): text for page in PAGES if page not in UNTYPED and (text := examples(page))}
    assert {"README_md", "docs_for_exporters_md", "docs_planning_md"} <= programs.keys()
    for name, text in {**programs, "wrong": WRONG}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    cache = ROOT / ".mypy_cache" / "readme"  # what mypy read of the packages serves the next run
    command = [sys.executable, "-m", "mypy", *OPTIONS, "--cache-dir", str(cache), "."]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    errors = [line.partition(": error:")[0] for line in done.stdout.splitlines() if ": error:" in line]
    assert errors == ["wrong.py:3"], done.stdout


if __name__ == "__main__":  # for pyright, which wants each package installed: python -m tests.test_typing FOLDER
    for page in PAGES:
        if page not in UNTYPED and (text := examples(page)):
            (Path(sys.argv[1]) / re.sub(r"\W", "_", page)).with_suffix(".py").write_text(text, encoding="utf-8")
