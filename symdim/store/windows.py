"""The number of windows that fit into an axis: the sizes of convolutions and pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.canonical import ceildiv, minimum
from symdim.errors import SymdimError
from symdim.store.constraints import SizeEqual, WindowCount

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.store.propagation import Propagation

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def affine_size(over: Dim, stride: int, kernel: Dim | None, dilation: int, padding: bool) -> Dim:
    """The size of an axis with reads at stride*i + dilation*j, for i < over and j < kernel.

        stride*over                                       without a kernel, or with padding that keeps the size
        stride*(over - 1) + 1 + (kernel - 1)*dilation     otherwise

    >>> affine_size(3, 2, 3, 1, False), affine_size(3, 2, None, 1, True)
    (7, 6)
    """
    if kernel is None or padding:
        return stride * over
    return stride * (over - 1) + 1 + (kernel - 1) * dilation


def windows(
    size: Dim,
    kernel: Dim,
    stride: int = 1,
    dilation: int = 1,
    pads: tuple[int, int] = (0, 0),
    auto_pad: str = "NOTSET",
    ceil: bool = False,
) -> Dim | None:
    """The number of windows in an axis as ONNX counts it; None if it is not an expression.

        span     dilation*(kernel - 1) + 1
        SAME     ceil(size / stride)
        floor    (size + pads - span) // stride + 1
        ceil     the same rounded up, without a last window that would begin beyond the input and its left padding

    >>> windows(6, 3, 2), windows(6, 3, 2, ceil=True), windows(2, 1, 2, ceil=True)
    (2, 3, 1)
    """
    if auto_pad not in AUTO_PADS or stride < 1 or dilation < 1:
        raise SymdimError(f"a window cannot have stride {stride}, dilation {dilation} and auto_pad {auto_pad!r}")
    if auto_pad.startswith("SAME"):
        return ceildiv(size, stride)
    before, after = (0, 0) if auto_pad == "VALID" else pads
    room = free_room(size, kernel, dilation, before + after)
    if not ceil:
        return room // stride + 1
    if isinstance(room, int) and isinstance(size, int):
        count = ceildiv(room, stride) + 1
        return count - 1 if (count - 1) * stride >= size + before else count
    if after and not (isinstance(kernel, int) and after < (kernel - 1) * dilation + 1):
        return None  # more than one window may begin beyond the input
    # the minimum of ceil(room / stride) + 1 and ceil((size + before) / stride), the windows that begin before the end
    return (size + before + stride - 1 + minimum(room - size - before + stride, 0)) // stride


def free_room(size: Dim, kernel: Dim, dilation: int, padding: int) -> Dim:
    """The size of the padded axis minus that of a window; negative if no window fits."""
    return size + padding - ((kernel - 1) * dilation + 1)


def window_count(p: Propagation, fact: WindowCount) -> bool:
    """Equate the number of windows as soon as it is an expression."""
    size, kernel = p.size(fact.size), p.size(fact.kernel)
    number = windows(size, kernel, fact.stride, fact.dilation, fact.pads, ceil=fact.ceil)
    if number is None:
        return False
    p.push(SizeEqual(fact.origin, (fact,), fact.law, fact.out, number, fact.kernel))
    return True
