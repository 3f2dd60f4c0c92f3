"""Functions of floats: NumPy rounds as they do, bounds hold, texts are read back, compiled code agrees."""

from __future__ import annotations

import pickle
import re
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from symdim import DivisionByZero, ParseError, Shape, Var, parse
from symdim.compile import compile_shape
from symdim.dialects.floats import FLOATS, FloatFunction, as_fraction, to_f32, to_f64

H, W = Var("H"), Var("W")
NUMPY: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "min": np.minimum, "max": np.maximum,
    "value": lambda x: x, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.round,
}  # fmt: skip
TYPES = {"f32": np.float32, "f64": np.float64}

SCALE = "min[f32](mul[f32](div[f32](1, min(H, W)), 800), mul[f32](div[f32](1, max(H, W)), 1333))"
TEXTS = [
    f"floor[f32](mul[f32](H, {SCALE}))",
    "floor[f32](div[f32](H, max[f32](div[f32](W, 32), mul[f32](H, 1/24)))) + 2*W",
    "round[f32](add[f32](div[f32](H, 2), W))//3",
    "ceil[f64](mul[f64](mul[f32](H, 1/3), div[f64](7, W)))",
    "max(trunc[f32](sub[f32](mul[f32](H, 7/10), mul[f32](W, 13/10))), 0)",
    "floor[f64](mul[f64](H, value[f32](div[f64](W, 7))))",
    "floor[f32](mul[f32](floor[f32](mul[f32](H, 13/10)), div[f32](2, W + 3)))",
]


def random_tree(r: Random, depth: int) -> tuple[str, Any]:
    """The text of a float, and what computes it with NumPy for values of H and W."""
    kind = r.choice(["f32", "f32", "f64"])
    convert = TYPES[kind]
    if depth == 0 or r.random() < 0.2:
        if r.random() < 0.3:
            number = Fraction(r.randint(1, 40), r.choice([1, 2, 3, 7, 10]))
            return str(number), lambda h, w, to: to(number.numerator) / to(number.denominator)
        name = r.choice(["H", "W"])
        return name, lambda h, w, to: to(h if name == "H" else w)
    operation = r.choice([*list(NUMPY)[:6], "value", "floor"])
    parts = [random_tree(r, depth - 1) for _ in range(FLOATS[f"{kind}_{operation}"].arity)]

    def value(h: int, w: int, to: Any) -> Any:
        return to(NUMPY[operation](*[convert(part(h, w, convert)) for _, part in parts]))

    return f"{operation}[{kind}]({', '.join(text for text, _ in parts)})", value


@pytest.mark.parametrize("seed", range(60))
def test_numpy_rounds_alike(seed: int) -> None:
    r = Random(seed)
    text, value = random_tree(r, 4)
    kind, rounding = r.choice(["f32", "f64"]), r.choice(list(NUMPY)[7:])
    size = parse(f"{rounding}[{kind}]({text})")
    assert parse(str(size)) == size
    compiled = compile_shape(Shape([size]), ["H", "W"])
    low, high = size.bounds() if not isinstance(size, int) else (size, size)
    for _ in range(20):
        h, w = r.randint(1, 10 ** r.randint(1, 7)), r.randint(1, 10 ** r.randint(1, 7))
        with np.errstate(all="ignore"):
            wanted = NUMPY[rounding](value(h, w, TYPES[kind]))
        try:
            found = size if isinstance(size, int) else size.to_int(H=h, W=w)
        except DivisionByZero:
            with pytest.raises(DivisionByZero):
                compiled(h, w)
            continue
        assert found == int(wanted)
        assert compiled(h, w) == (found,)
        assert low is None or low <= found
        assert high is None or found <= high


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_back_and_substituted(text: str) -> None:
    size = parse(text)
    assert str(size) == text
    assert parse(text) is size is pickle.loads(pickle.dumps(size))
    assert size.substitute({"H": 480}).substitute({"W": 641}) == size.evaluate(H=480, W=641)  # type: ignore[union-attr]
    assert str(size.substitute({"H": 2 * H})) == str(parse(text.replace("H", "(2*H)")))  # type: ignore[union-attr]


