"""Exact quotients of sizes: propagated floats that were computed from shapes."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_infer.laws.readable import is_unreadable
from onnx_infer.laws.sizes import at_least
from symdim import DivisionByZero, Expr
from symdim.algebra.application import Application
from symdim.algebra.dims import substituted
from symdim.dialects.floats import BINARY, FLOATS, UNARY, FloatFunction, as_fraction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.values.tensor import Dim

Element: TypeAlias = Any

MOST_LEAVES_OF_A_FLOAT = 64
"""The most variables in a float of sizes; beyond, it is not known."""
MOST_NESTED_FLOATS = 32
"""The most functions inside of one another in it."""

_LARGEST_FLOAT = 2.0**127

# A product with a float of small numerator and denominator is exact in float32 for sizes below 2**12.
_SMALL = 2**12


class Ratio:
    """The exact value `num / den` of a float that was computed from sizes; `den` >= 1.

    The float itself is rounded unless `den` is a power of two. Floors, ceilings and comparisons of it are still right
    for sizes below 2**22: there a fraction is further from an integer than the rounding error of float32. Further
    arithmetic is not exact, and gives a `Rounding`: `floor(H * (t / H))` may be t - 1.
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
    integer wherever `num / den` is one. No comparison is known. Further arithmetic takes the product of the `factors`.
    """

    __slots__ = ("factors", "whole")

    def __init__(self, num: Dim, den: Dim, *, whole: bool, factors: tuple[Dim, float]) -> None:
        super().__init__(num, den)
        self.whole, self.factors = whole, factors

    def _key(self) -> tuple[object, ...]:
        return self.num, self.den, self.whole, self.factors

    def substitute(self, mapping: Mapping[Any, Dim]) -> Element:
        """The product with variables replaced; None if no variable is left."""
        (size, scale), num = self.factors, substituted(self.num, mapping)
        factors = substituted(size, mapping), scale
        return Product(num, self.den, whole=self.whole, factors=factors) if isinstance(num, Expr) else None

    def negated(self) -> Product | None:
        """The negative product, if the integers on both sides of it are known."""
        size, scale = self.factors
        return Product(-self.num, self.den, whole=True, factors=(-size, scale)) if self.whole else None


class Rounded(Ratio):
    """A float that operations on sizes give, each of them rounded: a function of `symdim.dialects.floats`.

    Operations on it are functions of it. No comparison is known.
    """

    __slots__ = ()

    def __init__(self, value: Expr) -> None:
        super().__init__(value, 1)

    def _key(self) -> tuple[object, ...]:
        return self.num, "rounded"

    def substitute(self, mapping: Mapping[Any, Dim]) -> Element:
        """The float with variables replaced."""
        return _of_value(substituted(self.num, mapping))

    def in_type(self, name: str) -> Element:
        """The float in a type of this name, `f32` or `f64`."""
        narrows = name == "f32" and self.function.type != name
        return _of_value(FLOATS[f"{name}_value"](self.num)) if narrows else self

    @property
    def function(self) -> FloatFunction:
        """The last operation."""
        assert isinstance(self.num, Application)
        assert isinstance(self.num.function, FloatFunction)
        return self.num.function

    def truncated(self) -> Dim:
        """The integer next to it, towards zero."""
        if self.function.is_size:
            return self.num
        return FLOATS[f"{self.function.type}_{'floor' if at_least(self.num, 0) else 'trunc'}"](self.num)


class Near(Rounded):
    """A float of known numbers that runtimes round differently, such as `17 ** 0.5`: it is between `low` and `high`.

    Its floor is known if both ends have the same one.

    >>> root = Rounding("sqrt", 17.0).in_type("f32")
    >>> root, root.truncated(), Rounding("sqrt", 16.0).in_type("f32").truncated()
    (~4.12311, 4, None)
    """

    __slots__ = ("high", "low")

    def __init__(self, low: float, high: float) -> None:
        Ratio.__init__(self, 0, 1)
        self.low, self.high = low, high

    def _key(self) -> tuple[object, ...]:
        return self.low, self.high

    def __str__(self) -> str:
        return f"~{(self.low + self.high) / 2:g}"

    __repr__ = __str__

    def substitute(self, mapping: Mapping[Any, Dim]) -> Element:
        """The same: it has no variables."""
        return self

    def in_type(self, name: str) -> Element:
        """The float in a type of this name, `f32` or `f64`."""
        return _near("value", (self,))

    def truncated(self) -> Dim | None:  # type: ignore[override]
        """The integer next to it, towards zero; None if that is not certain."""
        low, high = math.trunc(self.low), math.trunc(self.high)
        return low if low == high else None


_APPROXIMATED: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "pow": math.pow, "exp": math.exp, "log": math.log}
"""Operations that runtimes approximate, each in its way. They are monotone in each operand, which are positive."""

_SELECTING = ("floor", "ceil", "round", "min", "max")
"""Operations that do not round."""

_MARGIN = 2**-18
"""Each approximation in float32 is off by a smaller part of the result, or of 1: OpenCL allows 16 units, 2**-19."""


def is_near(operation: str, operands: Iterable[Element]) -> bool:
    """Whether the result of an operation is near a number, not one that is the same in all runtimes."""
    return operation in _APPROXIMATED or any(isinstance(x, Near) for x in operands)


def _near(operation: str, operands: Sequence[Element]) -> Element:
    """The float near the result of a monotone operation on numbers, which is between the results for their ends."""
    ends = [(x.low, x.high) if isinstance(x, Near) else (x, x) for x in operands if isinstance(x, (float, Near))]
    function = _APPROXIMATED.get(operation) or BINARY.get(operation) or UNARY[operation]
    is_pole = operation == "div" and len(ends) == 2 and ends[1][0] <= 0 <= ends[1][1]
    if len(ends) < len(operands) or is_pole or (operation in _APPROXIMATED and operation != "exp" and ends[0][0] <= 0):
        return None
    try:
        results = [function(*corner) for corner in product(*ends)]
    except OverflowError:
        return None
    low, high = min(results), max(results)
    if not (low > -_LARGEST_FLOAT and high < _LARGEST_FLOAT):
        return None
    if operation in _SELECTING:
        return float(low) if low == high else Near(low, high)
    return approximated(low, high)


def approximated(low: float, high: float) -> Near:
    """What runtimes make of a float between these ends, which they approximate."""
    return Near(low - _MARGIN * max(abs(low), 1), high + _MARGIN * max(abs(high), 1))


class Rounding(Ratio):
    """An operation on elements whose result the element type rounds: `convert` makes a float of it.

    Nothing else is known of it, because an operator of several operations may round only the last one.
    """

    __slots__ = ("operands", "operation")

    def __init__(self, operation: str, *operands: Element) -> None:
        self.operation, self.operands = operation, operands

    def in_type(self, name: str) -> Element:
        """The result in a type of floats, `f32` or `f64`; None if an operand is not known there, or it is too long."""
        if is_near(self.operation, self.operands):
            return _near(self.operation, self.operands)
        operands = [_operand(x, name) for x in self.operands]
        if any(x is None for x in operands):
            return None
        return _of_value(FLOATS[f"{name}_{self.operation}"](*operands))


def _of_value(value: Dim) -> Element:
    """A float of which a function, or an integer, has the value; None if it is infinite, no number, or too long."""
    if isinstance(value, int):
        return float(value)
    if not value.variables():
        try:
            return value.evaluate()
        except DivisionByZero:
            return None
    is_long = value._height > MOST_NESTED_FLOATS or is_unreadable(value, MOST_LEAVES_OF_A_FLOAT)
    return None if is_long else Rounded(value)


def _operand(x: Element, name: str) -> Any:
    """An element as an operand of a function of floats of a type."""
    if isinstance(x, Rounding) or (isinstance(x, float) and not math.isfinite(x)):
        return None
    if isinstance(x, float):
        return as_fraction(x, name)
    if isinstance(x, Product):
        size, scale = x.factors
        return FLOATS["f32_mul"](size, as_fraction(scale, "f32"))
    if not isinstance(x, Ratio):
        return x
    if x.den == 1:
        return x.num
    # a quotient of float32 that was cast to float64 is another one
    return FLOATS[f"{name}_div"](x.num, x.den) if name == "f32" or not is_rounded(x) else None


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
        return None if isinstance(x, (Product, Rounded, Rounding)) else (x.num, x.den)
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
    if isinstance(x, (Rounded, Rounding)):
        return True
    return isinstance(x, Ratio) and not (isinstance(x.den, int) and x.den & (x.den - 1) == 0)
