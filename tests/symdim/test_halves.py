"""Upper halves: `n - n//2` and `(n + 1)//2` are one size, alone and in products."""

from __future__ import annotations

import random
from itertools import product

import pytest

from symdim import Dim, Expr, Scope, Var, at_least, equal
from symdim.algebra.variable import make_variable

N, M = Var("N"), Var("M")

EQUAL = [
    (N - N // 2, (N + 1) // 2),
    ((N - N // 2) * (M - M // 2), (N + 1) // 2 * ((M + 1) // 2)),
    (((N + 4) // 8 - (N + 4) // 16) * ((M + 4) // 8 - (M + 4) // 16), (N + 12) // 16 * ((M + 12) // 16)),
    ((N * M - N * M // 2) * N, (N * M + 1) // 2 * N),
    ((N + 7) // 8, N - N // 2 - (N - N // 2) // 2 - (N - N // 2 - (N - N // 2) // 2) // 2),
]
NOT_EQUAL = [
    (N - N // 2, (N + 2) // 2),
    (N - N // 3, (N + 1) // 3),
    ((N - N // 2) * (M - M // 2), (N * M + 1) // 2),
    ((N + 1) // 2 * (M // 2), N // 2 * ((M + 1) // 2)),
]


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_both_forms_are_equal(a: Expr, b: Expr) -> None:
    assert equal(a, b) is True


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_lower_halves_cancel(a: Expr, b: Expr) -> None:
    assert a - b == 0
    assert at_least(a, b) is True


@pytest.mark.parametrize(("a", "b"), NOT_EQUAL)
def test_what_looks_alike_is_not_equal(a: Expr, b: Expr) -> None:
    assert equal(a, b) is not True
    assert a - b != 0
    assert any(a.evaluate(N=n, M=m) != b.evaluate(N=n, M=m) for n, m in product(range(1, 9), repeat=2))


def random_size(rng: random.Random, depth: int) -> Dim:
    if not depth:
        return rng.choice([N, M, rng.randint(-9, 9)])
    a, b = random_size(rng, depth - 1), random_size(rng, depth - 1)
    return rng.choice([a + b, a - 3 * b, a * b, (a + rng.randint(-20, 20)) // rng.choice([2, 4, 6, 8, 12, 16, 3])])


def test_the_other_half_is_what_is_left() -> None:
    """Also in products, and where both share an inner half."""
    rng = random.Random(2)
    for _ in range(400):
        size = random_size(rng, 4)
        lower, upper = size // 2, (size + 1) // 2
        assert equal(lower + upper, size) is True
        assert equal(size - lower, upper) is True
        assert equal((size - lower) * M, upper * M) is True
        for n, m in ((1, 1), (2, 7), (5, 4), (12, 9)):
            values = [d if isinstance(d, int) else d.evaluate(N=n, M=m) for d in (size, upper)]
            assert (values[0] + 1) // 2 == values[1]


FEW, NEGATIVE = Var.fresh("few", 3, 9), make_variable(Scope(), "negative", None, -5)
ANY = make_variable(Scope(), "any", None, None)


@pytest.mark.parametrize("n", [N, FEW, NEGATIVE, ANY])
def test_both_forms_are_equal_whatever_the_bounds(n: Var) -> None:
    lower, upper = ((n + 4) // 8 - (n + 4) // 16) * (M // 3), (n + 12) // 16 * (M // 3)
    assert equal(lower, upper) is True
    assert equal(n // 2, n // 3) is False
