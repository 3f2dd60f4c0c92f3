"""Remainders of elements (Mod): of integers, and of floats that came from sizes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onnx_infer.elements.arithmetic import is_floating, is_not_0, of_fractions, truncating_quotient
from onnx_infer.elements.lifting import lift
from onnx_infer.elements.ratio import ratio
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.elements.ratio import Element
    from onnx_infer.values.tensor import Dim


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
        rest = None if isinstance(c, int) and c == 0 else remainder(a * d, c * b)
        return None if rest is None or not is_not_0(c) else ratio(rest, b * d)

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
