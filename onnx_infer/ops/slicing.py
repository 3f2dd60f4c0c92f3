"""Operators that cut axes, drop those of size 1 or add them: Slice, Squeeze, Unsqueeze.

A Squeeze or Unsqueeze keeps every element at its place, so propagated data are unchanged. Where a run decides the axes,
the result has what all choices of axes share.
"""

from __future__ import annotations

from itertools import product as combinations_of
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.lifting import SAME
from onnx_infer.elements.samples import part_of
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import (
    common_number,
    demand_at_most,
    divisors,
    known_elements,
    number_of,
    of_length,
    open_sizes,
)
from onnx_infer.laws.sizes import differ, normalize_axes, normalize_axis, sizes_unless_broken, unify, unknown_shape
from onnx_infer.laws.slices import slice_bound, slice_length, slice_range, successive
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import Reread
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, Var, maximum
from symdim.algebra.dims import bounds_of, substituted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import Dim, Ints, Shape, Sizes

    Array = np.ndarray[Any, Any]


def _slice(data: Array, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Array:
    count = len(starts)
    vectors = (range(count) if axes is None else axes, starts, ends, (1,) * count if steps is None else steps)
    for axis, *limits in zip(*vectors, strict=True):
        if not all(isinstance(b, int) for b in limits):
            raise Unknown("a bound of the slice is not known")
        kept = slice_range(data.shape[axis], *limits)
        part = [slice(None)] * data.ndim
        part[axis] = slice(kept.start, kept.stop if kept.stop >= 0 else None, kept.step) if kept else slice(0)
        data = data[tuple(part)]
    return data


def _cut(arrays: list[Array], *_: object) -> Array | None:
    """The elements that forward steps take; of other steps runtimes disagree."""
    data, *limits = arrays
    return None if len(limits) > 3 and any(limits[3] < 1) else _slice(data, *(x.tolist() for x in limits))


_STEPS = 4
"""The input of a Slice that has the steps."""


def _is_forward(inputs: Values, _: Values, __: Attributes) -> bool:
    """A Slice that leaves every size as it is takes all elements in order, unless it steps back."""
    steps = inputs[_STEPS] if len(inputs) > _STEPS else None
    elements = (1,) if steps is None else known_elements(steps)
    return elements is not None and all(isinstance(step, int) and step >= 1 for step in elements)


def _step_sizes(inputs: Values, _: Values, __: Attributes) -> Least | None:
    """A step is not 0. The rule refuses the number 0 itself."""
    steps = inputs[_STEPS] if len(inputs) > _STEPS else None
    elements = (1,) if steps is None else known_elements(steps)
    return [] if elements is not None and all(isinstance(x, int) for x in elements) else divisors(steps)


def _rereads(inputs: Values, outputs: Values, attributes: Attributes) -> Reread | None:
    """Starts and ends as numbers, for steps of at least 1."""
    data, axes = inputs[0], known_elements(inputs[3]) if len(inputs) > 3 and inputs[3] is not None else ()
    is_known = isinstance(data, SymTensor) and data.shape is not None and axes is not None
    if not is_known or len(inputs) < 3 or not _is_forward(inputs, outputs, attributes):  # before opset 10, attributes
        return None
    dims: Any = data.dims  # type: ignore[union-attr]
    numbers = {}
    for index in (1, 2):
        value: Any = inputs[index]
        bounds = open_sizes(value) or ()
        along: Any = axes or range(len(bounds))
        if len(along) == len(bounds) and all(isinstance(x, int) and -len(dims) <= x < len(dims) for x in along):
            pairs = zip(bounds, along, strict=True)
            numbers[index] = [slice_bound(bound, dims[axis], value.dtype) for bound, axis in pairs]
    return Reread({index: bounds for index, bounds in numbers.items() if bounds})


@op(
    "Slice",
    data=_slice,
    reads="selected",
    view=successive,
    total=True,
    same=_is_forward,
    computes=_cut,
    demands=_step_sizes,
    rereads=_rereads,
)
def slice_(
    data: SymTensor,
    starts: Sizes | Unknown,
    ends: Sizes | Unknown,
    axes: Sizes | Unknown | None = None,
    steps: Sizes | Unknown | None = None,
) -> SymTensor:
    """Each named axis keeps `max(0, ceil((end - start) / step))` elements, bounds clamped (Slice-1, 10, 11, 13)."""
    sizes = sizes_unless_broken(data.rank, lambda: _sliced(data.dims, starts, ends, axes, steps))
    start, step = [_only_element(x) for x in (starts, (1,) if steps is None else steps)]
    return part_of(data, SymTensor(data.dtype, sizes), start, step)


def _only_element(bounds: Sizes | Unknown) -> Dim | None:
    return bounds[0] if isinstance(bounds, tuple) and len(bounds) == 1 else None


def _sliced(
    sizes: Shape,
    starts: Sizes | Unknown,
    ends: Sizes | Unknown,
    axes: Sizes | Unknown | None,
    steps: Sizes | Unknown | None,
) -> Shape:
    law = "the numbers of starts, ends, axes and steps"
    numbers = [number_of(v) for v in (starts, ends, axes, steps)]
    number = common_number(law, *numbers)
    if isinstance(number, Expr):
        demand_at_most(number, len(sizes), "the number of axes")
    if axes is None and isinstance(number, int):
        if number > len(sizes):
            normalize_axis(len(sizes), len(sizes))  # raises; the list of axes may be very long
        axes = tuple(range(number))
    if not isinstance(axes, tuple) or None in axes:
        most = [bounds_of(n)[1] for n in numbers if n is not None]
        sliced = min([n for n in most if n is not None], default=len(sizes)) if axes is None else len(sizes)
        unknown = [fresh("the axes of the slice are not known", at_most=size) for size in sizes[:sliced]]
        return (*unknown, *sizes[sliced:])
    steps = (1,) * len(axes) if steps is None else steps
    columns = [of_length(v, len(axes), law) for v in (starts, ends, steps)]
    dims = list(sizes)
    for i, (axis, start, end, step) in enumerate(zip(normalize_axes(axes, len(dims)), *columns, strict=True)):
        dims[axis] = slice_length(dims[axis], start, end, step, i)
    return tuple(dims)


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
    sets = dict.fromkeys(frozenset(choice) for choice in combinations_of(*places))
    return [set(choice) for choice in sets if len(choice) == len(axes)]


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
