"""The walk over a model: what is odd costs what is odd, and nothing else."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

from onnx_infer import InferenceResult, ShapeInferenceError, fold, infer, infer_shapes
from onnx_infer.types.merge import ShapeMergePolicy
from tests.nightly import HASH_SEEDS

from .sessions import session_of

HEAD = '<ir_version: 10, opset_import: ["": 20, "com.acme": 1]>'


def parsed(text: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f"{HEAD}\n{text}")
    for output in model.graph.output:
        if output.type.tensor_type.elem_type == TensorProto.UNDEFINED:
            output.ClearField("type")
    return model


def types(result: InferenceResult) -> dict[str, str]:
    return {name: str(value) for name, value in result.types.items()}


def errors(result: InferenceResult) -> list[str]:
    return [str(d) for d in result.diagnostics if d.severity == "error"]


# -- odd nodes --------------------------------------------------------------------------------------------------------


def test_an_unknown_operator_costs_its_results_only() -> None:
    result = infer(parsed("g (float[N] x) => (z) { y = com.acme.Odd(x)  w = com.acme.Odd(y)  z = Relu(x) }"))
    assert types(result) == {"x": "f32[N]", "y": "?[...]", "w": "?[...]", "z": "f32[N]"}
    assert [(d.severity, d.node) for d in result.diagnostics] == [("warning", "y")]


def test_what_an_unknown_operator_declares_is_believed() -> None:
    model = parsed("g (float[N] x) => (z) { y = com.acme.Odd(x)  z = Relu(y) }")
    model.graph.value_info.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, ("N", 7)))
    assert types(infer(model))["z"] == "f32[N, 7]"


# -- odd graphs -------------------------------------------------------------------------------------------------------


def test_nodes_in_any_order_give_the_same() -> None:
    model = parsed(
        "g (float[N, H] x) => (d) { a = Relu(x)  b = Transpose(a)  c = Add(b, b)  d = Concat <axis: int = 0> (c, c) }"
    )
    expected = types(infer(model))
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    assert types(infer(model)) == expected
    assert expected["d"] == "f32[2*H, N]"


@pytest.mark.parametrize("seed", range(5))
def test_constants_between_nodes_in_any_order(seed: int) -> None:
    model = parsed("""g (float[N, 6] x) => (f) { k = Constant <value: tensor = int64[2] {0, 2}> ()  a = Reshape(x, t)
        i = Constant <value: tensor = int64 {1}> ()  s = Shape(a)  n = Gather(s, i)  c = ConstantOfShape(u)
        t = Constant <value: tensor = int64[2] {-1, 3}> ()  e = Transpose(a)  u = Concat <axis: int = 0> (v, k)
        z = Constant <value: tensor = int64[1] {0}> ()  v = Unsqueeze(n, z)  f = MatMul(a, e) }""")
    nodes = list(model.graph.node)
    random.Random(seed).shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    for _ in range(3):  # known nodes are read in another way
        found = types(infer(model))
        assert (found["c"], found["f"]) == ("f32[3, 0, 2]={}", "f32[2*N, 2*N]")


def test_names_left_out_are_no_values() -> None:
    model = parsed('g (float[N, 8] x) => (y) { y, "" = Dropout(x) }')
    result = infer(model)
    assert "" not in {info.name for info in result.apply(model).graph.value_info}
    assert types(result)["y"] == "f32[N, 8]"


def test_an_empty_graph_has_no_values() -> None:
    result = infer(onnx.ModelProto(graph=onnx.GraphProto(name="g")))
    assert types(result) == {}
    assert result.diagnostics == []


def test_without_opset_imports_operators_are_the_newest() -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu(x) }")
    del model.opset_import[:]
    assert types(infer(model))["y"] == "f32[N]"


def test_a_chain_of_20000_nodes_works() -> None:
    nodes = [helper.make_node("Add", [f"v{i}", f"v{i}"], [f"v{i + 1}"]) for i in range(20_000)]
    inputs = [helper.make_tensor_value_info("v0", TensorProto.FLOAT, ["N"])]
    outputs = [helper.make_tensor_value_info("v20000", TensorProto.FLOAT, None)]
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs))
    assert types(infer(model))["v20000"] == "f32[N]"


# -- initializers -----------------------------------------------------------------------------------------------------


def reshaped(ir_version: int) -> onnx.ModelProto:
    """A Reshape whose target is an initializer that is an input as well."""
    model = parsed("g (float[6] x, int64[2] shape) => (y) { y = Reshape(x, shape) }")
    model.graph.initializer.append(helper.make_tensor("shape", TensorProto.INT64, [2], [2, 3]))
    model.ir_version = ir_version
    return model


def test_up_to_ir_3_initializers_among_the_inputs_are_constants() -> None:
    assert types(infer(reshaped(3)))["y"] == "f32[2, 3]"


def test_from_ir_4_on_the_caller_may_override_them() -> None:
    assert types(infer(reshaped(4)))["y"] != "f32[2, 3]"


def test_external_data_are_not_read() -> None:
    model = reshaped(3)
    tensor = model.graph.initializer[0]
    tensor.ClearField("int64_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="no-such-file.bin")
    result = infer(model)
    assert types(result)["y"].startswith("f32[")
    assert errors(result) == []


# -- symbols ----------------------------------------------------------------------------------------------------------


def test_a_sparse_initializer_is_read_as_a_tensor() -> None:
    model = parsed("""g (float[N, 4] x, bool c) => (y, z) { y = MatMul(x, w)
        z = If(c) <then_branch = t () => (u) { u = Neg(w) }, else_branch = e () => (v) { v = Abs(w) }> }""")
    branch = model.graph.node[1].attribute[0].g  # its own w hides the other one, until fold tells them apart
    for graph, shape in ((model.graph, (4, 5)), (branch, (2, 5))):
        values, places = helper.make_tensor("w", 1, [2], [3, 4]), helper.make_tensor("p", 7, [2], [1, 7])
        graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, shape))
    smaller = fold(model)
    for found in (model, smaller):
        result = infer(found)
        assert errors(result) == []
        assert [types(result)[name] for name in "wyz"] == ["f32[4, 5]", "f32[N, 5]", "f32[_d0, 5]"]
    session = session_of(smaller)
    for given, rows in ((True, 2), (False, 4)):
        y, z = session.run(None, {"x": np.ones((3, 4), np.float32), "c": np.array(given)})
        assert (y.shape, z.shape) == ((3, 5), (rows, 5))


def test_equal_nodes_do_not_share_a_fresh_size() -> None:
    shapes = infer(parsed("g (float[N] x, float[N] y) => (a, b) { a = NonZero(x)  b = NonZero(y) }")).shapes
    assert shapes["a"][1] is not shapes["b"][1]


@pytest.mark.parametrize("name", ["seq len", "batch-size", "a.b", "16H", "Ω", "a:b", "max", "N +"])
def test_a_declared_name_comes_back_byte_for_byte(name: str) -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    inferred = infer_shapes(model)
    assert inferred.graph.output[0].type.tensor_type.shape.dim[0].dim_param == name


def test_bounds_of_a_symbol_decide_what_depends_on_them() -> None:
    model = parsed("g (float[N] x, float[1] y) => (z) { z = Concat <axis: int = 0> (x, y) }")
    assert infer(model, bounds={"N": (3, 9)}).shapes["z"][0].bounds() == (4, 10)  # type: ignore[union-attr]


# -- declared types ---------------------------------------------------------------------------------------------------

DECLARED = [
    ("refine", ("N", 4), "f32[N, 4]"),
    ("refine", ("K", None), "f32[N, M]"),
    ("override", ("N", 4), "f32[N, M]"),
    ("skip", ("K", 4), "f32[K, 4]"),
    ("strict", ("N", 4), "f32[N, 4]"),
]


@pytest.mark.parametrize(("policy", "dims", "expected"), DECLARED)
def test_policies(policy: ShapeMergePolicy, dims: tuple[str | int | None, ...], expected: str) -> None:
    model = parsed("g (float[N, M] x) => (z) { y = Relu(x)  z = Relu(x) }")
    model.graph.value_info.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, dims))
    assert types(infer(model, policy=policy))["y"] == expected


@pytest.mark.parametrize("dims", [(3, 5), (3,)])
def test_a_contradicted_declaration_is_told_and_raises_only_when_strict(dims: tuple[int, ...]) -> None:
    model = parsed("g (float[3, 4] x) => (y) { y = Relu(x) }")
    model.graph.value_info.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, dims))
    assert [told.severity for told in infer(model).diagnostics] == ["warning"]
    assert not infer(model, policy="override").diagnostics
    with pytest.raises(ShapeInferenceError, match="declared"):
        infer(model, policy="strict")


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="'wild' is none of skip, override, refine, strict"):
        infer(onnx.ModelProto(), policy="wild")  # type: ignore[arg-type]


# -- the call ---------------------------------------------------------------------------------------------------------


def test_a_path_bytes_and_a_model_give_the_same(tmp_path: Path) -> None:
    model = parsed("g (float[N, 3] x) => (y) { y = Transpose(x) }")
    onnx.save(model, tmp_path / "m.onnx")
    expected = infer_shapes(model)
    assert infer(tmp_path / "m.onnx").types == infer(model.SerializeToString()).types == infer(model).types
    assert infer_shapes(tmp_path / "m.onnx") == infer_shapes(str(tmp_path / "m.onnx")) == expected
    assert infer_shapes(model.SerializeToString()) == expected


def test_strict_mode_raises_the_errors_of_nodes() -> None:
    model = parsed("g (float[3] x, float[4] y) => (z) { z = Add(x, y) }")
    assert infer_shapes(model).graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    with pytest.raises(ShapeInferenceError, match=r"Add \(opset 14\)"):
        infer_shapes(model, strict_mode=True)
    with pytest.raises(onnx.shape_inference.InferenceError, match=r"Add \(opset 14\)"):
        infer_shapes(model, strict_mode=True)


def test_the_result_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from onnx_infer import infer_shapes; from tests.onnx_infer import models; import hashlib;"
        "made = [models.decoder(), models.unet(), models.windows(), models.detector()];"
        "print([hashlib.sha256(infer_shapes(m).SerializeToString(deterministic=True)).hexdigest() for m in made])"
    )
    root = Path(__file__).parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in HASH_SEEDS
    }
    assert len(outputs) == 1
