"""Elements of tensors of integers whose number is not known: arithmetic progressions, one behind the other.

`Range(0, N)` is one progression, and `Concat(Range(1, N), [N], Range(0, N))` are three. If the numbers of their
elements add up to that of the tensor, they are its elements in row-major order. Otherwise an Expand or a Tile has
repeated all of them equally often, and no order is known. A tensor of floats has those that are whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.elements.arithmetic import ABSOLUTE, ADD, MULTIPLY, NEGATE, SUBTRACT, convert
from onnx_infer.laws.readable import is_unreadable
from onnx_infer.laws.sizes import at_least
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, Progression, Shape, SymTensor
from symdim import Expr, maximum, minimum, total
from symdim.algebra.dims import at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Progressions = tuple[Progression, ...]

_MOST = 8
"""The most progressions of a tensor."""


def progressions_of(tensor: SymTensor) -> Progressions | None:
    """The progressions that a tensor consists of; None if they are not known.

    >>> progressions_of(SymTensor(7, (2,), (3, 4)))
    (Progression(start=3, step=0, length=1), Progression(start=4, step=0, length=1))
    """
    if tensor.progressions or tensor.shape is None:
        return tensor.progressions or None
    if tensor.fill is not None:
        return (Progression(tensor.fill, 0, tensor.size),) if _is_whole(tensor.fill) else None
    if tensor.data is None or len(tensor.data) > _MOST or not all(map(_is_whole, tensor.data)):
        return None
    return tuple([Progression(x, 0, 1) for x in tensor.data])


def _is_whole(x: Any) -> bool:
    return isinstance(x, (int, Expr)) and not isinstance(x, bool)


def is_vector(tensor: SymTensor) -> bool:
    """Whether at most one axis has more than one element, so that a Transpose keeps the order of all elements."""
    return tensor.shape is not None and len([size for size in tensor.shape if size != 1]) <= 1


def in_order(tensor: SymTensor) -> Progressions | None:
    """The progressions of a vector that are its elements in order; None if they are not known."""
    parts = progressions_of(tensor) if tensor.shape is not None and len(tensor.shape) == 1 else None
    return parts if parts is not None and total(part.length for part in parts) == tensor.size else None


def consisting_of(parts: Iterable[Progression], dtype: int | None, shape: Shape) -> SymTensor:
    """A tensor of progressions; without them if there are too many, or if one does not fit into the element type."""
    filled = tuple([part for part in parts if part.length != 0])
    ends = [x for part in filled for x in (part.start, part.last)]
    held = [convert(x, dtype) for x in ends]
    wraps = dtype in dt.INTEGER_RANGE and held != ends
    if not 0 < len(filled) <= _MOST or None in held or wraps or any(map(is_unreadable, ends)):
        return SymTensor(dtype, shape)
    if dtype in dt.FLOATS:
        return SymTensor(dtype, shape, progressions=filled)
    occurring = [part for part in filled if len(filled) == 1 or at_least(part.length, 1)]
    samples = tuple(dict.fromkeys([x for part in occurring for x in (part.start, part.last)]))
    return SymTensor(dtype, shape, samples=(samples,) if samples else (), progressions=filled)


# -- parts -------------------------------------------------------------------------------------------------------------


def _place(parts: Progressions, index: Dim) -> tuple[int, Dim] | None:
    """The number of the progression that has the element at an index, and the index in it."""
    for i, part in enumerate(parts):
        if at_least(part.length - index, 1):
            return (i, index) if at_least(index, 0) else None
        index = index - part.length
    return None


def element_of(tensor: SymTensor, index: Dim) -> Dim | None:
    """The element of a vector at an index, which may count from the end.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> numbers = consisting_of([Progression(1, 1, N - 1), Progression(N, 0, 1)], 7, (N,))
    >>> element_of(numbers, N - 1), element_of(numbers, -1), element_of(numbers, 3), element_of(numbers, 0)
    (N, N, None, None)
    """
    parts = in_order(tensor)
    place = None if parts is None else _place(parts, index + tensor.size if at_most(index, -1) else index)
    return None if place is None or parts is None else parts[place[0]].at(place[1])


def slice_of(tensor: SymTensor, start: Dim, step: Dim, count: Dim) -> Progressions | None:
    """So many elements of a vector from an index on, which may count from the end; forward, or all backward."""
    parts = in_order(tensor)
    if parts is None:
        return None
    if step == -1 and count == tensor.size:
        return tuple([part.backward() for part in reversed(parts)])
    place = _place(parts, start + tensor.size if at_most(start, -1) else start)
    if place is None or step != 1:
        return None
    first, begin = place
    taken: list[Progression] = []
    for part in parts[first:]:
        left = part.length - begin
        if at_least(left - count, 0):
            return (*taken, part.part(begin, count))
        if not at_least(count - left, 0):
            return None
        taken.append(part.part(begin, left))
        begin, count = 0, count - left
    return None


def cumulated(element: Any, count: Dim, exclusive: bool, reverse: bool) -> Progressions:
    """The cumulative sums of so many equal elements; () if the element is no integer."""
    if not _is_whole(element):
        return ()
    sums = Progression(0 if exclusive else element, element, count)
    return (sums.backward() if reverse else sums,)


def joined(tensors: Sequence[SymTensor]) -> Progressions | None:
    """The progressions of vectors, one behind the other."""
    progressions: list[Progression] = []
    for x in tensors:
        parts = in_order(x)
        if parts is None:
            return None
        progressions += parts
    return tuple(progressions)


# -- functions of them -------------------------------------------------------------------------------------------------

_AFFINE = (ADD.function, SUBTRACT.function, MULTIPLY.function, NEGATE.function)
"""Functions that make a progression of one, if all other operands have equal elements."""


def _has_one_sign(part: Progression) -> bool:
    """Whether no element is negative, or none is positive."""
    ends = part.start, part.last
    return all(at_least(end, 0) for end in ends) or all(at_most(end, 0) for end in ends)


def of_progressions(function: Callable[..., Any], elements: Sequence[Any], tensor: SymTensor) -> Progressions | None:
    """A function of the elements of a tensor; the other operands have equal elements. None stands for the tensor's."""

    def of(x: Dim) -> Any:
        return function(*[x if element is None else element for element in elements])

    keeps_sign = all(_has_one_sign(part) for part in tensor.progressions)
    if function not in _AFFINE and not (function is ABSOLUTE.function and keeps_sign):
        return None
    ends = [(of(part.start), of(part.start + part.step), part.length) for part in tensor.progressions]
    if not all(_is_whole(start) and _is_whole(second) for start, second, _ in ends):
        return None
    return tuple([Progression(start, second - start, count) for start, second, count in ends])


