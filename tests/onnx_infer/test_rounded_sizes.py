"""Sizes that floats or elements decide, against runs: ratios and scales of Resize, distinct parts of Unique."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_infer import SymTensor, infer
from onnx_infer.elements.ratio import Ratio, ratio
from symdim import DivisionByZero, Var

from .oracle import at, contradictions
from .sessions import session_of
from .texts import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer import InferenceResult


def wrong(result: InferenceResult, session: Any, feeds: Mapping[str, Any], sizes: Mapping[str, int]) -> list[str]:
    """What inference claims of the outputs that is not so in this run."""
    assert not result.diagnostics
    names = [output.name for output in session.get_outputs()]
    made = zip(names, session.run(None, feeds), strict=True)
    return [f"{name}: {text}" for name, x in made for text in contradictions(result.types[name], x, sizes)]


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("given", ["H, W", "H, {w}", "{h}, W", "{h}, {w}"])
def test_resize_that_keeps_the_aspect_ratio(policy: str, given: str) -> None:
    r = random.Random(f"{policy} {given}")
    compared = 0
    for _ in range(12):
        h, w, *target = (r.randint(1, 40) for _ in range(4))
        model = parsed(
            f"""g (float[1, 1, {given.format(h=h, w=w)}] x) => (y) <int64[2] sizes = {{{target[0]}, {target[1]}}}>
            {{ y = Resize<axes=[2, 3], mode="nearest", keep_aspect_ratio_policy="{policy}">(x, , , sizes) }}""",
            '<ir_version: 8, opset_import: ["": 19]>',
        )
        result, session = infer(model), session_of(model)
        for _ in range(6):
            sizes = {"H": h, "W": w}
            feeds = {"x": np.zeros((1, 1, h, w), np.float32)}
            if not result.check({name: size for name, size in sizes.items() if name in given}):
                assert wrong(result, session, feeds, sizes) == [], (sizes, target)
                compared += 1
            h, w = (r.randint(1, 40) if name in given else size for name, size in sizes.items())
    assert compared > 50


SCALES = """g (float[1, 1, H, W] x, float[1, 1, {h}, {w}] a, float[1, 1, P, Q] b, float[K] k) => (y, z) {{
    s = Shape(a) t = Shape(x) u = Cast<to=1>(s) v = Cast<to=1>(t) scales = Div(u, v)
    y = Resize<mode="nearest">(x, , scales) z = Resize<mode="nearest">(b, , scales) }}"""


def rounded(size: str, target: str, by: str) -> str:
    return f"floor[f32](mul[f32]({size}, div[f32]({target}, {by})))"


@pytest.mark.parametrize(
    ("h", "w", "known", "expected"),
    [
        ("2*H", "7*W", {}, ["f32[1, 1, 2*H, 7*W]", "f32[1, 1, 2*P, 7*Q]"]),
        ("H*K", "3*W*K", {}, ["f32[1, 1, H*K, 3*K*W]", "f32[1, 1, K*P, 3*K*Q]"]),
        ("H", "W", {}, ["f32[1, 1, H, W]", "f32[1, 1, P, Q]"]),
        (
            "H + 1",
            "R",
            {"R": 3},
            [f"f32[1, 1, {rounded(h, 'H + 1', 'H')}, {rounded(w, 'R', 'W')}]" for h, w in ("HW", "PQ")],
        ),
        (
            "H//2 + 1",
            "W*(W//2)",
            {},
            [f"f32[1, 1, {rounded(h, 'H//2 + 1', 'H')}, {w}*(W//2)]" for h, w in ("HW", "PQ")],
        ),
    ],
)
def test_scales_that_are_quotients_of_sizes(h: str, w: str, known: dict[str, int], expected: list[str]) -> None:
    """A quotient without a rest is a whole number, also in floats. Others are rounded."""
    model = parsed(SCALES.format(h=f'"{h}"', w=f'"{w}"'), '<ir_version: 8, opset_import: ["": 18]>')
    result, session, r = infer(model), session_of(model), random.Random(h)
    assert [str(result.types[name]) for name in "yz"] == expected
    assert not result.reasons
    shapes = {name: result.shapes[name] for name in "xabk"}
    for _ in range(8):
        sizes = {**{name: r.randint(2, 30) for name in "HWPQ"}, "K": 3, **known}
        dims = {name: [int(at(size, sizes)) for size in shape] for name, shape in shapes.items()}
        feeds = {name: np.zeros(shape, np.float32) for name, shape in dims.items()}
        assert wrong(result, session, feeds, sizes) == []


def test_floats_of_multiples_are_exact() -> None:
    r = np.random.default_rng(5)
    divisor, times = r.integers(1, 2**11, (2, 4000))
    quotient = (divisor * times).astype(np.float32) / divisor.astype(np.float32)
    assert (quotient == times).all()


def test_a_ratio_of_no_finite_value_is_unknown() -> None:
    H, d = Var("H"), Var.fresh("d", 0, None)
    assert ratio(H, H // 4).substitute({H: 3}) is None
    assert ratio(H**40, H + 1).substitute({H: 10**9}) is None
    assert isinstance(ratio(2 * d, d), Ratio)  # at 0 it is no number


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1])
@pytest.mark.parametrize("shape", [(3, 2, 4), (1, 5, 2), (2, 1, 1)])
@pytest.mark.parametrize("in_order", [0, 1])
def test_unique(axis: int | None, shape: tuple[int, ...], in_order: int) -> None:
    """All four outputs, of an input and of a constant: sizes of the other axes, first places, inverse and counts."""
    data = np.random.default_rng(sum(shape)).integers(0, 2, shape)
    option = f"sorted={in_order}" + ("" if axis is None else f", axis={axis}")
    names = "y, first, inverse, counts"
    constant = f"<int64[{', '.join(map(str, shape))}] x = {{{', '.join(map(str, data.flat))}}}>"
    node = f"{{ {names} = Unique<{option}>(x) }}"
    known = parsed(f"g () => ({names}) {constant} {node}")
    of_input = parsed(f"g (int64[A, B, C] x) => ({names}) {node}")
    assert wrong(infer(known), session_of(known), {}, {}) == []
    assert wrong(infer(of_input), session_of(of_input), {"x": data}, dict(zip("ABC", shape, strict=True))) == []
    found = infer(known)
    assert [found.values[name] is not None for name in names.split(", ")] == [True] * 4
    others = [name for i, name in enumerate("ABC") if axis is not None and i != axis % 3]
    assert [str(size) for size in infer(of_input).shapes["y"] if not str(size).startswith("_d")] == others


PRODUCTS = """g (float[H] x) => (y, z, w) <float16[1] half = {{0}}> {{
    s = Shape(x) f = Cast<to={dtype}>(s) k = Constant<value={scale}>() c = Cast<to={dtype}>(k) p = Mul({order})
    a = Floor(p) b = Cast<to=7>(a) d = Cast<to=7>(p) e = Ceil(p) g = Cast<to=7>(e)
    y = Expand(half, b) z = Expand(half, d) w = Expand(half, g) }}"""


@pytest.mark.parametrize("dtype", ["1", "11"])
def test_a_size_times_a_float_is_rounded_as_in_a_run(dtype: str) -> None:
    rng = random.Random(dtype)
    known = 0
    for _ in range(16):
        scale = rng.choice([0.7, 0.3, 0.35, 1.3, 2.1, rng.randint(1, 30) / rng.randint(1, 30), rng.uniform(0.01, 4)])
        order = rng.choice(["f, c", "c, f"])
        text = PRODUCTS.format(dtype=dtype, scale=f"float[1] {{{scale!r}}}", order=order)
        model = parsed(text, '<ir_version: 8, opset_import: ["": 18]>')
        result, session = infer(model), session_of(model)
        sizes = [1, 2, 3, 7, 10, 30, 90, 100, *(rng.randint(1, 3000) for _ in range(12))]
        for size in sizes:
            assert wrong(result, session, {"x": np.zeros(size, np.float32)}, {"H": size}) == [], (scale, size)
        known += sum("_d" not in str(result.shapes[name]) for name in "yzw")
    assert known > (20 if dtype == "1" else 0)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("a = Add(n, {4611686018427387904}) b = Cast<to=1>(a) y = Cast<to=7>(b)", False),
        ("a = Add(n, {16777216}) b = Cast<to=1>(a) y = Cast<to=7>(b)", False),
        ("a = Add(n, {16777216}) b = Cast<to=11>(a) y = Cast<to=7>(b)", True),
        ("a = Add(n, {9007199254740992}) b = Cast<to=11>(a) y = Cast<to=7>(b)", False),
        ("a = Mul(n, {9999999}) b = Cast<to=1>(a) c = Cast<to=7>(b) y = Div(c, {9999999})", False),
        ("a = Mul(n, {1048576}) b = Cast<to=1>(a) y = Cast<to=7>(b)", True),
        ("a = Mul(n, {1000}) b = Cast<to=1>(a) y = Cast<to=7>(b)", True),
        ("a = Cast<to=1>(n) b = Add(a, {16777216.0}) y = Cast<to=7>(b)", False),
        ("a = Cast<to=1>(n) b = Mul(a, {9999999.0}) y = Cast<to=7>(b)", False),
        ("a = Cast<to=1>(n) b = Mul(a, {1e30}) c = Mul(b, {1e-30}) y = Cast<to=7>(c)", False),
        (
            "a = Cast<to=1>(n) b = Concat<axis=0>({16777216.0}, a, {-16777216.0}) c = ReduceSum(b) y = Cast<to=7>(c)",
            False,
        ),
        ("a = Cast<to=1>(n) b = Concat<axis=0>({4095.0}, a, {-4095.0}) c = ReduceSum(b) y = Cast<to=7>(c)", True),
        (
            "a = Cast<to=1>(n) b = Concat<axis=0>(a, {0.000244140625}, {65536.0}, {-0.000244140625}, {-65536.0}) "
            "c = ReduceSum(b) y = Cast<to=7>(c)",
            False,
        ),
        ("a = Cast<to=1>(n) b = Concat<axis=0>(a, {0.5}, {4095.0}, {-0.5}) c = ReduceSum(b) y = Cast<to=7>(c)", True),
        ("a = Cast<to=11>(n) b = Add(a, {16777216.0d}) c = Cast<to=1>(b) y = Cast<to=7>(c)", False),
    ],
)
def test_a_float_that_rounds_a_size_is_not_known(text: str, known: bool) -> None:
    """With small numbers the size is known. With larger ones single precision drops the last bits of it."""
    constants = {}

    def name_of(found: re.Match[str]) -> str:
        number = found[1]
        kind = "double" if number.endswith("d") else "float" if "." in number or "e" in number else "int64"
        name = f"k{len(constants)}"
        constants[name] = f"{kind}[1] {name} = {{{number.rstrip('d')}}}"
        return name

    text = re.sub(r"\{(.*?)\}", name_of, text)
    model = parsed(f"g (float[N] x) => (n, y) <{', '.join(constants.values())}> {{ n = Shape(x) {text} }}")
    session = session_of(model)
    for size in (3, 5, 7, 12):
        assert wrong(infer(model), session, {"x": np.zeros(size, np.float32)}, {"N": size}) == []
    y = infer(model).types["y"]
    assert isinstance(y, SymTensor)
    assert (y.data is not None and None not in y.data) == known


BINARY = ["Add", "Sub", "Mul", "Mul", "Div", "Div", "Min", "Max"]
UNARY = ["Floor", "Ceil", "Round", "Reciprocal", "Neg"]
FIRST = """s = Shape(x) h, w = Split<axis=0, num_outputs=2>(s)
    f1 = Cast<to=1>(h) g1 = Cast<to=1>(w) f11 = Cast<to=11>(h) g11 = Cast<to=11>(w)"""
LAST = """i = Cast<to=7>(last) one = Constant<value_ints=[1]>() j = Max(i, one)
    most = Constant<value_ints=[1000000]>() k = Min(j, most) y = Expand(half, k)"""


def random_floats(r: random.Random) -> str:
    """Nodes that compute floats of the sizes H and W, and a size of the last one."""
    held = {"1": ["f1", "g1"], "11": ["f11", "g11"]}
    nodes, result = [FIRST], ""
    for i in range(r.randint(2, 8)):
        dtype, kind, result = r.choice(["1", "1", "11"]), r.choice("bbbbuc"), f"v{i}"
        x, y = r.choice(held[dtype][-2:]), r.choice(held[dtype])
        if kind == "c":
            x = r.choice(held["11" if dtype == "1" else "1"])
            nodes.append(f"{result} = Cast<to={dtype}>({x})")
        elif kind == "u":
            nodes.append(f"{result} = {r.choice(UNARY)}({x})")
        else:
            if r.random() < 0.4:
                y, name = f"c{i}", "float" if dtype == "1" else "double"
                number = r.choice(["0.7", "2.0", "1.3", "64.0", "1.0", "3.0", "0.0416667"])
                nodes.append(f"{y} = Constant<value={name}[1] {{{number}}}>()")
            nodes.append(f"{result} = {r.choice(BINARY)}({', '.join(r.sample([x, y], 2))})")
        held[dtype].append(result)
    return " ".join([*nodes, f"last = {r.choice(['Identity', 'Floor', 'Round'])}({result})", LAST])


@pytest.mark.parametrize("seed", range(8))
def test_floats_of_sizes_are_rounded_as_in_a_run(seed: int) -> None:
    r = random.Random(seed)
    nodes = random_floats(r)
    model = parsed(
        f"g (uint8[H, W] x) => (y) <uint8[1] half = {{0}}> {{ {nodes} }}", '<ir_version: 8, opset_import: ["": 18]>'
    )
    session = session_of(model)
    for _ in range(12):
        h, w = r.randint(1, 10 ** r.randint(1, 3)), r.randint(1, 10 ** r.randint(1, 3))
        with suppress(DivisionByZero):  # a float that is infinite in the run
            assert wrong(infer(model), session, {"x": np.zeros((h, w), np.uint8)}, {"H": h, "W": w}) == [], nodes


WHOLE = """g (float[N] x) => (y) {{
    a = Constant<value_float={number}>() e = Constant<value_float=0.5>() p = {operation} q = Cast<to=7>(p)
    z = Constant<value_ints=[0]>() u = Unsqueeze(q, z) k = ConstantOfShape(u) y = Relu(k) }}"""


@pytest.mark.parametrize("operation", ["Sqrt(a)", "Pow(a, e)", "Exp(e)", "Log(a)"])
def test_the_whole_part_of_a_float_is_known_if_it_is_far_from_the_next_one(operation: str) -> None:
    """`int(n ** 0.5)` of vision models: every runtime makes 4 of 17."""
    known = 0
    for number in (0.5, 2.0, 3.0, 16.0, 17.0, 577.0, 999.0, 0.99999994):
        model = parsed(WHOLE.format(number=number, operation=operation))
        assert wrong(infer(model), session_of(model), {"x": np.zeros(1, np.float32)}, {"N": 1}) == []
        known += isinstance((infer(model).shapes["y"] or ())[0], int)
    assert known >= 4


def test_a_float_near_a_whole_number_is_not_known() -> None:
    for text in ("Exp(z)", "Mul(e, t)"):  # exp(0), and log(8) / log(2) by its reciprocal
        steps = (
            "z = Constant<value_float=0.0>() e = Log(a) b = Constant<value_float=2.0>() l = Log(b) t = Reciprocal(l)"
        )
        body = f"a = Constant<value_float=8.0>() {steps} p = {text} q = Cast<to=7>(p) c = Identity(q)"
        assert infer(parsed(f"g (float[N] x) => (c) {{ {body} }}")).types["c"].data is None
