"""Sequences and optionals that go through bodies, sequences that are mapped, and functions that call functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.fuzz.arithmetic import is_bool, is_float, is_number, is_scalar
from tests.fuzz.control import body, graph
from tests.fuzz.growing import Scope, value_info


def _is_sequence(x: Any) -> bool:
    """Whether a value is a sequence of floats that has an element."""
    return isinstance(x, list) and bool(x) and all(map(is_float, x))


def _known_sequence(scope: Scope) -> str | None:
    """A sequence of floats: one that is there, or a new one of one to three values."""
    rng = scope.grower.rng
    if rng.random() < 0.6 and (known := scope.pick(_is_sequence)):
        return known
    parts = [name for _ in range(rng.randint(1, 3)) if (name := scope.pick(is_float))]
    made = parts and scope.attempt(scope.node("SequenceConstruct", *parts))
    return made[0] if made else None


def sequence_loop(scope: Scope) -> None:
    """A Loop that carries a sequence, to which each turn adds a value or of which it drops one."""
    rng = scope.grower.rng
    start = _known_sequence(scope) if scope.grower.opset >= 13 else None
    if start is None:
        return
    trips = scope.pick(lambda x: is_scalar(x) and 0 <= int(x) <= 5) if rng.random() < 0.4 else None
    trips = trips or scope.constant(rng.choice([0, 1, 2, 3]))
    names = [scope.grower.name() for _ in range(3)]
    parameters = list(zip(names, [np.array(0), np.array(True), scope.arrays[start]], strict=True))
    inner = body(scope, parameters)
    item = inner.pick(is_float, own=0.8)
    if item is None:
        return
    position = [inner.constant(rng.choice([0, -1]))] if rng.random() < 0.4 else []
    erased = inner.node("SequenceErase", names[2], *position)
    step = erased if rng.random() < 0.2 else inner.node("SequenceInsert", names[2], item, *position)
    carried = inner.attempt(step)
    stacked = inner.pick(is_number, own=0.8) if rng.random() < 0.3 else None
    if carried:
        outputs = [names[1], *carried, *([stacked] if stacked else [])]
        made = graph(inner, outputs, parameters)
        goes_on = scope.constant(True, np.bool_)
        scope.attempt(scope.node("Loop", trips, goes_on, start, outputs=len(outputs) - 1, body=made))


def mapped(scope: Scope) -> None:
    """A SequenceMap over a sequence and another one, or a tensor that all turns see."""
    rng = scope.grower.rng
    first = _known_sequence(scope) if scope.grower.opset >= 17 else None
    if first is None:
        return
    length = len(scope.arrays[first])
    second = scope.pick(lambda x: _is_sequence(x) and len(x) == length) if rng.random() < 0.6 else scope.pick(is_float)
    given = [first, *([second] if second else [])]
    values = [x[0] if isinstance(x := scope.arrays[name], list) else x for name in given]
    parameters = [(scope.grower.name(), value) for value in values]
    inner = body(scope, parameters)
    outputs = [name for _ in range(rng.randint(1, 2)) if (name := inner.pick(is_float, own=0.8))]
    if outputs:
        made = graph(inner, outputs, parameters)
        scope.attempt(scope.node("SequenceMap", *given, outputs=len(outputs), body=made))


def sequence_branch(scope: Scope) -> None:
    """An If whose branches give sequences, often of different lengths."""
    condition = scope.pick(lambda x: is_bool(x) and x.size == 1) if scope.grower.opset >= 13 else None
    if condition is None:
        return
    branches = []
    for _ in range(2):
        inner = body(scope)
        if (made := _known_sequence(inner)) is None:
            return
        branches.append(graph(inner, [made]))
    scope.attempt(scope.node("If", condition, then_branch=branches[0], else_branch=branches[1]))


def optional_branch(scope: Scope) -> None:
    """An optional out of an If, of which a branch may give none; then its element, or whether it has one."""
    rng = scope.grower.rng
    condition = scope.pick(lambda x: is_bool(x) and x.size == 1) if scope.grower.opset >= 16 else None
    if condition is None:
        return
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    branches = []
    for has_element in (True, rng.random() < 0.5):
        inner = body(scope)
        value = inner.pick(is_float, own=0.8)
        if value is None:
            return
        node = inner.node("Optional", *([value] if has_element else []), type=None if has_element else tensor)
        info = helper.make_value_info(node.output[0], helper.make_optional_type_proto(tensor))
        branches.append(helper.make_graph([*inner.nodes, node], scope.grower.name(), [], [info]))
    rng.shuffle(branches)
    choice = scope.node("If", condition, then_branch=branches[0], else_branch=branches[1])
    last = scope.node(rng.choice(["OptionalHasElement", "OptionalGetElement"]), choice.output[0])
    _attempt_hidden(scope, choice, last)


def optional_capture(scope: Scope) -> None:
    """An optional into an If: a branch reads its element."""
    condition = scope.pick(lambda x: is_bool(x) and x.size == 1) if scope.grower.opset >= 16 else None
    value, other = scope.pick(is_float), scope.pick(is_float)
    if condition and value and other:
        made = scope.node("Optional", value)
        names = [scope.grower.name() for _ in range(2)]
        nodes = [helper.make_node("OptionalGetElement", made.output, names[:1])]
        nodes.append(helper.make_node("Identity", [other], names[1:]))
        infos = [value_info(name, scope.arrays[value], sizes=False) for name in names]
        bodies = [helper.make_graph([n], scope.grower.name(), [], [i]) for n, i in zip(nodes, infos, strict=True)]
        _attempt_hidden(scope, made, scope.node("If", condition, then_branch=bodies[0], else_branch=bodies[1]))


def _attempt_hidden(scope: Scope, made: onnx.NodeProto, last: onnx.NodeProto) -> None:
    """Two nodes; the optional between them is no value that others may use."""
    if scope.attempt(made, last):
        del scope.arrays[made.output[0]]
        scope.own.remove(made.output[0])


def nested_call(scope: Scope) -> None:
    """A function that hands its attribute and an optional operand on to another one. Two calls, with it and without."""
    grower = scope.grower
    value = scope.pick(lambda x: is_float(x) and x.ndim >= 1) if scope is grower.scope and grower.opset >= 11 else None
    if value is None:
        return
    rng, k = grower.rng, len(grower.functions)
    rank = scope.arrays[value].ndim
    last = rng.choice(["Concat", "Flatten", "Softmax"])
    inner = [
        helper.make_node("Clip", ["x", "low", "high"], ["c"]),
        helper.make_node(last, ["c", "x"] if last == "Concat" else ["c"], ["y"]),
    ]
    outer = [
        helper.make_node(f"F{k}", rng.choice([["x", "low"], ["x", "", "low"]]), ["t"], domain="local"),
        helper.make_node("Shape", ["t"], ["s"]),
    ]
    _refer(inner[1], "axis", "axis")
    _refer(outer[0], "axis", "at")
    own = [helper.make_opsetid("", grower.opset), helper.make_opsetid("local", 1)]
    grower.functions += [
        helper.make_function("local", f"F{k}", ["x", "low", "high"], ["y"], inner, own, ["axis"]),
        helper.make_function("local", f"F{k + 1}", ["x", "low"], ["t", "s"], outer, own, ["at"]),
    ]
    low = scope.constant(0.5, np.float32)
    calls = 0
    for operands in rng.sample([[value, low], [value, ""], [value]], 2):
        made = scope.node(f"F{k + 1}", *operands, domain="local", outputs=2, at=rng.randrange(rank))
        calls += scope.attempt(made) is not None
    if not calls:
        del grower.functions[k:]


def _refer(node: onnx.NodeProto, name: str, outer: str) -> None:
    """Give a node an attribute, an integer, that refers to one of the function."""
    node.attribute.add(name=name, ref_attr_name=outer, type=onnx.AttributeProto.INT)


CARRIED = (sequence_loop, sequence_loop, mapped, sequence_branch, optional_branch, optional_capture, nested_call)
