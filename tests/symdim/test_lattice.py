"""Minima and maxima as a person writes them: text, interval, values on a grid; and that nothing is multiplied out."""

from __future__ import annotations

from itertools import product

import pytest

from symdim import Var, clear_caches, equal, maximum, minimum, parse, total
from symdim.algebra.expr import Expr
from symdim.algebra.texts.written import leaf_count

N, M = Var("N"), Var("M")
X, Y, Z = (Var.fresh(name) for name in "xyz")
GRID = (0, 1, 2, 3, 4, 5, 7, 11)


def test_halves_of_sums_of_maxima_end():
    """Maxima that are halved and added again: the numerators meet the halves that they hold, and the work ends."""
    dim: int | Expr = X
    for _ in range(40):
        dim = maximum(dim // 2, Y) + dim
    assert isinstance(dim, Expr)
    assert leaf_count(dim) > 2**20
    value = 5
    for _ in range(40):
        value = max(value // 2, 9) + value
    assert dim.evaluate({X: 5, Y: 9}) == value


@pytest.mark.parametrize("count", [8, 9])
def test_a_maximum_takes_in_at_most_eight_terms_beside_another_one(count):
    sizes = [Var(f"v{i}") for i in range(count)]
    dim = maximum(maximum(X, Y) + total(sizes), Z)
    assert ("max(x, y)" in str(dim)) is (count > 8)
    assert [dim.evaluate({**dict.fromkeys(sizes, 1), X: x, Y: y, Z: z}) for x, y, z in ((2, 3, 4), (1, 1, 20))] == [
        count + 3,
        20,
    ]


def test_nested_clamps_are_written_once():
    dim, ends = X, [Var(name) for name in "abcdef"]
    for low, high in zip(ends[::2], ends[1::2], strict=True):
        dim = minimum(maximum(dim, low), high)
    assert str(dim) == "min(max(min(max(min(max(a, x), b), c), d), e), f)"
    assert isinstance(dim, Expr)
    assert dim.bounds() == (1, None)
    for x, *point in product((0, 3, 6), (1, 4), (2, 5), (1, 4), (2, 5), (1, 4), (2, 5)):
        a, b, c, d, e, f = point
        sizes = {X: x, **dict(zip(ends, point, strict=True))}
        assert dim.evaluate(sizes) == min(max(min(max(min(max(a, x), b), c), d), e), f)


def test_nested_clamps_stay_linear():
    dim = X
    for i in range(40):
        dim = maximum(minimum(dim, Var(f"a{i}")), Var(f"b{i}"))
    assert leaf_count(dim) == 81


def test_chains_of_remainders_stay_linear():
    dim: int | Expr = N
    expected = 12_345
    for m in range(100, 60, -1):
        dim, expected = dim % m, expected % m
    assert isinstance(dim, Expr)
    assert len(str(dim)) < 400
    assert dim.evaluate(N=12_345) == expected
    assert parse(str(dim)) is dim
    assert str(parse("N%2%3%2%3%2")) == "N % 2"


def test_maxima_of_many_variables_are_one():
    variables = [Var.fresh(f"v{i}") for i in range(70)] + [Var.fresh(f"w{i}") for i in range(70)]
    for extremum in (maximum, minimum):
        joined = extremum(extremum(*variables[:70]), extremum(*variables[70:]), variables[3])
        assert joined is extremum(*variables)
        assert len(joined._parts) == 140


def test_bounds_drop_variables_of_a_maximum_of_many():
    small, large = [Var.fresh(f"s{i}", 1, 5) for i in range(20)], [Var.fresh(f"l{i}", 5) for i in range(20)]
    assert maximum(maximum(*small), maximum(*large), N) is maximum(*large, N)
    assert minimum(minimum(*small), minimum(*large), N) is minimum(*small, N)
    assert maximum(maximum(*small), large[0], M) is maximum(large[0], M)


def test_a_deep_nest_is_simplified_whatever_is_remembered():
    """The form of the whole was found only while the forms of its parts were still in the cache."""
    sizes = [Var(f"n{i}") for i in range(10)]
    nest = sizes[9]
    for i in reversed(range(9)):
        nest = (maximum if i % 2 else minimum)(sizes[i], nest)
    for _ in range(2):
        assert maximum(nest, sizes[1], sizes[2]) is maximum(sizes[1], sizes[2])
        clear_caches()


def test_a_nest_of_many_operations_keeps_its_leaves():
    """Two leaves: only the number of nested operations is beyond the budget."""
    nest = X
    for i in range(60):
        nest = (maximum if i % 2 else minimum)((3 * nest + i) // 2, Y)
    for x, y in product(GRID, repeat=2):
        expected = x
        for i in range(60):
            expected = (max if i % 2 else min)((3 * expected + i) // 2, y)
        assert maximum(nest, Z).evaluate(x=x, y=y, z=5) == max(expected, 5)


R, S, T = (Var(name) for name in "rst")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (R, S),
        (R // 2, S // 2),
        (R // 3, S // 3),
        (R // T, S // T),
        (R // 3, 2),
        (R + 1, S),
        (2 * R, S),
        (R // 3, S // 5),
        (R * S, T),
        (R // 4, R // 2),
    ],
    ids=str,
)
def test_a_maximum_and_a_minimum_are_the_two_arguments_in_products_too(a: Expr, b: Expr) -> None:
    """(M - a)*(M - b) is 0 and M*m is a*b, for whatever arguments."""
    high, low = maximum(a, b), minimum(a, b)
    assert high + low is a + b
    assert equal(high * low, a * b)
    assert equal(a * high * low, a * a * b)
    assert equal(a * high + b * high - a * b, high * high)
    assert equal(a * high - a * a - a * b, -a * low)


def test_of_many_arguments_those_that_bounds_exceed_are_left_out() -> None:
    many = [Var(f"v{i:02}") for i in range(40)]
    most, least = maximum(*many, 3), minimum(*many, 3)
    for size in (1, 2, 3, 9):
        sizes = {v.name: size for v in many}
        assert (most.evaluate(sizes), least.evaluate(sizes)) == (max(size, 3), min(size, 3))
    bounded = [Var.fresh(f"w{i:02}", 5, 9) for i in range(40)]
    assert (maximum(*bounded, 4), minimum(*bounded, 10)) == (maximum(*bounded), minimum(*bounded))
