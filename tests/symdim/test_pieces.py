"""Intervals of sums of maxima and minima of one unit are exact."""

from __future__ import annotations

from random import Random

import pytest

from symdim import Expr, Scope, Var, maximum, minimum, parse
from symdim.algebra.pieces import least, only_unit
from symdim.algebra.polynomials import terms_of
from symdim.algebra.variable import make_variable

Dim = int | Expr


def clamp(random: Random, x: Dim, depth: int) -> Dim:
    """A nest of maxima and minima of multiples of x and numbers."""
    if depth == 0 or random.random() < 0.2:
        return random.choice((x, x, -x, 2 * x - 1, 3 - 2 * x, random.randint(-7, 7)))
    bound = random.choice((maximum, minimum))
    return bound(clamp(random, x, depth - 1), clamp(random, x, depth - 1))


@pytest.mark.parametrize("lo, hi", [(0, 9), (-4, 5), (1, None), (None, 2), (None, None)])
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_is_exact(lo, hi, seed):
    random, x = Random(f"{seed} {lo} {hi}"), make_variable(Scope(), "x", lo, hi)
    first, last = -60 if lo is None else lo, 60 if hi is None else hi
    tried = 0
    for _ in range(60):
        e: Dim = random.randint(-9, 9) + random.choice((0, 0, 1, -2)) * x
        for _ in range(random.randint(1, 4)):
            e += random.choice((-9, -3, -1, 1, 2, 5)) * clamp(random, x, 2)
        terms, const = terms_of(e)
        if isinstance(e, int) or only_unit(terms) is not x:
            continue
        tried += 1
        values = [e.evaluate({x: value}) for value in range(first, last + 1)]
        low, minus_high = (least({u: sign * k for u, k in terms.items()}, x, x.bounds()) for sign in (1, -1))
        ends = None if low is None else low + const, None if minus_high is None else const - minus_high
        for end, value, further in ((ends[0], min(values), values), (ends[1], max(values), values)):
            unbounded = (lo is None and value in further[:1]) or (hi is None and value in further[-1:])
            assert end == value or (end is None and unbounded), (str(e), ends)
    assert tried > 15


def test_what_is_not_of_one_unit_is_told_from_what_is():
    s = Scope()
    x, y, k = s.var("x"), s.var("y"), s.var("k", 0, 3)
    jump = 2 * minimum(x, 5) - 9 * minimum(maximum(x, 5), 6) + minimum(maximum(x, 6), 15)
    assert jump.bounds() == (-38, -29)
    assert only_unit(terms_of(jump)[0]) is x
    # the same of divisions; other terms count by their bounds
    assert (2 * minimum(x // 2, 5) - 9 * minimum(maximum(x // 2, 5), 6)).bounds() == (-45, -35)
    assert (jump + k - y).bounds() == (None, -27)
    # a variable that begins elsewhere has other values
    assert jump.substitute({"x": Var.fresh("z", 0)}).bounds() == (-39, -29)
    # the jump is too small, or after the place where the other part grows
    assert (2 * minimum(x, 5) - 9 * minimum(maximum(x, 6), 7) + minimum(maximum(x, 6), 15)).bounds() == (-46, -38)
    # two units
    other = 2 * minimum(x, 5) - 9 * minimum(maximum(y, 5), 6) + minimum(maximum(x, 6), 15)
    assert only_unit(terms_of(other)[0]) is None
    lo, hi = other.bounds()
    assert lo <= -46 < -20 <= hi


def test_a_slice_of_a_table_of_positions_around_its_middle():
    """Relative positions: x[m - S : m + S - 1] of 2*m - 1 rows, where a negative start counts from the end."""
    S, m = Scope().var("S"), 50
    rows = 2 * m - 1
    behind = maximum(S - m, 0)
    start = maximum(m - S, 0) + rows * minimum(behind, 1) - minimum(behind, rows)
    size = maximum(minimum(m + S - 1, rows) - start, 0)
    assert str(size) == "min(S, 50) - 99*min(max(S, 50), 51) + min(S, 149) + 4949"
    assert size.bounds() == (1, 99)
    half = maximum(minimum(size // 2 + 1, size), 0)
    assert str(half) == "min(max(S, 50), 148)//2 + min(S, 50) - 49*min(max(S, 50), 51) + 2425"
    assert minimum(half, size) is half
    assert all(parse(str(e), {"S": S}) is e for e in (size, half))
    for value in (1, 2, 3, 49, 50, 51, 52, 53, 148, 149, 150, 151, 400):
        table, place = range(rows), m - value
        assert size.evaluate(S=value) == len(table[place : m + value - 1])
        assert half.evaluate(S=value) == len(table[place : m + value - 1][: size.evaluate(S=value) // 2 + 1])


def test_a_sum_of_several_maxima_is_compared_as_a_whole():
    s = Scope()
    x, y = s.var("x"), s.var("y")
    a = minimum(x, 5) + minimum(y, 7)
    b = minimum(x, 6) + minimum(y, 8)
    assert minimum(a, b) is a
    assert maximum(a, b, b + 1) is b + 1
    assert minimum(maximum(x, 3) + a, maximum(x, 3) + b, 100) is minimum(maximum(x, 3) + a, 100)
    # a look-alike: one part is larger, the other one smaller
    c = minimum(x, 4) + minimum(y, 8)
    assert minimum(a, c) not in (a, c)
    assert all(
        minimum(a, c).evaluate(x=i, y=j) == min(min(i, 5) + min(j, 7), min(i, 4) + min(j, 8))
        for i in (4, 5)
        for j in (7, 8)
    )
