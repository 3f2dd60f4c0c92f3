"""Contradictions of a store: what they say, and the facts that they come from. 4.44 is the feature's number."""

from __future__ import annotations

import pytest

from symdim import Row, Store, Var, maximum, minimum
from symdim.rows import RowVar
from symdim.store import Contradiction, Origin


def test_4_44_contradictions_tell_where_they_come_from():
    store = Store()
    j = store.fresh("j")
    store.eq_row(Row.of([3, 4]), Row.of([Var("i"), j]), origin=Origin("MatMul_3", "A", text="j"))
    store.eq_row(Row.of([5, 6]), Row.of([j, Var("k")]), origin=Origin("MatMul_3", "B", text="j"))
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    error = caught.value
    assert error.kind == "size_mismatch"
    assert {fact.origin.operand for fact in error.chain} == {"A", "B"}
    assert all(part in str(error) for part in ("MatMul_3, A", "MatMul_3, B", "4", "5", "j"))


def test_4_44_contradictions_of_an_axis_name_the_rows():
    store = Store()
    store.refine_row(Row.of([3, 5]), Row.of([3, 4]), origin=Origin("Add_1", "A"))
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert caught.value.kind == "size_mismatch"
    assert [str(fact) for fact in caught.value.chain] == ["[3, 4] broadcasts to [3, 5]"]
    assert (Origin("Add_1", "A"),) == tuple(fact.origin for fact in caught.value.chain)


def test_4_44_arguments_of_a_contradiction():
    store, v = Store(), Store().fresh("v")
    store.bounds(v, lo=5, origin="bound")
    store.eq(v, 4, origin="value")
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    error = caught.value
    assert error.args == (error.kind, error.message, error.chain)
    assert {str(fact.origin) for fact in error.chain} == {"bound", "value"}


def test_a_value_outside_of_an_interval_is_explained_by_the_bound_before_what_it_follows_from():
    store = Store()
    a, b = store.fresh("a"), store.fresh("b")
    store.eq(2 * a, 14, origin="twice")
    store.propagate()
    store.bounds(b, hi=4, origin="bound")
    store.propagate()
    store.eq(a, b, origin="equal")
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert caught.value.message == f"{b} would be 7, outside of 0..4"
    assert [str(fact.origin) for fact in caught.value.chain] == ["equal", "bound", "twice"]


def test_a_rank_is_explained_by_both_of_its_bounds():
    store, row = Store(), Row.unknown("r")
    store.rank(row, 2, 2, origin="two axes")
    assert store.explain(row) == ("rank(r) >= 2 (two axes)", "rank(r) <= 2 (two axes)")


@pytest.mark.parametrize("kind", ["rows", "sizes"])
def test_what_broadcasts_both_ways_is_explained_by_both(kind):
    store, outside, count = Store(), Row.unknown(), 2
    rows = [Row.unknown(f"r{i}") if kind == "rows" else Row.of([Var(f"v{i}")]) for i in range(count)]
    for i, row in enumerate(rows):
        store.refine_row(row, rows[(i + 1) % count], origin=str(i))
    store.refine_row(rows[0], outside, origin="no part of it")
    told = [{text.rpartition("(")[2][:-1] for text in store.explain(row)} for row in rows]
    assert told.count(set()) == 1  # the one that stands for all
    assert all(origins in (set(), set(map(str, range(count)))) for origins in told)


@pytest.mark.parametrize("function, low, high", [(maximum, 5, None), (minimum, None, 5)])
def test_a_number_of_a_maximum_or_minimum_is_explained_by_it(function, low, high):
    store, n = Store(), Var("n")
    store.eq(function(n, Var("m")), 5, origin="of both")
    assert {text.rpartition("(")[2] for text in store.explain(n)} == {"of both)"}
    store.bounds(n, low, high, origin="of one")
    assert store.value(n) == 5
    assert {text.rpartition("(")[2] for text in store.explain(n)} == {"of one)", "of both)"}


def test_4_44_bounds_of_a_fresh_size_need_no_statement():
    store = Store()
    store.eq(store.fresh("v", 4), 3)
    with pytest.raises(Contradiction, match="would be 3, outside of 4"):
        store.propagate()


def test_4_44_chains_are_short():
    store = Store()
    sizes = [store.fresh() for _ in range(100)]
    for i in range(99):
        store.eq(sizes[i + 1], sizes[i] + 1, origin=f"step {i}")
    store.eq(sizes[0], 1, origin="begin")
    store.eq(sizes[99], 7, origin="end")
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert 2 <= len(caught.value.chain) <= 20
    assert len(set(caught.value.chain)) == len(caught.value.chain)


def test_the_chain_of_ranks_has_stated_constraints_only():
    row = RowVar.fresh("row")
    store = Store()
    store.bcast(Row((Var("N"),)), [Row((), row), Row((3,))], origin="an Add")
    store.rank(Row((), row), 2, origin="two axes")
    with pytest.raises(Contradiction, match="more axes than it can have") as caught:
        store.propagate()
    assert "an Add" in [str(fact.origin) for fact in caught.value.chain]
    assert not any(fact.parents for fact in caught.value.chain)


def test_the_chain_of_a_rank_cycle_has_stated_constraints_only():
    """r broadcasts to z, which has an axis less than it needs: r is x by a broadcast, not as stated."""
    store, x, r, z = Store(), *(RowVar(name) for name in "xrz")
    store.refine_row(Row((), r), Row((), z))
    store.propagate()
    store.bcast(Row((), r), [Row((), x)], origin="an Add")
    store.propagate()
    store.refine_row(Row((), z), Row((1,), x))
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert caught.value.kind == "rank_cycle"
    assert [str(fact.origin) for fact in caught.value.chain] == ["", "", "an Add"]


def test_a_size_leaves_its_bounds_where_the_sizes_that_give_it_become_known():
    store, size = Store(least=1), Var.fresh("size", 1, 5)
    store.eq(size, Var("a") * Var("b"), origin="product")
    store.propagate()
    store.eq(Var("a"), 3)
    store.eq(Var("b"), 3)
    store.eq(size, Var("z"))
    with pytest.raises(Contradiction, match="size cannot be 9") as caught:
        store.propagate()
    assert caught.value.kind == "size_mismatch"
    assert [str(fact) for fact in caught.value.chain] == ["size == a*b", "a == 3", "b == 3"]


def test_axes_that_are_no_rotation_of_each_other_are_written_as_they_are_stated():
    store, r = Store(), RowVar("r")
    store.eq_row(Row((2, 3), r), Row((), r, (3, 4)))
    with pytest.raises(Contradiction, match=r"\(2, 3\) is not a rotation of \(3, 4\)"):
        store.propagate()


@pytest.mark.parametrize(("kernel", "kind"), [(None, "size_mismatch"), (3, "kernel_mismatch")])
def test_a_size_below_its_least_one_tells_of_a_kernel_only_where_there_is_one(kernel, kind):
    store = Store()
    store.affine(-1, store.fresh("over"), stride=2, kernel=kernel, padding=False)
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert caught.value.kind == kind


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("factor, more", [(2, 1), (3, -1), (3, 1)])
def test_an_open_size_equals_no_multiple_of_itself_on_either_side(factor: int, more: int, is_first: bool) -> None:
    store = Store()
    size = store.fresh("g")
    sides = (factor * size + more, size) if is_first else (size, factor * size + more)
    store.eq(*sides)
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert caught.value.kind == "occurs"
