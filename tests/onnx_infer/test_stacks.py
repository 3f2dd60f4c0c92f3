"""What all iterations of a Loop stack: the rank of the items and their elements. What is known holds in onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_infer import infer, infer_shapes

from .oracle import contradictions
from .sessions import run, session_of
from .texts import messages, parsed

LOOP = """g (float[N, D] x, float[T] u) => (y) {{
    h = Shape(u) t = Squeeze(h) on = Constant<value=bool {{1}}>() one = Constant<value_int=1>() less = Sub(t, one)
    two = Constant<value_int=2>() number = Constant<value=float {{1.0}}>() first = Constant<value_ints=[0]>()
    flat = Constant<value_ints=[-1]>() sizes = Shape(x) many = Constant<value_int=33>() most = Constant<value_int=32>()
    z, y = Loop({call}) <body = b (int64 i, bool go, c) => (k, o, s) {{ {body} k = Identity(go) }}> }}"""

SIZES = ({"N": 2, "D": 3, "T": 1}, {"N": 1, "D": 2, "T": 2}, {"N": 2, "D": 2, "T": 4})

GROWING = "o = Concat<axis=0>(c, c)"
EITHER = """more = Greater(t, two) o = Identity(c)
    s = If(more) <then_branch = a () => (p) { p = Identity(x) }, else_branch = b () => (q) { q = Reshape(x, flat) }>"""
ROWS = "f = Cast<to=1>(i) more = Greater(x, f) rows = NonZero(more) s = Shape(rows)"

# (call, body, the type of the stack)
STACKS = [
    # a rank that the first iteration changes: stacked items have the shape of the first one
    ("one, on, number", "s = Identity(c) o = Identity(x)", "f32[1]"),
    ("one, on, number", "s = Unsqueeze(c, first) o = Identity(x)", "f32[1, 1]"),
    ("one, on, x", "s = Identity(c) o = ReduceSum<keepdims=0>(x)", "f32[1, N, D]"),
    ("t, on, x", "r = Reshape(c, flat) s = Gather(r, i) o = ReduceMax<keepdims=1>(r)", "f32[T]"),
    ("less, on, number", "s = Identity(c) o = Identity(x)", "f32[T - 1]"),
    # a rank that a branch decides, and not the iteration
    ("t, on, x", EITHER, "f32[...]"),
    ("two, on, x", EITHER, "f32[...]"),
    # elements, of few iterations
    ("two, on, number", "s = Mul(i, two) o = Identity(c)", "i64[2]={0, 2}"),
    ("two, on, sizes", "s = Identity(c) o = Add(c, i)", "i64[2, 2]={N, D, N, D}"),
    ("two, on, sizes", f"s = Gather(c, i) {GROWING}", "i64[2]"),
    ("most, on, number", "s = Identity(i) o = Identity(c)", f"i64[32]={{{', '.join(map(str, range(32)))}}}"),
    ("many, on, number", "s = Identity(i) o = Identity(c)", "i64[33]"),
    # the data of each iteration decide an element, so it has no common name
    ("two, on, number", f"{ROWS} o = Identity(c)", "i64[2, 2]={2, ?, 2, ?}"),
    ("two, on, sizes", f"{ROWS} {GROWING}", "i64[2, 2]={2, ?, 2, ?}"),
]


@pytest.mark.parametrize(("call", "body", "expected"), STACKS)
def test_stacks(call: str, body: str, expected: str) -> None:
    model = parsed(LOOP.format(call=call, body=body))
    result = infer(model)
    assert not messages(result)
    value = result.types["y"]
    assert str(value) == expected
    runs = 0
    for session in (session_of(model), session_of(infer_shapes(model))):
        for sizes in SIZES:
            feeds = {"x": np.ones((sizes["N"], sizes["D"]), np.float32), "u": np.ones(sizes["T"], np.float32)}
            outputs = run(session, feeds)
            if outputs is not None:
                runs += 1
                assert not list(contradictions(value, outputs[0], sizes)), (sizes, value, outputs[0])
    assert runs >= 2


@pytest.mark.parametrize("body", ["o = Cast<to=1>(pairs)", "o = Concat<axis=0>(more, more)"])
def test_a_size_that_each_turn_decides_is_in_no_guard(body: str) -> None:
    body = f"s = Identity(c) found = NonZero(c) more = Cast<to=1>(found) pairs = Transpose(found) {body}"
    result = infer(parsed(LOOP.format(call="t, on, x", body=body)))
    assert not messages(result)
    assert str(result.types["y"]) == "f32[T, N, D]"
    assert not result.guards
    assert not result.data_guards


def test_the_last_iteration_has_as_many_elements_as_the_first() -> None:
    body = """half = Div(i, two) rows = Unsqueeze(half, first) columns = Constant<value_ints=[1]>()
        times = Concat<axis=0>(rows, columns) s = Tile(x, times) o = Identity(c)"""
    result = infer(parsed(LOOP.format(call="t, on, number", body=body)))
    assert [str(guard) for guard in result.guards] == ["T <= 2"]


def test_items_of_different_shapes_have_no_common_elements() -> None:
    result = infer(parsed(LOOP.format(call="two, on, sizes", body=f"s = Identity(c) {GROWING}")))
    assert messages(result) == ["element counts of the iterations differ: 2 != 4"]
    assert str(result.types["y"]) == "i64[2, 2]"


@pytest.mark.parametrize(
    ("call", "item", "guard"),
    [
        ("m, on", "Neg(x)", "m[0] >= 1"),
        ("less, on", "Neg(x)", "T >= 2"),
        ("t, on", "Neg(x)", None),  # T is at least 1
        ("m, on", "Identity(three)", None),  # onnxruntime knows this size without an iteration
    ],
)
def test_without_an_iteration_a_stack_has_no_sizes(call: str, item: str, guard: str | None) -> None:
    text = f"""g (float[N] x, float[T] u, int64 m, float[3] three) => (y) {{
        h = Shape(u) t = Squeeze(h) on = Constant<value=bool {{1}}>() one = Constant<value_int=1>() less = Sub(t, one)
        y = Loop({call}) <body = b (int64 i, bool go) => (k, s) {{ s = {item} k = Identity(go) }}> }}"""
    model = infer_shapes(parsed(text))
    result = infer(model)
    guards = [g for g in (*result.guards, *result.data_guards) if g.kind == "assumed"]
    assert list(map(str, guards)) == ([] if guard is None else [guard])
    if guard is not None:
        feeds = {
            "x": np.zeros(5, np.float32),
            "u": np.zeros(1, np.float32),
            "m": np.array(0),
            "three": np.zeros(3, np.float32),
        }
        (y,) = run(session_of(model), feeds)
        assert y.shape == (0, 0)
    assert infer_shapes(model).SerializeToString() == model.SerializeToString()
