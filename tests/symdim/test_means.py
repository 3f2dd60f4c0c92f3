"""Leaves between two others are left out of maxima and minima, and no others are."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from symdim import maximum, minimum
from symdim.algebra.variable import Scope, make_variable
from tests.symdim.laws import ANY

SCOPE = Scope()
X, Y, N = (make_variable(SCOPE, name, *ends) for name, ends in {"x": ANY, "y": ANY, "N": (0, 3)}.items())


@pytest.mark.parametrize(
    ("leaf", "by_maximum", "by_minimum"),
    [
        ((X + 11) // 2, True, False),
        ((X + 12) // 2, True, True),
        ((X + 13) // 2, True, True),
        ((X + 14) // 2, False, True),
        ((X + 23) // 3, True, False),
        ((X + 24) // 3, True, True),
        ((X + 26) // 3, True, True),
        ((X + 27) // 3, False, True),
        (2 * X - 12, False, False),
    ],
)
def test_the_border(leaf, by_maximum, by_minimum):
    assert (maximum(leaf, X, 12) is maximum(X, 12)) is by_maximum
    assert (minimum(leaf, X, 12) is minimum(X, 12)) is by_minimum


def test_order_and_nesting_do_not_show():
    for mean in ((X + Y) // 2, (X + Y + 1) // 2, (X + 2 * Y) // 3):
        for a, b, c in permutations([X, Y, mean]):
            assert maximum(a, maximum(b, c)) is maximum(X, Y)
            assert minimum(a, minimum(b, c)) is minimum(X, Y)


def test_clauses_lose_leaves_of_both_kinds():
    for a, b in product((X, X + 2), (3, 8)):
        mean = (a + b) // 2
        assert minimum(maximum(a, mean), b) is minimum(mean, b)
        assert minimum(a, maximum(mean, Y), b) is minimum(a, b)
        assert maximum(a, minimum(mean, Y), b) is maximum(a, b)
    assert minimum(2 * X, minimum(N, maximum(X, N - 3))) is minimum(N, 2 * X, X)
