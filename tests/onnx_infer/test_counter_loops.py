"""Random loops that a counter stops, and loops whose body clamps by the turn, as onnxruntime does them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from onnx_infer import infer, infer_shapes
from symdim import Expr

from .oracle import contradictions
from .sessions import all_sizes, counting, run, session_of, shape_at
from .texts import messages, parsed, types

SIZES = ({"N": 3, "T": 2}, {"N": 1, "T": 7}, {"N": 6, "T": 1})

BOUNDS = ("T", "N", "T + N", "2*T", "3", "0", "9")


def bound(r: random.Random, name: str, texts: tuple[str, ...] = BOUNDS) -> str:
    """The statement of a scalar, of the sizes or a constant."""
    text = r.choice(texts)
    if text == "T + N":
        return f"{name} = Add(T, N)"
    if text == "2*T":
        return f"{name} = Add(T, T)"
    return f"{name} = Identity({text})" if text in "TN" else f"{name} = Constant<value_int={text}>()"


def stops(r: random.Random, name: str, value: str, limit: str, down: bool, exact: bool) -> str:
    """The statement of a condition that a counter stops to meet."""
    kind = r.randrange(5 if exact else 4)
    a, b = (limit, value) if down else (value, limit)
    match kind:
        case 0:
            return f"{name} = Less({a}, {b})"
        case 1:
            return f"{name} = LessOrEqual({a}, {b})"
        case 2:
            return f"{name} = Greater({b}, {a})"
        case 3:
            return f"{name}n = Greater({a}, {b}) {name} = Not({name}n)"
        case _:
            return f"{name}n = Equal({a}, {b}) {name} = Not({name}n)"


def counter_loop(r: random.Random, prefix: str, depth: int) -> str:
    """A Loop that gives a counter, a tensor that grew from `x`, and stacked rows."""
    p, down, step = prefix, r.random() < 0.4, r.choice([1, 1, 2, 3, 4, 5])
    starts = ("T", "N", "2*T", "T + N", "9") if down else ("0", "0", "1", "3", "-2", "T")
    limit = "0" if down and r.random() < 0.6 else None
    exact = step == 1
    both = r.random() < 0.35
    trips = r.choice(["", "", f"{p}big", "T", f"{p}few", "N"])
    if exact and not trips:
        trips = f"{p}big"
    before = [
        bound(r, f"{p}s", starts),
        f"{p}e = Constant<value_int=0>()" if limit else bound(r, f"{p}e"),
        bound(r, f"{p}e2", BOUNDS[:4]),
        f"{p}k = Constant<value_int={-step if down else step}>()",
        f"{p}big = Constant<value_int=60>() {p}few = Constant<value_int={r.randint(0, 5)}>()",
        f"{p}t = Constant<value=bool {{1}}>()",
    ]
    first = f"{p}t"
    value = r.choice([f"{p}c1", f"{p}c1", f"{p}c"])
    condition = stops(r, f"{p}g", value, f"{p}e", down, exact)
    if r.random() < 0.4:
        first = f"{p}h"
        before.append(condition.replace(f"{p}g", f"{p}h").replace(value, f"{p}s"))
    body = [f"{p}c1 = Add({p}c, {p}k)", condition]
    goes_on = f"{p}g"
    if both:
        body += [f"{p}g2 = Less({p}i, {p}e2) {p}o = And({p}g, {p}g2)"]
        goes_on = f"{p}o"
    rows = r.randint(1, 2)
    grown = ", ".join([f"{p}a", *["row"] * rows])
    if depth == 0 and r.random() < 0.3:
        body += [counter_loop(r, f"{p}n", depth + 1)]
        grown = f"{p}a, {p}nz"
    body += [f"{p}a1 = Concat<axis=0>({grown})", f"{p}r = Identity(row)"]
    before.append(
        f"{p}y, {p}z, {p}w = Loop({trips or chr(34) * 2}, {first}, {p}s, row) <body = {p}b"
        f" (int64 {p}i, bool {p}v, int64 {p}c, float[{p}u, 2] {p}a) => (bool {p}q, {p}c2, {p}a2, {p}r2)"
        f" {{ {' '.join(body)} {p}q = Identity({goes_on}) {p}c2 = Identity({p}c1) {p}a2 = Identity({p}a1)"
        f" {p}r2 = Identity({p}r) }}>"
    )
    return " ".join(before)


def counted(seed: int) -> str:
    """A model of one such loop, perhaps with another in it."""
    return f"""g (float[N, 2] x, float[T] t) => (ly, lz, lw) {{
        Ts = Shape(t) Ns = Shape<end=1>(x) zero = Constant<value_int=0>() T = Gather(Ts, zero) N = Gather(Ns, zero)
        zeros = Constant<value_ints=[0]>() ones = Constant<value_ints=[1]>() row = Slice(x, zeros, ones, zeros)
        {counter_loop(random.Random(seed), "l", 0)} }}"""


def checked(seed: int) -> tuple[int, int]:
    """How many sizes and numbers of a model are known, of how many; what is said of them holds in onnxruntime."""
    model = parsed(counted(seed))
    result = infer(model)
    assert not messages(result), seed
    session = session_of(infer_shapes(model))
    names = [x.name for x in session.get_outputs()]
    for sizes in SIZES:
        feeds = {"x": np.ones((sizes["N"], 2), np.float32), "t": np.ones(sizes["T"], np.float32)}
        for name, actual in zip(names, session.run(None, feeds), strict=True):
            value = result.types[name]
            assert not list(contradictions(value, actual, sizes)), (seed, sizes, name, value, actual.shape)
    found = [d for name in names for d in (*result.types[name].shape, *(result.types[name].data or ()))]
    known = [d for d in found if isinstance(d, int) or (isinstance(d, Expr) and d.free_symbols() <= {"N", "T"})]
    return len(known), len(found)


def test_they_run_as_often_as_is_said() -> None:
    known, found = map(sum, zip(*map(checked, range(60)), strict=True))
    assert known >= 0.98 * found


# -- written loops ----------------------------------------------------------------------------------------------------

HEAD = """g (float[N, 2] x, float[T, 3] t) => (OUTPUTS) {
    Ts = Shape<end=1>(t) zero = Constant<value_int=0>() one = Constant<value_int=1>() T = Gather(Ts, zero)
    yes = Constant<value=bool {1}>() zeros = Constant<value_ints=[0]>() ones = Constant<value_ints=[1]>()
"""


def found(text: str, *names: str) -> list[str]:
    return types(parsed(HEAD.replace("OUTPUTS", ", ".join(names)) + text + "}"), *names)


def test_a_recurrent_layer_of_tf2onnx() -> None:
    """The conditions compare 32-bit counters as floats, and the one before the loop is the same."""
    text = """none = Constant<value=int32 {0}>() step = Constant<value=int32 {1}>() T32 = Cast<to=6>(T)
        c, n, h, y = Loop(T, yes, none, none, x) <body = b (int64 i, bool v, int32 c0, int32 n0, float[r, 2] h0)
            => (q, c1, n1, h1, o) {
            c1 = Add(c0, step) n1 = Add(n0, step) cf = Cast<to=1>(c1) Tf = Cast<to=1>(T32) nf = Cast<to=1>(n1)
            l1 = Less(nf, Tf) l2 = Less(cf, Tf) q = And(l1, l2) h1 = Tanh(h0) o = Identity(h1) }>"""
    assert found(text, *"cnhy") == ["i32[]={T}", "i32[]={T}", "f32[N, 2]", "f32[T, N, 2]"]


def test_a_counter_that_goes_below_zero() -> None:
    text = """down = Constant<value_int=-3>() low = Constant<value_int=-20>()
        c, h = Loop("", yes, T, x) <body = b (int64 i, bool v, int64 c0, float[r, 2] h0) => (q, c1, h1) {
            c1 = Add(c0, down) q = Greater(c1, low) h1 = Concat<axis=0>(h0, x) }>"""
    assert found(text, "c", "h") == ["i64[]={(T + 1) % 3 - 22}", "f32[N*((T + 25)//3), 2]"]


def test_an_element_that_changes_in_a_way_of_its_own_is_not_known() -> None:
    text = """c, d = Loop(T, yes, one, one) <body = b (int64 i, bool v, int64 c0, int64 d0) => (q, c1, d1) {
        q = Identity(v) c1 = Neg(c0) d1 = Add(d0, d0) }>"""
    assert found(text, "c", "d") == ["i64[]={?}", "i64[]={_d3}"]


def test_growth_that_grows() -> None:
    """The turns add N, 2*N, 3*N rows."""
    text = """a, z = Loop(T, yes, x, x) <body = b (int64 i, bool v, float[r, 2] a0, float[s, 2] z0) => (q, a1, z1) {
        q = Identity(v) a1 = Concat<axis=0>(a0, x) z1 = Concat<axis=0>(z0, a0) }>"""
    assert found(text, "a", "z") == ["f32[N*T + N, 2]", "f32[N*((T**2 + T)//2) + N, 2]"]


def test_sequences_that_a_counter_makes() -> None:
    text = """s0 = SequenceEmpty() k, s = Loop("", yes, zero, s0) <body = b (int64 i, bool v, int64 k0, seq(float[?]) a)
            => (q, k1, a1) { k1 = Add(k0, one) q = Less(k1, T) r = Gather(t, i)
            a1 = SequenceInsert(a, r) }>
        c = ConcatFromSequence<axis=0, new_axis=1>(s) n = SequenceLength(s) e = SequenceAt(s, zero)"""
    assert found(text, *"scne") == ["seq(f32[3]; T)", "f32[T, 3]", "i64[]={T}", "f32[3]"]


def test_a_loop_without_a_condition_ignores_what_its_body_says() -> None:
    """The specification says so, runtimes stop: nothing is claimed."""
    text = """few = Constant<value_int=9>()
        h = Loop(few, "", x) <body = b (int64 i, bool v, float[r, 2] h0) => (q, h1) {
            q = Less(i, T) h1 = Concat<axis=0>(h0, x) }>"""
    (h,) = found(text, "h")
    assert "_d" in h


# -- windows of an axis -----------------------------------------------------------------------------------------------


def windows(width: int, stride: int, start: int, turns: str, copies: int) -> str:
    """A loop that appends the rows `x[stride*i + start :][:width]`, each as often as there are copies."""
    rows = ", ".join(["w"] * copies)
    return f"""three = Constant<value_int=3>() M = Add(T, three) few = Identity({turns})
        step = Constant<value_ints=[{stride}]>() start = Constant<value_ints=[{start}]>()
        width = Constant<value_ints=[{width}]>()
        k, h = Loop(few, yes, zero, t) <body = b (int64 i, bool v, int64 k0, float[r, 3] h0) => (q, k1, h1) {{
            q = Identity(v) k1 = Add(k0, one) ku = Unsqueeze(k0, zeros) a0 = Mul(ku, step) a = Add(a0, start)
            e = Add(a, width) w = Slice(t, a, e, zeros) h1 = Concat<axis=0>(h0, {rows}) }}>"""


def test_windows_that_cover_an_axis_are_the_axis() -> None:
    """Chunks of 4 rows; the last one has what is left."""
    assert found(windows(4, 4, 0, "M", 1), "h") == ["f32[2*T, 3]"]
    assert found(windows(1, 1, 0, "one", 3), "h") == ["f32[T + 3, 3]"]
    assert found(windows(2, 2, 0, "T", 2), "h") == ["f32[3*T, 3]"]


def test_windows_are_never_more_than_there_are_rows() -> None:
    """Strides that are not the width, starts that are not 0, and too few turns, too."""
    known = 0
    for seed in range(60):
        r = random.Random(seed)
        width, copies = r.randint(1, 4), r.randint(1, 2)
        stride, start = r.choice([width, width, r.randint(1, 4)]), r.choice([0, 0, 1, -2])
        text = windows(width, stride, start, r.choice(["T", "M", "one", "three"]), copies)
        model = parsed(HEAD.replace("OUTPUTS", "h") + text + "}")
        claimed = infer(model).types["h"]
        session = session_of(model)
        for T in (1, 2, 3, 5, 8):
            feeds = {"x": np.ones((1, 2), np.float32), "t": np.ones((T, 3), np.float32)}
            (actual,) = session.run(None, feeds)
            assert not list(contradictions(claimed, actual, {"N": 1, "T": T})), (seed, T, claimed, actual.shape)
        known += "_d" not in str(claimed)
    assert known >= 25


# -- bodies that clamp by the turn ------------------------------------------------------------------------------------


HEAD_OF_8 = '<ir_version: 8, opset_import: ["": 18]>'

CLAMPED = """g (float[N, T] x) => (y, z) <int64 one = {{1}}, int64[1] a0 = {{0}}, int64[1] a1 = {{1}}, bool on = {{1}},
    int64[1] k = {{{k}}}> {{
    h = Shape<start=1>(x) t = Squeeze(h) m = Constant<value_int={less}>() n = Sub(t, m) e = Slice(x, a0, a1, a1)
    y, z = Loop(n, on, e) <body = b (int64 i, bool c, float[P, Q] w) => (bool d, float[P, R] v, float[P, S] s) {{
        d = Identity(c) f = Unsqueeze(i, a0) g = Add(f, k) s = Slice(x, f, g, a1) v = Concat<axis=1>(w, s) }}> }}"""

# (elements that a turn takes, turns less than T, the sizes of y and z)
CLAMPED_LOOPS = [
    (1, 1, "(N, T)", "(T - 1, N, 1)"),
    (1, 0, "(N, T + 1)", "(T, N, 1)"),
    (2, 1, "(N, 2*T - 1)", "(T - 1, N, 2)"),
    (3, 2, "(N, 3*max(T, 2) - 5)", "(max(T, 2) - 2, N, 3)"),
    (2, 0, None, None),  # the last turn takes one element
    (3, 1, None, None),
]


def test_a_loop_without_turns() -> None:
    """The number of the turn has no value then."""
    model = parsed(CLAMPED.format(k=1, less=0).replace("n = Sub(t, m)", "n = Sub(m, one)"), HEAD_OF_8)
    result = infer(model)
    assert result.diagnostics == []
    assert str(result.shapes["y"]) == "(N, 1)"


@pytest.mark.parametrize(("k", "less", "grown", "stacked"), CLAMPED_LOOPS)
def test_slices_of_a_loop(k: int, less: int, grown: str | None, stacked: str | None) -> None:
    model = parsed(CLAMPED.format(k=k, less=less), HEAD_OF_8)
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
