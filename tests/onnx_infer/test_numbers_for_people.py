"""What a person reads of a model: units, counts that agree, equal lines once, and sizes back to the inputs."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.tools.report.layout import readable_bytes, readable_count, share

from .texts import parsed

LAYERS = 4


def layered(sizes: str, targets: str) -> onnx.ModelProto:
    """Layers with one Reshape each, named as an exporter names them."""
    lines = [f"r{i} = Reshape (x{i}, target)  x{i + 1} = Relu (r{i})" for i in range(LAYERS)]
    model = parsed(f"g (float[{sizes}] x0) => (x{LAYERS}) <int64[3] target = {{{targets}}}> {{ {' '.join(lines)} }}")
    for i, node in enumerate(model.graph.node):
        node.name = f"/model/layers.{i // 2}/{node.op_type}"
    return model


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    return str(tmp_path / "model.onnx")


def test_units_change_where_three_digits_do() -> None:
    assert [readable_bytes(x) for x in (0, 999, 1000, 999_499, 999_500, 10**18, 10**21)] == [
        *("0 B", "999 B", "1 kB", "999 kB", "1 MB", "1 EB", "1e+03 EB"),
    ]
    assert (readable_count(1000), readable_count(12)) == ("1 k", "12")
    assert (share(1, 1000), share(None, 3), share(1, 0)) == ("0.1%", "", "")


def test_several_symbols_are_bound_at_once(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(parsed("g (float[N, H] x) => (y) { y = Relu (x) }"), saved)
    assert main([saved, "--bind", "N=2,H=max(M, 3)"]) == 0
    assert "  y  f32[2, max(M, 3)]" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([saved, "--bind", "N=2,H=3", "--bind", "N=4"])
    assert "argument --bind: given twice: N" in capsys.readouterr().err


def test_the_last_lines_count_the_errors_of_the_first(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    adds = "  ".join(f"y{i} = Add (x, w)" for i in range(12))
    onnx.save(parsed(f"g (float[N, 3] x, float[4] w) => (y0) {{ {adds} }}"), saved)
    assert main([saved]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("12 errors; 14 values: ") for line in lines)
    place = lines.index("12 errors:")
    assert lines[place + 1].endswith("(and 11 more nodes alike)")


def test_equal_changes_are_one_line(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(layered("1, 6, 2", "1, 6, 2"), saved)
    assert main([saved, "--dynamic", "x0:0=batch", "--full"]) == 1
    out = capsys.readouterr().out
    assert f"'/model/layers.0/Reshape': operand 'target': 1 at index 0 becomes 0 (the same in {LAYERS} layers)" in out
    assert "layers.1/Reshape'" not in out.partition("required")[0]


ATTENTION = """g (float[batch, seq, 8] x, float[batch, past, 8] cache) => (weights) <int64[4] split = {0, 0, 2, 4}> {
    keys = Concat <axis = 1> (cache, x)   heads = Reshape (keys, split)
    k = Transpose <perm = [0, 2, 3, 1]> (heads)   scores = Relu (k)   weights = Softmax (scores) }"""


def test_an_exact_size_is_explained_back_to_the_inputs() -> None:
    assert infer(parsed(ATTENTION)).explain("weights").splitlines() == [
        "weights: f32[batch, 2, 4, past + seq]",
        "  Softmax of",
        "    scores: f32[batch, 2, 4, past + seq]",
        "keys: f32[batch, past + seq, 8]",
        "  computes past + seq",
        "  Concat of",
        "    cache: f32[batch, past, 8]",
        "    x: f32[batch, seq, 8]",
        "cache: f32[batch, past, 8]",
        "  given: a graph input or an initializer",
        "x: f32[batch, seq, 8]",
        "  given: a graph input or an initializer",
    ]


def test_the_sizes_of_a_node_with_an_error_are_explained() -> None:
    text = """g (float[2, seq, 8] x, float[2, past, 8] cache) => (y) {
        keys = Concat <axis = 1> (cache, x)  t = Transpose <perm = [0, 2, 1]> (keys)  y = MatMul (t, x) }"""
    lines = infer(parsed(text)).explain("y").splitlines()
    assert lines[0] == "y: f32[2, 8, 8]"
    assert lines[1].startswith("  error: MatMul ")
    assert lines[lines.index("keys: f32[2, past + seq, 8]") + 1] == "  computes past + seq"


def test_a_size_is_followed_through_elements() -> None:
    model = parsed("""g (float[N, H] x, float[M] w) => (y) {
        s = Shape (x)  t = Shape (w)  u = Concat <axis = 0> (t, s)  v = Neg (u)  r = Abs (v)  y = Expand (w, r) }""")
    result = infer(model)
    names = [line.partition(":")[0] for line in result.explain("u").splitlines() if not line.startswith(" ")]
    assert names == ["u", "w", "x"]
    model = parsed("g (float[N, H] x) => (y) { s = Shape (x)  y = ConstantOfShape (s) }")
    names = [line.partition(":")[0] for line in infer(model).explain("y").splitlines() if not line.startswith(" ")]
    assert names == ["y", "x"]


def test_costs_have_shapes_shares_and_a_total(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(parsed("g (float[N, 8] x, float[8, 24] w) => (z) { y = MatMul (x, w)  z = Relu (y) }"), saved)
    assert main([saved, "--costs", "--bind", "N=1000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["multiply-adds: 192 k", "  counted:"]
    place = next(i for i, line in enumerate(lines) if line.startswith("node "))
    assert lines[place].split() == ["node", "operator", "parameters", "multiply-adds", "share", "bytes", "moved"]
    assert lines[place + 1].split()[:6] == ["y", "MatMul", "0", "192", "k", "100.0%"]
    assert lines[place + 2] == "    [1000, 8], [8, 24] -> [1000, 24]"
    assert lines[place + 3].startswith("total of 2 nodes")


def test_costs_have_shapes_in_json(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(
        parsed("""g (float[N, 8] x, float high, float[8, 24] w, float u) => (c) {
        y = MatMul (x, w)  z = Made (y)  c = Clip (z, , high)  d = Clip (y, , high) }"""),
        saved,
    )
    assert main([saved, "--costs", "--json"]) == 0
    nodes = json.loads(capsys.readouterr().out)["costs"]["nodes"]
    assert [(node["operator"], node["input_shapes"], node["output_shapes"]) for node in nodes] == [
        ("MatMul", [["N", 8], [8, 24]], [["N", 24]]),
        ("Made", [["N", 24]], [None]),
        ("Clip", [None, None, []], [None]),
        ("Clip", [["N", 24], None, []], [["N", 24]]),
    ]


def test_a_layer_of_uncounted_values_has_no_bytes(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = parsed(
        "g (float[2] x, string[W] words) => (s, e) { s = StringNormalizer (words)  y = Neg (x)  e = Abs (y) }"
    )
    for node, name in zip(model.graph.node, ("words/norm", "counted/neg", "counted/abs"), strict=True):
        node.name = name
    onnx.save(model, saved)
    assert main([saved, "--memory"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["words", "1", "-", "-"] in rows
    assert ["counted", "2", "16", "B", "16", "B"] in rows
    assert [layer.not_counted for layer in infer(model).layers()] == [1, 0]


def test_memory_has_units_and_json_has_bytes(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(parsed("g (float[N, 1000] x) => (z) { y = Neg (x)  z = Relu (y) }"), saved)
    assert main([saved, "--memory", "--bind", "N=1000"]) == 0
    out = capsys.readouterr().out
    assert "  8 MB   at Relu 'z'" in out
    assert "total: 12 MB = 8 MB activations + 4 MB inputs + 0 B constants" in out
    assert main([saved, "--memory", "--json", "--bind", "N=1000"]) == 0
    assert '"bytes": 8000000' in capsys.readouterr().out
