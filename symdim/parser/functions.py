"""Functions that producers write into dimension texts, each with its exact meaning on integers.

Sources: SymPy's printer (onnxruntime, onnx_ir), torch's symbolic shape functions, JAX's shape polynomials,
onnx RFC 7661. Names are looked up in lower case. Functions without an exact meaning (sqrt, Where, ...) are refused.
"""

from __future__ import annotations

from collections.abc import Callable

from symdim.algebra.expr import Expr
from symdim.algebra.named_tuple import NamedTuple
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
    power,
    round_half_even,
    trunc,
)


class Function(NamedTuple):
    """A function of `fewest` to `most` arguments (None: any number). If `exact`, "/" in its arguments is exact."""

    apply: Callable[..., Value]
    fewest: int
    most: int | None
    exact: bool = False


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


_FLOOR = Function(floor, 1, 1, exact=True)
_CEIL = Function(ceil, 1, 1, exact=True)
_TRUNC = Function(trunc, 1, 1, exact=True)
_ROUND = Function(round_half_even, 1, 1, exact=True)
_FLOOR_DIVISION = Function(lambda x, y: x // y, 2, 2)
_TRUE_DIVISION = Function(divide, 2, 2)
_MODULO = Function(lambda x, y: x % y, 2, 2)
_POWER = Function(power, 2, 2)
_IDENTITY = Function(lambda x: x, 1, 1)

FUNCTIONS: dict[str, Function] = {
    "abs": Function(absolute, 1, 1),
    "ceil": _CEIL,
    "ceildiv": Function(ceil_of_quotient, 2, 2),
    "ceiling": _CEIL,
    "ceiltoint": Function(ceil_of_quotient, 1, 2, exact=True),
    "cleandiv": _FLOOR_DIVISION,
    "floattruediv": _TRUE_DIVISION,
    "floatpow": _POWER,
    "floor": _FLOOR,
    "floordiv": _FLOOR_DIVISION,
    "floortoint": _FLOOR,
    "heaviside": Function(heaviside, 2, 2),
    "identity": _IDENTITY,
    "inttruediv": _TRUE_DIVISION,
    "lshift": Function(lambda x, y: x * power(2, y), 2, 2),
    "max": Function(maximum, 1, None),
    "min": Function(minimum, 1, None),
    "mod": _MODULO,
    "modularindexing": Function(lambda x, divisor, modulus: x // divisor % modulus, 3, 3),
    "non_negative": Function(lambda x: maximum(x, 0), 1, 1),
    "pow": _POWER,
    "powbynatural": _POWER,
    "pythonmod": _MODULO,
    "round": _ROUND,
    "roundtoint": _ROUND,
    "rshift": Function(lambda x, y: floor(divide(x, power(2, y))), 2, 2),
    "sign": Function(sign, 1, 1),
    "tofloat": _IDENTITY,
    "trunc": _TRUNC,
    "truncdiv": Function(lambda x, y: trunc(divide(x, y)), 2, 2),
    "trunctofloat": _TRUNC,
    "trunctoint": _TRUNC,
}
