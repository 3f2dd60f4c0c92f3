"""Intervals of sums with correlated divisions."""

from __future__ import annotations

import random

import pytest

from symdim import Expr, Var, leaf_count, maximum
from symdim.algebra.bounds.intervals import between
from symdim.algebra.bounds.relaxation import is_correlated, least

X, Y = Var.fresh("x", 0), Var.fresh("y", 2, 9)
SIZES = (0, 1, 2, 3, 5, 8, 17, 64, 1000)


def random_sum(r: random.Random) -> Expr | int:
    """A sum of divisions of related numerators, signs mixed."""
    total: Expr | int = r.randint(-5, 5)
    for _ in range(r.randint(2, 4)):
        numerator = r.choice((X, X + r.randint(-9, 9), X // r.randint(2, 5) + Y, 2 * X - Y, X // 3 - X // 7))
        total = total + r.choice((-3, -1, 1, 2)) * (numerator // r.randint(2, 16))
    return total


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_contains_every_value(seed):
    r = random.Random(seed)
    for _ in range(100):
        e = random_sum(r)
        if not isinstance(e, Expr) or e.terms is None or not is_correlated(e.terms):
            continue
        lo, hi = between(least, e.terms, e.const)
        for x in SIZES:
            value = e.evaluate({X: x, Y: r.randint(2, 9)})
            assert lo is None or lo <= value, (seed, str(e), x, lo)
            assert hi is None or value <= hi, (seed, str(e), x, hi)


def test_correlated_divisions_are_told_from_look_alikes():
    n = X + 4
    assert (n // 8 - n // 16).bounds()[0] == 0
    assert maximum(n // 8, n // 16) is n // 8
    # the larger divisor gives the smaller quotient, and another numerator tells nothing
    assert (n // 16 - n // 8).bounds()[0] is None
    assert (n // 8 - (n + Y) // 16).bounds()[0] != 0


def test_leaves_count_shared_parts_each_time():
    e: Expr | int = X
    for _ in range(60):
        e = maximum(e // 2, Y) + e
    assert leaf_count(e) > 2**40
