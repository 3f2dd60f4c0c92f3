"""Slice: the elements between two bounds along each of some axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.samples import part_of
from onnx_infer.errors import Unknown
from onnx_infer.laws.lengths import common_number, known_elements, number_of, of_length, open_sizes
from onnx_infer.laws.limits import demand_at_most, divisors
from onnx_infer.laws.sizes import (
    normalize_axes,
    normalize_axis,
    sizes_unless_broken,
)
from onnx_infer.laws.slices import slice_bound, slice_length, slice_range, successive
from onnx_infer.laws.statements import fresh
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import Reread
from onnx_infer.values.tensor import Dim, Shape, SymTensor
from symdim import Expr
from symdim.algebra.dims import bounds_of

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import Sizes

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
    found = {}
    for index in (1, 2):
        value: Any = inputs[index]
        bounds = open_sizes(value) or ()
        along: Any = axes or range(len(bounds))
        if len(along) == len(bounds) and all(isinstance(x, int) and -len(dims) <= x < len(dims) for x in along):
            pairs = zip(bounds, along, strict=True)
            found[index] = [slice_bound(bound, dims[axis], value.dtype) for bound, axis in pairs]
    return Reread({index: bounds for index, bounds in found.items() if bounds})


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
