"""Position tables of diffusion models under bounds and under the same assumptions; a speech model of two rates."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_infer import infer, infer_shapes
from symdim import Var

from .oracle import contradictions
from .sessions import run, session_of, shape_at
from .texts import parsed

if TYPE_CHECKING:
    import onnx

PATCHES = """
    zero = Constant<value_int=0>() one = Constant<value_int=1>() two = Constant<value_int=2>()
    at0 = Constant<value_ints=[0]>() at1 = Constant<value_ints=[1]>() at2 = Constant<value_ints=[2]>()
    flat = Constant<value_ints=[0, 8, -1]>() row = Constant<value_ints=[1, -1, 8]>()
    patches = Conv<kernel_shape=[2, 2], strides=[2, 2]>(x, w) r = Reshape(patches, flat)
    tokens = Transpose<perm=[0, 2, 1]>(r)
    s = Shape(x) i2 = Constant<value_int=2>() i3 = Constant<value_int=3>()
    height = Gather(s, i2) width = Gather(s, i3) h = Div(height, two) v = Div(width, two)
"""
"""The tokens of an image in patches of two by two, and the numbers of patches h and v."""

CROPPED = """g (float[B, 4, H, W] x, float[8, 4, 2, 2] w, float[1, 192, 192, 8] table) => (y) { PATCHES
    most = Constant<value_int=192>()
    dh = Sub(most, h) top = Div(dh, two) bottom = Add(top, h) t1 = Unsqueeze(top, at0) b1 = Unsqueeze(bottom, at0)
    dv = Sub(most, v) left = Div(dv, two) right = Add(left, v) l1 = Unsqueeze(left, at0) r1 = Unsqueeze(right, at0)
    rows = Slice(table, t1, b1, at1) cropped = Slice(rows, l1, r1, at2) positions = Reshape(cropped, row)
    y = Add(tokens, positions) }"""
"""As in Stable Diffusion 3: the middle of a table is cut out."""

COMPUTED = """g (float[B, 4, H, W] x, float[8, 4, 2, 2] w, float[1, 4096, 8] table, float[1, 2] f) => (y) { PATCHES
    c64 = Constant<value_int=64>() hc = Equal(h, c64) vc = Equal(v, c64) fits = And(hc, vc)
    column = Constant<value_ints=[-1, 1]>()
    positions = If(fits) <then_branch = a () => (p) { p = Identity(table) }, else_branch = b () => (q) {
        ri = Range(zero, h, one) rf = Cast<to=1>(ri) ci = Range(zero, v, one) cf = Cast<to=1>(ci)
        hu = Unsqueeze(h, at0) vu = Unsqueeze(v, at0) shape = Concat<axis=0>(hu, vu)
        rc = Reshape(rf, column) re = Expand(rc, shape) ce = Expand(cf, shape)
        rl = Reshape(re, column) cl = Reshape(ce, column) ra = MatMul(rl, f) ca = MatMul(cl, f)
        rs = Sin(ra) rk = Cos(ra) cs = Sin(ca) ck = Cos(ca)
        all = Concat<axis=1>(rs, rk, cs, ck) q = Unsqueeze(all, at0) }>
    y = Add(tokens, positions) }"""
"""As in PixArt: a table for the usual size, sines of all others."""


def model_of(text: str) -> onnx.ModelProto:
    return parsed(text.replace("PATCHES", PATCHES))


@pytest.mark.parametrize("text", [CROPPED, COMPUTED], ids=["cropped", "computed"])
def test_assumptions_do_what_bounds_do(text: str) -> None:
    model = model_of(text)
    bounded = infer(model, bounds={"H": (4, 256), "W": (4, 256)})
    assumed = infer(model, assume=["H >= 4", "4 <= W <= 256", "H <= 256"])
    assert {n: str(v) for n, v in bounded.types.items()} == {n: str(v) for n, v in assumed.types.items()}
    assert [str(g) for g in bounded.guards] == [str(g) for g in assumed.guards] == []
    assert not assumed.reasons
    assert [str(assumed.types[name]) for name in ("tokens", "y")] == ["f32[B, (H//2)*(W//2), 8]"] * 2
    session = session_of(model)
    for sizes in ({"B": 2, "H": 6, "W": 9}, {"B": 1, "H": 128, "W": 128}, {"B": 1, "H": 4, "W": 33}):
        feeds: dict[str, Any] = {
            i.name: np.zeros([sizes.get(d, d) for d in i.shape], np.float32) for i in session.get_inputs()
        }
        (actual,) = session.run(None, feeds)
        assert not list(contradictions(assumed.types["y"], actual, sizes)), sizes


@pytest.mark.parametrize("rows", [2, 6, 7])
def test_the_cropped_table_has_a_size_without_bounds(rows: int) -> None:
    """The number of its rows is 1 only where there is one token, so the number of tokens is that of the sum."""
    model = model_of(CROPPED.replace("192", str(rows)))
    result = infer(model)
    assert not result.reasons
    assert str(result.types["y"]) == str(result.types["tokens"]) == "f32[B, (H//2)*(W//2), 8]"
    session, outcomes = session_of(model), set()
    for height, width in product((2, 3, 4, 11, 12, 14, 15, 17, 25, 26, 40), repeat=2):
        sizes = {"B": 1, "H": height, "W": width}
        feeds = {name: np.zeros(shape_at(result, name, sizes), np.float32) for name in result.inputs}
        found = run(session, feeds)
        outcomes.add(found is not None)
        assert (found is None) == bool(result.check(sizes)), sizes
        if found is not None:
            assert found[0].shape == shape_at(result, "y", sizes)
    assert outcomes == {True, False}


# -- a speech model of two rates ---------------------------------------------------------------------------------------

SPEECH = """g (float[N, T] x, float[2, N, 8] state, int64 sr, float[8, 1, 16] w16, float[8, 1, 8] w8,
        float[1, 32, 8] u, float[1, 32, 8] r) => (y, after) {
    zero = Constant<value_int=0>() one = Constant<value_int=1>() at0 = Constant<value_ints=[0]>()
    at1 = Constant<value_ints=[1]>() last = Constant<value_ints=[-1]>()
    n16 = Constant<value_int=16000>() fast = Equal(sr, n16)
    y, after = If(fast) <then_branch = a () => (o, t) { BRANCH16 }, else_branch = b () => (o8, t8) { BRANCH8 }> }"""

BRANCH = """
    x1 = Unsqueeze(x, at1) c = Conv<strides=[STRIDE]>(x1, wRATE) sh = Shape(c) len = Gather(sh, last)
    d = Equal(len, at1)
    e = If(d) <then_branch = sq () => (p) { p = Squeeze(c, last) }, else_branch = id () => (q) { q = Identity(c) }>
    past = Gather(state, zero) h0 = Unsqueeze(past, at0) cell = Gather(state, one) c0 = Unsqueeze(cell, at0)
    i = Unsqueeze(e, at0) z, hn, cn = LSTM<hidden_size=8>(i, u, r, , , h0, c0)
    TIMES = Concat<axis=0>(hn, cn) OUT = Squeeze(hn, at0)
