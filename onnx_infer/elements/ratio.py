"""Exact quotients of sizes: propagated floats that were computed from shapes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.laws.sizes import at_least
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.values.tensor import Dim

Element: TypeAlias = Any

# A product with a float of small numerator and denominator is exact in float32 for sizes below 2**12.
_SMALL = 2**12


class Ratio:
    """The exact value `num / den` of a float that was computed from sizes; `den` >= 1.

    The float itself is rounded unless `den` is a power of two. Floors, ceilings and comparisons of it are still right
    for sizes below 2**22: there a fraction is further from an integer than the rounding error of float32. Further
    arithmetic is not exact: `floor(H * (t / H))` may be t - 1 (see `is_rounded`).
    """

    __slots__ = ("den", "num")

    def __init__(self, num: Dim, den: Dim) -> None:
        self.num, self.den = num, den

    def substitute(self, mapping: Mapping[Any, Dim]) -> Element:
        """The ratio with variables replaced."""
        num, den = (x.substitute(mapping) if isinstance(x, Expr) else x for x in (self.num, self.den))
        return ratio(num, den)

    def _key(self) -> tuple[object, ...]:
        return self.num, self.den

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ratio) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return f"({self.num})/({self.den})" if self.den != 1 else f"{self.num}"

    __repr__ = __str__


class Product(Ratio):
    """A size times a float32, rounded to a float32: the integer below it is that below `num / den`.

    So 10 * 0.7 counts as 7, although the scale is below 7/10. The integer above it is known if `whole`: then it is an
    integer wherever `num / den` is one. No further arithmetic and no comparison is known.
    """

    __slots__ = ("whole",)

    def __init__(self, num: Dim, den: Dim, *, whole: bool) -> None:
        super().__init__(num, den)
        self.whole = whole

    def _key(self) -> tuple[object, ...]:
        return self.num, self.den, self.whole

    def substitute(self, mapping: Mapping[Any, Dim]) -> Element:
        """The product with variables replaced; None if no variable is left."""
        num = self.num.substitute(mapping) if isinstance(self.num, Expr) else self.num
        return Product(num, self.den, whole=self.whole) if isinstance(num, Expr) else None

    def negated(self) -> Product | None:
        """The negative product, if the integers on both sides of it are known."""
        return Product(-self.num, self.den, whole=True) if self.whole else None


def ratio(num: Dim, den: Dim) -> Element:
    """`num / den` as an element: a float if both are known, None if the sign of the divisor is not known.

    A multiple of a divisor of at least 1 is exact. A symbolic divisor that may be 0 stays, although a run in which it
    is 0 has no finite result.

    >>> from symdim import Var
    >>> H, W = Var("H"), Var("W")
    >>> ratio(2 * H, H), ratio(H * W, W), ratio(H, W), ratio(3, 0)
    (2.0, H, (H)/(W), None)
    """
    if not at_least(den, 0):
        return ratio(-num, -den) if at_least(-den, 0) else None
    if isinstance(num, int) and isinstance(den, int):
        try:
            return num / den
        except (ZeroDivisionError, OverflowError):  # infinite, or beyond all floats
            return None
    if at_least(den, 1):
        whole = num // den
        if whole * den == num:
            return Ratio(whole, 1) if isinstance(whole, Expr) else float(whole)
    return Ratio(num, den)


def fraction(x: Element) -> tuple[Dim, Dim] | None:
    """Numerator and denominator of an element, if they are exact and small enough to stay exact in float32."""
    if isinstance(x, Ratio):
        return None if isinstance(x, Product) else (x.num, x.den)
    if isinstance(x, float):
        if not math.isfinite(x):
            return None
        numerator, denominator = x.as_integer_ratio()
        small = denominator <= _SMALL and (abs(numerator) <= _SMALL or denominator == 1)
        return (numerator, denominator) if small else None
    return (int(x), 1) if isinstance(x, (bool, int)) else (x, 1)


def is_rounded(x: Element) -> bool:
    """Whether the float that an element stands for may differ from its exact value.

    >>> from symdim import Var
    >>> is_rounded(Ratio(Var("H"), 2)), is_rounded(Ratio(Var("H"), 3))
    (False, True)
    """
    return isinstance(x, Ratio) and not (isinstance(x.den, int) and x.den & (x.den - 1) == 0)
