"""The onnx_ir front end: it finds what the front end of ModelProto finds, and writes it into the values."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

import onnx_infer
from onnx_infer.integrations import onnx_ir
from onnx_infer.integrations.onnx_ir_reader import attribute_value
from onnx_infer.model.attributes import attribute_value as of_message

from . import models
from .texts import parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HEAD = '<ir_version: 10, opset_import: ["": 20, "f": 1]>'
BODY = '<domain: "f", opset_import: ["": 20, "f": 1]>'


def findings(result: onnx_infer.InferenceResult) -> dict[str, Any]:
    """All that a result says, as text."""
    return {
        "types": {name: str(value) for name, value in result.types.items()},
        "inner": [{n: str(v) for n, v in scope.items()} for _, scope in result._record.inner],
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


@pytest.mark.parametrize("options", [{}, {"policy": "skip", "min_dim": 0}], ids=str)
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


def test_lists_as_attributes() -> None:
    tensor, kind = helper.make_tensor("t", TensorProto.INT64, [2], [3, 4]), helper.make_tensor_type_proto(1, [2, 3])
    for values in ([tensor, tensor], [kind, kind], [1.5, 0.1], ["a", "b"], [7, 8]):
        attribute = helper.make_attribute("a", values)
        assert attribute_value(ir.from_proto(attribute)) == of_message(attribute)


def test_texts_that_are_no_names() -> None:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "2*N", "seq len", "", -3])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["", "out size"])]
    graph = helper.make_graph([helper.make_node("Flatten", ["x"], ["y"])], "g", inputs, outputs)
    check_same(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))


def test_a_constant_without_an_output() -> None:
    model = parsed("g (float[N] x) => (y) { c = Constant<value = int64 {2}>() y = Relu(x) }", HEAD)
    del model.graph.node[0].output[:]
    check_same(model)
    assert str(onnx_ir.infer(ir.from_proto(model)).types["y"]) == "f32[N]"


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
    entry = '{"version": 1, "bounds": {"N": [2, 8], "M": [4, 2], "K": 3, "L": [1]}}'
    model.graph.metadata_props.add(key="symdim.contract", value=entry)
    check_same(model)
    result = onnx_ir.infer(ir.from_proto(model))
    assert result.symbols["N"].bounds() == (2, 8)
    assert [d.message.partition(": ")[2] for d in result.diagnostics][1:] == [
        "3 are not bounds of 'K'",
        "[1] are not bounds of 'L'",
    ]


def test_both_directions() -> None:
    text = "g (float[] image, float[64, 3, 7, 7] kernel) => (float[batch, 64, A, B] y) { y = Conv(image, kernel) }"
    check_same(parsed(text, HEAD), bidirectional=True)
    shaped = onnx_ir.infer_shapes(ir.from_proto(parsed(text, HEAD)), bidirectional=True)
    assert [str(d) for d in shaped.graph.inputs[0].shape] == ["batch", "3", "image_dim_2", "image_dim_3"]
    assert [str(d) for d in shaped.graph.outputs[0].shape] == ["batch", "64", "image_dim_2 - 6", "image_dim_3 - 6"]
    text = "g (float[past] a, float[seq] b, float[total] m) => (y) { y = Concat<axis=0>(a, b) }"
    check_same(parsed(text, HEAD), assume=["total == past + seq"])


def test_plans_and_sizes_as_nodes() -> None:
    model = models.windows()
    ours, theirs = onnx_infer.infer(model), onnx_ir.infer(ir.from_proto(model))
    assert str(ours.memory().peak) == str(theirs.memory().peak)
    assert str(ours.costs().multiply_adds) == str(theirs.costs().multiply_adds)
    size = ours.shapes[ours.outputs[0]][0]
    made = [onnx_infer.materialize(size, r, prefix="x") for r in (ours, theirs)]
    assert made[0] == made[1]


# -- the package is asked for ------------------------------------------------------------------------------------------


def python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout


def test_onnx_ir_is_loaded_only_by_its_front_end() -> None:
    program = (
        "import sys, onnx_infer; from onnx_infer.tools.cli.files import demo_model; onnx_infer.infer(demo_model())"
    )
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
    assert "pip install onnx-ir" in python(program)


NESTED = """g (float[M, 2] x, int64 n, bool on) => (y) {
    y = Loop(n, on, x) <body = a (int64 i, bool p, float[] u) => (bool p1, v) {
        b = NonZero(u)
        v, k = Loop(n, on, u) <body = c (int64 j, bool q, float[] w) => (bool q1, z, int64[] d) {
            z = Concat<axis=0>(w, x) d = NonZero(z) q1 = Identity(q) }>
        p1 = Identity(p) }> }"""


def test_a_loop_in_a_loop_is_inferred_as_in_a_message() -> None:
    found = findings(onnx_ir.infer(ir.from_proto(parsed(NESTED))))
    assert findings(onnx_infer.infer(parsed(NESTED))) == found


def test_a_body_may_be_changed_between_two_inferences() -> None:
    model = ir.from_proto(parsed(NESTED))
    before = str(onnx_ir.infer(model).types["y"])
    (axis,) = [node for node in model.graph.all_nodes() if node.op_type == "Concat"]
    axis.attributes["axis"] = ir.AttrInt64("axis", 1)
    assert str(onnx_ir.infer(model).types["y"]) != before
