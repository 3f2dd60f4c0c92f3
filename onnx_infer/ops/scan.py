"""Scan: state variables that keep their shapes, and stacked outputs."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from onnx_infer.elements.conditions import positive
from onnx_infer.errors import broken, require
from onnx_infer.laws.sizes import at_least, differ, is_fresh, normalize_axis, unify, unify_shapes
from onnx_infer.laws.statements import call_mode, fresh, state, warn
from onnx_infer.operators.registration import op
from onnx_infer.ops.control_flow import check_outputs, check_types, element_type, never_runs, stacked
from onnx_infer.types.branches import of_branches
from onnx_infer.types.join import NOTHING, either
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from onnx_infer.laws.statements import Kind
    from onnx_infer.ops.kinds import Dim, Graph, Ints, Values

_MAX_ROUNDS = 8
"""The most walks over the body of a Scan until its states keep their shapes."""


def constant_state(
    body: Graph, initial: list[Value], items: list[Value], turns: Dim, refused: int
) -> tuple[list[Value], list[Value]]:
    """The state variables and outputs of the body of a Scan. Their shapes are the same in each iteration.

    Iteration number `refused` refuses another shape. In Scan-8 onnxruntime allocates the state before the first one; in
    later versions it takes what the first one gives. A cautious walk knows no shape that the body may change: the
    demand of the Scan rests on the nodes of the body, which may be left out.
    """
    runs = positive(turns)
    once = refused > 1 and not at_least(turns, refused)
    kind: Kind = "required" if at_least(turns, refused) else "assumed"
    states = [s.without_data() if isinstance(s, SymTensor) else s for s in initial]
    for left in reversed(range(_MAX_ROUNDS)):
        outputs = body(*states, *items, reached=runs if isinstance(runs, bool) else None)
        if body.refusal is not None and runs is not True:
            never_runs("body", body, body.refusal, runs)
            body.release(outputs)
            return initial, outputs[len(states) :]
        changed = once and next(filter(None, map(changes_shape, count(), states, outputs)), None)
        if changed:
            first = left == _MAX_ROUNDS - 1
            if not first or body.may_repeat():  # the first round knows no elements; they matter in a single iteration
                outputs = body(*initial, *items, reached=runs if isinstance(runs, bool) else None)
            return after_one_turn(body, initial, outputs, turns, changed)
        pairs = enumerate(zip(states, outputs, strict=False))
        after = [same_state(i, a, b, kind, body.is_nested) for i, (a, b) in pairs]
        if after == states or not left or not body.may_repeat():
            break
        states = after
    body.release([*after, *outputs])
    return after, outputs[len(states) :]


def changes_shape(index: int, before: Value, after: Value) -> str | None:
    """The law that a state variable breaks in a second iteration, because the first one changes its shape; or None."""
    if not isinstance(before, SymTensor) or not isinstance(after, SymTensor):
        return None
    if before.shape is None or after.shape is None:
        return None
    if len(before.shape) != len(after.shape):
        return broken(f"ranks of shapes of state {index} differ", len(before.shape), len(after.shape))
    for axis, (a, b) in enumerate(zip(before.shape, after.shape, strict=True)):
        if differ(a, b):
            return f"shapes of state {index} at axis {axis} differ: {a} != {b}"
    return None


def after_one_turn(
    body: Graph, initial: list[Value], outputs: list[Value], turns: Dim, changed: str
) -> tuple[list[Value], list[Value]]:
    """The state variables and outputs of a Scan whose second iteration breaks a law: it has one iteration at most."""
    if not at_least(1 - turns, 0):
        warn(f"body runs once at most: {changed}")
        state("at_most", turns, 1, f"body does not run again: {changed}")
    runs = positive(turns)
    body.release(outputs)
    after = [x.without_data() if isinstance(x, SymTensor) else x for x in outputs[: len(initial)]]
    unsure = either("whether the Scan has an iteration decides it")
    if runs is not True:
        pairs = zip(after, initial, strict=True)
        after = initial if runs is False else [of_branches(a, b, runs, unsure) for a, b in pairs]
    return after, outputs[len(initial) :]


def same_state(index: int, before: Value, after: Value, kind: Kind, is_nested: bool) -> Value:
    """A state variable, from its initial value and from the value that the body gives it.

    A Scan with a single iteration may change a shape; that it does not is assumed. In a body, a size that only the
    data decide stays open, because no guard would tell the assumption. A cautious walk knows a shape that the body
    may change only if the body gives the same one.
    """
    if not isinstance(before, SymTensor) or not isinstance(after, SymTensor):
        return before if after is NOTHING else after
    check_types(f"state {index}", before, after)
    dtype = after.dtype if before.dtype is None else before.dtype
    if call_mode().is_cautious:
        return SymTensor(dtype, before.shape if before.shape == after.shape else None)
    if before.shape is None or after.shape is None:
        return SymTensor(dtype, after.shape if before.shape is None else before.shape)
    shapes = before.shape, after.shape
    if kind == "assumed" and is_nested and len(before.shape) == len(after.shape):
        why = f"the body of a Scan that may run once decides a size of state {index}"
        pairs = zip(*shapes, strict=True)
        opened = [(fresh(why),) * 2 if a is not b and is_fresh(b) else (a, b) for a, b in pairs]
        shapes = tuple([a for a, _ in opened]), tuple([b for _, b in opened])
    return SymTensor(dtype, unify_shapes(*shapes, f"shapes of state {index}", kind))


def item_of(value: Value, *axes: Dim) -> Value:
    """One element of a scanned tensor: the tensor without the scanned axes."""
    if not isinstance(value, SymTensor) or value.shape is None:
        return SymTensor(element_type(value))
    dropped = {normalize_axis(axis, value.rank) for axis in axes}
    return SymTensor(value.dtype, [d for i, d in enumerate(value.dims) if i not in dropped])


def common_size(tensors: Values, axes: Ints, what: str) -> Dim:
    """The common size of tensors, each along its axis."""
    common: Dim | None = None
    for tensor, axis in zip(tensors, axes, strict=True):
        if isinstance(tensor, SymTensor) and tensor.shape is not None:
            size = tensor.dims[normalize_axis(axis, tensor.rank)]
            common = size if common is None else unify(common, size, what)
    return fresh(f"{what} are not known") if common is None else common


def check_ints(name: str, values: Ints | None, count: int, default: int) -> Ints:
    """An attribute with one integer for each of `count` values."""
    if values is None:
        return (default,) * count
    require(len(values) == count, f"the number of {name} is not that of the values", len(values), count)
    return values


def states_and_scanned(
    inputs: Values, body: Graph, num_scan_inputs: int, output_count: int
) -> tuple[list[Value], Values]:
    """The state variables of a Scan, and the tensors that it scans."""
    count = len(inputs) - num_scan_inputs
    require(num_scan_inputs > 0 and count >= 0, "num_scan_inputs is out of range", num_scan_inputs)
    require(body.input_count == count + num_scan_inputs, "the inputs of body and node differ in number")
    check_outputs("body", body.output_count, output_count)
    return list(inputs[:count]), inputs[count:]


@op("Scan", since=9)
def scan(
    initial_state_and_scan_inputs: Values,
    body: Graph,
    num_scan_inputs: int,
    scan_input_axes: Ints | None,
    scan_output_axes: Ints | None,
    scan_input_directions: Ints | None,
    scan_output_directions: Ints | None,
    output_count: int,
) -> list[Value]:
    """n states, m tensors of a common length T along an axis -> n states, k outputs with T (Scan-9 to 25)."""
    states, scanned = states_and_scanned(initial_state_and_scan_inputs, body, num_scan_inputs, output_count)
    count = len(states)
    axes = check_ints("scan_input_axes", scan_input_axes, num_scan_inputs, 0)
    out_axes = check_ints("scan_output_axes", scan_output_axes, output_count - count, 0)
    check_ints("scan_input_directions", scan_input_directions, num_scan_inputs, 0)
    check_ints("scan_output_directions", scan_output_directions, output_count - count, 0)
    length = common_size(scanned, axes, "the lengths of the scanned inputs")
    items = [item_of(x, axis) for x, axis in zip(scanned, axes, strict=True)]
    states, outputs = constant_state(body, states, items, length, 2)
    return states + [stacked(x, length, axis) for x, axis in zip(outputs, out_axes, strict=True)]


@op("Scan", since=8)
def scan_batched(
    initial_state_and_scan_inputs: Values, body: Graph, num_scan_inputs: int, output_count: int
) -> list[Value]:
    """n states (B, ...), m tensors (B, T, ...) -> n states (B, ...), k outputs (B, T, ...) (Scan-8)."""
    states, scanned = states_and_scanned(initial_state_and_scan_inputs, body, num_scan_inputs, output_count)
    batch = common_size(initial_state_and_scan_inputs, (0,) * len(initial_state_and_scan_inputs), "the batch sizes")
    length = common_size(scanned, (1,) * num_scan_inputs, "the lengths of the scanned inputs")
    items = [item_of(x, 0, 1) for x in scanned]
    inner, outputs = constant_state(body, [item_of(x, 0) for x in states], items, batch * length, 1)
    return [stacked(x, batch, 0) for x in inner] + [stacked(stacked(x, length, 0), batch, 0) for x in outputs]
