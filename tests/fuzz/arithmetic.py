"""Nodes that compute with sizes: shapes, their elements, and what exporters calculate of them.

Each function tries one step in a scope. A step that finds no fit value, or that does not run, changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.fuzz.growing import Scope

INTEGERS = (-7, -3, -2, -1, 0, 1, 1, 2, 2, 3, 4, 5, 8, 16, 100)
LARGE = (2**31 - 1, 2**31, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))
DIVISORS = (-4, -3, -2, -1, 1, 2, 2, 3, 4, 7, 16)
SMALL = 64
"""A value of more elements is no shape."""


def is_tensor(x: Any) -> bool:
    return isinstance(x, np.ndarray)


def is_number(x: Any) -> bool:
    """Whether a tensor is of a type that most operators take."""
    return is_tensor(x) and x.dtype in (np.float32, np.int64)


def is_int(x: Any) -> bool:
    return is_tensor(x) and x.dtype == np.int64 and x.ndim <= 1 and x.size <= SMALL


def is_vector(x: Any) -> bool:
    return is_int(x) and x.ndim == 1


def is_scalar(x: Any) -> bool:
    return is_int(x) and x.ndim == 0


def is_shape(x: Any) -> bool:
    """Whether a vector may be the shape of something small."""
    return is_vector(x) and x.size <= 5 and bool((x >= 0).all()) and bool((x <= 64).all())


def is_float(x: Any) -> bool:
    return is_tensor(x) and x.dtype == np.float32


def is_bool(x: Any) -> bool:
    return is_tensor(x) and x.dtype == np.bool_


def shape(scope: Scope) -> None:
    """The shape of a value, or a part of it, or its number of elements."""
    rng = scope.grower.rng
    if value := scope.pick(is_tensor):
        if rng.random() < 0.15:
            scope.attempt(scope.node("Size", value))
        elif scope.grower.opset >= 15 and rng.random() < 0.2:
            scope.attempt(scope.node("Shape", value, start=rng.choice([None, 0, 1, -1]), end=rng.choice([None, 1, -1])))
        else:
            scope.attempt(scope.node("Shape", value))


def element(scope: Scope) -> None:
    """One element of a vector, as a scalar or as a vector."""
    rng = scope.grower.rng
    vector = scope.pick(lambda x: is_vector(x) and x.size > 0)
    if vector:
        size = scope.arrays[vector].size
        index: Any = rng.randrange(-size, size)
        scope.attempt(scope.node("Gather", vector, scope.constant(rng.choice([index, [index]])), axis=0))


def part(scope: Scope) -> None:
    """A slice of a vector."""
    if (vector := scope.pick(is_vector)) and scope.grower.opset >= 10:
        rng = scope.grower.rng
        first, last = rng.randint(-3, 2), rng.choice([-1, 1, 2, 3, 2**31, 2**63 - 1])
        ends = [scope.constant([x]) for x in (first, last, 0, rng.choice([1, 1, 2, -1]))]
        scope.attempt(scope.node("Slice", vector, *ends[: rng.choice([2, 3, 4])]))


def calculation(scope: Scope) -> None:
    """An operation of two scalars or vectors."""
    rng = scope.grower.rng
    left = scope.pick(is_int)
    if not left:
        return
    op_type = rng.choice(["Add", "Sub", "Mul", "Div", "Div", "Mod", "Min", "Max", "Pow"])
    number = rng.choice(DIVISORS if op_type in ("Div", "Mod") else INTEGERS if rng.random() < 0.95 else LARGE)
    right = scope.pick(is_int) if rng.random() < 0.4 else scope.constant(rng.choice([number, [number]]))
    if not right or (op_type == "Pow" and not 0 <= scope.arrays[right].min(initial=0) <= 3):
        return
    pair = (left, right) if rng.random() < 0.8 or op_type in ("Div", "Mod", "Pow") else (right, left)
    scope.attempt(scope.node(op_type, *pair))


def conversion(scope: Scope) -> None:
    """A number through another type: a chain of casts with a function between."""
    rng = scope.grower.rng
    if value := scope.pick(is_int):
        dtype = rng.choice([1, 1, 6, 10, 11, 9])
        there = scope.node("Cast", value, to=dtype)
        nodes = [there]
        if dtype in (1, 11) and rng.random() < 0.8:
            half = scope.constant(rng.choice([0.5, 0.25, 2.0, 1.5]), np.float32 if dtype == 1 else np.float64)
            nodes.append(scope.node(rng.choice(["Mul", "Div", "Sub"]), there.output[0], half))
            nodes.append(scope.node(rng.choice(["Floor", "Ceil", "Round", "Neg"]), nodes[-1].output[0]))
        elif dtype in (6, 10) and rng.random() < 0.5:
            numbers = scope.constant(rng.choice(DIVISORS), np.int32 if dtype == 6 else np.float16)
            nodes.append(scope.node(rng.choice(["Mul", "Div", "Add"]), there.output[0], numbers))
        scope.attempt(*nodes, scope.node("Cast", nodes[-1].output[0], to=7))


def unary(scope: Scope) -> None:
    if value := scope.pick(is_int):
        scope.attempt(scope.node(scope.grower.rng.choice(["Neg", "Abs", "Identity", "Sign"]), value))


def vector(scope: Scope) -> None:
    """A scalar as a vector, or a vector of one element as a scalar."""
    value = scope.pick(lambda x: is_int(x) and x.size == 1)
    if value:
        op_type = "Unsqueeze" if scope.arrays[value].ndim == 0 else "Squeeze"
        if scope.grower.opset >= 13:
            scope.attempt(scope.node(op_type, value, scope.constant([0])))
        else:
            scope.attempt(scope.node(op_type, value, axes=[0]))


def joined(scope: Scope) -> None:
    """Vectors one after the other."""
    rng = scope.grower.rng
    parts = [scope.pick(is_vector) if rng.random() < 0.7 else scope.constant([rng.choice([-1, 0, 1, 2, 3])]) for _ in
             range(rng.randint(2, 3))]  # fmt: skip
    if all(parts):
        scope.attempt(scope.node("Concat", *[p for p in parts if p], axis=0))


def reduced(scope: Scope) -> None:
    """The sum, product, least or greatest of a vector."""
    rng = scope.grower.rng
    op_type = rng.choice(["ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"])
    if value := scope.pick(is_vector):
        scope.attempt(scope.node(op_type, value, keepdims=rng.choice([0, 1])))


def comparison(scope: Scope) -> None:
    rng = scope.grower.rng
    left = scope.pick(is_int)
    right = scope.pick(is_int) if rng.random() < 0.4 else scope.constant(rng.choice(INTEGERS))
    if left and right:
        scope.attempt(scope.node(rng.choice(["Equal", "Less", "Greater"]), left, right))


def logic(scope: Scope) -> None:
    rng = scope.grower.rng
    left, right = scope.pick(is_bool), scope.pick(is_bool)
    if left and right:
        op_type = rng.choice(["And", "Or", "Xor", "Not"])
        scope.attempt(scope.node(op_type, *([left] if op_type == "Not" else [left, right])))


def choice(scope: Scope) -> None:
    rng = scope.grower.rng
    condition, left = scope.pick(lambda x: is_bool(x) and x.size <= SMALL), scope.pick(is_int)
    right = scope.pick(is_int) if rng.random() < 0.5 else scope.constant(rng.choice(INTEGERS))
    if condition and left and right:
        scope.attempt(scope.node("Where", condition, left, right))


SIZES = (shape, shape, shape, element, element, part, calculation, calculation, calculation, calculation, conversion,
         unary, vector, vector, joined, joined, reduced, comparison, logic, choice)  # fmt: skip
