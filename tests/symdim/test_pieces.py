"""Intervals of sums of maxima and minima of one unit are exact."""

from __future__ import annotations

from symdim import Expr, Scope, Var, maximum, minimum, parse

Dim = int | Expr


def test_what_is_not_of_one_unit_is_told_from_what_is():
    s = Scope()
    x, y, k = s.var("x"), s.var("y"), s.var("k", 0, 3)
    jump = 2 * minimum(x, 5) - 9 * minimum(maximum(x, 5), 6) + minimum(maximum(x, 6), 15)
    assert jump.bounds() == (-38, -29)
    # the same of divisions; other terms count by their bounds
    assert (2 * minimum(x // 2, 5) - 9 * minimum(maximum(x // 2, 5), 6)).bounds() == (-45, -35)
    assert (jump + k - y).bounds() == (None, -27)
    # a variable that begins elsewhere has other values
    assert jump.substitute({"x": Var.fresh("z", 0)}).bounds() == (-39, -29)
    # the jump is too small, or after the place where the other part grows
    assert (2 * minimum(x, 5) - 9 * minimum(maximum(x, 6), 7) + minimum(maximum(x, 6), 15)).bounds() == (-46, -38)
    # two units
    other = 2 * minimum(x, 5) - 9 * minimum(maximum(y, 5), 6) + minimum(maximum(x, 6), 15)
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
