"""The store as an object: partial shapes, labels, and what is refused. Its rules are in `store_cases.json`."""

from __future__ import annotations

import numpy as np
import pytest

from symdim import Row, Store, Var
from symdim.rows import RowVar
from symdim.store import Contradiction

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


def test_4_5_sizes_are_dims_and_two_constructors():
    """A stride or a concatenation is an expression of the algebra."""
    store, a, b = Store(), Var("a"), Var("b")
    whole = store.fresh()
    store.concat(whole, [a, b, 3])
    read = store.fresh()
    store.affine(read, whole, stride=2)
    assert store.value(read) is 2 * a + 2 * b + 6


def test_4_6_partial_shapes_can_be_seen_at_any_time():
    store, row = Store(), Row.of(["..r..", 768])
    assert str(store.row(row)) == "[..r.., 768]"
    store.eq_row(row, Row.of([N, "..s..", "D"]))
    assert str(store.row(row)) == "[N, ..s.., 768]"
    store.rank(row, 3, 3)
    assert store.row(row).rank == 3


def test_4_7_variables_stand_for_one_row_each():
    """Rows are existential: one variable is one row wherever it is used; a second use needs fresh variables."""
    store, r = Store(), RowVar("r")
    store.eq_row(Row((), r, (4,)), Row.of([2, 4]))
    store.eq_row(Row((), r, (5,)), Row.of([3, 5]))
    with pytest.raises(Contradiction):
        store.propagate()
    store = Store()
    for axes in ([2, 4], [3, 3, 4]):  # two calls of [..r.., D] -> [..r.., D]
        r, d, result = RowVar.fresh("r"), store.fresh("D"), Row.unknown()
        store.eq_row(Row((), r, (d,)), Row.of(axes))
        store.eq_row(result, Row((), r, (d,)))
        assert list(store.row(result).dims) == axes


def test_4_43_no_premature_guess():
    """The numerator of a count is not guessed before its divisor is known."""
    store, v, d, x = Store(least=1), *(Var(name) for name in ("v", "d", "x"))
    store.elements([Row.of([x])], 6 * v, [d])
    store.bounds(d, lo=2)
    store.refine(2, d)
    store.eq(x, 9)
    store.close(leaves=[v, d])
    assert (store.value(d), store.value(v)) == (2, 3)


def test_a_label_that_comes_by_another_part_forbids_stretching():
    store = Store()
    a, b, whole, result = (store.fresh(name) for name in ("a", "b", "whole", "result"))
    store.refine(result, a)
    store.label(b, "rgb")
    assert store.equal(result, a) is None
    store.concat(whole, [a, b])
    assert store.label_of(a) == "rgb"
    assert store.equal(result, a) is True


def test_4_53_what_is_not_used_is_not_closed():
    store, dead, live = Store(), Row.unknown("dead"), Row.unknown("live")
    store.refine_row(Row.of([2]), dead)
    store.refine_row(Row.of([3]), live)
    store.close(leaves=[live], without=[dead])
    assert str(store.row(live)) == "[3]"
    assert store.row(dead).rank is None
    assert store.guards() == []


@pytest.mark.parametrize("question", ["value", "interval", "candidates", "explain"])
def test_what_is_no_size_is_refused_where_it_is_given(question: str) -> None:
    with pytest.raises(TypeError, match=r"write Var\('N'\)"):
        getattr(Store(), question)("N")


@pytest.mark.parametrize("question", ["row", "rank_bounds", "count", "rank"])
def test_what_is_no_row_is_refused_where_it_is_given(question: str) -> None:
    with pytest.raises(TypeError, match=r"write Row.parse\('\[N\]'\)"):
        getattr(Store(), question)("[N]")


def test_integers_of_numpy_are_sizes_in_questions() -> None:
    store, n = Store(), Var("N")
    store.eq(n, np.int64(3))
    three = np.int64(3)
    assert store.value(three) == 3
    assert store.interval(three) == (3, 3)
    assert store.equal(n, three) is True
