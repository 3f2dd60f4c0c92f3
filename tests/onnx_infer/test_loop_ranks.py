"""Carried values whose rank the first iteration of a Loop changes; what is known holds in onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_infer import infer, infer_shapes
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.values.tensor import SymTensor, Value

from .oracle import contradictions
from .sessions import run, session_of
from .texts import messages, parsed

LOOP = """g (float[N, D] x, float[T] u) => (y) {{
    h = Shape(u) t = Squeeze(h) on = Constant<value=bool {{1}}>() one = Constant<value_int=1>() less = Sub(t, one)
    number = Constant<value=float {{1.0}}>() zero = Constant<value_floats=[0.0]>() flat = Constant<value_ints=[-1]>()
    y = Loop({call}) <body = b (int64 i, bool go, float c) => (bool k, float o) {{ k = Identity(go) {body} }}> }}"""

GROWN = "r = Reshape(c, flat) q = Reshape(x, flat) o = Concat<axis=0>(r, q)"
NESTED = f"""o = Loop(t, on, c) <body = n (int64 j, bool ho, float e) => (bool l, float p) {{
    l = Identity(ho) {GROWN.replace("(c,", "(e,").replace("o =", "p =")} }}>"""

# (call, body, the sizes of the result, with _ for one that is not known)
LOOPS = [
    ("t, on, number", "o = Add(c, zero)", [1]),
    ("t, on, number", "r = ReduceSum<keepdims=0>(c) o = Add(r, zero)", [1]),
    ("t, on, x", "o = ReduceSum<keepdims=0>(c)", []),
    # the size of a later turn
    ("t, on, number", "a = Add(i, one) b = Reshape(a, flat) f = Expand(number, b) o = Identity(f)", ["_"]),
    ("t, on, number", GROWN, ["_"]),
    ("t, on, x", GROWN, ["_"]),
    ("t, on, number", NESTED, ["_"]),
    # a rank that each turn changes, and a Loop that may not run
    ("t, on, number", "a = Constant<value_ints=[0]>() o = Unsqueeze(c, a)", None),
    ("less, on, number", "o = Add(c, zero)", None),
]


def known_sizes(value: Value) -> list[object] | None:
    assert isinstance(value, SymTensor)
    return None if value.shape is None else ["_" if is_fresh(size) else size for size in value.shape]


@pytest.mark.parametrize(("call", "body", "known"), LOOPS)
def test_ranks(call: str, body: str, known: list[object] | None) -> None:
    model = parsed(LOOP.format(call=call, body=body).replace("float c", "c").replace("float o", "o"))
    result = infer(model)
    assert not messages(result)
    value = result.types["y"]
    assert known_sizes(value) == known
    for session in (session_of(model), session_of(infer_shapes(model))):
        for sizes in ({"N": 2, "D": 3, "T": 1}, {"N": 1, "D": 2, "T": 2}, {"N": 2, "D": 2, "T": 5}):
            feeds = {"x": np.ones((sizes["N"], sizes["D"]), np.float32), "u": np.ones(sizes["T"], np.float32)}
            outputs = run(session, feeds)
            assert outputs is not None
            assert not list(contradictions(value, outputs[0], sizes)), (sizes, value, outputs[0].shape)


def test_a_rank_that_a_later_node_decides_is_known_in_all_that_follows() -> None:
    """Gather reads the third element from the end of `u`, so there are 3 iterations: `t` is x, also in the sequence."""
    model = parsed(
        """g (float[K, 2] x, float[3, 4, K] w, bool go) => (t, q, e) {
        three = Constant<value_int=3>() eight = Constant<value_int=8>() at = Constant<value_int=-3>()
        s, t, u = Loop(three, go, x, w) <body = b (int64 i, bool g0, float[] p, float[] o) => (bool g1, p1, o1, n) {
            g1 = Identity(g0) p1 = Identity(p) o1 = Identity(p) n = Identity(eight) }>
        e = Gather<axis=0>(u, at) q = SequenceConstruct(x, t) }"""
    )
    once = infer_shapes(model, bidirectional=True)
    assert str(infer(model, bidirectional=True).types["q"]) == "seq(f32[K, 2]; 2)"
    assert infer_shapes(once, bidirectional=True) == once
