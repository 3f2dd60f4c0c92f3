"""Borders: the last number that a limit allows, the first one beyond it, and inputs that few expressions reach."""

from __future__ import annotations

from itertools import product

import pytest

from symdim import Expr, Facts, Max, Min, Row, Scope, Store, SymdimError, Var, maximum, minimum, parse, prove, total
from symdim.algebra.constructors.lattice import exceeds
from symdim.algebra.constructors.long_division import cancelled
from symdim.algebra.polynomials import divides, exact_quotient, has_sum_factor, height_of, terms_of
from symdim.algebra.variable import make_variable
from symdim.dialects.languages import literal
from symdim.einsum import EinsumSpec
from symdim.einsum.loopnest import covers
from symdim.einsum.projection import Projections
from symdim.einsum.reader import NameClash, parse_spec
from symdim.parser.rational import MAX_DENOMINATORS, Rational, over_positive, work_of_product
from symdim.prover.axioms import atoms_of, axioms
from symdim.prover.budget import Budget
from symdim.prover.cases import _by_residue
from symdim.prover.hypotheses import problem_of
from symdim.prover.witness import _landmarks, translated, witness
from symdim.relations.relation import Relation
from symdim.rows import row_name
from symdim.store import Contradiction
from symdim.store.broadcasting import _without
from symdim.store.contents import is_linear
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
        [Relation("equal", N - M, 0, frozenset()), Relation("equal", N - M - 1, 0, frozenset())],
        (N, M),
        Budget(500, whole),
    )
    before = whole.steps
    assert witness(problem, problem, 0, 30) is None
    assert before - whole.steps == 30


def test_a_product_costs_all_products_of_terms() -> None:
    budget, long = Budget(10_000), total(Var(f"v{i}") for i in range(80))
    before = budget.steps
    budget.product(long, long + 1)
    assert before - budget.steps >= 80 * 80 // 64


def test_zero_is_written_without_parentheses() -> None:
    assert [literal(value) for value in (-1, 0, 1)] == ["(-1)", "0", "1"]


def test_the_number_of_facts_is_the_caption() -> None:
    table = Facts(["x >= 3", "y >= x"])._repr_html_()
    assert "<caption>2 facts</caption><tr><th>fact</th><th>origin</th></tr><tr><td>x &gt;= 3</td>" in table


def test_an_argument_that_never_exceeds_another() -> None:
    few = Var.fresh("few", 0)
    for a, b, of_max, of_min in ((N + few, N, True, False), (N, N + few, False, True), (N, N, True, True)):
        assert (exceeds(Max, a, b), exceeds(Min, a, b)) == (of_max, of_min)


