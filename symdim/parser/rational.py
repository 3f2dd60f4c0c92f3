"""Exact quotients of dimensions: `symdim.Rational`, and the intermediate values in a dimension text.

SymPy writes (N - 1)//2 as `floor(N/2 - 1/2)`. With integer division this would be N//2 - 0, one too many for every
even N. So in floor() and similar functions "/" is exact: numerator and denominator stay separate until a function
rounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import lcm
from typing import Any, TypeAlias

from symdim.algebra import canonical
from symdim.algebra.constructors.applications import lowest_terms
from symdim.algebra.constructors.arithmetic import MAX_PAIRS, MAX_TERMS
from symdim.algebra.dims import bounds_of, substituted, variables_of
from symdim.algebra.expr import Expr
from symdim.algebra.magnitude import bits
from symdim.errors import SymdimError

Value: TypeAlias = "int | Expr | Rational"

MAX_BITS = 14_000
MAX_DIGITS = 4000
MAX_DENOMINATORS = 32
_STEPS = 4  # for each pair of terms that are multiplied


class Rational:
    """The exact quotient of two dimensions, with their arithmetic. What is an integer again is a dimension again.

    a/b + c/d = (a*d + c*b)/(b*d), (a/b)*(c/d) = (a*c)/(b*d), x // y = floor(x/y), x % y = x - y*floor(x/y).
    If a symbolic denominator is 0, there is no value. Two quotients are equal if a*d == c*b; they have no hash, because
    equal ones may have different parts.

    >>> from math import ceil, floor
    >>> from symdim import Rational, Var
    >>> N = Var("N")
    >>> half = Rational(N, 2)
    >>> half, 2 * half, floor(half + Rational(1, 2)), ceil(half), half.evaluate(N=6), half.evaluate(N=7)
    (N/2, N, (N + 1)//2, (N + 1)//2, 3, 7/2)
    """

    __slots__ = ("denominator", "numerator")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, numerator: int | Expr, denominator: int | Expr) -> None:
        self.numerator = numerator
        self.denominator = denominator

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rational | int | Expr):
            return NotImplemented
        (a, b), (c, d) = parts_of(self), parts_of(other)
        return a * d == c * b

    def __repr__(self) -> str:
        a, b = [text if text.isalnum() else f"({text})" for text in (repr(self.numerator), repr(self.denominator))]
        return f"{a}/{b}"

    def free_symbols(self) -> set[str]:
        """The names of the variables."""
        return {v.name for v in variables_of([self.numerator, self.denominator])}

    def substitute(self, mapping: Mapping[Any, int | Expr]) -> Value:
        """The quotient with dimensions in place of variables. Raises DivisionByZero if nothing divides."""
        return divide(substituted(self.numerator, mapping), substituted(self.denominator, mapping))

    def evaluate(self, bindings: Mapping[Any, int] | None = None, /, **sizes: int) -> Value:
        """The quotient for sizes of variables, by name: an int if it is one."""
        return self.substitute({**(bindings or {}), **sizes})

    def __floor__(self) -> int | Expr:
        return floor(self)

    def __ceil__(self) -> int | Expr:
        return ceil(self)

    def __trunc__(self) -> int | Expr:
        return trunc(self)

    def __round__(self) -> int | Expr:
        return round_half_even(self)

    def __truediv__(self, other: Value) -> Value:
        return divide(self, other)

    def __rtruediv__(self, other: int | Expr) -> Value:
        return divide(other, self)

    def __neg__(self) -> Rational:
        return Rational(-self.numerator, self.denominator)

    def __add__(self, other: Value) -> Value:
        (a, b), (c, d) = parts_of(self), parts_of(other)
        if isinstance(b, int) and isinstance(d, int):
            common = lcm(b, d)
            return divide(a * (common // b) + c * (common // d), common)
        return divide(a + c, b) if b is d else divide(a * d + c * b, b * d)

    def __sub__(self, other: Value) -> Value:
        return self + -other

    def __rsub__(self, other: int | Expr) -> Value:
        return -self + other

    def __mul__(self, other: Value) -> Value:
        return product_of([self, other])

    def __floordiv__(self, other: Value) -> int | Expr:
        return floor(divide(self, other))

    def __rfloordiv__(self, other: int | Expr) -> int | Expr:
        return floor(divide(other, self))

    def __mod__(self, other: Value) -> Value:
        return self - other * floor(divide(self, other))

    def __rmod__(self, other: int | Expr) -> Value:
        return other - self * floor(divide(other, self))

    __radd__ = __add__
    __rmul__ = __mul__


def parts_of(x: Value) -> tuple[int | Expr, int | Expr]:
    """Numerator and denominator."""
    return (x.numerator, x.denominator) if isinstance(x, Rational) else (x, 1)


def divide(x: Value, y: Value) -> Value:
    """The exact quotient x / y, without a common factor of its coefficients. Raises DivisionByZero when y is 0."""
    (a, b), (c, d) = parts_of(x), parts_of(y)
    numerator, denominator = a * d, b * c
    if isinstance(denominator, int):
        if denominator.bit_length() > MAX_BITS:
            raise SymdimError("the denominator is too large")
        numerator, denominator = lowest_terms(numerator, denominator)
        if denominator == 1:
            return numerator
    return Rational(numerator, denominator)


def decimal(lexeme: str) -> Value:
    """A decimal number, exactly: 0.5 is 1/2, 1e3 is 1000. Raises SymdimError if its exponent is too large."""
    if lexeme.isdecimal():
        return int(lexeme)
    mantissa, _, exponent = lexeme.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    scale = int(exponent or 0) - len(fraction)
    if abs(scale) > MAX_DIGITS:
        raise SymdimError("the exponent of a number is too large")
    return divide(int(whole + fraction) * 10 ** max(scale, 0), 10 ** max(-scale, 0))


def floor(x: Value) -> int | Expr:
    """The largest integer <= x: floor(a/b) = a // b."""
    return x.numerator // x.denominator if isinstance(x, Rational) else x


def ceil(x: Value) -> int | Expr:
    """The smallest integer >= x: ceil(a/b) = -((-a) // b)."""
    return canonical.ceildiv(x.numerator, x.denominator) if isinstance(x, Rational) else x


def trunc(x: Value) -> int | Expr:
    """x rounded toward zero: trunc(a/b) = min(max(a, 0), a + b - 1)//b for b > 0, so a // b when a >= 0.

    Raises SymdimError when the sign of b is not known.
    """
    if not isinstance(x, Rational):
        return x
    a, b = over_positive(x)
    return canonical.minimum(canonical.maximum(a, 0), a + b - 1) // b


def round_half_even(x: Value) -> int | Expr:
    """x rounded to the nearest integer, ties to the even one, as Python and torch round.

    round(a/b) = (2*a + 3*b - 1)//(4*b) + (2*a + b)//(4*b) for b > 0: the first counts the halves 2*k + 1/2 that are
    below a/b, the second the halves 2*k + 3/2 that are not above it. There are no ties when b is odd, and
    round(a/b) = (2*a + b)//(2*b).
    """
    if not isinstance(x, Rational):
        return x
    a, b = over_positive(x)
    if isinstance(b, int) and b % 2:
        return (2 * a + b) // (2 * b)
    return (2 * a + 3 * b - 1) // (4 * b) + (2 * a + b) // (4 * b)


def over_positive(x: Value) -> tuple[int | Expr, int | Expr]:
    """Numerator and denominator of x, with a denominator >= 0 (0 means that there is no quotient)."""
    a, b = parts_of(x)
    low, high = bounds_of(b)
    if low is not None and low >= 0:
        return a, b
    if high is not None and high <= 0:
        return -a, -b
    raise SymdimError(f"the sign of the divisor {b!r} is not known")


def maximum(*xs: Value) -> Value:
    """The largest argument: max(a/b, c/d) = max(a*d, c*b)/(b*d) for b, d > 0.

    Raises SymdimError when the sign of a denominator is not known.
    """
    return _chosen(canonical.maximum, xs)


def minimum(*xs: Value) -> Value:
    """The smallest argument; see `maximum`."""
    return _chosen(canonical.minimum, xs)


def _chosen(choose: Callable[..., int | Expr], xs: tuple[Value, ...]) -> Value:
    if not any(isinstance(x, Rational) for x in xs):
        return choose(*xs)
    pairs = [over_positive(x) for x in xs]
    denominators = list(dict.fromkeys(b for _, b in pairs if b != 1))
    _count(denominators)
    scale = {b: canonical.product([d for d in denominators if d != b]) for b in [1, *denominators]}
    return divide(choose(*(a * scale[b] for a, b in pairs)), scale[1])


def absolute(x: Value) -> Value:
    """|x| = max(x, -x)."""
    return maximum(x, -x)


def sum_of(values: list[Value]) -> Value:
    """The sum; terms over one denominator are added first."""
    numerators: dict[int | Expr, list[int | Expr]] = {}
    for value in values:
        a, b = parts_of(value)
        numerators.setdefault(b, []).append(a)
    _count(list(numerators))
    result: Value = canonical.total(numerators.pop(1, ()))
    for b, terms in numerators.items():
        result = divide(canonical.total(terms), b) + result
    return result


def product_of(values: list[Value]) -> Value:
    """The product, numerators over denominators; SymdimError for numbers of more than `MAX_BITS` bits."""
    pairs = [parts_of(value) for value in values]
    if len(values) > 2 and sum(bits(a) for a, _ in pairs) > MAX_BITS:
        raise SymdimError("the product is too large")
    denominators = [b for _, b in pairs if b != 1]
    _count(denominators)
    return divide(canonical.product([a for a, _ in pairs]), canonical.product(denominators))


def work_of_product(values: list[Value]) -> int:
    """About how many steps `product_of` takes: its sums are multiplied out until that has too many terms."""
    work, size = len(values), 1
    for terms in sorted([_terms(part) for value in values for part in parts_of(value)]):
        work += _STEPS * min(size * terms, MAX_PAIRS) if terms > 1 else 0
        size *= terms
        if size > MAX_TERMS:
            break
    return work


def work_of_power(x: Value, exponent: Value) -> int:
    """The same for `power`: t terms to the power k have (k + t - 1 over k) terms."""
    work = 0
    for terms in map(_terms, parts_of(x)):
        if terms == 1 or not isinstance(exponent, int):
            continue
        size, k = terms, 2
        while k <= exponent and size <= MAX_TERMS and size * terms <= MAX_PAIRS:
            work += _STEPS * size * terms
            size = size * (k + terms - 1) // k
            k += 1
    return work


def _terms(x: int | Expr) -> int:
    return 1 if isinstance(x, int) or x._terms is None else len(x._terms) + (x._const != 0)


def _count(denominators: list[int | Expr]) -> None:
    if len(denominators) > MAX_DENOMINATORS:
        raise SymdimError(f"more than {MAX_DENOMINATORS} denominators")


def power(x: Value, exponent: Value) -> Value:
    """x to a constant k >= 0: (a/b)**k = a**k / b**k.

    Raises SymdimError for other exponents and for numbers of more than `MAX_BITS` bits.
    """
    if not isinstance(exponent, int) or exponent < 0:
        raise SymdimError("an exponent must be a constant integer that is not negative")
    a, b = parts_of(x)
    if max(bits(a), bits(b)) * exponent > MAX_BITS:
        raise SymdimError("the power is too large")
    return divide(a**exponent, b**exponent) if isinstance(x, Rational) else a**exponent


def exact_integer(x: Value) -> int | Expr:
    """x, if it is an integer for all values of its variables: if a - b*(a // b) is 0 for x = a/b.

    Raises SymdimError otherwise.
    """
    if not isinstance(x, Rational):
        return x
    a, b = parts_of(x)
    quotient = a // b
    if a - quotient * b == 0:
        return quotient
    raise SymdimError(f"({a!r})/({b!r}) need not be an integer: write floor(), ceil() or //")
