"""The command line's files: where models are read and written, external data, pipes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper, numpy_helper

from onnx_infer.__main__ import main
from onnx_infer.protobuf.files import tensors
from onnx_infer.tools.cli.arguments import OK, USAGE

WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)
TEXT = """<ir_version: 10, opset_import: ["": 20]> g (float[N, H] x) => (float[A, B] y) { y = Relu (x) }"""


def with_external_data(folder: Path, location: str = "w.bin") -> Path:
    """A model whose weights lie in another file; it has another such tensor in the branches of an If."""
    (folder / location).parent.mkdir(parents=True, exist_ok=True)
    weights = numpy_helper.from_array(WEIGHTS, "w")
    branch = helper.make_graph(
        [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(WEIGHTS, "c"))],
        "branch",
        [],
        [helper.make_tensor_value_info("c", 1, [3, 4])],
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"]),
        helper.make_node("If", ["b"], ["z"], then_branch=branch, else_branch=branch),
    ]
    inputs = [helper.make_tensor_value_info("x", 1, ["N", 3]), helper.make_tensor_value_info("b", 9, [])]
    outputs = [helper.make_tensor_value_info(name, 1, ["A", "B"]) for name in "yz"]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    path = folder / "model.onnx"
    onnx.save_model(
        model, path, save_as_external_data=True, location=location, size_threshold=0, convert_attribute=True
    )
    return path


def saved(folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return path


def sizes(path: Path) -> list[str]:
    model = onnx.load(path, load_external_data=False)
    return [d.dim_param or d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim]


def is_loaded(path: Path) -> bool:
    """Whether onnx finds all weights of a model."""
    model = onnx.load(path)
    inner = model.graph.node[1].attribute[0].g.node[0].attribute[0].t
    tensors = [model.graph.initializer[0], inner]
    return all(np.array_equal(numpy_helper.to_array(tensor), WEIGHTS) for tensor in tensors)


def test_data_outside_of_the_new_folder_are_no_silent_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = with_external_data(tmp_path / "a")
    (tmp_path / "b").mkdir()
    assert main([str(model), "-o", str(tmp_path / "b" / "out.onnx")]) == USAGE
    assert "--copy-data" in capsys.readouterr().err
    assert not list((tmp_path / "b").iterdir())


@pytest.mark.parametrize("location", ["w.bin", "data/w.bin"])
def test_copied_data_are_found(tmp_path: Path, location: str) -> None:
    model, out = with_external_data(tmp_path / "a", location), tmp_path / "b" / "out.onnx"
    out.parent.mkdir()
    assert main([str(model), "-o", str(out), "--copy-data"]) == OK
    assert main([str(model), "-o", str(out), "--copy-data"]) == OK  # the same file is there: nothing to do
    assert is_loaded(out)
    assert (out.parent / location).exists()


def test_copying_writes_over_no_other_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = with_external_data(tmp_path / "a"), tmp_path / "b" / "out.onnx"
    out.parent.mkdir()
    (out.parent / "w.bin").write_bytes(b"weights of another model")
    assert main([str(model), "-o", str(out), "--copy-data"]) == USAGE
    assert "w.bin" in capsys.readouterr().err
    assert (out.parent / "w.bin").read_bytes() == b"weights of another model"
    assert not out.exists()


@pytest.mark.parametrize(
    "options, said",
    [
        (("-o", "w.bin"), "w.bin: is a file of the model's external data, which would be lost"),
        (("-o", "b/w.bin", "--copy-data"), "b/w.bin: is a file of the model's external data"),
        (("--html", "w.bin"), "w.bin: is a file of the model's external data"),
        (("--html", "b/../model.onnx"), "model.onnx: is given twice"),
        (("-o", "out", "--html", "out"), "out: is given twice"),
        (("-o", "other.onnx", "--diff", "other.onnx"), "other.onnx: is given twice"),
        (("--in-place", "--html", "model.onnx"), "model.onnx: is given twice"),
    ],
)
def test_no_file_of_a_call_is_lost(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    said: str,
) -> None:
    model = with_external_data(tmp_path)
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.onnx").write_bytes(model.read_bytes())
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert main(["model.onnx", *options]) == USAGE
    assert said in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_target_that_is_the_input_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As with other tools, -o may name the input. Then the last line says so."""
    model = saved(tmp_path)
    (tmp_path / "link.onnx").symlink_to(model)
    assert main([str(tmp_path / "link.onnx"), "-o", str(model)]) == OK
    assert capsys.readouterr().out.splitlines()[-1] == f"written: {model} (the model that was read)"
    assert sizes(model) == ["N", "H"]


