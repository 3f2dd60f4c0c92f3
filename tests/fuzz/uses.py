"""Nodes whose sizes depend on values that were computed, and nodes that move, join and select elements.

Each function tries one step in a scope. A step that finds no fit value, or that does not run, changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.fuzz.arithmetic import INTEGERS, is_bool, is_float, is_number, is_scalar, is_shape, is_tensor, is_vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.growing import Scope


def _ranked(rank: int) -> Callable[[Any], bool]:
    return lambda x: is_number(x) and x.ndim >= rank


def _axis(scope: Scope, value: str) -> int | None:
    rank = scope.arrays[value].ndim
    return scope.grower.rng.randrange(-rank, rank) if rank else None


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
    elif value:
        first, last = rng.choice([0, 1, -2, 3]), rng.choice([1, 2, -1, 4, 2**31 - 1, 2**63 - 1, -(2**63)])
        axes = [_axis(scope, value)] if rng.random() < 0.7 else None
        scope.attempt(scope.node("Slice", value, starts=[first], ends=[last], axes=axes))


def tiled(scope: Scope) -> None:
    if value := scope.pick(is_number):
        rank = scope.arrays[value].ndim
        repeats = scope.pick(lambda x: is_vector(x) and x.size == rank and bool((x >= 0).all()) and bool((x < 6).all()))
        scope.attempt(
            scope.node("Tile", value, repeats or scope.constant([scope.grower.rng.choice([1, 1, 2, 0])] * rank))
        )


def padded(scope: Scope) -> None:
    rng = scope.grower.rng
    value = scope.pick(lambda x: is_float(x) and x.ndim >= 1)
    if value and scope.grower.opset < 11:
        sizes = [rng.choice([0, 0, 1, 2, -1]) for _ in range(2 * scope.arrays[value].ndim)]
        scope.attempt(scope.node("Pad", value, pads=sizes, mode=rng.choice(["constant", "reflect", "edge"])))
    elif value:
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
    if opset < 13 and rng.random() < 0.5:
        size = scope.arrays[value].shape[axis or 0]
        scope.attempt(scope.node("Split", value, axis=axis, outputs=2, split=[size // 2, size - size // 2]))
    elif opset >= 13 and rng.random() < 0.5:
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
        scope.attempt(
            scope.node("Unique", value, axis=rng.choice([None, _axis(scope, value)]), outputs=rng.choice([1, 4]))
        )
    elif kind == "Compress" and (condition := scope.pick(lambda x: is_bool(x) and x.ndim == 1)):
        scope.attempt(scope.node("Compress", value, condition, axis=rng.choice([None, _axis(scope, value)])))
    elif kind == "TopK" and scope.grower.opset < 10:
        scope.attempt(scope.node("TopK", value, k=rng.choice([0, 1, 1, 2]), axis=_axis(scope, value), outputs=2))
    elif kind == "TopK":
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
        scope.attempt(
            scope.node(rng.choice(["ReduceSum", "ReduceMean"]), value, axes=axes, keepdims=rng.choice([0, 1]))
        )
    elif value:
        scope.attempt(
            scope.node("ReduceSum", value, scope.constant([_axis(scope, value)]), keepdims=rng.choice([0, 1]))
        )


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


def new_input(scope: Scope) -> None:
    """A new input of the model, mostly of a type that is not float."""
    rng = scope.grower.rng
    if scope is scope.grower.scope and len(scope.grower.inputs) < 6:
        scope.grower.any_input(rng.choice([9, 7, 7, 1]), rng.choice([0, 1, 1, 2]))


USES = (counted, filled, expanded, reshaped, reshaped, reshaped, sliced, sliced, tiled, padded, divided, gathered,
        decided, moved, unsqueezed, combined, combined, summed, einsum, new_input)  # fmt: skip
