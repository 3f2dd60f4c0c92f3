"""Functions on elements as data functions: on the arrays of a rule, and on the elements of whole tensors at once."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_infer.elements.ratio import Element
    from onnx_infer.values.tensor import Shape, SymTensor


class Lifted:
    """A function on elements, lifted to numpy object arrays that broadcast.

    >>> import operator
    >>> list(lift(operator.add, 2)(np.array([1, None], dtype=object), 2))
    [3, None]
    """

    __slots__ = ("_on_arrays", "function")

    def __init__(self, function: Callable[..., Element], arity: int) -> None:
        self.function = function
        self._on_arrays = np.frompyfunc(function, arity, 1)

    def __call__(self, *arrays: Any) -> Any:
        return self._on_arrays(*arrays)

    def of(self, shape: Shape, tensors: Sequence[SymTensor]) -> list[Element] | Any:
        """The elements of a result of this shape, all ints: in a list, or an array where operands are broadcast."""
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
    """The function on elements as one on numpy object arrays that broadcast; an unknown operand gives an unknown."""

    def strict(*elements: Element) -> Element:
        return None if None in elements else function(*elements)

    return Lifted(strict, arity)


def lift_lenient(function: Callable[..., Element], arity: int) -> Lifted:
    """As `lift`, for functions that decide over unknown operands themselves."""
    return Lifted(function, arity)


class Same(Lifted):
    """The elements of the first operand in row-major order, whatever the shape of the result."""

    __slots__ = ()

    def of(self, shape: Shape, tensors: Sequence[SymTensor]) -> list[Element] | Any:
        """The elements of the first tensor."""
        data = tensors[0].data
        return None if data is None else list(data)


SAME = Same(lambda x: x, 1)
"""The data function of operators that only give a tensor another shape or another element type."""
