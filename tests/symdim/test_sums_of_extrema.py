"""Sums of several maxima and minima: the constructors keep them as they are, and the prover decides what they are."""

from __future__ import annotations

from itertools import product

from symdim import Dim, Scope, Var, at_least, equal, maximum, minimum, parse

S = Scope()
X, Y, K = S.var("x"), S.var("y"), S.var("k", 0, 3)


def has_ends(size: Dim, low: int, high: int) -> bool:
    """Whether the prover knows both ends, and the interval of the size contains them."""
    lo, hi = (size, size) if isinstance(size, int) else size.bounds()
    assert lo is None or lo <= low
    assert hi is None or hi >= high
    return at_least(size, low) is True and at_least(high, size) is True


def test_the_ends_of_a_jump_are_proved():
    jump = 2 * minimum(X, 5) - 9 * minimum(maximum(X, 5), 6) + minimum(maximum(X, 6), 15)
    assert has_ends(jump, -38, -29)
    assert at_least(jump, -37) is False
    assert has_ends(2 * minimum(X // 2, 5) - 9 * minimum(maximum(X // 2, 5), 6), -45, -35)
    assert at_least(-27, jump + K - Y) is True
    assert has_ends(jump.substitute({"x": Var.fresh("z", 0)}), -39, -29)
    assert has_ends(2 * minimum(X, 5) - 9 * minimum(maximum(X, 6), 7) + minimum(maximum(X, 6), 15), -46, -38)


def test_a_slice_of_a_table_of_positions_around_its_middle():
    """Relative positions: x[m - s : m + s - 1] of 2*m - 1 rows, where a negative start counts from the end."""
    s, m = Scope().var("S"), 50
    rows = 2 * m - 1
    behind = maximum(s - m, 0)
    start = maximum(m - s, 0) + rows * minimum(behind, 1) - minimum(behind, rows)
    size = maximum(minimum(m + s - 1, rows) - start, 0)
    assert has_ends(size, 1, 99)
    half = maximum(minimum(size // 2 + 1, size), 0)
    assert minimum(half, size) is half
    assert all(parse(str(e), {"S": s}) is e for e in (size, half))
    for value in (1, 2, 3, 49, 50, 51, 52, 53, 148, 149, 150, 151, 400):
        table, place = range(rows), m - value
        assert size.evaluate(S=value) == len(table[place : m + value - 1])
        assert half.evaluate(S=value) == len(table[place : m + value - 1][: size.evaluate(S=value) // 2 + 1])


def test_a_sum_of_several_maxima_is_compared_as_a_whole():
    a = minimum(X, 5) + minimum(Y, 7)
    b = minimum(X, 6) + minimum(Y, 8)
    assert at_least(b, a) is True
    assert equal(minimum(a, b), a) is True
    # a look-alike: one part is larger, the other one smaller
    c = minimum(X, 4) + minimum(Y, 8)
    assert equal(minimum(a, c), a) is False
    assert equal(minimum(a, c), c) is False
    for i, j in product((4, 5), (7, 8)):
        assert minimum(a, c).evaluate(x=i, y=j) == min(min(i, 5) + min(j, 7), min(i, 4) + min(j, 8))
