"""Malformed and hostile models: each keeps its healthy value, and says which node or value is wrong."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper

from onnx_infer import ArgumentError, infer, infer_node_outputs, infer_shapes, materialize
from symdim import Var

from .texts import messages, parsed

HEALTHY = "bystander = Abs (z)"

CASES = {
    "a cycle": ("p = Add (x, y) y = Neg (p)", "cycle are not inferred: n0_Add, n1_Neg"),
    "declared size": ("y = Neg (x)", "value 'y': declared 7 but inferred 5 at axis 0"),
    "declared rank": ("y = Neg (x)", "value 'y': declared rank 3 but inferred rank 1"),
    "declared type": ("y = Neg (x)", "value 'y': declared i64[5] but inferred f32[5]"),
    "inner sizes": ("y = MatMul (x, z)", "MatMul (opset 13) 'n0_MatMul': inner sizes of the product differ: 5 != 4"),
    "step of 0": (
        "s = Constant <value_ints = [0]> () y = Slice (x, s, s, s, s)",
        "Slice (opset 13) 'n1_Slice': the step of a slice is 0",
    ),
    "delta of 0": ("s = Constant <value_int = 0> () y = Range (s, s, s)", "Range (opset 11) 'n1_Range': delta is 0"),
    "two sizes of -1": (
        "s = Constant <value_ints = [-1, -1]> () y = Reshape (x, s)",
        "Reshape (opset 19) 'n1_Reshape': more than one size is -1",
    ),
    "a type": ("y = And (x, x)", "And (opset 7) 'n0_And': A has element type tensor(float)"),
    "an attribute": ("y = Relu <slope = 0.5> (x)", "Relu (opset 14) 'n0_Relu': the operator has no attribute slope"),
    "a missing input": ('y = Add (x, "")', "Add (opset 14) 'n0_Add': required input B is missing"),
    "an undefined input": ("y = Neg (nowhere)", "nowhere"),
    "two givers": (
        "y = Neg (x) y = Abs (x)",
        "value 'y' is given by 2 nodes, of which the last counts: n0_Neg, n1_Abs",
    ),
    "a quotient": (
        "s = Shape (x) o = Constant <value_ints = [0]> () q = Div (s, o) y = Reshape (x, q)",
        "Div (opset 14) 'n2_Div': an integer is divided by 0: 5",
    ),
    "a remainder": (
        "s = Shape (x) o = Constant <value_ints = [0]> () q = Mod (s, o) y = Reshape (x, q)",
        "Mod (opset 13) 'n2_Mod': an integer is divided by 0: 5",
    ),
}
OUTPUTS = {
    "declared size": "float[7] y",
    "declared rank": "float[5, 1, 1] y",
    "declared type": "int64[5] y",
    "a type": "bool[?] y",
}


def model_of(nodes: str, output: str = "float[?] y") -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 20]> '
        f"g (float[5] x, float[4, 2] z) => ({output}, float[?, ?] bystander) {{ {nodes} {HEALTHY} }}"
    )
    for i, node in enumerate(model.graph.node):
        node.name = f"n{i}_{node.op_type}"
    return model


@pytest.mark.parametrize("name", CASES)
def test_the_diagnostic_names_node_and_value_and_the_rest_is_inferred(name: str) -> None:
    nodes, message = CASES[name]
    result = infer(model_of(nodes, OUTPUTS.get(name, "float[?] y")))
    assert str(result.types["bystander"]) == "f32[4, 2]"
    assert any(message in str(d) for d in result.diagnostics), [str(d) for d in result.diagnostics]


@pytest.mark.parametrize("operator", ["Div", "Mod"])
def test_division_by_zero_is_unknown_and_costs_nothing_else(operator: str) -> None:
    nodes = f"s = Shape (x) o = Constant <value_ints = [0]> () q = {operator} (s, o) y = ConstantOfShape (q)"
    result = infer(model_of(nodes))
    assert str(result.types["bystander"]) == "f32[4, 2]"
    assert str(result.types["y"]).startswith("f32[_d")
    assert "y" in result.notes


def test_sizes_without_end_are_not_built() -> None:
    nodes = "a = Constant <value_int = 0> () b = Constant <value_int = 1000000000> () " + (
        "c = Constant <value_int = 1> () r = Range (a, b, c) y = Neg (r)"
    )
    assert str(infer(model_of(nodes, "int64[?] y")).types["y"]) == "i64[1000000000]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+".join(["N"] * 20_000), "40000*N"),
        ("(" * 20_000 + "N" + ")" * 20_000, "2*N"),
        ("2*N", "4*N"),
        ("N*M", "2*`N*M`"),  # of two undeclared names nothing says that they are sizes
        ("batch-size", "2*`batch-size`"),
        ("N +", "2*`N +`"),
    ],
)
def test_texts_of_undeclared_names(text: str, expected: str) -> None:
    model = model_of("y = Concat <axis = 0> (x, x)")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = text
    (size,) = infer(model).shapes["y"] or ()
    assert str(size) == expected
    inferred = infer_shapes(model)
    assert inferred.graph.input[0].type.tensor_type.shape.dim[0].dim_param == text
    assert infer_shapes(inferred) == inferred


def test_sizes_beyond_64_bits_are_refused_and_the_rest_is_kept() -> None:
    steps = "".join(f"s{i} = Shape (t{i}) t{i + 1} = Tile (t{i}, s{i}) " for i in range(12))
    model = model_of("t0 = Identity (x) " + steps + "y = Neg (t12)")
    result = infer(model)
    assert str(result.types["t4"]) == f"f32[{5**16}]"
    assert any("does not fit into 64 bits" in str(d) for d in result.diagnostics)
    assert str(result.types["bystander"]) == "f32[4, 2]"
    assert infer_shapes(model).graph.output[1].type.tensor_type.shape.dim[0].dim_value == 4


def test_a_size_that_is_squared_again_and_again_is_not_kept() -> None:
    """A part for each factor of the largest power would fill the memory wherever a size is written as nodes or code."""
    squares = " ".join(f"v{i + 1} = Mul (v{i}, v{i})" for i in range(40))
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 20]> g (float[N] x) => (y, z)
        {{ v0 = Shape (x) {squares} y = ConstantOfShape (v40) z = ConstantOfShape (v5) }}"""
    )
    result = infer(model)
    assert [str(result.types[name]) for name in "yz"] == ["f32[_d0]", "f32[N**32]"]
    assert materialize(result.shapes["z"], result).nodes


