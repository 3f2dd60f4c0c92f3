"""NumPy's broadcasting in the store, windows, guards and answers."""

from __future__ import annotations

import pytest

from symdim import Row, Store, SymdimError, Var, maximum
from symdim.rows import RowVar
from symdim.store import Contradiction, Origin

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


def join(*operands, result=None):
    store = Store()
    out = Row.unknown() if result is None else result
    store.bcast(out, operands)
    return store, out


def test_a_size_that_is_not_1_is_the_results():
    store, out = join(Row.of([N, 3]), Row.of([4, 1]))
    assert store.row(out).dims == (4, 3)
    assert [guard.text for guard in store.guards()] == ["N in (4, 1)"]


def test_b_result_of_1():
    a, b = Store().fresh("a", 0), Var("b")
    store, _ = join(Row.of([a]), Row.of([b]), result=Row.of([1]))
    assert (store.value(a), store.value(b)) == (1, 1)


def test_c_the_only_size_left_is_the_results():
    """Both ways: the operand from the result, and the result from the operand."""
    store = Store()
    b = Row.of([store.fresh(), store.fresh()])
    store.bcast(Row.of([4, 5]), [Row.of([N, 1]), b])
    assert store.row(b).dims[1] == 5
    assert store.candidates(b.dims[0]) == (1, 4)
    assert store.candidates(N) == (1, 4)
    store, out = join(Row.of([1, N]), Row.of([1]))
    assert store.row(out).dims == (1, N)


def test_c_equal_sizes_are_one_size():
    store = Store()
    a, b, result = (store.fresh(name) for name in ("a", "b", "result"))
    store.bcast(Row.of([result]), [Row.of([a]), Row.of([b])])
    store.eq(a, b)
    assert store.equal(result, a) is True


def test_d_rank_of_the_result():
    store, out = join(Row.of([3]), Row.of([N, 1, 3]))
    assert store.row(out).dims == (N, 1, 3)
    operand = Row.unknown()
    store, _ = join(Row.of([3]), operand, result=Row.of([N, 4, 3]))
    assert store.row(operand).rank == 3
    assert store.row(operand).dims[:2] == (N, 4)


def test_a_join_of_no_rows_is_a_scalar():
    store, out = join()
    assert store.row(out).dims == ()


def test_axes_that_only_one_operand_has_stay():
    """[..r.., 768] and a vector give [..r.., 768]."""
    store, out = join(Row.of(["..r..", 768]), Row.of([768]))
    assert str(store.row(out)) == "[..r.., 768]"
    store, out = join(Row.of([N, "..r..", 1]), Row.of([5]))
    assert str(store.row(out)) == "[N, ..r.., 5]"


def test_a_lead_axis_is_not_anchored_for_numpy():
    """NumPy inserts axes at the left even of rows with axes before their variable."""
    store, operand = Store(), Row.of([3, RowVar("r"), 5])
    store.bcast_to(Row.of([2, 3, 4, 5]), operand)
    store.rank(operand, 3, 3)
    assert store.row(operand).dims[0] == 3
    store = Store()
    store.bcast_to(Row.of([2, 3, 4, 5]), operand)
    store.rank(operand, 4, 4)
    with pytest.raises(Contradiction):
        store.row(operand)


def test_e_maximum_of_different_symbols():
    store, out = join(Row.of([N]), Row.of([M]))
    assert store.row(out).dims == (maximum(N, M),)
    (guard,) = store.guards()
    assert [guard.holds({"N": n, "M": m}) for n, m in ((3, 3), (1, 4), (5, 1), (2, 3))] == [True, True, True, False]
    zero = Store()
    a, b, c = Var.fresh("a"), Var.fresh("b"), zero.fresh("c")
    zero.bcast(Row.of([c]), [Row.of([a]), Row.of([b])])
    assert zero.value(c) is c  # 0 and 1 give 0, which is not their maximum


