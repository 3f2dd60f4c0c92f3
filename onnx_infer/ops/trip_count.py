"""The number of turns of a Loop, from its trip count, the condition before the first turn, and the body's condition.

A turn is one run of the body; turns are counted from 0. The condition of the body is `gap > 0`, where the gap is a
function of the turn. The laws for a gap `a + b*turn`, with a and b the same in all turns:

| b    | the first turn at which the gap is not positive                       |
|------|-----------------------------------------------------------------------|
| < 0  | max(0, ceil(a / -b))                                                  |
| >= 0 | none if a > 0, else 0                                                 |

If the gap is a minimum, all its parts must be positive: the first of their turns counts. A maximum of gaps with b < 0
is positive as long as one of them is: the last of their turns counts. |a + b*turn| is 0 only at the turn a / -b, if
this is an integer >= 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.conditions import Positive, logical_and, positive, select
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import fresh
from symdim import Expr, Max, Min, Var, ceildiv, maximum, minimum
from symdim.algebra.dims import substituted
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.polynomials import terms_of

if TYPE_CHECKING:
    from onnx_infer.elements.ratio import Element
    from onnx_infer.values.tensor import Dim

_MAX_PARTS = 16
"""The most parts of a condition that are used."""

_ANY_TURN = Var.fresh("turn")
"""A turn without an upper bound. The turn of an actual loop is bounded by its trip count."""


class Trips(NamedTuple):
    """How often a body runs: `number` times (None: unknown), at most `limit` times; `once`: at least once."""

    number: Dim | None
    limit: Dim | None
    once: bool

    def counted(self, value: Dim | None) -> Trips:
        """With a fresh size for an unknown number. `value` is the number as a function of inputs, if they decide it."""
        if self.number is not None:
            return self
        why = "the trip count is not known" if self.limit is None else "the condition decides when the Loop stops"
        return self._replace(number=fresh(why, at_most=self.limit, at_least=int(self.once), value=value))


class Stop(NamedTuple):
    """The first turn after which a condition does not hold; None if there is none. It is 0 unless all gates hold."""

    turn: Dim | None
    gates: tuple[Positive, ...] = ()

    def turns(self, limit: Dim | None) -> Dim | None:
        """The number of turns of a loop that starts, at most `limit`; None if it does not end by itself."""
        if self.turn is None and limit is None:
            return None
        last = limit - 1 if self.turn is None else self.turn  # type: ignore[operator]
        for gate in self.gates:
            last = last * gate.indicator
        return last + 1 if limit is None else minimum(last + 1, limit)


def how_often(
    limit: Dim | None, starts: bool | Positive | None, goes_on: bool | Positive | None, turn: Var, *, endless: bool
) -> Trips:
    """How often the body runs, from the trip count and the conditions before the first turn and after each turn.

    An unknown trip count is None; `endless` if there is no trip count. If `goes_on` is a condition, it is a function of
    the `turn`.
    """
    if starts is False or limit == 0:
        return Trips(0, 0, False)
    once = begins(limit, starts, endless=endless) is True
    if goes_on is None:
        return Trips(None, limit, once)
    stop = Stop(0) if goes_on is False else Stop(None) if goes_on is True else first_stop(goes_on.size, turn, limit)
    turns = None if stop is None else stop.turns(limit)
    if turns is None or starts is None:
        return Trips(None, limit if turns is None else turns, once)
    if isinstance(starts, Positive):
        turns = begun(starts, goes_on, turn, limit, turns)
    known = endless or limit is not None
    return Trips(turns if known else None, turns, once)


def begins(limit: Dim | None, starts: bool | Positive | None, *, endless: bool) -> Element:
    """The condition on which the body runs at least once, whatever it returns; None if it is not known.

    >>> from symdim import Var
    >>> begins(Var("T"), True, endless=False), begins(Var("T") - 1, True, endless=False)
    (True, T >= 2)
    """
    return logical_and(starts, endless or (None if limit is None else positive(limit)))


def begun(starts: Positive, goes_on: bool | Positive, turn: Var, limit: Dim | None, turns: Dim) -> Dim:
    """The number of turns of a loop of `turns` turns that starts only if a condition holds.

    Usually the first condition is that of the body, one turn earlier. Then the number is 0 anyway if it does not hold.
    """
    if isinstance(goes_on, Positive):
        earlier = goes_on.size.substitute({turn: _ANY_TURN - 1})
        if isinstance(earlier, Expr) and earlier.substitute({_ANY_TURN: 0}) == starts.size:
            stop = first_stop(earlier, _ANY_TURN, limit)
            if stop is not None and stop.turn is not None and not stop.gates:
                return stop.turn if limit is None else minimum(stop.turn, limit)
    return turns * starts.indicator


def linear(gap: Dim, turn: Var) -> tuple[Dim, Dim] | None:
    """The a and b of a gap `a + b*turn`; None for other gaps.

    >>> from symdim import Var
    >>> N, i = Var("N"), Var("i")
    >>> linear(N - 2 * i + 3, i), linear(N // (i + 1), i)
    ((N + 3, -2), None)
    """
    if not contains(gap, turn):
        return gap, 0
    assert isinstance(gap, Expr)
    value = gap.substitute({turn: _ANY_TURN})
    slope = substituted(value, {_ANY_TURN: _ANY_TURN + 1}) - value
    start = value - slope * _ANY_TURN
    return None if contains(slope, _ANY_TURN) or contains(start, _ANY_TURN) else (start, slope)


class Windows(NamedTuple):
    """Windows of `width` places, one per turn, over `end` places: their sum up to a turn is `min(end, width*turn)`."""

    factor: int
    end: Dim
    width: Dim

    def before(self, turn: Dim) -> Dim:
        """The places of all windows before a turn."""
        return self.factor * minimum(self.end, self.width * turn)


def without_windows(step: Dim, turn: Var) -> tuple[Dim, tuple[Windows, ...]]:
    """What a turn adds, without the windows in it, and these.

    >>> from symdim import Var
    >>> S, i = Var("S"), Var("i", min=0)
    >>> without_windows(minimum(maximum(S - 4 * i, 0), 4) + 2, i)
    (2, (Windows(factor=1, end=S, width=4),))
    """
    windows_of_step = []
    for unit, factor in terms_of(step)[0].items():
        for size in _sizes(unit):
            windows = _windows(size, turn)
            if windows is not None:
                windows_of_step.append(windows._replace(factor=factor))
                step = step - factor * size
                break
    return step, tuple(windows_of_step)


def _sizes(unit: Expr) -> list[Dim]:
    """What may be the size of a window: a minimum, less what its place is counted from: `min(max(S, 4*i), 4*i + 4)`."""
    parts = unit._parts if isinstance(unit, Min) and len(unit._parts) == 2 else ()
    return [unit - low for low in (0, *[low for part in parts if isinstance(part, Max) for low in part._parts])]


def _windows(size: Dim, turn: Var) -> Windows | None:
    """The windows of which this is the size of one. No other form has this difference between two turns."""
    parts = alternatives(size, Min)
    for width, rest in zip(parts, reversed(parts), strict=True) if len(parts) == 2 else ():
        if not contains(width, turn) and contains(rest, turn):
            candidate = Windows(1, substituted(rest, {turn: 0}), width)
            if at_least(candidate.end, 0) and candidate.before(turn + 1) - candidate.before(turn) == size:
                return candidate
    return None


def contains(size: Dim, var: Var) -> bool:
    """Whether a variable occurs in a size."""
    return isinstance(size, Expr) and var in size.variables()


def first_stop(gap: Dim, turn: Var, limit: Dim | None) -> Stop | None:
    """The first turn at which the gap is not positive; None if there is no closed form.

    >>> from symdim import Var
    >>> N, M, i = Var("N"), Var("M"), Var("i")
    >>> first_stop(N - 2 * i, i, None).turn, first_stop(minimum(N - i, M - 2 * i), i, None).turn
    ((N + 1)//2, min((M + 1)//2, N))
    """
    first: Dim | None = None
    gates: list[Positive] = []
    pending = [gap]
    for _ in range(_MAX_PARTS):
        if not pending:
            return Stop(first, tuple(gates))
        gap = pending.pop()
        parts = alternatives(gap, Min)
        if linear(gap, turn) is None and parts:
            pending += parts
            continue
        stop = _first_stop_of_one(gap, turn, limit)
        if stop is None:
            return None
        if stop.turn is not None:
            first = stop.turn if first is None else minimum(first, stop.turn)
        gates += stop.gates
    return None


def alternatives(gap: Dim, kind: type[Min | Max]) -> list[Dim]:
    """The gaps whose minimum (or maximum) is this gap; empty if it is neither."""
    terms, _ = terms_of(gap)
    for unit, k in terms.items():
        if isinstance(unit, (Max, Min)) and isinstance(unit, kind) == (k > 0):
            return [gap - k * unit + k * part for part in unit._parts]
    return []


def _first_stop_of_one(gap: Dim, turn: Var, limit: Dim | None) -> Stop | None:
    """The first turn at which a gap is not positive. The gap is not a minimum."""
    line = linear(gap, turn)
    if line is not None:
        start, slope = line
        if at_least(-slope, 1):
            return Stop(maximum(ceildiv(start, -slope), 0))
        if not at_least(slope, 0):
            return None
        holds = positive(start)
        return Stop(None, (holds,)) if isinstance(holds, Positive) else Stop(None if holds else 0)
    parts = alternatives(gap, Max)
    if len(parts) == 2 and parts[0] == -parts[1]:
        return _zero(parts[0], turn, limit)
    last: Dim = 0
    for part in parts:
        stop = _first_stop_of_one(part, turn, limit)
        if stop is None or stop.turn is None or stop.gates:
            return None
        last = maximum(last, stop.turn)
    return Stop(last) if parts else None


def _zero(gap: Dim, turn: Var, limit: Dim | None) -> Stop | None:
    """The first turn at which a linear gap of either sign is 0."""
    line = linear(gap, turn)
    if line is None:
        return None
    start, slope = line if at_least(-line[1], 1) else (-line[0], -line[1])
    if not at_least(-slope, 1) or start % slope != 0:
        return None
    at = start // -slope
    never = positive(-at)
    if isinstance(never, bool):
        return Stop(None if never else at)
    turn_of_zero = None if limit is None else select(never, limit, at)
    return None if turn_of_zero is None else Stop(turn_of_zero)
