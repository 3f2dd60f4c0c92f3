"""How the work of a store grows: counted in calls, never in time."""

from __future__ import annotations

from functools import partial

import pytest

from symdim import Row, Scope, Store, Var, parse
from tests.counting import calls_of


def chain_of_joins(count: int, *, backwards: bool) -> Store:
    """Each size is the broadcast of the former one and of one of three given sizes."""
    store, given = Store(), [Var(name, 1) for name in "LMN"]
    places = range(count + 1)
    made = {i: store.fresh(lo=1) for i in (reversed(places) if backwards else places)}
    store.eq(made[0], given[0])
    for i in range(count):
        store.bcast(Row.of([made[i + 1]]), [Row.of([made[i]]), Row.of([given[i % 3]])])
    assert str(store.value(made[count])) == "max(L, M, N)"
    return store


@pytest.mark.parametrize("backwards", [False, True])
def test_a_chain_of_joins_is_defined_in_the_order_of_its_links(backwards: bool) -> None:
    few, many = (calls_of(partial(chain_of_joins, n, backwards=backwards)) for n in (20, 80))
    assert many < 5 * few


def test_intervals_are_found_anew_when_something_is_learned() -> None:
    store, n, m = Store(), Var("N", 1), Var("M", 1)
    store.bounds(m, 2, 9)
    assert store.interval(3 * n + m) == (5, None)
    store.bounds(n, hi=4)
    assert store.interval(3 * n + m) == (5, 21)
    store.eq(m, n + 3)
    assert store.interval(3 * n + m) == (7, 19)
    store.eq(n, 2)
    assert store.interval(3 * n + m) == (11, 11)


WRITTEN_IN_TURN = (
    "((2*{m} - min(3*d, 2) + 3)//4 + max(min(3*d, 2)//2 + {m}, 2) + min((2*{m} - min(3*d, 2) + 11)//4, {m}))//2"
    " - (2*{m} - min(3*d, 2) + 3)//4 - 5"
).format(m="max(d + 2*(d//2) + (d + 1)//4, 1)")
"""A sum that is written with a maximum or with a minimum, each time it is multiplied by a divisor."""


@pytest.mark.parametrize(("lo", "hi"), [(0, None), (0, 50), (3, 3), (None, 4)])
def test_a_sum_whose_divisions_come_back_is_narrowed_in_a_few_steps(lo: int | None, hi: int | None) -> None:
    scope = Scope()
    d = scope.var("d", 0)
    size = parse(WRITTEN_IN_TURN, scope=scope)
    store = Store()
    store.bounds(size, lo, hi)
    least, most = store.interval(d)
    for value in range(200):
        found = size.evaluate({d: value})
        if (lo is None or found >= lo) and (hi is None or found <= hi):
            assert least is None or value >= least
            assert most is None or value <= most