def test_e_does_not_depend_on_the_order():
    store, out = join(Row.of([N]), Row.of([M]))
    assert store.row(out).dims == (maximum(N, M),)
    store.eq(N, M)
    assert store.row(out).dims in ((N,), (M,))


def test_a_size_of_0_is_stretched_to():
    store, out = join(Row.of([0]), Row.of([1]))
    assert store.row(out).dims == (0,)
    with pytest.raises(Contradiction):
        join(Row.of([0]), Row.of([2]))[0].propagate()


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize(
    "kernel,stride,dilation,pads", [(3, 2, 1, (0, 0)), (2, 3, 2, (1, 1)), (1, 2, 1, (0, 0)), (3, 1, 1, (1, 0))]
)
def test_windows_backwards(kernel, stride, dilation, pads, ceil):
    """The sizes that the store leaves are those that give so many windows."""
    options = {"stride": stride, "dilation": dilation, "pads": pads, "ceil": ceil}
    counts: dict[int, list[int]] = {}
    for size in range(1, 40):
        store, out = Store(), Var.fresh("out")
        store.window(size, out, kernel, **options)
        try:
            counts.setdefault(store.value(out), []).append(size)
        except Contradiction:
            continue
    for out in range(2, 8):
        store, x = Store(), Var("x")
        store.window(x, out, kernel, **options)
        assert list(store.candidates(x) or (store.value(x),)) == counts[out]


def test_windows_of_a_symbol():
    store, out = Store(), Store().fresh()
    store.generated(out)
    store.window(H, out, 7, stride=2, pads=(3, 3))
    assert store.value(out) is (H - 1) // 2 + 1
    store, out = Store(), Var.fresh("out")
    store.generated(out)
    store.window(H, out, 5)
    assert store.value(out) is H - 4
    assert [guard.text for guard in store.guards()] == ["H >= 5"]
    with pytest.raises(SymdimError):
        store.window(H, out, 3, auto_pad="SAME")


def test_exact_quotient_and_its_guard():
    """A Reshape's -1: the value is a quotient, its divisibility a guard."""
    store = Store()
    x = store.fresh()
    store.elements([Row.of([x, 4])], H * W, origin=Origin("Reshape_7", "data"))
    assert store.value(x) is H * W // 4
    guards = {guard.text: guard for guard in store.guards()}
    assert "H*W % 4 == 0" in guards
    assert guards["H*W % 4 == 0"].holds({"H": 2, "W": 6}) is True
    assert guards["H*W % 4 == 0"].holds({"H": 3, "W": 3}) is False
    assert guards["H*W % 4 == 0"].holds({"H": 3}) is None
    assert str(guards["H*W % 4 == 0"].origin) == "Reshape_7, data"
    store.eq(x, 6)
    assert store.value(H * W) in (24, H * W)


def test_an_interval_that_the_value_has_anyway_is_no_guard():
    store, n, quarter = Store(), Var.fresh("n", 4), Store().fresh("quarter", 1)
    store.generated(quarter)
    store.eq(4 * quarter, n)
    assert store.value(quarter) is n // 4
    assert [guard.text for guard in store.guards()] == ["n % 4 == 0"]


def test_guards_of_equal_inputs():
    store = Store()
    store.eq(N, 2 * M)
    store.divisible(H, 4)
    texts = {guard.text: guard for guard in store.guards()}
    assert texts["N == 2*M"].holds({"N": 6, "M": 3}) is True
    assert texts["N == 2*M"].holds({"N": 5, "M": 3}) is False
    assert texts["H % 4 == 0"].holds({"H": 8}) is True


def test_questions_have_three_answers():
    store = Store()
    store.eq(N, 2 * M)
    store.bounds(H, lo=5)
    assert store.equal(N * H, 2 * H * M) is True
    assert store.equal(N, 2 * M + 1) is False
    assert store.equal(N, H) is None
    assert store.equal(H, 4) is False


