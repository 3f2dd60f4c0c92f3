"""Inference of single nodes of onnx_ir: as the whole model's, with nothing kept but what the caller keeps."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import onnx_ir as ir
import pytest

from onnx_infer import OpUsageError, ShapeInferenceError
from onnx_infer.integrations import onnx_ir
from onnx_infer.integrations.onnx_ir_nodes import NodeInference, infer_node_outputs

F32, I64 = ir.DataType.FLOAT, ir.DataType.INT64
HEAD = '<ir_version: 10, opset_import: ["": 20, "acme": 1]>'

MODELS = {
    "a reshape through Shape and Concat": """g (float[batch, past, 64] p, float[batch, seq, 64] x) => (y) {
        keys = Concat <axis: int = 1> (p, x)  s = Shape <end: int = 2> (keys)
        w = Constant <value = int64[2] {4, -1}> ()
        target = Concat <axis: int = 0> (s, w)  y = Reshape (keys, target) }""",
    "arithmetic on sizes": """g (float[N, H] x) => (y) {
        s = Shape (x)  one = Constant <value = int64 {1}> ()  h = Gather (s, one)  two = Constant <value = int64 {2}> ()
        half = Div (h, two)  at = Unsqueeze (half, zero)  y = Slice (x, zero, at, axis) }""",
    "a Loop whose body reads a value around it": """g (float[N] x, float[M] b, int64 n, bool c) => (y, all) {
        xb = Concat <axis: int = 0> (x, b)
        y, all = Loop (n, c, x) <body = body (int64 i, bool d, float[K] state) => (bool e, float[K] next, float[L] item)
        {   e = Identity (d)  next = Relu (state)  item = Concat <axis: int = 0> (xb, state) }> }""",
    "an If": """g (float[N] x, float[M] z, bool c) => (y) {
        xz = Concat <axis: int = 0> (x, z)
        y = If (c) <then_branch = a () => (float[P] t) { t = Relu (xz) }, else_branch = b () => (float[Q] e) {
            e = Concat <axis: int = 0> (z, x) }> }""",
    "rounding": """g (float[N, 3, H, W] x) => (y) {
        a = MaxPool <kernel_shape: ints = [3, 3], strides: ints = [2, 2]> (x)
        y = AveragePool <kernel_shape: ints = [2, 2]> (a) }""",
}


def model_of(text: str) -> ir.Model:
    model = ir.from_onnx_text(f"{HEAD} {text}")
    for name, elements in (("zero", [0]), ("axis", [1])):
        used = [(n, i) for n in model.graph for i, v in enumerate(n.inputs) if v is not None and v.name == name]
        tensor = ir.tensor(np.array(elements), name=name)
        value = ir.Value(name=name, const_value=tensor, type=ir.TensorType(I64), shape=ir.Shape([1]))
        for node, i in used:
            node.replace_input_with(i, value)
        if used:
            model.graph.register_initializer(value)
    return model


@pytest.mark.parametrize("text", MODELS.values(), ids=list(MODELS))
def test_the_chain_of_nodes_finds_what_the_whole_model_does(text: str) -> None:
    model = model_of(text)
    expected = onnx_ir.infer_shapes(model, policy="override")
    inference = NodeInference.of(model)
    for node in model.graph:
        inference.update(node)
    for node, other in zip(model.graph, expected.graph, strict=True):
        assert [(v.name, v.type, str(v.shape)) for v in node.outputs] == [
            (v.name, v.type, str(v.shape)) for v in other.outputs
        ]


def test_functions_are_those_of_the_model() -> None:
    model = ir.from_onnx_text(f"""{HEAD} g (float[N] x) => (y) {{ y = acme.Twice <axis = 0> (x) }}
        <domain: "acme", opset_import: ["": 20, "acme": 1]> Twice <axis> (a) => (b) {{ c = acme.Same (a)
            b = Concat <axis: int = @axis> (c, c) }}
        <domain: "acme", opset_import: ["": 20]> Same (a) => (b) {{ b = Relu (a) }}""")
    (node,) = model.graph
    assert infer_node_outputs(node, model)[0].shape == ["2*N"]
    with pytest.raises(OpUsageError, match="unsupported operator acme::Twice"):
        infer_node_outputs(node)


def test_known_elements_come_from_the_values() -> None:
    x, target = ir.val("x", F32, ["N", 4]), ir.val("target", I64, [3])
    node = ir.node("Reshape", [x, target])
    assert infer_node_outputs(node, opset_imports={"": 20})[0].shape == [None, None, None]
    target.meta["symbolic_value"] = [2, ir.SymbolicDim("N"), -1]
    assert infer_node_outputs(node, opset_imports={"": 20})[0].shape == [2, "N", 2]
    target.const_value = ir.tensor(np.array([4, 1, -1]))
    assert infer_node_outputs(node, opset_imports={"": 20})[0].shape == [4, 1, "N"]
    assert (x.shape, node.outputs[0].shape, node.outputs[0].type) == (["N", 4], None, None)


@pytest.mark.parametrize("text", ["k[0]", "_d3", "M", None])
def test_an_element_that_is_no_expression_of_sizes_is_not_known(text: str | None) -> None:
    x, target = ir.val("x", F32, ["N", 4]), ir.val("target", I64, [2])
    target.meta["symbolic_value"] = [ir.SymbolicDim(text), 4]
    (found,) = infer_node_outputs(ir.node("Expand", [x, target]), opset_imports={"": 20})
    assert found.shape is None or found.shape[0] == ir.SymbolicDim(None)


def test_elements_are_told() -> None:
    x = ir.val("x", F32, ["N", 4, "M"])
    shape = ir.node("Shape", [x], {"start": 1})
    kind, sizes, elements = infer_node_outputs(shape, opset_imports={"": 20})[0]
    assert (kind, sizes, elements) == (ir.TensorType(I64), [2], [4, ir.SymbolicDim("M")])


def test_a_graph_input_may_get_other_elements() -> None:
    text = "g (float[N, 4] x, int64[2] t) => (y) <int64[2] t = {2, -1}> { y = Reshape (x, t) }"
    model = ir.from_onnx_text(f"{HEAD} {text}")
    (node,) = model.graph
    assert infer_node_outputs(node, model)[0].shape == [None, None]
    model.ir_version = 3
    assert infer_node_outputs(node, model)[0].shape == [2, "2*N"]


def test_sizes_that_the_data_decide_have_names_that_differ() -> None:
    model = ir.from_onnx_text(f"""{HEAD} g (float[N] x, float[N] z) => (y) {{
        a = NonZero (x)  b = NonZero (z)  ab = Concat <axis: int = 1> (a, b)  y = Concat <axis: int = 1> (ab, a) }}""")
    assert [infer_node_outputs(node, model)[0].shape for node in list(model.graph)[:2]] == [[1, None], [1, None]]
    inference = NodeInference.of(model)
    for node in model.graph:
        inference.update(node)
    assert [str(node.outputs[0].shape) for node in model.graph] == [
        "[1,_d0]",
        "[1,_d1]",
        "[1,_d0 + _d1]",
        "[1,2*_d0 + _d1]",
    ]


def test_a_foreign_name_is_none_that_was_given() -> None:
    """The shape of `b` was inferred earlier, where `_d0` was another size."""
    x, b = ir.val("x", F32, ["N"]), ir.val("b", F32, [1, "_d0"])
    first, second = ir.node("NonZero", [x]), ir.node("Relu", [b])
    inference = NodeInference(ir.Graph([x], [], nodes=[first, second], opset_imports={"": 20}))
    assert inference.infer(first)[0].shape == [1, "_d0"]
    assert inference.infer(second)[0].shape == [1, "_d1"]


def test_names_that_only_other_values_have_may_be_0() -> None:
    x, inner = ir.val("x", F32, ["M"]), ir.val("inner", F32, ["K"])
    first, last = (
        ir.Value(name=name, const_value=ir.tensor(np.array([at]))) for name, at in (("a", 1), ("b", 1 << 60))
    )
    model = ir.Model(ir.Graph([x], [], nodes=[], opset_imports={"": 20}), ir_version=10)
    found = [infer_node_outputs(ir.node("Slice", [v, first, last]), model)[0].shape for v in (x, inner)]
    assert list(map(str, found)) == ["[M - 1]", "[max(K, 1) - 1]"]
    assert infer_node_outputs(ir.node("Slice", [inner, first, last]), opset_imports={"": 20})[0].shape == ["K - 1"]


def test_a_changed_type_counts() -> None:
    x = ir.val("x", F32, ["N", "M"])
    relu = ir.node("Relu", [x])
    graph = ir.Graph([x], [], nodes=[relu], opset_imports={"": 20})
    inference = NodeInference(graph)
    inference.update(relu)
    (y,) = relu.outputs
    y.shape = ir.Shape(["N", 7])
    assert inference.infer(ir.node("Relu", [y]))[0].shape == ["N", 7]
    y.shape[0] = 5
    assert inference.infer(ir.node("Relu", [y]))[0].shape == [5, 7]


def test_what_a_shape_says_already_stays_unless_it_is_wrong() -> None:
    x = ir.val("x", F32, ["N", 4])
    relu, other = ir.node("Relu", [x]), ir.node("Relu", [x])
    relu.outputs[0].shape, other.outputs[0].shape = ir.Shape(["rows", None]), ir.Shape(["N", 5])
    inference = NodeInference(opset_imports={"": 20})
    inference.update(relu)
    assert relu.outputs[0].shape == ["rows", 4]
    with pytest.raises(ShapeInferenceError, match="Conflicting"):
        inference.update(other)


def test_a_wrong_node_says_what_is_wrong() -> None:
    node = ir.node("MatMul", [ir.val("a", F32, [2, 3]), ir.val("b", F32, [4, 5])], name="product")
    with pytest.raises(
        ShapeInferenceError, match=r"MatMul \(opset 13\) 'product': inner sizes of the product differ: 3 != 4"
    ):
        infer_node_outputs(node, opset_imports={"": 20})


def test_what_is_left_out_has_no_type() -> None:
    x = ir.val("x", F32, ["N", 3, 8])
    node = ir.node("LayerNormalization", [x, ir.val("s", F32, [8])], num_outputs=3)
    node.outputs[1].name = ""
    found = infer_node_outputs(node, opset_imports={"": 20})
    assert [f.shape for f in found] == [["N", 3, 8], None, ["N", 3, 1]]


def test_what_rests_on_an_assumption_is_open_without() -> None:
    """Of a very long axis the factor of Resize, a float, gives another length than the exact one."""
    text = "g (float[1, 1, H] x) => (y) { s = Constant <value = float[3] {1.0, 1.0, 2.0}> ()  y = Resize (x, , s) }"
    model = ir.from_onnx_text(f"{HEAD} {text}")
    for assumes, expected in ((True, "[1,1,2*H]"), (False, "[1,1,_d0]")):
        inference = NodeInference.of(model, assumes=assumes)
        assert [str(inference.infer(node)[0].shape) for node in model.graph] == ["[3]", expected]


def test_values_that_are_gone_are_forgotten() -> None:
    inference = NodeInference(opset_imports={"": 20})
    x = ir.val("x", F32, ["N"])
    node = ir.node("Relu", [x])
    inference.update(node)
    gone = weakref.ref(node.outputs[0])
    del node, x
    gc.collect()
    assert gone() is None
    assert len(inference._known) == 0


def test_an_output_too_many_is_not_known() -> None:
    node = ir.node("Constant", [], {"value": ir.tensor(np.array([2, 3]))}, num_outputs=2)
    known, unknown = infer_node_outputs(node, opset_imports={"": 20})
    assert (known.shape, known.elements, unknown.shape) == ([2], [2, 3], None)


def test_what_a_node_demands_changes_no_other_value() -> None:
    """The product may be dropped, or in a branch that does not run."""
    model = ir.from_onnx_text(f"""{HEAD} g (float[N] x, float[3, M] z) => (t) {{
        a = NonZero (x)  f = Cast <to: int = 1> (a)  dropped = MatMul (z, f)  t = Transpose (a) }}""")
    inference = NodeInference.of(model)
    for node in model.graph:
        if node.op_type != "MatMul":
            inference.update(node)
    w = ir.val("w", F32, [7, 2])
    columns = inference.infer(ir.node("Transpose", [model.graph[1].outputs[0]]))[0].shape
    assert columns == ["_d0", 1]
    demanding = ir.node("Concat", [model.graph[1].outputs[0], w], {"axis": 0})
    assert str(inference.infer(demanding)[0].shape) == "[8,2]"  # it runs only where there are 2
    assert inference.infer(model.graph[3])[0].shape == ["_d0", 1]
    x, z = model.graph.inputs
    assert inference.infer(ir.node("Relu", [x]))[0].shape == ["N"]
    assert inference.infer(ir.node("Relu", [z]))[0].shape == [3, "M"]
