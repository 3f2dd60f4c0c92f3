"""Variables that stand for values of functions, and square roots, which need them.

Such a variable is named after what it stands for, and its origin is `Applied`. Equal arguments give one variable.
"""

from __future__ import annotations

from itertools import product as choices
from math import isqrt
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from symdim.algebra.canonical import maximum, product, total
from symdim.algebra.dims import at_least, bounds_of, substituted, variables_of
from symdim.algebra.interning import shared_lock
from symdim.algebra.origin import Applied
from symdim.algebra.texts.tree import stored_tree, terms_in
from symdim.algebra.variable import Scope, Var, make_variable
from symdim.dialects.sympy_texts import sympy_text
from symdim.errors import SymdimError
from symdim.parser.rational import Rational, Value, divide, floor, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from symdim.algebra.expr import Dim

MAX_NESTED = 8
"""Functions in arguments of functions. The walks over them recurse."""

MAX_SQUARES = 4
"""The terms of a root that are looked for: the signs of all of them are tried."""

_standing: WeakValueDictionary[tuple[str, Dim, Dim], Var] = WeakValueDictionary()
_lock = shared_lock()


def applied(function: str, x: Value, low: int | None, high: int | None) -> Var:
    """The variable for an integer function of x, whose values are in these bounds.

    Raises SymdimError if it would be nested deeper than `MAX_NESTED`.
    """
    key = (function, *parts_of(x))
    with _lock:
        found = _standing.get(key)
        if found is None:
            if nesting(x) >= MAX_NESTED:
                raise SymdimError(f"functions nested deeper than {MAX_NESTED}")
            name = f"{function}({sympy_text(x)})"
            found = _standing[key] = make_variable(Scope(), name, low, high, origin=Applied(function, x))
    return found


def sqrt(x: Value) -> Value:
    """The square root of a dimension or a quotient: the root of a square, and of anything else a variable.

    The variable stands for an integer and is named after the root. It is the same one for the same argument, and
    nothing else is known of it but its bounds. Raises SymdimError for what is always negative.

    >>> from symdim import Var, sqrt
    >>> N, M = Var("N"), Var("M")
    >>> sqrt(49), sqrt(4 * N**2), sqrt(N**2 + 2 * N + 1), sqrt(N**2 - 2 * M * N + M**2)
    (7, 2*N, N + 1, M - 2*min(M, N) + N)
    >>> sqrt(N) is sqrt(N), sqrt(N).name, sqrt(N).bounds()
    (True, 'sqrt(N)', (1, None))
    """
    above, below = map(_root, parts_of(x))
    if above is not None and below is not None:
        return divide(above, below)
    low, high = bounds_of(floor(x))
    if high is not None and high < 0:
        raise SymdimError(f"no root of {x!r}, which is negative")
    return applied("sqrt", x, isqrt(max(low or 0, 0)), None if high is None else isqrt(high) + 1)


def _root(x: Dim) -> Dim | None:
    """The integer >= 0 whose square is x, if there is one for all values of its variables."""
    if isinstance(x, int):
        return isqrt(x) if x >= 0 and isqrt(x) ** 2 == x else None
    found: list[Dim] = []
    for coefficient, powers in terms_in(stored_tree(x)):
        factor = _root(coefficient)
        if factor and all(exponent % 2 == 0 for _, exponent in powers):
            found.append(factor * product([base ** (exponent // 2) for base, exponent in powers]))  # type: ignore
    if not 0 < len(found) <= MAX_SQUARES:
        return None
    for signs in choices((1, -1), repeat=len(found) - 1):
        root = total([found[0], *(sign * part for sign, part in zip(signs, found[1:], strict=True))])
        if root * root == x:
            return root if at_least(root, 0) else maximum(root, -root)
    return None


# -- variables of functions in dimensions ------------------------------------------------------------------------------


def _applications(x: Value) -> Iterator[tuple[Var, Applied]]:
    return ((v, v.origin) for v in variables_of(parts_of(x)) if isinstance(v.origin, Applied))


def nesting(x: Value) -> int:
    """How deep functions are nested in x."""
    return max((1 + nesting(origin.argument) for _, origin in _applications(x)), default=0)


def names_in(x: Value) -> frozenset[str]:
    """The names of the variables in x, and in the arguments of functions."""
    inner = [names_in(origin.argument) for _, origin in _applications(x)]
    return frozenset({v.name for v in variables_of(parts_of(x)) if not isinstance(v.origin, Applied)}.union(*inner))


def put_in(x: Value, sizes: Mapping[str, Dim], functions: Mapping[str, Callable[[Any], Value]]) -> Value:
    """x with dimensions for names, also in the arguments of functions, which are applied anew.

    A value that is a quotient leaves the function as it is: a root that is no integer stays a root.

    >>> N = Var("N")
    >>> put_in(sqrt(N) + 1, {"N": 16}, {"sqrt": sqrt}), put_in(sqrt(N) + 1, {"N": 3}, {"sqrt": sqrt})
    (5, `sqrt(3)` + 1)
    """
    values: dict[Any, Dim] = dict(sizes)
    for v, origin in _applications(x):
        value = functions[origin.function](put_in(origin.argument, sizes, functions))
        if isinstance(value, Rational):
            value = applied(origin.function, put_in(origin.argument, sizes, functions), v.lo, v.hi)
        values[v] = value
    return divide(*(substituted(part, values) for part in parts_of(x)))
