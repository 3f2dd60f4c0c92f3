"""The parts of an expression make it again, and so does its text; of each of these they once did not."""

from __future__ import annotations

import random
from itertools import product

import pytest

from symdim import Dim, Expr, Scope, Var, equal, maximum, minimum, parse
from symdim.algebra.variable import make_variable

SCOPE = Scope()
BOUNDS = {
    "x": (None, None),
    "y": (None, None),
    "N": (1, None),
    "M": (0, None),
    "K": (2, 9),
    "L": (0, 3),
    "w": (None, -1),
}
SYMBOLS = {name: make_variable(SCOPE, name, lo, hi) for name, (lo, hi) in BOUNDS.items()}


def test_the_text_of_a_rest_does_not_need_that_of_the_sum():
    """A reading of a sum took a rest out of it whose numerator was the sum again; the text never ended."""
    M = SYMBOLS["M"]
    for k in (2, 3, 7):
        dim = ((((M // -k) % -4) % 5) % -4) % -3
        assert isinstance(dim, Expr)
        assert parse(str(dim), SYMBOLS) is dim
        assert all(dim.evaluate(M=m) == ((((m // -k) % -4) % 5) % -4) % -3 for m in range(200))


def test_a_numerator_is_reflected_once():
    """Its sign is that of the first term; the short form of the reflected numerator has the other sign."""
    N, K, L = (SYMBOLS[name] for name in "NKL")
    product = N * (K - 2 * minimum(K, L) - L)
    remainder = product % 5
    assert isinstance(remainder, Expr)
    assert remainder.bounds() == (0, 4)
    assert -((-product) // 5) is (product + 4) // 5


def test_a_division_of_a_minimum_that_has_one_value_is_proved():
    N, s, k = Scope().var("N"), Var.fresh("s", 0, 31), Var.fresh("k", 2, 9)
    remainder = (minimum(s, N) // -6) % k
    assert equal(remainder // 64, 0) is True
    assert equal(((-minimum(N, s)) % (6 * k)) // 384, 0) is True
    assert remainder // 4 not in (0, 1, 2)  # it has several values


def test_a_remainder_by_two_loses_a_division_whatever_its_sign():
    L = SYMBOLS["L"]
    assert (L % 2 + 3) // 4 is L % 2
    assert (-(L % 2)) // 4 is -(L % 2)
    assert 7 - 2 * ((-(L % 2)) % 4) is 7 - 6 * (L % 2)


def test_a_division_of_what_has_two_values_is_none():
    M, two = SYMBOLS["M"], make_variable(SCOPE, "two", 4, 5)
    assert [two // 5, (two + 1) // 2, (7 - two) // 3, (3 * two + 2) // 4] == [two - 4, two - 2, 5 - two, two - 1]
    assert (M % 2 + 3) // 4 is M % 2
    for value in (4, 5):
        for k, c, d in product(range(-7, 8), range(-6, 7), range(2, 9)):
            dim = (k * two + c) // d
            assert (dim if isinstance(dim, int) else dim.evaluate(two=value)) == (k * value + c) // d


def test_a_multiple_that_is_rounded_down_is_bounded_by_the_numerator():
    N, K, x = (SYMBOLS[name] for name in "NKx")
    assert ((K + 3) // N * N).bounds() == (0, 12)
    assert (12 // x * x).bounds() == (None, None)
    assert (12 // x * x).evaluate(x=-5) == 15


def test_pairs_of_three_with_a_product_beside():
    M, N, L = (SYMBOLS[name] for name in "MNL")
    a, b, c = 11 % (L + 1), M * maximum(N, 7) - 3, N
    flat = minimum(a, b, c)
    assert minimum(minimum(a, b), c) is flat
    assert minimum(minimum(a, c), b) is flat
    assert minimum(minimum(b, c), a) is flat


def test_a_product_of_two_halves_that_share_names():
    # what both bring into a sum may cancel: x*y comes from both
    x, y, z, w = (Var(name) for name in "xyzw")
    for first, second in (((x + y) // 2, (x + y + z + 1) // 2), ((x + y + 1) // 2, (x + y + z) // 2)):
        for rest in (w, x * y, first, (w + 1) // 2):
            whole = first * second + rest
            assert whole - first * second == rest
            assert whole - rest == first * second
            assert parse(str(whole)) == whole


@pytest.mark.parametrize("factor", [2, 4, 6, 8])
def test_a_common_factor_leaves_fewer_integers_between_two_sizes(factor: int) -> None:
    """`min(4*M, 1 - 4*M)` is at most 0, since it is at most the mean 1/2. So is twice this."""
    M = SYMBOLS["M"]
    assert equal(minimum(factor * M, maximum(1 - factor * M, 0)), 0) is True
    assert equal(minimum(2 * factor * M, maximum(2 - 2 * factor * M, 0)), 0) is True
    assert equal(minimum(2 * factor * M, maximum(2 - 2 * factor * M, 0), M), 0) is True
    other = minimum(factor * M, maximum(factor + 1 - factor * M, 0))
    assert [other if isinstance(other, int) else other.evaluate(M=m) for m in range(4)] == [0, 1, 0, 0]


def linear(r: random.Random, symbols: list[Var], largest: int) -> Dim:
    terms = [r.randrange(-largest, largest + 1) * v for v in symbols if r.random() < 0.5]
    return r.choice([1, 2, 3, 4]) * sum(terms, r.randrange(-largest, largest + 1))


def nested(r: random.Random, symbols: list[Var], largest: int, depth: int) -> Dim:
    """Maxima and minima of sums with common factors, scaled, shifted and divided."""
    if depth == 0 or r.random() < 0.3:
        return linear(r, symbols, largest)
    extremum = r.choice([maximum, minimum])
    found = extremum(*(nested(r, symbols, largest, depth - 1) for _ in range(r.choice([2, 2, 3]))))
    kind = r.choice(["as it is", "scaled", "shifted", "divided"])
    if kind == "scaled":
        return found * r.choice([2, 3, -1, 4])
    if kind == "shifted":
        return found + linear(r, symbols, largest)
    return found // r.choice([2, 3, 4]) if kind == "divided" else found


@pytest.mark.parametrize("largest", [3, 8, 50])
def test_random_extrema_are_what_their_texts_make(largest: int) -> None:
    symbols = [SYMBOLS[name] for name in ("M", "N", "x")]
    for seed in range(120):
        dim = nested(random.Random(f"{largest} {seed}"), symbols, largest, 3)
        again = parse(str(dim), SYMBOLS)
        assert again is dim or again == dim, seed
