"""Functions that producers write into dimension texts, each with its exact meaning on integers.

Sources: SymPy's printer (onnxruntime, onnx_ir), torch's symbolic shape functions, JAX's shape polynomials,
onnx RFC 7661. Names are looked up in lower case. Roots, signs and functions of floats have their meaning in
`symdim.dialects`, which a copy of the core may lack. Any other function is one of which only congruence is known
(`symdim.algebra.application`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symdim.algebra.application import Function
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
    power,
    product_of,
    round_half_even,
    sum_of,
    trunc,
)

IN_DIALECTS = frozenset(("heaviside", "sign", "sqrt"))
"""The names that `symdim.dialects.functions` gives a meaning, beside those with a type in brackets, `mul[f32]`."""


class Meaning(NamedTuple):
    """What a name means before `fewest` to `most` arguments (None: any number).

    `apply` computes it, or is None for what `/` means. If `exact`, "/" in its arguments is exact. If `polynomial`, it
    does not round, so its arguments need not be integers. With `floats` an argument may be a float, which is no size.
    """

    apply: Callable[..., Value] | None
    fewest: int
    most: int | None
    exact: bool = False
    polynomial: bool = False
    floats: bool = False


def ceil_of_quotient(x: Value, y: Value = 1) -> int | Expr:
    """ceil(x / y)."""
    return ceil(divide(x, y))


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
    if not domain and (name.lower() in FUNCTIONS or name.lower() in IN_DIALECTS):
        raise SymdimError(f"{name!r} has a meaning: give the function a domain, or another name")
    return Function(name, domain, low, high)


def meaning_of(name: str, table: Mapping[str, Meaning]) -> Meaning:
    """What a name means before arguments: without a meaning in the table it is a function of its own.

    Raises SymdimError for an unknown function of floats, and for a function of the dialects where these are missing.
    """
    key = name.lower()
    meaning = table.get(key)
    if meaning is None and (key in IN_DIALECTS or "[" in key):
        try:
            from symdim import MEANINGS
        except ImportError:
            raise SymdimError(f"{name} is read with `symdim.dialects`, which this copy of the core lacks") from None
        meaning = MEANINGS.get(key)
        if meaning is None:
            raise SymdimError(f"no function of floats is named {name}")
    if meaning is None:
        domain, _, word = name.rpartition(".")
        meaning = Meaning(Function(word, domain), 1, None, exact=True, polynomial=True)
    return meaning


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
    "sub": Meaning(lambda x, y: x - y, 2, 2, polynomial=True),
    "tofloat": _IDENTITY,
    "trunc": _TRUNC,
    "truncdiv": Meaning(lambda x, y: trunc(divide(x, y)), 2, 2),
    "trunctofloat": _TRUNC,
    "trunctoint": _TRUNC,
}