def test_a_case_of_a_residue_keeps_what_defines_the_division() -> None:
    problem = problem_of([Relation("at_least", N // M - 2, 0, frozenset())], (N, M), Budget(1000))
    cases = _by_residue(problem, N // M, 3)
    assert [len(case.hypotheses) for case in cases] == [len(problem.hypotheses) + 2] * 3


def test_sizes_of_a_store_that_differ() -> None:
    state = Store()._state
    assert [state.differ(2 * N + k, 2 * N) for k in (-1, 0, 1)] == [True, False, True]
    assert [state.differ(N + M, k) for k in (0, 1, 2)] == [True, True, False]


def test_a_row_has_the_sizes_that_are_known() -> None:
    store = Store()
    store.eq(N, 5)
    store.propagate()
    assert store._state.row(Row((3, N))) == Row((3, 5))
    assert store._state.row(Row((3, M))) == Row((3, M))


def test_what_does_not_divide_is_a_mismatch_of_sizes() -> None:
    store = Store()
    store.divisible(2 * N + 1, 2)
    with pytest.raises(Contradiction, match="is not a multiple of 2") as caught:
        store.propagate()
    assert " " not in caught.value.kind


def test_a_contradiction_names_the_statement_about_rows() -> None:
    known = EinsumSpec("..r..;..s.. => ").infer([2], [3])
    with pytest.raises(Contradiction, match="r equals s"):
        known.set_equal("r", "s")


def test_a_row_without_axes_before_its_gap() -> None:
    row = Row((2, 3), None, (4, 5))
    assert [_without(row, before, 1) for before in (0, 1, 3)] == [
        Row((2, 3), None, (4,)),
        Row((3,), None, (4,)),
        Row((), None, ()),
    ]


def test_heights() -> None:
    assert [height_of(dim) for dim in (0, 7, N, 2 * N + M, N // M, maximum(N // M, 3))] == [0, 0, 0, 0, 1, 2]


def test_work_of_a_product_of_sums() -> None:
    one, other = N + M + 1, N + X
    assert [work_of_product(values) for values in ([3, N], [one, other], [one, N])] == [2, 34, 14]


@pytest.mark.parametrize(("lo", "hi", "sign"), [(0, None, 1), (1, 9, 1), (0, 0, 1), (None, 0, -1), (None, -1, -1)])
def test_a_quotient_has_a_divisor_that_is_not_negative(lo: int | None, hi: int | None, sign: int) -> None:
    divisor = make_variable(Scope(), "divisor", lo, hi)
    assert over_positive(Rational(N, divisor)) == (sign * N, sign * divisor)


@pytest.mark.parametrize(("lo", "hi"), [(-1, None), (None, 1), (-1, 1), (None, None)])
def test_a_divisor_of_either_sign_gives_no_quotient(lo: int | None, hi: int | None) -> None:
    with pytest.raises(SymdimError, match="the sign of the divisor"):
        over_positive(Rational(N, make_variable(Scope(), "divisor", lo, hi)))


def test_a_hypothesis_that_is_a_number_has_examples_or_none() -> None:
    always, never = (
        problem_of([Relation("at_least", k, 0), Relation("at_least", N - 3, 0)], (), Budget(1000)) for k in (0, -1)
    )
    found = witness(always, always, 0, 30)
    assert found is not None
    assert found[N] >= 3
    assert witness(never, never, 0, 30) is None


@pytest.mark.parametrize(
    ("lo", "hi", "value"), [(2, 5, 2), (None, 0, 0), (None, -4, -4), (None, 7, 0), (None, None, 0)]
)
def test_a_variable_without_a_value_is_at_its_bound_or_0(lo: int | None, hi: int | None, value: int) -> None:
    v = make_variable(Scope(), "v", lo, hi)
    problem = problem_of([Relation("unequal", v, 0, frozenset())], (), Budget(1000))
    assert translated(problem, problem, {}) == {v: value}


def test_the_atoms_of_a_product_are_its_factors() -> None:
    assert {*atoms_of([N * M + 2 * (N // M) * X, 5])} == {N, M, X, N // M}


def test_only_a_long_product_has_a_sum_as_a_factor() -> None:
    one, other = (total(Var(f"{name}{i}") for i in range(40)) for name in "ab")
    (kept,) = terms_of(one * other)[0]
    assert has_sum_factor(kept)
    assert not any(has_sum_factor(unit) for unit in (N, N * M, N // 2, maximum(N, M), N * (M // 2)))


def test_what_is_stretched_from_a_free_size_is_not_taken_from_it() -> None:
    """`low` is N only when `middle` takes M: what is given then decides."""
    store = Store()
    top, low = store.fresh("top"), store.fresh("low")
    store.refine(top, M)
    store.refine(top, low)
    store.refine(low, N)
    store.close()
    assert (store.value(top), store.value(low)) == (M, N)


def test_sums_of_multiples_of_variables_are_linear() -> None:
    assert all(map(is_linear, (0, 5, N, 3 * N, 2 * N + M, N - 7)))
    assert not any(map(is_linear, (N * M, N**2 + M, N // 2, N // 2 + M, maximum(N, M))))


def test_a_blank_stands_between_two_numbers_only() -> None:
    for text in ("i0j => ij", "0ij => j", "i1a => a", "i0 1j => ij"):
        assert str(EinsumSpec(text)) == text


def test_a_product_that_is_0_has_a_factor_that_is_0() -> None:
    """Facts rule out one factor, which may be a sum; what is left of the product is 0."""
    for whole, others in (
        ((N - M) * (X - 2), [N - M]),
        ((N + M - 3) * (X - 2), [N + M - 3]),
        ((N - M) * (X - 2) * (N - X - 1), [M - N, N - X - 1]),
    ):
        facts = Facts()
        facts.assume_equal(whole, 0)
        assert prove.equal(X, 2, facts) is False
        for other in others:
            facts.assume(Relation.of(other, "!=", 0))
        assert prove.equal(X, 2, facts) is True


def test_the_laws_of_an_atom_bound_it_by_its_parts() -> None:
    high, low, part = maximum(N, M), minimum(N, M), N // M
    assert isinstance(high, Expr)
    assert isinstance(low, Expr)
    assert {c.left for c in axioms([high])} == {high - N, high - M}
    assert {c.left for c in axioms([low])} == {N - low, M - low}
    assert {c.left for c in axioms([part])} == {N - M * part, M * part + M - 1 - N}
    assert axioms([N, X, N // (N - M)]) == []
    assert all(c.kind == "at_least" for c in axioms([high, low, part]))


def test_a_unit_divides_its_multiples() -> None:
    units = [N**i * M**j * (N // X) ** k for i in range(3) for j in range(3) for k in range(2) if i + j + k]
    for v, u in product(units, repeat=2):
        assert isinstance(v, Expr)
        assert isinstance(u, Expr)
        rests = [unit for unit in (*units, 1) if v * unit is u]
        assert divides(v, u) == bool(rests)
        if rests:
            rest = exact_quotient(u, v)
            assert [1 if rest is None else rest] == rests
        assert divides(None, u)
        assert exact_quotient(u, None) is u
