from __future__ import annotations

from itertools import product

import pytest

from symdim import Scope, Var, maximum, minimum
from symdim.algebra.intervals import greatest, meet, multiply, power, quotient

scope = Scope()
N, K = scope.var("N"), scope.var("K", 0, 10)
INTERVALS = [(lo, hi) for lo in (None, -3, 0, 2) for hi in (None, -2, 0, 3) if lo is None or hi is None or lo <= hi]


def members(interval):
    lo, hi = interval
    return range(-6 if lo is None else lo, 7 if hi is None else hi + 1)


def encloses(interval, value):
    lo, hi = interval
    return (lo is None or lo <= value) and (hi is None or value <= hi)


@pytest.mark.parametrize("a, b", list(product(INTERVALS, repeat=2)))
def test_interval_arithmetic_is_exact(a, b):
    products = [x * y for x in members(a) for y in members(b)]
    lo, hi = multiply(a, b)
    assert all(encloses((lo, hi), p) for p in products)
    assert lo is None or lo == min(products)
    assert hi is None or hi == max(products)
    if None not in (*a, *b):
        assert None not in (lo, hi)
    both = [x for x in members(a) if x in members(b)]
    assert all(encloses(meet(a, b), x) for x in both)
    assert all(encloses(greatest([a, b]), max(x, y)) for x in members(a) for y in members(b))


@pytest.mark.parametrize("a", INTERVALS)
def test_powers_and_quotients(a):
    for k in (1, 2, 3, 4):
        values = [x**k for x in members(a)]
        lo, hi = power(a, k)
        assert all(encloses((lo, hi), v) for v in values)
        assert lo is None or lo == min(values)
        assert hi is None or hi == max(values)
    for d in ((1, 1), (1, None), (2, 5), (3, None), (0, 5), (-2, 4), (None, 3), (-1, None), (-4, 0), (None, None)):
        values = [x // y for x in members(a) for y in members(d) if y]
        assert all(encloses(quotient(a, d), v) for v in values)
        if d[1] is not None and a[1] is not None and d[0] is not None and d[0] > 0:
            assert quotient(a, d)[1] == max(values)
    assert quotient((-9, -2), (1, None)) == (-9, -1)
    assert quotient(a, (0, 5)) == quotient(a, (1, 5))
    assert quotient(a, (0, 0)) == (None, None)


def test_the_remainder_by_a_divisor_that_may_be_0_is_below_its_greatest_value():
    i, k = Var.fresh("i", 0, 3), Var.fresh("k", 2, 9)
    found = (Var("N") * Var("M")) % (i % k)
    for constant in (6, -6):
        assert (found + constant).bounds() == (constant, constant + 2)
        assert (constant - found).bounds() == (constant - 2, constant)
    assert minimum(found, -6) == -6
    assert maximum(-found, 6) == 6


def test_an_upper_bound_bounds():
    assert Var.fresh("n", 2, at_most=K).bounds() == (2, 10)


def test_huge_powers_have_cheap_bounds():
    big = scope.var("big", 2, 9) ** 10**9
    lo, hi = big.bounds()
    assert lo <= 2**4096
    assert hi is None


def test_the_multiple_of_a_divisor_below_a_size():
    d = scope.var("d", 1, 3)
    for n, low in ((N - 5, -6), (N, 0), (N + 7, 6), (5 - K, -7)):
        multiple = n // d * d
        values = [multiple.to_int({"N": i, "K": min(i, 10), "d": j}) for i in range(1, 40) for j in (1, 2, 3)]
        assert multiple.bounds()[0] == low <= min(values), n
    unlimited = (N - 5) // (N + 1) * (N + 1)
    assert unlimited.bounds()[0] is None or unlimited.bounds()[0] <= -5
