"""How many places a sliding window has along an axis, and the inverse of that: the laws of convolutions and pools."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from onnx_infer.errors import require
from onnx_infer.laws.limits import demand_at_least
from onnx_infer.laws.statements import call_mode, conflicting, fresh, state
from symdim import ceildiv, maximum, minimum
from symdim.algebra.caches import clear_with_caches
from symdim.algebra.dims import at_least, at_most, bounds_of
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim

IntVector: TypeAlias = tuple[int, ...]
"""An attribute with one or two numbers per spatial axis; None where it is not given."""

AUTO_PAD = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


class Window(NamedTuple):
    """A window that slides along one axis; `same` pads so that the result has one place per stride."""

    kernel: Dim
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0
    same: bool = False

    @property
    def extent(self) -> Dim:
        """The distance it covers: `(kernel - 1) * dilation + 1`."""
        return (self.kernel - 1) * self.dilation + 1

    def places(self, size: Dim) -> Dim:
        """Where a convolution's window fits into the padded axis: `(size + pads - extent)//stride + 1` (Conv-1 to 22).

        SAME: `ceil(size / stride)`. A window that provably does not fit is reported.

        >>> Window(3, stride=2, before=1, after=1).places(7), Window(3, stride=2, same=True).places(7)
        (4, 4)
        """
        if self.same:
            return ceildiv(size, self.stride)
        room = size + self.before + self.after - self.extent
        if at_most(room, -1):
            return conflicting(f"the window of {self.extent} exceeds the padded size: {size}")
        return room // self.stride + 1

    def pooled(self, size: Dim, ceil_mode: int) -> Dim:
        """The places of a pool's window (MaxPool, AveragePool, LpPool).

        With `ceil_mode`, `ceil((size + pads - extent) / stride) + 1`, of which a last window that would start behind
        `size + before` is dropped, in every version as runtimes do. In one term, with o = after - extent:
        `ceil((size + before + max(o, min(stride + o, 0))) / stride)`.

        >>> Window(1, stride=4).pooled(7, ceil_mode=1), Window(3, stride=2).pooled(8, ceil_mode=1)
        (2, 4)
        """
        over = self.after - self.extent
        if not self.same:
            # further below, the number of places would be negative however it is rounded
            smallest = self.extent + 1 - 2 * self.stride
            demand_at_least(size + self.before + self.after, smallest, "the padded input of a pool")
        if self.same and self.extent != self.kernel:
            # the specification gives ceil(size / stride); onnxruntime's pads leave the dilation out
            return fresh("SAME padding of a dilated pool", at_most=self.places(size))
        if ceil_mode and not self.same:
            return ceildiv(size + self.before + maximum(over, minimum(self.stride + over, 0)), self.stride)
        if self.same:
            return self.places(size)
        # where the window exceeds the padded size the specification rounds down, and onnxruntime, which runs, towards 0
        least, most = bounds_of(size + self.before + over)
        if most is not None and most <= -self.stride:
            return 0
        if most is not None and most < 0:
            return fresh("the window of the pool exceeds the padded size", at_most=1)
        if self.stride > 1 and (least is None or least < 0):
            if call_mode().is_cautious:
                return fresh("whether a window fits", at_most=None if most is None else most // self.stride + 1)
            padded = size + self.before + self.after
            state("at_least", padded, self.extent, "a window fits into the padded input", "assumed")
        return self.places(size)

    def spread(self, count: Dim, extra: int = 0) -> Dim:
        """The axis that `count` places of the window cover, pads taken off: the inverse of `places` (ConvTranspose).

        `(count - 1)*stride + extra + extent - pads`; SAME takes off what exceeds `count*stride`, where anything does.

        >>> Window(3, stride=2).spread(4), Window(3, stride=2, same=True).spread(4), Window(1, 2, same=True).spread(4)
        (9, 8, 7)
        """
        reach = self.extent + extra
        last = minimum(self.stride, reach) if self.same else reach - self.before - self.after
        return (count - 1) * self.stride + last


class Windows(NamedTuple):
    """The attributes of a node that say how its window slides along the spatial axes; None for one that is not given.

    Rules get it as a parameter of this type (`onnx_infer.operators.arguments`). An operator has some of them.
    """

    kernel_shape: IntVector | None = None
    strides: IntVector | None = None
    dilations: IntVector | None = None
    pads: IntVector | None = None
    auto_pad: str = "NOTSET"
    ceil_mode: int = 0
    output_padding: IntVector | None = None
    output_shape: IntVector | None = None

    def along(self, kernel: tuple[Dim, ...]) -> tuple[Window, ...]:
        """One window per spatial axis, with these sizes of the kernel; `pads` counts only with `auto_pad` NOTSET.

        Raises `ShapeInferenceError` for attributes that break their law. A kernel whose size may be 0 has some element:
        onnxruntime refuses one without any, or crashes, or, if it is quantized, runs.

        >>> Windows(dilations=(2,), pads=(1, 0)).along((3,))
        (Window(kernel=3, stride=1, dilation=2, before=1, after=0, same=False),)
        """
        for size in kernel:
            if not at_least(size, 1) and not at_most(size, 0):
                state("at_least", size, 1, "the size of the kernel", "assumed")
        return _along(self, kernel)


@lru_cache(maxsize=1 << 9)
def _along(window: Windows, kernel: tuple[Dim, ...]) -> tuple[Window, ...]:
    rank = len(kernel)
    strides = (1,) * rank if window.strides is None else window.strides
    dilations = (1,) * rank if window.dilations is None else window.dilations
    pads = (0,) * (2 * rank) if window.pads is None else window.pads
    auto_pad = window.auto_pad or "NOTSET"  # as runtimes read an empty text
    require(auto_pad in AUTO_PAD, f"auto_pad is none of {', '.join(AUTO_PAD)}", auto_pad)
    for name, values, count, least in (
        ("strides", strides, rank, 1),
        ("dilations", dilations, rank, 1),
        ("pads", pads, 2 * rank, 0),
    ):
        require(len(values) == count, f"{name} must have {count} elements for {rank} spatial axes", list(values))
        require(min(values, default=least) >= least, f"{name} must be at least {least}", list(values))
    for size in kernel:
        require(not at_most(size, 0), "the kernel must be at least 1", size)
    if auto_pad != "NOTSET":
        pads = (0,) * (2 * rank)
    same = auto_pad.startswith("SAME")
    axes = zip(kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)
    return tuple(Window(k, s, d, before, after, same) for k, s, d, before, after in axes)


clear_with_caches(_along.cache_clear)
