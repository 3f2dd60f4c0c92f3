"""The command line: --costs, --memory, --max-memory and --diff."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import onnx
import onnx.parser
import pytest

from onnx_infer import infer
from onnx_infer.__main__ import main
from onnx_infer.tools.cli.arguments import MODEL_ERRORS, OK, USAGE
from onnx_infer.tools.planning.costs import layer_of

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """<ir_version: 10, opset_import: ["": 20]>
g (float[N, 3, H, 32] x, float[8, 3, 4, 4] w) => (y, s) <int64[3] shape = {0, 8, -1}> {
    a = Conv<strides=[4, 4]>(x, w)
    b = Reshape(a, shape)
    c = Transpose<perm=[0, 2, 1]>(b)
    y = MatMul(c, b)
    s = StringNormalizer(words)
}"""

NAMES = ("stem/conv", "blocks/block.0/flat", "blocks/block.1/flat", "blocks/block.1/mix")


@pytest.fixture
def path(tmp_path: Path) -> str:
    model = onnx.parser.parse_model(TEXT)
    for node, name in zip(model.graph.node, NAMES, strict=False):
        node.name = name
    model.graph.input.append(onnx.helper.make_tensor_value_info("words", onnx.TensorProto.STRING, ["W"]))
    onnx.save(model, tmp_path / "model.onnx")
    return str(tmp_path / "model.onnx")


def test_costs_by_layer_and_node(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # the place of a cell depends on the width
    assert main([path, "--costs"]) == OK
    assert capsys.readouterr().out.splitlines() == [
        "parameters: 0",
        "multiply-adds: 512*(H//4)*N*(H//4 + 6)",
        "  counted: products in matrix products, convolutions, attention and recurrent layers, and nothing else",
        "bytes read: 384*H*N + 768*(H//4)*N + 1536",
        "bytes written: 256*(H//4)*N*(H//4 + 2)",
        "  not known:",
        "    StringNormalizer 's'",
        "",
        "layer           nodes  parameters  multiply-adds",
        "stem            1      0           3072*(H//4)*N",
        "blocks/block.0  1      0           0",
        "blocks/block.1  2      0           512*(H//4)**2*N",
        "(no layer)      1      0           0",
        "",
        "node                operator  parameters  multiply-adds",
        "blocks/block.1/mix  MatMul    0           512*(H//4)**2*N",
        "    [N, 8*(H//4), 8], [N, 8, 8*(H//4)] -> [N, 8*(H//4), 8*(H//4)]",
        "stem/conv           Conv      0           3072*(H//4)*N",
        "    [N, 3, H, 32], [8, 3, 4, 4] -> [N, 8, H//4, 8]",
        "total of 5 nodes",
        "    parameters: 0",
        "    multiply-adds: 512*(H//4)*N*(H//4 + 6)",
    ]


def test_bytes_that_move_at_sizes(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main([path, "--costs", "--bind", "N=2", "--bind", "H=32"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert "multiply-adds per byte: 1.45" in lines
    rows = [" ".join(line.split()) for line in lines]
    assert "blocks/block.1/mix MatMul 0 65.5 k 57.1% 41 kB" in rows
    assert "total of 5 nodes 0 115 k 100.0% 79.4 kB" in rows
    assert "stem 1 0 49.2 k 42.9%" in rows


def test_the_peak_and_its_node_symbolic_and_at_sizes(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path, "--memory"]) == OK
    symbolic = capsys.readouterr().out.splitlines()
    assert main([path, "--memory", "--bind", "N=2", "--bind", "H=64"]) == OK
    bound = capsys.readouterr().out.splitlines()
    assert symbolic[0].startswith("peak activation memory in bytes")
    assert any(line.endswith("at MatMul 'blocks/block.1/mix'") for line in symbolic)
    assert bound[:2] == ["peak activation memory:", "  147 kB   at MatMul 'blocks/block.1/mix'"]
    assert [line.split() for line in bound if line[:2] in ("y ", "b ", "c ")] == [
        ["y", "131", "kB"], ["b", "8.19", "kB"], ["c", "8.19", "kB"],
    ]  # fmt: skip
    assert "not counted: s" in bound


def test_the_largest_size_of_the_open_symbol(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path, "--max-memory", "1MB", "--bind", "N=2", "--bind", "W=1"]) == MODEL_ERRORS  # 's' is not counted
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == "largest H within 1 MB: 163"
    for binds, said in [
        ([], "several symbols are open: 'H', 'N', 'W'; give all but one a size by --bind"),
        (["--bind", "N=2", "--bind", "W=1", "--bind", "H=8"], "every symbol has a size already; leave one symbol open"),
    ]:
        assert main([path, "--max-memory", "1MB", *binds]) == USAGE
        assert capsys.readouterr().err == f"onnx-infer: --max-memory: {said}\n"


def test_an_arena_at_sizes(path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([path, "--arena", "--at", "N=2,H=64", "--caller-owned", "inputs,outputs", "--align", "16"]) == OK
    assert capsys.readouterr().out.splitlines() == [
        "arena: 512*(H//4)*N",
        "  3 values in 2 storages; offsets are multiples of 16",
        "",
        "bytes    lower bound  ratio  at",
        "16.4 kB  16.4 kB      1.000  N=2, H=64",
        "",
        "values at N=2, H=64, the largest first:",
        "value  bytes    offset  steps  storage",
        "a      8.19 kB  0       0..1   own",
        "b      8.19 kB  0       1..3   view of a",
        "c      8.19 kB  8192    2..3   own",
        "",
        "outside the arena:",
        "  it is a weight: shape",
        "  it is the caller's input: x, w, words",
        "  it is the caller's output: y, s",
        "",
        "order of the nodes: that of the file",
    ]
    assert main([path, "--arena"]) == OK
    assert "H=128, N=8" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--arena", "--at", "N=2"], "--at: no value for 'H'"),
        (["--arena", "--at", "N=2,H=1"], "--at: the model does not run at these sizes: Conv 'stem/conv'"),
        (["--arena", "--at", "N=2,H=64,Q=1"], "--at: the model has no symbol 'Q'"),
    ],
)
def test_wrong_options_of_an_arena(
    path: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([path, *options]) == USAGE
    assert said in capsys.readouterr().err


def test_code_with_the_plan(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path, "--emit", "js"]) == OK
    plain = capsys.readouterr().out
    assert main([path, "--emit", "js", "--arena", "--align", "32"]) == OK
    assert len(capsys.readouterr().out) > len(plain)


def test_a_plan_is_written_into_the_model(path: str, tmp_path: Path) -> None:
    target = str(tmp_path / "planned.onnx")
    assert main([path, "-o", target, "--annotate-arena", "--align", "32"]) == OK
    entries = {entry.key: entry.value for entry in onnx.load(target).metadata_props}
    assert entries["onnx_infer.arena.align"] == "32"


@pytest.mark.parametrize(
    ("options", "steps"), [(["--fold"], "0 1"), (["--dynamic", "x:1=C"], "0 1 2 3"), (["--align", "64"], "0 1 2 3")]
)
def test_the_plan_is_that_of_the_model_that_is_written(options: list[str], steps: str, tmp_path: Path) -> None:
    """Folding removes nodes, and an axis that is freed is a symbol of the plan."""
    text = """<ir_version: 10, opset_import: ["": 20]> g (float[N, 3] x) => (float[N, 3] y) {
        a = Exp(x) b = Shape(x) c = Reshape(a, b) y = Softmax(c) }"""
    source, target = str(tmp_path / "model.onnx"), str(tmp_path / "planned.onnx")
    onnx.save(onnx.parser.parse_model(text), source)
    assert main([source, *options, "-o", target, "--annotate-arena"]) == OK
    written = onnx.load(target)
    entries = {entry.key.removeprefix("onnx_infer.arena."): entry.value for entry in written.metadata_props}
    assert entries["steps"] == steps
    assert entries["size"] == str(infer(written).arena().size)


def test_whether_all_sizes_fit(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = ["--bounds", "N=1..4", "--bounds", "H=4..64", "--bind", "W=1"]
    assert main([path, "--fits", "1MB", *bounds]) == MODEL_ERRORS
    assert capsys.readouterr().out.startswith("not known whether it fits within 1 MB:")
    assert main([path, "--fits", "100KB", *bounds]) == MODEL_ERRORS
    assert capsys.readouterr().out.startswith("does not fit: ")


def test_the_differences_of_two_models(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path, "--diff", path]) == OK
    assert capsys.readouterr().out == "the two models are equal\n"
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_value = 64
    model.graph.node[2].op_type = "Identity"
    del model.graph.node[2].attribute[:]
    other = str(tmp_path / "other.onnx")
    onnx.save(model, other)
    assert main([path, "--diff", other]) == MODEL_ERRORS
    out = capsys.readouterr().out
    assert "  x: f32[N, 3, H, 32]\n     f32[N, 3, 64, 32]\n" in out
    assert "  Identity: 0 -> 1\n  Transpose: 1 -> 0\n" in out
    assert "guards:\n- H >= 4   Conv 'stem/conv': a kernel fits into the padded input\n" in out
    assert main([path, "--diff", other, "--json"]) == MODEL_ERRORS
    assert json.loads(capsys.readouterr().out)["equal"] is False


@pytest.mark.parametrize(
    "name, layer",
    [
        ("/m/layers.12/attn/MatMul", "m/layers.12"),
        ("model/conv2d_3/Conv2D", "model/conv2d_3"),
        ("/m/embeddings/Add", "m/embeddings"),
        ("Add_7", ""),
        ("", ""),
    ],
)
def test_the_layer_in_a_name(name: str, layer: str) -> None:
    assert layer_of(name) == layer


def test_the_layer_in_the_metadata_of_a_node() -> None:
    text = """<ir_version: 10, opset_import: ["": 20]> g (float[N, 1, 1] x, float[1, 3, 1] w) => (y, z) {
        , y = GRU<hidden_size=1>(x, w, w) , z = GRU<hidden_size=1>(x, w, w) }"""
    model = onnx.parser.parse_model(text)
    for node, layer in zip(model.graph.node, (3, 4), strict=True):
        scopes = f"['', 'model', 'model.layers.{layer}', 'model.layers.{layer}.act', 'gru']"
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=scopes)
    assert [layer.name for layer in infer(model).layers()] == ["model/layers.3", "model/layers.4"]


@pytest.mark.parametrize(
    "options, said",
    [
        (["--emit", "c", "-o", "x.c"], "argument --emit: prints to stdout"),
        (["--emit", "js", "--json"], "argument --emit: prints to stdout"),
        (["--emit", "c", "--memory"], "argument --emit: not together with --memory, which prints something else"),
        (["--diff", "b.onnx", "--max-memory", "1GB"], "argument --diff: not together with --max-memory"),
        (["--explain", "y", "--dynamic", "x:0=N"], "argument --explain: not together with --dynamic"),
        (["--arena", "--explain", "y"], "argument --explain: not together with --arena, which prints something else"),
        (["--align", "16"], "argument --align: needs --arena or --annotate-arena"),
        (["--annotate-arena"], "argument --annotate-arena: needs -o or --in-place"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=str(USAGE)):
        main(["model.onnx", *options])
    usage, error = capsys.readouterr().err.splitlines()
    assert usage == "usage: onnx-infer [OPTION ...] FILE"  # one line, so the error is seen
    assert error.startswith(f"onnx-infer: error: {said}")
