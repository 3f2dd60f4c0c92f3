"""The command line: what it prints, its exit codes, its page and its help."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import onnx
import onnx.parser
import pytest

from onnx_infer.__main__ import main
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, USAGE, command_parser, read_arguments
from tests.onnx_infer.command_page import EXAMPLES, PATH, name_of, page

GOOD = """<ir_version: 10, opset_import: ["": 20]>
g (float[N, H] x, float[N, H] y) => (float[A, B] z) { z = Add(x, y) }"""
BAD = """<ir_version: 10, opset_import: ["": 20]>
g (float[N, 3] x, float[N, 4] y) => (float[A, B] z) { z = Add(x, y) }"""


def saved(tmp_path: Path, text: str) -> str:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return str(path)


def test_demo_finds_every_size_that_the_inputs_determine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--demo", "--json"]) == OK
    values = json.loads(capsys.readouterr().out)["values"]
    tokens = values["sequence"]["shape"][1]
    scores = values["scores"]
    assert (scores["dtype"], scores["shape"], scores["exact"]) == ("f32", ["N", 4, tokens, tokens], True)
    assert {"N", "S"} <= {str(d) for d in values["tokens"]["shape"]}
    assert values["kept"]["shape"][0] == 3


def test_table_shows_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([saved(tmp_path, GOOD)]) == OK
    out = capsys.readouterr().out
    assert "3 values: 3 exact" in out
    assert "z  f32[N, H]" in out


def test_the_table_of_a_long_model_shows_its_ends_unless_all_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = " ".join(f"v{i + 1} = Relu(v{i})" for i in range(60))
    text = f"""<ir_version: 10, opset_import: ["": 20]> g (float[N] v0) => (float[A] v60) {{ {chain} }}"""
    path = saved(tmp_path, text)
    assert main([path]) == OK
    assert main([path, "--all"]) == OK
    short, _, whole = capsys.readouterr().out.partition("\n61 values")
    assert short.splitlines()[3:] == [
        "inputs:", "  v0  f32[N]", "", "outputs:", "  v60  f32[N]", "", "intermediate values:",
        "  59 exact intermediate values (use --all to list them)",
    ]  # fmt: skip
    assert "  v30  f32[N]" in whole


def test_output_is_a_valid_model_with_the_inferred_shape(tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    assert main([saved(tmp_path, GOOD), "-o", str(out)]) == OK
    model = onnx.load(out)
    onnx.checker.check_model(model)
    assert [d.dim_param for d in model.graph.output[0].type.tensor_type.shape.dim] == ["N", "H"]


def test_bind_fixes_symbols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([saved(tmp_path, GOOD), "--bind", "N=4", "--bind", "H=5"]) == OK
    assert "z  f32[4, 5]" in capsys.readouterr().out


def test_bind_fixes_a_symbol_to_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 10, opset_import: ["": 20]>
    g (float[N, past] c, float[N, seq] x) => (float[N, "past + seq"] y) { y = Concat <axis: int = 1> (c, x) }"""
    assert main([saved(tmp_path, text), "--bind", "past=0"]) == OK
    assert "y  f32[N, seq]" in capsys.readouterr().out


def test_rename_gives_symbols_other_names_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, GOOD)
    assert main([path, "--rename", "N=batch", "--rename", "H=N", "--bind", "N=5"]) == OK
    assert "z  f32[batch, 5]" in capsys.readouterr().out
    for names, said in [
        ("Q=x", "the model has no symbol 'Q'; its symbols are 'H', 'N'"),
        ("N=H", "'N' cannot be renamed to 'H': another symbol has this name"),
    ]:
        assert main([path, "--rename", names]) == USAGE
        assert capsys.readouterr().err == f"onnx-infer: --rename: {said}\n"


def test_an_unknown_value_brings_those_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, GOOD.replace(" z", " scores").replace("z =", "scores ="))
    assert main([path, "--explain", "score"]) == USAGE
    assert capsys.readouterr().err == "onnx-infer: --explain: the main graph has no value 'score'; it has 'scores'\n"
    assert main([path, "--explain", "SCORES"]) == USAGE
    assert capsys.readouterr().err.endswith("no value 'SCORES'; it has 'scores'\n")


@pytest.mark.parametrize(
    ("typed", "said"), [("--bidn", "; do you mean --bind?"), ("--boundz=N=4..", "; do you mean --bounds?"), ("-q", "")]
)
def test_an_unknown_option_brings_the_one_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: str, said: str
) -> None:
    with pytest.raises(SystemExit):
        main([saved(tmp_path, GOOD), typed])
    assert capsys.readouterr().err.endswith(f"error: unrecognized arguments: {typed}{said}\n")


