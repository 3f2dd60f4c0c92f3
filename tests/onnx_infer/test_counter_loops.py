"""Random loops that a counter stops, and loops whose body clamps by the turn, as onnxruntime does them."""

from __future__ import annotations

import random

import numpy as np

from onnx_infer import infer, infer_shapes
from symdim import Expr

from .oracle import contradictions
from .sessions import session_of
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
