"""What rests on an assumption or on a declared type is no demand of the model: runs may succeed without it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.laws.bounds import implied_bounds
from onnx_infer.laws.statements import Statement
from symdim import Scope, minimum
from symdim.algebra.variable import make_variable

from .sessions import run, session_of
from .texts import both, parsed

MODEL = """g (float[1, 1, N] x, float[K, M] z, float[K] w, float[1, 1, 3] f) => (y, k, u)
    <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] four = {{4}}, int64[1] rest = {{-1}},
    float[6, 3] big{declared}> {{
    s = Shape(x)  n = Gather<axis = 0>(s, two)  many = Less(two, n)
    y = If(many) <then_branch = a () => (p) {{ p = Squeeze(z, one) }}, else_branch = b () => (q) {{ q = Identity(w) }}>
    less = Sub(n, {less})  half = Div(less, two)  square = Mul(half, half)  k = ConstantOfShape(square)
    {user} }}"""

RESHAPE = "m = Sub(n, two)  t = Concat<axis = 0>(m, rest)  r = Reshape({}, t)"
CASES = {
    "a declared rank": (
        ", float[?, ?] v",
        "two",
        "v = If(many) <then_branch = c () => (p) { p = Identity(z) }, else_branch = e () => (q) { q = Identity(w) }>"
        " u = Relu(v)",
    ),
    "an assumed size": ("", "two", RESHAPE.format("z") + " u = Relu(r)"),
    "a demand of an assumed size": (
        "",
        "four",
        RESHAPE.format("big")
        + " wide = Transpose<perm = [1, 0]>(r)  c = Unsqueeze(wide, one)  d = ReduceSum(c, zero)  u = Conv(d, f)",
    ),
}


def model_of(case: str) -> onnx.ModelProto:
    declared, less, user = CASES[case]
    model = parsed(MODEL.format(declared=declared, less=less, user=user))
    model.graph.input.extend(info for info in model.graph.value_info if info.name == "big")
    return model


@pytest.mark.parametrize("case", CASES)
def test_no_required_guard_fails_on_a_run_that_succeeds(case: str) -> None:
    """The branch with Squeeze is taken only for N >= 3. What suggests N >= 3 is no demand of a run."""
    model = model_of(case)
    result = both(model)
    session = session_of(model)
    ran = 0
    for n in (1, 2, 3, 5):
        for m in (1, 3):
            given = {"x": np.ones((1, 1, n)), "z": np.ones((6, m)), "w": np.ones(6), "f": np.ones((1, 1, 3))}
            feeds = {name: array.astype(np.float32) for name, array in {**given, "big": np.ones((6, 3))}.items()}
            outputs = run(session, {name: feeds[name] for name in (i.name for i in session.get_inputs())})
            if outputs is not None:
                ran += 1
                failed = result.check({"N": n, "K": 6, "M": m})
                assert [str(v.guard) for v in failed if v.kind == "required"] == []
    assert ran >= 3


def test_what_a_forced_rank_says_makes_no_later_bound_uncertain() -> None:
    """The rank of u is known from its reader. Gather demands S >= 2, also where a function is called."""
    model = parsed(
        """g (float[S, 3] x, float scale, int8 point) => (u, int8[A, B] q, r, e)
        <int64[1] two = {-2}, int64[1] end = {9223372036854775807}> {
        v, i, j, c = Unique(x) u = ConstantOfShape(c) q = QuantizeLinear(u, scale, point)
        r = Slice(j, two, end) e = com.acme.F(j) }"""
    )
    body = onnx.parser.parse_function(
        '<domain: "com.acme", opset_import: ["": 18]> F (a) => (b) { n = Constant<value_int=-5>() b = Gather(a, n) }'
    )
    model.functions.append(body)
    once = infer_shapes(model, bidirectional=True, min_dim=0)
    assert str(infer(model, bidirectional=True, min_dim=0).types["r"]) == "i64[2]"
    assert infer_shapes(once, bidirectional=True, min_dim=0) == once


def test_an_integer_without_a_lower_bound_gets_none() -> None:
    v = make_variable(Scope(), "v", None, None)
    stated = [Statement("at_most", v, 5, ""), Statement("equal", v, minimum(v, 3), "")]
    assert implied_bounds(stated[:1]).of == {v: (None, 5)}
    assert implied_bounds(stated).of == {v: (None, 3)}
    assert implied_bounds([*stated, Statement("at_least", v, -2, "")]).of == {v: (-2, 3)}