"""


def speech() -> onnx.ModelProto:
    fast = BRANCH.replace("STRIDE", "16").replace("RATE", "16").replace("TIMES", "t").replace("OUT", "o")
    slow = BRANCH.replace("STRIDE", "8").replace("RATE", "8").replace("TIMES", "t8").replace("OUT", "o8")
    return parsed(SPEECH.replace("BRANCH16", fast).replace("BRANCH8", slow))


@pytest.mark.parametrize(("rate", "guards"), [(16000, ["T >= 16", "T <= 31"]), (8000, ["T >= 8", "T <= 15"])])
def test_a_rate_that_is_given_tells_every_size(rate: int, guards: list[str]) -> None:
    """The network takes one window at a time: a longer input has another rank, which its cell refuses."""
    model = speech()
    result = infer(model, values={"sr": rate})
    assert [str(g.condition) for g in result.guards] == guards
    assert not result.reasons
    assert [str(result.types[name]) for name in ("y", "after")] == ["f32[N, 8]", "f32[2, N, 8]"]
    written = infer_shapes(model, values={"sr": rate})
    branch = next(a.g for a in written.graph.node[-1].attribute if (a.name == "then_branch") == (rate == 16000))
    known = {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in branch.value_info}
    assert known["e"] == ["N", 8]
    assert {name for node in branch.node for name in node.output if name} <= {*known, *(o.name for o in branch.output)}


def test_the_rate_decides_where_it_is_not_given() -> None:
    result = infer(speech())
    assert [str(result.types[name]) for name in ("y", "after")] == ["f32[N, 8]", "f32[2, N, 8]"]
    assert [str(guard) for guard in result.guards] == ["T >= 8", "T <= 31"]  # those of one rate or of the other
    assert Var("T") not in result.types["y"].size.variables()


def test_rotated_positions_behind_a_past_are_in_the_caches() -> None:
    model = parsed(
        """g (float[B, S, 32] q, float[P, 4] p, float[64, 4] cos, float[64, 4] sin) => (y) {
        zero = Constant<value_ints=[0]>() one = Constant<value_int=1>()
        s = Shape<start=1, end=2>(q) past = Shape<start=0, end=1>(p) total = Add(s, past)
        first = Squeeze(past) end = Squeeze(total) range = Range(first, end, one) row = Unsqueeze(range, zero)
        b = Shape<start=0, end=1>(q) bs = Concat<axis=0>(b, s) positions = Expand(row, bs)
        y = RotaryEmbedding<num_heads=4>(q, cos, sin, positions) }""",
        '<ir_version: 11, opset_import: ["": 23]>',
    )
    result = infer(model)
    assert [str(guard) for guard in result.guards] == ["S <= 64", "P + S <= 64"]
    assert [str(law) for law in infer(parsed(
        """g (float[B, S, 32] q, float[64, 4] cos, float[64, 4] sin, int64[B, S] ids) => (y) {
        y = RotaryEmbedding<num_heads=4>(q, cos, sin, ids) }""", '<ir_version: 11, opset_import: ["": 23]>',
    )).data_laws] == ["input 'ids': index out of bounds (RotaryEmbedding 'y')"]  # fmt: skip


def test_a_table_that_is_too_short_proves_no_branch_dead_if_there_may_be_no_sequence() -> None:
    text = """g (int32[B, 9] ids, float[W, 8] words, float[5, 8] places, float[8] v, bool c) => (y) {
        y = If(c) <then_branch = t () => (a) {
            a, n = com.microsoft.EmbedLayerNormalization(ids, "", words, places, "", v, v) },
                   else_branch = e () => (b) { b = Neg(words) }> }"""
    model = parsed(text, '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>')
    assert [told.severity for told in infer(model).diagnostics] == ["warning"]
    assert [told.severity for told in infer(model, min_dim=0).diagnostics] == ["error"]
