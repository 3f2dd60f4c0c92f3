"""The tests of onnx_ir and of onnx-shape-inference, with and without symdim under `onnx_ir.SymbolicDim`.

The wheel of onnx-shape-inference has its tests. Those of onnx_ir are in its repository: they run if `IR_PY_SOURCE` is
the folder of a checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

START = """
import importlib.util, sys
from unittest.mock import MagicMock
for package in ("torch", "jax"):  # tests of tensors in the same files import them
    if importlib.util.find_spec(package) is None:
        sys.modules[package] = MagicMock()
if {is_installed}:
    from onnx_infer.integrations import symbolic_dim
    symbolic_dim.install()
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def outcome(is_installed: bool, folder: Path, *arguments: str) -> dict[str, int]:
    """How many tests passed, failed and so on, in a process of their own."""
    code = START.format(is_installed=is_installed)
    command = [sys.executable, "-c", code, "-q", "--no-header", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    last = run.stdout.strip().rpartition("\n")[2]
    found = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)", last)}
    assert found.get("passed"), run.stdout[-2000:] + run.stderr[-2000:]
    assert "failed" not in found, run.stdout[-4000:]
    return found


def test_of_onnx_shape_inference(tmp_path: Path) -> None:
    spec = find_spec("onnx_shape_inference")
    if spec is None or spec.origin is None:
        pytest.skip("onnx-shape-inference is not installed")
    folder = str(Path(spec.origin).parent)
    assert outcome(True, tmp_path, folder) == outcome(False, tmp_path, folder)


@pytest.mark.parametrize("arguments", [("_symbolic_shapes_test.py",), ("_core_test.py", "-k", "SymbolicDim or Shape")])
def test_of_onnx_ir(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    source = os.environ.get("IR_PY_SOURCE")
    if source is None:
        pytest.skip("IR_PY_SOURCE is not set to a checkout of onnx/ir-py")
    name, *others = arguments
    copied = tmp_path / name  # beside its package it would import that one, not the installed one
    copied.write_text((Path(source) / "src" / "onnx_ir" / name).read_text())
    assert outcome(True, tmp_path, name, *others) == outcome(False, tmp_path, name, *others)
