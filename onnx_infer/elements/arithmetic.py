"""Arithmetic on the elements of propagated data, with the integer semantics of ONNX's operators.

An element is `int | Expr` in integer tensors, `bool | Positive` in boolean ones, `float | Ratio` in floating ones, and
None if it is unknown. Every function takes and returns single elements. The functions in upper case below are lifted to
numpy object arrays, which broadcast. An element that cannot be computed exactly is None; elements are never guessed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.conditions import (
    Positive,
    at_most,
    equal,
    less,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    select,
)
from onnx_infer.elements.lifting import lift, lift_lenient, stays_exact, stays_inside
from onnx_infer.elements.ratio import Element, Product, Ratio, Rounded, Rounding, fraction, is_near, is_rounded, ratio
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import call_mode, state, warn
from onnx_infer.values import dtype as dt
from symdim import Expr, Var, maximum, minimum

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.values.tensor import Dim


def is_floating(x: Element, y: Element) -> bool:
    return isinstance(x, (float, Ratio)) or isinstance(y, (float, Ratio))


def of_fractions(combine: Callable[[Dim, Dim, Dim, Dim], Element]) -> Callable[[Element, Element], Element]:
    """A binary function on elements, from a function on two fractions `a/b` and `c/d`. The floats must be exact."""

    def apply(x: Element, y: Element) -> Element:
        if is_rounded(x) or is_rounded(y):
            return None
        first, second = fraction(x), fraction(y)
        return None if first is None or second is None else combine(*first, *second)

    return apply


_add_exact = of_fractions(lambda a, b, c, d: ratio(a * d + c * b, b * d))
_mul_exact = of_fractions(lambda a, b, c, d: ratio(a * c, b * d))
_div_exact = of_fractions(lambda a, b, c, d: None if isinstance(c, int) and c == 0 else ratio(a * d, b * c))


def rounding(operation: str, *operands: Element) -> Rounding | None:
    """An operation on floats that is rounded. Runtimes may differ in it, so a cautious walk does not know it.

    Where numbers tell how much they may differ, the result is known to be near a number.
    """
    return None if call_mode().is_cautious and not is_near(operation, operands) else Rounding(operation, *operands)


def add(x: Element, y: Element) -> Element:
    """`x + y`."""
    if isinstance(x, Ratio) or isinstance(y, Ratio):
        exact = _add_exact(x, y)
        return rounding("add", x, y) if exact is None else exact
    return x + y


def subtract(x: Element, y: Element) -> Element:
    """`x - y`."""
    if is_rounded(x) or is_rounded(y):
        return rounding("sub", x, y)
    return add(x, negate(y))


def multiply(x: Element, y: Element) -> Element:
    """`x * y`."""
    if isinstance(x, Ratio) or isinstance(y, Ratio):
        exact = _mul_exact(x, y)
        if exact is not None:
            return exact
        from onnx_infer.elements.scaling import product_of_size  # few models need it

        scaled = product_of_size(x, y)
        return rounding("mul", x, y) if scaled is None and not (_is_inverse(x) or _is_inverse(y)) else scaled
    return x * y


def _is_inverse(x: Element) -> bool:
    """Whether x is `1 / z`, of a Div: onnxruntime computes `1 / z * y` as `y / z`, which is rounded otherwise."""
    return type(x) is Ratio and x.num == 1 and is_rounded(x)


def negate(x: Element) -> Element:
    """`-x`."""
    if isinstance(x, Product):
        return x.negated()
    if isinstance(x, (Rounded, Rounding)):
        return rounding("sub", 0.0, x)
    return Ratio(-x.num, x.den) if isinstance(x, Ratio) else -x


_MOST_NESTED = 2
"""Quotients with numerators of unknown sign double in size at every step, so the nesting is limited."""


def truncating_quotient(a: Dim, b: Dim) -> Dim | None:
    """`a / b` rounded towards zero, as in ONNX's integer Div; None if the divisor's sign is not known.

    If only the numerator's sign is not known, the result is exact but long; `laws/bounds.py` may find the sign. A
    divisor that is not negative is positive in every valid run.

    >>> truncating_quotient(-7, 2)
    -3
    """
    if b == 0:
        warn(f"an integer is divided by 0: {a}")
        return None
    if not at_least(b, 0):
        return truncating_quotient(-a, -b) if at_least(-b, 0) else None
    if b == 1 or at_least(a, 0):
        return a // b
    state("undecided", a, 0, "the sign of a numerator")
    if isinstance(a, Expr) and a._height > _MOST_NESTED:
        return None
    return minimum(maximum(a, 0), a + b - 1) // b


def divide(x: Element, y: Element) -> Element:
    """`x / y`; integer quotients are rounded towards zero (Div-7 to 14)."""
    if isinstance(x, Ratio) or isinstance(y, Ratio):
        exact = _div_exact(x, y)
        return rounding("div", x, y) if exact is None and x != 1.0 else exact  # see `_is_inverse`
    if is_floating(x, y):
        return x / y if y != 0 else None
    return truncating_quotient(x, y)


def absolute(x: Element) -> Element:
    """`|x|`."""
    if isinstance(x, Ratio):
        return None if fraction(x) is None else ratio(absolute(x.num), x.den)
    return maximum(x, -x) if isinstance(x, Expr) else abs(x)


def sign(x: Element) -> Element:
    """-1, 0 or 1: of integers `min(max(x, -1), 1)`."""
    if isinstance(x, Ratio):
        return None if isinstance(x, (Rounded, Rounding)) else ratio(sign(x.num), 1)
    return type(x)((x > 0) - (x < 0)) if isinstance(x, (int, float)) else minimum(maximum(x, -1), 1)


def _extremum(choose: Callable[..., Dim], plain: Callable[..., Element]) -> Callable[[Element, Element], Element]:
    """The function on elements for one on sizes, and one on numbers."""

    def apply(x: Element, y: Element) -> Element:
        if isinstance(x, Positive) or isinstance(y, Positive):
            return None
        if isinstance(x, Ratio) or isinstance(y, Ratio):
            first, second = fraction(x), fraction(y)
            if first is None or second is None:
                return rounding(plain.__name__, x, y)
            return ratio(choose(first[0] * second[1], second[0] * first[1]), first[1] * second[1])
        return choose(x, y) if isinstance(x, Expr) or isinstance(y, Expr) else plain(x, y)

    return apply


larger, smaller = _extremum(maximum, max), _extremum(minimum, min)


def is_not_0(divisor: Dim) -> bool:
    """Whether a quotient of floats is a number.

    A run goes on where the divisor is 0, with an infinity or NaN. So another divisor is assumed, or nothing is known.
    """
    if isinstance(divisor, int):
        return divisor != 0
    size = -divisor if at_least(-divisor, 0) else divisor
    if call_mode().is_cautious:
        return at_least(size, 1)
    state("at_least", size, 1, "a divisor of floats is not 0", "assumed")
    return True


def floor(x: Element) -> Element:
    """The largest whole number <= x, as a float."""
    if isinstance(x, (Rounded, Rounding)):
        return rounding("floor", x)
    if isinstance(x, Ratio):
        return ratio(x.num // x.den, 1) if is_not_0(x.den) else None
    return float(math.floor(x)) if isinstance(x, float) and math.isfinite(x) else x


def ceil(x: Element) -> Element:
    """The smallest whole number >= x, as a float."""
    if isinstance(x, (Rounded, Rounding)):
        return rounding("ceil", x)
    below = floor(negate(x))
    return None if below is None else negate(below)


def round_half_even(x: Element) -> Element:
    """The nearest whole number, halves to the even one (Round)."""
    if isinstance(x, Ratio):
        return rounding("round", x) if is_rounded(x) else x if x.den == 1 else None
    return float(round(x)) if isinstance(x, float) and math.isfinite(x) else x


def truncate(x: Element) -> Element:
    """A float without its fraction, as an integer (Cast from float to integer)."""
    if isinstance(x, Rounded):
        return x.truncated()
    if isinstance(x, Ratio):
        return truncating_quotient(x.num, x.den) if is_not_0(x.den) else None
    return int(x) if math.isfinite(x) else None


_SIZES = frozenset((dt.INT32, dt.INT64))
"""The element types that can hold any symbol and its negative."""


def convert(x: Element, dtype: int | None) -> Element:
    """An element converted to the element type as by Cast: integers wrap around, floats are rounded.

    A symbolic element is known if it stays in the range of its type, or is an exact float (`lifting.py`). In types of
    fewer than 32 bits a symbol itself may wrap around, so there its bounds must prove that it fits.

    >>> convert(300, dt.UINT8), convert(2.7, dt.INT64), convert(3, dt.FLOAT)
    (44, 2, 3.0)
    """
    if dtype in _SIZES and isinstance(x, Expr):
        return x if isinstance(x, Var) or stays_inside(x, dtype) else None
    if x is None or dtype is None or isinstance(x, str) != (dtype == dt.STRING):
        return None
    if dtype == dt.BOOL:
        if isinstance(x, (Expr, Ratio)):
            return logical_not(equal(x, 0))
        return x if isinstance(x, Positive) else bool(x)
    if isinstance(x, Positive):
        x = x.indicator
    if dtype in dt.INTEGER_RANGE:
        return None if isinstance(x, Rounding) else _to_integer(x, dtype)
    if dtype in (dt.FLOAT, dt.DOUBLE, dt.FLOAT16):
        return _to_float(x, dtype)
    return x if dtype == dt.STRING else None


_FLOATS = {dt.FLOAT: "f32", dt.DOUBLE: "f64"}


def _to_float(x: Element, dtype: int) -> Element:
    if isinstance(x, Expr):
        x = Ratio(x, 1)
    if not isinstance(x, Ratio):
        return _round_float(x, dtype)
    if isinstance(x, (Rounded, Rounding)):
        return x.in_type(_FLOATS[dtype]) if dtype in _FLOATS else None
    if isinstance(x, Product):
        return x if dtype == dt.FLOAT else None  # `scaling.py` has looked at its roundings
    is_exact = dtype != dt.FLOAT16 and stays_exact(x.num, dtype) and stays_exact(x.den, dtype)
    return x if is_exact else None


def _to_integer(x: Element, dtype: int) -> Element:
    low, high = dt.INTEGER_RANGE[dtype]
    if isinstance(x, (float, Ratio)):
        x = truncate(x)
        # the conversion of a float out of range depends on the machine
        if x is None or (isinstance(x, int) and not low <= x <= high):
            return None
    if isinstance(x, Expr):
        if dt.BITS[dtype] >= 32:
            return x if stays_inside(x, dtype) else None
        lo, hi = x.bounds()
        return x if lo is not None and lo >= low and hi is not None and hi <= high else None
    return (int(x) - low) % (high - low + 1) + low


_NUMPY: dict[int, Callable[[Any], Any]] = {dt.FLOAT: np.float32, dt.DOUBLE: np.float64, dt.FLOAT16: np.float16}


def _round_float(x: Element, dtype: int) -> Element:
    try:
        with np.errstate(over="ignore"):
            value = float(_NUMPY[dtype](x))
    except OverflowError:
        return None
    # -0.0 equals 0.0, so it would be interned as the one that came first
    return value + 0.0 if value == value else None


ADD, SUBTRACT, MULTIPLY, DIVIDE = lift(add, 2), lift(subtract, 2), lift(multiply, 2), lift(divide, 2)
LARGER, SMALLER = lift(larger, 2), lift(smaller, 2)
EQUAL, LESS, AT_MOST = lift(equal, 2), lift(less, 2), lift(at_most, 2)
GREATER, AT_LEAST = lift(lambda x, y: less(y, x), 2), lift(lambda x, y: at_most(y, x), 2)
AND, OR, NOT = lift_lenient(logical_and, 2), lift_lenient(logical_or, 2), lift_lenient(logical_not, 1)
XOR = lift(logical_xor, 2)
NEGATE, ABSOLUTE, SIGN = lift(negate, 1), lift(absolute, 1), lift(sign, 1)
FLOOR, CEIL, ROUND = lift(floor, 1), lift(ceil, 1), lift(round_half_even, 1)
SELECT = lift_lenient(select, 3)
