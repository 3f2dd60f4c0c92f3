"""Laws that are used in rounds or on few terms: where these end, a form may be longer, but its value is the same."""

from __future__ import annotations

import pytest

from symdim import Expr, Facts, Var, maximum, minimum, prove, simplify
from symdim.algebra.caches import clear_caches
from symdim.algebra.constructors import lattice, rounding
from symdim.prover import elimination, simplification


def test_a_division_whose_arguments_stay_nested_is_no_extremum(monkeypatch: pytest.MonkeyPatch) -> None:
    clear_caches()
    monkeypatch.setattr(lattice, "_LEAVES", 3)
    d, b, y = (Var.fresh(name, 1) for name in "dby")
    nested = (d + 2 * (minimum(b, y) // 6)) // 4
    assert isinstance(nested, Expr)
    assert lattice.as_extremum(nested) is None
    clear_caches()


def test_of_many_arguments_those_that_bounds_exceed_are_left_out() -> None:
    many = [Var(f"v{i:02}") for i in range(40)]
    most, least = maximum(*many, 3), minimum(*many, 3)
    for size in (1, 2, 3, 9):
        sizes = {v.name: size for v in many}
        assert (most.evaluate(sizes), least.evaluate(sizes)) == (max(size, 3), min(size, 3))
    bounded = [Var.fresh(f"w{i:02}", 5, 9) for i in range(40)]
    assert (maximum(*bounded, 4), minimum(*bounded, 10)) == (maximum(*bounded), minimum(*bounded))


def test_numbers_alone_are_no_divisions() -> None:
    assert rounding.outside([3, 5]) is None


def test_the_rounds_of_the_prover(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rounds prove less, and nothing that is false."""
    x, y, z = Var("x"), Var("y"), Var("z")
    facts = Facts(["x == 2*y + 1", "y == 3*z"])
    assert (prove.equal(x, 6 * z + 1, facts), prove.equal(x, 6 * z, facts)) == (True, False)
    monkeypatch.setattr(elimination, "_ROUNDS", 1)
    assert prove.equal(x, 6 * z, facts) is not True
    assert simplify(x // 2, facts) == y
    monkeypatch.setattr(simplification, "_ROUNDS", 1)
    short = simplify(maximum(x // 2 - y, y - 3 * z) + x, facts)
    for k in range(1, 5):
        assert short.evaluate(x=6 * k + 1, y=3 * k, z=k) == 6 * k + 1


def test_bounded_parts_and_divisions_in_one_numerator() -> None:
    i, k, few = Var("i"), Var("k"), Var.fresh("few", 0, 3)
    assert (4 * i + few + 4 * (k // 2)) // 8 == (k + 2 * i) // 4
