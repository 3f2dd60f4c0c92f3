"""Damaged models: what can be read of them is inferred. Random damage: tests/fuzz/test_damaged.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import onnx
import onnx.parser
import pytest
from onnx import helper

from onnx_infer import InferenceResult, infer, infer_shapes
from tests.fuzz.entry_points import command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CONTROL = """<ir_version: 10, opset_import: ["": 20, "f": 1]>
g (float[N, 3] x, bool c, seq(float[M]) s) => (float[N, 3] y, z)
<float[2] w = {1, 2}, int64[2] k = {0, -1}>
{
    y = If (c) <then_branch = a () => (t) { t = f.F (x) }, else_branch = b () => (e) { e = Neg (x) }>
    n = NonZero (y)
    z = Reshape (n, k)
    v = Constant <value = float[2] {3, 4}> ()
    u = Cast <to = 1> (v)
}
<domain: "f", opset_import: ["": 20]> F (p, q) => (r) { r = Clip (p, q) }"""


def use(result: InferenceResult) -> None:
    """Ask a result for all that it has to say; none of it is a defect."""
    told = [str(d) for d in result.diagnostics]
    assert [d for d in result.diagnostics if d.severity == "defect"] == []
    "\n".join((*told, str(result.types))).encode()
    symbols = result.sources.symbols
    assert result.guards is not None
    assert result.guarantees is not None
    assert result.upper_bounds is not None
    sizes: dict[Any, int] = {v: max(v.bounds()[0] or 0, min(7, v.bounds()[1] or 7)) for v in symbols}
    result.check(sizes)
    assert result.memory().peak is not None
    assert result.costs() is not None
    result.planner(sorted(symbols, key=lambda v: v.name))


# -- texts ------------------------------------------------------------------------------------------------------------

TEXT = """<ir_version: 10, opset_import: ["": 20, "dddd": 1]>
ggggggg (float[SSSS, 5] xxxx, float[SSSS] iiii) => (float[?, ?] yyyy)
<float[1] wwww = {1}>
{ tttt = Neg (xxxx) uuuu = Add (tttt, wwww) vvvv = Softmax <axis = -1> (uuuu) yyyy = Concat <axis = 0> (vvvv, xxxx)
  rrrr = dddd.OOOO <aaaa = 1> (xxxx) }"""


@pytest.mark.parametrize("word", ["SSSS", "xxxx", "iiii", "yyyy", "wwww", "tttt", "OOOO", "dddd", "aaaa", "ggggggg"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_bytes_that_are_no_utf8_stand_for_themselves(word: str, bidirectional: bool, tmp_path: Path) -> None:
    odd = b"\xff" + word.encode()[1:]
    data = onnx.parser.parse_model(TEXT).SerializeToString().replace(word.encode(), odd)
    result = infer(data, bidirectional=bidirectional)
    use(result)
    name = "yyyy" if word != "yyyy" else "\udcffyyy"
    (rows, columns) = result.shapes[name]
    assert (str(rows), columns) == ("2*SSSS" if word != "SSSS" else "2*`\udcffSSS`", 5)
    written = infer_shapes(data, bidirectional=bidirectional)
    assert infer_shapes(written, bidirectional=bidirectional) == written
    assert odd in written.SerializeToString()
    path = tmp_path / "odd.onnx"
    path.write_bytes(data)
    for options in ([], ["--json"], ["--explain", name]):
        code, text = command(path, *options)
        assert code == 0
        assert "yyy" in text


def test_texts_that_differ_in_bad_bytes_differ() -> None:
    text = (
        "<ir_version: 10, opset_import: ['': 20]> g (float[AA] x, float[BB] y) => (z) { z = Concat <axis = 0> (x, y) }"
    )
    data = onnx.parser.parse_model(text.replace("'", '"')).SerializeToString()
    data = data.replace(b"AA", b"A\xff").replace(b"BB", b"A\xfe")
    (size,) = infer(data).shapes["z"]
    assert str(size) == "`A\udcfe` + `A\udcff`"
    assert infer_shapes(data).graph.output[0].type.tensor_type.shape.dim[0].dim_param == b"`A\xfe` + `A\xff`"


# -- numbers out of range ---------------------------------------------------------------------------------------------


def relu() -> onnx.ModelProto:
    return onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 20]> g (float[N] x) => (y) { y = Relu (x) }')


@pytest.mark.parametrize(
    ("version", "known"), [(2**62, True), (2**31, True), (0, False), (-1, False), (-(2**62), False)]
)
def test_opset_versions_out_of_range(version: int, known: bool) -> None:
    model = relu()
    model.opset_import[0].version = version
    result = infer(model)
    assert str(result.types["y"]) == ("f32[N]" if known else "?[...]")
    (told,) = result.diagnostics
    assert ("is older than the model" if known else "unsupported operator") in told.message


@pytest.mark.parametrize("dtype", [-1, -200, -(2**31)])
def test_element_types_that_are_none(dtype: int) -> None:
    model = relu()
    model.graph.input[0].type.tensor_type.elem_type = dtype
    model.graph.initializer.add(name="w", data_type=dtype, dims=[2])
    model.graph.node.append(helper.make_node("Relu", ["w"], ["v"]))
    assert str(infer(model).types["y"]) == "?[N]"
    assert [str(infer(model).types[name]) for name in "vw"] == ["?[2]", "?[2]"]
    assert infer_shapes(model).graph.value_info[0].type.tensor_type.elem_type == 0


def test_a_constant_with_a_negative_size_has_no_shape() -> None:
    model = relu()
    model.graph.initializer.add(name="w", data_type=1, dims=[-3, 2])
    model.graph.node.append(helper.make_node("Add", ["w", "x"], ["v"]))
    result = infer(model)
    assert str(result.types["w"]) == "f32[...]"
    result.apply(model)


@pytest.mark.parametrize(
    "node",
    [
        "y = ArgMax <axis = 9223372036854775807> (x)",
        "y = Gather <axis = 9223372036854775807> (x, i)",
        "y = Concat <axis = 9223372036854775807> (x, x)",
        "y = Unsqueeze (x, far)",
        "y = LayerNormalization <axis = -9223372036854775807> (x, x)",
    ],
)
def test_axes_beyond_any_rank_are_not_built(node: str) -> None:
    text = '<ir_version: 10, opset_import: ["": 20]> g (x, int64[2] i) => (y, z) <int64[1] far = {9223372036854775807}>'
    model = onnx.parser.parse_model(f"{text} {{ {node} z = Concat <axis = 0> (x, i) }}")
    assert str(infer(model, bidirectional=True).types["z"]).startswith("i64[")


def test_sizes_beyond_64_bits_are_not_found_backwards() -> None:
    text = '<ir_version: 10, opset_import: ["": 20]> g (float[1, 3, 9] x, float[4, 3, 3] w) => (y)'
    pads = "[9223372036854775807, 9223372036854775807]"
    model = onnx.parser.parse_model(f"{text} {{ y = Conv <pads = {pads}> (x, w) }}")
    result = infer(model, bidirectional=True)
    assert "64 bits" in str(result.diagnostics[0])
    assert not any(isinstance(size, int) and size >= 2**63 for size in result.shapes.get("y", ()))
    result.apply(model)


# -- attributes, inputs, order ----------------------------------------------------------------------------------------


def with_attribute(change: Callable[[onnx.AttributeProto], object]) -> onnx.ModelProto:
    model = relu()
    attribute = model.graph.node[0].attribute.add(name="a")
    change(attribute)
    return model


@pytest.mark.parametrize(
    "field", ["t", "g", "sparse_tensor", "tp", "floats", "strings", "tensors", "graphs", "type_protos"]
)
def test_attributes_without_a_type(field: str) -> None:
    def change(attribute: onnx.AttributeProto) -> None:
        holder = getattr(attribute, field)
        if hasattr(holder, "SetInParent"):
            holder.SetInParent()
        elif hasattr(holder, "add"):
            holder.add()
        else:
            holder.append(b"x" if field == "strings" else 1.0)

    for bidirectional in (False, True):
        result = infer(with_attribute(change), bidirectional=bidirectional)
        assert "no attribute a" in str(result.diagnostics[0])
        assert str(result.types["y"]) == "f32[N]"


def test_graphs_in_attributes_without_a_type() -> None:
    model = onnx.parser.parse_model(CONTROL)
    expected = str(infer(model).types["y"])
    for attribute in model.graph.node[0].attribute:
        attribute.type = onnx.AttributeProto.UNDEFINED
    result = infer(model)
    use(result)
    assert str(result.types["y"]) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("Dropout <ratio = 0.5> (x)", "f32[N, 3]"),
        ("Clip <min = 0.5> (x)", "f32[N, 3]"),
        ("Squeeze <axes = [0]> (x)", "f32[3]"),
    ],
)
def test_attributes_that_are_inputs_in_this_version_are_errors_of_the_node(node: str, expected: str) -> None:
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 20]> g (float[N, 3] x) => (y) {{ y = {node} }}'
    )
    result = infer(model)
    use(result)
    assert "the operator has no attribute" in str(result.diagnostics[0])
    assert str(result.types["y"]) == expected


def test_names_of_nodes_that_are_no_utf8_are_texts_in_json(tmp_path: Path) -> None:
    path = tmp_path / "odd.onnx"
    text = '<ir_version: 10, opset_import: ["": 20]> g (float[N] x, float[M] w) => (y) { [nnnn] y = Add (x, w) }'
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString().replace(b"nnnn", b"n\xffnn"))
    _, printed = command(path, "--json")
    assert json.loads(printed)["guards"][0]["nodes"] == [{"operator": "Add", "node": "n\udcffnn"}]


def test_a_subgraph_of_another_kind_is_an_error_of_the_node() -> None:
    model = onnx.parser.parse_model(CONTROL)
    branch = model.graph.node[0].attribute[1]
    branch.CopyFrom(helper.make_attribute(branch.name, 2.5))
    result = infer(model)
    assert [d.severity for d in result.diagnostics] == ["error"]
    assert f"attribute {branch.name} is not a graph: 2.5" in str(result.diagnostics[0])
    use(result)


@pytest.mark.parametrize(
    "attribute",
    [helper.make_attribute("axis", "text"), helper.make_tensor("t", 7, [], [0]), helper.make_attribute("axis", [1, 2])],
    ids=["string", "tensor", "ints"],
)
@pytest.mark.parametrize("operator", ["Gather", "Concat", "Flatten", "ArgMax", "Softmax"])
def test_constraints_of_nodes_that_the_schema_refuses(operator: str, attribute: Any) -> None:
    if isinstance(attribute, onnx.TensorProto):
        attribute = helper.make_attribute("axis", attribute)
    inputs = "x, i" if operator in ("Gather", "Concat") else "x"
    text = f'<ir_version: 10, opset_import: ["": 20]> g (x, i) => (z) {{ z = {operator} ({inputs}) }}'
    model = onnx.parser.parse_model(text)
    model.graph.node[0].attribute.append(attribute)
    result = infer(model, bidirectional=True)
    assert {d.severity for d in result.diagnostics} == {"error"}
    assert "attribute axis is not an integer" in str(result.diagnostics[0])


def test_inputs_without_a_name_are_none() -> None:
    model = relu()
    model.graph.input.add().type.tensor_type.elem_type = 1
    model.graph.output.add()
    result = infer(model)
    assert (result.inputs, result.outputs) == (["x"], ["y"])
    use(result)


def test_two_inputs_of_one_name() -> None:
    model = relu()
    model.graph.input.append(helper.make_tensor_value_info("x", 1, ["N", 3]))
    model.graph.node.append(helper.make_node("Flatten", ["x"], ["z"]))
    model.graph.node.append(helper.make_node("Concat", ["z", "y"], ["v"], axis=0))
    for bidirectional in (False, True):
        result = infer(model, bidirectional=bidirectional)
        assert str(result.types["x"]) == "f32[N]"
        use(result)


def test_an_element_type_that_onnx_ir_does_not_have() -> None:
    import onnx_ir as ir

    from onnx_infer.integrations import onnx_ir

    cast = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 20, "f": 1]> g (float[N] x) => (y) { y = f.F (x) }'
        '<domain: "f", opset_import: ["": 20]> F (x) => (y) { z = Constant <value = float[2] {1, 2}> () y = Neg (z) }'
    )
    cast.functions[0].node[0].attribute[0].t.data_type = 38
    found = onnx_ir.infer_shapes(ir.from_proto(cast))
    assert found.graph.outputs[0].dtype is None


def test_nodes_on_a_cycle_that_read_what_nobody_gives() -> None:
    model = relu()
    model.graph.node.append(helper.make_node("Add", ["b", "nowhere"], ["a"]))
    model.graph.node.append(helper.make_node("Neg", ["a"], ["b"]))
    result = infer(model)
    assert "input 'nowhere' of node 'a' is produced by no node" in [str(d) for d in result.diagnostics]
    use(result)
