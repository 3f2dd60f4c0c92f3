"""Minima and maxima as a person writes them: text, interval, values on a grid; and that nothing is multiplied out."""

from __future__ import annotations

from itertools import product

import pytest

from symdim import Var, ceildiv, clear_caches, equal, maximum, minimum, parse, total
from symdim.algebra.expr import Expr
from symdim.algebra.texts.written import leaf_count

N, M = Var("N"), Var("M")
X, Y, Z = (Var.fresh(name) for name in "xyz")
NAMES = {"N": N, "M": M, "x": X, "y": Y, "z": Z}
GRID = (0, 1, 2, 3, 4, 5, 7, 11)


def test_the_interval_of_a_remainder_of_a_minimum_decides():
    assert (minimum(16 * X, Y // 3) % 5) // 12 == 0


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


def test_a_division_by_an_expression_goes_inside_where_it_divides():
    assert str(minimum(X * N, Y) // N) == "min(y//N, x)"
    assert str(maximum(X, 5) // (Y + 1)) == "max(x, 5)//(y + 1)"


def test_a_division_goes_inside_where_the_divisor_divides_one_of_several_terms():
    n, i = Var.fresh("n", 4), Var.fresh("i", 0, 3)
    assert maximum(n * X + i, Y) // n is maximum(X, Y // n)


@pytest.mark.parametrize("count", [8, 9])
def test_a_maximum_takes_in_at_most_eight_terms_beside_another_one(count):
    sizes = [Var(f"v{i}") for i in range(count)]
    dim = maximum(maximum(X, Y) + total(sizes), Z)
    assert ("max(x, y)" in str(dim)) is (count > 8)
    assert [dim.evaluate({**dict.fromkeys(sizes, 1), X: x, Y: y, Z: z}) for x, y, z in ((2, 3, 4), (1, 1, 20))] == [
        count + 3,
        20,
    ]


def test_a_number_that_is_the_greatest_stays():
    i = Var.fresh("i", 0, 3)
    assert str(maximum(minimum(X, Y), i, 3)) == "max(min(x, y), 3)"
    assert str(minimum(maximum(X, Y), i + 5, 5)) == "min(max(x, y), 5)"


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


FALSE = [
    (maximum(minimum(X, Y), Z), minimum(maximum(X, Z), Y)),  # unless z <= y
    (maximum(X, Y, Z) + minimum(X, Y, Z), X + Y + Z),
    (maximum(X, Y) * minimum(X, Z), X * Y),
    (maximum(X // 2, Y // 3), maximum(X, Y) // 2),
    (minimum(X, Y) // 2 + maximum(X, Y) // 2, (X + Y) // 2),
    (ceildiv(X, 3) + X // 3, X),
    (minimum(maximum(X, 5), 3), minimum(X, 3)),
]


@pytest.mark.parametrize(("left", "right"), FALSE)
def test_look_alikes_are_kept_apart(left, right):
    points = [dict(zip((X, Y, Z), point, strict=True)) for point in product(GRID, repeat=3)]
    values = [tuple(d if isinstance(d, int) else d.evaluate(p) for d in (left, right)) for p in points]
    assert any(a != b for a, b in values)
    assert left is not right


def test_a_constant_of_a_lost_twin_counts():
    k = Var.fresh("k", 2, 9)
    dim = (minimum(k, 7) % -2) // 8
    assert isinstance(dim, Expr)
    assert [dim.evaluate({k: size}) for size in range(2, 10)] == [min(size, 7) % -2 // 8 for size in range(2, 10)]
    for size in range(1, 9):
        for divisor in (2, 3, 5):
            assert (minimum(6, Y) % Z // 2).evaluate({Y: size, Z: divisor}) == min(6, size) % divisor // 2


def test_a_half_that_stands_also_in_a_product_is_not_merged():
    dim = (N // 2 - (N + 1) // 2 * minimum(Z, 3) - (Y + Z) // 3) % 4
    for n, y, z in product(GRID[1:], GRID, GRID):
        assert dim.evaluate({N: n, Y: y, Z: z}) == (n // 2 - (n + 1) // 2 * min(z, 3) - (y + z) // 3) % 4


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


def test_a_shift_of_three_arguments_is_taken_out():
    for extremum in (maximum, minimum):
        assert extremum(X - 2, Y, Z + 2) + 5 is extremum(X + 3, Y + 5, Z + 7)


def test_two_minima_without_a_common_term_stay():
    """y//3 is at most 3*y, but a clamp of both would be longer."""
    whole = Var.fresh("x", None, None)
    made = minimum(1, 3 * Y) - minimum(whole, Y // 3)
    assert str(made) == "min(3*y, 1) - min(x, y//3)"
    assert parse(str(made), {"x": whole, "y": Y}) is made


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


def test_a_form_that_is_too_long_without_means_has_the_same_value():
    """Means make leaves of one kind of clauses needless, and without these the other kind is beyond the budget."""
    a, b, c, d = (Var(name) for name in "abcd")
    found = maximum(a, (a + b) // 2, minimum(ceildiv(b, 2) + 1, 3), minimum(b, c, ceildiv(c, 2) + 1, d))
    for p, q, r, s in product((1, 2, 3, 4, 7), repeat=4):
        expected = max(p, (p + q) // 2, min((q + 1) // 2 + 1, 3), min(q, r, (r + 1) // 2 + 1, s))
        assert found.evaluate(a=p, b=q, c=r, d=s) == expected


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
