"""Reductions over axes, positions of extrema, cumulative sums and products."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements import arithmetic
from onnx_infer.elements.arithmetic import convert
from onnx_infer.elements.progressions import consisting_of, cumulated, extremum, sum_of
from onnx_infer.elements.ratio import Ratio
from onnx_infer.elements.reductions import (
    largest,
    length,
    mean,
    multiplied,
    position,
    smallest,
    total,
    total_of_magnitudes,
    total_of_squares,
)
from onnx_infer.elements.samples import equal_element, with_elements
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import demand_at_least, demand_one_element
from onnx_infer.laws.sizes import at_least, normalize_axis, sizes_unless_broken
from onnx_infer.laws.statements import demand, fresh, is_contradicted, reported
from onnx_infer.operators.registration import op
from onnx_infer.values.tensor import SymTensor
from symdim import maximum

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.elements.ratio import Element
    from onnx_infer.ops.kinds import AnyRank, Dim, Ints, Shape


# -- shapes ------------------------------------------------------------------------------------------------------


def reduce(data: AnyRank, axes: Ints | Unknown | None, keepdims: int, noop_with_empty_axes: int = 0) -> Shape:
    """The data's shape with size 1 at each reduced axis, or without these axes (Reduce*-1 to 28).

    Absent or empty axes mean all axes, or none with `noop_with_empty_axes`. An axis may be named twice.
    """
    every = axes is None or axes == ()
    if every and not noop_with_empty_axes and not keepdims:
        return ()
    if data.shape is None:
        raise Unknown("the rank of data is not known")
    rank = len(data.shape)
    if not rank and not isinstance(axes, Unknown):
        for axis in axes or ():
            # "Input tensors of rank zero are valid": the axes may be those of a vector, and no runtime looks at them
            known = isinstance(axis, int)
            demand(not known or axis in (0, -1), f"axis {axis} is out of range for a scalar", kind="assumed")
        return ()
    if isinstance(axes, Unknown) or (axes and None in axes):
        return _unknown_axes(data.shape, None if isinstance(axes, Unknown) else axes, keepdims)
    if every:
        return _without(data.shape, set() if noop_with_empty_axes else set(range(rank)), keepdims)
    return _reduced_shape(data.shape, axes or (), keepdims)


def _reduced_shape(shape: Shape, axes: Ints, keepdims: int) -> Shape:
    """The shape without these axes. If axes do not exist, only the rank is known."""
    rank, gone = len(shape), 0 if keepdims else len(set(axes))
    return sizes_unless_broken(
        max(rank - gone, 0), lambda: _without(shape, {normalize_axis(axis, rank) for axis in axes}, keepdims)
    )


def _without(shape: Shape, reduced: set[int], keepdims: int) -> Shape:
    if keepdims:
        return tuple(1 if i in reduced else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in reduced)


def _unknown_axes(shape: Shape, axes: Ints | None, keepdims: int) -> Shape:
    """The shape if some axes are not known: each size stays or becomes 1."""
    known = {normalize_axis(axis, len(shape)) for axis in axes or () if axis is not None}
    if keepdims:
        return tuple(1 if i in known else _maybe_reduced(size) for i, size in enumerate(shape))
    if not shape or (axes and len(shape) == 1):
        return ()
    if axes is None or len(axes) > 1:
        raise Unknown("the values of axes are not known")
    largest = maximum(*shape)
    least = int(all(at_least(size, 1) for size in shape))
    return tuple(fresh("the value of axes is not known", at_most=largest, at_least=least) for _ in shape[1:])


def _maybe_reduced(size: Dim) -> Dim:
    if size == 1:
        return 1
    return fresh("the values of axes are not known", at_most=maximum(size, 1), at_least=int(at_least(size, 1)))


# -- data --------------------------------------------------------------------------------------------------------


def _over_axes(function: Callable[[list[Element]], Element], data: Any, axes: set[int], keepdims: int) -> Any:
    """The function applied to the elements along some axes of an array."""
    kept = [i for i in range(data.ndim) if i not in axes]
    rows = data.transpose([*kept, *sorted(axes)])
    out = np.empty(prod(data.shape[i] for i in kept), dtype=object)
    out[:] = [function(list(row)) for row in rows.reshape(len(out), prod(data.shape[i] for i in axes))]
    return out.reshape(_without(data.shape, axes, keepdims))


def _reduced(function: Callable[[list[Element], int | None], Element]) -> Callable[..., Any]:
    """The data function of a reduction."""

    def elements(
        data: Any, axes: Ints | None, keepdims: int, noop_with_empty_axes: int | None, output_dtype: int | None
    ) -> Any:
        def of_row(row: list[Element]) -> Element:
            # runtimes do not agree on what a sum out of the type's range becomes
            element = function(row, output_dtype)
            return None if isinstance(element, int) and convert(element, output_dtype) != element else element

        def of_one(row: list[Element]) -> Element:
            # the specification is unclear on ReduceSumSquare without axes: the result is known if both readings agree
            return row[0] if of_row(row) == row[0] else None

        if not axes and noop_with_empty_axes:
            return _over_axes(of_one, data, set(), keepdims)
        if axes and None in axes:
            return None
        chosen = axes or range(data.ndim)
        reduced = {normalize_axis(axis, data.ndim) for axis in chosen} if data.ndim else set()  # see `reduce`
        return _over_axes(of_row, data, reduced, keepdims)

    return elements


def _positions(order: int) -> Callable[..., Any]:
    """The data function of ArgMax (1) and ArgMin (-1)."""

    def elements(data: Any, axis: int, keepdims: int, select_last_index: int | None) -> Any:
        reduced = {normalize_axis(axis, data.ndim)}
        return _over_axes(lambda row: position(row, order, bool(select_last_index)), data, reduced, keepdims)

    return elements


def _cumulated(function: Callable[[Element, Element], Element], unit: int) -> Callable[..., Any]:
    """The data function of CumSum and CumProd. Each step is rounded to the element type."""

    def along(row: list[Element], exclusive: int, dtype: int | None) -> list[Element]:
        out, so_far = [], convert(unit, dtype)
        for x in row:
            after = None if x is None or so_far is None else convert(function(so_far, x), dtype)
            out.append(so_far if exclusive else after)
            so_far = after
        return out

    def elements(x: Any, axis: int, exclusive: int, reverse: int, output_dtype: int | None) -> Any:
        out = np.empty(x.shape, dtype=object)
        step = -1 if reverse else 1
        source, target = (np.moveaxis(a, axis, -1)[..., ::step] for a in (x, out))
        for index in np.ndindex(source.shape[:-1]):
            target[index] = along(list(source[index]), exclusive, output_dtype)
        return out

    return elements


# -- rules -------------------------------------------------------------------------------------------------------

_REDUCTIONS: dict[str, Callable[[list[Element], int | None], Element]] = {
    "ReduceSum": total, "ReduceMean": mean, "ReduceProd": multiplied, "ReduceMax": largest, "ReduceMin": smallest,
    "ReduceL1": total_of_magnitudes, "ReduceL2": length, "ReduceSumSquare": total_of_squares,
}  # fmt: skip

_PROGRESSIONS: dict[str, Callable[[SymTensor], Dim | None]] = {
    "ReduceSum": sum_of, "ReduceMax": partial(extremum, largest=True), "ReduceMin": partial(extremum, largest=False),
}  # fmt: skip


def _of_all(function: Callable[[SymTensor], Dim | None] | None) -> Callable[..., SymTensor | Shape]:
    """The rule of a reduction, with the element that `function` makes of all elements of progressions."""
    if function is None:
        return reduce

    def rule(
        data: AnyRank, axes: Ints | Unknown | None, keepdims: int, noop_with_empty_axes: int = 0
    ) -> SymTensor | Shape:
        sizes = reduce(data, axes, keepdims, noop_with_empty_axes)
        if not data.progressions or any(size != 1 for size in sizes) or data.shape == sizes:
            return sizes
        element = convert(function(data), data.dtype)
        if isinstance(element, Ratio):
            return SymTensor(data.dtype, sizes, (element,))
        return with_elements(SymTensor(data.dtype, sizes), element, ())

    rule.__doc__ = reduce.__doc__
    return rule


for _name, _function in _REDUCTIONS.items():
    op(_name, data=_reduced(_function), total=_name in ("ReduceProd", "ReduceSum"))(_of_all(_PROGRESSIONS.get(_name)))
op("ReduceLogSum", "ReduceLogSumExp")(reduce)


@op("ArgMax", data=_positions(1), bounded=True)
@op("ArgMin", data=_positions(-1), bounded=True)
def positions(data: SymTensor, axis: int, keepdims: int) -> Shape:
    """The data's shape with size 1 at the axis, or without it (ArgMax, ArgMin-1 to 13).

    An empty axis has no extremum. Where another size is 0, none is asked for.
    """
    if -data.rank <= axis < data.rank:
        others = (*data.dims[: axis % data.rank], *data.dims[axis % data.rank + 1 :])
        demand_at_least(data.dims[axis], 1, "the size of the axis", others)
    return _reduced_shape(data.dims, (axis,), keepdims)


@op("CumProd", data=_cumulated(arithmetic.multiply, 1))
def cumulate(x: SymTensor, axis: int | Unknown) -> Shape:
    """x's shape (CumProd-26)."""
    with reported:
        require(x.rank > 0, "a scalar cannot be cumulated")
        demand_one_element(axis, "axis")
        if not isinstance(axis, Unknown):
            normalize_axis(axis, x.rank)
    return x.dims


@op("CumSum", data=_cumulated(arithmetic.add, 0), total=True)
def cumulated_sum(x: SymTensor, axis: int | Unknown, exclusive: int, reverse: int) -> SymTensor:
    """x's shape (CumSum-11, 14)."""
    sizes = cumulate(x, axis)
    if isinstance(axis, Unknown) or is_contradicted():
        return SymTensor(None, sizes)
    return consisting_of(cumulated(equal_element(x), sizes[axis], bool(exclusive), bool(reverse)), x.dtype, sizes)
