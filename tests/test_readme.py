"""README: short, a picture at once, and its rows, errors and commands are what a user sees."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import onnx_infer
from onnx_infer.tools.cli.arguments import read_arguments
from tests.pages import blocks_of, text_of

README = text_of("README.md")
ROWS = re.findall(r"^\| `(\w+)`[^|]*\| `(\[.*?\])` \| `(\[.*?\])` \|$", README, re.M)
COMMANDS = re.findall(r"\| `(onnx-infer [^`]*)` \|", README)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models of the first hour: good.onnx and broken.onnx."""
    made = tmp_path_factory.mktemp("readme")
    program = next(block.text for block in blocks_of("docs/first_hour.md") if block.language == "python")
    for name, values in (("good", "v"), ("broken", "q")):
        subprocess.run([sys.executable, "-c", program, name, values], cwd=made, check=True)
    return made


def test_it_is_short_and_shows_a_table_at_once() -> None:
    lines = README.splitlines()
    assert len(lines) <= 150
    assert any(line.startswith("|") for line in lines[:25])


def test_its_first_table_is_true(folder: Path) -> None:
    model = onnx.load(folder / "good.onnx")
    result, other = onnx_infer.infer(model), onnx.shape_inference.infer_shapes(model, data_prop=True)
    known = {value.name: value.type.tensor_type.shape.dim for value in (*other.graph.value_info, *other.graph.output)}
    assert len(ROWS) == 3
    for name, before, after in ROWS:
        assert before == f"[{', '.join(dim.dim_param or str(dim.dim_value) for dim in known[name])}]"
        assert after == f"[{', '.join(map(str, result.shapes[name]))}]"


def test_its_error_is_that_of_the_broken_model(folder: Path) -> None:
    (error,) = onnx_infer.infer(folder / "broken.onnx").diagnostics
    (text,) = (block.text for block in blocks_of("README.md") if block.language == "text")
    assert text == f"error: {error}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_its_questions_have_commands(command: str) -> None:
    words = shlex.split(command.partition(" > ")[0])
    assert read_arguments(words[1:]) is not None


def test_there_are_twelve_questions() -> None:
    assert len(COMMANDS) == 12
