"""The command line: --dynamic and --apply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import onnx
import onnx.parser
import pytest

from onnx_infer.__main__ import main
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, USAGE

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """<ir_version: 8, opset_import: ["": 17]>
g (float[1, 6] x, float[1, 6] z) => (float[2, 3] y) <int64[2] s = {2, 3}, int64[2] t = {1, 6}> {
    a = Reshape(x, t) y = Reshape(a, s) w = Concat<axis=1>(a, z) }"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "model.onnx")
    return str(tmp_path / "model.onnx")


def test_what_pins_and_what_would_free_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path, "--dynamic", "x:0=N"]) == MODEL_ERRORS
    assert capsys.readouterr().out.splitlines() == [
        "to make dynamic: x axis 0 -> N (was 1)",
        "",
        "proposed changes (use --apply to make them):",
        "  Reshape 'a': operand 't': 1 at index 0 becomes 0",
        "  Reshape 'y': operand 's': 2 at index 0 becomes -1",
        "",
        "needs manual changes (still fixed to the exported size):",
        "  input 'z' has 1 at axis 0; free it too: z:0=N",
        "",
        "required conditions (guards):",
        "  N == 1   Reshape 'a': the element counts",
        "",
        "outputs:",
        "  y: f32[2, 3]",
        "",
        "not yet dynamic: 1 pin left",
    ]


def test_a_model_that_becomes_free(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = onnx.load(path)
    del model.graph.node[1:]
    model.graph.node[0].output[0] = "y"
    onnx.save(model, path)
    assert main([path, "--dynamic", "x:0=N"]) == MODEL_ERRORS
    out = str(tmp_path / "out.onnx")
    assert main([path, "--dynamic", "x:0=N", "--apply", "-o", out]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[-6:-3] == ["  y: f32[N, 6]", "", "done: N is now dynamic"]
    assert lines[-2:] == ["", f"written: {out}"]
    assert max(map(len, lines[:-1])) < 80  # no terminal cuts them
    made = onnx.load(out)
    onnx.checker.check_model(made, full_check=True)
    assert [d.dim_param or d.dim_value for d in made.graph.output[0].type.tensor_type.shape.dim] == ["N", 6]


def test_an_unfinished_model_is_written_only_if_asked(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = '<ir_version: 8, opset_import: ["": 17]>'
    text = f"{head} g (float[1, 13] x) => (y) <int64[4] p = {{0, 0, 0, 3}}> {{y = Pad(x, p)}}"
    onnx.save(onnx.parser.parse_model(text), path)
    assert main([path, "--dynamic", "x:1=S", "--apply", "--json"]) == MODEL_ERRORS
    assert json.loads(capsys.readouterr().out)["doubts"] == [
        {"operator": "Pad", "node": "y", "what": "pads 3 on axis 1 of size S"}
    ]
    out = tmp_path / "out.onnx"
    assert main([path, "--dynamic", "x:1=S", "--apply", "-o", str(out)]) == MODEL_ERRORS
    told = capsys.readouterr()
    assert "may come from the example input:\n  Pad 'y': pads 3" in told.out
    assert "not yet dynamic: 1 doubt left" in told.out
    assert "use --unfinished to write it anyway" in told.err
    assert not out.exists()
    assert main([path, "--dynamic", "x:1=S", "--apply", "--unfinished", "-o", str(out)]) == MODEL_ERRORS
    assert onnx.load(out).graph.input[0].type.tensor_type.shape.dim[1].dim_param == "S"


@pytest.mark.parametrize(
    "options, said",
    [
        (["--dynamic", "q:0=N"], "--dynamic: the model has no input 'q'"),
        (["--dynamic", "x:4=N"], "--dynamic: input 'x' has 2 axes, so no axis 4"),
    ],
)
def test_axes_that_the_model_lacks(
    path: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([path, *options]) == USAGE
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--dynamic", "x"], ["--dynamic", "x:a=N"], ["--dynamic", "x:0="], ["--apply"]])
def test_wrong_calls(options: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["m.onnx", *options])
    assert stop.value.code == USAGE


def test_numbers_of_one_loop_are_one_line(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A loop over an axis that a trace unrolled; numbers of another axis or kind stand apart."""
    picks = " ".join(f"x{i} = Gather<axis=1>(x, i{i})" for i in (1, 2, 3, 4, 7, 9, 11))
    rows = "one = Gather<axis=0>(x, i2) part = Slice(x, i3, i7, i1)"
    outputs = "x1, x2, x3, x4, x7, x9, x11, one, part"
    numbers = ", ".join(f"int64[1] i{i} = {{{i}}}" for i in (1, 2, 3, 4, 7, 9, 11))
    text = (
        f'<ir_version: 8, opset_import: ["": 17]> g (float[13, 13] x) => ({outputs}) <{numbers}> {{ {picks} {rows} }}'
    )
    onnx.save(onnx.parser.parse_model(text), path)
    assert main([path, "--dynamic", "x:0=N", "--dynamic", "x:1=S"]) == MODEL_ERRORS
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("check these numbers: they may come from the example input:")
    assert lines[at + 1 : at + 6] == [
        "  Gather 'x2' and 5 others: index 2, 3, 4, 7, ..., 11 on axis 1 of size S",
        "  Gather 'one': index 2 on axis 0 of size N",
        "  Slice 'part': starts 3 on axis 1 of size S",
        "  Slice 'part': ends 7 on axis 1 of size S",
        "",
    ]
