"""ATen of org.pytorch.aten: functions of torch that an exporter of training models calls by name.

Here are those that onnxruntime's symbolic inference knows. The operands are the arguments of the function, in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.elements.scaling import scaled
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import known_elements, no_less, no_more
from onnx_infer.laws.sizes import broadcast, normalize_axis, unknown_shape
from onnx_infer.laws.statements import fresh, warn
from onnx_infer.laws.windows import Window
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import uncounted
from onnx_infer.ops.contrib.window import unfold
from onnx_infer.ops.reduction import reduce
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.ops.kinds import Dim, Shape, Value, Values

    Function = Callable[[SymTensor, list[Value | None]], list[SymTensor]]


@op("ATen", domain="org.pytorch.aten", inputs="first arguments?*", dtype=lambda: None, cost=uncounted)
def aten(first: SymTensor, arguments: Values, operator: str) -> list[Value]:
    """The results of a function, by its name."""
    if operator not in _FUNCTIONS:
        warn(f"unsupported operator {operator} of ATen")
        raise Unknown(f"unsupported operator {operator} of ATen")
    return [*_FUNCTIONS[operator](first, [*arguments, *[None] * 6])]


def _vector(value: Value | None) -> tuple[Dim, ...] | None:
    """The elements of an operand; None if it is absent or one of them is not known."""
    return None if value is None else known_elements(value)


def _scalar(value: Value | None, default: int | None = None) -> Any:
    """The only element of an operand, or the default of one that is absent; None if it is not known."""
    if value is None:
        return default
    elements = _vector(value)
    return elements[0] if elements is not None and len(elements) == 1 else None


def _pair(value: Value | None, default: Any) -> Any:
    """Two numbers along height and width, which one may stand for; None if they are not known."""
    elements = _vector(value) if value is not None else default
    if elements is None or not all(isinstance(x, int) for x in elements):
        return None
    return elements or default if len(elements) != 1 else elements * 2


def _embedding(weight: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    require(weight.rank == 2, "rank of weight is not 2", weight.rank)
    shape = _tensor(more[0], "indices").shape
    return [SymTensor(weight.dtype, None if shape is None else (*shape, weight.dims[1]))]


def _tensor(value: Value | None, name: str) -> SymTensor:
    require(isinstance(value, SymTensor), f"{name} is not a tensor")
    return value  # type: ignore[return-value]


def _binary(x: SymTensor, other: SymTensor) -> list[SymTensor]:
    return [SymTensor(x.dtype, None if other.shape is None else broadcast(x.dims, other.shape))]


def _diagonal(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    offset, first, second = _scalar(more[0], 0), _scalar(more[1], 0), _scalar(more[2], 1)
    if None in (offset, first, second):
        return [SymTensor(x.dtype, unknown_shape(x.rank - 1, "a diagonal"))]
    first, second = normalize_axis(first, x.rank), normalize_axis(second, x.rank)
    require(first != second, "the axes of the diagonal are one", first)
    rows, columns = x.dims[first], x.dims[second]
    below = no_less(-offset, 0)
    size = no_less(no_more(rows - below, columns - (offset + below)), 0)
    return [SymTensor(x.dtype, (*(d for i, d in enumerate(x.dims) if i not in (first, second)), size))]


def _pool(x: SymTensor, more: list[Value | None], places: tuple[int, int, int, int | None, int]) -> Shape:
    """The shape after a window; `places` of its kernel, strides, pads, dilations (or None) and ceil_mode."""
    require(x.rank in (3, 4), "rank of the input is neither 3 nor 4", x.rank)
    at, by, around, apart, ceil = places
    kernel = _pair(more[at], None)
    strides, pads = _pair(more[by], kernel), _pair(more[around], (0, 0))
    dilations = (1, 1) if apart is None else _pair(more[apart], (1, 1))
    ceil_mode = _scalar(more[ceil], 0)
    if None in (kernel, strides, pads, dilations, ceil_mode):
        return (*x.dims[:-2], *unknown_shape(2, "a pool"))
    windows = [Window(*each) for each in zip(kernel, strides, dilations, pads, pads, strict=True)]
    return (*x.dims[:-2], *(w.pooled(n, int(ceil_mode)) for w, n in zip(windows, x.dims[-2:], strict=True)))


def _max_pool(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    shape = _pool(x, more, (0, 1, 2, 3, 4))
    return [SymTensor(x.dtype, shape), SymTensor(dt.INT64, shape)]


def _adaptive_pool(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    sizes = _vector(more[0])
    sizes = unknown_shape(2, "output_size") if sizes is None else sizes
    return [SymTensor(x.dtype, (*x.dims[:-2], *(sizes * 2 if len(sizes) == 1 else sizes)))]


def _reduced(x: SymTensor, dim: Value | None, keepdim: Value | None) -> Shape | None:
    """x's shape without the axis `dim`, or with 1 there. Without `dim` the whole tensor is reduced."""
    if dim is None:
        return ()
    axis, keeps = _scalar(dim), _scalar(keepdim, 0)
    if keeps is None:
        return None
    if axis is None:
        return unknown_shape(x.rank - (not keeps), "a reduced tensor")
    return reduce(x, (axis,), int(keeps))


