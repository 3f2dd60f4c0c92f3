"""What one constraint gives is exact: intervals reach from the least to the greatest solution, found by enumeration."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from symdim import Dim, Row, Scope, Store, Var, maximum, minimum
from symdim.algebra.expr import Expr
from symdim.rows import RowVar
from symdim.store import Contradiction

if TYPE_CHECKING:
    pass

Ends = tuple[int | None, int | None]

H, W = Var("H"), Var("W")
A, B, P = Var.fresh("a", 0, 5), Var.fresh("b", 0, 5), Var.fresh("p", 1, 5)

ANY_END = [
    A + B,
    A - B,
    2 * A + 3 * B + 1,
    A // 2 + B,
    A // 3 - B,
    B - A // 3,
    2 * (A // 3) + B,
    (A + B) // 3,
    maximum(A, B),
    minimum(A, B),
    maximum(A, 3),
    minimum(A, 3),
    maximum(A, 2 * B),
    minimum(A // 2, B),
    3 - 2 * maximum(A, B),
]

PRODUCTS = [A * B, P * B, A * A, A**3, A * A * B, P**3 * B]


def points_of(*variables: Var) -> list[dict[Var, int]]:
    ranges = [range(v.lo or 0, (v.hi or 0) + 1) for v in variables]
    return [dict(zip(variables, values, strict=True)) for values in product(*ranges)]


def hulls(points: list[dict[Var, int]], variables: tuple[Var, ...]) -> list[Ends] | None:
    """The least and the greatest value of each variable; None without points."""
    return [(min(p[v] for p in points), max(p[v] for p in points)) for v in variables] if points else None


def intervals(store: Store, variables: tuple[Var, ...]) -> list[Ends] | None:
    """The intervals of variables; None for a contradiction."""
    try:
        return [store.interval(v) for v in variables]
    except Contradiction:
        return None


def values_of(dim: Expr) -> tuple[tuple[Var, ...], list[tuple[dict[Var, int], int]]]:
    variables = dim.variables()
    return variables, [(point, dim.evaluate(point)) for point in points_of(*variables)]


def ends_of(values: list[int], least: int) -> list[int]:
    """All numbers where there are few; else those at and beside a value."""
    beside = {value + by for value in values for by in (-1, 0, 1)}
    kept = sorted(end for end in beside if end >= least)
    return kept if len(kept) < 24 else [*kept[:12], *kept[12::9], kept[-1]]


def check_bounds(dim: Expr, lows: list[int | None], highs: list[int | None]) -> None:
    variables, pairs = values_of(dim)
    for lo, hi in product(lows, highs):
        points = [p for p, value in pairs if (lo is None or value >= lo) and (hi is None or value <= hi)]
        store = Store()
        store.bounds(dim, lo, hi)
        assert intervals(store, variables) == hulls(points, variables), (dim, lo, hi)


@pytest.mark.parametrize("dim", ANY_END, ids=str)
def test_a_bound_leaves_the_hull_of_its_solutions(dim: Expr) -> None:
    _, pairs = values_of(dim)
    ends = ends_of([value for _, value in pairs], -99)
    check_bounds(dim, [None, *ends], [None, *ends])


@pytest.mark.parametrize("dim", PRODUCTS, ids=str)
def test_a_bound_above_0_of_a_product_leaves_the_hull_of_its_solutions(dim: Expr) -> None:
    _, pairs = values_of(dim)
    ends = ends_of([value for _, value in pairs], 1)
    check_bounds(dim, [*ends], [None, *ends])


@pytest.mark.parametrize("dim", [*ANY_END, *PRODUCTS], ids=str)
def test_an_equation_leaves_the_hull_of_its_solutions(dim: Expr) -> None:
    variables, pairs = values_of(dim)
    for wanted in ends_of([value for _, value in pairs], 1 if dim in PRODUCTS else -99):
        store = Store()
        store.eq(dim, wanted)
        points = [point for point, value in pairs if value == wanted]
        assert intervals(store, variables) == hulls(points, variables), wanted


@pytest.mark.parametrize(("lo", "hi"), [(0, 0), (0, 1), (0, 5), (1, 1), (1, 5), (3, 6), (3, 12)])
def test_a_divisibility_leaves_the_hull_of_its_solutions(lo: int, hi: int) -> None:
    v = Var.fresh("v", lo, hi)
    for k, const, by in product((1, 2, 3, 4, 6, -1, -2, -3), range(-3, 4), range(1, 7)):
        store = Store()
        store.divisible(k * v + const, by)
        points = [{v: value} for value in range(lo, hi + 1) if (k * value + const) % by == 0]
        assert intervals(store, (v,)) == hulls(points, (v,)), (k, const, by)


def test_a_divisibility_moves_an_end_of_an_interval_without_the_other() -> None:
    low = Var.fresh("low", 5)
    store = Store()
    store.divisible(low + 1, 4)
    assert store.interval(low) == (7, None)


def test_the_candidates_of_a_size_are_the_values_at_which_its_conditions_hold() -> None:
    v, few = Var.fresh("v", 0, 20), Var.fresh("few", 0, 3)
    store = Store()
    store.divisible(v + 1, 3)
    store.divisible(2 * v, 5)
    store.eq(v, 5 * few)
    assert store.candidates(v) == (5,)
    store = Store()
    store.divisible(v * v + 1, 5)
    assert store.candidates(v) == tuple(value for value in range(21) if (value * value + 1) % 5 == 0)


@pytest.mark.parametrize(("hi", "count"), [(1000, 1001), (1001, None)])
def test_a_thousand_candidates_are_listed(hi: int, count: int | None) -> None:
    found = Store().candidates(Var.fresh("v", 0, hi))
    assert found == (None if count is None else tuple(range(count)))


def test_without_two_ends_there_are_no_candidates() -> None:
    assert Store().candidates(Var("v")) is None
    assert Store().candidates(Var.fresh("v", 3, 5) + 1) == (4, 5, 6)


@pytest.mark.parametrize("ceiling", [0, 1, 2, 7])
def test_a_size_that_is_broadcast_to_a_number_is_this_number_or_1(ceiling: int) -> None:
    v = Var.fresh("v", 0)
    store = Store()
    store.refine(ceiling, v)
    assert store.interval(v) == (min(1, ceiling), max(1, ceiling))
    assert store.candidates(v) == tuple(sorted({1, ceiling}))
    store.refine(3, v)
    assert store.value(v) == 1


def test_a_size_that_is_broadcast_to_one_number_twice_is_not_1() -> None:
    v = Var.fresh("v", 0)
    store = Store()
    store.refine(3, v)
    store.refine(3, v)
    assert store.candidates(v) == (1, 3)


def test_a_row_of_known_rank_has_so_many_axes() -> None:
    row = RowVar.fresh("r")
    store = Store()
    store.rank(Row((3,), row, (4,)), 4, 4)
    known = store.row(Row((3,), row, (4,)))
    assert (known.rank, known.dims[0], known.dims[-1]) == (4, 3, 4)


def number(dim: Dim) -> int:
    assert isinstance(dim, int)
    return dim


@pytest.mark.parametrize("value", range(13))
def test_a_power_equals_a_number_only_at_its_root(value: int) -> None:
    side = Var.fresh("side", 1)
    store = Store()
    store.eq(3 * side**2, value)
    roots = [n for n in range(1, 4) if 3 * n * n == value]
    try:
        assert [number(store.value(side))] == roots
    except Contradiction:
        assert not roots


@pytest.mark.parametrize(
    ("equation", "bounded", "texts"),
    [
        (maximum(H, W), (1, 6), ["W == 7", "H <= 6"]),
        (minimum(H, W), (8, None), ["W == 7", "H >= 8"]),
        (maximum(W, H, 2 * H), (0, 3), ["W == 7", "H <= 3"]),
        (maximum(H, W), (1, 7), ["H <= 7", "max(H, W) == 7"]),
        (W // 3, (1, 6), ["H <= 6", "21 <= W <= 23"]),
        ((H + W) // 4, (1, 6), ["H <= 6", "(H + W)//4 == 7"]),
    ],
)
def test_an_equation_that_leaves_one_part_is_said_of_this_part(equation: Dim, bounded: Ends, texts: list[str]) -> None:
    """The guards do not repeat the extremum: the bounds and the part that is left imply it."""
    store = Store()
    store.bounds(H, *bounded, origin="bound")
    store.eq(equation, 7, origin="equation")
    assert [guard.text for guard in store.guards()] == texts
    assert {str(guard.fact.origin) for guard in store.guards()} <= {"bound", "equation"}
    assert store.explain(W)[0] == f"{equation} == 7 (equation)"


def test_a_part_is_left_after_a_later_equation() -> None:
    store = Store()
    store.eq(maximum(H + 2, W) - 2, 5, origin="first")
    store.eq(H, 1, origin="second")
    assert [guard.text for guard in store.guards()] == ["H == 1", "W == 7"]


def test_a_bound_of_a_part_is_said_of_the_equation() -> None:
    store = Store()
    scope = Scope()
    height, width = scope.var("height", 0), scope.var("width", 0)
    store.eq(height, 2 * width, origin="first")
    store.eq(maximum(2 * height, 1), 1, origin="second")
    assert [(guard.text, str(guard.fact.origin)) for guard in store.guards()] == [
        ("height == 0", "first"), ("width == 0", "second")
    ]  # fmt: skip
    assert store.explain(width) == ("max(2*height, 1) == 1 (second)", "height == 2*width (first)")
