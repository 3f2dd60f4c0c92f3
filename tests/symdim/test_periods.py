"""Intervals of sums of quotients of one size, against the values at many sizes."""

from __future__ import annotations

import random

from symdim import Var, minimum


def test_intervals_are_exact() -> None:
    rng = random.Random(7)
    reached = 0
    for _ in range(400):
        low, high = rng.choice([(1, None), (0, None), (5, None), (2, 40), (3, 3)])
        x = Var("x", low, high)
        quotients = [
            rng.randint(-5, 5) * ((rng.choice([1, 1, 2, -1]) * x + rng.randint(-9, 9)) // rng.choice([2, 3, 4, 8]))
            for _ in range(rng.randint(1, 2))
        ]
        e = rng.randint(-4, 4) * x + sum(quotients) + rng.randint(-9, 9)
        if isinstance(e, int):
            continue
        values = [e.evaluate(x=i) for i in range(low, 200 if high is None else high + 1)]
        least, most = e.bounds()
        assert least is None or least <= min(values), e
        assert most is None or most >= max(values), e
        reached += (least == min(values)) + (most == max(values))
    assert reached > 480


def test_a_window_after_shifts_is_not_empty() -> None:
    """The windows of a shifted attention: `3*((W - 4*((W + 3)//8) + 11)//12)` is at least 3."""
    W = Var("W", 1)
    size = 3 * ((W - 4 * ((W + 3) // 8) + 11) // 12)
    assert size.bounds() == (3, None)
    assert minimum(size, 3) == 3
    assert (W - 4 * ((W + 4) // 8)).bounds() == (0, None)  # at 4


def test_a_long_period_is_left_to_other_laws() -> None:
    x = Var("x", 0)
    assert (x - 96 * (x // 97) - x // 101).bounds()[0] is not None