def test_a_model_that_onnx_ir_cannot_copy() -> None:
    import onnx_ir as ir

    from onnx_infer.integrations import onnx_ir
    from onnx_infer.integrations.onnx_ir_folding import FoldPass

    text = '<ir_version: 10, opset_import: ["": 20]> g (float[N] x) => (y, z) { y = Add (x, nowhere) z = Neg (x) }'
    model = ir.from_proto(onnx.parser.parse_model(text))
    for call in (onnx_ir.infer_shapes, FoldPass().call):
        with pytest.raises(ArgumentError, match=r"in_place=True works: Value .* is an outer-scope value"):
            call(model)
    onnx_ir.infer_shapes(model, in_place=True)
    assert str(model.graph.outputs[1].shape) == "[N]"


def test_a_model_that_onnx_ir_cannot_copy_and_whose_weights_it_cannot_print() -> None:
    import onnx_ir as ir

    from onnx_infer.integrations import onnx_ir

    model = parsed("g (float[N] x) => (y, z) <int64[1] w = {1}> { y = Add (x, nowhere) z = Neg (x) }")
    model.graph.initializer[0].ClearField("int64_data")
    model.graph.initializer[0].raw_data = b"abc"
    with pytest.raises(ArgumentError, match=r"in_place=True works: Value .* is an outer-scope value"):
        onnx_ir.infer_shapes(ir.from_proto(model))


