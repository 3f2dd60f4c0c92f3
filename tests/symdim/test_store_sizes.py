"""Sizes in a store: what each kind of equation, bound and divisibility gives, and when it is contradictory."""

from __future__ import annotations

from itertools import permutations

import pytest

from symdim import Dim, Row, Scope, Store, Var, maximum, minimum, total
from symdim.algebra.texts.written import leaf_count
from symdim.algebra.variable import make_variable
from symdim.rows import RowVar
from symdim.store import Contradiction
from symdim.store.solution import MOST_NAMES

Interval = tuple[int | None, int | None]

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


def texts(store: Store) -> list[str]:
    return [guard.text for guard in store.guards()]


def test_one_part_of_an_extremum_is_the_value_that_the_others_cannot_have():
    store = Store()
    high, low = store.fresh(), store.fresh()
    store.eq(maximum(high, 5), 7)
    store.eq(minimum(low, 9), 7)
    assert (store.value(high), store.value(low)) == (7, 7)
    small, large = store.fresh("small", 0, 6), store.fresh("large")
    store.eq(maximum(small, large), 7)
    assert (store.value(large), store.interval(small)) == (7, (0, 6))


def test_a_product_is_not_divided_where_a_factor_may_be_negative():
    store = Store()
    a, b = make_variable(Scope(), "a", -9, 9), make_variable(Scope(), "b", -9, 9)
    store.eq(a * b, 12)
    assert (store.interval(a), store.interval(b)) == ((-9, 9), (-9, 9))
    store, positive = Store(), make_variable(Scope(), "c", 1, 9)
    store.bounds(a * positive, lo=12, hi=20)
    assert (store.interval(a), store.interval(positive)) == ((-9, 9), (1, 9))


