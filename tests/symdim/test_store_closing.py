"""Closing: the stages, what they may set, and what they may not."""

from __future__ import annotations

from itertools import pairwise

import pytest

from symdim import Row, Store, Var
from symdim.rows import Axes, RowVar
from symdim.store import Contradiction
from symdim.store.closing import STAGES
from tests.counting import calls_of
from tests.symdim.row_cases import solve

N = Var("N")


def test_stage_2_sizes_that_become_known_late():
    store = Store()
    bytes_, v = store.fresh("bytes"), store.fresh("v")
    store.eq(v * bytes_, 64)
    assert store.close(late={bytes_: 4})[bytes_] == "late sizes"
    assert store.value(v) == 16


def test_stage_3_leaf_rows():
    """A leaf takes its bound, unless it has one element; one axis if its count needs it."""
    store, leaf, scalar, literal = Store(least=1), *(Row.unknown(name) for name in ("leaf", "scalar", "literal"))
    store.refine_row(Row.of([2, 3]), leaf)
    store.refine_row(Row.of([2, 3]), scalar)
    store.elements([scalar], 1)
    store.elements([literal], 12)
    stages = store.close(leaves=[leaf, scalar, literal])
    assert [store.row(row).dims for row in (leaf, scalar, literal)] == [(2, 3), (), (12,)]
    assert stages[leaf.variable] == stages[literal.variable] == "leaf rows"
    assert stages[scalar.variable] == "leaf sizes"


def test_stage_3_other_kinds_leave_a_count_to_the_output():
    store, tensor = Store(least=1), Axes(*(Row.unknown() for _ in range(3)))
    store.elements(tensor, 12)
    store.close(leaves=[tensor])
    assert [store.row(row).dims for row in tensor] == [(), (), (12,)]


def test_stage_4_leaf_sizes():
    store, a, b, row = Store(), Var("a"), Var("b"), Row.unknown()
    store.refine(3, a)
    store.bounds(b, lo=4)
    stages = store.close(leaves=[a, row])
    assert store.value(a) == 3
    assert store.row(row).dims == ()
    assert stages[a] == stages[row.variable] == "leaf sizes"
    assert store.value(b) is b  # given, and no leaf


def test_stage_4_a_bound_is_found_by_each_of_two_ways():
    store, leaf = Store(), Var("leaf")
    top = store.fresh("top")
    for name in "ab":
        store.refine(between := store.fresh(name), leaf)
        store.refine(top, between)
    store.refine(4, top)
    assert store.close(leaves=[leaf])[leaf] == "leaf sizes"
    assert store.value(leaf) == 4


def test_stage_5_guesses():
    store, a, empty = Store(), Var("a"), Store().fresh("empty", 0)
    store.generated(empty)
    stages = store.close(leaves=[a, empty], may_be_empty=[empty])
    assert (store.value(a), store.value(empty)) == (1, 0)
    assert stages == {a: "guesses", empty: "guesses"}


def test_stage_5_parameters_are_not_guessed():
    store, weight = Store(), Row.of([Var("K"), 3])
    with pytest.raises(Contradiction) as caught:
        store.close(params=[Var("K"), weight])
    assert caught.value.kind == "unspecified_parameter"
    store = Store()
    store.refine(5, Var("K"))
    store.close(params=[Var("K")])
    assert store.value(Var("K")) == 5
    store = Store()
    store.bounds(Var("K"), lo=2, law="index")
    assert store.close(params=[Var("K")]) == {Var("K"): "guesses"}  # an index says how long it is
    assert store.value(Var("K")) == 2


@pytest.mark.parametrize("least", range(4))
def test_stage_5_a_size_is_guessed_as_its_least_one_but_not_0(least):
    """Only a size that may be empty is guessed 0, and a parameter only if more than one element is read."""
    store = Store()
    leaf, empty, whole = store.fresh("leaf", least), store.fresh("empty", least), store.fresh("whole")
    store.refine(whole, leaf)
    store.close(leaves=[leaf, empty], may_be_empty=[empty])
    assert [store.value(v) for v in (leaf, empty, whole)] == [max(least, 1), least, max(least, 1)]
    store, weight = Store(), Var.fresh("weight", least)
    if least > 1:
        assert store.close(params=[weight]) == {weight: "guesses"}
        assert store.value(weight) == least
    else:
        with pytest.raises(Contradiction, match="nothing determines the size weight"):
            store.close(params=[weight])


def test_stage_7_what_may_be_empty_is():
    store = Store()
    empty, full, known = (store.fresh(name) for name in ("empty", "full", "known"))
    store.eq(known, 3)
    store.bounds(full, lo=0, hi=9)
    stages = store.close(may_be_empty=[empty, known])
    assert [store.value(v) for v in (empty, full, known)] == [0, 1, 3]
    assert stages == {empty: "sizes", full: "sizes"}


