"""Loops whose body clamps by the turn: each turn adds the same, because the turn is below the limit."""

from __future__ import annotations

import pytest

from onnx_infer import infer

from .sessions import all_sizes, counting, run, session_of, shape_at
from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'

LOOP = """g (float[N, T] x) => (y, z) <int64 one = {{1}}, int64[1] a0 = {{0}}, int64[1] a1 = {{1}}, bool on = {{1}},
    int64[1] k = {{{k}}}> {{
    h = Shape<start=1>(x) t = Squeeze(h) m = Constant<value_int={less}>() n = Sub(t, m) e = Slice(x, a0, a1, a1)
    y, z = Loop(n, on, e) <body = b (int64 i, bool c, float[P, Q] w) => (bool d, float[P, R] v, float[P, S] s) {{
        d = Identity(c) f = Unsqueeze(i, a0) g = Add(f, k) s = Slice(x, f, g, a1) v = Concat<axis=1>(w, s) }}> }}"""

# (elements that a turn takes, turns less than T, the sizes of y and z)
LOOPS = [
    (1, 1, "(N, T)", "(T - 1, N, 1)"),
    (1, 0, "(N, T + 1)", "(T, N, 1)"),
    (2, 1, "(N, 2*T - 1)", "(T - 1, N, 2)"),
    (3, 2, "(N, 3*max(T, 2) - 5)", "(max(T, 2) - 2, N, 3)"),
    (2, 0, None, None),  # the last turn takes one element
    (3, 1, None, None),
]


def test_a_loop_without_turns() -> None:
    """The number of the turn has no value then."""
    model = parsed(LOOP.format(k=1, less=0).replace("n = Sub(t, m)", "n = Sub(m, one)"), HEAD)
    result = infer(model)
    assert result.diagnostics == []
    assert str(result.shapes["y"]) == "(N, 1)"


@pytest.mark.parametrize(("k", "less", "grown", "stacked"), LOOPS)
def test_slices_of_a_loop(k: int, less: int, grown: str | None, stacked: str | None) -> None:
    model = parsed(LOOP.format(k=k, less=less), HEAD)
    result = infer(model)
    if grown is None:
        assert "_d" in str(result.shapes["y"])
        return
    assert (str(result.shapes["y"]), str(result.shapes["z"])) == (grown, stacked)
    session = session_of(model)
    for sizes in all_sizes(result, (1, 2, 3, 4, 7)):
        made = run(session, counting(result, sizes))
        assert made is not None
        assert made[0].shape == shape_at(result, "y", sizes), sizes
        if made[1].shape[0]:
            assert made[1].shape == shape_at(result, "z", sizes), sizes