def test_given_names_stay_and_generated_ones_go():
    store = Store()
    x = store.fresh()
    store.eq(N, x)
    assert store.value(x) is N
    assert store.guards() == []


def test_unknown_is_not_wrong_at_0():
    """N*x == N*y says nothing about x where N may be 0."""
    zero, x, y = Var.fresh("zero"), Var("x"), Var("y")
    store = Store()
    store.eq(zero * x, zero * y)
    assert store.equal(x, y) is not True
    store = Store()
    store.eq(N * x, N * y)
    assert store.equal(x, y) is True


def test_explanations():
    store, x = Store(), Var("x")
    store.eq(x, 5, origin=Origin("Conv_3", "W", 1))
    assert store.explain(x) == ("x == 5 (Conv_3, W, axis 1)",)


def test_what_broadcasts_is_explained_where_its_interval_says_nothing_new():
    store = Store()
    operand = store.fresh("operand", 1, 5)
    store.refine(5, operand, origin="an addition")
    assert store.explain(operand) == (f"{operand} in (5, 1) (an addition)",)


def test_guards_of_a_join_and_of_its_bound():
    store = Store()
    size = store.fresh("size", 1)
    store.bcast(Row.of([size]), [Row.of([N]), Row.of([M])], origin="an addition")
    store.bounds(size, hi=9)
    assert [(guard.text, str(guard.origin)) for guard in store.guards()] == [
        ("1 <= max(M, N) <= 9", "axis -1, an addition"),
        ("N == M or 1 in (N, M)", "axis -1, an addition"),
    ]


def test_an_axis_that_is_an_expression():
    for result, operand in ((N // 2, M), (M, N // 2)):
        store = Store()
        store.refine(result, operand)
        assert [guard.text for guard in store.guards()] == [f"{operand} in ({result}, 1)"]


def test_axes_of_an_operand_at_the_other_end_of_the_result():
    row, other = RowVar.fresh("row"), RowVar.fresh("other")
    store = Store()
    store.bcast(Row((), row, (N,)), [Row((M, H), other)])
    store.rank(Row((), row), 1, 1)
    store.rank(Row((), other), 0, 0)
    assert store.row(Row((), row)).least_rank == 1


def test_rows_that_broadcast_to_each_other_are_equal():
    row, other = RowVar.fresh("row"), RowVar.fresh("other")
    store = Store()
    store.refine_row(Row((), row), Row((), other))
    store.refine_row(Row((), other), Row((), row))
    assert store.row(Row((), row)) == store.row(Row((), other))


def test_a_rank_without_an_upper_bound():
    row = Row((), RowVar.fresh("row"))
    store = Store()
    store.rank(row, 2)
    assert store.rank_bounds(row) == (2, None)


def test_joins_of_many_sizes_keep_their_names():
    sizes = [Var(f"s{i}") for i in range(66)]
    store, results = Store(), [sizes[0]]
    for size in sizes[1:]:
        results.append(store.fresh(lo=1))
        store.bcast(Row.of([results[-1]]), [Row.of([results[-2]]), Row.of([size])])
    assert store.value(results[63]) is maximum(*sizes[:64])
    assert store.value(results[64]) is results[64]
    assert store.value(results[65]) is results[65]


def test_equal_operands_are_one_constraint() -> None:
    out, operand = Row.unknown(), Row.of([N, M])
    once, often = Store(), Store()
    once.bcast(out, [operand, Row.of([H, 1])])
    often.bcast(out, [operand, Row.of([H, 1])] + [operand] * 1000)
    assert repr(often) == repr(once)


def test_an_axis_to_the_left_of_an_open_part_is_not_the_first_axis_of_the_result():
    """By NumPy's rule axes are missing at the left end, so 3 may be the last axis here."""
    store, r = Store(), RowVar.fresh("r")
    store.bcast(Row.of([4, 3]), [Row((3,), r), Row.of([4, 1])])
    store.eq_row(Row((), r), Row())
    assert store.row(Row((3,), r)).dims == (3,)
