"""Targets of Reshape and Expand, ends of Slice, sizes of Resize as constants: where every run is the same with them.

The functions take the elements of the target as they are known, and the sizes of the input. An element is an int or an
expression of sizes, which may be 0. They return the new elements: an int, or the expression that must be computed.
A run that the given target refuses is refused with the new one, and no other run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.laws.sizes import at_least
from onnx_infer.ops.reshaping import factors
from onnx_infer.values import dtype as dt
from symdim import Expr, product
from symdim.algebra.bounds import bounds_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_infer.values.tensor import Dim, Shape


def slice_end(dtype: int) -> int:
    """The end of a Slice that stands for the end of every axis: the largest number of the element type of the ends."""
    return dt.INTEGER_RANGE[dtype][1]


def reshape_target(elements: Sequence[Dim], shape: Shape, allowzero: bool = False, made: Shape = ()) -> tuple[Dim, ...]:
    """The target of a Reshape without `allowzero`, for one with or without it. `made` is the shape of the result.

    A size that the input has at the same index is copied by a 0; where it is 0 in a run, the given target copies too. A
    single other expression is -1 if all its factors that may be 0 are in the size that a 0 would copy, no other size
    is 0, and the element counts are equal in every run. A target with `allowzero` stays if the new one would need that.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> reshape_target((N, S, 12, 64), (N, S, 768)), reshape_target((N * S, 12), (N, S, 12))
    ((0, 0, 12, 64), (-1, 12))

    The element counts of the first are equal for some sizes only; the second has two open sizes.

    >>> reshape_target((S, 12), (N, 12)), reshape_target((S, N), (N, S))
    ((S, 12), (S, N))
    """
    given = tuple(elements)
    if allowzero and -1 in elements and len(made) == len(elements) and product(made) == product(shape):
        elements = [size if e == -1 and isinstance(size, int) else e for e, size in zip(elements, made, strict=True)]
    sizes_may_be_0 = not all(at_least(e, 1) for e in elements if e != -1)
    if allowzero and (0 in elements or (-1 in elements and sizes_may_be_0)):
        return given
    copied = [shape[i] if i < len(shape) else None for i in range(len(elements))]
    found: list[Dim] = [
        0 if isinstance(e, Expr) and size is not None and e == size else e
        for e, size in zip(elements, copied, strict=True)
    ]
    left = [i for i, e in enumerate(found) if isinstance(e, Expr)]
    if len(left) == 1 and -1 not in elements:
        (i,) = left
        others = [size if e == 0 and size is not None else e for e, size in zip(found, copied, strict=True)]
        del others[i]
        exact = product([elements[i], *others]) == product(shape)
        if exact and all(at_least(e, 1) for e in others) and _copies_nothing(elements[i], copied[i], allowzero):
            found[i] = -1
    settled = all(isinstance(e, int) or at_least(e, 1) for e in found)
    return tuple(found) if settled or not allowzero else given


def _copies_nothing(element: Dim, copied: Dim | None, allowzero: bool) -> bool:
    """Whether an element of a target stands for itself also where it is 0."""
    if at_least(element, 1):
        return True
    if not at_least(element, 0):
        return False
    return allowzero or (copied is not None and all(at_least(f, 1) or f in factors(copied) for f in factors(element)))


def expand_target(elements: Sequence[Dim], shape: Shape) -> tuple[Dim, ...]:
    """The target of an Expand: 1 in place of a size that the input has at the same axis.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> expand_target((N, 12, S), (N, 1, S)), expand_target((N, S), (S,)), expand_target((N, S), (1, 1))
    ((1, 12, 1), (N, 1), (N, S))
    """
    pad = len(elements) - len(shape)
    return tuple(
        1 if isinstance(e, Expr) and 0 <= i - pad < len(shape) and e == shape[i - pad] else e
        for i, e in enumerate(elements)
    )


_SAME_FROM_BACK = 2
"""`x - 1` and `x - 2` mean the same place as -1 and -2, also where they are negative: both are then the first one."""


def slice_bound(element: Dim, size: Dim, dtype: int) -> Dim:
    """The start or end of a Slice with a positive step, of an axis of this size. `dtype` is the type of the bounds.

    >>> from symdim import Var
    >>> S = Var("S")
    >>> slice_bound(S - 1, S, dt.INT64), slice_bound(S, S, dt.INT32) == 2**31 - 1, slice_bound(S - 3, S, dt.INT64)
    (-1, True, S - 3)
    """
    if not isinstance(element, Expr):
        return element
    if at_least(element - size, 0):
        return slice_end(dtype)
    back = size - element
    if isinstance(back, int) and (back <= _SAME_FROM_BACK or at_least(element, 0)):
        return -back
    return element


_EXACT_IN_FLOAT32 = 2**24
"""Whole numbers up to this one are exact in float32."""


def resize_axes(elements: Sequence[Dim], shape: Shape, axes: Sequence[int]) -> tuple[list[int], tuple[Dim, ...]]:
    """The axes that a Resize changes, of those that it has sizes for, and their sizes.

    >>> from symdim import Var
    >>> N, H = Var("N"), Var("H")
    >>> resize_axes((N, 3, 56, H), (N, 3, H, H), range(4))
    ([2], (56,))
    """
    changed = [(axis, e) for axis, e in zip(axes, elements, strict=True) if e != shape[axis]]
    return [axis for axis, _ in changed], tuple(e for _, e in changed)


def resize_scales(elements: Sequence[Dim], shape: Sequence[Dim]) -> tuple[int, ...] | None:
    """The whole numbers by which a Resize scales a shape; None if there are none.

    A runtime computes a size from its scale in float32, so bounds must show that it is exact there.

    >>> from symdim import Var
    >>> n, h, w = Var.fresh("n", 1, 8), Var.fresh("h", 1, 4096), Var.fresh("w")
    >>> resize_scales((n, 2 * h), (n, h)), resize_scales((n, h + 1), (n, h)), resize_scales((w,), (w,))
    ((1, 2), None, None)
    """
    scales = [_whole_scale(e, size) for e, size in zip(elements, shape, strict=True)]
    found = tuple(scale for scale in scales if scale is not None)
    return found if len(found) == len(scales) else None


def _whole_scale(element: Dim, size: Dim) -> int | None:
    _, most = bounds_of(element)
    if most is None or most > _EXACT_IN_FLOAT32 or not at_least(size, 1):
        return None
    scale = element // size
    return scale if isinstance(scale, int) and scale >= 1 and scale * size == element else None
