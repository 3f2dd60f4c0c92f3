"""Functions of elements as data functions (for arrays of elements, whole tensors at once), and where they are exact.

Integers wrap around, symbols do not. Models do not say how large their sizes are. So we assume that sizes fit into half
of the bits: a symbol, and a product of symbols, is at most 2**31 - 1 in 64 bits and 2**15 - 1 in 32 bits. Under this
assumption a computed element must stay in range, so a constant factor may take the other half of the bits. The same is
assumed of run-time elements: most of them are positions and lengths.

Floats round, symbols do not. There the same is assumed of the significand: a symbol is at most 2**12 in 32-bit floats.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.values import dtype as dt
from symdim import Expr, Var
from symdim.algebra.application import Application
from symdim.algebra.caches import clear_with_caches
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import FloorDiv, Max, Min
from symdim.algebra.polynomials import powers_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_infer.elements.ratio import Element
    from onnx_infer.values.tensor import Dim, Shape, SymTensor

    Interval = tuple[int, int]


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


@lru_cache(maxsize=1 << 13)
def stays_inside(x: Expr, dtype: int) -> bool:
    """Whether an element of 32 or 64 bits stays in the range of its type.

    >>> N = Var("N")
    >>> [stays_inside(x, dt.INT64) for x in (3 * N + 1, 2**20 * (N // 2), 2**62 * N, N + 2**63 - 1)]
    [True, True, False, False]
    >>> stays_inside(2**20 * N, dt.INT32), stays_inside(-N, dt.UINT64)
    (False, False)
    """
    low, high = dt.INTEGER_RANGE[dtype]
    interval = _interval(x, 2 ** (dt.BITS[dtype] // 2 - 1) - 1)
    return low <= interval[0] and interval[1] <= high


@lru_cache(maxsize=1 << 10)
def largest_magnitude(x: Dim, dtype: int) -> int:
    """The largest magnitude of a whole number in a type of floats.

    >>> largest_magnitude(-3 * Var("N") - 1, dt.FLOAT) == 3 * 2**12 + 1
    True
    """
    ends = (x, x) if isinstance(x, int) else _interval(x, 2 ** (dt.SIGNIFICAND[dtype] // 2))
    return max(map(abs, ends))


def stays_exact(x: Dim, dtype: int) -> bool:
    """Whether a whole number is exact in a type of floats: without its factors of 2 it fits into the significand.

    >>> N = Var("N")
    >>> [stays_exact(x, dt.FLOAT) for x in (3 * N + 1, 2**40 * N, 2**24, 2**24 + 1, 2**24 + N, 10**6 * N + 1)]
    [True, True, True, False, False, False]
    >>> stays_exact(10**6 * N + 1, dt.DOUBLE), stays_exact(2**120 * N, dt.FLOAT)
    (True, False)
    """
    most = largest_magnitude(x, dtype)
    if most <= 1 << dt.SIGNIFICAND[dtype]:
        return True
    terms, const = ({}, x) if isinstance(x, int) else terms_of(x)
    factor = gcd(const, *terms.values())
    return most <= min((factor & -factor) << dt.SIGNIFICAND[dtype], 1 << dt.EXPONENT[dtype])


clear_with_caches(stays_inside.cache_clear)
clear_with_caches(largest_magnitude.cache_clear)


def _interval(x: Expr, most: int) -> Interval:
    """The interval of an expression, if its symbols, and products of them, have a magnitude of at most `most`."""
    known: dict[Dim, Interval] = {}

    def of(part: Dim) -> Interval:
        return (part, part) if isinstance(part, int) else known[part]

    for node in postorder(x):
        if node._terms is not None:
            low = high = node._const
            for unit, k in node._terms.items():
                ends = known[unit]
                low += k * ends[k < 0]
                high += k * ends[k > 0]
        elif isinstance(node, Var):
            low = -most if node.lo is None else node.lo
            high = max(low, most if node.hi is None else min(node.hi, most))
        elif isinstance(node, FloorDiv):
            low, high = _quotient(of(node._parts[0]), of(node._parts[1]))
        elif isinstance(node, Max):
            low, high = (max(ends) for ends in zip(*map(of, node._parts), strict=True))
        elif isinstance(node, Min):
            low, high = (min(ends) for ends in zip(*map(of, node._parts), strict=True))
        elif isinstance(node, Application):
            least, largest = node.bounds()
            low, high = -most if least is None else least, most if largest is None else largest
        else:
            factors = [known[atom] for atom in powers_of(node)]
            high = max(most, *[end for _, end in factors])
            low = 0 if all(end >= 0 for end, _ in factors) else -max(high, *[-end for end, _ in factors])
        known[node] = low, high
    return known[x]


def _quotient(n: Interval, d: Interval) -> Interval:
    """The interval of a floor division; for both signs if the sign of the divisor is not known."""
    if d[0] < 1:
        largest = max(abs(n[0]), abs(n[1]))
        return -largest, largest
    return min(n[0] // d[0], n[0] // d[1]), max(n[1] // d[0], n[1] // d[1])
