"""What traced constants were meant to be: the target of a Reshape, and a tensor that can be made for another size.

A traced target has numbers. The meant target has the same sizes at the traced sizes, and as many elements as the
operand at all sizes. So the factors of the operand's sizes are distributed over the target in row-major order. There
may be several such targets. Then the one with the fewest mixed sizes is meant; a mixed size is a number times free
sizes. If several have as few, the target is not certain.
"""

from __future__ import annotations

from collections import Counter
from math import gcd, prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from symdim import Expr, Var, product
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.algebra.texts.factoring import factored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from onnx_infer.values.tensor import Dim

    Array = NDArray[Any]


Merged: TypeAlias = "dict[Dim, tuple[Dim, ...]]"
"""Size -> the sizes that a Reshape merged into it, in row-major order. The product does not keep their order."""

_MOST_SIZES = 12
_MOST_STEPS = 5_000


class Factors(NamedTuple):
    """A size as a number times free sizes. Each of these has its traced value."""

    number: int
    free: tuple[tuple[Expr, int], ...]


def factors(size: Dim, traced: Mapping[str | Var, int]) -> Factors:
    """The factors of a size.

    >>> from symdim import Var
    >>> H, N = Var("H"), Var("N")
    >>> factors(12 * N * (H // 16), {N: 1, H: 224}), factors(2 * H + 2, {H: 3})
    (Factors(number=12, free=((H//16, 14), (N, 1))), Factors(number=2, free=((H + 1, 4),)))
    """
    if isinstance(size, int):
        return Factors(size, ())
    terms, const = terms_of(size)
    number, unit, sums = 1, None, [size]
    if len(terms) == 1 and not const:
        ((unit, number),) = terms.items()
        sums = []
    elif (parts := factored(size)) is not None:
        number, unit, sums = parts
    atoms = [atom for atom, exponent in powers_of(unit).items() for _ in range(exponent)]
    return Factors(number, tuple((atom, atom.to_int(traced)) for atom in (*atoms, *sums)))


def meant_target(
    operand: Sequence[Dim], target: Sequence[int], traced: Mapping[str | Var, int], merged: Merged | None = None
) -> tuple[Dim, ...] | None:
    """The meant target of a Reshape; None if it is not certain. `target` are the sizes of its result when traced.

    A size that an earlier Reshape merged is taken apart in the order of the merged sizes.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> meant_target((N, S, 768), (1, 197, 12, 64), {N: 1, S: 197})
    (N, S, 12, 64)
    >>> meant_target((12 * N, S, 64), (1, 12, 197, 64), {N: 1, S: 197})
    (N, 12, S, 64)
    >>> meant_target((N, S), (6, 2), {N: 3, S: 4}) is None
    True
    """
    operand = [part for size in operand for part in (merged or {}).get(size, (size,))]
    if max(len(operand), len(target)) > _MOST_SIZES or 0 in target:
        return None
    bags = [factors(size, traced) for size in operand]
    counts = [bag.number * prod(value for _, value in bag.free) for bag in bags]
    if prod(counts) != prod(target) or min(counts, default=1) < 1:
        return None
    meant: list[Dim] = []
    for first, last, start, end in blocks(counts, target):
        sizes = _meant_block(bags[first:last], target[start:end])
        if sizes is None:
            return None
        meant += sizes
    return tuple(meant)


