"""Loop: the carried values to a fixpoint, and how often the body runs.

The state is what is true of the carried values at the start of any iteration: the join of the initial values and of
what the body makes of it. Sizes that change become sizes of the body, `w`; the state is a fixpoint when the body keeps
its form, with `w` going to some `step(w)`. After T iterations `w` is then `init + T*d` where `step(w) = w + d`, and `c`
where `step(w) = c` and T >= 1; T is a new size where the condition or an unknown trip count decides it. Loops of few
iterations, whose conditions are known, are walked one by one instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.elements.conditions import Positive
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import at_least, unify_shapes
from onnx_infer.laws.statements import element, fresh
from onnx_infer.operators.registration import op
from onnx_infer.ops.control_flow import check_outputs, check_types, condition, stacked
from onnx_infer.types.join import NOTHING, Meeting, ceiling, join, join_with_itself, kind_of, sizes
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import Expr, Var, maximum

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import Dim, Elements, Graph, Value, Values

_MAX_ROUNDS = 8
"""Rounds towards a fixpoint before the shapes of what still changes are given up."""

_MAX_UNROLLED, _MAX_VISITED = 32, 4096
"""The most iterations that are walked one by one, and the most nodes that are visited so."""

_ENDLESS = 1 << 31
"""A trip count from here on says nothing: exporters write the largest integer for a while loop."""


class Trips(NamedTuple):
    """How often a body runs: `number` times, or at most `limit` where it is not known; `once` if at least once."""

    number: Dim | None
    limit: Dim | None
    once: bool

    def counted(self, value: Dim | None) -> Trips:
        """With a size of its own for a number that is not known; `value` is what it will be, where inputs say it."""
        if self.number is not None:
            return self
        why = "the trip count is not known" if self.limit is None else "the condition decides when the Loop stops"
        return self._replace(number=fresh(why, at_most=self.limit, at_least=int(self.once), value=value))


class Fixpoint(NamedTuple):
    """The state, what the body makes of it, and the changing sizes with their first and their next values.

    `inside` are the sizes of the body's inside, the changing ones among them.
    """

    state: list[Value]
    outputs: list[Value]
    first: dict[Var, Dim]
    after: dict[Var, Dim]
    inside: frozenset[Var]

    def outside(self, size: Dim) -> bool:
        """Whether a size means the same in all iterations."""
        return isinstance(size, int) or self.inside.isdisjoint(size.variables())


@op("Loop")
def loop(
    M: Dim | Unknown | None, cond: Elements | None, v_initial: Values, body: Graph, output_count: int
) -> list[Value]:
    """n carried values -> n final values, and k outputs of all iterations stacked (Loop-1, 11, 13 to 25)."""
    count = len(v_initial)
    require(body.input_count == count + 2, "the number of inputs of body is not that of the node", body.input_count)
    check_outputs("body", body.output_count, output_count + 1)
    limit = None if M is None or isinstance(M, Unknown) else maximum(M, 0)
    if isinstance(limit, int) and limit >= _ENDLESS:
        limit = None
    most = None if limit is None else maximum(limit - 1, 0)
    index = body.size("the number of the iteration", at_most=most)
    found = fixpoint(body, scalar(body, 0, dt.INT64, index), cond is None, list(v_initial))
    starts = True if cond is None else condition(cond)
    goes_on = condition(found.outputs[0])
    if goes_on is False and cond is None:
        goes_on = None  # the spec ignores it then, onnxruntime does not
    endless = limit is None and not isinstance(M, Unknown)
    trips = how_often(limit, starts, goes_on, endless=endless)
    if trips.number == 0:
        return none_at_all(v_initial, found.outputs[1 + count :])
    unrolled = None
    if not settled(found, trips) and starts is True and (endless or few(body, limit)) and body.may_repeat():
        unrolled = one_by_one(body, limit, cond is None, list(v_initial))
        # once more in general, so that what is written into the body holds in every iteration
        body(scalar(body, 0, dt.INT64, index), scalar(body, 1, dt.BOOL, True), *found.state, repeated=True)
    if unrolled is None:
        counts = isinstance(M, Unknown) and starts is True and goes_on is True
        trips = trips.counted(maximum(element("M"), 0) if counts else None)
        return finals(found, trips) + scans(found, trips, count)
    body.release(unrolled)
    return unrolled


def scalar(body: Graph, position: int, dtype: int, value: Any) -> Value:
    """The number of the iteration or the condition; a vector of one element where the body declares it so."""
    shape = (1,) if body.declared_rank(position) == 1 else ()
    return SymTensor(dtype, shape, None if value is None else (value,))


def how_often(
    limit: Dim | None, starts: bool | Positive | None, goes_on: bool | Positive | None, *, endless: bool
) -> Trips:
    """How often the body runs, of a trip count and the conditions before the first iteration and after each.

    It is the trip count only where the condition provably never stops the loop. A trip count that is not known is None;
    `endless` if there is none at all.
    """
    if starts is False or limit == 0:
        return Trips(0, 0, False)
    once = starts is True and (endless or (limit is not None and at_least(limit, 1)))
    if goes_on is False:
        return Trips(1 if once else None, 1, once)
    if goes_on is True and limit is not None and isinstance(starts, Positive):
        return Trips(limit * starts.indicator, limit, False)
    return Trips(limit if starts is True and goes_on is True else None, limit, once)


# -- the fixpoint -----------------------------------------------------------------------------------------------------


def fixpoint(body: Graph, index: Value, unconditional: bool, initial: list[Value]) -> Fixpoint:
    """The least general state that the body keeps.

    In an iteration the condition was true; without a condition some runtimes go on whatever the body says.
    """
    condition = scalar(body, 1, dt.BOOL, True)
    last, inside = body.remembered()
    state = [condition, *(likely_state(body, initial, last, inside) if last else initial)]
    for i in range(_MAX_ROUNDS):
        if not body.may_repeat() and (i or not last):
            break
        outputs = body(index, *state, repeated=True)
        after: dict[Var, Dim] = {}
        again = outputs[: len(state)]
        if not unconditional:
            again[0] = condition
        inside = body.locals([*state, *outputs], initial)
        wider = widened(body, state, again, inside, after)
        if wider == state:
            body.remember(state[1:], inside)
            return Fixpoint(state[1:], outputs, first_sizes(state, [condition, *initial]), after, inside)
        state = wider
    state = [kind_of(x) for x in state]
    body.remember([], frozenset())
    outputs = body(index, *state, repeated=True)
    return Fixpoint(state[1:], outputs, {}, {}, body.locals(outputs, initial))


def likely_state(body: Graph, initial: list[Value], last: list[Value], inside: frozenset[Var]) -> list[Value]:
    """The state to begin with: the initial one, with sizes of the body where its last fixpoint had some.

    A Loop in a Loop is met once for each walk over the body around it. So it is walked twice the first time only, and
    nested Loops do not double the walks at every level.
    """

    def new(a: Dim, b: Dim) -> Dim:
        return body.size("changes from iteration to iteration", at_least=int(at_least(a, 1) and at_least(b, 1)))

    meeting = Meeting(new, lambda distance: False)

    def likely(a: Dim, b: Dim) -> Dim:
        return a if isinstance(b, int) or inside.isdisjoint(b.variables()) else meeting(a, b)

    return [join(a, b, likely) for a, b in zip(initial, last, strict=True)]


def widened(
    body: Graph, state: list[Value], again: list[Value], inside: frozenset[Var], after: dict[Var, Dim]
) -> list[Value]:
    """The state that covers what it was and what the body made of it; `after` gets what becomes of changing sizes.

    A changing size stays the same one as long as its bounds hold, so that a state that is kept is the same object.
    """

    def fixed(size: Dim) -> bool:
        return isinstance(size, int) or inside.isdisjoint(size.variables())

    def new(a: Dim, b: Dim) -> Dim:
        if isinstance(a, Var) and a in inside and a not in after and (not a.lo or at_least(b, a.lo)):
            after[a] = b
            return a
        low = 1 if at_least(a, 1) and at_least(b, 1) else 0
        return body.size("changes from iteration to iteration", at_least=low)

    meeting = Meeting(new, fixed)
    for i, (a, b) in enumerate(zip(state, again, strict=True)):
        check_types(f"carried value {i - 1}", a, b)
    return [
        join(a, b, lambda x, y: x if x == y and fixed(x) else meeting(x, y)) for a, b in zip(state, again, strict=True)
    ]


def first_sizes(state: list[Value], initial: list[Value]) -> dict[Var, Dim]:
    """The sizes that the changing ones have at the start."""
    first: dict[Var, Dim] = {}

    def match(a: Dim, b: Dim) -> Dim:
        if isinstance(a, Var) and a is not b:
            first.setdefault(a, b)
        return a

    for a, b in zip(state, initial, strict=True):
        join(a, b, match)
    return first


# -- results ----------------------------------------------------------------------------------------------------------


def final_size(var: Var, found: Fixpoint, trips: Trips) -> Dim | None:
    """What a changing size is after the last iteration, where there is a closed form."""
    first, after = found.first.get(var), found.after.get(var)
    if first is None or after is None:
        return None
    step = after - var
    if found.outside(step):
        return first if trips.number is None else first + trips.number * step
    return after if trips.once and found.outside(after) else None


def settled(found: Fixpoint, trips: Trips) -> bool:
    """Whether walking the iterations one by one cannot tell more."""
    changing = [v for v in variables(found.state) if v in found.inside]
    exact = all(final_size(v, found, trips) is not None for v in changing)
    ranked = all(not isinstance(x, SymTensor) or x.shape is not None for x in found.state)
    return trips.number is not None and exact and ranked


def finals(found: Fixpoint, trips: Trips) -> list[Value]:
    """The carried values after the last iteration; of another kind than at first where the body says so."""
    final: dict[Var, Dim] = {}
    for var in variables(found.state):
        if var in found.inside:
            size = final_size(var, found, trips)
            final[var] = fresh("the Loop changes it", at_least=var.lo or 0) if size is None else size
    out = [substitute(value, final) for value in found.state]
    last = found.outputs[1 : 1 + len(out)]
    if not trips.once:
        return [a if type(a) is type(b) or b is NOTHING else kind_of(b) for a, b in zip(out, last, strict=True)]
    lost = [
        type(a) is not type(b) or (isinstance(a, SymTensor) and a.shape is None) for a, b in zip(out, last, strict=True)
    ]
    ranked = iter(in_last_iteration(found, [x for x, is_lost in zip(last, lost, strict=True) if is_lost]))
    return [next(ranked) if is_lost else value for value, is_lost in zip(out, lost, strict=True)]


def in_last_iteration(found: Fixpoint, values: list[Value]) -> list[Value]:
    """What the body gives in the last iteration, with new sizes for those of its inside.

    A size made of several of them is one new size.
    """
    last: dict[Dim, Dim] = {}

    def outer(size: Dim) -> Dim:
        inner = [v for v in size.variables() if v in found.inside] if isinstance(size, Expr) else []
        if isinstance(size, int) or not inner:
            return size
        part = inner[0] if len(inner) == 1 else size
        if part not in last:
            limit = ceiling(part)
            limit = limit if limit is not None and found.outside(limit) else None
            low = inner[0].lo or 0 if part is inner[0] else 0
            last[part] = fresh("the body of the Loop decides it", at_most=limit, at_least=low)
        return last[part] if part is size else size.substitute({inner[0]: last[part]})

    return [
        join_with_itself(value.without_data(), lambda size, _: outer(size))
        if isinstance(value, SymTensor)
        else kind_of(value)
        for value in values
    ]


def scans(found: Fixpoint, trips: Trips, count: int) -> list[Value]:
    """The outputs of all iterations stacked; their number is the trip count only if nothing stops the loop before."""
    assert trips.number is not None
    return [stacked(x, trips.number, 0) for x in in_last_iteration(found, found.outputs[1 + count :])]


def none_at_all(initial: Values, items: list[Value]) -> list[Value]:
    """The results of no iteration: the initial values, and nothing stacked, of which only fixed sizes are sure."""
    empty = [stacked(x, 0, 0) for x in items]
    unsure = {v: fresh("no iteration gives it a size") for v in variables(empty)}
    return [*initial, *(substitute(x, unsure) for x in empty)]


def variables(values: list[Value]) -> list[Var]:
    """The variables of sizes, each once, in order."""
    return list(dict.fromkeys(v for x in values for d in sizes(x) if isinstance(d, Expr) for v in d.variables()))


# -- one by one -------------------------------------------------------------------------------------------------------


def few(body: Graph, limit: Dim | None) -> bool:
    """Whether the iterations of a loop may be walked one by one."""
    return isinstance(limit, int) and limit <= _MAX_UNROLLED and body.node_count() * limit <= _MAX_VISITED


def one_by_one(body: Graph, limit: Dim | None, unconditional: bool, initial: list[Value]) -> list[Value] | None:
    """The results of a loop of few iterations with known conditions; None for any other."""
    count, values = len(initial), initial
    items: list[list[Value]] = []
    for i in range(min(_MAX_UNROLLED, _MAX_VISITED // max(body.node_count(), 1))):
        if not body.may_repeat():
            return None
        index, true = scalar(body, 0, dt.INT64, i), scalar(body, 1, dt.BOOL, True)
        goes_on, *results = body(index, true, *values, repeated=True)
        values = results[:count]
        items.append(results[count:])
        go = condition(goes_on)
        stops = go is False
        if stops and unconditional:
            return None
        if stops or len(items) == limit:
            return values + [stacked(same(x), len(items), 0) for x in zip(*items, strict=True)]
        if go is not True:
            return None
    return None


def same(values: Values) -> Value:
    """The values that the iterations give to one output; their shapes are the same."""
    found = values[0]
    for other in values[1:]:
        if isinstance(found, SymTensor) and isinstance(other, SymTensor) and found.shape and other.shape:
            found = SymTensor(found.dtype, unify_shapes(found.shape, other.shape, "shapes of the iterations"))
    return found
