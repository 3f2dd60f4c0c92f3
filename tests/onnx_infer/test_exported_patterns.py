"""Chains of nodes that exporters emit, of which each node alone is easy: what passes from one to the next."""

from __future__ import annotations

import pytest

from .texts import parsed, types

PATTERNS = {
    # torch keeps one of two equal initializers, the other becomes its Identity
    "shared initializer": (
        "g (float[8, N] x) => (y) <int64[2] sizes = {-1, 4}> { same = Identity(sizes) y = Reshape(x, same) }",
        "f32[2*N, 4]",
    ),
    # the side of a square grid of positions, as `int(positions**0.5)`
    "root of a known size": (
        "g (float[1, 16, N] x) => (y) { count = Shape<start = 1, end = 2>(x) f = Cast<to = 1>(count)"
        " half = Constant<value_float = 0.5>() r = Pow(f, half) side = Cast<to = 7>(r)"
        " rest = Constant<value_ints = [-1]>() sizes = Concat<axis = 0>(side, side, rest) y = Reshape(x, sizes) }",
        "f32[4, 4, N]",
    ),
    # torch's `x[a:b] = y` and, up to opset 10, `arange(n)`
    "indices counted as non-zero ones": (
        "g (float[N, 3] x) => (y) { n = Shape<end = 1>(x) ones = ConstantOfShape<value = int64[1] {1}>(n)"
        " at = NonZero(ones) y = Transpose(at) }",
        "i64[N, 1]",
    ),
    "indices of two axes": (
        "g (float[N, M] x) => (y) { n = Shape(x) ones = ConstantOfShape<value = float[1] {1}>(n) y = NonZero(ones) }",
        "i64[2, M*N]",
    ),
    "indices of zeros": (
        "g (float[N, M] x) => (y) { n = Shape(x) zeros = ConstantOfShape(n) y = NonZero(zeros) }",
        "i64[2, 0]",
    ),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_pattern(name: str) -> None:
    text, expected = PATTERNS[name]
    assert types(parsed(text), "y") == [expected]


COUNT_IS_OPEN = {
    "changed in a loop": (
        "g (float[N] x, int64 m) => (y) { n = Shape(x) zeros = ConstantOfShape(n) one = Constant<value_float = 1.0>()"
        " yes = Constant<value = bool {1}>() s = Loop(m, yes, zeros) <body = b (int64 i, bool c, float[K] a)"
        " => (bool d, float[K] e) { d = Identity(c) e = Add(a, one) }> y = NonZero(s) }"
    ),
    "of one of two branches": (
        "g (float[N] x, bool c) => (y) { n = Shape(x) zeros = ConstantOfShape(n)"
        " s = If(c) <then_branch = a () => (float[K] p) { p = ConstantOfShape<value = float[1] {1}>(n) },"
        " else_branch = b () => (float[K] q) { q = Identity(zeros) }> y = NonZero(s) }"
    ),
}


@pytest.mark.parametrize("name", COUNT_IS_OPEN)
def test_elements_that_vary_are_not_counted(name: str) -> None:
    (found,) = types(parsed(COUNT_IS_OPEN[name]), "y")
    assert found.startswith("i64[1, _d")
