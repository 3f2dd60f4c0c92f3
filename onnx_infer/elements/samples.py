"""Samples: some elements that occur in a tensor, if not all of its elements are known.

`Range(0, S)` has the elements 0 and `S - 1`, so a table that it indexes has at least S rows. Samples occur in a tensor
unless it is empty. They say nothing about other elements, which may be smaller or larger.
"""

from __future__ import annotations

from itertools import chain, islice, product
from math import prod
from typing import TYPE_CHECKING, Any

from onnx_infer.elements.arithmetic import convert
from onnx_infer.elements.progressions import consisting_of, element_of, of_progressions, slice_of
from onnx_infer.laws.readable import is_unreadable
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import elements_of, unread
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value, is_small
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Samples = tuple[Any, ...]

_POSITIONS = (dt.INT64, dt.INT32)

_MOST = 4
_MOST_TRIED = 16
_MOST_COLUMNS = 8
"""The most indices of a last axis of which each has its own samples."""


def _few(elements: Iterable[Any]) -> Samples:
    """A few of the elements, in their order. If there are too many, the smallest and the largest ones."""
    known = list(dict.fromkeys(x for x in elements if isinstance(x, (int, float, Expr))))
    if len(known) <= _MOST:
        return tuple(known)
    numbers: list[Any] = [x for x in known if not isinstance(x, Expr)]
    sizes = [*dict.fromkeys([min(numbers), max(numbers)])] if numbers else []
    sizes += [x for x in known if isinstance(x, Expr)][:_MOST_TRIED]
    if any(isinstance(x, float) for x in sizes):
        return tuple(sizes[:2])
    kept = [*smallest(sizes)[: _MOST // 2], *largest(sizes)[: _MOST // 2]]
    return tuple([x for x in sizes if x in kept])


def largest(sizes: Iterable[Dim]) -> list[Dim]:
    """The sizes without those that are at most another one.

    >>> from symdim import Var
    >>> N, P = Var("N"), Var("P")
    >>> largest([0, P - 1, N * P - P, N * P - 1])
    [N*P - 1]
    """
    return _without(sizes, lambda size, other: at_least(other - size, 0))


def smallest(sizes: Iterable[Dim]) -> list[Dim]:
    """The sizes without those that are at least another one."""
    return _without(sizes, lambda size, other: at_least(size - other, 0))


def _without(sizes: Iterable[Dim], gives_way: Callable[[Dim, Dim], bool]) -> list[Dim]:
    kept: list[Dim] = []
    for size in sizes:
        if not any(gives_way(size, other) for other in kept):
            kept = [*[other for other in kept if not gives_way(other, size)], size]
    return kept


def samples_of(tensor: SymTensor) -> Samples:
    """A few elements that occur in a tensor unless it is empty.

    >>> samples_of(SymTensor(7, (6,), (3, 1, 4, 1, 5, 9)))
    (1, 9)
    """
    if tensor.data is not None:
        return _few(tensor.data)
    return (tensor.fill,) if tensor.fill is not None else _few(chain(*tensor.samples))


def samples_at(tensor: SymTensor, index: int) -> Samples:
    """As `samples_of`, for the part of a tensor at an index of its last axis, whose size must be known.

    >>> samples_at(SymTensor(7, (3, 2), (1, 0, 2, 0, 3, 0)), 0)
    (1, 2, 3)
    """
    count = tensor.dims[-1]
    if tensor.data is not None and isinstance(count, int):
        return _few(tensor.data[index::count])
    if count == 1 or tensor.fill is not None:
        return samples_of(tensor)
    return tensor.samples[index] if len(tensor.samples) == count else ()


def element_at(tensor: SymTensor, index: int) -> Any:
    """The element of a vector or scalar at an index, if sizes and run-time elements decide it; else None.

    >>> from symdim import Var
    >>> element_at(SymTensor(7, (2,), (3, None), samples=((3,), (Var("p"),))), 1)
    p
    """
    if tensor.data is not None and index < len(tensor.data) and tensor.data[index] is not None:
        return tensor.data[index]
    if tensor.fill is not None:
        return tensor.fill
    if tensor.shape is None or len(tensor.shape) != 1 or tensor.shape[0] != len(tensor.samples):
        return None
    return next(iter(tensor.samples[index]), None) if index < len(tensor.samples) else None


def joined_samples(tensors: Sequence[SymTensor], axis: int) -> tuple[Samples, ...]:
    """Samples of joined tensors of one rank: those of each tensor that has elements whenever the result has some.

    Where they are joined along their last axis, each index of it has its own.
    """
    if all(x.data is not None for x in tensors):
        return ()
    columns: list[Samples] = []
    samples: list[Any] = []
    along_last = True
    for x in tensors:
        if x.shape is None or not -len(x.shape) <= axis < len(x.shape):
            return ()
        count = x.shape[-1]
        along_last &= axis in (-1, len(x.shape) - 1) and isinstance(count, int)
        if along_last and isinstance(count, int) and (along_last := len(columns) + count <= _MOST_COLUMNS):
            columns += [samples_at(x, i) for i in range(count)]
        if at_least(x.shape[axis], 1):
            samples += samples_of(x)
    kept = tuple(columns) if along_last else (_few(samples),)
    return kept if any(kept) else ()


def common_element(tensors: Sequence[SymTensor]) -> Any:
    """The value of all elements of all tensors, if they are not known one by one; or None.

    >>> from symdim import Var
    >>> ones = [SymTensor(7, (Var(name),), fill=1) for name in "NM"]
    >>> common_element(ones), common_element([*ones, SymTensor(7, (2,), (1, 2))])
    (1, None)
    """
    if not tensors or all(x.data is not None for x in tensors):
        return None
    first, *others = [equal_element(x) if x.shape is not None else None for x in tensors]
    return first if all(x is first or x == first for x in others) else None


def equal_element(tensor: SymTensor) -> Any:
    """The common value of all elements, or None."""
    if tensor.data is None:
        return tensor.fill
    first = tensor.data[0] if tensor.data else None
    return first if all(x is first or x == first for x in tensor.data) else None


def moved(tensor: SymTensor, value: SymTensor) -> SymTensor:
    """The value of a node with exactly the elements of a tensor, unless it is empty."""
    samples = samples_of(tensor)
    if not samples:
        return value
    fill = equal_element(tensor)
    return with_elements(value, _cast(fill, tensor, value), [_cast(x, tensor, value) for x in samples])


def _cast(x: Any, tensor: SymTensor, value: SymTensor) -> Any:
    """An element in the element type of the value; None if the type may be too small for an element of a run."""
    if x is None or (tensor.dtype != value.dtype and elements_of(x) and not _holds(value.dtype, tensor.dtype)):
        return None
    return convert(x, value.dtype)


def _holds(dtype: int | None, other: int | None) -> bool:
    """Whether an integer type holds all numbers of another one."""
    low, high = dt.INTEGER_RANGE.get(dtype or 0, (0, -1))
    least, most = dt.INTEGER_RANGE.get(other or 0, (0, -1))
    return low <= least <= most <= high


def part_of(tensor: SymTensor, value: SymTensor, start: Dim | None, step: Dim | None) -> SymTensor:
    """The value of a Slice: all elements of a tensor if no size changes. `start` and `step` are those of a vector."""
    fill = equal_element(tensor)
    parts = None
    if tensor.progressions and value.rank == 1 and start is not None and step is not None and value.data is None:
        parts = slice_of(tensor, start, step, value.dims[0])
    if parts is not None and value.shape == (1,):
        fill = parts[0].start
    elif parts is not None:
        return consisting_of(parts, value.dtype, value.dims)
    if value.shape == tensor.shape:
        return moved(tensor, value)
    return value if fill is None else with_elements(value, fill, ())


def taken(tensor: SymTensor, indices: SymTensor, value: SymTensor) -> SymTensor:
    """The value of a node that takes the elements of a tensor at some indices."""
    fill = equal_element(tensor)
    if fill is None and tensor.samples and tensor.rank == 1 and indices.data is not None and len(indices.data) == 1:
        (index,), (size,) = indices.data, tensor.dims
        if isinstance(index, int) and isinstance(size, int) and -size <= index < size:
            fill = element_at(tensor, index % size)
        elif isinstance(index, (int, Expr)):
            fill = element_of(tensor, index)
    return value if fill is None else with_elements(value, fill, ())


def of_function(function: Callable[..., Any], tensors: Sequence[Value], value: SymTensor) -> SymTensor:
    """The value of a node whose elements are a function of the elements of its operands, which broadcast.

    The function is applied to elements that occur at the same place: the elements of an operand are all equal, or the
    operands vary along different axes. Otherwise only one operand's samples are used and the others are unknown. Floats
    that are not all equal are left out, because they are activations.

    >>> from onnx_infer.elements.conditions import logical_and
    >>> from symdim import Var
    >>> N, unknown = Var("N"), SymTensor(9, (Var("N"),))
    >>> of_function(logical_and, [SymTensor(9, (N,), fill=False), unknown], unknown).fill
    False
    """
    equal = [equal_element(x) if isinstance(x, SymTensor) and x.shape is not None else None for x in tensors]
    if any(x is not None for x in equal):
        fill = convert(function(*equal), value.dtype)
        if fill is not None:
            return with_elements(value, fill, ())
    if value.dtype in dt.FLOATS:
        return value
    value = _of_varying(function, tensors, equal, value)
    if value.progressions:
        return value
    columns = _at_each_index(function, tensors, value)
    if columns:
        return SymTensor(value.dtype, value.shape, samples=columns)
    choices: list[Samples] = []
    varied: list[SymTensor] = []
    for x, element in zip(tensors, equal, strict=True):
        occurring = samples_of(x) if isinstance(x, SymTensor) and x.shape is not None else ()
        if occurring and element is None:
            occurring = occurring if _varies_apart(x, varied) else ()  # type: ignore[arg-type]
        choices.append(occurring or (None,))
    if not any(choice != (None,) for choice in choices):
        return value
    results = [convert(function(*chosen), value.dtype) for chosen in islice(product(*choices), _MOST_TRIED)]
    return with_elements(value, None, results)


def _of_varying(
    function: Callable[..., Any], tensors: Sequence[Value], equal: list[Any], value: SymTensor
) -> SymTensor:
    """The value with progressions, if one operand has some and the others have equal elements."""
    varying = [x for x, element in zip(tensors, equal, strict=True) if element is None]
    if len(varying) != 1 or not isinstance(varying[0], SymTensor) or not varying[0].progressions:
        return value
    parts = of_progressions(function, equal, varying[0])
    return value if parts is None else consisting_of(parts, value.dtype, value.dims)


def _at_each_index(function: Callable[..., Any], tensors: Sequence[Value], value: SymTensor) -> tuple[Samples, ...]:
    """The elements of a short vector: the function of the operands' elements at each index; () if none is known."""
    count = value.dims[0] if len(value.dims) == 1 else 0
    vectors = [x for x in tensors if isinstance(x, SymTensor) and x.shape in ((), (1,), (count,))]
    if not isinstance(count, int) or not 1 < count <= _MOST_COLUMNS or len(vectors) < len(tensors):
        return ()
    columns: list[Samples] = []
    for i in range(count):
        result = convert(function(*[element_at(x, i if x.shape == value.shape else 0) for x in vectors]), value.dtype)
        columns.append((result,) if isinstance(result, (int, Expr)) and not is_unreadable(result) else ())
    return tuple(columns) if any(columns) else ()


def _varies_apart(tensor: SymTensor, others: list[SymTensor]) -> bool:
    """Whether a tensor varies only along axes at which the others have size 1. If so, it is added to the others."""
    for other in others:
        pairs = zip(reversed(tensor.dims), reversed(other.dims), strict=False)
        if any(a != 1 and b != 1 for a, b in pairs):
            return False
    others.append(tensor)
    return True


def with_elements(value: SymTensor, fill: Any, samples: Iterable[Any]) -> SymTensor:
    """The value with its `fill` or `samples`; with its data if sizes decide all elements."""
    if not isinstance(fill, (int, float, Expr)) or is_unreadable(fill):
        fill = None
    if fill is not None and value.data is None and is_small(value) and not elements_of(fill):
        return SymTensor(value.dtype, value.shape, [fill] * prod(d for d in value.dims if isinstance(d, int)))
    kept = () if fill is not None else _few(x for x in samples if not is_unreadable(x))
    known = fill is not None or kept
    parts = () if fill is not None else value.progressions
    return SymTensor(value.dtype, value.shape, None, fill, (kept,) if kept else (), parts) if known else value


def named_element(value: SymTensor, output: int) -> SymTensor:
    """A result of one integer element with a variable for it, if nothing else is known of the element.

    Shapes and positions have 32 or 64 bits; smaller integers are quantized numbers.

    >>> named_element(SymTensor(7, ()), 0).fill, named_element(SymTensor(7, (2,)), 0).fill
    (element[0], None)
    """
    if value.dtype not in _POSITIONS or value.shape not in ((), (1,)) or value.data or value.fill is not None:
        return value
    known = element_at(value, 0)
    return SymTensor(value.dtype, value.shape, fill=unread(output) if known is None else known)
