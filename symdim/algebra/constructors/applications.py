"""Applications of functions to sizes and exact quotients of sizes."""

from __future__ import annotations

from math import gcd

from symdim.algebra.application import Application, arguments_of
from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import checked, scale
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.expr import Expr
from symdim.algebra.interning import find_unit, publish, sequence_fingerprint
from symdim.algebra.intervals import contains
from symdim.algebra.order import function_number
from symdim.algebra.polynomials import new_atom
from symdim.errors import BoundsError, DivisionByZero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symdim.algebra.application import Function
    from symdim.algebra.expr import Dim


def applied(function: Function, parts: Sequence[Dim], given: Callable[..., int] | None = None) -> Dim:
    """The value of a function of arguments with these numerators and divisors in turn.

    What is `given` for the function computes its values for numbers. Raises TypeError for parts and values that are no
    dimensions, BoundsError for a given value that is not within the function's bounds, and DivisionByZero.
    """
    lowest: list[Dim] = []
    for n, d in zip(parts[::2], parts[1::2], strict=True):
        lowest += lowest_terms(checked(n), checked(d))
    if given is not None and all(isinstance(part, int) for part in lowest):
        value = checked(given(*arguments_of(lowest)))
        if not isinstance(value, int) or not contains((function.low, function.high), (value, value)):
            raise BoundsError(f"{application_atom(function, tuple(lowest))!r} cannot be {value!r}")
        return value
    known = None if function.meaning is None else function.meaning(*arguments_of(lowest))
    return application_atom(function, tuple(lowest)) if known is None else checked(known)


def lowest_terms(n: Dim, d: Dim) -> tuple[Dim, Dim]:
    """Numerator and divisor without a common factor of their coefficients; a number as divisor is positive."""
    if d == 1 or not isinstance(d, int):
        return n, d
    if d == 0:
        raise DivisionByZero("division by zero")
    if d < 0:
        n, d = scale(n, -1), -d
    common = gcd(_content(n), d)
    return (floordiv(n, common), d // common) if common > 1 else (n, d)


def _content(x: Dim) -> int:
    """A number that divides x: of a sum, what divides all its coefficients."""
    if isinstance(x, int):
        return x
    return 1 if x._terms is None else gcd(x._const, *x._terms.values())


def application_atom(function: Function, parts: tuple[Dim, ...]) -> Expr:
    """The atom of a function of arguments in lowest terms."""
    fingerprint = sequence_fingerprint(function_number(function), parts)
    live = find_unit(fingerprint, Application, parts)
    if live is not None and live.function == function:  # type: ignore[attr-defined]
        return live
    node = new_atom(Application, parts, fingerprint, function.bounds([bounds_of(part) for part in parts], parts))
    node.function = function
    return publish(node)
