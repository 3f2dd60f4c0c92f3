"""Arithmetic of float32 and float64 on sizes, as models compute it: each operation is rounded to its type.

`floor[f32](mul[f32](H, div[f32](W, 7)))` is the size that `Floor(H * (W / 7))` gives in single precision. Operands are
integers, fractions such as `7/10`, and results of such functions; each is rounded to the type first. Rounding is to the
nearest float, to the even one of two (IEEE 754). `floor`, `ceil`, `trunc` and `round` give integers, which are sizes.
The results of the other functions are floats, which stand only in functions.

A function has no value where a result is infinite or not a number.
"""

from __future__ import annotations

import math
from itertools import product as choices
from math import inf, isfinite, isnan, ldexp
from struct import pack, unpack

from symdim.algebra.application import Application, Function
from symdim.algebra.dims import at_least, bounds_of
from symdim.algebra.expr import Expr
from symdim.errors import DivisionByZero, SymdimError
from symdim.parser.rational import Rational, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeGuard

    from symdim.algebra.expr import Dim, Interval

    class Float(Application):
        """What a function of floats gives if it does not round to an integer."""

        function: FloatFunction


_BITS = 50
"""The bits of a fraction that are rounded to a float32. The last one tells whether there are more."""


def to_f32(numerator: int, denominator: int = 1) -> float:
    """The float32 nearest to a fraction; infinite if it is too large.

    >>> to_f32(2**24 + 1), to_f32(1, 2), to_f32(2**40 * (2**24 + 1) + 1) == 2**40 * (2**24 + 2), to_f32(10**39)
    (16777216.0, 0.5, True, inf)
    """
    shift = _BITS + denominator.bit_length() - numerator.bit_length()
    quotient, rest = divmod(numerator << max(shift, 0), denominator << max(-shift, 0))
    try:
        return unpack("f", pack("f", ldexp(quotient | (rest != 0), -shift)))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return inf if numerator > 0 else -inf


def to_f64(numerator: int, denominator: int = 1) -> float:
    """The float64 nearest to a fraction; infinite if it is too large."""
    try:
        return numerator / denominator
    except OverflowError:
        return inf if numerator > 0 else -inf


TYPES: dict[str, Callable[..., float]] = {"f32": to_f32, "f64": to_f64}

BINARY: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y if y else math.nan,
    "min": min,
    "max": max,
}
"""Functions that give floats, and so does `value`. Rounded to float64 and then to float32, they are as rounded once."""

