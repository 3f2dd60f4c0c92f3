"""The page of the command and its help: every option, an example of each that is read, 80 columns."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from onnx_infer.tools.cli.arguments import command_parser, read_arguments
from tests.onnx_infer.command_page import EXAMPLES, PATH, name_of, page


def test_the_page_is_current() -> None:
    assert PATH.read_text("utf-8") == page(), "run python -m tests.onnx_infer.command_page"


def test_every_option_has_an_example() -> None:
    assert {name_of(action) for action in command_parser()._actions} == EXAMPLES.keys()


@pytest.mark.parametrize("option", [name for name in EXAMPLES if name not in ("--help", "--version")])
def test_an_example_is_a_call_with_the_option(option: str) -> None:
    words = shlex.split(EXAMPLES[option].partition(" > ")[0])[1:]
    read_arguments(words)
    action = next(action for action in command_parser()._actions if name_of(action) == option)
    assert option == "FILE" or set(action.option_strings) & set(words)


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_the_help_fits_into_80_columns(columns: str) -> None:
    command = [sys.executable, "-m", "onnx_infer", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"COLUMNS": columns, "PATH": ""})
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "examples:" in done.stdout
