"""Sums of products: their intervals at the least values of the atoms, against all small values."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from symdim import Expr, Scope, Var, maximum, minimum
from symdim.algebra import corners

H, W, S = Var("H"), Var("W"), Var("S")
D = Var.fresh("D", 0)
N = Var.fresh("N", 1, 8)


def test_products_and_their_factors() -> None:
    assert (H * W - H).bounds() == (0, None)
    assert (H - H * W).bounds() == (None, 0)
    assert (2 * S**2 - S + 1).bounds() == (2, None)
    assert (H * W - H - W + 1).bounds() == (0, None)
    assert (2 * H * W - H - W).bounds() == (0, None)
    assert (S**3 - S**2).bounds() == (0, None)
    assert (D * W - D).bounds() == (0, None)
    assert (N * H - 8 * H + 7 * H).bounds() == (0, None)
    assert (H * W // 2 - H // 2).bounds() == (0, None)


def test_look_alikes_have_no_such_interval() -> None:
    assert (H * W - 2 * H).bounds() == (None, None)
    assert (H * D - H).bounds() == (None, None)  # D may be 0
    assert (D**2 - D).bounds() == (None, None)  # 0 for 0 and 1, but the law does not know that D is an integer
    below = minimum(H, W) - 5  # may be negative
    assert (below * W - below).bounds()[0] is None
    assert (H * W - S).bounds() == (None, None)
    assert (N * D - 8 * D).bounds() == (None, None)  # N is at most 8, but the law begins at the least values
    assert (H**2 - 2 * H * W + W**2).bounds() == (None, None)  # a square, which the law does not see


def test_a_maximum_of_a_product_and_its_factor() -> None:
    assert maximum(H * W, H) is H * W
    assert minimum(S**2, S) is S
    assert maximum(2 * H * W, H + W) is 2 * H * W
    assert maximum(H * W - H, 0) is H * W - H
    assert str(maximum(S**2, 3 * S)) == "max(S**2, 3*S)"
    assert str(maximum(H * D, H)) == "max(D*H, H)"
    assert str(minimum(D**2, D)) == "min(D**2, D)"


@pytest.mark.parametrize("seed", range(40))
def test_random_sums_of_products(seed: int) -> None:
    random = Random(seed)
    scope = Scope()
    ends = [(lo, random.choice([None, lo + random.randint(0, 3)])) for lo in random.choices([0, 1, 1, 2], k=3)]
    names = [scope.var(name, lo, hi) for name, (lo, hi) in zip("abc", ends, strict=True)]
    grid = list(product(*[range(lo, (lo + 5 if hi is None else hi) + 1) for lo, hi in ends]))
    found = 0
    for _ in range(40):
        e: Expr | int = random.randint(-5, 5)
        for _ in range(random.randint(2, 4)):
            term: Expr | int = random.choice([-3, -2, -1, 1, 2, 3])
            for _ in range(random.randint(1, 3)):
                term = term * random.choice(names)
            e = e + term
        if not isinstance(e, Expr) or e._terms is None or not corners.is_correlated(e._terms):
            continue
        found += 1
        lo, hi = e.bounds()
        values = [e.evaluate(dict(zip("abc", point, strict=True))) for point in grid]
        assert lo is None or lo <= min(values), e
        assert hi is None or hi >= max(values), e
    assert found > 5


def test_large_sums_keep_the_interval_of_their_terms() -> None:
    many = [Var.fresh(f"v{i}", 1) for i in range(13)]
    assert (sum(H * v for v in many) - H).bounds() == (None, None)
    assert (H**7 - H).bounds() == (None, None)
    far = Var.fresh("far", 1 << 80)
    assert (far * H - far).bounds() == (None, None)
