"""If, Loop, Scan and function calls around random bodies; sequences and optionals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from tests.fuzz import arithmetic, uses
from tests.fuzz.arithmetic import is_bool, is_float, is_int, is_number, is_scalar, is_tensor
from tests.fuzz.growing import Scope, captured, value_info

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEEPEST = 2
"""The deepest nesting of bodies."""


def body(scope: Scope, parameters: Sequence[tuple[str, Any]] = ()) -> Scope:
    """The scope of a body, with some nodes. It may capture every value that is visible at its place."""
    inner = Scope(scope.grower, scope.arrays)
    inner.depth = scope.depth + 1
    for name, array in parameters:
        inner.add(name, array)
    rng = scope.grower.rng
    steps: list[Callable[[Scope], None]] = [*arithmetic.SIZES, *uses.USES]
    if inner.depth < DEEPEST:
        steps += [branch, counter_loop, sequence]
    for _ in range(rng.randint(1, 4)):
        rng.choice(steps)(inner)
    return inner


def graph(inner: Scope, outputs: Sequence[str], parameters: Sequence[tuple[str, Any]] = ()) -> onnx.GraphProto:
    """The body as a graph. Its parameters and outputs have an element type, and no sizes if they are no scalars."""
    made, nodes = [], list(inner.nodes)
    for name in outputs:  # an output is made in the body, once
        own = inner.node("Identity", name)
        nodes.append(own)
        made.append(value_info(own.output[0], inner.arrays[name], sizes=False))
    given = [value_info(name, array, sizes=is_tensor(array) and array.ndim == 0) for name, array in parameters]
    return helper.make_graph(nodes, inner.grower.name(), given, made)


def _pick(inner: Scope, is_fit: Callable[[Any], bool]) -> str | None:
    return inner.pick(is_fit, own=0.8)


def _like(array: Any) -> Callable[[Any], bool]:
    """Whether a value has the element type of another one; now and then its rank, too."""
    return lambda x: is_tensor(x) and x.dtype == array.dtype


def branch(scope: Scope) -> None:
    """An If whose branches give values of one type, often of different sizes and ranks."""
    condition = scope.pick(lambda x: is_bool(x) and x.size == 1)
    if condition is None:
        arithmetic.element(scope)
        arithmetic.comparison(scope)
        return
    first, second = body(scope), body(scope)
    left = _pick(first, is_number)
    right = left and _pick(second, _like(first.arrays[left]))
    if left and right:
        node = scope.node("If", condition, then_branch=graph(first, [left]), else_branch=graph(second, [right]))
        scope.attempt(node)


def counter_loop(scope: Scope) -> None:
    """A Loop with carried values, perhaps with a stacked output and a computed condition."""
    rng = scope.grower.rng
    trips = scope.pick(lambda x: is_scalar(x) and 0 <= int(x) <= 5) if rng.random() < 0.5 else None
    trips = trips or scope.constant(rng.choice([0, 1, 2, 3]))
    goes_on = scope.constant(True, np.bool_)
    starts = [name for _ in range(rng.randint(1, 2)) if (name := scope.pick(rng.choice([is_float, is_int])))]
    if not starts:
        return
    names = [scope.grower.name() for _ in range(2 + len(starts))]
    values = [np.array(0), np.array(True), *(scope.arrays[name] for name in starts)]
    parameters = list(zip(names, values, strict=True))
    inner = body(scope, parameters)
    if rng.random() < 0.4:
        arithmetic.comparison(inner)
    condition = inner.pick(lambda x: is_bool(x) and x.ndim == 0, own=0.7) if rng.random() < 0.4 else names[1]
    next_ones = [_pick(inner, _like(array)) for array in values[2:]]
    stacked = _pick(inner, is_number) if rng.random() < 0.5 else None
    if condition and all(next_ones):
        outputs = [condition, *map(str, next_ones), *([stacked] if stacked else [])]
        node = scope.node(
            "Loop", trips, goes_on, *starts, outputs=len(outputs) - 1, body=graph(inner, outputs, parameters)
        )
        scope.attempt(node)


def scan(scope: Scope) -> None:
    """A Scan over an axis of a value, in one of the directions; the results are stacked along any axis."""
    rng = scope.grower.rng
    sliced = scope.pick(lambda x: is_number(x) and x.ndim >= 1 and 0 not in x.shape)
    state = scope.pick(is_float)
    if sliced is None or state is None:
        return
    array = scope.arrays[sliced]
    axis = rng.choice([0, rng.randrange(-array.ndim, array.ndim)])
    names = [scope.grower.name() for _ in range(2)]
    values = [scope.arrays[state], array.take(0, axis)]
    parameters = list(zip(names, values, strict=True))
    inner = body(scope, parameters)
    last, out = rng.choice([names[0], _pick(inner, _like(values[0]))]), _pick(inner, is_number)
    if last and out:
        rank = inner.arrays[out].ndim + 1
        given = {
            "scan_input_axes": [axis],
            "scan_input_directions": [rng.choice([0, 0, 1])],
            "scan_output_axes": [rng.randrange(-rank, rank)],
            "scan_output_directions": [rng.choice([0, 0, 1])],
        }
        kept = {name: x for name, x in given.items() if x != [0] or rng.random() < 0.3}
        made = graph(inner, [last, out], parameters)
        scope.attempt(scope.node("Scan", state, sliced, outputs=2, num_scan_inputs=1, body=made, **kept))


def sequence(scope: Scope) -> None:
    """One step with a sequence: make one, change one, or take from one."""
    rng = scope.grower.rng
    if scope.grower.opset < 11:
        return
    known = scope.pick(lambda x: isinstance(x, list))
    kind = rng.choice(["make", "split", "insert", "erase", "at", "length", "join"]) if known else rng.choice("ms")
    value = scope.pick(lambda x: is_float(x) and x.ndim >= 1)
    if value is None:
        return
    axis = rng.randrange(scope.arrays[value].ndim)
    if kind[0] == "m":
        others = [value, *(v for _ in range(rng.randint(0, 2)) if (v := scope.pick(is_float)))]
        scope.attempt(scope.node("SequenceConstruct", *others))
    elif kind[0] == "s":
        lengths = [scope.constant(rng.choice([1, 2, 3]))] if rng.random() < 0.6 else []
        keepdims = None if lengths else rng.choice([0, 1])  # onnxruntime uses it with lengths, too
        scope.attempt(scope.node("SplitToSequence", value, *lengths, axis=axis, keepdims=keepdims))
    elif known:
        position = scope.constant(rng.choice([0, 0, 1, -1]))
        nodes = {
            "insert": scope.node("SequenceInsert", known, value, *([position] if rng.random() < 0.5 else [])),
            "erase": scope.node("SequenceErase", known, *([position] if rng.random() < 0.5 else [])),
            "at": scope.node("SequenceAt", known, position),
            "length": scope.node("SequenceLength", known),
            "join": scope.node("ConcatFromSequence", known, axis=rng.choice([0, 0, 1]), new_axis=rng.choice([0, 0, 1])),
        }
        scope.attempt(nodes[kind])


def optional(scope: Scope) -> None:
    """A value as an optional, and the element of it."""
    if (value := scope.pick(is_float)) and scope.grower.opset >= 15:
        made = scope.node("Optional", value)
        kind = scope.grower.rng.choice(["OptionalHasElement", "OptionalGetElement"])
        last = scope.node(kind, made.output[0])
        if scope.attempt(made, last):
            del scope.arrays[made.output[0]]


def function_call(scope: Scope) -> None:
    """A call of a new function: some nodes of a body, one of their attributes by reference. Then a second call."""
    grower = scope.grower
    if scope is not grower.scope:
        return
    inner = body(scope)
    outs = [name for name in inner.own if is_number(inner.arrays[name])]
    if not outs:
        return
    out = outs[-1]
    inputs = captured(inner.nodes)
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in inner.nodes]
    given: dict[str, Any] = {}
    for node in nodes:
        for attribute in node.attribute:
            if attribute.name in ("axis", "to", "keepdims") and not given:
                given[attribute.name] = attribute.i
                attribute.ref_attr_name = attribute.name
                attribute.ClearField("i")
    name = f"F{len(grower.functions)}"
    opsets = [helper.make_opsetid("", grower.opset), helper.make_opsetid("com.microsoft", 1)]
    function = helper.make_function("local", name, inputs, [out], nodes, opsets, list(given))
    grower.functions.append(function)
    if not scope.attempt(scope.node(name, *inputs, domain="local", **given)):
        grower.functions.pop()
        return
    others = [_alternative(scope, value) for value in inputs]
    scope.attempt(scope.node(name, *others, domain="local", **given))


def _alternative(scope: Scope, value: str) -> str:
    """Another value of the element type and rank, or the same."""
    array = scope.arrays.get(value)  # none of an initializer that the body made
    if not is_tensor(array):
        return value
    return scope.pick(lambda x: is_tensor(x) and (x.dtype, x.ndim) == (array.dtype, array.ndim)) or value


STEPS = (branch, branch, counter_loop, counter_loop, scan, sequence, sequence, optional, function_call)
