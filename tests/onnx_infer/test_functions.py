"""Calls of functions: signatures, attributes, opset imports, overloads, what is written, and broken ones."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from onnx_infer import infer, infer_shapes
from onnx_infer.operators.lookup import Operators
from tests.counting import calls_of

from .texts import messages, parsed, types

HEAD = '<ir_version: 10, opset_import: ["": 18, "f": 1]>'
BODY = '<domain: "f", opset_import: ["": 18, "f": 1]>'


def model_of(graph: str, *functions: str, body: str = BODY) -> onnx.ModelProto:
    return parsed("\n".join([graph, *(f"{body} {f}" for f in functions)]), HEAD)


def written(function: onnx.FunctionProto) -> dict[str, list[int | str | None]]:
    out = {}
    for info in function.value_info:
        dims = info.type.tensor_type.shape.dim
        out[info.name] = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in dims]
    return out


# -- signatures -------------------------------------------------------------------------------------------------------


def test_one_function_at_several_shapes() -> None:
    model = model_of(
        "g (float[N, 2] x, float[M, 3] w) => (y, z, v) { y = f.Twice(x) z = f.Twice(w) v = f.Twice(y) }",
        "Twice (a) => (b) { b = Concat<axis=0>(a, a) }",
    )
    assert types(model, "y", "z", "v") == ["f32[2*N, 2]", "f32[2*M, 3]", "f32[4*N, 2]"]


def test_calls_in_calls() -> None:
    model = model_of(
        "g (float[N, 2] x) => (y) { y = f.Four(x) }",
        "Four (a) => (b) { c = f.Twice(a) b = f.Twice(c) }",
        "Twice (a) => (b) { b = Concat<axis=0>(a, a) }",
    )
    assert types(model, "y") == ["f32[4*N, 2]"]


def test_each_call_has_sizes_of_its_own() -> None:
    model = model_of(
        "g (float[N] x) => (a, b, c, d) { a, c = f.Count(x) b, d = f.Count(x) }",
        "Count (x) => (i, s) { i = NonZero(x) t = Transpose(i) s = Shape(t) }",
    )
    assert types(model, "a", "c", "b", "d") == ["i64[1, _d0]", "i64[2]={_d0, 1}", "i64[1, _d1]", "i64[2]={_d1, 1}"]


def test_values_cross_the_call() -> None:
    model = model_of(
        """g (float[N, 6] x) => (y, z, s) <int64[2] two = {2, -1}, int64[2] three = {3, -1}>
        { s = f.Sizes(x) y = f.To(x, two) z = f.To(x, three) r = Reshape(x, s) }""",
        "To (a, shape) => (b) { b = Reshape(a, shape) }",
        "Sizes (a) => (s) { t = Shape(a) k = Constant<value_ints=[-1]>() n = Gather(t, k) s = Concat<axis=0>(n, k) }",
    )
    assert types(model, "s", "y", "z", "r") == ["i64[2]={6, -1}", "f32[2, 3*N]", "f32[3, 2*N]", "f32[6, N]"]


def test_equal_calls_cost_one_body() -> None:
    body = " ".join(f"v{i + 1} = Add(v{i}, w)" for i in range(100))

    def layers(count: int) -> onnx.ModelProto:
        calls = " ".join(f"x{i + 1} = f.Layer(x{i}, w{i})" for i in range(count))
        weights = ", ".join(f"float[4] w{i} = {{1, 2, 3, {i}}}" for i in range(count))
        graph = f"g (float[N, 4] x0) => (x{count}) <{weights}> {{ {calls} }}"
        return model_of(graph, f"Layer (v0, w) => (v100) {{ {body} }}")

    few, many = layers(2), layers(40)
    assert types(many, "x40") == ["f32[N, 4]"]
    assert calls_of(lambda: infer(many)) < 3 * calls_of(lambda: infer(few))


def test_absent_optional_inputs_and_outputs() -> None:
    model = model_of(
        'g (float[N, 8] x, float s) => (y, z) { y, "" = f.Clip3(x) z, w = f.Clip3(x, s) }',
        "Clip3 (a, low) => (b, c) { b = Clip(a, low) c = Neg(b) }",
    )
    assert types(model, "y") == ["f32[N, 8]"]


# -- attributes -------------------------------------------------------------------------------------------------------


def test_references_to_attributes() -> None:
    model = model_of(
        "g (float[N, 2] x) => (y, z, v) { y = f.Join<ax=0>(x) z = f.Join<ax=1>(x) v = f.Both<which=1>(x) }",
        "Join <ax> (a) => (b) { b = Concat<axis: int = @ax>(a, a) }",
        "Both <which> (a) => (b) { b = f.Join<ax: int = @which>(a) }",
    )
    assert types(model, "y", "z", "v") == ["f32[2*N, 2]", "f32[N, 4]", "f32[N, 4]"]


@pytest.mark.parametrize("op", ["ReduceSum <keepdims: int = @outer> (x)", "f.Join <ax: int = @outer> (x)"])
def test_a_reference_outside_of_a_function_is_an_error(op: str) -> None:
    model = model_of(
        f"g (float[N, 2] x, bool c) => (y, z) {{ y = {op} z = If (c) <then_branch = t () => (a) {{ a = {op} }},"
        f" else_branch = e () => (b) {{ b = {op} }}> }}",
        "Join <ax> (a) => (b) { b = Concat<axis: int = @ax>(a, a) }",
    )
    told = infer(model)
    assert {d.severity for d in told.diagnostics} == {"error"}
    assert len(told.diagnostics) == 3
    assert all(
        "refers to attribute 'outer' of a function, but the node is in none" in d.message for d in told.diagnostics
    )
    assert str(told.types["y"]).endswith("[...]")


def test_default_and_absent_attributes() -> None:
    model = model_of(
        "g (float[N, 2, 3] x) => (y, z, v) { y = f.Turn(x) z = f.Turn<p=[0, 2, 1]>(x) v = f.Join(x) }",
        "Turn <p> (a) => (b) { b = Transpose<perm: ints = @p>(a) }",
        "Join <ax: int = 2> (a) => (b) { b = Concat<axis: int = @ax>(a, a) }",
    )
    # a reference to an attribute that the call does not give is an absent attribute
    assert types(model, "y", "z", "v") == ["f32[3, 2, N]", "f32[N, 3, 2]", "f32[N, 2, 6]"]


def test_an_overload_that_is_missing_is_named() -> None:
    model = model_of(
        "g (float[N, 2] x) => (y, z) { y = f.Join(x) z = f.Join(x) }", "Join (a) => (b) { b = Concat<axis=0>(a, a) }"
    )
    model.functions[0].overload = "rows"
    model.graph.node[0].overload = "columns"
    names = "of this function; its overloads are 'rows'"
    assert messages(infer(model)) == [
        f"the model has no overload 'columns' {names}",
        f"the model has no overload without a name {names}",
    ]


def test_references_in_subgraphs_of_a_body() -> None:
    model = model_of(
        "g (float[N, 2] x, bool c) => (y) { y = f.F<ax=1>(x, c) }",
        """F <ax> (a, c) => (b) { b = If(c) <then_branch = t () => (p) { p = Concat<axis: int = @ax>(a, a) },
            else_branch = e () => (q) { q = Concat<axis: int = @ax>(a, a) }> }""",
    )
    assert types(model, "y") == ["f32[N, 4]"]


def test_a_graph_as_an_attribute_sees_the_values_of_the_caller() -> None:
    text = """g (float[N, 2] x, float[M, 2] w, bool c) => (y, z) {
        y = f.Choose<body = t () => (o) { o = Concat<axis=0>(x, x) }>(c)
        z = f.Choose<body = t () => (o) { o = Concat<axis=0>(x, w) }>(c) }"""
    body = "Choose <body> (a) => (d) { d = If<then_branch: graph = @body, else_branch: graph = @body>(a) }"
    result = infer(model_of(text, body))
    assert not messages(result)
    assert [str(result.types[name]) for name in "yz"] == ["f32[2*N, 2]", "f32[M + N, 2]"]


def test_constants_made_of_attributes() -> None:
    model = model_of(
        "g (float[N, 6] x) => (y) { y = f.To<shape=[3, -1]>(x) }",
        "To <shape> (a) => (b) { s = Constant<value_ints: ints = @shape>() b = Reshape(a, s) }",
    )
    assert types(model, "y") == ["f32[3, 2*N]"]


# -- versions ---------------------------------------------------------------------------------------------------------


def test_a_body_has_opset_imports_of_its_own() -> None:
    # Squeeze took its axes as an attribute before version 13
    model = model_of(
        "g (float[N, 1] x) => (y) { y = f.Drop(x) }",
        "Drop (a) => (b) { b = Squeeze<axes=[1]>(a) }",
        body='<domain: "f", opset_import: ["": 11]>',
    )
    assert types(model, "y") == ["f32[N]"]


def test_overloads() -> None:
    model = model_of(
        "g (float[N, 2] x) => (y, z) { y = f.F(x) z = f.F(x) }",
        "F (a) => (b) { b = Concat<axis=0>(a, a) }",
        "F (a) => (b) { b = Concat<axis=1>(a, a) }",
    )
    model.functions[1].overload = model.graph.node[1].overload = "columns"
    assert types(model, "y", "z") == ["f32[2*N, 2]", "f32[N, 4]"]


def test_operators_of_the_standard_go_before_functions_of_their_name() -> None:
    # as onnx and onnxruntime have it
    model = model_of("g (float[N, 2] x) => (y) { y = Neg(x) }")
    model.functions.append(
        helper.make_function("", "Neg", ["a"], ["b"], [helper.make_node("Concat", ["a", "a"], ["b"], axis=0)], [])
    )
    assert types(model, "y") == ["f32[N, 2]"]


def test_bodies_of_schemas_stand_in_for_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Operators.__missing__

    def without(self: Operators, key: tuple[str, str]) -> object:
        return (
            None
            if key[1] in ("MeanVarianceNormalization", "Gelu", "Clip", "SoftmaxCrossEntropyLoss")
            else missing(self, key)
        )

    monkeypatch.setattr(Operators, "__missing__", without)
    model = model_of(
        """g (float[N, C, H, W] x, float[B, K] s, int64[B] t) => (m, k, e, l) {
        m = MeanVarianceNormalization<axes=[0, 2, 3]>(x) low = Constant<value=float {0}>() k = Clip(x, low) e = Gelu(x)
        l = SoftmaxCrossEntropyLoss<reduction="none">(s, t) }"""
    )
    model.opset_import[0].version = 20
    assert types(model, "m", "k", "e", "l") == ["f32[N, C, H, W]"] * 3 + ["f32[B]"]


# -- what is written --------------------------------------------------------------------------------------------------

TWICE = "Twice (a) => (b) { h = Neg(a) b = Concat<axis=0>(h, h) }"


def test_bodies_get_what_is_true_of_all_calls() -> None:
    model = model_of(
        "g (float[N, 2] x, float[M, 2] w) => (y, z) { y = f.Twice(x) z = f.Twice(w) v = f.Twice(x) }", TWICE
    )
    assert written(infer_shapes(model).functions[0]) == {"a": [None, 2], "h": [None, 2], "b": [None, 2]}
    assert not model.functions[0].value_info
    model = model_of("g (float[N, 2] x) => (y) { y = f.Twice(x) v = f.Twice(x) }", TWICE)
    assert written(infer_shapes(model).functions[0]) == {"a": ["N", 2], "h": ["N", 2], "b": ["2*N", 2]}


def test_bodies_of_old_models_have_no_value_infos() -> None:
    model = model_of("g (float[N, 2] x) => (y) { y = f.Twice(x) }", TWICE)
    model.ir_version = 9
    assert not infer_shapes(model).functions[0].value_info


def test_inferring_again_changes_nothing() -> None:
    model = model_of(
        "g (float[N, 2] x, float[M, 2] w, bool c) => (y, n) { y = f.F(x, c) z = f.F(w, c) n = f.Count(y) }",
        """F (a, c) => (b) { b = If(c) <then_branch = t () => (p) { h = Neg(a) p = Concat<axis=0>(h, h) },
            else_branch = e () => (q) { q = Concat<axis=0>(a, a) }> }""",
        "Count (x) => (i) { i = NonZero(x) }",
    )
    once = infer_shapes(model)
    assert infer_shapes(once) == once


# -- broken functions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "body", "message"),
    [
        ("f.F(x)", "F (a) => (b) { c = Neg(a) b = f.F(c) }", "function F calls itself"),
        ("f.F(x, x, x)", "F (a) => (b) { b = Neg(a) }", "3 inputs where function F has 1"),
        ("f.F(x) q, r = f.F(x)", "F (a) => (b) { b = Neg(a) }", "2 outputs where function F has 1"),
        ("f.F(x)", "F (a) => (b) { b = MatMul(a, a) }", "inner sizes"),
        (
            "f.F(x)",
            "F (a) => (b) { c = Neg(a) b = Add(c, nowhere) }",
            "input 'nowhere' of node 'b' is produced by no node",
        ),
        ("f.G(x)", "F (a) => (b) { b = Neg(a) }", "unsupported operator"),
    ],
)
def test_a_broken_call_costs_its_results_only(call: str, body: str, message: str) -> None:
    result = infer(model_of(f"g (float[3, 2] x) => (y, z) {{ y = {call} z = Neg(x) }}", body))
    assert len(messages(result)) == 1
    assert messages(result)[0].startswith(message)
    assert str(result.types["z"]) == "f32[3, 2]"


def test_functions_that_call_each_other() -> None:
    result = infer(
        model_of(
            "g (float[3, 2] x) => (y, z) { y = f.F(x) z = Neg(x) }",
            "F (a) => (b) { b = f.G(a) }",
            "G (a) => (b) { b = f.F(a) }",
        )
    )
    assert messages(result) == ["function F calls itself"]
    assert str(result.types["z"]) == "f32[3, 2]"


def test_nodes_of_a_body_in_any_order() -> None:
    model = model_of(
        "g (float[N, 2] x) => (y) { y = f.F(x) }",
        "F (a) => (b) { b = f.G(c) c = Neg(a) }",
        "G (a) => (b) { b = Abs(c) c = Neg(a) }",
    )
    assert types(model, "y") == ["f32[N, 2]"]


def test_a_chain_of_calls_of_any_length() -> None:
    count = 5000
    functions = [f"F{i} (a) => (b) {{ b = f.F{i + 1}(a) }}" for i in range(count)]
    model = model_of("g (float[N, 2] x) => (y) { y = f.F0(x) }", *functions, f"F{count} (a) => (b) {{ b = Neg(a) }}")
    assert types(model, "y") == ["f32[N, 2]"]
    assert written(infer_shapes(model).functions[count]) == {"a": ["N", 2], "b": ["N", 2]}


def test_an_operand_may_be_left_out_of_a_call() -> None:
    model = model_of("g (float[N, 2] x, float m) => (y) { y = f.F(x, , m) }", "F (a, b, c) => (d) { d = Clip(a, b, c)}")
    assert types(model, "y") == ["f32[N, 2]"]