def remember(merged: Merged, operand: Sequence[Dim], result: Sequence[Dim], traced: Mapping[str | Var, int]) -> None:
    """Note which sizes of the operand a Reshape merged into the free sizes of its result.

    >>> from symdim import Var
    >>> N, H, W, merged = Var("N"), Var("H"), Var("W"), {}
    >>> remember(merged, (N, H, W, 8), (N * H * W, 8), {N: 1, H: 4, W: 4})
    >>> merged, meant_target((N * H * W, 8), (1, 4, 4, 8), {N: 1, H: 4, W: 4}, merged)
    ({H*N*W: (N, H, W)}, (N, H, W, 8))
    >>> remember(merged, (N, 8, H, W), (N, 2, 4 * H * W), {N: 1, H: 4, W: 4})
    >>> meant_target((N, 2, 4 * H * W), (1, 8, 4, 4), {N: 1, H: 4, W: 4}, merged)
    (N, 8, H, W)
    """
    before, after = ([_value(size, traced) for size in sizes] for sizes in (operand, result))
    if prod(before) != prod(after) or min((*before, *after), default=0) < 1:
        return
    for first, last, start, end in blocks(before, after):
        parts = [part for d in operand[first:last] for part in merged.get(d, (d,))]
        for size in result[start:end]:
            if isinstance(size, Expr) and (last - first > 1 or size not in merged):
                ordered = _in_order(parts, size, traced)
                if len(ordered) > 1 and product(ordered) == size:
                    merged[size] = ordered


def _in_order(parts: Sequence[Dim], size: Dim, traced: Mapping[str | Var, int]) -> tuple[Dim, ...]:
    """The factors of a size in the order of the parts. A number has the place of the first number of the parts."""
    number, free = factors(size, traced)
    left = Counter(factor for factor, _ in free)
    ordered: list[Dim] = []
    for part in parts:
        if isinstance(part, int):
            ordered += [number] if number != 1 else []
            number = 1
            continue
        own = factors(part, traced)
        needed = Counter(factor for factor, _ in own.free)
        if own.number == 1 and needed <= left:
            ordered.append(part)
            left -= needed
    return tuple(ordered)


def _value(size: Dim, traced: Mapping[str | Var, int]) -> int:
    return size if isinstance(size, int) else size.to_int(traced)


