"""Roots, powers, exponentials and logarithms of elements. Runtimes approximate them, each in its way.

Where the result is exact, every runtime gives it. Of other numbers the result is near a number (`ratio.Near`), which is
enough for `int(n ** 0.5)`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onnx_infer.elements.arithmetic import rounding
from onnx_infer.elements.lifting import lift
from onnx_infer.elements.ratio import Element, Near, Ratio, fraction, ratio
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Callable


def approximated(operation: str) -> Callable[..., Element]:
    """A function of floats that runtimes approximate; None unless all of them are numbers."""

    def apply(*operands: Element) -> Element:
        return rounding(operation, *operands) if all(isinstance(x, (float, Near)) for x in operands) else None

    return apply


_near_root, _near_power = approximated("sqrt"), approximated("pow")


def root(x: Element) -> Element:
    """The square root of a float."""
    if isinstance(x, float) and 0 <= x < math.inf:
        exact = math.sqrt(x)
        numerator, denominator = exact.as_integer_ratio()
        if x.as_integer_ratio() == (numerator**2, denominator**2):
            return exact
    return _near_root(x)


def power(x: Element, y: Element) -> Element:
    """`x ** y`, exact for the exponents 0..64 (0..8 for a symbol) and 1/2, as far as the result is.

    A power of an integer is a float, as onnxruntime makes it, which is then converted to the element type.
    """
    if y == 0.5:
        return root(x)
    if isinstance(y, (Expr, Ratio)) or y not in range(65 if isinstance(x, (int, float)) else 9):
        return _near_power(x, y)
    exponent = int(y)
    if isinstance(x, Ratio):
        return _near_power(x, y) if fraction(x) is None else ratio(x.num**exponent, x.den**exponent)
    if isinstance(x, Expr):
        return x**exponent
    if not math.isfinite(x):
        return None
    if isinstance(x, int):  # a runtime computes it as a double; converted to its type, that may be out of range
        whole = x**exponent
        return float(whole) if abs(whole) < 2**63 and float(whole) == whole else None
    numerator, denominator = (part**exponent for part in x.as_integer_ratio())
    is_exact = abs(numerator) <= 2**24 and denominator <= 2**24  # in the precision of floats
    return numerator / denominator if is_exact else _near_power(x, y)


POWER, SQRT = lift(power, 2), lift(root, 1)
EXPONENTIAL, LOGARITHM = lift(approximated("exp"), 1), lift(approximated("log"), 1)
