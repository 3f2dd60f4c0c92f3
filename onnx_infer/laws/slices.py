"""The law of slices: the elements that `x[start:end:step]` takes along an axis, and their number (Slice-1 to 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.laws.limits import known_elements, no_less, no_more
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import conflicting, element, fresh, state
from onnx_infer.values.dtype import INTEGER_RANGE
from onnx_infer.values.tensor import SymTensor
from symdim import maximum, minimum, product
from symdim.algebra.dims import at_most

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.values.tensor import Dim, Value

_FAR = 10**9
"""Bounds that are certainly this far from 0 mean "the end of the axis" on their side; no axis is assumed to be longer.

Exporters write 2**63 - 1, 2**31 - 1, 2**30 and, tf2onnx, 10**9.
"""

_INT_MAX = (2**31 - 1, 2**63 - 1)


def slice_length(size: Dim, start: Dim | None, end: Dim | None, step: Dim | None, index: int | None = None) -> Dim:
    """The number of elements of `x[start:end:step]` along an axis of this size. Bounds may have any sign.

    It is `max(0, ceil((stop - begin) / step))` with the bounds counted from the front and clamped. An unknown bound or
    step (None) gives a fresh size, bounded by the widest possible slice. `index` is the index of the bounds in the
    inputs `starts` and `ends`.

    >>> from symdim import Var
    >>> H = Var("H")
    >>> slice_length(10, -3, 2**63 - 1, 2), slice_length(H, 1, 2**63 - 1, 1), slice_length(H, 2**63 - 1, -(2**63), -1)
    (2, H - 1, H)
    >>> slice_length(H, -3, -1, 1), slice_length(H, -(2**30), 10**9, 1)
    (min(H, 3) - 1, H)
    """
    if step == 0:
        return conflicting("the step of a slice is 0")
    if size == 0:
        return 0
    forward = step is not None and at_least(step, 1)
    if step is None or not (forward or at_least(-step, 1)):
        return fresh("the step of the slice is not known", at_most=size)
    if start is None or end is None:
        first, last = (0, size) if forward else (size, -_FAR)
        widest = slice_length(size, first if start is None else start, last if end is None else end, step)
        value = None
        if forward and index is not None:
            first, last = (element(n, index) if x is None else x for n, x in (("starts", start), ("ends", end)))
            value = slice_length(size, first, last, step)
        return fresh("a bound of the slice is not known", at_most=widest, value=value)
    if not forward and end in _INT_MAX:
        return fresh("what a backward slice to the largest integer means, runtimes disagree on", at_most=size)
    if not forward and step != -1 and None in (_sign(start), _sign(end)):
        return fresh("a backward slice in steps, whose bounds may count from either end", at_most=size)
    begin, stop = _limits(size, start, end, forward)
    if forward and ((begin == 0 and _sign(end) is None) or (stop is size and _sign(start) is None)):
        # the bound is in [0, size], so no maximum with 0 is needed
        return (stop - begin + step - 1) // step
    span, stride = (stop - begin, step) if forward else (begin - stop, -step)
    if forward and _sign(start) is None and _sign(end) == 1 and at_least(end - start, 0):
        # min(end, size) - max(start, 0), where the common part of the bounds of a window x[s : s + w] cancels
        span = minimum(end - start, end, size - start, size) - _from_back(size, start, 0)
    return no_less((span + stride - 1) // stride, 0)


def slice_range(size: int, start: int, end: int, step: int) -> range:
    """The positions that `x[start:end:step]` takes along an axis of a known size.

    >>> list(slice_range(5, -1, -(2**63), -2))
    [4, 2, 0]
    """
    begin, stop = _limits(size, start, end, step > 0)
    assert isinstance(begin, int)
    assert isinstance(stop, int)
    return range(begin, stop, step)


def _limits(size: Dim, start: Dim, end: Dim, forward: bool) -> tuple[Dim, Dim]:
    """The first position and the position that ends the slice. The slice is empty if they are in the wrong order.

    Forward, Slice-13 clamps `start` and `end` to [0, size]; backward, to [0, size - 1] and [-1, size - 1]. Clamps that
    only distinguish empty slices are left out.
    """
    if forward:
        return _from_front(size, start, 0, None), _from_front(size, end, None, size)
    begin = _from_front(size, start, 0, size - 1)
    return begin if at_least(size, 1) else minimum(begin, size - 1), _from_front(size, end, -1, None)


def _sign(bound: Dim) -> int | None:
    """1 if the bound is >= 0, -1 if it is < 0, None if its interval does not decide."""
    return 1 if at_least(bound, 0) else -1 if at_least(-bound - 1, 0) else None


def _from_front(size: Dim, bound: Dim, low: int | None, high: Dim | None) -> Dim:
    """The bound counted from the front of the axis, clamped to [low, high]; None is no clamp on that side."""
    sign = _sign(bound)
    if sign is not None and at_least(sign * bound, _FAR) and not at_least(size, _FAR + 1):
        return (size if high is None else high) if sign > 0 else low or 0
    if sign == 1:
        return bound if high is None else no_more(bound, high)
    if sign == -1:
        return bound + size if low is None else no_less(bound + size, low)
    state("undecided", bound, 0, "the sign of a bound of a slice")
    return minimum(maximum(bound, 0), size if high is None else high) + _from_back(size, bound, low or 0)


def _from_back(size: Dim, bound: Dim, low: int) -> Dim:
    """max(bound + size, low) where the bound is negative, else 0."""
    # with n = max(-bound, 0), [bound < 0] is min(n, 1), and max(size - n, low) is size - min(n, size - low)
    behind = maximum(-bound, 0)
    return size * minimum(behind, 1) - minimum(behind, size - low)


def slice_end(dtype: int) -> int:
    """The end of a Slice that stands for the end of every axis: the largest number of the element type of the ends."""
    return INTEGER_RANGE[dtype][1]


_SAME_FROM_BACK = 2
"""`x - 1` and `x - 2` mean the same place as -1 and -2, also where they are negative: both are then the first one."""


def slice_bound(element: Dim, size: Dim, dtype: int) -> Dim:
    """The same start or end, as a number if there is one: of a positive step, of an axis of this size.

    `dtype` is the type of the bounds.

    >>> from onnx_infer.values.dtype import INT32, INT64
    >>> from symdim import Var
    >>> S = Var("S")
    >>> slice_bound(S - 1, S, INT64), slice_bound(S, S, INT32) == 2**31 - 1, slice_bound(S - 3, S, INT64)
    (-1, True, S - 3)
    """
    if isinstance(element, int):
        return element
    if at_least(element - size, 0):
        return slice_end(dtype)
    back = size - element
    if isinstance(back, int) and (back <= _SAME_FROM_BACK or at_least(element, 0)):
        return -back
    return element


def successive(
    inputs: Sequence[Value | None], outputs: Sequence[Value | None], attributes: Mapping[str, Any]
) -> list[Dim | None]:
    """The number of the first element of a Slice, if its elements lie one behind the other in the data."""
    data, part = inputs[0], outputs[0]
    if not isinstance(data, SymTensor) or data.shape is None or not isinstance(part, SymTensor) or part.shape is None:
        return []
    known: list[Any] = [known_elements(value) for value in inputs[1:]]
    starts, _, axes, steps = [*known, None, None][:4] if known else map(attributes.get, ("starts", "ends", "axes", ""))
    cut = [i for i, (a, b) in enumerate(zip(data.shape, part.shape, strict=True)) if a != b]
    if starts is None or len(cut) > 1 or any(step != 1 for step in steps or ()) or (steps is None and len(known) > 3):
        return []
    if not cut:
        return [0]
    along = range(len(starts)) if axes is None else axes
    begins = {axis % len(data.shape): x for axis, x in zip(along, starts, strict=False) if isinstance(axis, int)}
    start, size = begins.get(cut[0]), data.shape[cut[0]]
    if start is None or len(begins) < len(starts) or any(dim != 1 for dim in data.shape[: cut[0]]):
        return []
    start = start + size if at_most(start, -1) else start
    is_inside = at_least(start, 0) and at_least(size - start - part.shape[cut[0]], 0)
    return [start * product(data.shape[cut[0] + 1 :])] if is_inside else []
