"""The store, rule by rule. Numbers are those of the features of rows and constraints."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from symdim import Row, Store, Var
from symdim.rows import RowVar
from symdim.store import Contradiction, Origin
from symdim.store.constraints import RowRefines, SizeEqual
from symdim.store.contents import in_order, mentioned_in
from tests.symdim.row_cases import solve

N, M, H, W = Var("N"), Var("M"), Var("H"), Var("W")


def entailed(*facts, **case):
    return solve({"facts": list(facts), **case})["entailed"]


def closed(*facts, **case):
    return solve({"facts": list(facts), **case})["closed"]


def eq(a, b):
    return {"dim_eq": [a, b]}


def le(operand, result):
    return {"dim_le": {"result": result, "operand": operand}}


def row_eq(a, b):
    return {"row_eq": [a, b]}


def row_le(operand, result):
    return {"row_le": {"result": result, "operand": operand}}


def op(name, args, **rest):
    return [{"op": name, "args": args, "out": "OUT", **rest}]


# shapes and rows


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


def test_4_8_labels():
    """Equal sizes have equal labels; a missing one is adopted; a labelled 1 is not stretched."""
    rgb, xyz = {"size": 3, "label": "rgb"}, {"size": 3, "label": "xyz"}
    assert entailed(eq(rgb, "v"))["labels"] == {"v": "rgb"}
    assert entailed(eq(rgb, "v"), eq("v", "w"))["labels"] == {"v": "rgb", "w": "rgb"}
    assert entailed(eq(rgb, "v"), eq("v", xyz)) == {"error": "label_mismatch"}
    assert entailed(le({"size": 1, "label": "rgb"}, "v"))["vars"] == {"v": 1}
    assert entailed(le({"size": 1, "label": "rgb"}, "v"))["labels"] == {"v": "rgb"}
    assert "vars" in entailed(eq(rgb, "v"), eq({"size": 4, "label": "rgb"}, "w"))
    both = {"concat": [{"size": 2, "label": "x"}, {"size": 3, "label": "y"}]}
    assert entailed(eq("v", both)) == {"error": "label_mismatch"}
    assert entailed(eq("v", {"stride": 2, "over": {"size": 4, "label": "x"}}))["labels"] == {"v": "x"}


def test_4_9_input_equals_output():
    shapes = {"A": {"input": None, "output": [7, 8]}}
    assert entailed({"input_equals_output": "A"}, shapes=shapes)["shapes"]["A"] == {"input": [7, 8], "output": [7, 8]}


# operations


def test_4_19_pointwise():
    found = solve({"shapes": {"A": [1], "B": [3, 1], "OUT": None}, "ops": op("pointwise", ["A", "B"])})
    assert found["entailed"]["shapes"]["OUT"]["output"][1] == 3
    assert found["closed"]["shapes"]["OUT"] == [3, 1]


def test_4_20_compose():
    shapes = {
        "W": {"input": [4], "output": [3]},
        "X": {"batch": [7], "input": [2], "output": ["?"]},
        "OUT": None,
    }
    answer = closed({"terminal": "X"}, shapes=shapes, ops=op("compose", ["W", "X"]))["shapes"]
    assert answer["OUT"] == {"batch": [7], "input": [2], "output": [3]}
    assert answer["X"]["output"] == [4]


def test_4_21_compose_accumulate():
    shapes = {"W": {"input": [4], "output": [3]}, "X": [4], "C": {"batch": [6], "output": [1]}, "OUT": None}
    answer = closed(shapes=shapes, ops=op("compose_accumulate", ["W", "X", "C"]))
    assert answer["shapes"]["OUT"] == {"batch": [6], "output": [3]}


def test_4_22_transpose():
    shapes = {"A": {"batch": [2], "input": [3], "output": [4, 5]}, "OUT": None}
    answer = closed(shapes=shapes, ops=op("transpose", ["A"]))["shapes"]["OUT"]
    assert answer == {"batch": [2], "input": [4, 5], "output": [3]}


def test_4_24_batch_slice():
    """[s] + result.batch == operand.batch, also with an open result row."""
    shapes = {"A": {"batch": ["..r..", 2], "output": [4]}, "OUT": {"batch": ["?", 2], "output": ["?"]}}
    answer = entailed(shapes=shapes, ops=op("batch_slice", ["A"], range=5))["shapes"]
    assert answer["A"]["batch"][0] == 5
    assert len(answer["A"]["batch"]) == 3
    shapes = {"A": {"batch": [5, 2], "output": [4]}, "OUT": None}
    assert entailed(shapes=shapes, ops=op("batch_slice", ["A"], range=6)) == {"error": "size_mismatch"}


def test_4_25_bit_spread():
    answer = solve({"shapes": {"A": [5], "OUT": None}, "ops": op("bit_spread", ["A"], bytes=4)})
    assert answer["closed"]["shapes"]["OUT"] == [20]
    answer = solve({"shapes": {"A": None, "OUT": [3, 4]}, "ops": op("bit_spread", ["A"], bytes=4)})
    assert answer["closed"]["shapes"]["A"] == [3]
    answer = solve({"shapes": {"A": [5], "OUT": [18]}, "ops": op("bit_spread", ["A"], bytes=4)})
    assert answer["entailed"] == {"error": "elements_mismatch"}


def test_4_26_terminal_data():
    answer = closed({"terminal": "A"}, {"terminal_elements": ["A", 12]}, shapes={"A": None})
    assert answer["shapes"]["A"] == [12]
    exact = {"exact": {"rows": [["..r.."]], "dims": [3, 4]}}
    assert entailed(exact)["rows"] == {"r": [3, 4]}


def test_4_27_block():
    """Einsum equations, and parts that may be empty."""
    block = [{"op": "block", "spec": "a^b => a", "args": ["A"], "out": "OUT"}]
    answer = solve({"shapes": {"A": [5], "OUT": None}, "ops": block})
    assert answer["entailed"]["open"] == ["a", "b"]
    assert answer["closed"]["vars"] == {"a": 5, "b": 0}
    assert solve({"shapes": {"A": [5], "OUT": [6]}, "ops": block})["entailed"] == {"error": "concat_exceeds"}


def test_4_28_shapes_defined_elsewhere_are_not_constrained():
    assert str(Store().row(Row.of(["..r..", "K"]))) == "[..r.., K]"


# solving


@pytest.mark.parametrize("n,m,holds", [(5, 5, True), (5, 1, True), (1, 5, False), (3, 5, False)])
def test_4_29_order_of_sizes(n, m, holds):
    assert ("error" not in entailed(le(m, n))) is holds


def test_4_30_order_of_rows():
    """Suffix-wise; an operand with a gap is stretched there."""
    assert "error" not in entailed(row_le([3], [2, 3]))
    assert "error" in entailed(row_le([2], [2, 3]))
    assert "error" not in entailed(row_le({"lead": [2], "trail": []}, [2, 3]))
    assert "error" in entailed(row_le([2, 3], [3]))


def test_4_31_equal_rows():
    assert entailed(row_eq(["..r..", 3], [2, 3]))["rows"] == {"r": [2]}
    nested = entailed(row_eq([1, 2, "..r..", 3], [1, "..s..", 3]), row_eq(["..r.."], [9]))
    assert nested["rows"] == {"r": [9], "s": [2, 9]}
    split = [row_eq([5, "..r.."], ["..s..", 5, 3]), row_eq(["..s.."], [5, 7])]
    assert entailed(split[0])["rows"] == {"r": ["..r.."], "s": ["..s.."]}
    assert entailed(*split)["rows"] == {"r": [7, 5, 3], "s": [5, 7]}
    assert entailed(row_eq(["..r..", 3], ["..r..", 3, 4])) == {"error": "infinite_rank"}
    assert entailed(row_eq([3, 4, "..r.."], ["..r..", 3, 5])) == {"error": "size_mismatch"}
    assert entailed(row_eq([3, 4, "..r.."], ["..r..", 4, 3]))["rows"] == {"r": ["..r.."]}
    assert closed(row_eq([3, 4, "..r.."], ["..r..", 4, 3]))["rows"] == {"r": [3]}
    assert entailed(row_eq([3], [3, 4])) == {"error": "rank_mismatch"}


def test_4_32_order_of_sizes_with_variables():
    assert entailed(le(5, "a"))["vars"] == {"a": 5}
    assert entailed(le("a", 1))["vars"] == {"a": 1}
    assert entailed(le("a", 3), le("a", 5))["vars"] == {"a": 1}
    chain = entailed(le("a", 3), le("b", "a"), le("b", 5))
    assert chain["vars"]["b"] == 1
    assert chain["open"] == ["a"]
    circle = entailed(le("a", "b"), le("b", "c"), le("c", "a"), eq("b", 4))
    assert circle["vars"] == {"a": 4, "b": 4, "c": 4}


def test_4_33_order_of_rows_with_variables():
    grown = entailed(row_le(["..s..", 2, 3], ["..r.."]))["rows"]
    assert grown["r"][1:] == [2, 3]
    assert entailed(row_le(["..s..", 2, 3], [3])) == {"error": "rank_mismatch"}
    kept = [row_le(["..r..", 4], [2, 3, 4]), row_eq(["..r.."], [5, 3])]
    assert entailed(*kept) == {"error": "size_mismatch"}
    assert entailed(row_le(["..r..", 4], [4]))["rows"] == {"r": []}


def test_4_34_bounds_of_rows_are_joined():
    bounds = [row_le(["..r.."], [2, 3, 4]), row_le(["..r.."], [5, 4])]
    assert closed(*bounds, {"terminal": "..r.."})["rows"] == {"r": [1, 4]}
    assert closed(*bounds[:1], {"terminal": "..r.."})["rows"] == {"r": [2, 3, 4]}


def test_4_35_rank_cycles():
    """A cycle that gains axes is an error, found before rows grow; one that does not is an equality."""
    gains = [row_le(["..s..", 2], ["..r.."]), row_le(["..t.."], ["..s.."]), row_le(["..r.."], ["..t.."])]
    assert entailed(*gains) == {"error": "rank_cycle"}
    assert "error" not in entailed(*gains[:2])
    even = entailed(row_le(["..s.."], ["..r.."]), row_le(["..r.."], ["..s.."]), row_eq(["..s.."], [2, "x"]))
    assert even["rows"] == {"r": [2, "x"], "s": [2, "x"]}


def test_4_36_occurs_check():
    assert entailed(eq("a", {"stride": 2, "over": "a"})) == {"error": "occurs"}
    through = [eq("a", {"concat": ["b", 3]}), eq("b", {"concat": ["a", 1]})]
    assert entailed(*through) == {"error": "occurs"}


def test_4_37_affine_sizes():
    def valid(over, kernel):
        return {"stride": 2, "over": over, "kernel": kernel, "dilation": 1, "padding": False}

    assert entailed(eq("x", valid(4, 3)))["vars"] == {"x": 9}
    assert entailed(eq(9, valid("o", 3)))["vars"] == {"o": 4}
    assert entailed(eq(9, valid(4, "k")))["vars"] == {"k": 3}
    assert entailed(eq(8, valid("o", 3))) == {"error": "stride_mismatch"}
    assert entailed(eq(2, valid("o", 4))) == {"error": "kernel_mismatch"}
    assert entailed(eq(6, valid(4, "k"))) == {"error": "kernel_mismatch"}
    assert entailed(eq({"stride": 2, "over": "p"}, {"stride": 4, "over": "q"}), eq("q", 3))["vars"]["p"] == 6
    deferred = entailed(eq("x", valid("o", "k")), eq("k", 3))
    assert deferred["open"] == ["x", "o"]


def test_4_38_strided_axes_are_not_stretched():
    assert entailed(le({"stride": 2, "over": "o"}, 6))["vars"] == {"o": 3}
    assert entailed(le("v", {"stride": 2, "over": 3}))["vars"] == {"v": 6}


def test_4_39_concatenation():
    def parts(*dims):
        return {"concat": list(dims)}

    assert entailed(eq(parts("s", "a", "b"), parts("s", "c")), eq("a", 2), eq("b", 3))["vars"]["c"] == 5
    assert entailed(eq(parts("a", 3), 8))["vars"] == {"a": 5}
    assert entailed(eq(parts("a", parts("b", 2)), 8), eq("b", 1))["vars"]["a"] == 5
    assert entailed(eq(parts("a", "a"), 7)) == {"error": "stride_mismatch"}
    assert entailed(eq(parts("a", 9), 8)) == {"error": "concat_exceeds"}
    assert entailed(eq(parts("a", "b"), parts("c", "d")))["open"] == ["a", "b", "c", "d"]


def test_4_40_at_least():
    facts = [{"at_least": ["a", 3]}, {"at_least": ["a", 5]}]
    assert closed(*facts)["vars"] == {"a": 5}
    assert entailed(*facts, eq("a", 4)) == {"error": "index_out_of_range"}
    assert entailed(*facts, le("a", 7))["vars"] == {"a": 7}


def test_4_41_elements():
    def elements(equals, *rows, **more):
        return {"elements": {"rows": list(rows), "equals": equals, **more}}

    assert entailed(elements(24, [2, "x"], [3]))["vars"] == {"x": 4}
    assert entailed(elements(1, ["x", "y"], ["..r.."]))["vars"] == {"x": 1, "y": 1}
    strided = elements({"coeff": 6, "var": "v", "denom": 1}, ["x"], divided_by=["d"])
    assert sorted(entailed(strided)["open"]) == ["d", "v", "x"]
    assert entailed(strided, eq("x", 9), eq("d", 2))["vars"]["v"] == 3
    assert entailed(elements(12, ["..r.."]), elements(18, ["..r.."])) == {"error": "elements_mismatch"}
    later = entailed(elements(24, ["..r..", "x"]), row_eq(["..r.."], [2, 3]))
    assert later["vars"] == {"x": 4}


def test_4_42_exact_axes():
    assert entailed({"exact": {"rows": [[2, "..r.."], ["x", 5]], "dims": [2, 3, 4, 5]}})["rows"] == {"r": [3]}
    assert entailed({"exact": {"rows": [["..r.."], ["..s.."]], "dims": []}})["rows"] == {"r": [], "s": []}
    between = entailed({"exact": {"rows": [["..r..", 7], ["..s.."]], "dims": [2, 7, 3]}})
    assert between["rows"] == {"r": [2], "s": [3]}
    assert entailed({"exact": {"rows": [[2, 3, "..r.."]], "dims": [2]}}) == {"error": "rank_mismatch"}


def test_4_43_no_premature_guess():
    """The numerator of a count is not guessed before its divisor is known."""
    store, v, d, x = Store(least=1), *(Var(name) for name in ("v", "d", "x"))
    store.elements([Row.of([x])], 6 * v, [d])
    store.bounds(d, lo=2)
    store.refine(2, d)
    store.eq(x, 9)
    store.close(leaves=[v, d])
    assert (store.value(d), store.value(v)) == (2, 3)


def test_closed_rows_mention_sizes_only():
    fact = RowRefines(Origin(), (), "size", Row.of([N]), Row.of([M, "..r.."]))
    assert mentioned_in(fact) == (N, M, RowVar("r"))


def test_facts_have_one_order():
    facts = [SizeEqual(Origin(), (), "size", dim, 2) for dim in (N, M, N + M, 3)]
    assert all(in_order(order) == in_order(facts) for order in permutations(facts))


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
    with pytest.raises(ValueError, match="a relation is one of"):
        store.check(n, "~", three)
