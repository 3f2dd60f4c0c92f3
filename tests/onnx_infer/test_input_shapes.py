"""Shapes that a caller gives for inputs, and what stands for symbols: in every front end, and in what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_infer
from onnx_infer.errors import ArgumentError, InputValueError, UnknownSymbol
from onnx_infer.integrations import onnx_ir
from onnx_infer.tools.transforms.folding import fold
from symdim import Var

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
<ir_version: 10, opset_import: ["": 20]>
g (float[N, 3, H, W] x, float[1, M] y, float[N, twice] z) => (float[N, a, b, c] o, float[1, A] p)
<float[1, M] t>
{
    o = AveragePool <kernel_shape: ints = [2, 2], strides: ints = [2, 2]> (x)
    t = Relu (y)
    p = Concat <axis: int = 1> (t, t)
    q = Concat <axis: int = 1> (z, z)
}"""


def model() -> onnx.ModelProto:
    proto = onnx.parser.parse_model(TEXT)
    proto.graph.input[2].type.tensor_type.shape.dim[1].dim_param = "2*M"  # the parser reads no expressions
    return proto


def written(proto: onnx.ModelProto) -> dict[str, list[Any]]:
    graph = proto.graph
    infos = (*graph.input, *graph.output, *graph.value_info)
    return {i.name: [d.dim_param or d.dim_value for d in i.type.tensor_type.shape.dim] for i in infos}


CASES: list[tuple[dict[str, Any], dict[str, str]]] = [
    # a symbol gets a number everywhere, another one an expression
    ({"input_shapes": {"x": [4, 3, "32*h", None]}}, {"o": "f32[4, 3, 16*h, W//2]", "q": "f32[4, 4*M]"}),
    ({"bind": {"N": 4, "H": "32*h"}}, {"o": "f32[4, 3, 16*h, W//2]", "q": "f32[4, 4*M]"}),
    # a number becomes another one: what the model declares of the old one says nothing
    ({"input_shapes": {"y": [8, "M"]}}, {"t": "f32[8, M]", "p": "f32[8, 2*M]", "q": "f32[N, 4*M]"}),
    # an expression is solved
    ({"input_shapes": {"z": ["N", 10]}}, {"p": "f32[1, 10]", "q": "f32[N, 20]"}),
    # a symbol gets the name of another one
    ({"input_shapes": {"x": ["batch", 3, "W", "W"]}}, {"o": "f32[batch, 3, W//2, W//2]", "q": "f32[batch, 4*M]"}),
    # two new names in one expression
    ({"bind": {"M": "heads*width"}}, {"p": "f32[1, 2*heads*width]"}),
]


@pytest.mark.parametrize(("options", "expected"), CASES)
def test_every_front_end_binds_and_writes(options: dict[str, Any], expected: dict[str, str]) -> None:
    result = onnx_infer.infer(model(), **options)
    assert not result.diagnostics
    assert {name: str(result.types[name]) for name in expected} == expected
    other = onnx_ir.infer(ir.from_proto(model()), **options)
    assert dict(other.types) == dict(result.types)
    one = written(onnx_infer.infer_shapes(model(), **options))
    assert {name: sizes for name, sizes in one.items() if name in result.types} == {
        name: [d if isinstance(d, int) else str(d) for d in result.shapes[name]] for name in one
    }
    assert written(ir.to_proto(onnx_ir.infer_shapes(ir.from_proto(model()), **options))) == one
    folded = written(fold(model(), **options))
    assert [folded[name] for name in ("x", "y", "z")] == [one[name] for name in ("x", "y", "z")]


def test_a_file(tmp_path: Path) -> None:
    onnx.save(model(), tmp_path / "m.onnx")
    onnx_infer.infer_shapes_path(tmp_path / "m.onnx", tmp_path / "n.onnx", input_shapes={"x": [1, 3, 224, 224]})
    assert written(onnx.load(tmp_path / "n.onnx"))["o"] == [1, 3, 112, 112]


def test_ranks_are_given_where_the_model_has_none() -> None:
    proto = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["": 20]>
