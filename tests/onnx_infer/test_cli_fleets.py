"""The command line for many models: options, progress, exit codes."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING

import onnx
import onnx.parser
import pytest

from onnx_infer.__main__ import main
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, USAGE
from onnx_infer.tools.cli.fleet import _Progress
from onnx_infer.tools.fleets import Totals

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """<ir_version: 10, opset_import: ["": 20]>
g (float[N, H] x, float[N, H] y) => (float[A, B] z) { z = Add(x, y) }"""


class Terminal(io.StringIO):
    """A terminal that keeps what is written."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for name in "ab":
        onnx.save(onnx.parser.parse_model(GOOD), tmp_path / f"{name}.onnx")
    return str(tmp_path)


def test_a_folder_as_lines(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.jsonl"
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert main([folder, "--json-lines", str(target), "--jobs", "2", "--bounds", "N=1..4", "--assume", "H > 1"]) == OK
    found = [json.loads(line) for line in target.read_text().splitlines()]
    assert sorted(line["path"] for line in found) == [f"{folder}/a.onnx", f"{folder}/b.onnx"]
    assert found[0]["options"] == {"bounds": {"N": [1, 4]}, "assume": ["H > 1"]}
    assert capsys.readouterr().out.splitlines()[::2] == ["2 models: 2 ok", f"written: {target}"]
    assert "[##############################] 2/2" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_a_lost_model_makes_exit_code_1(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.onnx").write_bytes(b"?")
    assert main([folder, "--json-lines", str(tmp_path / "o"), "--all"]) == MODEL_ERRORS
    assert capsys.readouterr().out.startswith("3 models: 2 ok, 1 no model\n")
    first = json.loads((tmp_path / "o").read_text().splitlines()[0])
    assert first["result"]["values"]["z"]["shape"] == ["N", "H"]


def test_the_bar_counts_models_that_are_lost() -> None:
    screen = Terminal()
    _Progress(screen).tell(Totals(100, 50, 3, 0, 12.0, {}, 0))
    assert screen.getvalue() == "\r[###############...............] 50/100, 3 lost, 12 s\x1b[K"
    pipe = io.StringIO()
    _Progress(pipe).tell(Totals(100, 50, 3, 0, 12.0, {}, 0))
    assert pipe.getvalue() == ""


def test_a_target_that_is_no_file_of_lines(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = f"{folder}/a.onnx"
    before = (tmp_path / "a.onnx").read_bytes()
    assert main([folder, "--json-lines", model]) == USAGE
    assert capsys.readouterr().err == f"onnx-infer: --json-lines: {model}: is one of the models\n"
    assert main([f"{folder}/b.onnx", "--json-lines", model]) == USAGE
    assert capsys.readouterr().err == f"onnx-infer: --json-lines: {model}: line 1 is not a line of a fleet\n"
    assert (tmp_path / "a.onnx").read_bytes() == before
    assert main([folder, "--json-lines", folder]) == USAGE
    assert main([f"{folder}/none", "--json-lines", str(tmp_path / "o")]) == USAGE
    assert capsys.readouterr().err.endswith(f"onnx-infer: {folder}/none: No such file or directory\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_target_that_is_no_regular_file(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for target in (str(tmp_path / "pipe"), os.devnull, folder):
        assert main([folder, "--json-lines", target]) == USAGE
        assert f"onnx-infer: --json-lines: {target}: is not a regular file" in capsys.readouterr().err


BROKEN, OPEN = GOOD.replace("[N, H] y", "[4] y").replace("[N, H] x", "[3] x"), GOOD.replace("[N, H] y", "[N, W] y")
UNKNOWN = GOOD.replace("Add(x, y)", "NonZero(x)").replace("float[A, B]", "int64[A, B]")
CODES: list[tuple[str, tuple[str, ...], int, str]] = [
    (GOOD, (), OK, "2 models: 2 ok\n"),
    (GOOD, ("--quiet",), OK, ""),
    (GOOD, ("--quiet", "--fail-on", "unknown", "--fail-on", "guards"), OK, ""),
    (OPEN, ("--quiet",), OK, ""),
    (OPEN, ("--quiet", "--fail-on", "guards"), MODEL_ERRORS, "guards: {model}: the model requires H == W"),
    (UNKNOWN, ("--quiet", "--fail-on", "unknown"), MODEL_ERRORS, "unknown: {model}: 1 of"),
    (BROKEN, ("--quiet",), MODEL_ERRORS, "errors: {model}: "),
    (BROKEN, (), MODEL_ERRORS, "2 models: 1 with errors, 1 ok\n  errors: {model}: "),
    (BROKEN, ("--fail-on", "unknown"), MODEL_ERRORS, "2 models: 1 with errors, 1 ok\n"),
]
"""A second model, options -> the exit code, and how the output begins."""


@pytest.mark.parametrize("text", [GOOD, OPEN, UNKNOWN, BROKEN], ids=["good", "open", "unknown", "broken"])
def test_exit_codes_for_a_folder(text: str, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first call runs the models, with or without a file of lines; later ones with a file read its lines."""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "b.onnx")
    calls = [given for other, *given in CODES if other == text]
    for options, code, said in calls[-1:]:
        check_call([folder, "--jobs", "1", *options], code, said.format(model=f"{folder}/b.onnx"), capsys)
    for options, code, said in [*calls, *calls]:
        call = [folder, "--jobs", "1", *options, "--json-lines", str(tmp_path / "o.jsonl")]
        check_call(call, code, said.format(model=f"{folder}/b.onnx"), capsys)


def check_call(call: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(call) == code
    shown = capsys.readouterr().out
    assert shown.startswith(said)
    assert bool(shown) == bool(said)


def test_a_folder_without_a_model_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == USAGE
    assert capsys.readouterr().err == f"onnx-infer: {tmp_path}: has no .onnx file, so nothing was checked\n"


@pytest.mark.parametrize(
    "text, options, code, said",
    [
        (GOOD, ("-o", "{folder}/typed.onnx"), OK, ""),
        (OPEN, ("--fail-on", "guards"), MODEL_ERRORS, "error (--fail-on guards): the model requires H == W or "),
        (BROKEN, (), MODEL_ERRORS, "Add (opset 14) 'z': "),
        (GOOD, ("--diff", "{folder}/a.onnx"), OK, ""),
        (OPEN, ("--diff", "{folder}/a.onnx"), MODEL_ERRORS, "the two models differ"),
        (GOOD, ("--lint",), OK, ""),
    ],
)
def test_one_model_quietly(
    text: str, options: tuple[str, ...], code: int, said: str, folder: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    onnx.save(onnx.parser.parse_model(text), tmp_path / "b.onnx")
    given = [option.format(folder=folder) for option in options]
    assert main([f"{folder}/b.onnx", "--quiet", *given]) == code
    shown = capsys.readouterr().out
    assert shown.startswith(said)
    assert bool(shown) == bool(said)


def test_a_mended_model_is_run_again(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "o.jsonl")
    onnx.save(onnx.parser.parse_model(BROKEN), tmp_path / "b.onnx")
    assert main([folder, "--json-lines", target]) == MODEL_ERRORS
    onnx.save(onnx.parser.parse_model(GOOD), tmp_path / "b.onnx")
    assert main([folder, "--json-lines", target]) == OK
    assert capsys.readouterr().out.splitlines()[-3] == "2 models: 2 ok"
    assert main([folder, "--json-lines", target]) == OK
    assert f"results were taken from {target}: no model has changed" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options, said",
    [
        (["a.onnx", "b.onnx", "--explain", "y"], "argument --explain: is for one model, not for a folder or several"),
        (["m", "--json-lines", "-"], "argument --json-lines: needs a file"),
        (["a.onnx", "b.onnx", "--force"], "argument --force: needs --json-lines"),
        (["a.onnx", "--force"], "argument --force: needs --json-lines"),
        (["a.onnx", "--quiet", "--explain", "y"], "argument --quiet: --explain asks for a text"),
        (["--json-lines", "o"], "many models are files and folders"),
        (["-", "--jobs", "2"], "many models are files and folders"),
        (["m", "--json-lines", "o", "--bind", "N=1"], "argument --bind: is for one model"),
        (["m", "--json-lines", "o", "--in-place"], "argument --in-place: is for one model"),
        (["m", "--json-lines", "o", "--jobs", "0"], "is not a number of at least 1"),
        (["m", "--json-lines", "o", "--max-worker-memory", "much"], "is not a number of bytes"),
    ],
)
def test_wrong_calls(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(options)
    assert stop.value.code == USAGE
    assert said in capsys.readouterr().err