ROUNDINGS: dict[str, Callable[[float], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
}
"""Functions that give integers; `round` gives the even one of two."""

UNARY: dict[str, Callable[..., float]] = {"value": lambda x: x, **ROUNDINGS}


class FloatFunction(Function):
    """An operation on floats of a type, `f32` or `f64`.

    >>> from symdim import Var
    >>> H = Var("H", 1, 100)
    >>> size = FLOATS["f32_floor"](FLOATS["f32_mul"](H, FLOATS["f32_div"](7, 10)))
    >>> size, size.bounds(), size.evaluate(H=10)
    (floor[f32](mul[f32](H, div[f32](7, 10))), (0, 70), 7)
    """

    __slots__ = ("arity", "operation", "operation_name", "type")

    def __init__(self, name: str) -> None:
        super().__init__(name, meaning=self._meaning)
        self.type, _, operation = name.partition("_")
        self.operation_name = operation
        self.arity = 2 if operation in BINARY else 1
        self.is_size = operation in ROUNDINGS
        self.operation = BINARY.get(operation) or UNARY[operation]

    def key(self) -> Any:
        """What functions are compared by."""
        return self.name

    def __str__(self) -> str:
        return f"{self.operation_name}[{self.type}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return float_function, (self.name,)

    def of_numbers(self, parts: Sequence[int | float]) -> int | float:
        """The value for numerators and divisors in turn; a numerator may be a float. Raises DivisionByZero for none."""
        value = self._result([self.rounded(n, d) for n, d in zip(parts[::2], parts[1::2], strict=True)])
        if not isfinite(value):
            raise DivisionByZero(f"{self} has no finite value here")
        return value

    def rounded(self, numerator: int | float, divisor: int | float = 1) -> float:
        """The float of the type that is nearest to a fraction, or to a float."""
        if isinstance(numerator, float):
            if not isfinite(numerator):
                return numerator
            numerator, divisor = numerator.as_integer_ratio()
        return TYPES[self.type](numerator, divisor)

    def _result(self, operands: Sequence[float]) -> int | float:
        if self.is_size:
            return self.operation(*operands) if isfinite(operands[0]) else operands[0]
        return self.rounded(self.operation(*operands))

    def _meaning(self, *arguments: Any) -> Dim | None:
        """The integer that the function gives for numbers. A float has no other form than its application."""
        numbers: list[Any] = []
        for x in arguments:
            n, d = (x, 1) if isinstance(x, Expr) else (x.numerator, x.denominator)
            if isinstance(n, int) and isinstance(d, int) and not isfinite(self.rounded(n, d)):
                raise SymdimError(f"an operand of {self} is beyond all floats: {x!r}")
            if d != 1 and not (isinstance(n, int) and isinstance(d, int)):
                raise SymdimError(f"an operand of {self} is a quotient: divide by div[{self.type}]")
            numbers += [n, d]
        if not self.is_size or any(isinstance(n, Expr) and n.variables() for n in numbers):
            return None
        numbers = [n.evaluate() if isinstance(n, Expr) else n for n in numbers]
        return self.of_numbers(numbers)  # type: ignore[return-value]

    def bounds(self, ranges: Sequence[Interval], parts: Sequence[Dim] = ()) -> Interval:
        """Bounds of the value. Of an integer for these `parts` an upper bound may cancel sizes, too (`_most`)."""
        low, high = self._ends(ranges)
        most = _most(parts[:2], ()) if self.is_size else inf
        if most < inf:
            rounded = self.operation(most)
            high = rounded if high is None else min(high, rounded)
        return low, high if low is None or high is None else max(low, high)

    def _ends(self, ranges: Sequence[Interval]) -> tuple[Any, Any]:
        """Each operation is monotone, and so is each rounding. So the extrema are values at ends of the operands."""
        ends: list[tuple[float, float]] = []
        for (low, high), (divisor, _) in zip(ranges[::2], ranges[1::2], strict=True):
            by = divisor or 1  # no operand has an expression as divisor
            ends.append(
                (self.rounded(-inf if low is None else low, by), self.rounded(inf if high is None else high, by))
            )
        if self.operation is BINARY["div"] and ends[1][0] <= 0 <= ends[1][1]:
            is_positive = ends[0][0] >= 0 == ends[1][0]
            return (self._result((ends[0][0], ends[1][1])) if is_positive else None, None)
        values = [x for x in (self._result(corner) for corner in choices(*ends)) if not isnan(x)]
        least, most = min(values), max(values)
        return least if isfinite(least) else None, most if isfinite(most) else None


FLOATS = {
    name: FloatFunction(name) for name in [f"{kind}_{operation}" for kind in TYPES for operation in (*BINARY, *UNARY)]
}
"""The functions by name, such as `f32_mul`, which texts call `mul[f32]`."""


def float_function(name: str) -> FloatFunction:
    """The function of this name. A pickle asks for it."""
    return FLOATS[name]


def is_float(x: object) -> TypeGuard[Float]:
    """Whether a dimension is a float, which is no size."""
    return isinstance(x, Application) and isinstance(x.function, FloatFunction) and not x.function.is_size


_MOST_NESTED = 8
_MOST_FACTORS = 6
_LEAST_CONSTANT = 2**-10
_SLACK = 1 + 2**-9
"""What rounding adds to a quotient of so many factors, one of which divides and may be a size, is less.

A size of more than 2**128 has no float32. So the floats are at least 2**-128, and one constant makes them 2**-138 at
least. There a float32 is rounded by a part in 2**12 at most.
"""


def _most(factors: Sequence[Dim], divisors: Sequence[Dim], nested: int = 0) -> float:
    """An upper bound of a product of operands divided by others, in which sizes cancel; infinite if none is known.

    Operands are numerators and divisors in turn. `H*min(800/min(H, W), 1333/max(H, W))` is about 1333 at most, because
    H is at most `max(H, W)`.
    """
    if len(factors) + len(divisors) > 2 * _MOST_FACTORS or nested > _MOST_NESTED:
        return inf
    for over, under, choose in ((factors, divisors, "min"), (divisors, factors, "max")):
        for i in range(0, len(over), 2):
            if not is_float(x := over[i]):
                continue
            operation, rest, a, b = x.function.operation_name, [*over[:i], *over[i + 2 :]], x._parts[:2], x._parts[2:]
            ways: list[tuple[Sequence[Dim], Sequence[Dim]]]
            if operation == "mul":
                ways = [([*rest, *a, *b], under)]
            elif operation == "div":
                ways = [([*rest, *a], [*under, *b])]
            elif operation == choose:
                ways = [([*rest, *a], under), ([*rest, *b], under)]
            else:
                return inf
            pairs = ways if over is factors else [(y, x) for x, y in ways]
            return min(_most(x, y, nested + 1) for x, y in pairs)
    return _most_of_sizes(factors, divisors)


def _most_of_sizes(factors: Sequence[Dim], divisors: Sequence[Dim]) -> float:
    """The same for operands that are numbers and sizes."""
    number = least = 1.0
    sizes: tuple[list[Expr], list[Expr]] = [], []
    for operands, of, exponent in ((factors, sizes[0], 1), (divisors, sizes[1], -1)):
        for n, d in zip(operands[::2], operands[1::2], strict=True):
            if not at_least(n, 1):
                return inf
            if isinstance(n, Expr):
                of.append(n)
            else:
                assert isinstance(d, int)
                number *= (n / d) ** exponent
                least *= min((n / d) ** exponent, 1)
    if least < _LEAST_CONSTANT or len(sizes[1]) > 1:
        return inf
    for divisor in sizes[1]:
        lesser = next((size for size in sizes[0] if at_least(divisor - size, 0)), None)
        if lesser is None:
            number /= to_f64(bounds_of(divisor)[0] or 1)
        else:
            sizes[0].remove(lesser)
    for size in sizes[0]:
        number *= to_f64(bounds_of(size)[1] or 0) or inf
    return number * _SLACK


def as_fraction(x: float, kind: str) -> Value:
    """A finite float as an operand in a type: an integer, or the simplest of some fractions that are rounded to it.

    >>> as_fraction(to_f32(1, 24), "f32"), as_fraction(0.7, "f64"), as_fraction(-2.0, "f32")
    (1/24, 7/10, -2)
    """
    numerator, denominator = TYPES[kind](*x.as_integer_ratio()).as_integer_ratio()
    x = numerator / denominator
    p, q, above, below = 0, 1, 1, 0  # the last two convergents of the continued fraction
    while below == 0 or TYPES[kind](above, below) != x:
        whole = numerator // denominator
        p, q, above, below = above, below, whole * above + p, whole * below + q
        numerator, denominator = denominator, numerator - whole * denominator
    return above if below == 1 else Rational(above, below)
