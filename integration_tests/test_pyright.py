"""The examples of the pages pass pyright, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.pages import PAGES, ROOT
from tests.test_typing import UNTYPED, WRONG, examples


def test_the_examples_pass_pyright(tmp_path: Path) -> None:
    for page in PAGES:
        if page not in UNTYPED and (text := examples(page)):
            (tmp_path / re.sub(r"\W", "_", page)).with_suffix(".py").write_text(text, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--level", "error", "--pythonpath", sys.executable, "."]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert set(re.findall(r"(\w+\.py):\d+", done.stdout)) == {"wrong.py"}, done.stdout
