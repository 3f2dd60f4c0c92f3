"""Ways to call `fold` (command, bytes, paths, onnx_ir), and `fold` of models with functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from onnx_infer import fold
from onnx_infer.__main__ import main
from onnx_infer.integrations.onnx_ir_folding import FoldPass
from onnx_infer.tools.cli.arguments import OK

from .folding import compare, model_of, operators
from .test_fold_branches import LOOP
from .texts import parsed

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


# -- bodies of functions ----------------------------------------------------------------------------------------------


HEAD = '<ir_version: 10, opset_import: ["": 18, "own": 1]>'
FUNCTION = '<domain: "own", opset_import: ["": 18, "own": 1]>'
SAME = "same (x, w) => (y) { s = Shape(w) r = Reshape(x, s) y = Neg(r) }"
HEADS = """heads (x) => (y) { s = Shape<end=2>(x) h = Constant<value_ints=[2, 4]>() t = Concat<axis=0>(s, h)
    r = Reshape(x, t) y = Neg(r) }"""


def with_functions(graph: str, *functions: str) -> onnx.ModelProto:
    return parsed(f"g {graph} " + " ".join(f"{FUNCTION} {text}" for text in functions), HEAD)


@pytest.mark.parametrize(
    ("graph", "functions"),
    [
        pytest.param("(float[N, S, 8] x) => (float[N, S, 2, 4] y) {y = own.heads(x)}", [HEADS],
            id="sizes that a call gives"),
        pytest.param("(float[N, S] x, float[N, S] w) => (float[N, S] y, float[N, S] z)"
            " {y = own.same(x, w) z = own.same(w, x)}", [SAME], id="operands of equal shapes in both calls"),
        pytest.param("(float[N, S] x, float[S, N] w) => (float[N, S] y, float[S, N] z)"
            " {y = own.same(x, x) z = own.same(x, w)}", [SAME],
            id="operands of equal shapes in one call only"),
        pytest.param("(float[N, 8] x, float[N, 4] w) => (float[N, 8] y, float[N, 4] z) {y = own.cut(x) z = own.cut(w)}",
            ["cut (x) => (y) {n = Shape(x) e = Constant<value_ints=[8]>() o = Constant<value_ints=[0]>()"
             " a = Constant<value_ints=[1]>() r = Slice(x, o, e, a) y = Neg(r)}"], id="an end beyond both"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) <int64[2] t = {0, 8}> {y = own.by(x, t)}",
            ["by (x, t) => (y) {r = Reshape(x, t) y = Neg(r)}"], id="elements that the call gives"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y, float[N, 2, 4] z) "
            "<int64[2] t = {0, 8}, int64[3] u = {0, 2, 4}> {y = own.by(x, t) z = own.by(x, u)}",
            ["by (x, t) => (y) {r = Reshape(x, t) y = Neg(r)}"], id="elements that differ"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) {a = Exp(x) y = own.outer(a)}",
            ["inner (x) => (y) {s = Shape(x) r = Reshape(x, s) y = Neg(r)}",
             "outer (x) => (y) {a = own.inner(x) i = Identity(a) y = own.inner(i)}"],
            id="a function in a function"),
        pytest.param("(float[N, S] x) => (float[N, S] y) {y = own.must(x)}",
            ["must (x) => (y) {t = Constant<value_ints=[2, 3]>() r = Reshape(x, t) y = Neg(x)}"],
            id="a node that refuses"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) {b = Shape<end=1>(x) c = Squeeze(b) d = Cast<to=9>(c)"
            " y = If(d) <then_branch = t () => (float[N, 8] p) {p = own.heads2(x)},"
            " else_branch = e () => (float[N, 8] q) {q = Identity(x)}>}",
            ["heads2 (x) => (y) {s = Shape(x) r = Reshape(x, s) y = Neg(r)}"], id="a call in a branch"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) {y = own.flat <to = 1> (x)}",
            ["flat <to> (x) => (y) {s = Shape(x) r = Reshape(x, s) c = Cast<to: int = @to>(r) y = Neg(c)}"],
            id="a function with attributes"),
        pytest.param("(float[N, 8] x, float w) => (float[N, 8] y, float[N, 8] z) {y = own.clip(x) z = own.clip(x, w)}",
            ["clip (x, low) => (y) {i = Identity(x) y = Clip(i, low)}"],
            id="a function with an input that a call leaves out"),
    ],
)  # fmt: skip
def test_a_body_stays(graph: str, functions: list[str]) -> None:
    """The model does what it did."""
    model = with_functions(graph, *functions)
    found = fold(model)
    assert found.functions == model.functions
    onnx.checker.check_model(found)
    compare(model, found, (0, 1, 2, 4, 6))


def test_functions_that_call_each_other_stay() -> None:
    circle = "a (x) => (y) {i = Identity(x) y = own.b(i)}", "b (x) => (y) {i = Identity(x) y = own.a(i)}"
    model = with_functions("(float[N] x) => (float[N] y) {y = own.a(x)}", *circle)
    assert fold(model).functions == model.functions


def test_a_function_that_nothing_calls_stays() -> None:
    model = with_functions("(float[N] x) => (float[N] y) {y = Neg(x)}", "a (x) => (y) {i = Identity(x) y = Neg(i)}")
    assert fold(model).functions == model.functions
