"""Questions about dimensions: what the interval proves holds at every value, and ints and expressions answer alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from symdim import Var
from symdim.algebra import dims
from symdim.algebra.order import dim_order

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim

ENDS = st.integers(-4, 4)


def between(low: int, high: int) -> Dim:
    """An expression of this interval; a variable itself is never negative."""
    return Var.fresh("x", low + 4, high + 4) - 4


@given(ENDS, ENDS, ENDS, ENDS, ENDS)
def test_answers_hold_at_every_value(a: int, b: int, c: int, d: int, k: int) -> None:
    x, y = between(min(a, b), max(a, b)), between(min(c, d), max(c, d))
    points = [(i, j) for i in range(min(a, b), max(a, b) + 1) for j in range(min(c, d), max(c, d) + 1)]
    assert dims.at_least(x, k) == all(i >= k for i, _ in points)
    assert dims.at_most(x, k) == all(i <= k for i, _ in points)
    assert dims.sign(x) == (1 if min(a, b) >= 0 else -1 if max(a, b) < 0 else 0)
    assert dims.excludes(x, k) == all(i != k for i, _ in points)
    assert dims.differ(x, y) == all(i != j for i, j in points)


@given(ENDS, ENDS)
def test_ints_answer_as_variables_of_one_value(a: int, k: int) -> None:
    x = between(a, a)
    for question in (dims.at_least, dims.at_most, dims.excludes, dims.differ):
        assert question(a, k) == question(x, k)
    assert dims.sign(a) == dims.sign(x)


def test_variables_are_found_once_and_in_order() -> None:
    n, m = Var("N"), Var("M")
    assert dims.variables_of([2, m, n * m, None]) == (m, n)
    assert dims.substituted(n + m, {n: 2}) == m + 2
    assert dims.substituted(7, {n: 2}) == 7


def test_the_order_of_dimensions():
    N, M = Var("N"), Var("M")
    ordered = [N * M, 2 * N, N - 1, N, N + 1, 3]
    assert sorted([*ordered[3:], *ordered[:3]], key=dim_order) == ordered


def test_a_sign_that_changes_nothing() -> None:
    size = Var("N")
    assert +size is size
    assert +(size + 1) is size + 1
