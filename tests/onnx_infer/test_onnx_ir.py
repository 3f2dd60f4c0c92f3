"""The onnx_ir front end: it finds what the front end of ModelProto finds, and writes it into the values."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import onnx_infer

from . import models
from .texts import parsed

ir = pytest.importorskip("onnx_ir")
from onnx_infer.integrations import onnx_ir  # noqa: E402
from onnx_infer.integrations.onnx_ir_names import ValueNames  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_infer.graph import Model

HEAD = '<ir_version: 10, opset_import: ["": 20, "f": 1]>'
BODY = '<domain: "f", opset_import: ["": 20, "f": 1]>'


def findings(result: onnx_infer.InferenceResult) -> dict[str, Any]:
    """All that a result says, as text."""
    return {
        "types": {name: str(value) for name, value in result.types.items()},
        "inner": [{n: str(v) for n, v in scope.items()} for _, scope in result._engine.inner],
        "elements": {name: str(elements) for name, elements in result.values.items()},
        "told": [str(d) for d in result.diagnostics],
        "notes": result.notes,
        "guards": [str(g) for g in (*result.guards, *result.data_guards)],
        "inputs": result.found_inputs,
    }


def written(model: onnx.ModelProto) -> dict[str, bytes]:
    """The types in the value infos of a model, of its subgraphs and its functions, by the path to them."""
    found: dict[str, bytes] = {}
    pending: list[tuple[str, Any]] = [("", model.graph), *((f.name, f) for f in model.functions)]
    while pending:
        path, graph = pending.pop()
        held = {t.name for t in getattr(graph, "initializer", ())}
        infos = graph.value_info if isinstance(graph, onnx.FunctionProto) else (*graph.input, *graph.output)
        for info in (*infos, *graph.value_info):
            if info.type.ByteSize() and info.name not in held:
                found[f"{path}/{info.name}"] = info.type.SerializeToString(deterministic=True)
        for i, node in enumerate(graph.node):
            pending += [(f"{path}/{i}.{a.name}", a.g) for a in node.attribute if a.HasField("g")]
    return found


def check_same(model: onnx.ModelProto, **options: Any) -> None:
    """Both front ends find the same and write the same."""
    for _ in range(2):  # the second time with the types that the first one has written
        theirs = ir.from_proto(model)
        assert findings(onnx_infer.infer(model, **options)) == findings(onnx_ir.infer(theirs, **options))
        model = onnx_infer.infer_shapes(model, **options)
        assert written(ir.to_proto(onnx_ir.infer_shapes(theirs, in_place=True, **options))) == written(model)


# -- the same through both front ends ---------------------------------------------------------------------------------

WHOLE: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "decoder": models.decoder, "cnn": models.cnn, "unet": models.unet, "windows": models.windows,
    "detector": models.detector,
}  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"policy": "override"}, {"policy": "skip"}, {"min_dim": 0}], ids=str)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_models(name: str, options: Any) -> None:
    check_same(WHOLE[name](), **options)


GRAPHS = {
    "chain": """g (float[N, 3, H, W] x) => (y) <int64[2] target = {0, -1}> {
        s = Shape(x) h = Gather<axis=0>(s, i) i = Constant<value = int64 {2}>() two = Constant<value_int = 2>()
        d = Mul(h, two) y = Reshape(x, target) }""",
    "declared names": "g (float[N, C] x) => (int64[2, K] y) <float[N, C] r> { r = Relu(x) y = NonZero(r) }",
    "declared otherwise": "g (float[N, 4] x) => (float[N, 5] y) { y = Relu(x) }",
    "generated names": "g (float[N, _d3] x, float[_d0] w) => (y, z) { y = Flatten(x) z = NonZero(w) }",
    "no sizes": "g (float[] x, float[?, 2] v, w) => (a, b, c) { a = Relu(x) b = Concat<axis=0>(v, v) c = Relu(w) }",
    "optional operands": "g (float[N, C, H] x) => (y, z) { y, , z = Dropout(x) }",
    "left out": "g (float[N, 6] x, float lo) => (y) { y = Clip(x, , lo) }",
    "attributes": """g (float[N, 4] x) => (a, b, c) {
        a = Cast<to=7>(x) b = ConstantOfShape<value = int32[1] {3}>(s) s = Constant<value_ints=[2, 3]>()
        c = LeakyRelu<alpha=0.1>(x) }""",
    "strings": """g (string[N] x) => (y, z) <string[2] c = {"a", "b"}> {
        y = Concat<axis=0>(x, c) z = LabelEncoder<keys_strings=["a", "b"], values_int64s=[1, 2]>(x) }""",
    "sequences": """g (seq(float[N, ?]) s, float[N] x) => (a, b, c) {
        a = SequenceAt(s, i) i = Constant<value_int=0>() b = SplitToSequence<axis=0>(x) c = SequenceInsert(s, a) }""",
    "optionals": "g (optional(float[N]) o) => (a, b) { a = OptionalHasElement(o) b = OptionalGetElement(o) }",
    "out of order": "g (float[N] x) => (y) { y = Concat<axis=0>(t, t) t = Relu(x) }",
    "no rule": "g (float[N] x) => (y, float[N, M] z) <float[N] t> { y = f.Odd(x) t = f.Odd(y) z = f.Odd(t) }",
    "no producer": "g (float[N] x) => (y, float[N, M] z) { y = Relu(x) }",
    "errors": "g (float[N, 3] x, float[N, 4] w) => (y, z) { y = Concat<axis=5>(x, w) z = Add(x, w) }",
    "guards": "g (float[N] x, float[M] w) => (y) { y = Add(x, w) }",
    "branches": """g (float[N, 2] x, float[M, 2] w, bool c) => (y) {
        y = If(c) <then_branch = a () => (float[A, 2] p) { t = NonZero(x) p = Neg(x) },
                   else_branch = b () => (q) { t = Relu(w) q = Concat<axis=0>(t, t) }> }""",
    "sizes of the inside": """g (float[N] x, bool c) => (t, y) {
        t = NonZero(x)
        y = If(c) <then_branch = a () => (p) { i = NonZero(x) p = Shape(i) },
                   else_branch = b () => (q) { q = Shape(x) }> }""",
    "loops": """g (int64 m, bool c, float[N, 2] x) => (y, z) {
        y, z = Loop(m, c, x) <body = b (int64 i, bool go, float[A, 2] v) => (again, w, o) {
            again = Identity(go) w = Concat<axis=0>(v, x) o = Relu(x) }> }""",
    "scans": """g (float[B, T, 2] x, float[B, 2] s) => (y, z) {
        y, z = Scan(s, x) <num_scan_inputs = 1, scan_input_axes = [1], body = b (v, e) => (w, o) {
            w = Add(v, e) o = Concat<axis=1>(w, e) }> }""",
}


@pytest.mark.parametrize("policy", ["refine", "override"])
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name: str, policy: str) -> None:
    check_same(parsed(GRAPHS[name], HEAD), policy=policy)


FUNCTIONS = {
    "calls": [
        "g (float[N, 2] x, float[M, 3] w) => (y, z) { y = f.Four(x) z = f.Twice(w) }",
        "Four (a) => (b) { c = f.Twice(a) b = f.Twice(c) }",
        "Twice (a) => (b) { b = Concat<axis=0>(a, a) }",
    ],
    "attributes": [
        "g (float[N, 2] x) => (y, z) { y = f.Join<axis=1>(x) z = f.Join(x) }",
        "Join <axis: int = 0> (a) => (b) { b = Concat<axis: int = @axis>(a, a) }",
    ],
    "constants": [
        "g (float[N, 6] x) => (y) { s = Constant<value = int64[2] {-1, 3}>() y = f.As(x, s) }",
        "As (a, s) => (b) { b = Reshape(a, s) }",
    ],
    "fresh sizes": [
        "g (float[N] x) => (a, b) { a = f.Count(x) b = f.Count(x) }",
        "Count (x) => (i) { i = NonZero(x) }",
    ],
    "subgraphs": [
        "g (float[N] x, bool c) => (y) { y = f.Either(x, c) }",
        """Either (x, c) => (y) { y = If(c) <then_branch = a () => (p) { p = Neg(x) },
                                            else_branch = b () => (q) { q = Concat<axis=0>(x, x) }> }""",
    ],
    "broken": ["g (float[N] x) => (y) { y = f.Self(x) }", "Self (a) => (b) { b = f.Self(a) }"],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    graph, *bodies = FUNCTIONS[name]
    check_same(parsed("\n".join([graph, *(f"{BODY} {body}" for body in bodies)]), HEAD))


def test_types_as_attributes() -> None:
    nodes = []
    for i, dims in enumerate(([2, 3], ["N", 3])):
        kind = helper.make_tensor_type_proto(TensorProto.FLOAT, dims)
        nodes.append(helper.make_node("Optional", [], [f"o{i}"], type=kind))
        nodes.append(helper.make_node("OptionalGetElement", [f"o{i}"], [f"y{i}"]))
    outputs = [onnx.ValueInfoProto(name=f"y{i}") for i in range(2)]
    model = helper.make_model(helper.make_graph(nodes, "g", [], outputs), opset_imports=[helper.make_opsetid("", 20)])
    check_same(model)
    found = onnx_ir.infer(ir.from_proto(model)).types
    assert [str(found[name]) for name in ("o0", "o1")] == ["optional(f32[2, 3]; empty)", "optional(f32[...]; empty)"]


def test_texts_that_are_no_names() -> None:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "2*N", "seq len", "", -3])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["", "out size"])]
    graph = helper.make_graph([helper.make_node("Flatten", ["x"], ["y"])], "g", inputs, outputs)
    check_same(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))


def test_overloads() -> None:
    graph = "g (float[N, 2] x) => (y, z) { y = f.Two(x) z = f.Two(x) }"
    model = parsed("\n".join([graph, *[f"{BODY} Two (a) => (b) {{ b = Concat<axis=0>(a, a) }}"] * 2]), HEAD)
    model.functions[1].overload = "columns"
    model.functions[1].node[0].attribute[0].i = 1
    model.graph.node[1].overload = "columns"
    check_same(model)
    assert str(onnx_ir.infer(ir.from_proto(model)).types["z"]) == "f32[N, 4]"


@pytest.mark.parametrize("version", [3, 8])
def test_an_initializer_that_is_an_input_too(version: int) -> None:
    text = "g (float[N, 6] x, int64[2] s) => (y) <int64[2] s = {-1, 3}> { y = Reshape(x, s) }"
    model = parsed(text, f'<ir_version: {version}, opset_import: ["": 13]>')
    assert [i.name for i in model.graph.input] == ["x", "s"]
    check_same(model)
    result = onnx_ir.infer(ir.from_proto(model))
    assert (str(result.types["y"]), result.inputs) == (
        ("f32[2*N, 3]", ["x"]) if version == 3 else ("f32[_d0, _d1]", ["x", "s"])
    )


def test_bounds_in_the_metadata() -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu(x) }", HEAD)
    helper.set_model_props(model, {"symdim.bounds": '{"N": [2, 8], "M": [4, 2]}'})
    model.graph.input[0].metadata_props.add(key="symdim.bounds", value='{"N": [1, 1]}')
    check_same(model)
    assert onnx_ir.infer(ir.from_proto(model)).symbols["N"].bounds() == (2, 8)


def test_both_directions() -> None:
    text = "g (float[] image, float[64, 3, 7, 7] kernel) => (float[batch, 64, A, B] y) { y = Conv(image, kernel) }"
    check_same(parsed(text, HEAD), bidirectional=True)
    shaped = onnx_ir.infer_shapes(ir.from_proto(parsed(text, HEAD)), bidirectional=True)
    assert [str(d) for d in shaped.graph.inputs[0].shape] == ["batch", "3", "_d0", "_d1"]
    assert [str(d) for d in shaped.graph.outputs[0].shape] == ["batch", "64", "_d0 - 6", "_d1 - 6"]
    text = "g (float[past] a, float[seq] b, float[total] m) => (y) { y = Concat<axis=0>(a, b) }"
    check_same(parsed(text, HEAD), assume=["total == past + seq"])


# -- what onnx_ir holds otherwise -------------------------------------------------------------------------------------


def model_of(inputs: list[Any], outputs: list[Any], nodes: list[Any], initializers: tuple[Any, ...] = ()) -> Any:
    graph = ir.Graph(inputs, outputs, nodes=nodes, initializers=initializers, opset_imports={"": 20}, name="g")
    return ir.Model(graph, ir_version=10)


def value(name: str | None, *dims: int | str | None, dtype: Any = None) -> Any:
    return ir.Value(name=name, shape=ir.Shape(dims), type=ir.TensorType(dtype or ir.DataType.FLOAT))


def constant(name: str, tensor: Any) -> Any:
    return ir.Value(name=name, const_value=tensor)


def shape_of(reshaped_by: Any) -> str:
    """The shape that a target gives to f32[N, 6]."""
    x = value("x", "N", 6)
    node = ir.node("Reshape", [x, constant("s", reshaped_by)])
    model = model_of([x], node.outputs, [node], (node.inputs[1],))
    return str(onnx_ir.infer_shapes(model).graph.outputs[0].shape)


class Numbers:
    """An array that counts how often it is read."""

    def __init__(self, *numbers: int) -> None:
        self.numbers, self.reads = np.array(numbers, np.int64), 0
        self.shape, self.dtype = self.numbers.shape, self.numbers.dtype

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self.reads += 1
        return self.numbers


def test_tensors_in_memory() -> None:
    assert shape_of(ir.tensor([-1, 3], dtype=ir.DataType.INT64)) == "[2*N,3]"
    assert shape_of(ir.Tensor(np.array([3, -1], np.int64))) == "[3,2*N]"
    assert shape_of(ir.Tensor(np.array([[3, 0], [-1, 0]]).T[0])) == "[3,2*N]"


@pytest.mark.parametrize(
    "kind", ["FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT64", "INT8", "UINT16", "BOOL", "STRING"]
)
def test_elements_are_those_of_the_message(kind: str) -> None:
    numbers: list[Any] = [1, 0, 1] if kind != "STRING" else ["a", "é", ""]
    tensor = ir.tensor(numbers, dtype=None if kind == "STRING" else ir.DataType[kind], name="c")
    model = model_of([], [], [node := ir.node("Identity", [constant("c", tensor)])], (node.inputs[0],))
    model.graph.outputs.extend(node.outputs)
    expected = onnx_infer.infer(ir.to_proto(model)).types[node.outputs[0].name]
    found = onnx_ir.infer(model).types[node.outputs[0].name]
    assert found == expected
    assert found.data is not None


def test_external_and_lazy_tensors_are_not_loaded(tmp_path: Any) -> None:
    external = ir.ExternalTensor(
        "no such file", 0, 16, ir.DataType.INT64, shape=ir.Shape([2]), name="s", base_dir=tmp_path
    )
    assert shape_of(external) == "[_d0,_d1]"

    def never() -> Any:
        raise AssertionError("a lazy tensor was loaded")

    assert shape_of(ir.LazyTensor(never, ir.DataType.INT64, ir.Shape([2]))) == "[_d0,_d1]"
    weights = Numbers(*range(10_000))
    assert shape_of(ir.Tensor(Numbers(-1, 3), dtype=ir.DataType.INT64, shape=ir.Shape([2]))) == "[2*N,3]"
    x = value("x", "N", dtype=ir.DataType.INT64)
    big = constant("w", ir.Tensor(weights, dtype=ir.DataType.INT64, shape=ir.Shape([10_000])))
    node = ir.node("Gather", [big, x])
    model = model_of([x], node.outputs, [node], (big,))
    assert str(onnx_ir.infer_shapes(model).graph.outputs[0].shape) == "[N]"
    assert weights.reads == 0


def test_a_tensor_that_gives_no_elements() -> None:
    class Fake(ir.Tensor):  # type: ignore[misc,name-defined]
        def tobytes(self) -> bytes:
            raise TypeError("no data")

    assert shape_of(Fake(np.array([-1, 3], np.int64))) == "[_d0,_d1]"


def test_an_initializer_without_a_tensor() -> None:
    x, w = value("x", "N", 4), value("w", 4, 5)
    node = ir.node("MatMul", [x, w])
    model = model_of([x], node.outputs, [node], (w,))
    result = onnx_ir.infer(model)
    assert (str(result.type_of(node.outputs[0])), result.inputs) == ("f32[N, 5]", ["x"])


def test_floats_have_32_bits() -> None:
    x = value("x", 3, dtype=ir.DataType.FLOAT)
    node = ir.node("Odd", [x], {"alpha": 0.1, "betas": [0.1, 1e99]}, domain="f")
    view = view_of(model_of([x], node.outputs, [node]))
    (read,) = view.graph.nodes()
    assert read[4].values == {"alpha": float(np.float32(0.1)), "betas": (float(np.float32(0.1)), float("inf"))}


def view_of(model: Any) -> Model:
    return onnx_ir.infer(model)._engine.model


def test_equal_attributes_are_one_object() -> None:
    x = value("x", "N", "M")
    nodes = [ir.node("Concat", [x, x], {"axis": 1}), ir.node("Concat", [x, x], {"axis": 1}),
             ir.node("Odd", [x], {"axis": 1.0}, domain="f")]  # fmt: skip
    first, second, third = (node[4] for node in view_of(model_of([x], [], nodes)).graph.nodes())
    assert first is second
    assert third is not first
    assert type(third.values["axis"]) is float


def test_a_node_as_a_message() -> None:
    model = parsed("g (float[N, 4] x) => (y) { y = Concat<axis=1>(x, x) }", HEAD)
    view = view_of(ir.from_proto(model))
    (node,) = view.graph.nodes()
    assert onnx.NodeProto.FromString(view.message(node)) == model.graph.node[0]


# -- values and their names -------------------------------------------------------------------------------------------


def test_values_of_one_name() -> None:
    x = value("x", "N", 4)
    first = ir.node("Concat", [x, x], {"axis": 0})
    second = ir.node("Concat", [first.outputs[0], x], {"axis": 0})
    third = ir.node("Transpose", [first.outputs[0]])
    first.outputs[0].name = second.outputs[0].name = third.outputs[0].name = "y"
    model = model_of([x], [second.outputs[0], third.outputs[0]], [first, second, third])
    result = onnx_ir.infer(model)
    assert [str(result.type_of(n.outputs[0])) for n in (first, second, third)] == [
        "f32[2*N, 4]",
        "f32[3*N, 4]",
        "f32[4, 2*N]",
    ]
    assert not result.diagnostics
    result.apply(model)
    assert [str(v.shape) for v in model.graph.outputs] == ["[3*N,4]", "[4,2*N]"]


def test_an_outer_value_under_a_name_of_the_inside() -> None:
    x, c = value("x", "N", 4), value("c", dtype=ir.DataType.BOOL)
    inner = ir.node("Transpose", [x])
    inner.outputs[0].name = "x"
    after = ir.node("Concat", [x, x], {"axis": 1})
    branch = ir.Graph([], [inner.outputs[0], after.outputs[0]], nodes=[inner, after], name="a")
    other = [ir.node("Identity", [x]), ir.node("Identity", [x])]
    otherwise = ir.Graph([], [n.outputs[0] for n in other], nodes=other, name="b")
    node = ir.node("If", [c], {"then_branch": branch, "else_branch": otherwise}, num_outputs=2)
    model = model_of([x, c], node.outputs, [node])
    result = onnx_ir.infer(model)
    assert [str(result.type_of(v)) for v in branch.outputs] == ["f32[4, N]", "f32[N, 8]"]
    result.apply(model)
    assert [str(v.shape) for v in (*branch.outputs, *otherwise.outputs)] == ["[4,N]", "[N,8]", "[N,4]", "[N,4]"]


def test_values_without_names() -> None:
    x = value(None, "N", 4)
    node = ir.node("Concat", [x, x], {"axis": 0})
    model = model_of([x], node.outputs, [node])
    x.name = node.outputs[0].name = None
    names = ValueNames(model)
    assert len(set(names.values())) == 2
    assert all(names.values())
    assert str(onnx_ir.infer_shapes(model, in_place=True).graph.outputs[0].shape) == "[2*N,4]"


def test_a_value_that_nothing_gives() -> None:
    x, lost = value("x", "N"), ir.Value(name="x")
    node = ir.node("Add", [x, lost])
    result = onnx_ir.infer(model_of([x], node.outputs, [node]))
    assert [d.message for d in result.diagnostics] == ["input 'x_0' of node 'node_Add_0' is produced by no node"]
    assert result.type_of(lost) is None


# -- writing ----------------------------------------------------------------------------------------------------------


def all_values(model: Any) -> Iterator[Any]:
    for graph in model.graphs():
        yield from graph.inputs
        yield from (v for node in graph for v in node.outputs)


def test_a_copy_leaves_the_model_as_it_is() -> None:
    model = ir.from_proto(models.decoder())
    before = [(v.name, v.type, v.shape) for v in all_values(model)]
    copy = onnx_ir.infer_shapes(model)
    assert [(v.name, v.type, v.shape) for v in all_values(model)] == before
    assert all(v.shape is not None and v.type is not None for v in all_values(copy))
    assert onnx_ir.infer_shapes(model, in_place=True) is model
    assert [(v.type, v.shape) for v in all_values(model)] == [(v.type, v.shape) for v in all_values(copy)]


def test_what_is_written_follows_the_model() -> None:
    body = f"{BODY} Twice (a) => (b) {{ b = Concat<axis=0>(a, a) }}"
    model = ir.from_proto(parsed(f"g (float[N, 2] x) => (y) {{ y = f.Twice(x) }}\n{body}", HEAD))
    onnx_ir.infer_shapes(model, in_place=True)
    model.graph.inputs[0].shape = ir.Shape([3, "M"])
    onnx_ir.infer_shapes(model, in_place=True, policy="override")
    (function,) = model.functions.values()
    found = [model.graph.outputs[0], function.inputs[0], function.outputs[0]]
    assert [str(v.shape) for v in found] == ["[6,M]", "[3,M]", "[6,M]"]
    function.outputs[0].producer().op_type = "Odd"
    onnx_ir.infer_shapes(model, in_place=True, policy="override")
    assert [v.shape and str(v.shape) for v in found] == ["[6,M]", "[3,M]", None]


def test_maps_have_no_type() -> None:
    x = value("x", "N", 2)
    node = ir.node("ZipMap", [x], {"classlabels_int64s": [1, 2]}, domain="ai.onnx.ml")
    relu = ir.node("Relu", [x])
    node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    model = model_of([x], relu.outputs, [node, relu])
    model.graph.opset_imports["ai.onnx.ml"] = 1
    result = onnx_ir.infer(model, policy="override")
    assert str(result.type_of(node.outputs[0])) == "seq(map(i64, f32[]); N)"
    result.apply(model)
    assert (node.outputs[0].type, node.outputs[0].shape) == (None, None)


def test_types_are_not_shared_between_values() -> None:
    model = onnx_ir.infer_shapes(ir.from_proto(models.cnn()))
    types = Counter(id(v.type) for v in all_values(model))
    shapes = Counter(id(v.shape) for v in all_values(model))
    assert max(types.values()) == max(shapes.values()) == 1
    assert not any(v.shape.frozen for node in model.graph for v in node.outputs)


def test_denotations_stay() -> None:
    model = ir.from_proto(parsed("g (float[N, 3] x) => (float[A, B] y) { y = Relu(x) }", HEAD))
    (y,) = model.graph.outputs
    y.shape = ir.Shape(["A", "B"], denotations=["DATA_BATCH", "DATA_CHANNEL"])
    y.type = ir.TensorType(ir.DataType.FLOAT, denotation="TENSOR")
    onnx_ir.infer_symbolic_shapes(model)
    assert (y.shape, y.shape.get_denotation(1), y.type.denotation) == (ir.Shape(["N", 3]), "DATA_CHANNEL", "TENSOR")


def test_the_result_belongs_to_its_model() -> None:
    model = ir.from_proto(models.cnn())
    with pytest.raises(ValueError, match="only into the model that was inferred"):
        onnx_ir.infer(model).apply(model.clone())


def test_the_pass_in_a_sequence() -> None:
    model = ir.from_proto(models.windows())
    step = onnx_ir.SymbolicShapeInferencePass()
    assert ir.passes.Sequential(step)(model).modified
    outcome = ir.passes.PassManager([step], steps=2)(model)
    assert (outcome.model, outcome.modified) == (model, False)
    model.graph.outputs[0].shape = None
    assert step(model).modified


def test_errors_are_raised_where_they_are_wanted(caplog: pytest.LogCaptureFixture) -> None:
    model = ir.from_proto(parsed("g (float[N, 3] x) => (y, z) { y = Concat<axis=5>(x) z = f.Odd(x) }", HEAD))
    with pytest.raises(onnx_infer.ShapeInferenceError, match="axis 5 is out of range"):
        onnx_ir.infer_shapes(model, strict_mode=True)
    with pytest.raises(onnx_infer.ShapeInferenceError):
        onnx_ir.infer(model, policy="strict")
    with pytest.raises(ValueError, match="policy"):
        onnx_ir.infer(model, policy="odd")  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING, "onnx_infer"):
        onnx_ir.infer_symbolic_shapes(model, warn_on_missing=False)
    assert len(caplog.records) == 1


def python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout


def test_onnx_ir_is_loaded_only_by_its_front_end() -> None:
    program = "import sys, onnx_infer; from onnx_infer.demo import demo_model; onnx_infer.infer(demo_model())"
    assert python(f"{program}; print('onnx_ir' in sys.modules)") == "False\n"


def test_without_the_package() -> None:
    program = """