def repeated(tensor: SymTensor, value: SymTensor) -> SymTensor:
    """The value of a node that keeps the elements of a tensor in order, or repeats all of them equally often."""
    if not tensor.progressions:
        return value
    return consisting_of(tensor.progressions, value.dtype, value.dims)


def extremum(tensor: SymTensor, *, largest: bool) -> Dim | None:
    """The largest or the smallest element of a tensor that is not empty.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> extremum(consisting_of([Progression(3, 2, N)], 7, (N,)), largest=True)
    2*N + 1
    """
    choose, sign = (maximum, 1) if largest else (minimum, -1)
    parts = progressions_of(tensor)
    if parts is None or not at_least(tensor.size, 1):
        return None
    certain = [part for part in parts if at_least(part.length, 1)]
    if not certain:
        return None
    extreme = choose(*[end for part in certain for end in (part.start, part.last)])
    others = [end for part in parts if part not in certain for end in (part.start, part.last)]
    return extreme if all(at_least(sign * (extreme - end), 0) for end in others) else None


def sum_of(tensor: SymTensor) -> Dim | None:
    """The sum of all elements of a tensor of integers."""
    parts = progressions_of(tensor)
    if parts is None or tensor.dtype in dt.FLOATS:
        return None
    whole = total(part.length * part.start + part.step * (part.length * (part.length - 1) // 2) for part in parts)
    count = total(part.length for part in parts)
    if count == tensor.size:
        return whole
    copies = tensor.size // count if at_least(count, 1) else None
    return whole * copies if copies is not None and copies * count == tensor.size else None