def _extreme(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    """The extreme of all elements; those along an axis and their indices; or the larger or smaller of two elements."""
    if more[0] is not None and more[1] is None:
        return _binary(x, _tensor(more[0], "other"))
    shape = _reduced(x, more[0], more[1])
    return [SymTensor(x.dtype, shape), SymTensor(dt.INT64, shape)]


def _multinomial(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    require(x.rank in (1, 2), "rank of the input is neither 1 nor 2", x.rank)
    count = _scalar(more[0])
    return [SymTensor(dt.INT64, (*x.dims[:-1], fresh("num_samples is not known") if count is None else count))]


def _unfold(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    dim, size, step = map(_scalar, more[:3])
    if None in (dim, size, step):
        return [SymTensor(x.dtype, unknown_shape(x.rank + 1, "the slices"))]
    return [SymTensor(x.dtype, unfold(x, size=size, dim=dim, step=step))]


def _group_norm(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    require(x.rank >= 2, "rank of the input is less than 2", x.rank)
    groups = _scalar(more[5])
    statistics = (x.dims[0], fresh("the number of groups is not known") if groups is None else groups)
    return [SymTensor(x.dtype, shape) for shape in (x.dims, statistics, statistics)]


def _upsample(x: SymTensor, more: list[Value | None]) -> list[SymTensor]:
    """Output sizes, or where they are absent factors as the last operand of the overload `vec`."""
    outer, spatial = x.dims[:2], x.dims[2:]
    sizes = _vector(more[0])
    if more[0] is None:
        factors = next((v for v in reversed(more) if v is not None), None)
        scales = _vector(factors)
        if scales is not None and len(scales) == len(spatial):
            sizes = tuple(scaled(n, scale) for n, scale in zip(spatial, scales, strict=True))
    if sizes is None:
        sizes = unknown_shape(len(spatial), "an upsampled tensor")
    require(len(sizes) == len(spatial), "the numbers of sizes and of spatial axes differ", len(sizes), len(spatial))
    return [SymTensor(x.dtype, (*outer, *sizes))]


_FUNCTIONS: dict[str, Function] = {
    "embedding": _embedding,
    "bitwise_or": lambda x, more: _binary(x, _tensor(more[0], "other")),
    "diagonal": _diagonal,
    "max_pool2d_with_indices": _max_pool,
    "avg_pool2d": lambda x, more: [SymTensor(x.dtype, _pool(x, more, (0, 1, 2, None, 3)))],
    "_adaptive_avg_pool2d": _adaptive_pool,
    "max": _extreme,
    "min": _extreme,
    "argmax": lambda x, more: [SymTensor(dt.INT64, _reduced(x, more[0], more[1]))],
    "multinomial": _multinomial,
    "unfold": _unfold,
    "numpy_T": lambda x, more: [SymTensor(x.dtype, x.dims[::-1])],
    "native_group_norm": _group_norm,
    "upsample_nearest1d": _upsample,
    "upsample_nearest2d": _upsample,
    "upsample_nearest3d": _upsample,
    "upsample_bicubic2d": _upsample,
}
