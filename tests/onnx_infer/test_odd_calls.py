"""Functions with omitted inputs, and single nodes with subgraphs."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest
from onnx import helper

from onnx_infer import infer, infer_node_outputs, infer_shapes
from onnx_infer.testing import ts

from .test_damage import use


@pytest.mark.parametrize("version", [9, 10, 13])
def test_an_omitted_input_of_a_function_is_no_value(version: int) -> None:
    model = onnx.parser.parse_model(
        f'<ir_version: {version}, opset_import: ["": 20, "f": 1]> g (float[N] x) => (y, z) {{ y, z = f.F (x) }}'
        '<domain: "f", opset_import: ["": 20]> F (p, q) => (r, q) { r = Clip (p, q) }'
    )
    result = infer(model)
    assert [str(result.types[name]) for name in "xyz"] == ["f32[N]", "f32[N]", "?[...]"]
    use(result)
    written = infer_shapes(model)
    assert [i.name for i in written.functions[0].value_info] == (["p", "r"] if version >= 10 else [])
    assert infer_shapes(written) == written


SUBGRAPHS = {
    "If": (
        "y = If (c) <then_branch = a () => (t) { t = Neg (o) }, else_branch = b () => (e) { e = Abs (o) }>",
        "f32[N, 3]",
    ),
    "Loop": (
        "y, z = Loop (m, , x) <body = b (int64 i, bool k, float[?, 3] p) => (bool l, float[?, 3] r, w) "
        "{ l = Identity (k) r = Neg (p) w = Neg (o) }>",
        "f32[N, 3] f32[4, N, 3]",
    ),
    "Scan": (
        "y, z = Scan <num_scan_inputs = 1, body = b (float[3] p, float[3] q) => (float[3] r, float[3] w) "
        "{ r = Add (p, q) w = Neg (q) }> (v, x)",
        "f32[3] f32[N, 3]",
    ),
}


@pytest.mark.parametrize("name", SUBGRAPHS)
def test_nodes_with_subgraphs_by_themselves(name: str) -> None:
    text, expected = SUBGRAPHS[name]
    node = onnx.parser.parse_node(text)
    tensor = helper.make_tensor_type_proto
    types = {"x": tensor(1, ["N", 3]), "o": tensor(1, ["N", 3]), "v": tensor(1, [3]), "c": tensor(9, [])}
    data = {"m": helper.make_tensor("other", 7, [], [4])}
    found = infer_node_outputs(onnx.defs.get_schema(name, 20), node, types, data)
    assert list(found) == list(node.output)
    shown = [ts(1, [d.dim_value or d.dim_param for d in t.tensor_type.shape.dim]) for t in found.values()]
    assert " ".join(map(str, shown)) == expected


def test_a_name_that_inference_gave_may_stand_for_0() -> None:
    node = helper.make_node("Slice", ["x", "first", "last"], ["y"])
    ends = {"first": helper.make_tensor("", 7, [1], [1]), "last": helper.make_tensor("", 7, [1], [1 << 60])}
    for name, expected in (("N", "N - 1"), ("_d0", "max(_d0, 1) - 1")):
        types = {"x": helper.make_tensor_type_proto(1, [name])}
        (found,) = infer_node_outputs(None, node, types, ends).values()
        assert found.tensor_type.shape.dim[0].dim_param == expected


def test_a_reference_to_a_number_gets_a_graph_after_its_node_is_remembered() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 20, "local": 1]> g (float[N, 4] x) => (y) { y = local.F <axis = 1> (x) }'
        ' <domain: "local", opset_import: ["": 20]> F <axis> (x) => (y) { y = Softmax <axis: int = @axis> (x) }'
    )
    for _ in range(3):  # the nodes of a graph are remembered when it is met again
        assert str(infer(model.SerializeToString()).types["y"]) == "f32[N, 4]"
    (axis,) = model.graph.node[0].attribute
    axis.CopyFrom(onnx.AttributeProto(name="axis", type=onnx.AttributeProto.GRAPH, g=onnx.GraphProto(name="body")))
    (told,) = infer(model.SerializeToString()).diagnostics
    assert told.message == "attribute axis is not an integer: graph 'body'"
