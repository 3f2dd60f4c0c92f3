"""The pattern of a constant tensor along an axis, by which the tensor can be made for another size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    Array = NDArray[Any]

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
    found = None if array.dtype.kind in "Oc" else mask_of(array)  # texts and complex numbers: no node chooses them
    return ("mask", 0) if found is not None and axis in found[:2] else None


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
