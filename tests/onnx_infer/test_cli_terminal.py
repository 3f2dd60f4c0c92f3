"""The command line on a terminal: widths, colours, progress, and what it costs to print the options."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import get_args

import onnx
import onnx.parser
import pytest

from onnx_infer.__main__ import main
from onnx_infer.inference import CHOICES
from onnx_infer.tools.cli import arguments, command
from onnx_infer.tools.cli.arguments import INTERRUPTED, MODEL_ERRORS, OK, WrongCall
from onnx_infer.tools.cli.terminal import progress, read_bytes, show, write_bytes
from onnx_infer.tools.emission.code import FileKind
from symdim.dialects.texts import Dialect

LONG = """<ir_version: 10, opset_import: ["": 20]>
g (float[batch, height, width] x, float[sequence_length, width] y) => (s) {
    a = Flatten<axis=2>(x) b = Transpose(a) c = Concat<axis=0>(b, y) d = Transpose(c) e = Flatten<axis=0>(d)
    s = Concat<axis=1>(e, e)
}"""


class Terminal(io.StringIO):
    """A terminal that keeps what is written."""

    def isatty(self) -> bool:
        return True


def saved(tmp_path: Path, text: str = LONG) -> str:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return str(path)


@pytest.mark.parametrize("options", [[], ["--explain", "s"], ["--all"]])
def test_no_line_is_wider_than_the_terminal(
    tmp_path: Path, options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    main([saved(tmp_path), *options])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    monkeypatch.setenv("COLUMNS", "4000")
    main([saved(tmp_path), *options])
    assert " ".join(lines).split() == capsys.readouterr().out.split()  # no sentence and no size is cut


def test_full_lines_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    main([saved(tmp_path), "--full"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) > 60
    assert not any(" ... " in line for line in lines)


def fake_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for rich: what the report asks of it, each styled span in marks."""

    class Text:
        def __init__(self, text: str) -> None:
            self.text = text

        def highlight_regex(self, pattern: str, style: str) -> None:
            import re

            self.text = re.sub(pattern, rf"<{style}>\g<0></>", self.text)

    class Console:
        def __init__(self, file: io.StringIO, highlight: bool, force_terminal: bool) -> None:
            self.file = file

        def print(self, text: Text, soft_wrap: bool) -> None:
            self.file.write(f"{text.text}\n")

    for name, content in {"rich": {}, "rich.console": {"Console": Console}, "rich.text": {"Text": Text}}.items():
        module = ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)


def test_a_terminal_shows_colours_where_rich_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    fake_rich(monkeypatch)
    screen = Terminal()
    show("error: Add (opset 14) 'z': sizes differ\n\ninputs:\n  x  f32[N]", screen)
    assert screen.getvalue() == (
        "<bold red>error: Add (opset 14) 'z': sizes differ</>\n\n<bold>inputs:</>\n  x  f32[N]\n"
    )


@pytest.mark.parametrize("case", ["no rich", "NO_COLOR", "no terminal"])
def test_other_texts_are_plain(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    fake_rich(monkeypatch)
    if case == "no rich":
        monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setenv("NO_COLOR", "1" if case == "NO_COLOR" else "")
    screen = io.StringIO() if case == "no terminal" else Terminal()
    show("inputs:", screen)
    assert screen.getvalue() == "inputs:\n"


def test_names_that_the_stream_cannot_write_are_escaped() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    show("größe", stream)
    assert raw.getvalue() == b"gr\\xf6\\xdfe\n"


def test_closed_streams_are_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    show("text", None)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(WrongCall, match="standard input is closed"):
        read_bytes()
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(WrongCall, match="standard output is closed"):
        write_bytes(b"")


def test_long_work_is_told_on_a_terminal_and_the_line_goes_again() -> None:
    screen = Terminal()
    with progress("inferring model.onnx", screen, after=0.01):
        while not screen.getvalue():
            time.sleep(0.001)
    assert screen.getvalue().startswith("\rinferring model.onnx: ")
    assert screen.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("screen", [Terminal(), io.StringIO()])
def test_short_work_and_pipes_show_no_progress(screen: io.StringIO) -> None:
    with progress("inferring", screen, after=60 if screen.isatty() else 0):
        pass
    assert screen.getvalue() == ""


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "infer", interrupted)
    assert main(["--demo"]) == INTERRUPTED
    assert capsys.readouterr().err == "onnx-infer: interrupted\n"


def test_the_version_names_those_of_onnx_and_python(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == OK
    python = ".".join(map(str, sys.version_info[:3]))
    assert capsys.readouterr().out.endswith(f"(onnx {onnx.__version__}, Python {python})\n")


def test_the_version_of_an_onnx_without_metadata_beside_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "onnx").mkdir()
    elsewhere = importlib.util.spec_from_file_location("onnx", tmp_path / "onnx" / "__init__.py")
    for spec, told in ((elsewhere, f"onnx {onnx.__version__}"), (None, "no onnx")):
        monkeypatch.setattr(importlib.util, "find_spec", lambda _, found=spec: found)
        with pytest.raises(SystemExit):
            main(["--version"])
        assert f"({told}, " in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_options_are_read_without_onnx_and_the_algebra(option: str) -> None:
    program = (
        "import sys\nfrom onnx_infer.__main__ import main\n"
        f"try: main([{option!r}])\nexcept SystemExit: print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1]
    assert "'argparse'" in modules
    assert not any(f"'{name}'" in modules for name in ("onnx", "numpy", "google.protobuf", "symdim.algebra"))
    assert "'importlib.metadata'" not in modules  # its import takes as long as all else


def test_the_choices_are_those_of_inference() -> None:
    assert CHOICES["policy"] == arguments.POLICIES
    assert get_args(FileKind) == arguments.FILE_KINDS
    assert get_args(Dialect) == arguments.DIALECTS


def test_an_error_is_told_in_two_lines_before_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """<ir_version: 10, opset_import: ["": 20]>
    g (float[batch, 64] x, float[48, 3] w) => (product) { product = MatMul (x, w) }"""
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    monkeypatch.setenv("COLUMNS", "75")
    assert main([str(path)]) == MODEL_ERRORS
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert (first, second) == ("error: MatMul (opset 13) 'product': inner sizes of the product differ:", "    64 != 48")
