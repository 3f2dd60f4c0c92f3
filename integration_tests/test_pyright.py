"""The examples of the pages pass pyright, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.pages import PAGES, ROOT
from tests.test_typing import UNTYPED, WRONG, examples

STRICT = (
    "# pyright: strict, reportUnusedExpression=false, reportDuplicateImport=false, reportUnusedImport=false, "
    "reportConstantRedefinition=false\n"
)
"""The rules that are off are about sessions: a prompt shows values, and imports what it needs again."""

STANDARD = {
    "docs/contract.md": "a reader of a few lines without annotations",
    "docs/dim_param.md": "lambdas of functions that a caller supplies",
    "docs/fleets.md": "`onnx.save` is partially unknown to pyright",
    "docs/for_exporters.md": "a comparison that is False by design, and a callback without annotations",
    "docs/planning.md": "`onnx.checker` is partially unknown to pyright",
    "docs/plugins.md": "lambdas in rules",
}
"""Pages that pass pyright in its standard mode only."""


def test_the_examples_pass_pyright(tmp_path: Path) -> None:
    for page in PAGES:
        if page not in UNTYPED and (text := examples(page)):
            text = text if page in STANDARD else STRICT + text
            (tmp_path / re.sub(r"\W", "_", page)).with_suffix(".py").write_text(text, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--level", "error", "--pythonpath", sys.executable, "."]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert set(re.findall(r"(\w+\.py):\d+", done.stdout)) == {"wrong.py"}, done.stdout