def test_stage_4_of_different_bounds_only_1_is_left():
    store, leaf, other, size = Store(), Var("leaf"), Var("other"), Var.fresh("size", 4)
    for result, operand in ((size, leaf), (size, leaf), (size, other), (N, other)):
        store.refine(result, operand)
    assert store.close(leaves=[leaf, other])[other] == "leaf sizes"
    assert (store.value(leaf), store.value(other)) == (4, 1)


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ([N, 3], [N, 3], [N, 3]),
        ([N, 3], [N, 4], [N, 1]),
        ([N, 3], [2, 3], [1, 3]),
        ([5, N, 3], [N, 3], [N, 3]),
        ([5, N, 3], [N, 4], [N, 1]),
        ([3], [N, 3, 3], [3]),
        ([N, 3], [], []),
    ],
)
def test_stage_3_the_greatest_row_that_broadcasts_to_both(one, other, joined):
    store, leaf = Store(), Row.unknown("leaf")
    for row in (one, other, one):
        store.bcast_to(Row.of(row), leaf)
    store.close(leaves=[leaf])
    assert list(store.row(leaf).dims) == joined


def test_stage_6_rows():
    store, inner = Store(), Row.unknown()
    store.refine_row(inner, Row.of([4]))
    stages = store.close()
    assert store.row(inner).dims == (4,)
    assert set(stages.values()) == {"rows"}


def test_stage_7_sizes():
    store = Store()
    stretched, free = store.fresh(), store.fresh()
    store.refine(stretched, N)
    stages = store.close(others=[Row.of([free])])
    assert store.value(stretched) is N
    assert store.value(free) == 1
    assert stages == {stretched: "sizes", free: "sizes"}


def test_stage_4_names_in_shapes_of_leaves_are_leaves():
    store = Store(least=1)
    store.refine_row(Row.of([4, 3]), Row.of([N, 3]))
    assert store.close(leaves=[Row.of([N, 3])]) == {N: "leaf sizes"}
    assert store.value(N) == 4
    case = {"shapes": {"A": ["n", 3], "OUT": [4, 3]}, "ops": [{"op": "pointwise", "args": ["A"], "out": "OUT"}]}
    assert solve(case)["closed"]["shapes"]["A"] == ["n", 3]
    assert solve({**case, "facts": [{"terminal": "A"}]})["closed"]["shapes"]["A"] == [4, 3]


def test_stage_5_literals_of_unknown_kinds():
    """The rows of a leaf together have exactly these axes: the output row has them, and none is taken before."""
    shapes = {"A": {"batch": ["..b.."], "input": ["..i.."], "output": ["..o.."]}}
    exact = {"exact": {"rows": [["..b.."], ["..i.."], ["..o.."]], "dims": [2, 3]}}
    assert solve({"shapes": shapes, "facts": [exact, {"terminal": "A"}]})["closed"]["shapes"]["A"] == [2, 3]
    exact = {"exact": {"rows": [["..r.."], ["..q.."]], "dims": [2, 3]}}
    closed = solve({"facts": [exact, {"terminal": "..r.."}, {"terminal": "..q.."}]})["closed"]
    assert sorted(closed["rows"].values()) == [[], [2, 3]]