@pytest.mark.parametrize("text", TEXTS)
def test_bounds_hold_under_rounding(text: str) -> None:
    r = Random(text)
    for _ in range(20):
        ends = [sorted((r.randint(1, 2000), r.randint(1, 2000))) for _ in range(2)]
        h, w = (Var.fresh(name, *pair) for name, pair in zip("HW", ends, strict=True))
        size = parse(text, {"H": h, "W": w})
        if isinstance(size, int):  # the bounds leave only one
            continue
        low, high = size.bounds()
        for _ in range(20):
            value = size.to_int({h: r.randint(*ends[0]), w: r.randint(*ends[1])})
            assert low is not None
            assert high is not None
            assert low <= value <= high


NO_SIZES = """
mul[f32](H, 7/10)         mul[f32](H, 2) + 1       2*mul[f32](H, 2)        -mul[f32](H, 2)      max(mul[f32](H, 2), 3)
floor[f32](mul[f32](H, 2) + 1)                         g(mul[f32](H, 2))       floor[f32](H/2)      floor[f32](1e39)
floor[f32](mul[f32](H, 2), 1)                          floor[f32](div[f32](1, 0))    floor[f32](mul[f32](H, W/2))
"""


@pytest.mark.parametrize("text", re.split(r"\s{2,}", NO_SIZES.strip()))
def test_a_float_is_no_size(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


def test_rounding_to_the_nearest() -> None:
    r = Random(1)
    for _ in range(2000):
        n, d = r.randint(-(2 ** r.randint(1, 90)), 2 ** r.randint(1, 90)), r.randint(1, 2 ** r.choice([1, 8, 30]))
        single = to_f32(n, d)
        distance = abs(Fraction(single) - Fraction(n, d))
        for other in [np.nextafter(np.float32(single), np.float32(end)) for end in (np.inf, -np.inf)]:
            gap = abs(Fraction(float(other)) - Fraction(n, d))
            assert distance < gap or (distance == gap and np.float32(single).view(np.int32) % 2 == 0)
    assert (to_f32(10**39), to_f32(-(10**39)), to_f64(10**400), to_f32(1, 10**60)) == (np.inf, -np.inf, np.inf, 0)


def test_every_float_is_a_fraction() -> None:
    r = np.random.default_rng(3)
    for x in [*r.standard_normal(200), *r.integers(0, 2**31, 200).astype(np.int32).view(np.float32)]:
        if np.isfinite(single := np.float32(x)):
            given = as_fraction(float(single), "f32")
            made = FLOATS["f32_value"](given)
            assert made.evaluate() == single if not isinstance(made, int) else made == single


def test_equal_operands_give_one_size_and_other_names_another() -> None:
    assert parse("floor[f32](mul[f32](H + H, 7/10))") is parse("FLOOR[f32](mul[f32](2*H, 0.7))")
    assert parse("floor[f32](mul[f32](H, 7/10))") is not parse("floor[f32](mul[f32](7/10, H))")
    assert all(isinstance(function, FloatFunction) for function in FLOATS.values())


def test_sizes_cancel_in_upper_bounds() -> None:
    r, T = Random(5), [800, 1333, 24, 1]
    for text, most in [
        (f"floor[f32](mul[f32](H, {SCALE}))", 1335),
        ("floor[f32](div[f32](H, max[f32](div[f32](W, 32), mul[f32](H, 1/24))))", 24),
        ("floor[f32](mul[f32](mul[f32](div[f32](1, H + W), 5/1024), H))", 0),
        ("ceil[f32](mul[f32](H, div[f32](7, H)))", 8),
        ("floor[f32](mul[f32](H, div[f32](7, W)))", None),
        ("floor[f32](mul[f32](H, sub[f32](div[f32](7, H), 1)))", None),
    ]:
        size = parse(text)
        assert size.bounds()[1] == most, text  # type: ignore[union-attr]
        for _ in range(300):
            h, w = (r.choice([r.randint(1, 2 ** r.randint(1, 127)), *T]) for _ in range(2))
            if most is not None:
                assert size.to_int(H=h, W=w) <= most  # type: ignore[union-attr]