def test_a_division_by_a_size_gives_no_interval():
    store = Store()
    n, d = store.fresh("n", 0, 99), store.fresh("d", 1, 9)
    store.eq(n // d, 7)
    store.bounds(n // d, lo=3)
    assert (store.interval(n), store.interval(d)) == ((0, 99), (1, 9))


@pytest.mark.parametrize(
    ("dim", "by", "message"),
    [
        (N, 0, "N is not a multiple of 0"),
        (7, 2, "7 is not a multiple of 2"),
        (2 * N + 1, 2, r"2\*N \+ 1 is not a multiple of 2"),
        (2 * N + 2 * M + 1, 4, r"2\*M \+ 2\*N \+ 1 is not a multiple of 4"),
    ],
)
def test_a_size_that_has_a_remainder_is_no_multiple(dim: Dim, by: int, message: str):
    store = Store()
    store.divisible(dim, by)
    with pytest.raises(Contradiction, match=message):
        store.propagate()


def test_a_divisibility_rounds_the_interval_of_one_size_only():
    store = Store()
    one, other = store.fresh("one", 5, 21), store.fresh("other", 5, 21)
    store.divisible(one + 1, 4)
    assert store.interval(one) == (7, 19)
    for dim, by in ((other + N, 4), (other // 3, 4), (N + M, M), (other, 1)):
        store.divisible(dim, by)
    assert store.interval(other) == (5, 21)
    assert "(M + N) % M == 0" in texts(store)


def test_long_sums_are_not_narrowed():
    store = Store()
    sizes = [store.fresh(f"s{i}", 1, 50) for i in range(9)]
    store.bounds(sum(sizes[1:], sizes[0]), hi=20)
    assert {store.interval(size) for size in sizes} == {(1, 50)}
    store.bounds(sum(sizes[1:8], sizes[0]), hi=20)
    assert store.interval(sizes[0]) == (1, 13)


def test_intervals_that_grow_for_ever_are_cut():
    """Each of two sizes is larger than the other: no round of narrowing is the last one."""
    store = Store()
    a, b = store.fresh("a", 1), store.fresh("b", 1)
    store.bounds(a - b * b, lo=1)
    store.bounds(b - a * a, lo=1)
    least, most = store.interval(a)
    assert least is not None
    assert least > 1
    assert most is None


def test_equations_over_given_sizes_are_solved_for_others():
    store = Store()
    quotient, exact, unknown = store.fresh(), store.fresh(), store.fresh()
    store.eq(5 * N, M * quotient)
    store.eq((M + 1) * exact, (M + 1) * N)
    store.eq(Var.fresh("Z", 0) * unknown, 6 * Var.fresh("Y", 0))
    assert store.value(quotient) is 5 * N // M
    assert store.value(exact) is N
    assert store.value(unknown) is unknown
    assert "5*N % M == 0" in texts(store)


def test_guards_are_checked_at_sizes():
    store = Store()
    store.bcast(Row.of([H]), [Row.of([N]), Row.of([M])])
    store.refine(W, Var("V"))
    store.bounds(N - M, lo=-2, hi=5)
    held = {guard.text: guard for guard in store.guards()}
    join, refinement, bounds = (
        next(guard for text, guard in held.items() if sign in text) for sign in ("broadcast", "V", "<=")
    )
    assert join.text == "H == broadcast(N, M)"
    assert [join.holds({"H": h, "N": 1, "M": 3}) for h in (3, 1)] == [True, False]
    assert [refinement.holds({"W": 5, "V": v}) for v in (5, 1, 2)] == [True, True, False]
    assert [bounds.holds({"N": n, "M": 3}) for n in (1, 8, 9)] == [True, True, False]


def test_a_row_that_occurs_twice_is_not_split():
    store = Store()
    r = RowVar.fresh("r")
    store.exact([Row((), r), Row.of([7]), Row((), r)], [N, 7, M])
    assert store.row(Row((), r)).is_open


def test_an_equation_is_solved_for_the_size_that_is_not_given():
    store = Store()
    store.eq(N, 2 * M + H)
    assert (store.value(N), store.value(H)) == (H + 2 * M, H)
    store, u = Store(), Var("u")
    store.generated(u)
    store.eq(N + u * M, 2 * M + H)
    assert (store.value(N), store.value(u)) == (N, (H - N) // M + 2)
    assert [guard.text for guard in store.guards()] == ["(H - N)//M + 2 >= 1", "(H + 2*M - N) % M == 0"]


def test_a_size_at_which_a_condition_has_no_value_is_not_possible():
    n, t = Var("N"), Var.fresh("t", 0, 3)
    store = Store()
    store.divisible(n, t)
    store.eq(n, 2 * (12 // t))
    assert store.candidates(t) == (1, 2)


def test_an_axis_that_differs_from_the_result_is_1():
    n = Var("N")
    store = Store()
    store.refine(n + 3, n - 1)
    assert store.value(n) == 2


def test_parts_of_a_size_that_cannot_lie_where_the_whole_does():
    t = Var.fresh("t", 0, 3)
    store = Store()
    store.eq(5, 12 // t + t)
    with pytest.raises(Contradiction, match=r"12//t is in 12\.\.12"):
        store.propagate()


def test_intervals_that_grow_in_each_round_stay_short():
    """b//2 >= b*b squares the lower bound of b each time."""
    a, b = Var.fresh("a", 0, 9), Var.fresh("b", 3)
    store = Store()
    store.eq(b // 2, maximum(a, b) * b * store.fresh("g"))
    low, _ = store.interval(b)
    assert low is not None
    assert 3 < low < 2**1024


@pytest.mark.parametrize("is_reversed", [False, True])
def test_values_in_a_chain_of_equations_stay_short(is_reversed: bool) -> None:
    """Written out, the last of 24 values would have thousands of names, in whatever order the equations are solved."""
    count = 24
    names = sorted((f"v{i:02d}" for i in range(count)), reverse=is_reversed)
    sizes = [Var(name, 0) for name in names]
    store = Store()
    for v in sizes[2:]:
        store.generated(v)
    for x, y, z in zip(sizes, sizes[1:], sizes[2:], strict=False):
        store.eq(z, (3 * y + x) // 2 + y, origin=str(z))
    assert 2 < max(leaf_count(store.value(v)) for v in sizes) <= MOST_NAMES
    assert store.value(sizes[2]) == (3 * sizes[1] + sizes[0]) // 2 + sizes[1]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_an_equation_with_a_long_value_is_a_guard_and_narrows(is_reversed: bool) -> None:
    count = 12
    names = sorted((f"w{i:02d}" for i in range(count)), reverse=is_reversed)
    sizes = [Var(name, 1) for name in names]
    store = Store()
    for x, y, z in zip(sizes, sizes[1:], sizes[2:], strict=False):
        store.eq(z, (3 * y + x) // 2 + y, origin=str(z))
    truth = [1, 1]
    while len(truth) < count:
        truth.append((3 * truth[-1] + truth[-2]) // 2 + truth[-1])
    bindings = dict(zip(names, truth, strict=True))
    guards = store.guards()
    assert all(guard.holds(bindings) for guard in guards)
    assert not all(guard.holds({**bindings, names[-1]: truth[-1] + 1}) for guard in guards)
    store.eq(sizes[0], 1)
    store.eq(sizes[1], 1)
    assert [store.value(v) for v in sizes] == truth


@pytest.mark.parametrize("names", list(permutations("abc")), ids="".join)
def test_a_value_that_gets_too_long_is_met_twice(names: tuple[str, ...]) -> None:
    """One size is in the values of two others; it has 30 names, then 79. The others may be brought up to date first."""
    shared, second, third = (Var(name) for name in names)
    store, u, parts, longer = Store(), Var("u"), [Var(f"p{i}") for i in range(30)], [Var(f"q{i}") for i in range(50)]
    store.eq(third, 2 * shared + 3 * second)
    store.eq(second, 3 * shared + u)
    store.eq(shared, total(parts))
    store.eq(parts[0], total(longer))
    sizes = {**dict.fromkeys([*parts[1:], *longer], 1), u: 5}
    sizes |= {parts[0]: 50, shared: 79, second: 242, third: 884}
    for v in (third, second, shared):
        value = store.value(v)
        assert leaf_count(value) <= MOST_NAMES
        assert value == sizes[v] if isinstance(value, int) else value.evaluate(sizes) == sizes[v]
    assert all(guard.holds(sizes) for guard in store.guards())
    assert not all(guard.holds({**sizes, shared: 80}) for guard in store.guards())