@pytest.mark.parametrize("is_leaf", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_stage_5_an_unknown_count_is_that_of_the_bound(given, is_leaf):
    """elements(r) == 64*v / 2, and r broadcasts to [4, 32]: v is not guessed 1, but 4."""
    store, r, v = Store(least=1), RowVar("r"), Var("v")
    if not given:
        store.generated(v)
    store.elements([Row((), r)], 64 * v, [2])
    store.refine_row(Row.of([4, 32]), Row((), r))
    store.close(leaves=[v] if is_leaf else [])
    assert (store.value(v), store.row(Row((), r)).dims) == (4, (4, 32))


def test_a_row_is_not_bounded_through_a_row_beside_a_known_axis():
    """v broadcasts to [2, ..u..] and u to [3, 4]: v itself may have any of the three axes."""
    store, v, u = Store(), Row.unknown("v"), RowVar("u")
    store.refine_row(Row((2,), u), v)
    store.refine_row(Row.of([3, 4]), Row((), u))
    store.close(leaves=[v])
    assert (store.row(v).dims, store.row(Row((), u)).dims) == ((), (3, 4))


def test_sizes_that_are_not_used_stay_open():
    store, used, dead = Store(), *(Store().fresh(name) for name in ("used", "dead"))
    store.generated(used)
    store.generated(dead)
    assert store.close(others=[Row.of([used, dead])], without=[dead]) == {used: "sizes"}
    assert store.value(dead) is dead


def test_stage_7_a_count_is_guessed_after_its_divisors():
    """elements([2], r) == 5*v / (w*m) with w >= 3: a guess of 1 for v would leave none for w."""
    store, row = Store(least=1), Row.unknown("r")
    v, w = store.fresh("v"), store.fresh("w", 3)
    store.elements([Row.of([2]), row], 5 * v, [w, Var("m")])
    store.close(leaves=[v, row])
    assert (store.value(v), store.value(w), store.row(row).dims) == (6, 3, ())


def test_counts_are_closed_with_their_rows():
    """A count that stands for the size of an axis is guessed as that size."""
    store, r, s, y = Store(least=1), RowVar("r"), RowVar("s"), Store().fresh("y")
    store.generated(y)
    store.elements([Row((), r)], y, [Var("K")])
    store.eq_row(Row((y,), s), Row((), r))
    store.close(leaves=[Row((), s)])
    assert store.row(Row((), r)).dims == (1,)
    assert store.count(Row((), r)) == 1


def test_stage_6_what_only_index_0_reads():
    """One element is enough for an axis of which index 0 is read; a leaf still takes its bound."""
    bound = {"dim_le": {"result": 5, "operand": "a"}}
    assert solve({"facts": [bound]})["closed"]["vars"] == {"a": 5}
    assert solve({"facts": [bound, {"at_least": ["a", 1]}]})["closed"]["vars"] == {"a": 1}
    assert solve({"facts": [bound, {"at_least": ["a", 1]}, {"at_least": ["a", 2]}]})["closed"]["vars"] == {"a": 5}
    assert solve({"facts": [bound, {"at_least": ["a", 1]}, {"terminal": "a"}]})["closed"]["vars"] == {"a": 5}
    read = {"op": "einsum", "spec": "j => 0", "args": ["A"], "out": "OUT"}
    used = {"op": "pointwise", "args": ["OUT"], "out": "B"}
    shapes = {"A": [3], "OUT": None, "B": [2, 7]}
    assert solve({"shapes": shapes, "ops": [read, used]})["closed"]["shapes"]["OUT"] == [1]


@pytest.mark.parametrize(("law", "closed"), [("size", 5), ("index", 1)])
def test_stage_6_another_law_than_an_index_reads_nothing(law, closed):
    store = Store()
    axis = store.fresh("axis")
    store.generated(axis)
    store.refine(5, axis)
    store.bounds(axis, lo=1, law=law)
    store.close()
    assert store.value(axis) == closed


def test_given_names_are_kept():
    store, leaf, out = Store(), Row.unknown(), Row.of([N, 768])
    store.refine_row(out, leaf)
    store.close(leaves=[leaf])
    assert store.row(leaf).dims == (N, 768)


def test_nothing_is_taken_back():
    store, a, b = Store(), Var("a"), Var("b")
    g = store.fresh("g")
    for operand, result in ((a, 3), (b, 5), (a, g), (b, g)):
        store.refine(result, operand)
    store.propagate()
    with pytest.raises(Contradiction) as caught:
        store.close(leaves=[a, b])
    assert caught.value.kind == "closing_conflict"
    with pytest.raises(Contradiction):
        store.value(a)


def test_what_is_known_stays():
    store, r = Store(), RowVar("r")
    store.eq_row(Row((3,), r), Row((), r, (3,)))
    store.eq_row(Row((), r), Row.of([3, 3]))
    assert store.close() == {}
    assert store.row(Row((), r)).dims == (3, 3)


@pytest.mark.parametrize("kind", ["leaves", "others"])
def test_a_row_between_two_rotations_of_the_same_axes_is_their_difference(kind):
    store, r = Store(), RowVar("r")
    store.eq_row(Row((2, 3, 5), r), Row((), r, (3, 5, 2)))
    assert store.close(**{kind: [Row((), r)]}) == {r: "rows"}
    assert store.row(Row((), r)).dims == (2,)


def test_sizes_that_divide_each_other_are_not_guessed_before_their_rows():
    """A guess of 1 for `a` contradicts 6*a/b and b/a, where b is at least 3."""
    store, rows = Store(), [Row.unknown("r"), Row.unknown("q")]
    a, b = store.fresh("a"), store.fresh("b", 3)
    store.elements(rows[:1], 6 * a, [b])
    store.elements(rows[1:], b, [a])
    store.close(leaves=[a, b])
    assert (store.value(a), store.value(b)) == (3, 3)
    assert [store.row(row).dims for row in rows] == [(6,), ()]


def test_stages_have_names():
    assert STAGES == ("late sizes", "leaf rows", "leaf sizes", "guesses", "rows", "sizes")


@pytest.mark.parametrize("backwards", [False, True])
def test_many_facts(backwards):
    """Chains of facts cost work in proportion, said in either order."""

    def chains(n):
        store = Store()
        sizes = [store.fresh() for _ in range(4 * n)]
        numbers = range(1, len(sizes))
        for i in reversed(numbers) if backwards else numbers:
            store.eq(sizes[i], sizes[i - 1] + 1)
        store.eq(sizes[0], 7)
        assert store.value(sizes[-1]) == 6 + len(sizes)
        store, r = Store(), RowVar("r")
        rows = [Row((), r, (768,)), *(Row.unknown() for _ in range(n))]
        for before, after in pairwise(rows):
            store.bcast(after, [before, Row.of([768])])
        assert store.row(rows[-1]) == rows[0]

    assert calls_of(lambda: chains(100)) < 2.5 * calls_of(lambda: chains(50))


def test_what_is_stretched_from_a_free_size_is_not_taken_from_it() -> None:
    """`low` is N only when `middle` takes M: what is given then decides."""
    store = Store()
    top, low = store.fresh("top"), store.fresh("low")
    store.refine(top, Var("M"))
    store.refine(top, low)
    store.refine(low, N)
    store.close()
    assert (store.value(top), store.value(low)) == (Var("M"), N)
