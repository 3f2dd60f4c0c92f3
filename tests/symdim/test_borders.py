"""Borders: the last number that a limit allows, the first one beyond it, and inputs that few expressions reach."""

from __future__ import annotations

import pytest

from symdim import SymdimError, Var, parse, total
from symdim.algebra.sums.long_division import cancelled
from symdim.einsum.coverage import covers
from symdim.einsum.projection import Projections
from symdim.einsum.reader import NameClash, parse_spec
from symdim.parser.rational import MAX_DENOMINATORS
from symdim.prover.budget import Budget
from symdim.prover.hypotheses import Hypothesis, problem_of
from symdim.prover.witness import _landmarks, witness
from symdim.rows import row_name
from symdim.store.intervals import root_above

N, M, X = Var("N"), Var("M"), Var("x")


@pytest.mark.parametrize(("value", "k", "root"), [(0, 2, 0), (1, 2, 1), (2, 2, 2), (8, 3, 2), (9, 3, 3), (10, 1, 10)])
def test_the_least_root_that_is_not_below(value: int, k: int, root: int) -> None:
    assert root_above(value, k) == root


def test_four_dots_are_no_row() -> None:
    assert [row_name(item) for item in ("...", "..r..", "....", "..")] == ["", "r", None, None]


def test_as_many_denominators_as_allowed() -> None:
    def longest(count: int) -> str:
        return f"max({', '.join(f'x/{i}' for i in range(2, count + 2))})"

    assert parse(f"floor({longest(MAX_DENOMINATORS)})").variables()
    with pytest.raises(SymdimError, match="denominators"):
        parse(f"floor({longest(MAX_DENOMINATORS + 1)})")


@pytest.mark.parametrize(("text", "position"), [("a, b; ..b.. => a, c", 6), ("a, b, c; ..c.. => a", 9)])
def test_a_name_of_an_axis_and_of_a_row_is_shown_where_it_is_used_again(text: str, position: int) -> None:
    with pytest.raises(NameClash) as caught:
        parse_spec(text)
    assert caught.value.position == position


def test_a_row_before_the_axis_of_its_name() -> None:
    with pytest.raises(NameClash) as caught:
        parse_spec("..b..; a, b => a, c")
    assert caught.value.position == 10


def test_a_number_is_the_size_of_a_class() -> None:
    for sizes in ((N, 3), (3, N), (N, N)):
        projections = Projections()
        first, second = (projections.fresh(name, size) for name, size in zip("ab", sizes, strict=True))
        projections.equate(first, second)
        assert projections.size(first) == projections.size(second) == (N if sizes == (N, N) else 3)


def test_boxes_of_unknown_size() -> None:
    axes = [({"i": 1, "j": 1}, 0), ({"i": 1}, 0)]
    assert covers(axes, {"i": N, "j": 2}, [3, 2]) is None
    assert covers(axes, {"i": 3, "j": 2}, [N, 2]) is None
    assert covers(axes, {"i": 2, "j": 2}, [3, 2]) is False


def test_factors_that_are_sums() -> None:
    """Their product is too long to be multiplied out."""
    a, b, c = (total(Var(f"{name}{i}") for i in range(40)) + k for name, k in (("a", 1), ("b", 3), ("c", 5)))
    assert cancelled(6 * (a * b * c * X), 4 * (a * b * c * b)) == [3 * X, 2 * b]
    assert cancelled(6 * (a * b * X), 4 * (a * b)) == [3 * X, 2]


def test_the_landmarks_are_the_smallest_ones() -> None:
    assert _landmarks([total((N + i) // 97 for i in range(2, 20))]) == list(range(2, 14))
    assert _landmarks([7 * N + 5, (N + 3) // 4]) == [3, 4, 5]


def test_each_point_is_paid() -> None:
    """Also from the larger budget, before it is tried."""
    whole = Budget(1000)
    problem = problem_of(
        [Hypothesis(N - M, "==", frozenset()), Hypothesis(N - M - 1, "==", frozenset())], (N, M), Budget(500, whole)
    )
    before = whole.steps
    assert witness(problem, problem, 0, 30) is None
    assert before - whole.steps == 30
