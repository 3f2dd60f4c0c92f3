"""How the store solves an equation: what it divides by, and for which size it solves."""

from __future__ import annotations

import pytest

from symdim import Dim, Store, Var

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


@pytest.mark.parametrize(
    ("one", "other", "solved", "value"),
    [
        (N * M, M * H, N, H),
        (N * M * M, H * M, H, M * N),
        (N * M + W * M, M * H, H, N + W),
        (N * M, M * H * W, N, H * W),
    ],
)
def test_both_sides_are_divided_by_a_common_factor_that_is_not_0(one: Dim, other: Dim, solved: Var, value: Dim):
    store = Store(least=1)
    store.eq(one, other)
    assert store.value(solved) == value


@pytest.mark.parametrize(
    ("one", "other", "solved", "value"),
    [
        (N + M, H, H, M + N),
        (2 * M + N, H, H, N + 2 * M),
        (N + H, M, M, N + H),
        (M + W + 5, N, N, M + W + 5),
        (N + M, H + W, W, N + M - H),
    ],
)
def test_an_equation_is_solved_for_a_size_that_is_a_sum_of_the_others(one: Dim, other: Dim, solved: Var, value: Dim):
    """Not for one that is a difference, if there is a choice."""
    store = Store()
    store.eq(one, other)
    assert store.value(solved) == value
    assert [v for v in (N, M, H, W) if store.value(v) != v] == [solved]
