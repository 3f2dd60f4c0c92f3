"""How often a Loop runs, against loops that are simulated turn by turn at all points of a grid."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from onnx_infer import infer
from onnx_infer.elements.conditions import positive
from onnx_infer.ops.fixpoint import in_time
from onnx_infer.ops.trip_count import begun, how_often, without_windows
from onnx_infer.results.sources import without_computed
from symdim import Expr, Var, maximum, minimum
from symdim.algebra.variable import Scope, make_variable

from .sessions import run, session_of
from .texts import parsed

P = make_variable(Scope(), "P", None, None)
Q = make_variable(Scope(), "Q", None, None)
N, M = Var.fresh("N"), Var.fresh("M")
i = Var.fresh("i")

GAPS = [
    *[P + b * i for b in range(-5, 4)],
    *[minimum(P + b * i, Q + c * i) for b in (-3, -1, 0, 2) for c in (-2, -1, 1)],
    *[maximum(P - b * i, Q - c * i) for b in (1, 3) for c in (1, 2)],
    *[maximum(k * (P + b * i), -k * (P + b * i)) for b in (-1, 1, 0) for k in (1, 2)],
    maximum(3 * P - 3 * i, 3 * i - 3 * P),
    minimum(minimum(P - i, Q - 2 * i), N - i),
    P - (N + 1) * i,
    P - i // 2,
    P - i * i,
    1 - maximum(P - i, i - P),
    maximum(P, 1),
    minimum(P, 0),
    # without a closed form: slopes of unknown sign, a part that never stops, no whole turn, a square, many parts
    P - Q * i,
    maximum(P - Q * i, P - i),
    maximum(P - i, Q),
    maximum(2 * P + 1 - 2 * i, 2 * i - 2 * P - 1),
    maximum(P - i * i, i * i - P),
    minimum(*[P * k + Q * k * k - i for k in range(18)]),
]


def simulated(limit: int | None, starts: bool, gap: object, sizes: dict[Var, int]) -> int | None:
    """The number of turns; None of more than 30."""
    turns, goes_on = 0, starts
    while goes_on and turns != limit and turns <= 30:
        value = gap.substitute({**sizes, i: turns}) if isinstance(gap, Expr) else gap
        assert isinstance(value, int)
        goes_on = value > 0
        turns += 1
    return turns if turns <= 30 else None


@pytest.mark.parametrize("limit", [None, 0, 1, 4, M])
@pytest.mark.parametrize("start", ["always", "a condition", "a turn earlier"])
def test_trips(limit: int | Expr | None, start: str) -> None:
    found = 0
    for gap in GAPS:
        starts = {"always": 1, "a condition": Q + 1, "a turn earlier": gap.substitute({i: i - 1})}[start]
        first = positive(starts.substitute({i: 0}) if isinstance(starts, Expr) else starts)
        trips = how_often(limit, first, positive(gap), i, endless=limit is None)
        bound = how_often(None, first, positive(gap), i, endless=False) if limit is None else trips
        found += trips.number is not None
        for p, q, n, m in product((-3, 0, 2, 7), (-2, 1, 6), (0, 3), (0, 5)):
            sizes: dict[Var, int] = {P: p, Q: q, N: n, M: m}

            def at(x: object, sizes: dict[Var, int] = sizes) -> object:
                return x.substitute(sizes) if isinstance(x, Expr) else x

            begins = positive(at(starts).substitute({i: 0}) if isinstance(at(starts), Expr) else at(starts))
            actual = simulated(at(limit), begins, gap, sizes)
            if actual is not None:
                assert trips.number is None or at(trips.number) == actual, (gap, starts, limit, sizes)
                assert trips.limit is None or at(trips.limit) >= actual, (gap, starts, limit, sizes)
                assert bound.limit is None or at(bound.limit) >= actual, (gap, starts, limit, sizes)
                assert not trips.once or actual > 0
    assert found >= (20 if limit is None else len(GAPS) - 14)


def test_a_trip_count_that_is_not_known() -> None:
    """It is a bound of what the condition says, not the number."""
    trips = how_often(None, True, positive(N + 1 - i), i, endless=False)
    assert (trips.number, trips.limit, trips.once) == (None, N + 2, False)


def test_the_bound_of_a_turn() -> None:
    """The turn of a loop has the bound of its trip count: its condition may be clear by that alone."""
    for most in (0, 1, 4):
        turn = Var.fresh("turn", max=most)
        assert how_often(most + 1, True, positive(minimum(P - turn, 3)), turn, endless=False).number == minimum(
            maximum(P, 0) + 1, most + 1
        )


@pytest.mark.parametrize("limit", [None, M])
def test_a_condition_that_the_first_turn_asked_adds_nothing(limit: Var | None) -> None:
    """Where the count follows from the condition of the body alone, it does not say again that the loop begins."""
    starts, goes_on = positive(N - 3), positive(N - 4 - i)
    count = maximum(N - 3, 0)
    assert begun(starts, goes_on, i, limit, P) == (count if limit is None else minimum(count, limit))


STEPS = [
    (minimum(maximum(N - 4 * i, 0), 4) + 2, 1),
    (3 * minimum(maximum(N - M * i, 0), M), 1),
    (minimum(maximum(N - 2 * i, 0), 3), 0),
    # a width that is another one in each turn
    (minimum(maximum(N - i * i, 0), i), 0),
    (minimum(maximum(N - 2 * i * i, 0), 2 * i), 0),
    (minimum(N - minimum(N, i * i + i), i + 1), 0),
]


@pytest.mark.parametrize(("step", "count"), STEPS)
def test_windows_add_up(step: Expr, count: int) -> None:
    rest, windows = without_windows(step, i)
    assert len(windows) == count
    for n, m in product((1, 3, 8), (1, 2, 5)):
        total = 0
        for turn in range(6):
            sizes = {N: n, M: m, i: turn}
            before = sum(each.before(i) for each in windows)
            assert total == before if isinstance(before, int) else total == before.substitute(sizes)
            total += step.substitute(sizes) - (rest if isinstance(rest, int) else rest.substitute(sizes))  # type: ignore[operator]


def test_a_size_without_a_turn_stays_as_it_is() -> None:
    turn = Var.fresh("turn", min=0)
    size = minimum(maximum(N, turn) - turn, 1)
    assert in_time(size, turn, 0) is size
    assert in_time(size, turn, None) is size
    assert in_time(size, turn, N) == 1


def test_a_trip_count_of_a_run_beside_a_condition_of_the_body() -> None:
    """The condition `i < 5` fails after the turn 5, so there are six turns at most."""
    model = parsed("""g (float[N] x, int64 k) => (y, z) { yes = Constant<value=bool {1}>()
        y, z = Loop(k, yes, x) <body = b (int64 i, bool go, float[A] w) => (bool on, float[B] o, float[C] q) {
            five = Constant<value_int=5>() on = Less(i, five) o = Concat<axis=0>(w, x) q = Identity(x) }> }""")
    result, session = infer(model), session_of(model)
    assert list(map(str, result.upper_bounds["z"])) == ["6", "N"]
    sizes = [without_computed(size) for size in (result.types["y"].shape[0], result.types["z"].shape[0])]
    for k in (-1, 0, 1, 3, 5, 6, 7, 9):
        made = run(session, {"x": np.ones(2, np.float32), "k": np.array(k)})
        assert made is not None
        assert [size.to_int({"N": 2, "k[0]": k}) for size in sizes] == [x.shape[0] for x in made]
