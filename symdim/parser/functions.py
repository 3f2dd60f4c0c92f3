"""Functions that producers write into dimension texts, each with its exact meaning on integers.

Sources: SymPy's printer (onnxruntime, onnx_ir), torch's symbolic shape functions, JAX's shape polynomials,
onnx RFC 7661. Names are looked up in lower case. Any other function is one of which only congruence is known
(`symdim.algebra.application`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product as choices
from math import isqrt

from symdim.algebra.application import Function
from symdim.algebra.canonical import product, total
from symdim.algebra.dims import at_least, bounds_of
from symdim.algebra.expr import Expr
from symdim.algebra.floats import FLOATS
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.errors import SymdimError
from symdim.parser.rational import (
    Value,
    absolute,
    ceil,
    divide,
    floor,
    maximum,
    minimum,
    over_positive,
    parts_of,
    power,
    product_of,
    round_half_even,
    sum_of,
    trunc,
)

MAX_SQUARES = 4
"""The terms of a root that are looked for: the signs of all of them are tried."""


class Meaning(NamedTuple):
    """What a name means before `fewest` to `most` arguments (None: any number).

    `apply` computes it, or is None for what `/` means. If `exact`, "/" in its arguments is exact. If `polynomial`, it
    does not round, so its arguments need not be integers.
    """

    apply: Callable[..., Value] | None
    fewest: int
    most: int | None
    exact: bool = False
    polynomial: bool = False


def ceil_of_quotient(x: Value, y: Value = 1) -> int | Expr:
    """ceil(x / y)."""
    return ceil(divide(x, y))


def heaviside(x: Value, at_zero: Value) -> Value:
    """1 for x > 0, 0 for x < 0, and `at_zero`, 0 or 1, for x = 0.

    min(max(ceil(x), 0), 1) when `at_zero` is 0, min(max(floor(x) + 1, 0), 1) when it is 1.
    """
    if at_zero not in (0, 1):
        raise SymdimError("the value of Heaviside at 0 must be 0 or 1")
    return minimum(maximum(floor(x) + 1 if at_zero else ceil(x), 0), 1)


def sign(x: Value) -> Value:
    """-1, 0 or 1: the sign of a/b with b > 0 is min(max(a, -1), 1)."""
    return minimum(maximum(over_positive(x)[0], -1), 1)


def function(name: str, domain: str = "", low: int | None = None, high: int | None = None) -> Function:
    """A function of which only its name is known, and that its values are integers within these bounds.

    Equal arguments have equal values. Raises SymdimError for a name that means something in texts: with a domain it
    means nothing.

    >>> from symdim import Var, parse
    >>> N, f = Var("N"), function("f")
    >>> f(N + N) is parse("f(2*N)"), 4 * f(N) // 2, f(N).evaluate({f: lambda n: n * n}, N=3)
    (True, 2*f(N), 9)
    >>> function("max")
    Traceback (most recent call last):
    symdim.errors.SymdimError: 'max' has a meaning: give the function a domain, or another name
    """
    if not domain and name.lower() in FUNCTIONS:
        raise SymdimError(f"{name!r} has a meaning: give the function a domain, or another name")
    return Function(name, domain, low, high)


def meaning_of(name: str, table: Mapping[str, Meaning]) -> Meaning:
    """What a name means before arguments: without a meaning in the table it is a function of its own."""
    found = table.get(name.lower())
    if found is None:
        if "[" in name:
            raise SymdimError(f"no function of floats is named {name}")
        domain, _, word = name.rpartition(".")
        found = Meaning(Function(word, domain), 1, None, exact=True, polynomial=True)
    return found


def sqrt(x: Value) -> Value:
    """The square root of a dimension or a quotient: the root of a square, or a function of anything else.

    The function has integers as values, so it stands for a root only where that is one. Raises SymdimError for what is
    always negative.

    >>> from symdim import Var, sqrt
    >>> N, M = Var("N"), Var("M")
    >>> sqrt(49), sqrt(4 * N**2), sqrt(N**2 + 2 * N + 1), sqrt(N**2 - 2 * M * N + M**2)
    (7, 2*N, N + 1, M - 2*min(M, N) + N)
    >>> sqrt(N) is sqrt(N), sqrt(N).bounds(), (sqrt(N) + 1).substitute({"N": 16}), (sqrt(N) + 1).substitute({"N": 3})
    (True, (1, None), 5, sqrt(3) + 1)
    """
    found = _root_of(x)
    return SQRT(x) if found is None else found


def _root_of(x: Value) -> Value | None:
    """The root, if numerator and divisor are squares for all values of their variables."""
    above, below = map(_root, parts_of(x))
    if above is not None and below is not None:
        return divide(above, below)
    _, high = bounds_of(floor(x))
    if high is not None and high < 0:
        raise SymdimError(f"no root of {x!r}, which is negative")
    return None


def _integer_root(x: Value) -> int | Expr | None:
    found = _root_of(x)
    return found if isinstance(found, int | Expr) else None


def _interval_of_root(x: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    low, high = x
    return isqrt(max(low or 0, 0)), None if high is None else isqrt(max(high, 0)) + 1


SQRT = Function("sqrt", meaning=_integer_root, interval=_interval_of_root, is_open=True)


def _root(x: int | Expr) -> int | Expr | None:
    """The integer >= 0 whose square is x, if there is one for all values of its variables."""
    if isinstance(x, int):
        return isqrt(x) if x >= 0 and isqrt(x) ** 2 == x else None
    terms, const = terms_of(x)
    found: list[int | Expr] = []
    for unit, coefficient in [*terms.items(), *([(None, const)] if const else ())]:
        factor = _root(coefficient)
        powers = powers_of(unit)
        if factor and all(exponent % 2 == 0 for exponent in powers.values()):
            found.append(product([factor, *[atom ** (exponent // 2) for atom, exponent in powers.items()]]))
    if not 0 < len(found) <= MAX_SQUARES:
        return None
    for signs in choices((1, -1), repeat=len(found) - 1):
        root = total([found[0], *(sign * part for sign, part in zip(signs, found[1:], strict=True))])
        if root * root == x:
            return root if at_least(root, 0) else maximum(root, -root)  # type: ignore[return-value]
    return None


_FLOOR = Meaning(floor, 1, 1, exact=True)
_CEIL = Meaning(ceil, 1, 1, exact=True)
_TRUNC = Meaning(trunc, 1, 1, exact=True)
_ROUND = Meaning(round_half_even, 1, 1, exact=True)
_FLOOR_DIVISION = Meaning(lambda x, y: x // y, 2, 2)
_TRUE_DIVISION = Meaning(divide, 2, 2, polynomial=True)
_MODULO = Meaning(lambda x, y: x % y, 2, 2)
_POWER = Meaning(power, 2, 2, polynomial=True)
_IDENTITY = Meaning(lambda x: x, 1, 1, polynomial=True)

FUNCTIONS: dict[str, Meaning] = {
    **{str(f): Meaning(f, f.arity, f.arity, exact=True, polynomial=True) for f in FLOATS.values()},
    "abs": Meaning(absolute, 1, 1, polynomial=True),
    "add": Meaning(lambda *xs: sum_of(list(xs)), 1, None, polynomial=True),
    "ceil": _CEIL,
    "ceildiv": Meaning(ceil_of_quotient, 2, 2),
    "ceiling": _CEIL,
    "ceiltoint": Meaning(ceil_of_quotient, 1, 2, exact=True),
    "cleandiv": _FLOOR_DIVISION,
    "div": Meaning(None, 2, 2, polynomial=True),
    "floattruediv": _TRUE_DIVISION,
    "floatpow": _POWER,
    "floor": _FLOOR,
    "floordiv": _FLOOR_DIVISION,
    "floortoint": _FLOOR,
    "heaviside": Meaning(heaviside, 2, 2),
    "identity": _IDENTITY,
    "inttruediv": _TRUE_DIVISION,
    "lshift": Meaning(lambda x, y: x * power(2, y), 2, 2, polynomial=True),
    "max": Meaning(maximum, 1, None, polynomial=True),
    "min": Meaning(minimum, 1, None, polynomial=True),
    "mod": _MODULO,
    "modularindexing": Meaning(lambda x, divisor, modulus: x // divisor % modulus, 3, 3),
    "mul": Meaning(lambda *xs: product_of(list(xs)), 1, None, polynomial=True),
    "non_negative": Meaning(lambda x: maximum(x, 0), 1, 1, polynomial=True),
    "pow": _POWER,
    "powbynatural": _POWER,
    "pythonmod": _MODULO,
    "round": _ROUND,
    "roundtoint": _ROUND,
    "rshift": Meaning(lambda x, y: floor(divide(x, power(2, y))), 2, 2),
    "sign": Meaning(sign, 1, 1),
    "sqrt": Meaning(sqrt, 1, 1, exact=True, polynomial=True),
    "sub": Meaning(lambda x, y: x - y, 2, 2, polynomial=True),
    "tofloat": _IDENTITY,
    "trunc": _TRUNC,
    "truncdiv": Meaning(lambda x, y: trunc(divide(x, y)), 2, 2),
    "trunctofloat": _TRUNC,
    "trunctoint": _TRUNC,
}
