"""What a store says: its facts, guards, contradictions and bounds of ranks."""

from __future__ import annotations

import pickle

import pytest

from symdim import Row, Store, Var
from symdim.rows import RowVar
from symdim.store import Contradiction, Origin

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


def test_facts_are_written_as_they_are_meant():
    store = Store()
    r, q, out = Row(variable=RowVar("r")), Row(variable=RowVar("q")), store.fresh("out")
    store.eq(N, M)
    store.concat(N, [M, H])
    store.exact([r, Row.of([7]), q], [3, 7])
    store.refine(N, M)
    store.bcast(r, [q, Row.of([4])])
    store.bounds(N, 2)
    store.bounds(H, None, 9)
    store.bounds(W, 3, 5)
    store.divisible(N, 4)
    store.divisible(N + 1, 4)
    store.rank(r, 1, 3)
    store.window(H, out, W, stride=2, pads=(0, 1), ceil=True)
    store.label(out, "C")
    assert [str(fact) for fact in store._facts] == [
        "N == M",
        "N == H + M",
        "[..r..] ++ [7] ++ [..q..] == [3, 7]",
        "M in (N, 1)",
        "[..q..] broadcasts to [..r..]",
        "[4] broadcasts to [..r..]",
        "[..r..] == broadcast([..q..], [4])",
        "N >= 2",
        "H <= 9",
        "3 <= W <= 5",
        "N % 4 == 0",
        "(N + 1) % 4 == 0",
        "rank(r) >= 1",
        "rank(r) <= 3",
        "out0 == (H - max(W, 3) + 4)//2",
        "H - W + 1 >= 0",
        "label(out0) == 'C'",
    ]


def test_every_fact_of_a_contradiction_has_its_origin():
    store, r = Store(), Row(variable=RowVar("r"))
    store.rank(r, 1, 3, origin="the rank")
    store.eq_row(r, Row.of([N, M, H, W]), origin="the row")
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert {str(fact.origin) for fact in caught.value.chain} == {"the rank", "the row"}


def test_a_guard_is_written_with_its_origin():
    store = Store()
    store.eq(N, 2 * M, origin="a node")
    assert [str(guard) for guard in store.guards()] == ["N == 2*M    (a node)"]


def test_windows_of_a_kernel_that_is_known_later():
    store = Store()
    kernel, after, plain = store.fresh("kernel"), store.fresh("after"), store.fresh("plain")
    store.window(H, after, kernel, stride=2, pads=(0, 1), ceil=True)
    store.window(H, plain, kernel, stride=2, ceil=True)
    assert str(store.value(plain)) == "(H - max(kernel0, 2) + 3)//2"
    store.eq(kernel, 3)
    assert (store.value(after), store.value(plain)) == ((H + 1) // 2, H // 2)


def test_joined_rows_tell_where_they_come_from():
    store, r, a = Store(), Row(variable=RowVar("r")), Row(variable=RowVar("a"))
    store.bcast(r, [a, Row.of([4])], origin="the join")
    store.eq_row(a, Row.of([1]), origin="an operand")
    store.eq_row(r, Row.of([N, 4]), origin="the result")
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    assert {str(fact.origin) for fact in caught.value.chain} == {"the join", "an operand", "the result"}


def test_every_fact_keeps_its_origin():
    store, where = Store(), "here"
    r, q, d = Row(variable=RowVar("r")), Row(variable=RowVar("q")), store.fresh()
    store.eq(N, M, origin=where)
    store.affine(N, M, stride=2, origin=where)
    store.concat(N, [M, H], origin=where)
    store.eq_row(r, q, origin=where)
    store.exact([r, q], [3], origin=where)
    store.refine(N, M, origin=where)
    store.refine_row(r, q, origin=where)
    store.bcast_to(r, q, origin=where)
    store.bcast(r, [q], origin=where)
    store.elements([r], N, [M], origin=where)
    store.window(N, d, 3, origin=where)
    store.window(N, d, W, pads=(0, 1), ceil=True, origin=where)
    store.bounds(N, 2, origin=where)
    store.divisible(N, 4, origin=where)
    store.rank(r, 1, 3, origin=where)
    store.label(d, "C", origin=where)
    assert {(str(fact.origin), fact.parents) for fact in store._facts} == {(where, ())}


def test_a_contradiction_is_pickled_with_its_chain():
    store = Store()
    store.eq(N, 3, origin="first")
    store.eq(N, 4, origin="second")
    with pytest.raises(Contradiction) as caught:
        store.propagate()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.kind, str(again)) == (caught.value.kind, str(caught.value))
    assert [str(fact.origin) for fact in again.chain] == ["second", "first"]


def test_facts_in_a_notebook():
    store = Store()
    store.eq(N, M, origin="a node")
    assert "<tr><th>fact</th><th>origin</th></tr><tr><td>N == M</td><td>a node</td></tr>" in store._repr_html_()


def test_a_store_shows_its_first_constraints():
    store = Store()
    for i in range(10):
        store.eq(Var(f"a{i}"), i + 1)
    assert "more" not in repr(store)
    store.eq(Var("b"), 11)
    assert repr(store).endswith("a9 == 10; ... and 1 more)")


def test_the_sizes_of_equal_rows_are_written_in_the_order_of_the_rows():
    for one, other in ((3, 4), (4, 3)):
        store = Store()
        store.eq_row(Row.of([N, one]), Row.of([M, other]))
        with pytest.raises(Contradiction, match=f"{one} == {other}, but "):
            store.propagate()


def test_a_guard_tells_the_axis_of_its_row():
    store, r = Store(), RowVar("r")
    store.eq_row(Row((N,), r, (M,)), Row.of([3, 4, 5]), origin=Origin("node", "operand"))
    held = [(guard.text, str(guard.fact.origin)) for guard in store.guards()]
    assert held == [("N == 3", "node, operand, axis 0"), ("M == 5", "node, operand, axis -1")]
    store = Store()
    store.refine_row(Row.of([N, M]), Row.of([H, 1]), origin=Origin("node", "operand"))
    assert [str(guard.fact.origin) for guard in store.guards()] == ["node, operand, axis -2"]


def test_the_count_of_a_row_comes_from_where_its_axes_do():
    store, r = Store(), RowVar("r")
    store.elements([Row((), r)], 6, origin="the count")
    store.eq_row(Row((), r), Row.of([N, M]), origin=Origin("node", "operand"))
    assert [(guard.text, str(guard.fact.origin)) for guard in store.guards()] == [("6 == M*N", "node, operand")]