g (float x) => (y) { y = Flatten (x) }""")
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    given = {"x": ["N", 3, None, 5]}
    for result in (
        onnx_infer.infer(proto, input_shapes=given),
        onnx_ir.infer(ir.from_proto(proto), input_shapes=given),
    ):
        assert str(result.types["y"]) == "f32[N, 15*x_dim_2]"
        assert result.found_inputs == {"x": ("N", 3, "x_dim_2", 5)}


def test_what_contradicts_another_number_is_told() -> None:
    proto = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["": 20]>
g (float[1, 196, 8] x) => (float[196, 2, 4] y) <int64[3] heads = {196, 2, 4}, float[1, 196, 8] t>
{ t = Relu (x)  y = Reshape (t, heads) }""")
    result = onnx_infer.infer(proto, input_shapes={"x": [8, 196, 8]})
    assert [d.message for d in result.diagnostics] == ["the element counts differ: 1568 != 12544"]
    assert str(result.types["t"]) == "f32[8, 196, 8]"
    result = onnx_infer.infer(proto, input_shapes={"x": [1, "S", 8]})
    assert [str(guard) for guard in result.guards] == ["S == 196"]


def test_numbers_in_bodies_say_nothing_of_another_size() -> None:
    proto = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["": 20]>
g (float[1, 4] x, bool c) => (float[1, 4] y) {
    y = If (c) <then_branch = a () => (float[1, 4] u) { u = Relu (x) },
                else_branch = b () => (float[1, 4] v) { v = Neg (x) }>
}""")
    for _ in range(2):  # nothing is remembered that the next inference must not find
        assert str(onnx_infer.infer(proto).types["y"]) == "f32[1, 4]"
        result = onnx_infer.infer(proto, input_shapes={"x": [8, 4]})
        assert str(result.types["y"]) == "f32[8, 4]"
        assert not result.diagnostics


def test_what_is_said_of_a_bound_symbol_holds_of_its_expression() -> None:
    result = onnx_infer.infer(model(), bind={"H": "32*h"}, bounds={"H": (1, 320)}, assume=["H % 64 == 0"])
    assert result.symbols["h"].bounds() == (2, 10)
    result = onnx_infer.infer(model(), bind={"N": 5}, assume=["N <= 4"])
    assert [d.message for d in result.diagnostics] == ["the assumption N <= 4 contradicts the given sizes"]
    proto = model()
    entry = '{"version": 1, "bounds": {"H": [1, 320], "N": [1, 4]}}'
    proto.graph.metadata_props.add(key="symdim.contract", value=entry)
    result = onnx_infer.infer(proto, input_shapes={"x": ["batch", 3, "32*h", "W"]})
    assert [result.symbols[name].bounds() for name in ("batch", "h")] == [(1, 4), (1, 10)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"input_shapes": {"xx": [1]}}, InputValueError, "'xx' is not an input of the graph; do you mean 'x'?"),
        (
            {"input_shapes": {"x": [1, 3]}},
            InputValueError,
            r"'x' has the rank 4 in the model, .N, 3, H, W., and not 2: ",
        ),
        ({"input_shapes": {"x": [4, 3, 2, 2], "z": [5, 2]}}, InputValueError, "'N' is 5 here, and 4 by "),
        ({"input_shapes": {"z": ["N", 7]}}, InputValueError, r"has 2\*M there, which is 2\*M, and not 7"),
        ({"input_shapes": {"z": ["N", "K"]}}, InputValueError, r"has 2\*M there, and not K; bind the symbols"),
        ({"input_shapes": {"x": [1, 3, 4.5, 4]}}, ArgumentError, "4.5 is not a valid size"),
        ({"input_shapes": {"x": [1, 3, -2, 4]}}, ArgumentError, "-2 is negative"),
        ({"input_shapes": {"x": "1,3,4,4"}}, ArgumentError, "is not a list of sizes"),
        ({"bind": {"Q": 3}}, UnknownSymbol, "bind: the model has no symbol 'Q'"),
        ({"bind": {"N": "M", "M": 2}}, InputValueError, "'N' is M, and 'M' is itself 2"),
        ({"bind": {"N": "(("}}, ArgumentError, "bind: 'N': unexpected end: expected an operand"),
    ],
)
def test_errors_name_both_sides(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        onnx_infer.infer(model(), **options)


def test_the_model_is_not_changed() -> None:
    proto = model()
    before = proto.SerializeToString()
    onnx_infer.infer(proto, input_shapes={"x": [4, 3, 5, 5], "y": [2, 2]})
    onnx_infer.infer_shapes(proto, bind={"N": "2*n"})
    assert proto.SerializeToString() == before
    assert onnx_infer.infer(proto).types["y"].shape == (1, Var("M"))  # type: ignore[attr-defined]
