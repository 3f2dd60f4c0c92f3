"""Guarantees: what a size is worth, and that bounds hold. Row numbers `3.n` are those of the list of features."""

from __future__ import annotations

import pickle
import random
from itertools import product as grid

import pytest

from symdim import BoundsError, Expr, Scope, Shape, Var, guarantee_of, maximum, minimum, total
from symdim.algebra.origin import Computed, Declared, InputDim, ValueOf
from symdim.algebra.variable import make_variable
from symdim.errors import RankError, UnsupportedDynamicShape
from symdim.guarantee import (
    UpperBounds,
    as_exact,
    bound_expr,
    require_exact,
    require_exact_shape,
    require_rank,
)

N, M = Var("N"), Var("M")


def data(name="d", at_most=None, lo=0, origin="the data decide"):
    return Var.fresh(name, lo, at_most=at_most, origin=origin)


D = data("d", N)
FREE = data("free")

BOUNDS = [
    # 3.5: monotone transformations keep a bound, others weaken it
    (D + 1, N + 1),
    (2 * D + 3, 2 * N + 3),
    (10 - D, 10),
    (D // 4, N // 4),
    ((D + 3) // 4 * 4, (N + 3) // 4 * 4),
    (-D, 0),
    (M - D, M),
    (D * M, N * M),
    (D * D, N * N),
    (minimum(D, 5), minimum(N, 5)),
    (maximum(D, M), maximum(N, M)),
    (D % 4, minimum(N, 3)),
    (D - D // 2, N - N // 2),
    (7 // (D + 1), 7),
    (M // (D + 1), M),
    # an unbounded size: what is exact beside it may bound the whole
    (minimum(FREE, N), N),
    (N - FREE, N),
    (N // (FREE + 1), N),
    (FREE % 8, 7),
    (FREE, None),
    (FREE * N, None),
    (maximum(FREE, N), None),
    (D * FREE, None),
    # bounds of bounds
    (data("e", 2 * D), 2 * N),
    (data("e", minimum(FREE, M)) + D, N + M),
    (data("e", FREE), None),
    (Var.fresh("e", 0, 9, origin="the data decide"), 9),
    (Var.fresh("e", 0, 9, origin="the data decide") * N, 9 * N),
]


@pytest.mark.parametrize("size, bound", BOUNDS, ids=str)
def test_3_5_upper_bounds(size, bound):
    found = size.guarantee()
    assert (found.kind, found.size) == ("unknown" if bound is None else "upper_bound", bound)
    assert size.bound_expr() is bound or size.bound_expr() == bound
    assert size.as_exact() is None


@pytest.mark.parametrize("size", [0, 7, N, 2 * N + M // 3, Var.fresh("x"), maximum(N, M) % 4])
def test_3_2_exact_sizes(size):
    assert guarantee_of(size) == ("exact", size)
    assert as_exact(size) is size
    assert bound_expr(size) is size
    assert require_exact(size, "Reshape", "shape[0]") is size


def test_3_7_origins():
    image = Shape.of_input("X", 2)
    assert [v.origin for v in image] == [InputDim("X", 0), InputDim("X", 1)]
    assert image.exact_shape() == image
    k = data("k", N, origin=ValueOf("K", 0, "TopK.K"))
    assert (k.guarantee().kind, k.guarantee({"K"}).kind, k.guarantee({"L"}).kind) == (
        "upper_bound",
        "exact",
        "upper_bound",
    )
    length = data("n", N, origin=Computed(maximum(minimum(k, N) - 1, 0), "a bound of the slice"))
    assert [length.guarantee(known).kind for known in ((), {"K"})] == ["upper_bound", "exact"]
    assert (2 * length + k).as_exact({"K"}) is 2 * length + k
    mixed = data("m", origin=Computed(k + FREE, "two"))
    assert mixed.guarantee({"K"}).kind == "unknown"


def test_a_variable_is_replaced_by_its_bound_only_where_monotone_up_to_it():
    """`e % 5` rises up to 3, the largest e that d admits; the bound of e in n and m goes on to 5, where it fell."""
    n, m = Var.fresh("n", 0, 3), Var.fresh("m", 1, 3)
    d = data("d", (m + maximum(m, n) + n) // 2 - maximum(m, n) + 3)
    e = data("e", d + m // (d + 1) - maximum(d, 4 * (d // 4) + m // (d + 1)))
    size = maximum(e + 3 * (n // 3), 5 * (e // 5) + n) - 5 * (e // 5) - 3 * (n // 3)
    at = {n: 0, m: 2, d: 1, e: 1}
    assert e.at_most.to_int(at) == 1
    assert size.to_int(at) == 1
    bound = size.bound_expr()
    assert (bound if isinstance(bound, int) else bound.to_int(at)) >= 1


def test_a_declared_name_is_not_exact():
    assert guarantee_of(data("rows", origin=Declared("rows"))).kind == "unknown"


@pytest.mark.parametrize("size, text", [(N, "N"), (D, "<=N"), (FREE, "?"), (3, "3"), (D + M, "<=M + N")])
def test_3_20_diagnostics_print_all_three(size, text):
    assert str(guarantee_of(size)) == text


def test_3_6_shapes():
    assert Shape([N, 3]).exact_shape() == (N, 3)
    assert Shape([N, D]).exact_shape() is None
    assert Shape([N, D + 1]).bound_shape() == (N, N + 1)
    assert Shape([N, FREE]).bound_shape() is None
    assert Shape([D, N]).guarantees() == (("upper_bound", N), ("exact", N))
    assert Shape([]).bound_shape() == Shape([]).exact_shape() == ()


def test_3_15_a_transpose_permutes_guarantees():
    shape = Shape([D, 3])
    assert Shape([shape[1], shape[0]]).guarantees() == shape.guarantees()[::-1]


def test_3_18_a_merge_does_not_upgrade():
    assert Shape([D, M]).numel().guarantee() == ("upper_bound", M * N)
    assert Shape([FREE, 0]).numel() == 0


def test_3_16_and_3_22_errors_name_operator_field_and_what_was_observed():
    with pytest.raises(UnsupportedDynamicShape, match=r"Expand: shape\[0\].*d \+ 1 is only <=N \+ 1.*decide") as caught:
        require_exact(D + 1, "Expand", "shape[0]")
    assert (caught.value.op, caught.value.field, caught.value.observed) == ("Expand", "shape[0]", "upper_bound")
    with pytest.raises(UnsupportedDynamicShape, match=rf" \({D.name}: [^;]*\)$"):
        require_exact(N + D, "Expand", "shape[0]")  # N is exact
    with pytest.raises(UnsupportedDynamicShape) as caught:
        require_exact_shape((N, FREE), "Reshape")
    assert (caught.value.op, caught.value.field, caught.value.observed) == ("Reshape", "shape[1]", "unknown")
    assert require_exact_shape((N, 3), "Reshape") == (N, 3)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), ValueError)


def test_3_14_ranks_are_exact_or_unknown():
    assert require_rank((N, D), 2, "MatMul") == (N, D)
    with pytest.raises(RankError, match="MatMul: rank of A must be 3, but it is 2"):
        require_rank((N, D), 3, "MatMul", "rank of A")
    with pytest.raises(RankError, match="not known"):
        require_rank(None, 3, "MatMul")


def test_origins_are_pickled():
    size = 2 * data("k", N, origin=ValueOf("K", 0, "TopK.K"))
    again = pickle.loads(pickle.dumps(size))
    assert again is size
    assert again.guarantee() == ("upper_bound", 2 * N)


def test_long_chains_of_bounds():
    size = D
    for i in range(3000):
        size = data(f"c{i}", size + 1)
    assert size.bound_expr() == N + 3000


def _random_size(rng, leaves, depth):
    if depth == 0 or rng.random() < 0.1:
        return rng.choice([*leaves, rng.randint(-3, 6)])
    a, b = (_random_size(rng, leaves, depth - 1) for _ in range(2))
    kind = rng.randrange(8)
    if kind == 0:
        return a - b
    if kind == 1:
        return a * b
    if kind == 2:
        return a // rng.randint(1, 5)
    if kind == 3:
        return a % rng.randint(1, 5)
    if kind == 4:
        return maximum(a, b)
    if kind == 5:
        return minimum(a, b)
    if kind == 6:
        return a // (maximum(b, 0) + 1)
    return a + b


def _most(variable, known):
    """The largest size to try."""
    return 6 if variable.at_most is None else min(variable.at_most.to_int(known), 6)


def check_random_sizes(seed, count):
    """Bounds of random expressions hold at all sizes within the bounds of their variables; returns how many had one."""
    rng, found = random.Random(seed), 0
    n, m = Var.fresh("n", 0, 3), Var.fresh("m", 1, 3)
    for _ in range(count):
        first = _random_size(rng, [n, m], 2)
        try:
            d = data("d", first + 3 if isinstance(first, Expr) and rng.random() < 0.8 else None)
            second = _random_size(rng, [n, d, m], 2)
            e = data("e", second if isinstance(second, Expr) else None)
        except BoundsError:
            continue
        size = _random_size(rng, [n, m, d, e], 3)
        if isinstance(size, int):
            continue
        high = UpperBounds().of(size)
        if high is None:
            continue
        found += 1
        assert isinstance(high, int) or {n, m}.issuperset(high.variables())
        for i, j in grid(range(4), range(1, 4)):
            known = {n: i, m: j}
            for x in range(_most(d, known) + 1):
                for y in range(_most(e, {**known, d: x}) + 1):
                    at = {**known, d: x, e: y}
                    top = high if isinstance(high, int) else high.to_int(known)
                    assert size.to_int(at) <= top, (size, high, at, d.at_most, e.at_most)
    return found


def test_bounds_hold_by_brute_force():
    assert check_random_sizes(seed=1, count=150) > 60


def test_a_remainder_is_below_its_divisor():
    N, index = Var("N"), Var.fresh("index", 0, origin="the data decide")
    assert guarantee_of(index % N) == ("upper_bound", N - 1)


def test_each_part_shows_the_direction() -> None:
    found, at_most = Var.fresh("found", 0, origin="NonZero"), data("at_most", N)
    assert bound_expr(40 - found - found // 2) == 40
    assert bound_expr(found + found // 2) is None
    assert bound_expr(maximum(at_most - 3, M) // 2 + minimum(at_most, M)) == maximum(N - 3, M) // 2 + minimum(N, M)
    assert bound_expr(M - maximum(found, M) - found // 2) == 0


@pytest.mark.parametrize("least", [None, -3])
def test_what_may_be_negative_bounds_nothing(least):
    any_sign = make_variable(Scope(), "any_sign", least, None, N, "the data decide")
    for size in (N - D % any_sign, any_sign * any_sign, D * any_sign, (-D) // any_sign):
        assert UpperBounds().of(size) is None, size


def test_bounds_that_are_numbers_and_divisors_that_may_be_0():
    few, divisor = data("few", 7), Var.fresh("divisor", 0, 7, origin="the data decide")
    assert UpperBounds().of(few - few // 2) == 4
    for size in (N // divisor + M // divisor, N // divisor + (N + M) // divisor):
        assert UpperBounds().of(size) == size.evaluate({divisor: 1})


def test_long_sizes_are_bounded_part_by_part():
    parts = [Var(f"q{i}") for i in range(300)]
    assert UpperBounds().of(total([D * q for q in parts]) + 2 * D - D // 3) == total([N * q for q in parts]) + 2 * N
