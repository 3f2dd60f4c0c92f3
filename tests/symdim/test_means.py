"""Leaves between two others are left out of maxima and minima, and no others are."""

from __future__ import annotations

from itertools import combinations, permutations, product

import pytest

from symdim import maximum, minimum
from symdim.algebra.constructors.means import is_needless, without_needless
from symdim.algebra.expr import Max, Min
from symdim.algebra.variable import Scope, make_variable
from tests.symdim.laws import ANY

SCOPE = Scope()
X, Y, N = (make_variable(SCOPE, name, *ends) for name, ends in {"x": ANY, "y": ANY, "N": (0, 3)}.items())
GRID = [(x, y, n) for x in range(-9, 10) for y in (-5, -1, 0, 2, 7) for n in range(4)]
LEAVES = [
    X, Y, 3, 2 * X - Y, (X + Y) // 2, (X + Y + 1) // 2, (X + Y) // 2 + 1, (2 * X + Y) // 3, (X + 2 * Y + 3) // 3,
    X // 2 + 1, (X + 3) // 2 + N, (X - N) // 2 + 2,
]  # fmt: skip


def values(dim):
    if isinstance(dim, int):
        return [dim] * len(GRID)
    return [dim.evaluate({X: x, Y: y, N: n}) for x, y, n in GRID]


@pytest.mark.parametrize("kind", [Max, Min])
def test_the_value_stays(kind):
    function, known = (max if kind is Max else min), {leaf: values(leaf) for leaf in LEAVES}
    dropped = 0
    for leaves in combinations(LEAVES, 4):
        kept = without_needless(kind, list(leaves))
        dropped += len(kept) < 4
        expected = list(map(function, *[known[leaf] for leaf in leaves]))
        assert list(map(function, *[known[leaf] for leaf in kept])) == expected, leaves
    assert dropped


def test_only_what_is_needless_in_all_points():
    for kind, function in ((Max, max), (Min, min)):
        for leaf, a, b in permutations(LEAVES[:9], 3):
            if a is not b and is_needless(kind, leaf, [a, b]):
                pairs = zip(values(leaf), values(a), values(b), strict=True)
                assert all(function(m, some, other) == function(some, other) for m, some, other in pairs), (leaf, a, b)


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
    assert is_needless(Max, leaf, [X, 12]) is by_maximum
    assert is_needless(Min, leaf, [X, 12]) is by_minimum


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
