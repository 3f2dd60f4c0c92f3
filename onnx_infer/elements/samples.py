"""Samples: some elements that occur in a tensor, if not all of its elements are known.

`Range(0, S)` has the elements 0 and `S - 1`, so a table that it indexes has at least S rows. Samples occur in a tensor
unless it is empty. They say nothing about other elements, which may be smaller or larger.
"""

from __future__ import annotations

from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

from onnx_infer.elements.arithmetic import convert
from onnx_infer.laws.sizes import at_least, is_unreadable
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, Var
from symdim.algebra.monomial import powers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx_infer.values.tensor import Dim, Value

    Samples = tuple[Any, ...]

_MOST = 4
_MOST_TRIED = 16


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
    return _without(sizes, lambda size, other: is_positive(other - size + 1))


def smallest(sizes: Iterable[Dim]) -> list[Dim]:
    """The sizes without those that are at least another one."""
    return _without(sizes, lambda size, other: is_positive(size - other + 1))


def _without(sizes: Iterable[Dim], gives_way: Callable[[Dim, Dim], bool]) -> list[Dim]:
    kept: list[Dim] = []
    for size in sizes:
        if not any(gives_way(size, other) for other in kept):
            kept = [*[other for other in kept if not gives_way(other, size)], size]
    return kept


def is_positive(size: Dim) -> bool:
    """Whether intervals prove that a size is at least 1, perhaps with each symbol as its lower bound plus a rest.

    >>> from symdim import Var
    >>> N, P = Var("N"), Var("P")
    >>> at_least(N * P - P, 0), is_positive(N * P - P + 1), is_positive(N * P - 2 * P + 1)
    (False, True, False)
    """
    if at_least(size, 1) or isinstance(size, int):
        return at_least(size, 1)
    if not any(isinstance(unit, Expr) and len(powers_of(unit)) > 1 for unit in size.terms or ()):
        return False  # for a sum of different atoms the interval is exact
    rests = {v: v.lo + Var.fresh("rest", lo=0) for v in size.variables() if v.lo}
    return bool(rests) and at_least(size.substitute(rests), 1)


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


def joined_samples(tensors: Sequence[SymTensor], axis: int) -> tuple[Samples, ...]:
    """Samples of joined tensors of one rank: those of each tensor that has elements whenever the result has some.

    Tensors of size 1 that are joined along their last axis are one index of it each.
    """
    if all(x.data is not None for x in tensors):
        return ()
    columns = []
    samples: list[Any] = []
    for x in tensors:
        if x.shape is None or not -len(x.shape) <= axis < len(x.shape):
            return ()
        found = samples_of(x)
        if axis in (-1, len(x.shape) - 1) and x.shape[-1] == 1:
            columns.append(found)
        if at_least(x.shape[axis], 1):
            samples += found
    if len(columns) < len(tensors):
        columns = [_few(samples)]
    return tuple(columns) if any(columns) else ()


def cumulated_samples(tensor: SymTensor, count: Dim, exclusive: bool) -> tuple[Samples, ...]:
    """Samples of the cumulative sums of `count` equal elements."""
    element = _equal_element(tensor)
    if isinstance(element, (bool, float)) or element is None:
        return ()
    ends = (0, (count - 1) * element) if exclusive else (element, count * element)
    found = tuple([x for x in ends if convert(x, tensor.dtype) is not None])
    return (found,) if found else ()


def _equal_element(tensor: SymTensor) -> Any:
    """The common value of all elements, or None."""
    if tensor.data is None:
        return tensor.fill
    first = tensor.data[0] if tensor.data else None
    return first if all(x is first or x == first for x in tensor.data) else None


def moved(tensor: SymTensor, value: SymTensor) -> SymTensor:
    """The value of a node with exactly the elements of a tensor, unless it is empty."""
    found = samples_of(tensor)
    if not found:
        return value
    samples = (tuple([convert(x, value.dtype) for x in found]),)
    fill = _equal_element(tensor)
    return _known(value, None if fill is None else convert(fill, value.dtype), samples[0])


def part_of(tensor: SymTensor, value: SymTensor) -> SymTensor:
    """The value of a node that takes elements of a tensor: all of them if no size changes."""
    if value.shape == tensor.shape:
        return moved(tensor, value)
    fill = _equal_element(tensor)
    return value if fill is None else _known(value, fill, ())


def of_function(function: Callable[..., Any], tensors: Sequence[Value], value: SymTensor) -> SymTensor:
    """The value of a node whose elements are a function of the elements of its operands, which broadcast.

    The function is applied to elements that occur at the same place: the elements of an operand are all equal, or the
    operands vary along different axes. Otherwise only one operand's samples are used and the others are unknown. Floats
    are left out, because they are activations.
    """
    if value.dtype in dt.FLOATS:
        return value
    choices: list[Samples] = []
    varied: list[SymTensor] = []
    uniform = True
    for x in tensors:
        found = samples_of(x) if isinstance(x, SymTensor) and x.shape is not None else ()
        if not found or _equal_element(x) is None:  # type: ignore[arg-type]
            uniform = False
            found = found if found and _varies_apart(x, varied) else ()  # type: ignore[arg-type]
        choices.append(found or (None,))
    if not any(choice != (None,) for choice in choices):
        return value
    results = [convert(function(*chosen), value.dtype) for chosen in islice(product(*choices), _MOST_TRIED)]
    return _known(value, results[0] if uniform else None, results)


def _varies_apart(tensor: SymTensor, others: list[SymTensor]) -> bool:
    """Whether a tensor varies only along axes at which the others have size 1. If so, it is added to the others."""
    for other in others:
        pairs = zip(reversed(tensor.dims), reversed(other.dims), strict=False)
        if any(a != 1 and b != 1 for a, b in pairs):
            return False
    others.append(tensor)
    return True


def _known(value: SymTensor, fill: Any, samples: Iterable[Any]) -> SymTensor:
    """The value with its `fill` or `samples`."""
    if not isinstance(fill, (int, float, Expr)) or is_unreadable(fill):
        fill = None
    found = () if fill is not None else _few(x for x in samples if not is_unreadable(x))
    known = fill is not None or found
    return SymTensor(value.dtype, value.shape, None, fill, (found,) if found else ()) if known else value