def doubled(first: str, nodes: str, axis: int, times: int) -> onnx.ModelProto:
    """A chain of Concats of a tensor with itself."""
    chain = " ".join(f"v{i + 1} = Concat<axis={axis}>(v{i}, v{i})" for i in range(times))
    return parsed(f"g ({first}) => (v{times}) {{ {nodes} {chain} }}")


@pytest.mark.parametrize("first", ["float[2] v0", "float[N] v0"])
def test_doubling_ends_at_64_bits(first: str) -> None:
    result = infer(doubled(first, "", 0, 70))
    assert "a size of the result does not fit into 64 bits" in messages(result)[0]
    assert str(result.types["v61"]).startswith("f32[")


def test_doubling_of_what_may_be_0_is_written() -> None:
    result = infer(doubled("float[N] x", "v0 = NonZero(x)", 1, 200))
    assert max(len(str(result.types[f"v{i}"])) for i in range(201)) < 40
    assert not result.diagnostics


@pytest.mark.parametrize("bidirectional", [False, True])
def test_of_tensors_with_very_many_axes_only_the_element_type_is_inferred(bidirectional: bool) -> None:
    """The declared type of an input stays in the file. A rule may give such a result as well."""
    model = parsed("g (float[] x, float[3] z, float[1025] s) => (y, u) { y = Neg (x) u = Unsqueeze (z, axes) }")
    model.graph.input[0].type.CopyFrom(onnx.helper.make_tensor_type_proto(1, [*range(1, 1025), None]))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(1024), "axes"))
    result = infer(model, bidirectional=bidirectional)
    assert {name: str(result.types[name]) for name in "xyu"} == dict.fromkeys("xyu", "f32[...]")
    told = "has 1,025 axes; of more than 1,024 only the element type is inferred"
    assert [(d.severity, d.message) for d in result.diagnostics] == [
        ("warning", f"a result {told}"),
        ("warning", f"input 'x' {told}"),
    ]
    once = infer_shapes(model, bidirectional=bidirectional)
    assert once.graph.input[0] == model.graph.input[0]
    assert infer_shapes(once, bidirectional=bidirectional) == once


def test_a_tensor_of_many_axes_is_inferred() -> None:
    model = parsed("g (float[] x) => (y) { y = Transpose (x) }")
    model.graph.input[0].type.CopyFrom(onnx.helper.make_tensor_type_proto(1, [f"N{i}" for i in range(1024)]))
    assert infer(model).shapes["y"][0] == Var("N1023")


@pytest.mark.parametrize(
    ("sizes", "known"), [([2**40, 0], True), ([2**40, 0, 2**40], False), ([0, 2**62, 2**62], False)]
)
def test_no_array_has_sizes_beyond_64_bits_around_a_0(sizes: list[int], known: bool) -> None:
    model = parsed("g (int64[2] i) => (y, z) { y = NonZero (w) z = Transpose (w) }")
    model.graph.initializer.append(helper.make_tensor("w", 7, sizes, []))
    result = infer(model)
    assert messages(result) == []
    assert str(result.types["z"]).endswith("={}") == known
    model.graph.node.insert(0, helper.make_node("Constant", [], ["w"], value=model.graph.initializer.pop()))
    result = infer(model)
    assert messages(result) == []
    assert str(result.types["z"]).endswith("={}") == known
    assert result.shapes["z"] == tuple(reversed(sizes))


def test_names_of_a_single_node_that_are_no_utf8() -> None:
    wire = helper.make_node("Reshape", ["xx", "shape"], ["y"]).SerializeToString().replace(b"xx", b"x\xff")
    node = onnx.NodeProto.FromString(wire)
    name, shape = node.input
    types = {name: helper.make_tensor_type_proto(1, [None, 3])}
    (found,) = infer_node_outputs(None, node, types, {shape: helper.make_tensor("", 7, [1], [-1])}).values()
    assert found.tensor_type.shape.dim[0].dim_param == "3*x__dim_0"
    assert type(name) is bytes
