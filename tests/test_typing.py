"""What a typed user meets: README's examples pass `mypy --strict`, and what is no operation is none for mypy either."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

WRONG = """
from symdim import Var
Var("N") / 2
"""


def examples() -> list[str]:
    """README's blocks of Python, each as a program."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    parser = doctest.DocTestParser()
    return ["".join(example.source for example in parser.get_examples(block)) for block in blocks]


def test_readme_is_typed(tmp_path: Path) -> None:
    programs = {f"block_{i}.py": text for i, text in enumerate(examples())}
    assert len(programs) == 2
    for name, text in {**programs, "wrong.py": WRONG}.items():
        (tmp_path / name).write_text(text)
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--config-file="]
    cache = ROOT / ".mypy_cache" / "readme"  # what mypy read of the packages serves the next run
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(cache), *programs, "wrong.py"]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    errors = [line.partition(": error:")[0] for line in done.stdout.splitlines() if ": error:" in line]
    assert errors == ["wrong.py:3"], done.stdout
