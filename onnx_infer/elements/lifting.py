"""Functions of elements as data functions: for arrays of elements, and for whole tensors at once."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_infer.elements.ratio import Element
    from onnx_infer.values.tensor import Shape, SymTensor


class Lifted:
    """A function of elements, lifted to numpy object arrays that broadcast.

    If it `is_strict`, an unknown operand gives an unknown result.

    >>> import operator
    >>> list(lift(operator.add, 2)(np.array([1, None], dtype=object), 2))
    [3, None]
    """

    __slots__ = ("_on_arrays", "function", "is_strict")

    def __init__(self, function: Callable[..., Element], arity: int, is_strict: bool = False) -> None:
        self.function, self.is_strict = function, is_strict
        self._on_arrays = np.frompyfunc(function, arity, 1)

    def __call__(self, *arrays: Any) -> Any:
        return self._on_arrays(*arrays)

    def of(self, shape: Shape, tensors: Sequence[SymTensor]) -> list[Element] | Any:
        """The elements of a result of this shape of ints: a list, or an array if operands are broadcast."""
        columns = []
        count: Any = prod(shape)
        for x in tensors:
            data = x.data
            if data is not None and (x.shape == shape or len(data) == 1):
                columns.append(data if len(data) == count else data * count)
            else:
                return self(*[x.array for x in tensors])
        return list(map(self.function, *columns))


def lift(function: Callable[..., Element], arity: int) -> Lifted:
    """The function of elements lifted to numpy object arrays. An unknown operand gives an unknown result."""

    def strict(*elements: Element) -> Element:
        return None if None in elements else function(*elements)

    return Lifted(strict, arity, is_strict=True)


def lift_lenient(function: Callable[..., Element], arity: int) -> Lifted:
    """As `lift`, for functions that accept unknown operands."""
    return Lifted(function, arity)


class Same(Lifted):
    """The elements of the first operand in row-major order, for any shape of the result."""

    __slots__ = ()

    def of(self, shape: Shape, tensors: Sequence[SymTensor]) -> list[Element] | Any:
        """The elements of the first tensor."""
        data = tensors[0].data
        return None if data is None else list(data)


SAME = Same(lambda x: x, 1)
"""The data function of operators that change only the shape or the element type of a tensor."""
