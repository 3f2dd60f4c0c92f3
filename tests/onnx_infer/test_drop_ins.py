"""The calls that are named as onnx's, and symbols under other names, against onnx itself."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper, parser, shape_inference

import onnx_infer
from onnx_infer import ArgumentError, ExternalDataError, infer, infer_function_output_types, infer_shapes_path
from onnx_infer.integrations import onnx_ir as onnx_ir_calls
from onnx_infer.integrations.onnx_ir_folding import FoldKnownValuesPass
from onnx_infer.tools.fleets import lines_of
from symdim import UnboundName, Var

from .texts import parsed

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = '<ir_version: 10, opset_import: ["": 20]>'
TEXT = "g (float[N, H] x) => (float[A, B] y) { t = Concat <axis: int = 1> (x, x)  y = Relu (t) }"
FUNCTION = """<domain: "acme", opset_import: ["": 20]>
F <axis> (a, b) => (joined, shape, a) { joined = Concat <axis: int = @axis> (a, b)  shape = Shape (b) }"""


def sizes(kind: onnx.TypeProto) -> tuple[int, list[int | str]]:
    tensor = kind.tensor_type
    return tensor.elem_type, [d.dim_param or d.dim_value for d in tensor.shape.dim]


def outputs(path: Path) -> list[tuple[int, list[int | str]]]:
    return [sizes(info.type) for info in onnx.load(path, load_external_data=False).graph.output]


@pytest.mark.parametrize(
    "name", ["infer_shapes", "infer_shapes_path", "infer_node_outputs", "infer_function_output_types"]
)
def test_the_parameters_are_those_of_onnx(name: str) -> None:
    own = list(inspect.signature(getattr(onnx_infer, name)).parameters)
    there = list(inspect.signature(getattr(shape_inference, name)).parameters)
    own[0] = there[0] if name == "infer_shapes" else own[0]
    assert own[: len(there)] == there


# -- infer_shapes_path ------------------------------------------------------------------------------------------------


def test_a_file_is_inferred_into_another_or_into_itself(tmp_path: Path) -> None:
    source, target = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(parsed(TEXT, HEAD), source)
    assert infer_shapes_path(source, target) is None  # type: ignore[func-returns-value]  # as onnx's
    assert (outputs(source), outputs(target)) == ([(1, ["A", "B"])], [(1, ["N", "2*H"])])
    infer_shapes_path(str(source), bounds={"H": (1, 8)})
    assert outputs(source) == outputs(target)


def test_weights_are_linked_copied_or_the_call_is_refused(tmp_path: Path) -> None:
    model = parsed("g (float[N, 8] x) => (y) { y = MatMul (x, w) }", HEAD)
    model.graph.initializer.append(numpy_helper.from_array(np.ones((8, 4), np.float32), "w"))
    source = tmp_path / "m.onnx"
    onnx.save(model, source, save_as_external_data=True, size_threshold=0, location="w.bin")
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "m.onnx"
    with pytest.raises(ExternalDataError, match=r"w\.bin; use copy_data=True to copy it there"):
        infer_shapes_path(source, target)
    assert not target.exists()
    infer_shapes_path(source, target, copy_data=True)
    assert numpy_helper.to_array(onnx.load(target).graph.initializer[0]).sum() == 32


def test_wrong_paths_and_strict_mode(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="call infer_shapes for a model in memory"):
        infer_shapes_path(parsed(TEXT, HEAD))  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        infer_shapes_path(tmp_path / "absent.onnx")
    onnx.save(parsed("g (float[2] x, float[3] y) => (z) { z = Add (x, y) }", HEAD), tmp_path / "bad.onnx")
    before = (tmp_path / "bad.onnx").read_bytes()
    with pytest.raises(shape_inference.InferenceError):
        infer_shapes_path(tmp_path / "bad.onnx", strict_mode=True)
    assert (tmp_path / "bad.onnx").read_bytes() == before


# -- infer_function_output_types --------------------------------------------------------------------------------------

T = helper.make_tensor_type_proto(1, ["N", 3])
AXIS = helper.make_attribute("axis", 1)


@pytest.mark.parametrize(
    "types, attributes",
    [
        ([T, T], [AXIS]),
        ([T, T], [AXIS, helper.make_attribute("other", 5)]),
        ([T, helper.make_tensor_type_proto(1, ["N", 4])], [AXIS]),
        ([T, helper.make_tensor_type_proto(1, ["N", 3, 4])], [AXIS]),
        ([T, helper.make_tensor_type_proto(2, ["N", 3])], [AXIS]),
        ([T, T], []),
        ([T, T], [helper.make_attribute("axis", 5)]),
    ],
)
def test_types_of_a_function_as_onnx_has_them(
    types: list[onnx.TypeProto], attributes: list[onnx.AttributeProto]
) -> None:
    function = parser.parse_function(FUNCTION)
    try:
        expected = shape_inference.infer_function_output_types(function, types, attributes)
    except shape_inference.InferenceError:
        with pytest.raises(shape_inference.InferenceError):
            infer_function_output_types(function, types, attributes)
        return
    assert list(map(sizes, infer_function_output_types(function, types, attributes))) == list(map(sizes, expected))


def test_inputs_without_a_type_and_too_many() -> None:
    function = parser.parse_function(FUNCTION)
    for types in ([T], [T, onnx.TypeProto()]):
        joined, shape, a = infer_function_output_types(function, types, [AXIS])
        assert (sizes(joined)[0], sizes(joined)[1][0], sizes(shape)[0], sizes(a)) == (1, "N", 7, (1, ["N", 3]))
    with pytest.raises(onnx_infer.ShapeInferenceError, match="acme::F: takes 2 inputs, but 3 types are given"):
        infer_function_output_types(function, [T, T, T], [AXIS])


def test_a_function_is_read_by_its_body_and_not_by_its_name() -> None:
    text = (
        '<domain: "com.microsoft", opset_import: ["": 20]> Gelu (x) => (y, z) { y = Shape (x)  z = acme.Unknown (x) }'
    )
    y, z = infer_function_output_types(parser.parse_function(text), [T])
    assert (sizes(y), z.ByteSize()) == ((7, [2]), 0)


# -- symbols under other names ----------------------------------------------------------------------------------------

NESTED = """g (float[s0, s1] x, bool c) => (float["2*s0", s1] y) {
    t = Concat <axis: int = 0> (x, x)
    y = If (c) <then_branch = a () => (float["s0 + s0", s1] p) { p = Relu (t) },
                else_branch = b () => (q) { q = Neg (t) }>
}"""


@pytest.mark.parametrize("kind", ["ModelProto", "onnx_ir"])
def test_symbols_are_renamed_in_place_in_subgraphs_too(kind: str) -> None:
    proto = parsed(NESTED, HEAD)
    model = proto if kind == "ModelProto" else ir.from_proto(proto)
    assert onnx_infer.rename_symbols(model, {"s0": "batch", "s1": "s0"}) is model
    text = str(ir.to_proto(model) if kind == "onnx_ir" else model)
    assert '"2*batch"' in text
    assert "s1" not in text
    assert text.count('"s0"') == 3
    found = infer(ir.to_proto(model) if kind == "onnx_ir" else model)
    assert (str(found.types["y"]), found.guards) == ("f32[2*batch, s0]", [])


@pytest.mark.parametrize(
    "names, error, cure",
    [
        ({"s0": "s1"}, ArgumentError, "another symbol has this name"),
        ({"s0": "n", "s1": "n"}, ArgumentError, "another symbol has this name"),
        ({"s0": "2*n"}, ArgumentError, "does not read as a name"),
        ({"s0": ""}, ArgumentError, "does not read as a name"),
        ({"q": "n"}, UnboundName, "q"),
    ],
)
def test_names_that_do_not_do_are_refused(names: dict[str, str], error: type[Exception], cure: str) -> None:
    model = parsed(NESTED, HEAD)
    before = model.SerializeToString(deterministic=True)
    for call in (lambda: onnx_infer.rename_symbols(model, names),
                 lambda: onnx_infer.rename_symbols(ir.from_proto(model), names)):  # fmt: skip
        with pytest.raises(error, match=cure):
            call()
    assert model.SerializeToString(deterministic=True) == before
    with pytest.raises(ArgumentError, match="not GraphProto"):
        onnx_infer.rename_symbols(model.graph, {"s0": "n"})


# -- what is known becomes constants ----------------------------------------------------------------------------------


def test_known_integers_become_constants_and_nothing_else() -> None:
    text = """g (float[N, 4] x, bool c, int64[2] given) => (y, z, kept) {
        s = Shape (x)  one = Constant <value = int64[1] {1}> ()
        width = Gather (s, one)  batch = Shape <end: int = 1> (x)
        target = Concat <axis: int = 0> (batch, width, one)
        y = Reshape (x, target)
        z = If (c) <then_branch = a () => (p) { w = Add (width, width)  p = Tile (one, w) },
                    else_branch = b () => (q) { q = Identity (given) }>
        kept = Mul (width, width) }"""
    model = ir.from_proto(parsed(text, HEAD))
    fold = FoldKnownValuesPass()
    assert fold(model).modified
    constants = {n.outputs[0] for g in model.graphs() for n in g if n.op_type == "Constant"}
    assert len({c.name for c in constants}) == len(constants)
    producers = {n.op_type: n for g in model.graphs() for n in g}
    assert producers["Concat"].inputs[1] in constants  # width
    assert producers["Concat"].inputs[0] not in constants  # batch, a symbol
    assert producers["Tile"].inputs[1] in constants  # in a subgraph
    assert model.graph.outputs[2].producer().op_type == "Mul"  # type: ignore[union-attr]
    assert not fold(model).modified
    onnx.checker.check_model(ir.to_proto(model))


def test_a_misspelt_option_is_an_error_before_a_file_is_read() -> None:
    calls: list[Callable[..., Any]] = [
        infer, onnx_infer.infer_shapes, infer_shapes_path, onnx_infer.fold, onnx_ir_calls.infer,
        onnx_ir_calls.infer_shapes, lines_of, lambda _, **options: onnx_ir_calls.SymbolicShapeInferencePass(**options),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ArgumentError, match="there is no option 'assum': do you mean 'assume'"):
            call("no such file.onnx", assum=["N >= 2"])
    with pytest.raises(ArgumentError, match="'in_plce': do you mean 'in_place'"):
        onnx_infer.infer_shapes("no such file.onnx", in_plce=True)
    with pytest.raises(ArgumentError, match="no option 'xyz': the options are adopt_declared_symbols, assume, "):
        infer("no such file.onnx", xyz=1)


def test_options_may_have_integers_of_numpy() -> None:
    model = parsed("g (float[N] x, int64[1] k) => (y) { y = Tile (x, k) }", HEAD)
    two, five = np.int64(2), np.int32(5)
    result = infer(model, bounds={"N": (two, five)}, min_dim=np.int64(1), values={"k": [np.int64(3)]})
    assert (str(result.types["y"]), result.symbols["N"]) == ("f32[3*N]", Var("N", 2, 5))
    assert result.check(N=np.int64(4)) == result.check(N=4) == []
    assert result.planner()(five).shapes["y"] == (15,)
