"""Loop: the carried values after the last iteration, and the stacked outputs of all iterations.

`fixpoint.py` finds values that hold in any iteration, `trip_count.py` the number T of iterations (a fresh size if the
data or an unknown trip count decide it). A changing size has a closed form in T, or is `c` if the body always makes it
`c` and T >= 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.elements.conditions import Positive, positive
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import demand_one_element
from onnx_infer.laws.sizes import at_least, differ, is_fresh, unify
from onnx_infer.laws.statements import call_mode, contradict, element, fresh, state, warn
from onnx_infer.operators.registration import op
from onnx_infer.ops.control_flow import check_outputs, condition, never_runs, stacked, state_again
from onnx_infer.ops.fixpoint import fixpoint, in_time, variables
from onnx_infer.ops.trip_count import begins, how_often
from onnx_infer.types.branches import of_branches, size_of_branches
from onnx_infer.types.join import NOTHING, ceiling, either, join_with_itself, kind_of, parts_of
from onnx_infer.values.containers import OneOf, plain
from onnx_infer.values.tensor import SymTensor, substitute
from symdim import BoundsError, DivisionByZero, Expr, Var, maximum, minimum, product
from symdim.algebra.dims import substituted, variables_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from onnx_infer.elements.ratio import Element
    from onnx_infer.ops.fixpoint import Fixpoint
    from onnx_infer.ops.kinds import Dim, Elements, Graph, Value, Values
    from onnx_infer.ops.trip_count import Trips

ENDLESS = (1 << 31) - 1
"""A trip count from here on is no limit: exporters write the largest integer for a while loop."""

MOST_STACKED = 32
"""The most iterations whose elements are stacked one after the other."""

SAME_COUNT = "element counts of the iterations"
"""The law of onnxruntime for the outputs that are stacked. The specification demands equal shapes."""


@op("Loop")
def loop(
    M: Dim | Unknown | None, cond: Elements | None, v_initial: Values, body: Graph, output_count: int
) -> list[Value]:
    """n carried values -> n final values, and k outputs of all iterations stacked (Loop-1, 11, 13 to 25)."""
    count = len(v_initial)
    require(body.input_count == count + 2, "the number of inputs of body is not that of the node", body.input_count)
    check_outputs("body", body.output_count, output_count + 1)
    demand_one_element(M, "M")
    demand_one_element(cond, "cond")
    trip_count = None if isinstance(M, Unknown) or (isinstance(M, int) and M >= ENDLESS) else M
    limit = None if trip_count is None else maximum(trip_count, 0)
    most = None if limit is None else maximum(limit - 1, 0)
    turn = body.size("the number of the iteration", at_most=most)
    starts = True if cond is None else condition(cond)
    endless = limit is None and not isinstance(M, Unknown)
    reached = True if begins(limit, starts, endless=endless) is True else None
    fixed = fixpoint(body, turn, trip_count, cond is None, list(v_initial), reached)
    goes_on = fixed.condition()
    if goes_on is not True and cond is None:
        goes_on = None  # the spec ignores it then, onnxruntime does not
    trips = how_often(limit, starts, goes_on, turn, endless=endless)
    if trips.number == 0:
        body.forget()
        return none_at_all(v_initial, fixed.outputs[1 + count :])
    refusal = fixed.broken.refusal
    if refusal is not None and not trips.once:
        never_runs("body", body, refusal, begins(limit, starts, endless=endless))
        return none_at_all(v_initial, fixed.outputs[1 + count :])
    demand_again(fixed, trips, body, list(v_initial))
    if trips.once:
        fixed.broken.report(body)
    value = None
    if isinstance(M, Unknown) and starts is True and (goes_on is True or trips.limit is not None):
        counted = maximum(element("M"), 0)
        value = counted if trips.limit is None else minimum(counted, trips.limit)
    trips = trips.counted(value)
    assert trips.number is not None
    begun = True if trips.once else begins(limit, starts, endless=endless)
    begun = positive(trips.number) if begun is None else begun
    return finals(fixed, trips.number, list(v_initial), begun) + scans(fixed, trips, count)


def demand_again(fixed: Fixpoint, trips: Trips, body: Graph, initial: list[Value]) -> None:
    """State what the body demands of the values outside in its first and its last iteration, if it certainly runs."""
    demands = fixed.demands
    if trips.once and trips.number is not None:
        demands = demands + body.demands(fixed.at(trips.number - 1), initial)
    state_again(demands)


# -- results ----------------------------------------------------------------------------------------------------------


def final_size(var: Var, fixed: Fixpoint, turns: Dim) -> Dim | None:
    """The value of a changing size after so many iterations, if there is one and the size has a closed form.

    It may be what the last turn gives. A size that a second iteration does not change any more, as in `max(w, M)`, has
    its value after the first one.
    """
    if var in fixed.growth:
        return fixed.growth[var].at(turns)
    after = fixed.after.get(var)
    if after is None:
        return None
    size = fixed.in_turn(after, turns - 1)
    if not fixed.outside(size) and substituted(after, {var: after}) == after:
        size = substituted(after, {var: fixed.first[var]})
    return size if fixed.outside(size) else None


def finals(fixed: Fixpoint, turns: Dim, initial: list[Value], begun: Element) -> list[Value]:
    """The carried values after the last iteration. Their kind may change if the body changes it.

    `begun` is the condition on which there is an iteration. Without any, the results are the initial values.
    """
    unsure = either("whether the Loop makes a turn decides it")
    state = [x if fixed.is_ranked(x) else plain(x) for x in fixed.state]
    final: dict[Var, Dim] = {}
    for var in variables(state):
        if var in fixed.inside:
            size = final_size(var, fixed, turns)
            if size is not None and begun is not True and var not in fixed.growth:
                source = begun if isinstance(begun, Positive) and not is_fresh(begun.size) else None
                size = None if var.lo is None else size_of_branches(size, fixed.first[var], source, unsure)
            if size is None and var.lo is not None:
                size = fresh("the Loop changes it", at_least=var.lo)
            if size is not None:
                final[var] = size
    out = [substitute(without_elements(value, fixed.inside - final.keys()), final) for value in state]
    last = fixed.outputs[1 : 1 + len(out)]
    lost = [not is_same_kind(a, b) or not fixed.is_ranked(a) for a, b in zip(out, last, strict=True)]
    ranked = iter(in_last_iteration(fixed, [x for x, is_lost in zip(last, lost, strict=True) if is_lost]))
    after = [next(ranked) if is_lost else value for value, is_lost in zip(out, lost, strict=True)]
    if begun is True:
        return after

    def possible(value: Value, covering: Value, first: Value) -> Value:
        """The value after an iteration, or the initial one. One that covers both is known if its kind stays."""
        if value is covering or value is NOTHING:
            return covering
        return of_branches(value, first, begun, unsure) if is_same_kind(value, covering) else kind_of(value)

    return list(map(possible, after, out, initial))


def is_same_kind(a: Value, b: Value) -> bool:
    """Whether both are tensors, or both sequences, and so on."""
    return type(kind_of(a)) is type(kind_of(b))


def in_last_iteration(fixed: Fixpoint, values: list[Value]) -> list[Value]:
    """The body's results in the last iteration, with new sizes for those of its inside.

    An expression of several of them becomes one new size.
    """
    last: dict[Dim, Dim] = {}

    def outer(size: Dim) -> Dim:
        size = in_time(size, fixed.turn, fixed.limit)
        inner = [v for v in size.variables() if v in fixed.inside] if isinstance(size, Expr) else []
        if isinstance(size, int) or not inner:
            return size
        part = inner[0] if len(inner) == 1 and inner[0].lo is not None else size
        if part not in last:
            limit = ceiling(part)
            limit = limit if limit is not None and fixed.outside(limit) else None
            low = inner[0].lo or 0 if part is inner[0] else 0
            last[part] = fresh("the body of the Loop decides it", at_most=limit, at_least=low)
        return last[part] if part is size else size.substitute({inner[0]: last[part]})

    return [
        join_with_itself(value.without_data(), lambda size, _: outer(size))
        if isinstance(value, SymTensor)
        else kind_of(value)
        for value in values
    ]


def scans(fixed: Fixpoint, trips: Trips, count: int) -> list[Value]:
    """The stacked outputs of all iterations. Their number is the trip count only if nothing stops the loop before.

    Their shapes are the same in all iterations, so those of the first one if there is one. Without any, onnxruntime
    gives 0 for each size that is not a number, so it is assumed that there is one.
    """
    assert trips.number is not None
    items = fixed.outputs[1 + count :]
    if trips.once:
        demand_same_count(fixed, items, trips.number - 1)
    demand_one_turn(fixed, items, trips.number)
    first = [in_first_iteration(fixed, x) if trips.once or not call_mode().is_cautious else x for x in items]
    shaped = in_last_iteration(fixed, first)
    if not trips.once and variables([x.without_data() if type(x) is SymTensor else x for x in items]):
        state("at_least", trips.number, 1, "the number of iterations that give sizes to a stacked output", "assumed")
    return [
        stacked(y, trips.number, 0, elements_of_all(fixed, x, trips.number)) for x, y in zip(items, shaped, strict=True)
    ]


def demand_one_turn(fixed: Fixpoint, items: list[Value], number: Dim) -> None:
    """State that there is one iteration at most if the items of the first two differ in their number of elements."""
    if at_least(1 - number, 0):
        return
    second = {fixed.turn: 1, **{var: fixed.in_turn(size, 0) for var, size in fixed.after.items()}}
    for item in items:
        if type(item) is not SymTensor or item.shape is None:
            continue
        count = product(item.shape)
        first, later = fixed.in_turn(count, 0), fixed.with_sizes(count, second)
        if fixed.outside(first) and fixed.outside(later) and differ(first, later):
            law = f"{SAME_COUNT} differ: {first} != {later}"
            if at_least(number, 2):
                contradict(law)
            else:
                warn(f"body runs once at most: {law}")
                state("at_most", number, 1, f"body does not run again: {law}")
            return


def demand_same_count(fixed: Fixpoint, items: list[Value], last: Dim) -> None:
    """State that the items of the first and the last iteration have the same number of elements, where it is known."""
    for item in items:
        if isinstance(item, SymTensor) and item.shape is not None:
            first, later = (fixed.in_turn(product(item.shape), turn) for turn in (0, last))
            if fixed.outside(first) and fixed.outside(later):
                unify(first, later, SAME_COUNT)


def in_first_iteration(fixed: Fixpoint, item: Value) -> Value:
    """The item of the first iteration, without elements. A size that is the same in each iteration stays as it is."""

    def first(size: Dim, _: Dim) -> Dim:
        return size if fixed.outside(in_time(size, fixed.turn, fixed.limit)) else fixed.in_turn(size, 0)

    if isinstance(item, OneOf) and item.source is fixed.turn:
        item = item.choices[0]
    return join_with_itself(item.without_data(), first) if isinstance(item, SymTensor) else item


def elements_of_all(fixed: Fixpoint, item: Value, number: Dim) -> list[Any] | None:
    """The elements of a stacked output, from those of the item in any iteration; None if there are many iterations."""
    if not isinstance(item, SymTensor) or item.data is None or not isinstance(number, int) or number > MOST_STACKED:
        return None
    elements: list[Any] = []
    for turn in range(number):
        try:
            value = without_elements(substitute(item, fixed.at(turn)), fixed.inside)
        except (BoundsError, DivisionByZero):  # no run comes so far
            return None
        elements += value.data or ()
    return elements


def none_at_all(initial: Values, items: list[Value]) -> list[Value]:
    """The results of no iteration: the initial values, and empty stacks, whose other sizes are known only if fixed."""
    empty = [stacked(x, 0, 0) for x in items]
    unsure = {v: fresh("no iteration gives it a size") for v in variables(empty)}
    return [*initial, *(substitute(x, unsure) for x in empty)]


def without_elements(value: Value, unknown: AbstractSet[Var]) -> Value:
    """The value without elements that depend on unknown numbers.

    >>> from onnx_infer import Sequence
    >>> from symdim import Var
    >>> N, turn = Var("N"), Var("turn")
    >>> without_elements(SymTensor(7, (2,), (N, N * turn)), {turn}), without_elements(Sequence(), {turn})
    (i64[2]={N, ?}, seq(?))
    """

    def known(x: object) -> bool:
        return unknown.isdisjoint(variables_of(parts_of(x)))

    if not isinstance(value, SymTensor) or value.data is None or all(map(known, value.data)):
        return value
    return SymTensor(value.dtype, value.shape, [x if known(x) else None for x in value.data])
