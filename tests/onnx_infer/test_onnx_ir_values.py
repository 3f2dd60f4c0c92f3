"""What is special about models of onnx_ir: tensors, names of values, types written in place, the pass."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

import onnx_infer
from onnx_infer.integrations import onnx_ir
from onnx_infer.integrations.onnx_ir_names import ValueNames
from onnx_infer.integrations.onnx_ir_reader import message

from . import models
from .texts import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.model.graph import Model

HEAD = '<ir_version: 10, opset_import: ["": 20, "f": 1]>'


# -- tensors and attributes -------------------------------------------------------------------------------------------


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


def test_an_initializer_of_a_function() -> None:
    a, s = ir.Value(name="a"), constant("s", ir.tensor([-1, 3], dtype=ir.DataType.INT64))
    inner = ir.node("Reshape", [a, s])
    body = ir.Graph([a], inner.outputs, nodes=[inner], initializers=[s], opset_imports={"": 20}, name="b")
    x = value("x", "N", 6)
    call = ir.node("InThrees", [x], domain="f")
    model = model_of([x], call.outputs, [call])
    model.functions["f", "InThrees", ""] = ir.Function("f", "InThrees", graph=body, attributes=[])
    assert str(onnx_ir.infer_shapes(model, in_place=True).graph.outputs[0].shape) == "[2*N,3]"


def test_floats_have_32_bits() -> None:
    x = value("x", 3, dtype=ir.DataType.FLOAT)
    node = ir.node("Odd", [x], {"alpha": 0.1, "betas": [0.1, 1e99]}, domain="f")
    view = view_of(model_of([x], node.outputs, [node]))
    (read,) = view.graph.nodes()
    assert read[4].values == {"alpha": float(np.float32(0.1)), "betas": (float(np.float32(0.1)), float("inf"))}


def view_of(model: Any) -> Model:
    return onnx_ir.infer(model)._record.model


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
    assert onnx.NodeProto.FromString(message(node)) == model.graph.node[0]


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
    names = ValueNames([model.graph])
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
    body = '<domain: "f", opset_import: ["": 20]> Twice (a) => (b) { b = Concat<axis=0>(a, a) }'
    model = ir.from_proto(parsed(f"g (float[N, 2] x) => (y) {{ y = f.Twice(x) }}\n{body}", HEAD))
    onnx_ir.infer_shapes(model, in_place=True)
    model.graph.inputs[0].shape = ir.Shape([3, "M"])
    onnx_ir.infer_shapes(model, in_place=True, policy="override")
    (function,) = model.functions.values()
    found = [model.graph.outputs[0], function.inputs[0], function.outputs[0]]
    assert [str(v.shape) for v in found] == ["[6,M]", "[3,M]", "[6,M]"]
    function.outputs[0].producer().op_type = "Odd"
    onnx_ir.infer_shapes(model, in_place=True, policy="override")
    assert [str(v.shape) for v in found] == ["[6,M]", "[3,M]", "[6,M]"]  # what is not inferred stays


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


# -- what is asked of a result ----------------------------------------------------------------------------------------


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