def blocks(counts: Sequence[int], target: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """The shortest parts of both lists with equal products, as (first, last, start, end).

    The rest at the end, of sizes that are 1, belongs to the last part.
    """
    parts = []
    i = j = 0
    while i < len(counts) and j < len(target):
        first, start = i, j
        left, right = counts[i], target[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left *= counts[i]
                i += 1
            else:
                right *= target[j]
                j += 1
        parts.append((first, i, start, j))
    if not parts:
        parts.append((0, 0, 0, 0))
    first, _, start, _ = parts[-1]
    parts[-1] = (first, len(counts), start, len(target))
    return iter(parts)


class _State(NamedTuple):
    """A search: the sizes so far, the current one and what it still needs, and what is left of the operand."""

    sizes: tuple[Dim, ...]
    size: Dim
    need: int
    bags: tuple[Factors, ...]


def _meant_block(bags: Sequence[Factors], target: Sequence[int]) -> list[Dim] | None:
    """The sizes of a part of the target; None if they are not certain."""
    if not any(bag.free for bag in bags):
        return list(target)
    if not target:
        return None
    whole: dict[tuple[Dim, ...], int] = {}
    pending = [_State((), 1, target[0], tuple(bags))]
    for _ in range(_MOST_STEPS):
        if not pending:
            break
        state = pending.pop()
        if len(state.sizes) == len(target):
            if all(bag == (1, ()) for bag in state.bags):
                whole[state.sizes] = sum(map(_is_mixed, state.sizes))
            continue
        pending += _steps(state, target)
    if pending or not whole:
        return None
    least = min(whole.values())
    best = [sizes for sizes, mixed in whole.items() if mixed == least]
    return list(best[0]) if len(best) == 1 else None


def _steps(state: _State, target: Sequence[int]) -> Iterator[_State]:
    """The ways to go on: end the current size, or give it a factor of the operand's current size."""
    sizes, size, need, bags = state
    while bags and bags[0] == (1, ()):
        bags = bags[1:]
    if need == 1:
        done = (*sizes, size)
        yield _State(done, 1, target[len(done)] if len(done) < len(target) else 1, bags)
    if not bags:
        return
    (number, free), *rest = bags
    common = gcd(number, need)
    if common > 1:
        yield _State(sizes, size * common, need // common, (Factors(number // common, free), *rest))
    for i, (factor, value) in enumerate(free):
        if factor not in [other for other, _ in free[:i]] and need % value == 0:
            left = Factors(number, free[:i] + free[i + 1 :])
            yield _State(sizes, product((size, factor)), need // value, (left, *rest))


def _is_mixed(size: Dim) -> bool:
    """Whether a size is mixed: a number other than 1 times a free size."""
    if isinstance(size, int):
        return False
    terms, const = terms_of(size)
    return gcd(const, *terms.values()) != 1


Kind = Literal["size", "repeat", "count", "step", "mask"]

_FEWEST_STEPS = 3
"""The fewest slices that count as equal steps. Any two slices have a step."""

_FEWEST_BYTES = 4
"""The fewest bytes of the integers that are counted on. Smaller ones wrap around at sizes that models have."""

_FEWEST_ELEMENTS = 6
"""The fewest elements that count as a mask."""


def pattern(array: Array, axis: int, traced: Collection[int]) -> tuple[Kind, int] | None:
    """The pattern of a constant along an axis, and its step; None if it has none. `traced` sizes are no steps.

    >>> pattern(np.full((1, 4), 7.0), 1, []), pattern(np.arange(6).reshape(2, 3), 0, [])
    (('repeat', 0), ('count', 0))
    >>> pattern(np.array([0, 5, 10]), 0, []), pattern(np.array([0, 5, 10]), 0, [5]), pattern(np.tri(3), 1, [])
    (('step', 5), None, ('mask', 0))
    """
    size = array.shape[axis]
    if size == 1 or bool((array == array.take([0], axis)).all()):
        return "repeat", 0
    if array.dtype.kind == "i" and array.dtype.itemsize >= _FEWEST_BYTES:
        if (array.ravel() == np.arange(array.size)).all():
            return "count", 0
        steps = np.unique(np.diff(array, axis=axis))
        if len(steps) == 1 and size >= _FEWEST_STEPS and int(steps[0]) not in traced:
            return "step", int(steps[0])
    mask = None if array.dtype.kind in "Oc" else mask_of(array)  # texts and complex numbers: no node chooses them
    return ("mask", 0) if mask is not None and axis in mask[:2] else None


class Mask(NamedTuple):
    """A constant that is `low` where column <= row + offset, else `high`, and constant along its other axes.

    `rows` and `columns` are axes. `is_at_end`: the diagonal ends in the last corner, so the offset is the difference of
    both sizes.
    """

    rows: int
    columns: int
    offset: int
    low: Any
    high: Any
    is_at_end: bool


def mask_of(array: Array) -> Mask | None:
    """A constant as a causal mask; None if it is none.

    >>> mask_of(np.where(np.tri(3, 5, 2), 0.0, -9.0)[None])
    Mask(rows=1, columns=2, offset=2, low=0.0, high=-9.0, is_at_end=True)
    >>> mask_of(np.array([[1, 2, 3], [4, 5, 6]])) is None
    True
    """
    flat = array
    for axis in range(array.ndim):
        first = flat.take([0], axis)
        if (flat == first).all():
            flat = first
    axes = [axis for axis, size in enumerate(flat.shape) if size > 1]
    if len(axes) != 2 or flat.size < _FEWEST_ELEMENTS:
        return None
    plane = flat.reshape([flat.shape[axis] for axis in axes])
    low, high = plane[-1, 0], plane[0, -1]
    offset = int((plane[0] == low).sum()) - 1
    height, width = plane.shape
    if low == high or not (plane == np.where(np.tri(height, width, offset, dtype=bool), low, high)).all():
        return None
    is_at_end = offset == width - height
    return Mask(axes[0], axes[1], offset, low.item(), high.item(), is_at_end) if is_at_end or offset == 0 else None