def test_data_below_the_new_folder_are_linked(tmp_path: Path) -> None:
    model, out = with_external_data(tmp_path / "a"), tmp_path / "out.onnx"
    assert main([str(model), "-o", str(out)]) == OK
    assert is_loaded(out)
    assert not (tmp_path / "w.bin").exists()


def test_in_the_same_folder_and_in_place_data_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_external_data(tmp_path / "a")
    assert main([str(model), "-o", str(model.with_name("out.onnx"))]) == OK
    monkeypatch.chdir(model.parent)
    assert main(["model.onnx", "--in-place"]) == OK
    assert is_loaded(model)
    assert is_loaded(model.with_name("out.onnx"))
    assert sizes(model) == ["N", 4]


def test_a_model_of_more_than_2_gb_goes_in_and_out_by_path(tmp_path: Path) -> None:
    model = with_external_data(tmp_path / "a")
    os.truncate(tmp_path / "a" / "w.bin", 3 << 30)  # a hole: it takes no room
    proto = onnx.load(model, load_external_data=False)
    big = proto.graph.initializer.add(name="big", dims=[3 << 28], data_type=1, data_location=1)
    for key, value in (("location", "w.bin"), ("offset", "0"), ("length", str(3 << 30))):
        big.external_data.add(key=key, value=value)
    onnx.save(proto, model)
    out = tmp_path / "out.onnx"
    assert main([str(model), "-o", str(out)]) == OK
    assert out.stat().st_size < 10_000
    assert {entry.value for t in onnx.load(out, load_external_data=False).graph.initializer
            for entry in t.external_data if entry.key == "location"} == {"a/w.bin"}  # fmt: skip


@pytest.mark.parametrize("target", ["absent/x.onnx", ".", "model.onnx/x.onnx"])
def test_a_target_that_cannot_be_written_is_told_in_one_line(
    tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(saved(tmp_path)), "-o", str(tmp_path / target)]) == USAGE
    err = capsys.readouterr().err
    assert err.startswith("onnx-infer: ")
    assert err.count("\n") == 1


