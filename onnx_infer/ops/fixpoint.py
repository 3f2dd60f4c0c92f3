"""The fixpoint of a Loop: the carried values at the start of any iteration.

The state is the join of the initial values and of the body's results for it. Values that change (sizes and integer
elements) become sizes `w` of the body. The state is a fixpoint when the body keeps its form and maps `w` to some
`step(w)`. If `step(w) = w + d`, where d is the same in all iterations, grows by the same amount in each, or is what the
next window of an axis holds, `w` is a function of the number of the iteration (`Growth`).

A carried tensor whose rank the first iteration changes is one of two: the initial one in the first iteration, and a
value that covers all later ones. The turn decides which (`values/tensor.py`).

What the nodes of the body demand for such a state, they demand in every iteration. The rule of a Loop that certainly
runs states it for the first iteration, and for the last one where the trip count is known. Sizes of the inside have
known values there; a demand of others is left out, since no caller knows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.elements.conditions import Positive, positive
from onnx_infer.laws.sizes import at_least
from onnx_infer.ops.control_flow import BrokenLaws, check_types, condition
from onnx_infer.ops.trip_count import Windows, linear, without_windows
from onnx_infer.types.branches import of_different_rank
from onnx_infer.types.join import Meeting, join, kind_of, variables_in
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import OneOf, plain
from onnx_infer.values.tensor import SymTensor
from symdim import BoundsError, DivisionByZero, Var
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onnx_infer.laws.statements import Statement
    from onnx_infer.ops.kinds import Dim, Graph, Value
    from onnx_infer.types.join import Size

_MAX_ROUNDS = 8
"""The most rounds towards a fixpoint. After them the shapes that still change are dropped."""


class Growth(NamedTuple):
    """A size that is `first` in turn 0 and grows by `step + more*turn`, and by one of the `windows`, in each turn."""

    first: Dim
    step: Dim
    more: Dim
    windows: tuple[Windows, ...] = ()

    def at(self, turn: Dim) -> Dim:
        """The size at the start of a turn.

        >>> Growth(5, 2, 1).at(4)
        19
        """
        grown = self.first + turn * self.step + self.more * (turn * (turn - 1) // 2)
        return sum((windows.before(turn) for windows in self.windows), grown)


class Fixpoint(NamedTuple):
    """The state, the body's results for it, and the changing sizes with their next values.

    `limit` is a number of turns that are not exceeded, or None. `growth` are the changing sizes with a
    closed form; `first` has the initial values. `inside` are all sizes of the body's inside, including the turn and the
    changing sizes. `demands` are the statements of the first iteration about values outside, if it certainly runs.
    `broken` has the laws that nodes of the body break in the first iteration.
    """

    state: list[Value]
    outputs: list[Value]
    turn: Var
    limit: Dim | None
    growth: dict[Var, Growth]
    first: dict[Var, Dim]
    after: dict[Var, Dim]
    inside: frozenset[Var]
    demands: list[Statement]
    broken: BrokenLaws

    def at(self, turn: Dim) -> dict[Var, Dim]:
        """The changing sizes with a closed form, and the turn, in an iteration; all changing sizes in the first one."""
        if turn == 0:
            return {self.turn: 0, **self.first}
        return {self.turn: turn, **{var: growth.at(turn) for var, growth in self.growth.items()}}

    def in_turn(self, size: Dim, turn: Dim) -> Dim:
        """A size in an iteration. It stays as it is if it has no value there: then no run comes so far."""
        return self.with_sizes(size, self.at(turn))

    def with_sizes(self, size: Dim, sizes: dict[Var, Dim]) -> Dim:
        """A size in the iteration in which the inside has these sizes; as it is if it has no value there."""
        try:
            return substituted(size, sizes)
        except (BoundsError, DivisionByZero):
            return size

    def outside(self, size: Dim) -> bool:
        """Whether a size is the same in all iterations."""
        return self.inside.isdisjoint(variables_of([size]))

    def is_ranked(self, value: Value) -> bool:
        """Whether the rank of a carried value is the same in all iterations."""
        if isinstance(value, OneOf):
            return value.source is not self.turn
        return not isinstance(value, SymTensor) or value.shape is not None

    def condition(self) -> bool | Positive | None:
        """The condition that the body returns, as a function of the turn; None if it is unknown or depends on more."""
        returned = condition(self.outputs[0])
        if not isinstance(returned, Positive):
            return returned
        gap = returned.size.substitute(self.at(self.turn))
        known = positive(gap)
        if isinstance(known, Positive) and not self.outside(known.size.substitute({self.turn: 0})):
            return None
        return known


def scalar(body: Graph, position: int, dtype: int, value: Any) -> Value:
    """The number of the iteration, or the condition. It is a vector of one element if the body declares it so."""
    shape = (1,) if body.declared_rank(position) == 1 else ()
    return SymTensor(dtype, shape, None if value is None else (value,))


def number_of(body: Graph, turn: Var) -> Value:
    """The number of the iteration as the body gets it: 0 if there is one iteration at most."""
    return scalar(body, 0, dt.INT64, 0 if turn.hi == 0 else turn)


def in_time(size: Dim, turn: Var, limit: Dim | None) -> Dim:
    """The size without the turn, if it is the same in all turns before the limit; otherwise the size as it is.

    Written over the turns that are left, a clamp may vanish: `min(T, turn + 1) - turn` is 1 if turn < T.

    >>> from symdim import Var, maximum, minimum
    >>> T, turn = Var("T"), Var.fresh("turn", min=0)
    >>> in_time(minimum(maximum(T, turn) - turn, 1), turn, T), in_time(minimum(maximum(T, turn) - turn, 2), turn, T)
    (1, min(max(T, turn) - turn, 2))
    """
    if limit is None or at_least(-limit, 0) or turn not in variables_of([size]):
        return size  # without a turn nothing is the same in all turns
    left = Var.fresh("left", min=0)
    other = substituted(size, {turn: limit - 1 - left})
    return size if left in variables_of([other]) else other


def fixpoint(
    body: Graph, turn: Var, limit: Dim | None, unconditional: bool, initial: list[Value], reached: bool | None
) -> Fixpoint:
    """The most specific state that the body keeps. `reached`: True if the body certainly runs at least once.

    In an iteration the condition was true. Without a condition input some runtimes ignore the body's condition.
    """
    demands: list[Statement] = []
    broken = BrokenLaws()
    index, condition = number_of(body, turn), scalar(body, 1, dt.BOOL, True)
    last, inside = body.remembered()
    state = [condition, *(likely_state(body, turn, initial, last, inside) if last else initial)]
    for i in range(_MAX_ROUNDS):
        if not body.may_repeat() and (i or not last):
            break
        outputs = body(index, *state, repeated=True, reached=reached)
        if not i and not last:
            demands = body.demands({turn: 0}, initial)
            broken.take(body)
        after: dict[Var, Dim] = {}
        again = outputs[: len(state)]
        if not unconditional:
            again[0] = condition
        inside = body.locals([*state, *outputs], initial)
        wider = widened(body, turn, state, again, inside, after)
        if not i and not last:
            wider = of_two_ranks(body, turn, wider, state, again, inside)
        if wider == state:
            body.remember(state[1:], inside)
            first = first_sizes(state, [condition, *initial])
            inside |= {turn}
            growth = closed_forms(first, after, turn, limit, inside)
            demands += body.demands({turn: 0, **first}, initial)
            broken.take(body)
            return Fixpoint(state[1:], outputs, turn, limit, growth, first, after, inside, demands, broken)
        state = wider
    state = [kind_of(x) for x in state]
    body.remember([], frozenset())
    outputs = body(index, *state, repeated=True, reached=reached)
    demands += body.demands({turn: 0}, initial)
    broken.take(body)
    inside = body.locals(outputs, initial) | {turn}
    return Fixpoint(state[1:], outputs, turn, limit, {}, {}, {}, inside, demands, broken)


def of_two_ranks(
    body: Graph, turn: Var, state: list[Value], initial: list[Value], later: list[Value], inside: frozenset[Var]
) -> list[Value]:
    """The state. Where the initial value and the later one have different ranks, it is one of two tensors.

    Sizes of the inside become new ones, because they belong to another iteration.
    """

    def new(a: Dim, b: Dim) -> Dim:
        return body.size("changes from iteration to iteration", at_least=int(at_least(a, 1)))

    meeting = Meeting(new, lambda distance: False)

    def size(a: Dim, b: Dim) -> Dim:
        return a if inside.isdisjoint(variables_of([a])) else meeting(a, b)

    def either(covering: Value, first: Value, other: Value) -> Value:
        if not isinstance(first, SymTensor) or not isinstance(other, SymTensor) or not of_different_rank(first, other):
            return covering
        known = SymTensor(other.dtype, [size(d, d) for d in other.dims])
        return OneOf(turn, first, known, SymTensor(first.dtype))

    return list(map(either, state, initial, later))


def likely_state(
    body: Graph, turn: Var, initial: list[Value], last: list[Value], inside: frozenset[Var]
) -> list[Value]:
    """The state to start with: the initial one, with sizes of the body where the last fixpoint had some.

    A Loop in a Loop is visited once for each walk over the outer body. With this start it is walked twice only the
    first time, so nested Loops do not double the walks at every level.
    """

    def new(a: Dim, b: Dim) -> Dim:
        return body.size("changes from iteration to iteration", at_least=int(at_least(a, 1) and at_least(b, 1)))

    def new_integer(a: Dim, b: Dim) -> Dim:
        return body.size("changes from iteration to iteration", at_least=None)

    meeting, integers = Meeting(new), Meeting(new_integer, lambda distance: False)

    def likely(meet: Meeting) -> Size:
        return lambda a, b: a if inside.isdisjoint(variables_of([b])) else meet(a, b)

    later = [b.choices[1] if isinstance(b, OneOf) and b.source in inside else b for b in last]
    state = [join(a, b, likely(meeting), likely(integers)) for a, b in zip(initial, later, strict=True)]
    return of_two_ranks(body, turn, state, initial, later, inside)


def widened(
    body: Graph, turn: Var, state: list[Value], again: list[Value], inside: frozenset[Var], after: dict[Var, Dim]
) -> list[Value]:
    """The state that covers the old one and the body's results; `after` gets the next values of changing sizes.

    A changing size keeps its variable as long as its bounds hold, so an unchanged state is the same object.
    """

    def fixed(size: Dim) -> bool:
        return inside.isdisjoint(variables_of([size]))

    def stays(a: Dim, b: Dim, low: int | None) -> bool:
        """Whether a changing size may keep its variable. It must then be at least `low`."""
        if not isinstance(a, Var) or a not in inside or a in after or not (a.lo == low or at_least(b, a.lo or 0)):
            return False
        after[a] = b
        return True

    def new(a: Dim, b: Dim) -> Dim:
        low = 1 if at_least(a, 1) and at_least(b, 1) else 0
        return a if stays(a, b, 0) else body.size("changes from iteration to iteration", at_least=low)

    def new_integer(a: Dim, b: Dim) -> Dim:
        return a if stays(a, b, None) else body.size("changes from iteration to iteration", at_least=None)

    def unless_equal(meet: Meeting) -> Size:
        return lambda a, b: a if a == b and fixed(a) else meet(a, b)

    meeting, integers = Meeting(new, fixed), Meeting(new_integer, lambda distance: False)
    for i, (a, b) in enumerate(zip(state, again, strict=True)):
        check_types(f"carried value {i - 1}", a, b)
    size, integer = unless_equal(meeting), unless_equal(integers)

    def covering(a: Value, b: Value) -> Value:
        if not isinstance(a, OneOf) or a.source is not turn:
            return join(a, b, size, integer)
        first, later = a.choices
        wider = join(later, plain(b), size)
        known = isinstance(wider, SymTensor) and wider.shape is not None
        return OneOf(turn, first, wider, a.joined) if known else kind_of(a)  # type: ignore[arg-type]  # a tensor

    return list(map(covering, state, again))


def first_sizes(state: list[Value], initial: list[Value]) -> dict[Var, Dim]:
    """The initial values of the changing sizes."""
    first: dict[Var, Dim] = {}

    def match(a: Dim, b: Dim) -> Dim:
        if isinstance(a, Var):
            first.setdefault(a, b)
        return a

    for a, b in zip(state, initial, strict=True):
        join(a, b, match, match)
    return first


def closed_forms(
    first: dict[Var, Dim], after: dict[Var, Dim], turn: Var, limit: Dim | None, inside: frozenset[Var]
) -> dict[Var, Growth]:
    """The changing sizes that grow by the same amount in all turns, or by an amount that grows so."""
    growths: dict[Var, Growth] = {}
    for _ in range(2):
        now: dict[Var, Dim] = {var: growth.at(turn) for var, growth in growths.items()}
        for var in [v for v in first if v in after and v not in growths]:
            step = in_time(substituted(after[var] - var, now), turn, limit)
            rest, windows = (step, ()) if linear(step, turn) is not None else without_windows(step, turn)
            line = linear(rest, turn)
            sizes = [] if line is None else [*line, *(size for each in windows for size in (each.end, each.width))]
            if line is not None and inside.isdisjoint(variables_of(sizes)):
                growths[var] = Growth(first[var], *line, windows)
    return growths


def variables(values: list[Value]) -> list[Var]:
    """The variables in sizes, each once, in order."""
    return list(dict.fromkeys([v for value in values for v in variables_in(value)]))
