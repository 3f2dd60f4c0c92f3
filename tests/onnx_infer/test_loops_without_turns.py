"""Loops that may make no turn: what is known of their results then, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.values.tensor import SymTensor

from .oracle import contradictions
from .sessions import run, session_of
from .texts import both, declared, messages, parsed

LOOP = """g (float[N, D] x, float[T] u, int64 n, bool v) => ({output} y) {{
    h = Shape(u) t = Squeeze(h) on = Constant<value=bool {{1}}>() one = Constant<value_int=1>() less = Sub(t, one)
    flat = Constant<value_ints=[-1]>() block = Constant<value_ints=[4, 3, 3]>()
    z = Loop({call}, x) <body = b (int64 i, bool go, c) => (k, o) {{ k = Identity(go) {body} }}> {after} }}"""

SAME = "y = Identity(z)"


def model_of(call: str, body: str, after: str = SAME, output: str = "") -> Any:
    return parsed(LOOP.format(call=call, body=body, after=after, output=output))


def ends(model: Any, rows: int = 2) -> list[tuple[dict[str, int], np.ndarray[Any, Any]]]:
    """The result of onnxruntime for each number of turns."""
    session, found = session_of(model), []
    for turns in range(4):
        feeds = {"x": np.ones((rows, 3)), "u": np.ones(turns)}
        given = {name: array.astype(np.float32) for name, array in feeds.items()}
        outputs = run(session, {**given, "n": np.array(turns), "v": np.array(turns > 1)})
        assert outputs is not None
        found.append(({"N": rows, "D": 3, "T": turns}, outputs[0]))
    return found


# (what decides the turns, body, nodes after the Loop, the result)
LOOPS = [
    ("t, on", "o = Concat<axis=0>(c, x)", SAME, "f32[N*T + N, D]"),
    ("t, on", "o = Neg(x)", SAME, "f32[N, D]"),
    ("less, on", "o = Concat<axis=1>(x, x)", SAME, "f32[N, D*min(max(T, 1), 2)]"),
    ("t, on", "r = Constant<value_ints=[4, 5]>() o = ConstantOfShape(r)", "y = Shape<end=1>(z)", "i64[1]"),
    # of two ranks: what both have, and what nodes make of both
    ("t, on", "o = ConstantOfShape(block)", SAME, "f32[...]"),
    ("t, on", "o = ConstantOfShape(block)", "y = Reshape(z, flat)", "f32[D*N*max(T, 1) - D*N*T + 36*min(T, 1)]"),
    ("t, on", "o = Reshape(c, flat)", "y = Reshape(z, flat)", "f32[D*N]"),
    ("t, v", "o = Reshape(x, flat)", "y = Reshape(z, flat)", "f32[D*N]"),
    ("n, on", "o = Reshape(x, flat)", "y = Reshape(z, flat)", "f32[D*N]"),
    ("n, v", "o = Reshape(x, flat)", "y = Reshape(z, flat)", "f32[D*N]"),
    # a rank that each turn changes
    ("t, on", "a = Constant<value_ints=[0]>() o = Unsqueeze(c, a)", SAME, "f32[...]"),
]


@pytest.mark.parametrize(("call", "body", "after", "expected"), LOOPS)
def test_results(call: str, body: str, after: str, expected: str) -> None:
    model = model_of(call, body, after)
    result = both(model, min_dim=0)
    assert not messages(result)
    value = result.types["y"]
    assert str(value).partition("=")[0] == expected
    for sizes, array in ends(model):
        assert not list(contradictions(value, array, sizes)), (sizes, value, array.shape)
    written = ends(infer_shapes(model, min_dim=0))
    assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(ends(model), written, strict=True))


def test_a_size_that_each_turn_sets_is_a_function_of_the_sizes() -> None:
    model = model_of("t, on", "r = Constant<value_ints=[4, 5]>() o = ConstantOfShape(r)")
    value = infer(model, min_dim=0).types["y"]
    assert isinstance(value, SymTensor)
    assert not any(map(is_fresh, value.shape or ()))
    for sizes, array in ends(model):
        assert not list(contradictions(value, array, sizes)), (sizes, value, array.shape)
    assert str(infer(model).types["y"]) == "f32[4, 5]"


# -- declared ranks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "output", "expected", "guards"),
    [
        ("t, on", "float[4, K, K]", "f32[4, 3, 3]", ["T >= 1"]),
        ("t, on", "float[K, L]", "f32[N, D]", ["T == 0"]),
        ("t, on", "float[T, 3, 3]", "f32[4, 3, 3]", ["T == 4"]),
        ("n, on", "float[4, K, K]", "f32[4, 3, 3]", ["n[0] >= 1"]),
    ],
)
def test_a_declared_rank_says_whether_there_is_a_turn(call: str, output: str, expected: str, guards: list[str]) -> None:
    """So declared sizes are compared with those of the tensor of this rank."""
    model = model_of(call, "o = ConstantOfShape(block)", output=output)
    result = both(model, min_dim=0)
    assert (str(result.types["y"]), declared(result)) == (expected, guards)
    assumed = infer(model, min_dim=0, assume_declared=True)
    assert (str(assumed.types["y"]), assumed.guards) == (expected, [])


@pytest.mark.parametrize(("turns", "is_known"), [(0, True), (1, True), (2, False)])
def test_the_body_of_a_loop_of_one_turn_knows_its_number(turns: int, is_known: bool) -> None:
    """The Loop inside runs as often as the number of the turn says: not at all if there is one turn."""
    graph = f"""g (float[M, M] x, bool on) => (y) {{
        n = Constant<value_int={turns}>() s = Constant<value_float=1.0>()
        y = Loop(n, on, s) <body = b (int64 i, bool go, float v) => (bool k, float w) {{
            inner = Loop(i, go, s) <body = c (int64 j, bool on2, float a) => (bool k2, e) {{
                k2 = Identity(on2) e = Identity(x) }}>
            k = Identity(go) w = Identity(v) }}> }}"""
    once = infer_shapes(parsed(graph))
    types = {info.name: info.type for node in once.graph.node for a in node.attribute for info in a.g.value_info}
    assert types["inner"].tensor_type.HasField("shape") == is_known


@pytest.mark.parametrize(
    ("number", "node", "expected", "guards", "is_run"),
    [
        (1, "y = Expand(x, z)", "f32[3, _d2]", [], True),  # onnxruntime takes the element of a scalar
        (-1, "y = Reshape(x, z)", "f32[3*D]", ["T >= 1"], False),
    ],
)
def test_sizes_that_are_a_scalar_without_turns(
    number: int, node: str, expected: str, guards: list[str], is_run: bool
) -> None:
    """A node behind the Loop has an error only if it has one for both ranks."""
    text = f"""g (float[3, D] x, float[T] u) => (y)
        <bool on = {{1}}, int64 one = {{1}}, int64[1] vector = {{{number}}}> {{
        h = Shape(u) t = Squeeze(h) z = Loop(t, on, one) <body = b (int64 i, bool go, c) => (k, o) {{
            k = Identity(go) o = Identity(vector) }}> {node} }}"""
    model = parsed(text)
    result = infer(model, min_dim=0)
    assert messages(result) == []
    assert (str(result.types["y"]), [str(guard) for guard in result.guards]) == (expected, guards)
    runs = [run(session_of(model), {"x": np.ones((3, 2), np.float32), "u": np.ones(n, np.float32)}) for n in (0, 2)]
    assert [found is not None for found in runs] == [is_run, True]