import sys
sys.modules["onnx_ir"] = None
try:
    import onnx_infer.integrations.onnx_ir
except ImportError as error:
    print(error)
"""
    assert "pip install 'onnx-symdim[ir]'" in python(program)


# -- what is asked of a result ----------------------------------------------------------------------------------------


def test_plans_and_sizes_as_nodes() -> None:
    model = models.windows()
    ours, theirs = onnx_infer.infer(model), onnx_ir.infer(ir.from_proto(model))
    assert str(ours.memory().peak) == str(theirs.memory().peak)
    assert str(ours.costs().multiply_adds) == str(theirs.costs().multiply_adds)
    size = ours.shapes[ours.outputs[0]][0]
    made = [onnx_infer.materialize(size, r, prefix="x") for r in (ours, theirs)]
    assert made[0] == made[1]


def test_new_names_are_free() -> None:
    x = value("x", "N")
    node = ir.node("Relu", [x], name="size_shape")
    node.outputs[0].name = "size_gather"
    result = onnx_ir.infer(model_of([x], node.outputs, [node]))
    made = onnx_infer.materialize(result.shapes["x"][0], result)
    assert {"size_shape", "size_gather"}.isdisjoint(n for node in made.nodes for n in (node.name, *node.output))


def test_weights_are_shared_with_a_copy() -> None:
    proto = helper.make_tensor("w", TensorProto.FLOAT, (2, 2), [1.0] * 4)
    w = constant("w", ir.from_proto(proto))
    x = value("x", "N", 2)
    node = ir.node("MatMul", [x, w])
    model = model_of([x], node.outputs, [node], (w,))
    assert onnx_ir.infer_shapes(model).graph.initializers["w"].const_value is w.const_value
