"""Operators that drop axes of size 1 or add them: Squeeze, Unsqueeze.

Every element keeps its place, so propagated data are unchanged. Where a run decides the axes, the result has what all
choices of axes share.
"""

from __future__ import annotations

from itertools import product as combinations_of
from math import prod
from typing import TYPE_CHECKING

from onnx_infer.elements.lifting import SAME
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import (
    differ,
    normalize_axes,
    normalize_axis,
    sizes_unless_broken,
    unify,
    unknown_shape,
)
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.operators.registration import op
from symdim import Var, maximum
from symdim.algebra.dims import bounds_of, substituted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from onnx_infer.ops.kinds import Dim, Ints, Shape
    from onnx_infer.values.tensor import SymTensor

_MOST_CHOICES = 64
"""The most combinations of axes that are compared where a run decides the axes."""


@op("Squeeze", data=SAME, view="whole", total=True)
def squeeze(data: SymTensor, axes: Ints | None) -> Shape:
    """The shape without the axes, of size 1; absent: without every size that is 1 (Squeeze-1, 11, 13 to 25)."""
    dims = data.dims
    rank = len(dims)
    maybe_one = [i for i, size in enumerate(dims) if not differ(size, 1)]
    if not axes:
        # empty axes mean absent axes for onnxruntime, but no axes for onnx; both agree if no size is 1
        if any(dims[i] != 1 for i in maybe_one) or (axes is not None and maybe_one):
            raise Unknown("which sizes are 1 is not known")
        gone = set(maybe_one)
    elif all(isinstance(axis, int) for axis in axes):
        left = max(rank - len(set(axes)), 0)
        return sizes_unless_broken(left, lambda: _without(dims, {normalize_axis(axis, rank) for axis in axes}))
    else:
        if len(axes) > rank:
            raise Unknown("more axes than the rank, some of them twice")
        choices = _choices(axes, rank, frozenset(maybe_one))
        require(choices is None or choices, "no axes that are allowed have size 1; the shape is", data)
        if choices is None or len(choices) > 1:
            return _one_of_squeezed(dims, choices, rank - len(axes))
        (gone,) = choices
    return _without(dims, gone)


def _choices(axes: Ints, rank: int, allowed: frozenset[int]) -> list[set[int]] | None:
    """The sets of axes that a run may give, each within the bounds of the elements; None if there are too many."""
    places = []
    for axis in axes:
        low, high = (-rank, rank - 1) if axis is None else bounds_of(axis)
        start, end = max(-rank, -rank if low is None else low), min(rank - 1, rank - 1 if high is None else high)
        places.append({i % rank for i in range(start, end + 1)} & allowed)
    if prod(map(len, places)) > _MOST_CHOICES:
        return None
    found = dict.fromkeys(frozenset(choice) for choice in combinations_of(*places))
    return [set(choice) for choice in found if len(choice) == len(axes)]


def _one_of_squeezed(dims: Shape, choices: list[set[int]] | None, rank: int) -> Shape:
    """The sizes that are the same whichever axes are squeezed. Where a size of an axis is squeezed, it is 1."""
    if choices is None:
        return unknown_shape(rank, "the squeezed tensor")
    shapes = [tuple(size for i, size in enumerate(dims) if i not in gone) for gone in choices]
    certain = next((i for i, gone in enumerate(choices) if all(dims[axis] == 1 for axis in gone)), None)
    if certain is not None:
        for i, gone in enumerate(choices):
            ones = {size: 1 for axis in gone if isinstance(size := dims[axis], Var)}
            pairs = zip(shapes[i], shapes[certain], strict=True)
            shapes[i] = tuple(b if substituted(a, ones) == substituted(b, ones) else a for a, b in pairs)
    return _common(shapes, "which axis is squeezed is not known")


def _common(shapes: Sequence[Shape], why: str) -> Shape:
    """The sizes that all shapes share; a size that differs is fresh, within the bounds of all."""

    def size(options: tuple[Dim, ...]) -> Dim:
        if len(set(options)) == 1:
            return options[0]
        least = min(bounds_of(option)[0] or 0 for option in options)
        return fresh(why, at_most=maximum(*options), at_least=max(least, 0))

    return tuple(size(options) for options in zip(*shapes, strict=True))


def _without(dims: Shape, gone: set[int]) -> Shape:
    """The sizes without those at some axes; these must be 1."""
    for axis in sorted(gone):
        if demand(not differ(dims[axis], 1), f"the size at squeezed axis {axis} is not 1", dims[axis]):
            unify(dims[axis], 1, "squeezed sizes")
    return tuple(size for i, size in enumerate(dims) if i not in gone)


@op("Unsqueeze", data=SAME, view="whole", total=True)
def unsqueeze(data: SymTensor, axes: Ints) -> Shape:
    """The shape with a 1 at each of these axes of the result (Unsqueeze-1, 11, 13 to 25)."""
    rank = len(data.dims) + len(axes)

    def with_ones(new: Collection[int]) -> Shape:
        old = iter(data.dims)
        return tuple(1 if i in new else next(old) for i in range(rank))

    if all(isinstance(axis, int) for axis in axes):
        return sizes_unless_broken(rank, lambda: with_ones(normalize_axes(axes, rank)))
    choices = _choices(axes, rank, frozenset(range(rank)))
    require(choices is None or choices, "no axes that are allowed are in range for rank", rank)
    if choices is None:
        return unknown_shape(rank, "the unsqueezed tensor")
    return _common([with_ones(choice) for choice in choices], "the new axis is not known")
