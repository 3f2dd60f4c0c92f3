"""The exact simplex method: every contradiction is a certificate, and small systems agree with enumeration."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from symdim.prover.budget import Budget
from symdim.prover.linear import System, refute


def small_system(random: Random) -> tuple[System, list[tuple[dict[int, int], int | None, int | None]], int]:
    """Two or three variables in -3..3 and random sums with random bounds."""
    system = System()
    size = random.choice([2, 3])
    for _ in range(size):
        system.variable(-3, 3)
    sums = []
    for _ in range(random.randint(2, 5)):
        terms = {v: random.choice([-3, -2, -1, 1, 2, 3]) for v in random.sample(range(size), random.randint(1, size))}
        lower = random.choice([None, random.randint(-6, 9)])
        upper = random.choice([None, random.randint(-9, 6)])
        if lower is not None and upper is not None and lower > upper:
            lower = upper
        system.sum(terms, lower, upper)
        sums.append((terms, lower, upper))
    return system, sums, size


@pytest.mark.parametrize("seed", range(20))
def test_against_enumeration(seed):
    random = Random(seed)
    refuted = solvable = 0
    for _ in range(60):
        system, sums, size = small_system(random)

        def met(point, sums=sums):
            values = [(sum(k * point[v] for v, k in terms.items()), lower, upper) for terms, lower, upper in sums]
            return all((lo is None or x >= lo) and (hi is None or x <= hi) for x, lo, hi in values)

        exists = any(met(point) for point in product(range(-3, 4), repeat=size))
        found = refute(system, Budget(20_000), 200)
        assert (found is None) == exists, (seed, sums)
        if found is None:
            solvable += 1
            assert system.fractional(Budget(100)) is None
            values = [system.value(v) for v in range(size)]
            assert met([numerator // denominator for numerator, denominator in values]), (seed, sums)
        else:
            refuted += 1
    assert refuted > 5
    assert solvable > 5


def test_rational_solutions_are_not_integers():
    system = System()
    x, y = system.variable(0, 10), system.variable(0, 10)
    system.sum({x: 2, y: -2}, 1, 1)
    assert system.check(Budget(100)) is None
    assert refute(system, Budget(1000), 0) is None
    assert refute(system, Budget(1000), 50) is not None


def test_huge_coefficients_are_exact():
    """The case in which bounds in floating point are off by one."""
    big = 2**53 + 1
    for allowed, expected in ((big, None), (big - 1, True)):
        system = System()
        x = system.variable(0, None)
        system.sum({x: big}, big, None)
        system.sum({x: 1 << 60}, None, (1 << 60) * (1 if allowed == big else 0))
        assert (refute(system, Budget(100), 10) is not None) is (expected is True)


def test_a_wrong_certificate_is_rejected():
    """A system whose rows do not follow from its definitions, as a wrong pivot would leave it."""
    system = System()
    x = system.variable(0, 10)
    total = system.sum({x: 1}, 5, None)
    system.rows[total] = {total: 1, x: 1}
    with pytest.raises(AssertionError, match="add up"):
        system.check(Budget(100))
