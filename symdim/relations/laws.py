"""The laws that turn a relation of a quotient, an extremum or a product into relations of its parts.

    quotient     n//d >= c         where  n - d*c >= 0                               d >= 1
                 n//d <= c         where  d*c + d - 1 - n >= 0                       d >= 1
    minimum      min(a, b) >= c    where  a - c >= 0 and b - c >= 0
    maximum      max(a, b) <= c    where  c - a >= 0 and c - b >= 0
    product      u*v >= 1          where  u - 1 >= 0 and v - 1 >= 0                  u, v >= 0

Relations are solved with them, and they are what the prover knows of quotients and extrema: what follows from
`monomial == monomial`. A maximum that is at least c is a choice between its parts, which no list of relations tells.
"""

from __future__ import annotations

from symdim.algebra.constructors.arithmetic import add, multiply, subtract
from symdim.algebra.dims import at_least
from symdim.algebra.expr import Expr, FloorDiv, Max, Min, Mul
from symdim.algebra.polynomials import powers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim


def parts_at_least(monomial: Expr, low: Dim) -> list[Dim] | None:
    """Sizes that are all >= 0 exactly where `monomial >= low`; None if no law says so.

    >>> from symdim import Var, minimum
    >>> N, M = Var("N"), Var("M")
    >>> parts_at_least(N // 4, 3), parts_at_least(minimum(N, M), 2), parts_at_least(N * M, 1)
    ([N - 12], [M - 2, N - 2], [M - 1, N - 1])
    """
    if isinstance(monomial, FloorDiv) and has_positive_divisor(monomial):
        n, d = monomial._parts
        return [subtract(n, multiply(d, low))]
    if isinstance(monomial, Min):
        return [subtract(part, low) for part in monomial._parts]
    if type(monomial) is Mul and monomial._terms is None and low == 1:
        factors = list(powers_of(monomial))
        return [subtract(factor, 1) for factor in factors] if all(at_least(factor, 0) for factor in factors) else None
    return None


def parts_at_most(monomial: Expr, high: Dim) -> list[Dim] | None:
    """Sizes that are all >= 0 exactly where `monomial <= high`; None if no law says so.

    >>> from symdim import Var
    >>> N, D = Var("N"), Var("D")
    >>> parts_at_most(N // 4, 3), parts_at_most(N // D, 0)
    ([15 - N], [D - N - 1])
    """
    if isinstance(monomial, FloorDiv) and has_positive_divisor(monomial):
        n, d = monomial._parts
        return [subtract(subtract(add(multiply(d, high), d), 1), n)]
    if isinstance(monomial, Max):
        return [subtract(high, part) for part in monomial._parts]
    return None


def has_positive_divisor(quotient: FloorDiv) -> bool:
    """Whether the divisor is >= 1 wherever the quotient has a value."""
    return at_least(quotient._parts[1], 0)
