"""How a call ends: exit codes on demand, counts, what to type next; folding with its table and check."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest

from onnx_infer.__main__ import main
from onnx_infer.tools.cli import folding
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, USAGE
from onnx_infer.tools.cli.terminal import is_coloured

HEAD = '<ir_version: 8, opset_import: ["": 17]>'
STATIC = f"{HEAD} g (float[1, 3, 8, 8] images, float[1, 8] state) => (float[1, 3, 8, 8] y) {{ y = Neg (images) }}"
SPLIT = f"""{HEAD} g (float[N, S, 8] x) => (float[N, 2, S, 4] y)
    <int64 zero = {{0}}, int64[1] front = {{0}}, int64[1] rest = {{-1}},
    int64[2] heads = {{2, 4}}> {{
    s = Shape (x) n = Gather (s, zero) n1 = Unsqueeze (n, front) t = Concat <axis = 0> (n1, rest, heads)
    r = Reshape (x, t) y = Transpose <perm = [0, 2, 1, 3]> (r) }}"""


@pytest.fixture
def saved(tmp_path: Path):  # type: ignore[no-untyped-def]
    def save(text: str, name: str = "model") -> str:
        onnx.save(onnx.parser.parse_model(text), path := tmp_path / f"{name}.onnx")
        return str(path)

    return save


def test_a_gate_for_unknown_values_and_for_guards(saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    path = saved(f"{HEAD} g (float[N] x, float[M] z) => (y, w) {{ y = NonZero (x) w = Add (x, z) }}")
    assert main([path]) == OK
    capsys.readouterr()
    assert main([path, "--fail-on", "unknown", "--fail-on", "guards"]) == MODEL_ERRORS
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == [
        "error (--fail-on unknown): 1 of 4 values are not exact",
        "",
        "error (--fail-on guards): the model requires N == M or 1 in (N, M)",
    ]
    assert main([path, "--json", "--fail-on", "unknown"]) == MODEL_ERRORS
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts == {"values": 4, "exact": 3, "data-dependent": 1, "unknown": 0, "errors": 0, "warnings": 0}
    assert main([saved(STATIC), "--fail-on", "unknown", "--fail-on", "guards"]) == OK


def test_a_static_model_is_told_of_dynamic(saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    path = saved(STATIC)
    for options in (["--bind", "batch=8"], ["--max-memory", "1GB"]):
        assert main([path, *options]) == USAGE
        told = capsys.readouterr().err
        assert "all its sizes are numbers; --dynamic images:0=batch in the same call makes a symbol" in told
    assert main([path, "--dynamic", "*:0=batch", "--apply", "--memory", "--bind", "batch=8"]) == OK
    told = capsys.readouterr().out
    assert "images axis 0 -> batch (was 1), state axis 0 -> batch (was 1)" in told
    assert "total: 12.5 kB = 6.14 kB activations + 6.4 kB inputs + 0 B constants" in told
    assert main([path, "--dynamic", "*:0=batch", "--bind", "batch=8"]) == USAGE
    assert "--memory, --costs or --max-memory use it" in capsys.readouterr().err
    assert main([path, "--dynamic", "*:7=batch"]) == USAGE
    assert "no input has a number at axis 7" in capsys.readouterr().err


def test_memory_of_open_symbols_says_how_to_get_numbers(saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    assert main([saved(SPLIT), "--memory"]) == OK
    assert "total: symbolic; add --bind N=SIZE,S=SIZE to evaluate it" in capsys.readouterr().out


def test_plans_of_a_run_that_fails_say_so(saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    path = saved(f"{HEAD} g (float[N, S] x, float[N, 64] table) => (y) {{ y = Add (x, table) }}")
    for option in ("--memory", "--costs"):
        assert main([path, option, "--bind", "S=128"]) == MODEL_ERRORS
        lines = capsys.readouterr().out.splitlines()
        assert lines[-4:] == [
            "1 error:",
            "  Add (opset 14) 'y': sizes do not broadcast: 128 and 64",
            "  next: --explain y",
            "  the model fails at the sizes of the numbers above",
        ]


def test_folding_prints_what_became_smaller_and_checks_it(saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    path = saved(SPLIT)
    out = str(Path(path).with_name("small.onnx"))
    assert main([path, "--fold", "-o", out, "--check"]) == OK
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("folded                          before  after")
    assert lines[start + 1 : start + 6] == [
        "Concat                               1      0",
        "Gather                               1      0",
        "Shape                                1      0",
        "Unsqueeze                            1      0",
        "all nodes                            6      2",
    ]
    assert "checked: 3 runs of both models in onnxruntime, all outputs are equal bit for bit" in lines


def test_a_folded_model_is_checked_at_sizes_within_bounds(saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    path = saved(SPLIT)
    out = str(Path(path).with_name("small.onnx"))
    assert main([path, "--fold", "-o", out, "--check", "--bounds", "N=1..4"]) == OK
    assert ", all outputs are equal bit for bit" in capsys.readouterr().out


def test_a_folded_model_that_differs_is_an_error(saved, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    other = onnx.parser.parse_model(STATIC.replace("Neg", "Abs"))
    monkeypatch.setattr(folding, "fold", lambda model, **facts: other)
    path = saved(STATIC)
    assert main([path, "--fold", "-o", str(Path(path).with_name("small.onnx")), "--check"]) == MODEL_ERRORS
    assert "error: at its sizes, the outputs 'y' of the two models differ" in capsys.readouterr().out


def test_a_check_needs_two_files(saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    path = saved(STATIC)
    with pytest.raises(SystemExit):
        main([path, "--fold", "--in-place", "--check"])
    assert "--check: needs a model in a file, and another file by -o" in capsys.readouterr().err


def test_a_fleet_names_the_models_that_are_not_ok(tmp_path: Path, saved, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    saved(f"{HEAD} g (float[2, 3] x, float[4, 5] w) => (y) {{ y = MatMul (x, w) }}", "broken")
    saved(STATIC, "good")
    (tmp_path / "damaged.onnx").write_bytes(b"no model")
    (tmp_path / "empty.onnx").write_bytes(b"")  # protobuf reads it
    out = str(tmp_path / "out.jsonl")
    assert main([str(tmp_path), "--json-lines", out]) == MODEL_ERRORS
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 models: 1 with errors, 1 ok, 2 no model"
    assert lines[1].startswith("  errors: ")
    assert lines[1].endswith("broken.onnx: MatMul (opset 13) 'y': inner sizes of the product differ: 3 != 4")
    assert lines[2].startswith("  no model: ")
    assert lines[3].endswith("empty.onnx: not an ONNX model (it has no graph)")
    assert main([str(tmp_path), "--json-lines", out]) == MODEL_ERRORS
    assert "results were taken from" in capsys.readouterr().out


def test_colours_are_forced_or_forbidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    with open(tmp_path / "log", "w") as file:
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert is_coloured(file)
        monkeypatch.setenv("NO_COLOR", "1")
        assert not is_coloured(file)
