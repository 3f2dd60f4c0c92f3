"""Upper bounds that are attained: for each size of the model, some data give the bound. Found by enumeration."""

from __future__ import annotations

from itertools import product

import pytest

from symdim import Expr, Var, maximum, minimum
from symdim.guarantee import UpperBounds, bound_expr, guarantee_of, is_exact

N, M = Var("N"), Var("M")
U = Var.fresh("u", 0, at_most=N, origin="the data decide")
V = Var.fresh("v", 1, at_most=M, origin="the data decide")
W = Var.fresh("w", 2, at_most=N + M, origin="the data decide")
OPEN = Var.fresh("open", 0, origin="the data decide")

ATTAINED = [
    U + 3,
    2 * U + 5,
    3 * U - 2 * V + 4,
    10 - V,
    -V,
    U * V,
    U * V * V + 1,
    -(U * V),
    U // 3,
    (U + 5) // V,
    (3 - U) // 2,
    (U - 4) // V,
    (-3 - U) // V,
    (20 - U) // V,
    W // V,
    -(W // V),
    5 - W // V,
    (W - 1) // V,
    N // V,
    -(N // V),
    (N - 5) // V,
    (5 - N) // V,
    -((5 - N) // V),
    U // W,
    -(U // W),
    (U + V) // W,
    maximum(U, V),
    minimum(U, V),
    minimum(U, 7),
    maximum(U, 7),
    maximum(U, N),
    minimum(V, N + 1),
    -maximum(U, V),
    -minimum(U, V),
    minimum(U, 3) * V,
    U % 5,
    U % V,
    -(U % 5),
    U * (V % 3),
    3 * (U % 5) - V,
    V * (W // 3),
    U - U // 2,
]


@pytest.mark.parametrize("size", ATTAINED, ids=str)
def test_a_bound_is_the_greatest_value(size: Expr) -> None:
    bound = UpperBounds().of(size)
    assert isinstance(bound, int) or {*bound.variables()} <= {N, M}
    inner = [v for v in (U, V, W) if v in size.variables()]
    for n, m in product(range(2, 7), repeat=2):
        most = {U: n, V: m, W: n + m}
        points = product(*(range(v.lo or 0, most[v] + 1) for v in inner))
        greatest = max(size.evaluate({N: n, M: m, **dict(zip(inner, point, strict=True))}) for point in points)
        assert greatest == (bound.evaluate({N: n, M: m}) if isinstance(bound, Expr) else bound), (n, m)


@pytest.mark.parametrize(
    ("size", "bound"),
    [
        (OPEN, None),
        (-OPEN, 0),
        (3 - OPEN, 3),
        (minimum(OPEN, U), N),
        (maximum(OPEN, U), None),
        (-maximum(OPEN, V), -1),
        (OPEN % 4, 3),
        (U % (OPEN + 1), N),
        (OPEN % V, M - 1),
        (U // (OPEN + 1), N),
        ((U - 4) // (OPEN + 1), maximum(N - 4, -1)),
        (OPEN // V, None),
        (-(OPEN // V), 0),
        (OPEN * U, None),
        (-(OPEN * U), 0),
        (OPEN // 2 + U, None),
    ],
    ids=str,
)
def test_a_part_without_a_bound(size: Expr, bound: int | Expr | None) -> None:
    assert UpperBounds().of(size) == bound
    assert bound_expr(size) == bound
    assert guarantee_of(size).kind == ("unknown" if bound is None else "upper_bound")
    assert not is_exact(size)
