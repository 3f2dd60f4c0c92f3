"""Roots, powers, exponentials and logarithms of elements, which runtimes approximate, each in its way; remainders.

Where the result is exact, every runtime gives it. Of other numbers the result is near a number (`ratio.Near`), which is
enough for `int(n ** 0.5)`. Remainders are of integers, and of floats that came from sizes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onnx_infer.elements.arithmetic import is_floating, is_not_0, of_fractions, rounding, truncating_quotient
from onnx_infer.elements.lifting import lift
from onnx_infer.elements.ratio import Element, Near, Ratio, fraction, ratio
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import warn
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.elements.ratio import Element
    from onnx_infer.values.tensor import Dim


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


def _floored(x: Dim, y: Dim) -> Dim | None:
    if y == 0:
        warn(f"an integer is divided by 0: {x}")
        return None
    return x % y if at_least(y, 0) or at_least(-y, 0) else None


def _truncated(x: Dim, y: Dim) -> Dim | None:
    quotient = truncating_quotient(x, y)
    return None if quotient is None else x - y * quotient


def _exact_remainder(remainder: Callable[[Dim, Dim], Dim | None]) -> Callable[[Element, Element], Element]:
    """The remainder of exact floats `a/b` and `c/d`, which is exact. That by 0 is no number, and a run goes on."""

    def combine(a: Dim, b: Dim, c: Dim, d: Dim) -> Element:
        found = None if isinstance(c, int) and c == 0 else remainder(a * d, c * b)
        return None if found is None or not is_not_0(c) else ratio(found, b * d)

    return of_fractions(combine)


_floored_exact, _truncated_exact = _exact_remainder(_floored), _exact_remainder(_truncated)


def modulo(x: Element, y: Element) -> Element:
    """The remainder with the sign of the divisor (Mod with fmod=0)."""
    if isinstance(x, float) and isinstance(y, float):
        return x % y if y and math.isfinite(x) else None
    return _floored_exact(x, y) if is_floating(x, y) else _floored(x, y)


def fmod(x: Element, y: Element) -> Element:
    """The remainder with the sign of the dividend (Mod with fmod=1).

    >>> from onnx_infer.elements.ratio import Ratio
    >>> from symdim import Var
    >>> N = Var("N")
    >>> fmod(Ratio(N, 1), 2.0), fmod(Ratio(N, 2), 1.0), fmod(-7, 2)
    (N % 2, (N % 2)/(2), -1)
    """
    if isinstance(x, float) and isinstance(y, float):
        return math.fmod(x, y) if y and math.isfinite(x) else None
    return _truncated_exact(x, y) if is_floating(x, y) else _truncated(x, y)


MODULO, FMOD = lift(modulo, 2), lift(fmod, 2)
