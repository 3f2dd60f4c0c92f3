"""Ways to call `fold`: the command line, bytes and paths, the pass for onnx_ir."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from onnx_infer import NoModelError, fold
from onnx_infer.__main__ import main
from onnx_infer.integrations.onnx_ir_folding import FoldPass
from onnx_infer.tools.cli.arguments import OK
from tests.fuzz.damage import Damage

from .folding import compare, model_of, operators
from .test_damage import small
from .test_fold_branches import LOOP, RANK

TEXT = """(float[N, S, 8] x) => (float[A, B, 2, 4] y) <int64[2] h = {2, 4}> {
    s = Shape<end=2>(x) t = Concat<axis=0>(s, h) y = Reshape(x, t)}"""


def saved(folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(model_of(TEXT), path)
    return path


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = saved(tmp_path), tmp_path / "out.onnx"
    assert main([str(path), "--fold", "-o", str(out)]) == OK
    assert "all nodes                            3      1\n" in capsys.readouterr().out
    model, found = onnx.load(path), onnx.load(out)
    assert operators(found) == "Reshape"
    assert found.graph.output == model.graph.output
    compare(model, found, (0, 1, 3))
    assert main([str(path), "--fold", "--keep-guards", "--in-place"]) == OK
    assert operators(onnx.load(path)) == "Reshape"


@pytest.mark.parametrize("options", [["--fold"], ["--keep-guards", "-o", "out.onnx"]])
def test_calls_that_are_wrong(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["model.onnx", *options])
    assert "needs" in capsys.readouterr().err


def test_a_path_and_bytes(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert fold(path) == fold(path.read_bytes()) == fold(onnx.load(path))


def test_the_command_keeps_external_data_in_reach(tmp_path: Path) -> None:
    model = model_of(
        "(float[N, 4] x) => (float[N, 400] y) <float[4, 400] w> {s = Shape(x) r = Reshape(x, s) y = MatMul(r, w)}"
    )
    weights = np.arange(1600, dtype=np.float32).reshape(4, 400)
    model.graph.initializer.add().CopyFrom(numpy_helper.from_array(weights, "w"))
    (tmp_path / "new").mkdir()
    path, out = tmp_path / "model.onnx", tmp_path / "new" / "out.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    assert main([str(path), "--fold", "-o", str(out), "--copy-data"]) == OK
    found = onnx.load(out)
    assert operators(found) == "MatMul"
    assert np.array_equal(numpy_helper.to_array(found.graph.initializer[0]), weights)


def test_the_pass_shares_large_tensors() -> None:
    text = (
        "(float[N, 4] x) => (float[N, 400] y) <float[2] k = {1, 2}> {s = Shape(x) r = Reshape(x, s) y = MatMul(r, w)}"
    )
    proto = model_of(text.replace("MatMul(r, w)", "MatMul(r, w)"))
    proto.graph.initializer.add().CopyFrom(numpy_helper.from_array(np.ones((4, 400), np.float32), "w"))
    model = ir.from_proto(proto)
    lazy = ir.LazyTensor(never, dtype=ir.DataType.FLOAT, shape=ir.Shape([4, 400]), name="w")
    model.graph.initializers["w"].const_value = lazy
    done = FoldPass()(model)
    assert done.modified
    assert [node.op_type for node in done.model.graph] == ["MatMul"]
    assert done.model.graph.initializers["w"].const_value is lazy
    assert model.graph.initializers["w"].const_value is lazy
    assert [node.op_type for node in model.graph] == ["Shape", "Reshape", "MatMul"]
    assert not FoldPass()(done.model).modified


def never() -> ir.TensorProtocol:
    raise AssertionError("a lazy tensor was loaded")


@pytest.mark.parametrize("name", ["control", "decoder", "detector", "rank", "loop"])
def test_damaged_models_are_folded_or_left(name: str) -> None:
    given = {**small(), "rank": model_of(RANK).SerializeToString(), "loop": model_of(LOOP).SerializeToString()}[name]
    damage, read = Damage(given), 0
    for seed in range(40):
        try:
            fold(damage.draw(Random(f"{name} {seed}")))
        except NoModelError:
            continue
        read += 1
    assert read >= 10


def test_names_that_are_no_texts_are_left() -> None:
    given = model_of(TEXT).SerializeToString().replace(b"\x01t", b"\x01\xff")
    assert fold(given) == onnx.ModelProto.FromString(given)


def test_nodes_that_break_their_schema_are_left() -> None:
    model = model_of(
        "(float[N] x) => (float[N] y, z) <float v = {1}, int64 k = {0}> {y = Neg(x) z = Gather<axis=3>(v, k)}"
    )
    assert operators(fold(model)) == "Neg Gather"
    unknown = model_of(LOOP, '<ir_version: 10, opset_import: ["": 1]>')  # it has no Expand
    assert operators(fold(unknown)) == "Loop"
