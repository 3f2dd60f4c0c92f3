"""`fold` in the bodies of functions: only what holds in all calls."""

from __future__ import annotations

import onnx
import pytest

from onnx_infer import fold

from .folding import compare
from .texts import parsed

HEAD = '<ir_version: 10, opset_import: ["": 18, "own": 1]>'
FUNCTION = '<domain: "own", opset_import: ["": 18, "own": 1]>'
SAME = "same (x, w) => (y) { s = Shape(w) r = Reshape(x, s) y = Neg(r) }"
HEADS = """heads (x) => (y) { s = Shape<end=2>(x) h = Constant<value_ints=[2, 4]>() t = Concat<axis=0>(s, h)
    r = Reshape(x, t) y = Neg(r) }"""


def model_of(graph: str, *functions: str) -> onnx.ModelProto:
    return parsed(f"g {graph} " + " ".join(f"{FUNCTION} {text}" for text in functions), HEAD)


def bodies(graph: str, *functions: str) -> list[str]:
    """The operators in the folded functions, without constants. The model does what it did."""
    model = model_of(graph, *functions)
    found = fold(model)
    onnx.checker.check_model(found)
    compare(model, found, (0, 1, 2, 4, 6))
    return [" ".join(n.op_type for n in f.node if n.op_type != "Constant") for f in found.functions]


@pytest.mark.parametrize(
    ("graph", "functions", "left"),
    [
        pytest.param("(float[N, S, 8] x) => (float[N, S, 2, 4] y) {y = own.heads(x)}", [HEADS], ["Reshape Neg"],
            id="sizes that a call gives"),
        pytest.param("(float[N, S] x, float[N, S] w) => (float[N, S] y, float[N, S] z)"
            " {y = own.same(x, w) z = own.same(w, x)}", [SAME], ["Neg"], id="operands of equal shapes in both calls"),
        pytest.param("(float[N, S] x, float[S, N] w) => (float[N, S] y, float[S, N] z)"
            " {y = own.same(x, x) z = own.same(x, w)}", [SAME], ["Shape Reshape Neg"],
            id="operands of equal shapes in one call only"),
        pytest.param("(float[N, 8] x, float[N, 4] w) => (float[N, 8] y, float[N, 4] z) {y = own.cut(x) z = own.cut(w)}",
            ["cut (x) => (y) {n = Shape(x) e = Constant<value_ints=[8]>() o = Constant<value_ints=[0]>()"
             " a = Constant<value_ints=[1]>() r = Slice(x, o, e, a) y = Neg(r)}"], ["Neg"], id="an end beyond both"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) <int64[2] t = {0, 8}> {y = own.by(x, t)}",
            ["by (x, t) => (y) {r = Reshape(x, t) y = Neg(r)}"], ["Neg"], id="elements that the call gives"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y, float[N, 2, 4] z) "
            "<int64[2] t = {0, 8}, int64[3] u = {0, 2, 4}> {y = own.by(x, t) z = own.by(x, u)}",
            ["by (x, t) => (y) {r = Reshape(x, t) y = Neg(r)}"], ["Reshape Neg"], id="elements that differ"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) {a = Exp(x) y = own.outer(a)}",
            ["inner (x) => (y) {s = Shape(x) r = Reshape(x, s) y = Neg(r)}",
             "outer (x) => (y) {a = own.inner(x) i = Identity(a) y = own.inner(i)}"], ["Neg", "inner inner"],
            id="a function in a function"),
        pytest.param("(float[N, S] x) => (float[N, S] y) {y = own.must(x)}",
            ["must (x) => (y) {t = Constant<value_ints=[2, 3]>() r = Reshape(x, t) y = Neg(x)}"], ["Reshape Neg"],
            id="a node that refuses"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) {b = Shape<end=1>(x) c = Squeeze(b) d = Cast<to=9>(c)"
            " y = If(d) <then_branch = t () => (float[N, 8] p) {p = own.heads2(x)},"
            " else_branch = e () => (float[N, 8] q) {q = Identity(x)}>}",
            ["heads2 (x) => (y) {s = Shape(x) r = Reshape(x, s) y = Neg(r)}"], ["Neg"], id="a call in a branch"),
        pytest.param("(float[N, 8] x) => (float[N, 8] y) {y = own.flat <to = 1> (x)}",
            ["flat <to> (x) => (y) {s = Shape(x) r = Reshape(x, s) c = Cast<to: int = @to>(r) y = Neg(c)}"],
            ["Shape Reshape Cast Neg"], id="a function with attributes stays"),
        pytest.param("(float[N, 8] x, float w) => (float[N, 8] y, float[N, 8] z) {y = own.clip(x) z = own.clip(x, w)}",
            ["clip (x, low) => (y) {i = Identity(x) y = Clip(i, low)}"], ["Identity Clip"],
            id="a function with an input that a call leaves out stays"),
    ],
)  # fmt: skip
def test_a_body(graph: str, functions: list[str], left: list[str]) -> None:
    assert bodies(graph, *functions) == left


def test_functions_that_call_each_other_stay() -> None:
    circle = "a (x) => (y) {i = Identity(x) y = own.b(i)}", "b (x) => (y) {i = Identity(x) y = own.a(i)}"
    model = model_of("(float[N] x) => (float[N] y) {y = own.a(x)}", *circle)
    assert fold(model).functions == model.functions


def test_a_function_that_nothing_calls_stays() -> None:
    model = model_of("(float[N] x) => (float[N] y) {y = Neg(x)}", "a (x) => (y) {i = Identity(x) y = Neg(i)}")
    assert fold(model).functions == model.functions


def test_declared_types_of_inner_values_go_with_them() -> None:
    model = model_of("(float[N, S, 8] x) => (float[N, S, 2, 4] y) {y = own.heads(x)}", HEADS)
    for name in ("t", "r"):
        model.functions[0].value_info.add(name=name)
    assert [info.name for info in fold(model).functions[0].value_info] == ["r"]


def test_before_opset_9_a_body_stays() -> None:
    """There a node makes constants of floats only, and a function has no initializers."""
    head, function = HEAD.replace("18", "8"), FUNCTION.replace("18", "8")
    graph = "(int64[4] x) => (int64[4] y) {y = own.tiled(x)}"
    model = parsed(
        f"g {graph} {function} tiled (x) => (y) {{ o = Size(x) n = Shape(o) s = Shape(n) y = Tile(x, s) }}", head
    )
    found = fold(model)
    assert [n.op_type for n in found.functions[0].node] == ["Size", "Shape", "Shape", "Tile"]
