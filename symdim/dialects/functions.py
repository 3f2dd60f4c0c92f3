"""Functions of other programs that need more than a line: roots, signs, and those of floats.

Their names mean this in every text (`symdim.parser.functions`), which loads this file when it meets one of them.
"""

from __future__ import annotations

from itertools import product as choices
from math import isqrt

from symdim.algebra.application import Function
from symdim.algebra.canonical import product, total
from symdim.algebra.dims import at_least, bounds_of
from symdim.algebra.expr import Expr
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.dialects.floats import FLOATS
from symdim.errors import SymdimError
from symdim.parser.functions import Meaning
from symdim.parser.rational import Value, ceil, divide, floor, maximum, minimum, over_positive, parts_of

MAX_SQUARES = 4
"""The terms of a root that are looked for: the signs of all of them are tried."""


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
    root = _root_of(x)
    return SQRT(x) if root is None else root


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
    root = _root_of(x)
    return root if isinstance(root, int | Expr) else None


def _interval_of_root(x: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    low, high = x
    return isqrt(max(low or 0, 0)), None if high is None else isqrt(max(high, 0)) + 1


SQRT = Function("sqrt", meaning=_integer_root, interval=_interval_of_root, is_open=True)


def _root(x: int | Expr) -> int | Expr | None:
    """The integer >= 0 whose square is x, if there is one for all values of its variables."""
    if isinstance(x, int):
        return isqrt(x) if x >= 0 and isqrt(x) ** 2 == x else None
    terms, const = terms_of(x)
    roots: list[int | Expr] = []
    for monomial, coefficient in [*terms.items(), *([(None, const)] if const else ())]:
        factor = _root(coefficient)
        powers = powers_of(monomial)
        if factor and all(exponent % 2 == 0 for exponent in powers.values()):
            roots.append(product([factor, *[atom ** (exponent // 2) for atom, exponent in powers.items()]]))
    if not 0 < len(roots) <= MAX_SQUARES:
        return None
    for signs in choices((1, -1), repeat=len(roots) - 1):
        root = total([roots[0], *(sign * part for sign, part in zip(signs, roots[1:], strict=True))])
        if root * root == x:
            return root if at_least(root, 0) else maximum(root, -root)  # type: ignore[return-value]
    return None


MEANINGS: dict[str, Meaning] = {
    "heaviside": Meaning(heaviside, 2, 2),
    "sign": Meaning(sign, 1, 1),
    "sqrt": Meaning(sqrt, 1, 1, exact=True, polynomial=True),
    **{str(f): Meaning(f, f.arity, f.arity, exact=True, polynomial=True, floats=True) for f in FLOATS.values()},
}
"""The functions by name, in lower case."""