def test_bind_evaluates_expressions_over_the_symbol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GOOD.replace("float[N, H] y", 'float["N", H] y, float["2*N + K"] w')
    assert main([saved(tmp_path, text), "--bind", "N=4", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["values"]["w"]["shape"] == ["K + 8"]


def test_explain_goes_back_to_the_node_that_begins_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 10, opset_import: ["": 20, "com.acme": 1]>
    g (float[N, H] x) => (float[A, B] z) { y = com.acme.Mystery(x)  z = Add(y, x) }"""
    assert main([saved(tmp_path, text), "--explain", "y"]) == OK
    out = capsys.readouterr().out
    assert "com.acme::Mystery" in out
    assert "unsupported operator com.acme::Mystery" in out
    assert "x: f32[N, H]" in out


def test_errors_of_the_model_give_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([saved(tmp_path, BAD)]) == MODEL_ERRORS
    assert "3 and 4" in capsys.readouterr().out


def test_strict_policy_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([saved(tmp_path, BAD), "--policy", "strict"]) == MODEL_ERRORS
    assert "3 and 4" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"this is no protobuf message at all", b"\x08\x07"])
def test_what_is_no_model_gives_exit_code_2(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert main([str(path)]) == USAGE
    assert "not an ONNX model" in capsys.readouterr().err


def test_missing_file_gives_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "absent.onnx")]) == USAGE
    assert "absent.onnx" in capsys.readouterr().err


def test_an_unknown_symbol_in_bind_lists_those_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([saved(tmp_path, GOOD), "--bind", "Q=3"]) == USAGE
    assert capsys.readouterr().err == "onnx-infer: --bind: the model has no symbol 'Q'; its symbols are 'H', 'N'\n"


@pytest.mark.parametrize("options", [["--bounds", "Q=1..3"], ["--assume", "Q % 2 == 0"]])
def test_so_does_one_in_bounds_and_assumptions(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([saved(tmp_path, GOOD), *options]) == USAGE
    said = f"onnx-infer: {options[0]}: the model has no symbol 'Q'; its symbols are 'A', 'B', 'H', 'N'\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    "options",
    [["--bind", "Q=3"], ["--explain", "absent"]],
    ids=["unknown symbol", "unknown value"],
)
def test_names_that_the_model_lacks_give_exit_code_2(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([saved(tmp_path, GOOD), *options]) == USAGE
    assert options[1].partition("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--bind", "N"],
        ["--policy", "wild"],
        ["--demo", "model.onnx"],
        ["m.onnx", "--bind", "N=1", "--bind", "N=2"],
        ["m.onnx", "--rename", "N"],
        ["m.onnx", "--rename", "N=a", "--rename", "N=b"],
        ["m.onnx", "--bounds", "N=1..2", "--bounds", "N=1..3"],
        ["--demo", "--in-place"],
        ["-", "--in-place"],
        ["m.onnx", "--copy-data"],
        ["m.onnx", "-o", "n.onnx", "--in-place"],
        ["m.onnx", "--emit", "pascal"],
        ["m.onnx", "--json", "--dialect", "jax"],
        ["m.onnx", "--dynamic", "x:0=N", "--html", "m.html"],
        ["m.onnx", "--dynamic", "x:0=N", "--fold", "-o", "n.onnx"],
        ["m.onnx", "--bounds", "N=1"],
        ["m.onnx", "--bounds", "N=one..2"],
        ["m.onnx", "--value", "shape"],
        ["m.onnx", "--value", "shape={}"],
    ],
    ids=" ".join,
)
def test_wrong_calls_give_exit_code_2(options: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(options)
    assert stop.value.code == USAGE


CLAIM = """<ir_version: 10, opset_import: ["": 20]>
g (float[?, 6] x, bool[M] c, int64[2] s) => (float[M] a, float[A, B] y) <int64[2] s = {3, -1}> {
    a = Compress (x, c)  y = Reshape (x, s) }"""


@pytest.mark.parametrize(
    ("options", "a", "y"),
    [
        (["--initializers", "constant"], ["_d0"], [3, "2*x_dim_0"]),
        (["--initializers", "constant", "--bind", "x_dim_0=4"], ["_d0"], [3, 8]),
        (["--initializers", "constant", "--assume-declared"], ["M"], [3, "2*x_dim_0"]),
        ([], ["_d0"], ["A", "B"]),
    ],
)
def test_declared_types_axes_and_initializers(
    options: list[str], a: object, y: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([saved(tmp_path, CLAIM), "--json", *options]) == OK
    values = json.loads(capsys.readouterr().out)["values"]
    assert (values["a"]["shape"], values["y"]["shape"]) == (a, y)


# -- the page and the help --------------------------------------------------------------------------------------------


def test_the_page_is_current() -> None:
    assert PATH.read_text("utf-8") == page(), "run python -m tests.onnx_infer.command_page"


def test_every_option_has_an_example() -> None:
    options = {name_of(action) for action in command_parser()._actions}
    without = sorted(options - EXAMPLES.keys())
    assert not without, f"{without}: give each an example in EXAMPLES of tests/onnx_infer/command_page.py"
    gone = sorted(EXAMPLES.keys() - options)
    assert not gone, f"{gone}: the command has no such option; take its example out of EXAMPLES"


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