def test_a_failed_write_names_the_file_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And not the file under another name that is renamed at the end."""

    def full(path: str, _: str) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(os, "replace", full)
    assert main([str(saved(tmp_path)), "-o", str(tmp_path / "out.onnx")]) == USAGE
    assert capsys.readouterr().err == f"onnx-infer: {tmp_path / 'out.onnx'}: No space left on device\n"


def test_a_directory_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == USAGE
    assert capsys.readouterr().err == f"onnx-infer: {tmp_path}: has no .onnx file, so nothing was checked\n"


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path)
    before = path.read_bytes()

    def full(path: str, _: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert main([str(path), "--in-place"]) == USAGE
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.onnx"]


def test_a_symbolic_link_and_the_mode_of_a_file_stay(tmp_path: Path) -> None:
    path, link = saved(tmp_path), tmp_path / "link.onnx"
    path.chmod(0o600)
    link.symlink_to(path)
    assert main([str(link), "--in-place"]) == OK
    assert link.is_symlink()
    assert sizes(path) == ["N", "H"]
    assert path.stat().st_mode & 0o777 == 0o600


class Pipe(io.StringIO):
    """A standard stream over bytes."""

    def __init__(self, content: bytes = b"") -> None:
        super().__init__()
        self.buffer = io.BytesIO(content)


def test_standard_input_and_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = Pipe()
    monkeypatch.setattr(sys, "stdin", Pipe(saved(tmp_path).read_bytes()))
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["-", "-o", "-"]) == OK
    model = onnx.load_model_from_string(out.buffer.getvalue())
    assert [d.dim_param for d in model.graph.output[0].type.tensor_type.shape.dim] == ["N", "H"]
    assert out.getvalue() == ""
    assert "2 values: 2 exact" in capsys.readouterr().err  # the report makes way for the model


def test_no_model_in_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", Pipe(b"this is no protobuf message"))
    assert main(["-"]) == USAGE
    assert "standard input: not an ONNX model" in capsys.readouterr().err


def call(options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m onnx_infer model.onnx {options}"
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder, env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    saved(tmp_path)
    done = call("--json | true", tmp_path)
    assert (done.returncode, done.stderr) == (OK, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is full")
def test_standard_output_that_is_full_is_told_in_one_line(tmp_path: Path) -> None:
    saved(tmp_path)
    done = call("> /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (USAGE, "onnx-infer: standard output: No space left on device\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_named_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert main([str(saved(tmp_path)), "-o", str(pipe)]) == OK
    reader.join(10)
    assert onnx.load_model_from_string(found[0]).graph.output[0].name == "y"
    assert pipe.is_fifo()


def test_external_data_may_be_in_any_tensor() -> None:
    def tensor(name: str, *numbers: int, kind: int = 1) -> onnx.TensorProto:
        return helper.make_tensor(name, kind, [len(numbers)], numbers)

    lists = helper.make_node("Odd", [], ["a"], domain="com.acme", held=[tensor("first", 1), tensor("second", 2)])
    inner = [helper.make_graph([lists], "g1", [], []), helper.make_graph([], "g2", [], [], [tensor("third", 3)])]
    node = helper.make_node("Odd", [], ["b"], domain="com.acme", bodies=inner, held=tensor("fourth", 4))
    sparse = helper.make_sparse_tensor(tensor("values", 5), tensor("places", 0, kind=7), [3])
    model = helper.make_model(helper.make_graph([node], "g", [], [], sparse_initializer=[sparse]))
    assert sorted(t.name for t in tensors(model)) == ["first", "fourth", "places", "second", "third", "values"]


def test_input_shapes_and_symbols_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[N, 3, H, W] x, int64[1] k) => (y, best) {
            y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (x)  best, i = TopK (x, k) }"""
    path = str(tmp_path / "m.onnx")
    onnx.save(onnx.parser.parse_model(text), path)
    for given, shown in [
        (["--input-shape", "x:4,3,32*h,?"], "y  f32[4, 3, 16*h, W//2]"),
        (["--bind", "H=32*h", "--bind", "N=4"], "y  f32[4, 3, 16*h, W//2]"),
        (["--assume", "k[0] == W//2"], "best  f32[N, 3, H, W//2]"),
        (["--bounds", "k[0]=1..8"], "best  f32[N, 3, H, k[0]]"),
        (["--input-shape", "x:4,3,32*h,?", "--fold", "-o", str(tmp_path / "o.onnx")], "folded "),
    ]:
        assert main([path, *given]) == OK
        assert shown in capsys.readouterr().out.replace("     f32", "  f32")
    assert [d.dim_value for d in onnx.load(tmp_path / "o.onnx").graph.input[0].type.tensor_type.shape.dim[:2]] == [4, 3]
    for given, told in [
        (["--input-shape", "xx:1"], "--input-shape: 'xx' is not an input of the graph; do you mean 'x'?"),
        (["--input-shape", "x:1,3"], "--input-shape: 'x' has the rank 4 in the model"),
        (["--assume", "kk[0] == 1"], "--assume: 'kk' is not an input of the graph; do you mean 'k'?"),
        (["--bind", "H=(("], "--bind: unexpected end: expected an operand"),
        (["--bind", "Q=4"], "--bind: the model has no symbol 'Q'"),
    ]:
        assert main([path, *given]) == USAGE
        assert told in capsys.readouterr().err
