"""Calls of functions: signatures, attributes, opset imports, overloads, what is written, and broken ones."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from onnx_infer import infer, infer_shapes
from onnx_infer.operators.operator import Operators
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


def test_each_call_has_sizes_of_its_own() -> None:
    model = model_of(
        "g (float[N] x) => (a, b, c, d) { a, c = f.Count(x) b, d = f.Count(x) }",
        "Count (x) => (i, s) { i = NonZero(x) t = Transpose(i) s = Shape(t) }",
    )
    assert types(model, "a", "c", "b", "d") == ["i64[1, _d0]", "i64[2]={_d0, 1}", "i64[1, _d1]", "i64[2]={_d1, 1}"]


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


# -- attributes -------------------------------------------------------------------------------------------------------


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


# -- versions ---------------------------------------------------------------------------------------------------------


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


def test_a_chain_of_calls_of_any_length() -> None:
    count = 5000
    functions = [f"F{i} (a) => (b) {{ b = f.F{i + 1}(a) }}" for i in range(count)]
    model = model_of("g (float[N, 2] x) => (y) { y = f.F0(x) }", *functions, f"F{count} (a) => (b) {{ b = Neg(a) }}")
    assert types(model, "y") == ["f32[N, 2]"]
    assert written(infer_shapes(model).functions[count]) == {"a": ["N", 2], "b": ["N", 2]}
