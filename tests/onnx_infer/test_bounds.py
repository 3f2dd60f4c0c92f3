"""Bounds of symbols against all sizes of two small symbols: what they say holds wherever the relations hold."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from onnx_infer.laws.bounds import Bounds
from symdim import DivisionByZero, Expr, Var, maximum, minimum
from symdim.relations.relation import Relation

N, M = Var.fresh("N", 0, 9), Var.fresh("M", 1, 7)
POINTS = [{N: n, M: m} for n, m in product(range(10), range(1, 8))]
KINDS = ("equal", "unequal", "at_least", "at_most", "greater", "less", "divides", "broadcast", "broadcast_to")


def size(choose: Random, *, of_one: bool) -> int | Expr:
    """A random size of N, or of N and M."""
    found: int | Expr = choose.choice([N, N, M])
    for _ in range(choose.randint(0, 2)):
        number, other = choose.randint(1, 4), N if of_one else choose.choice([N, M])
        steps = [found + number, found - number, found * number, found // number, found - other]
        found = choose.choice([*steps, minimum(found, other + 2), maximum(found, number)])
    return found


def relation(choose: Random) -> Relation:
    of_one = choose.random() < 0.7
    right = size(choose, of_one=of_one) if choose.random() < 0.3 else choose.randint(0, 9)
    return Relation(choose.choice(KINDS), size(choose, of_one=of_one), right)


@pytest.mark.parametrize("seed", range(4))
def test_what_bounds_say_holds_wherever_the_relations_hold(seed: int) -> None:
    choose, answers = Random(seed), [0, 0, 0]
    for _ in range(150):
        bounds, points = Bounds(), POINTS
        for _ in range(choose.randint(1, 3)):
            given = relation(choose)
            left = [point for point in points if given.holds(point)]
            if choose.random() < 0.5:
                assert not bounds.narrow(given) or not left
            else:
                assert bounds.narrow_within(given) is not None or not left
            points = left
        if not points:
            answers[0] += 1
            continue
        inside = [p for p in POINTS if all(_is_within(p[v], *bounds.ends(v)) for v in (N, M))]
        assert all(point in inside for point in points)
        asked = relation(choose)
        if bounds.implies(asked):
            answers[1] += 1
            assert all(asked.holds(point) for point in inside)
        try:
            gap = size(choose, of_one=False)
            is_decided = bounds.decides(gap)
        except DivisionByZero:
            continue
        if is_decided:
            answers[2] += 1
            assert len({gap.to_int(point) < 0 for point in inside}) == 1  # type: ignore[union-attr]
    assert all(answers)


def _is_within(size: int, low: int | None, high: int | None) -> bool:
    return (low is None or low <= size) and (high is None or size <= high)


def test_the_relations_that_leave_no_value_are_named() -> None:
    bounds = Bounds()
    low, other, high = Relation("at_least", N, 5), Relation("at_most", M, 3), Relation("at_most", N // 2, 1)
    assert [bounds.narrow(given) for given in (low, other)] == [(), ()]
    assert set(bounds.narrow(high)) == {low, high}
    assert bounds.of == {N: (5, 9), M: (1, 3)}
    assert (bounds.gives_end(low), bounds.gives_end(Relation("at_least", N, 4))) == (True, False)
