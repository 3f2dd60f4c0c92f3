"""What Python and notebooks ask of sizes, shapes, facts and stores: formats, reprs, tables, pickles."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import symdim
from symdim import Facts, Relation, Row, Shape, Store, SymdimError, Var, maximum, parse
from symdim.outputs import MOST_ROWS, html_table

N, H = Var("N"), Var("H")


def test_python_s_functions_of_numbers() -> None:
    assert f"[{N + 1:>8}|{N:<3}|{H // 2:^9}|{N}]" == "[   N + 1|N  |  H//2   |N]"
    assert abs(N) is N
    assert abs(N - 5).evaluate(N=2) == abs(N - 5).evaluate(N=8) == 3
    assert math.ceil(N + 1) is math.floor(N + 1) is math.trunc(N + 1) is N + 1


@pytest.mark.parametrize("quotient", [lambda: N / 2, lambda: 2 / N, lambda: (N + 1) / H], ids=["N/2", "2/N", "sum"])
def test_a_quotient_that_is_not_rounded_names_the_others(quotient: Any) -> None:
    with pytest.raises(TypeError, match=r"is an integer, so / is not defined: use // .* or symdim.ceildiv"):
        quotient()


def test_a_quotient_by_what_is_no_size_is_python_s_error() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        N / 2.5


def test_variables_of_one_name_print_apart() -> None:
    other, third = Var.fresh("N", 0, 9), Var.fresh("N")
    assert str(N - other) == str(N - Var.fresh("N")) == "N - `N#2`"
    assert str(maximum(other, third) // N) == "max(`N#2`, `N#3`)//N"
    assert (str(other), str(other + 1), str(other * H)) == ("N", "N + 1", "H*N")
    shape = Shape([third, N + other, N, 3])
    assert str(shape) == "[`N#3`, N + `N#2`, N, 3]"
    assert len(Shape.parse(str(shape)).variables()) == 3
    assert Shape.parse(str(shape)).dims[2] is N


def test_a_number_that_is_a_name_already_is_not_given_again() -> None:
    taken, other = Var("N#2"), Var.fresh("N")
    assert str(Shape([N, taken, other])) == "[N, `N#2`, `N#3`]"


def test_reprs_show_what_objects_are() -> None:
    facts = Facts(["H % 8 == 0"])
    facts.assume(Relation("at_least", N, 5), origin="the kernel")
    assert repr(facts) == "Facts(['H % 8 == 0', 'N >= 5 (the kernel)'])"
    assert repr(Facts()) == "Facts([])"
    assert repr(Shape([N, 4])) == "Shape([N, 4])"
    assert repr(store()) == "Store([...] == [M, K]; K == 784; M >= 3)"
    long = Store()
    for i in range(25):
        long.eq(Var(f"a{i}"), i)
    assert repr(long).endswith("a9 == 9; ... and 15 more)")


def store() -> Store:
    found = Store()
    found.eq_row(Row.unknown(), Row.of(["M", "K"]))
    found.eq(Var("K"), 784, origin="Gemm_0")
    found.bounds(Var("M"), 3)
    return found


def test_notebooks_show_tables() -> None:
    bounded = Var.fresh("<b>", 1, 64, origin="input x")
    shape = Shape([bounded, N])._repr_html_()
    assert "<td>`&lt;b&gt;`</td><td>1</td><td>64</td><td>input x</td>" in shape
    assert "<td>N</td><td>1</td><td></td><td></td>" in shape
    facts = Facts(["H % 8 == 0"])
    facts.assume(Relation("equal", N, H), origin="Add")
    assert "<tr><td>N == H</td><td>Add</td></tr>" in facts._repr_html_()
    assert "<tr><td>K == 784</td><td>Gemm_0</td></tr>" in store()._repr_html_()


def test_long_tables_end_with_a_count() -> None:
    table = html_table("many", ["n"], [(i,) for i in range(MOST_ROWS + 7)])
    assert table.count("<tr>") == MOST_ROWS + 2
    assert "... and 7 more" in table


def test_facts_and_stores_are_pickled() -> None:
    facts = Facts(["H % 8 == 0", "N >= 5"])
    assert facts.contradiction() is None
    again = pickle.loads(pickle.dumps(facts))
    assert list(again) == list(facts)
    assert symdim.prove.equal(H // 8 * 8, H, again) is True
    for asked in (False, True):
        kept = store()
        if asked:
            assert kept.value(Var("K")) == 784
        again = pickle.loads(pickle.dumps(kept))
        assert (again.value(Var("K")), again.interval(Var("M"))) == (784, (3, None))
        again.eq(Var("M"), 5)
        assert (repr(again), again.value(Var("M"))) == (repr(kept)[:-1] + "; M == 5)", 5)


def test_dim_is_public() -> None:
    assert isinstance(N + 1, symdim.Dim)
    assert isinstance(N - N, symdim.Dim)
    assert not isinstance(2.5, symdim.Dim)
    assert "Dim" in symdim.__all__


def test_the_top_and_an_expression_have_few_names() -> None:
    assert len(symdim.__all__) == len(set(symdim.__all__)) <= 45
    assert {name for name in dir(N + 1) if not name.startswith("_")} == {
        "as_exact", "bound_expr", "bounds", "evaluate", "free_symbols", "guarantee", "max", "min", "substitute",
        "to_int", "tree", "variables",
    }  # fmt: skip


def test_a_size_of_no_name_is_refused() -> None:
    with pytest.raises(SymdimError, match="empty"):
        Var("")
    with pytest.raises(SymdimError, match="empty"):
        parse("`` + 1")
