"""Nodes that compute with sizes, and nodes whose sizes depend on what was computed.

Each function tries one step in a scope. A step that finds no fit value, or that does not run, changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

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


def _ranked(rank: int) -> Callable[[Any], bool]:
    return lambda x: is_number(x) and x.ndim >= rank


def _axis(scope: Scope, value: str) -> int | None:
    rank = scope.arrays[value].ndim
    return scope.grower.rng.randrange(-rank, rank) if rank else None


# -- from values to sizes ---------------------------------------------------------------------------------------------


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


# -- from sizes to values ---------------------------------------------------------------------------------------------


def counted(scope: Scope) -> None:
    """A Range between computed ends."""
    rng = scope.grower.rng
    ends = [scope.pick(is_scalar) if rng.random() < 0.5 else scope.constant(x) for x in
            (rng.choice([0, 0, 1, -3, 5]), rng.choice(INTEGERS), rng.choice([1, 1, 1, 2, -1, 3]))]  # fmt: skip
    if all(ends) and scope.grower.opset >= 11 and scope.arrays[str(ends[2])] != 0:
        scope.attempt(scope.node("Range", *map(str, ends)))


def filled(scope: Scope) -> None:
    if (value := scope.pick(is_shape)) and scope.grower.opset >= 9:
        scope.attempt(scope.node("ConstantOfShape", value))


def expanded(scope: Scope) -> None:
    value, target = scope.pick(is_number), scope.pick(is_shape)
    if value and target:
        scope.attempt(scope.node("Expand", value, target))


def reshaped(scope: Scope) -> None:
    """A value of another shape: a computed one, or one with 0 and -1."""
    rng = scope.grower.rng
    value = scope.pick(is_number)
    if not value:
        return
    if rng.random() < 0.4:
        target: str | None = scope.pick(lambda x: is_vector(x) and x.size <= 5)
    else:
        sizes = list(scope.arrays[value].shape)
        target = scope.constant(rng.choice([[-1], [0, -1], [-1, 0], [1, -1], [0, 0, -1], [-1, 2], [2, -1, 1], sizes]))
    if target:
        allow = rng.choice([None, None, None, 0, 1]) if scope.grower.opset >= 14 else None
        scope.attempt(scope.node("Reshape", value, target, allowzero=allow))


def sliced(scope: Scope) -> None:
    """A slice of a value between computed ends."""
    rng = scope.grower.rng
    value = scope.pick(_ranked(1))
    if value and scope.grower.opset >= 10:
        ends = [
            scope.pick(lambda x: is_vector(x) and x.size == 1) if rng.random() < 0.4 else scope.constant([number])
            for number in (rng.choice([0, 1, -2, 3]), rng.choice([1, 2, -1, 4, 2**31 - 1, 2**63 - 1, -(2**63)]))
        ]
        if all(ends):
            axis, step = scope.constant([_axis(scope, value)]), scope.constant([rng.choice([1, 1, 1, 2, -1, -2])])
            scope.attempt(scope.node("Slice", value, *map(str, ends), axis, step))


def tiled(scope: Scope) -> None:
    if value := scope.pick(is_number):
        rank = scope.arrays[value].ndim
        repeats = scope.pick(lambda x: is_vector(x) and x.size == rank and bool((x >= 0).all()) and bool((x < 6).all()))
        scope.attempt(scope.node("Tile", value, repeats or scope.constant([scope.grower.rng.choice([1, 1, 2, 0])] * rank)))


def padded(scope: Scope) -> None:
    rng = scope.grower.rng
    value = scope.pick(lambda x: is_float(x) and x.ndim >= 1)
    if value and scope.grower.opset >= 11:
        rank = scope.arrays[value].ndim
        pads = scope.pick(lambda x: is_vector(x) and x.size == 2 * rank) if rng.random() < 0.3 else None
        pads = pads or scope.constant([rng.choice([0, 0, 1, 2, -1]) for _ in range(2 * rank)])
        scope.attempt(scope.node("Pad", value, pads, mode=rng.choice(["constant", "constant", "reflect", "edge"])))


def divided(scope: Scope) -> None:
    """A Split into equal parts, or into given ones."""
    rng = scope.grower.rng
    value = scope.pick(_ranked(1))
    if not value:
        return
    axis = _axis(scope, value)
    count = rng.choice([1, 2, 2, 3])
    opset = scope.grower.opset
    if opset >= 13 and rng.random() < 0.5:
        sizes = scope.pick(lambda x: is_vector(x) and 1 <= x.size <= 3) if rng.random() < 0.5 else None
        size = scope.arrays[value].shape[axis or 0]
        sizes = sizes or scope.constant([size // 2, size - size // 2])
        scope.attempt(scope.node("Split", value, sizes, axis=axis, outputs=scope.arrays[sizes].size))
    else:
        scope.attempt(scope.node("Split", value, axis=axis, outputs=count, num_outputs=count if opset >= 18 else None))


def gathered(scope: Scope) -> None:
    value, indices = scope.pick(_ranked(1)), scope.pick(lambda x: is_tensor(x) and x.dtype == np.int64)
    if value and indices:
        scope.attempt(scope.node("Gather", value, indices, axis=_axis(scope, value)))


def decided(scope: Scope) -> None:
    """A value whose size the data decide."""
    rng = scope.grower.rng
    value = scope.pick(_ranked(1))
    if not value:
        return
    kind = rng.choice(["NonZero", "Compress", "Unique", "TopK"])
    if kind == "NonZero":
        scope.attempt(scope.node("NonZero", value))
    elif kind == "Unique" and scope.grower.opset >= 11:
        scope.attempt(scope.node("Unique", value, axis=rng.choice([None, _axis(scope, value)]), outputs=rng.choice([1, 4])))
    elif kind == "Compress" and (condition := scope.pick(lambda x: is_bool(x) and x.ndim == 1)):
        scope.attempt(scope.node("Compress", value, condition, axis=rng.choice([None, _axis(scope, value)])))
    elif kind == "TopK" and scope.grower.opset >= 10:
        count = scope.pick(lambda x: is_vector(x) and x.size == 1) or scope.constant([1])
        scope.attempt(scope.node("TopK", value, count, axis=_axis(scope, value), outputs=2))


def moved(scope: Scope) -> None:
    rng = scope.grower.rng
    if value := scope.pick(is_number):
        order = list(range(scope.arrays[value].ndim))
        rng.shuffle(order)
        node = rng.choice(
            [scope.node("Transpose", value, perm=order or None), scope.node("Flatten", value, axis=_axis(scope, value))]
        )
        scope.attempt(node)


def unsqueezed(scope: Scope) -> None:
    rng = scope.grower.rng
    if value := scope.pick(is_number):
        array = scope.arrays[value]
        ones = [k for k, size in enumerate(array.shape) if size == 1]
        op_type = "Squeeze" if ones and rng.random() < 0.5 else "Unsqueeze"
        axes = [rng.choice(ones)] if op_type == "Squeeze" else [rng.randrange(array.ndim + 1)]
        if scope.grower.opset >= 13:
            scope.attempt(scope.node(op_type, value, scope.constant(axes)))
        else:
            scope.attempt(scope.node(op_type, value, axes=axes))


def combined(scope: Scope) -> None:
    """Two values by broadcasting, one after the other, or as matrices."""
    rng = scope.grower.rng
    left = scope.pick(is_float)
    right = scope.pick(is_float)
    if left and right:
        op_type = rng.choice(["Add", "Mul", "Sub", "Max", "MatMul", "Concat", "Concat"])
        axis = _axis(scope, left) if op_type == "Concat" else None
        scope.attempt(scope.node(op_type, left, right, axis=axis))


def summed(scope: Scope) -> None:
    rng = scope.grower.rng
    if (value := scope.pick(_ranked(1))) and scope.grower.opset < 13:
        axes = [_axis(scope, value)]
        scope.attempt(scope.node(rng.choice(["ReduceSum", "ReduceMean"]), value, axes=axes, keepdims=rng.choice([0, 1])))
    elif value:
        scope.attempt(scope.node("ReduceSum", value, scope.constant([_axis(scope, value)]), keepdims=rng.choice([0, 1])))


def einsum(scope: Scope) -> None:
    """A contraction over letters; equal letters have equal sizes at the base."""
    rng = scope.grower.rng
    names = [scope.pick(is_float) for _ in range(rng.choice([1, 2, 2]))]
    if not all(names) or scope.grower.opset < 12:
        return
    letters: dict[int, list[str]] = {}
    terms, free = [], iter("abcdefghijklmnop")
    for name in names:
        term = ""
        for size in scope.arrays[str(name)].shape:
            known = [c for c in letters.get(size, []) if c not in term]
            letter = rng.choice(known) if known and rng.random() < 0.6 else next(free, "")
            letters.setdefault(size, []).append(letter)
            term += letter
        terms.append(term)
    found = sorted(set("".join(terms)))
    rng.shuffle(found)
    output = "".join(c for c in found if rng.random() < 0.7)
    equation = ",".join(terms) + rng.choice(["", "->" + output, "->" + output])
    scope.attempt(scope.node("Einsum", *map(str, names), equation=equation))


def bool_input(scope: Scope) -> None:
    """A new input of the model, of a type that is not float."""
    rng = scope.grower.rng
    if scope is scope.grower.scope and len(scope.grower.inputs) < 6:
        scope.grower.any_input(rng.choice([9, 7, 7, 1]), rng.choice([0, 1, 1, 2]))


SIZES = (shape, shape, shape, element, element, part, calculation, calculation, calculation, calculation, conversion,
         unary, vector, vector, joined, joined, reduced, comparison, logic, choice)  # fmt: skip
USES = (counted, filled, expanded, reshaped, reshaped, reshaped, sliced, sliced, tiled, padded, divided, gathered,
        decided, moved, unsqueezed, combined, combined, summed, einsum, bool_input)  # fmt: skip
