"""Small models with one fault each: who refuses them when they load, and what `lint` finds.

A line of `CASES` is (who refuses it, the rules that find it, the model before, the change that makes the fault). Who:
"onnx" is its checker, "ort" onnxruntime, "both", or "none". What was tried: onnx 1.23 and onnxruntime 1.32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[onnx.ModelProto], object]

HEAD = '<ir_version: 10, opset_import: ["": 20]>'
PLAIN = HEAD + """ g (float[N, 4] x) => (float[N, 4] y) <float[4] w = {1, 2, 3, 4}> { t = Add (x, w)  y = Relu (t) }"""
BODY = (
    HEAD
    + """ g (float[2] x, bool c) => (float[2] y) { t = Relu (x)
    y = If (c) <then_branch = a () => (float[2] u) { u = Neg (t) }, else_branch = b () => (float[2] v) { v = Neg (x) }>
}"""
)
CALL = """<ir_version: 10, opset_import: ["": 20, "d": 1]> g (float[2] x) => (float[2] y) { y = d.f (x) }
<domain: "d", opset_import: ["": 20]> f (a) => (b) { t = Neg (a)  b = Relu (t) }"""
LITERAL = (
    HEAD
    + """ g (float[N, 4] x) => (float[N, 4] y) {
    k = Constant <value = float[4] {1, 2, 3, 4}> ()  y = Add (x, k) }"""
)
ATTRIBUTE = HEAD + " g (float[N, 4] x) => (float[N, 4] y) { y = Softmax <axis: int = 1> (x) }"


def setting(of: Callable[[onnx.ModelProto], Any], **fields: Any) -> Change:
    """The change that sets fields of a part; None clears one, a list replaces one."""

    def change(model: onnx.ModelProto) -> None:
        part = of(model)
        for name, value in fields.items():
            if value is None or isinstance(value, list):
                part.ClearField(name)
                getattr(part, name).extend(value or []) if value else None
            else:
                setattr(part, name, value)

    return change


def weight(**fields: Any) -> Change:
    return setting(lambda m: m.graph.initializer[0], **fields)


def bare(**fields: Any) -> Change:
    """The initializer with other fields in place of its data."""
    return weight(float_data=None, **fields)


def again(of: Callable[[onnx.ModelProto], Any]) -> Change:
    """The change that repeats the first part of a list."""
    return lambda m: of(m).append(of(m)[0])


def node(*arguments: Any, **fields: Any) -> Change:
    return lambda m: m.graph.node.append(helper.make_node(*arguments, **fields))


def function(*arguments: Any, **fields: Any) -> Change:
    return lambda m: m.functions[0].node.append(helper.make_node(*arguments, **fields))


def imports(domain: str, version: int) -> Change:
    return lambda m: m.opset_import.add(domain=domain, version=version)


def sparse(dims: list[int], values: Any, indices: Any, kind: Any = np.int64, name: str = "s") -> Change:
    def change(model: onnx.ModelProto) -> None:
        found = model.graph.sparse_initializer.add(dims=dims)
        found.values.CopyFrom(numpy_helper.from_array(np.array(values, np.float32), name))
        found.indices.CopyFrom(numpy_helper.from_array(np.array(indices, kind), ""))

    return change


def all_of(*changes: Change) -> Change:
    return lambda m: [change(m) for change in changes]


def body(model: onnx.ModelProto) -> onnx.GraphProto:
    return model.graph.node[1].attribute[0].g


def first(model: onnx.ModelProto) -> onnx.FunctionProto:
    return model.functions[0]


def attribute(model: onnx.ModelProto) -> onnx.AttributeProto:
    return model.graph.node[0].attribute[0]


def kind_of(model: onnx.ModelProto) -> Any:
    return model.graph.input[0].type.tensor_type


CASES: dict[str, tuple[str, str, str, Change]] = {
    "nothing": ("none", "", PLAIN, lambda m: None),
    "a body": ("none", "", BODY, lambda m: None),
    "a function": ("none", "", CALL, lambda m: None),
    # -- versions
    "IR 99": ("both", "ir-version", PLAIN, setting(lambda m: m, ir_version=99)),
    "IR 0": ("onnx", "ir-version initializer-not-input", PLAIN, setting(lambda m: m, ir_version=0)),
    "no IR": ("both", "ir-version initializer-not-input", PLAIN, setting(lambda m: m, ir_version=None)),
    "IR 2 with opsets": ("onnx", "ir-version", ATTRIBUTE, setting(lambda m: m, ir_version=2)),
    "IR 3": ("onnx", "initializer-not-input", PLAIN, setting(lambda m: m, ir_version=3)),
    "no opset": ("both", "no-opset", PLAIN, setting(lambda m: m, opset_import=None)),
    "opset 0": ("both", "opset-version", PLAIN, setting(lambda m: m.opset_import[0], version=0)),
    "opset -1": ("both", "opset-version", PLAIN, setting(lambda m: m.opset_import[0], version=-1)),
    "opset 999": ("ort", "opset-version", PLAIN, setting(lambda m: m.opset_import[0], version=999)),
    "opset 2**40": ("both", "opset-version", PLAIN, setting(lambda m: m.opset_import[0], version=2**40)),
    "unused opset 999": ("ort", "opset-version", PLAIN, imports("ai.onnx.ml", 999)),
    "unused opset 0": ("none", "", PLAIN, imports("ai.onnx.ml", 0)),
    "custom opset 0": ("none", "", PLAIN, imports("acme", 0)),
    "opset of a function": ("ort", "opset-version", CALL, setting(lambda m: first(m).opset_import[0], version=999)),
    "metadata": (
        "onnx", "repeated-metadata", PLAIN,
        all_of(lambda m: m.metadata_props.add(key="a", value="1"), again(lambda m: m.metadata_props)),
    ),
    # -- names
    "graph without a name": ("onnx", "unnamed", PLAIN, setting(lambda m: m.graph, name=None)),
    "body without a name": ("both", "unnamed", BODY, setting(body, name=None)),
    "two inputs": ("both", "repeated-name", PLAIN, again(lambda m: m.graph.input)),
    "two outputs": ("none", "", PLAIN, again(lambda m: m.graph.output)),
    "two initializers": ("onnx", "repeated-name", PLAIN, again(lambda m: m.graph.initializer)),
    "initializer and input": (
        "none", "", PLAIN, lambda m: m.graph.input.append(helper.make_tensor_value_info("w", 1, [4])),
    ),
    "unnamed input": ("both", "unnamed", PLAIN, all_of(again(lambda m: m.graph.input), setting(
        lambda m: m.graph.input[1], name=None))),
    "unnamed output": ("both", "unnamed", PLAIN, all_of(again(lambda m: m.graph.output), setting(
        lambda m: m.graph.output[1], name=None))),
    "two nodes give one value": ("both", "repeated-name", PLAIN, node("Neg", ["x"], ["t"])),
    "a node gives an input": ("both", "repeated-name", PLAIN, node("Neg", ["t"], ["x"])),
    "a node gives an initializer": ("both", "repeated-name", PLAIN, node("Neg", ["t"], ["w"])),
    "two outputs of a node": (
        "both", "repeated-name", PLAIN, node("Split", ["x"], ["p", "p"], axis=0, num_outputs=2),
    ),
    "unknown value": ("both", "value-not-given", PLAIN, node("Neg", ["q"], ["r"])),
    "unsorted": ("onnx", "value-not-given", PLAIN, all_of(
        node("Add", ["x", "w"], ["t"]), lambda m: m.graph.node.__delitem__(0))),
    "circle": ("both", "value-not-given", PLAIN, lambda m: m.graph.node[0].input.__setitem__(0, "t")),
    "unknown output": ("both", "value-not-given", PLAIN, setting(lambda m: m.graph.output[0], name="q")),
    "an input returned": ("none", "", PLAIN, setting(lambda m: m.graph.output[0], name="x")),
    "two nodes in a body": (
        "both", "repeated-name", BODY, lambda m: body(m).node.append(helper.make_node("Neg", ["x"], ["u"])),
    ),
    "unknown value in a body": ("both", "value-not-given", BODY, lambda m: body(m).node[0].input.__setitem__(0, "q")),
    "unknown output of a body": ("both", "value-not-given", BODY, setting(lambda m: body(m).output[0], name="q")),
    "a later value in a body": ("onnx", "value-not-given", BODY, all_of(
        node("Neg", ["x"], ["q"]), lambda m: body(m).node[0].input.__setitem__(0, "q"))),
    "value_info of nothing": (
        "none", "", PLAIN, lambda m: m.graph.value_info.append(helper.make_tensor_value_info("q", 1, [2])),
    ),
    # -- types
    "input without a type": ("both", "untyped-value", PLAIN, setting(lambda m: m.graph.input[0], type=None)),
    "output without a type": ("onnx", "untyped-value", PLAIN, setting(lambda m: m.graph.output[0], type=None)),
    "no element type": ("both", "untyped-value", PLAIN, setting(kind_of, elem_type=None)),
    "element type 0": ("ort", "untyped-value", PLAIN, setting(kind_of, elem_type=0)),
    "element type 77": ("ort", "untyped-value", PLAIN, setting(kind_of, elem_type=77)),
    "no shape": ("onnx", "untyped-value", PLAIN, setting(kind_of, shape=None)),
    "sequence of nothing": (
        "both", "untyped-value", PLAIN, lambda m: m.graph.input.add(name="q").type.sequence_type.SetInParent(),
    ),
    "map of nothing": (
        "both", "untyped-value", PLAIN, lambda m: setattr(m.graph.input.add(name="q").type.map_type, "key_type", 7),
    ),
    "value_info without an element type": ("ort", "untyped-value", PLAIN, lambda m: m.graph.value_info.add(
        name="t").type.tensor_type.SetInParent()),
    "value_info without a type": ("none", "", PLAIN, lambda m: m.graph.value_info.add(name="t")),
    "value_info of an initializer": (
        "none", "", PLAIN, lambda m: m.graph.value_info.add(name="w").type.tensor_type.SetInParent(),
    ),
    "body without an element type": ("ort", "untyped-value", BODY, lambda m: body(m).output[
        0].type.tensor_type.ClearField("elem_type")),
    "body without a type": ("none", "", BODY, setting(lambda m: body(m).output[0], type=None)),
    "sequence of an untyped tensor": ("ort", "untyped-value", PLAIN, lambda m: m.graph.input.add(
        name="q").type.sequence_type.elem_type.tensor_type.SetInParent()),
    # -- nodes
    "domain of onnxruntime": ("both", "domain-not-imported", PLAIN, setting(
        lambda m: m.graph.node[0], domain="com.microsoft")),
    "domain in a body": ("both", "domain-not-imported", BODY, setting(lambda m: body(m).node[0], domain="acme")),
    "ai.onnx for a node": ("onnx", "domain-not-imported", PLAIN, setting(lambda m: m.graph.node[0], domain="ai.onnx")),
    "ai.onnx imported": ("none", "", PLAIN, setting(lambda m: m.opset_import[0], domain="ai.onnx")),
    "unnamed output of a node": ("both", "unnamed-output", PLAIN, all_of(
        lambda m: m.graph.node[0].output.__setitem__(0, ""), lambda m: m.graph.node[1].input.__setitem__(0, "x"))),
    "unknown operator": ("both", "refused-by-onnx", PLAIN, setting(lambda m: m.graph.node[1], op_type="Foo")),
    "too many inputs": ("both", "refused-by-onnx", PLAIN, lambda m: m.graph.node[1].input.append("x")),
    "no operands": ("onnx", "refused-by-onnx", PLAIN, node("Relu", [], [])),
    "unknown attribute": ("both", "refused-by-onnx", PLAIN, lambda m: m.graph.node[1].attribute.add(
        name="q", type=2, i=1)),
    "attribute twice": ("both", "refused-by-onnx", ATTRIBUTE, again(lambda m: m.graph.node[0].attribute)),
    "two fields of an attribute": ("both", "refused-by-onnx", ATTRIBUTE, setting(attribute, f=1.0)),
    # -- tensors
    "undefined": ("both", "tensor-type", PLAIN, weight(data_type=0)),
    "type 77": ("ort", "tensor-type", PLAIN, bare(data_type=77, raw_data=bytes(16))),
    "negative": ("both", "tensor-shape", PLAIN, weight(dims=[-4])),
    "two negative sizes": ("both", "tensor-shape", PLAIN, weight(dims=[-2, -2])),
    "2**80 elements": ("both", "tensor-shape", PLAIN, weight(dims=[2**40, 2**40])),
    "few bytes": ("both", "tensor-data", PLAIN, bare(raw_data=bytes(8))),
    "many bytes": ("ort", "tensor-data", PLAIN, bare(raw_data=bytes(20))),
    "few numbers": ("both", "tensor-data", PLAIN, weight(float_data=[1, 2])),
    "many numbers": ("ort", "tensor-data", PLAIN, weight(float_data=[1, 2, 3, 4, 5])),
    "many numbers that nobody reads": (
        "none", "", PLAIN, lambda m: m.graph.initializer.add(name="z", data_type=T.INT64, dims=[2], int64_data=[1] * 3),
    ),
    "no data": ("both", "tensor-data", PLAIN, bare()),
    "two fields": ("onnx", "tensor-data", PLAIN, weight(raw_data=bytes(16))),
    "another field": ("both", "tensor-data", PLAIN, bare(int32_data=[1, 2, 3, 4])),
    "data of nothing": ("both", "tensor-data", PLAIN, weight(dims=[0])),
    "few strings": ("onnx", "tensor-data", PLAIN, lambda m: m.graph.initializer.add(
        name="z", data_type=T.STRING, dims=[2], string_data=[b"a"])),
    "raw strings": ("onnx", "tensor-data", PLAIN, lambda m: m.graph.initializer.add(
        name="z", data_type=T.STRING, dims=[1], raw_data=b"a")),
    "few packed": ("onnx", "tensor-data", PLAIN, lambda m: m.graph.initializer.add(
        name="z", data_type=T.INT4, dims=[9], int32_data=[1])),
    "packed": ("none", "", PLAIN, lambda m: m.graph.initializer.append(
        helper.make_tensor("z", T.INT4, [9], list(range(-4, 5))))),
    "few complex": ("onnx", "tensor-data", PLAIN, lambda m: m.graph.initializer.add(
        name="z", data_type=T.COMPLEX64, dims=[2], float_data=[1, 2])),
    "a literal is short": ("both", "tensor-data", LITERAL, lambda m: attribute(m).t.float_data.pop()),
    "a literal is undefined": ("both", "tensor-type", LITERAL, lambda m: setattr(attribute(m).t, "data_type", 0)),
    # -- sparse tensors
    "sparse": ("none", "", PLAIN, sparse([4, 3], [1, 2], [0, 4])),
    "sparse pairs": ("none", "", PLAIN, sparse([4, 3], [1, 2], [[0, 0], [1, 1]])),
    "index 40": ("both", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [0, 40])),
    "index -1": ("both", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [-1, 4])),
    "index [1, 3]": ("both", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [[0, 0], [1, 3]])),
    "unsorted indices": ("onnx", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [4, 0])),
    "an index twice": ("onnx", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [4, 4])),
    "unsorted pairs": ("onnx", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [[1, 0], [0, 0]])),
    "one index for two": ("both", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [1])),
    "values of rank 2": ("both", "sparse-tensor", PLAIN, sparse([4, 3], [[1, 2]], [1])),
    "sparse without axes": ("both", "sparse-tensor", PLAIN, sparse([], [1, 2], [1, 2])),
    "sparse of size 0": ("onnx", "sparse-tensor", PLAIN, sparse([0], [], [])),
    "indices of i32": ("onnx", "sparse-tensor", PLAIN, sparse([4, 3], [1, 2], [0, 4], np.int32)),
    "sparse without a name": ("both", "unnamed", PLAIN, sparse([4, 3], [1, 2], [0, 4], name="")),
    # -- functions
    "function without opset": ("both", "function-opset", CALL, setting(first, opset_import=None)),
    "domain in a function": ("both", "function-opset", CALL, function("Foo", ["t"], ["z"], domain="acme")),
    "another opset, one schema": ("none", "", CALL, setting(lambda m: first(m).opset_import[0], version=18)),
    "another opset, another schema": ("onnx", "function-opset", CALL, setting(
        lambda m: first(m).opset_import[0], version=12)),
    "call without opset": ("both", "domain-not-imported", CALL, lambda m: m.opset_import.__delitem__(1)),
    "two functions": ("both", "repeated-function", CALL, again(lambda m: m.functions)),
    "overloads": ("none", "", CALL, all_of(again(lambda m: m.functions), setting(
        lambda m: m.functions[1], overload="o"))),
    "recursive": ("both", "recursive-function", CALL, all_of(
        setting(lambda m: first(m).node[0], op_type="f", domain="d"),
        lambda m: first(m).opset_import.add(domain="d", version=1))),
    "function without a domain": ("onnx", "unnamed", CALL, all_of(again(lambda m: m.functions), setting(
        lambda m: m.functions[1], name="g", domain=None))),
    "input of a function twice": ("both", "repeated-name", CALL, lambda m: first(m).input.append("a")),
    "output of a function twice": ("both", "function-signature", CALL, lambda m: first(m).output.append("b")),
    "attribute of a function twice": (
        "onnx", "function-signature", CALL, lambda m: first(m).attribute.extend(["k", "k"]),
    ),
    "unknown output of a function": (
        "ort", "function-signature", CALL, lambda m: first(m).output.__setitem__(0, "q"),
    ),
    "unnamed input of a function": ("ort", "function-signature", CALL, lambda m: first(m).input.append("")),
    "unknown value in a function": (
        "both", "value-not-given", CALL, lambda m: first(m).node[0].input.__setitem__(0, "q"),
    ),
    "two nodes in a function": ("both", "repeated-name", CALL, function("Neg", ["a"], ["t"])),
    "surplus input of a call": ("ort", "function-call", CALL, lambda m: m.graph.node[0].input.append("x")),
    "surplus output of a call": ("ort", "function-call", CALL, lambda m: m.graph.node[0].output.append("z")),
}  # fmt: skip


def broken(base: str, change: Change) -> onnx.ModelProto:
    """The model with the change."""
    model = onnx.parser.parse_model(base)
    change(model)
    return model
