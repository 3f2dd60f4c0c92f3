"""Reductions of elements: sums, products, means, extrema and their positions. Exact in the element type, or None.

The order in which runtimes add floats is not defined. So a sum of floats is known only if every order gives the same:
all terms are multiples of one power of two, and the sum of their magnitudes fits into the significand.
"""

from __future__ import annotations

from functools import reduce
from math import isfinite, isqrt, prod
from typing import TYPE_CHECKING

from onnx_infer.elements import arithmetic
from onnx_infer.elements.arithmetic import convert
from onnx_infer.elements.conditions import compare
from onnx_infer.elements.lifting import largest_magnitude
from onnx_infer.elements.ratio import Element, Rounding, fraction
from onnx_infer.values import dtype as dt

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction


def _fractions(elements: list[Element]) -> list[Fraction] | None:
    """The elements as fractions, if all are finite floats."""
    if all(isinstance(x, float) and isfinite(x) for x in elements):
        from fractions import Fraction  # few models need it

        return [Fraction(x) for x in elements]
    return None


def _float(x: Fraction | int, dtype: int | None) -> float | None:
    """The fraction as a float of the element type, if it is one."""
    value = convert(float(x), dtype) if dtype in dt.SIGNIFICAND else None
    return value if value is not None and isfinite(value) and value.as_integer_ratio() == x.as_integer_ratio() else None


def _fold(function: Callable[[Element, Element], Element], elements: list[Element]) -> Element:
    """The function folded over all elements; None if one step is unknown, or rounded: the order is not defined."""
    result = reduce(lambda x, y: None if x is None or y is None else function(x, y), elements)
    return None if isinstance(result, Rounding) else result


def _exact_sum(elements: list[Fraction], dtype: int | None) -> Fraction | int | None:
    scale = max((x.denominator for x in elements), default=1)
    return sum(elements) if sum(map(abs, elements)) * scale <= 2 ** dt.SIGNIFICAND.get(dtype or 0, 0) else None


def _sums_exactly(elements: list[Element], dtype: int) -> bool:
    """Whether every partial sum of floats that come from sizes fits into the significand.

    A denominator that depends on sizes gives a rounded term. The sum with it is not known in any case.
    """
    terms = [(num, den) for num, den in filter(None, map(fraction, elements)) if isinstance(den, int)]
    scale = max([den for _, den in terms], default=1)
    return sum([largest_magnitude(num, dtype) * scale // den for num, den in terms]) <= 1 << dt.SIGNIFICAND[dtype]


def total(elements: list[Element], dtype: int | None) -> Element:
    """The sum; 0 for no elements.

    >>> total([0.5, 2.0], dt.FLOAT), total([0.1, 0.2, 0.3], dt.FLOAT), total([], dt.INT64)
    (2.5, None, 0)
    """
    if any(x is None for x in elements):
        return None
    fractions = _fractions(elements) if elements else None
    if fractions is not None:
        exact = _exact_sum(fractions, dtype)
        return None if exact is None else _float(exact, dtype)
    if dtype in dt.SIGNIFICAND and not _sums_exactly(elements, dtype):
        return None
    return _fold(arithmetic.add, elements) if elements else 0


def mean(elements: list[Element], dtype: int | None) -> Element:
    """The sum divided by the number of elements, rounded towards zero for integers; None for no elements.

    >>> mean([-3, -4], dt.INT64), mean([1.0, 2.0], dt.FLOAT), mean([1.0, 1.0, 2.0], dt.FLOAT)
    (-3, 1.5, None)
    """
    count = len(elements)
    whole = convert(total(elements, dtype), dtype) if count else None
    if isinstance(whole, float):
        exact = _fractions([whole])
        return None if exact is None else _float(exact[0] / count, dtype)
    return None if whole is None else _fold(arithmetic.divide, [whole, count])


def multiplied(elements: list[Element], dtype: int | None) -> Element:
    """The product; 1 for no elements.

    >>> multiplied([2.0, 0.5, 3.0], dt.FLOAT), multiplied([], dt.INT64)
    (3.0, 1)
    """
    if any(x is None for x in elements):
        return None
    fractions = _fractions(elements) if elements else None
    if fractions is None:
        return _fold(arithmetic.multiply, elements) if elements else 1
    return _float(prod(fractions), dtype) if _any_order(fractions, dtype) else None


def _any_order(factors: list[Fraction], dtype: int | None) -> bool:
    """Whether every partial product is exact: odd parts fit into the significand, magnitudes into the exponent."""
    factors = [abs(x) for x in factors if x]
    odd = prod(x.numerator // (x.numerator & -x.numerator) for x in factors)
    limit: int = 2 ** dt.EXPONENT.get(dtype or 0, 0)
    magnitudes = (prod(x for x in factors if x > 1), prod(1 / x for x in factors if x < 1))
    return odd <= 2 ** dt.SIGNIFICAND.get(dtype or 0, 0) and all(x <= limit for x in magnitudes)


def largest(elements: list[Element], dtype: int | None) -> Element:
    """The maximum; None for no elements."""
    return _fold(arithmetic.larger, elements) if elements else None


def smallest(elements: list[Element], dtype: int | None) -> Element:
    """The minimum; None for no elements."""
    return _fold(arithmetic.smaller, elements) if elements else None


def total_of_magnitudes(elements: list[Element], dtype: int | None) -> Element:
    """The sum of `|x|`."""
    return total([None if x is None else arithmetic.absolute(x) for x in elements], dtype)


def total_of_squares(elements: list[Element], dtype: int | None) -> Element:
    """The sum of `x * x`."""
    return total([None if x is None else arithmetic.multiply(x, x) for x in elements], dtype)


def length(elements: list[Element], dtype: int | None) -> Element:
    """The square root of the sum of squares, if it is an integer."""
    square = total_of_squares(elements, dtype)
    if not isinstance(square, (int, float)) or not 0 <= square <= 2**24 or square != int(square):
        return None
    root = isqrt(int(square))
    return type(square)(root) if root * root == square else None


def position(elements: list[Element], order: int, last: bool) -> int | None:
    """The index of the largest (`order` 1) or smallest (-1) element: of equal elements the first or the last.

    >>> position([1, 3, 3], 1, last=False), position([1, 3, 3], 1, last=True), position([None, 1], 1, last=False)
    (1, 2, None)
    """
    best = 0
    if any(x is None for x in elements) or not elements:
        return None
    for i, x in enumerate(elements[1:], 1):
        order_of_both = compare(x, elements[best])
        if order_of_both is None:
            return None
        if order_of_both == order or (order_of_both == 0 and last):
            best = i
    return best
