"""Sizes that bodies of If and Scan declare: claims of the author, and no knowledge, since no guard can tell them."""

from __future__ import annotations

import onnx
import pytest

from onnx_infer import infer_shapes

from .texts import both, declared, parsed

INPUTS = "float[N] x, float[M] z, float[1] t, bool k, float[S, N] rows, int64[L] v, float[1, 3, H] cube"
CONSTANTS = "<bool yes = {1}, int64[1] last = {2}, int64[1] one = {1}>"
BRANCHES = "y = If ({}) <then_branch = a () => ({} p) {{ {} }}, else_branch = b () => ({} q) {{ {} }}>"


def branches(condition: str, declared_size: str, first: str, second: str) -> str:
    output = f"float[{declared_size}]"
    return BRANCHES.format(condition, output, first, output, second)


CASES = {
    "an input's size": (branches("k", "4", "p = Relu (x)", "q = Neg (x)"), "f32[N]"),
    "two inputs' sizes": (branches("k", "4", "p = Relu (x)", "q = Neg (z)"), "f32[_d"),
    "a branch that is taken": (branches("yes", "4", "p = Relu (x)", "q = Neg (z)"), "f32[N]"),
    "a size of the data": (
        branches("yes", "4", "c = Greater (x, t)  p = Compress <axis = 0> (x, c)", "q = Neg (z)"),
        "f32[_d",
    ),
    "an inner value": (
        "y = If (k) <then_branch = a () => (p) <float[4] r> { r = Relu (x)  p = Neg (r) },"
        " else_branch = b () => (q) <float[4] s> { s = Neg (x)  q = Relu (s) }>",
        "f32[N]",
    ),
    "an unknown operator's": (branches("k", "N", "p = com.acme.Odd (x)", "q = com.acme.Odd (z)"), "f32[_d"),
    "two of one name": (
        "y = Scan <num_scan_inputs = 1, body = b (float[N] r) => (float[M] o)"
        " { a = com.acme.Odd (r)  o = com.acme.Odd (a) }> (rows)",
        "f32[S, _d",
    ),
    "an output of a Scan": (
        "y = Scan <num_scan_inputs = 1, body = b (float[N] r) => (float[4] o) { o = Relu (r) }> (rows)",
        "f32[S, N]",
    ),
    "an input of a Scan": (
        "y = Scan <num_scan_inputs = 1, body = b (float[4] r) => (o) { o = Relu (r) }> (rows)",
        "f32[S, N]",
    ),
}


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_sizes_declared_in_bodies_replace_nothing(text: str, expected: str, bidirectional: bool) -> None:
    model = parsed(f"g ({INPUTS}) => (y) {CONSTANTS} {{ {text} }}")
    result = both(model, bidirectional=bidirectional)
    assert str(result.types["y"]).startswith(expected)
    assert declared(result) == []
    written = infer_shapes(model, bidirectional=bidirectional)
    assert infer_shapes(written, bidirectional=bidirectional) == written


RANKED = {
    "s = Shape <start = 2> (cube)  e = Equal (s, one)"
    " i = If (e) <then_branch = c () => (f) { f = Squeeze (cube, last) }, else_branch = d () => (h)"
    " { h = Identity (cube) }>  p = Relu (i)": "H == 1",
}


@pytest.mark.parametrize("condition", ["yes", "k"])
@pytest.mark.parametrize(("node", "guard"), RANKED.items())
def test_a_rank_declared_in_a_body_that_runs_is_a_guard(node: str, guard: str, condition: str) -> None:
    text = branches(condition, "?, ?", node, "q = Identity (rows)")
    result = both(parsed(f"g ({INPUTS}) => (y) {CONSTANTS} {{ {text} }}"))
    assert declared(result) == ([guard] if condition == "yes" else [])


IN_BODY = {
    "If": "w = If (k) <then_branch = c () => (int64[1, {n}] p) {{ p = Neg (a) }},"
    " else_branch = d () => (int64[1, {n}] q) {{ q = Abs (a) }}>",
    "Loop": "u, w = Loop (turns, k, x) <body = b (int64 i, bool d, float[N] r) => (bool e, float[N] s, int64[1, {n}] p)"
    " {{ e = Identity (d)  s = Neg (r)  p = Neg (a) }}>",
}


def last_sizes(graph: onnx.GraphProto) -> list[int | str]:
    """The sizes of the last output of a graph."""
    return [size.dim_param or size.dim_value for size in graph.output[-1].type.tensor_type.shape.dim]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("operator", IN_BODY)
def test_a_number_of_a_body_replaces_no_size(operator: str, bidirectional: bool) -> None:
    """Not even if a value of the main graph claims the same."""
    node = IN_BODY[operator].format(n="7")
    text = f"g (float[N] x, bool k, int64 turns) => (int64[1, 7] y, w) {{ a = NonZero (x)  y = Abs (a)  {node} }}"
    written = infer_shapes(parsed(text), bidirectional=bidirectional)
    assert last_sizes(written.graph.node[2].attribute[0].g) == [1, "_d0"]
    assert infer_shapes(written, bidirectional=bidirectional) == written
