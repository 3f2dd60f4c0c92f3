"""The bits of numbers that are computed: a short text of powers of powers would have billions of them."""

from __future__ import annotations

from symdim.algebra.constructors.arithmetic import power
from symdim.algebra.expr import Expr
from symdim.errors import SizeOverflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim

MAX_BITS = 1 << 17
"""The most bits of a number that is computed."""
HUGE = 1 << MAX_BITS


def bits(x: Dim) -> int:
    """floor(log2 |x|), where |x| is the sum of the absolute coefficients of a polynomial.

    No coefficient of p*q exceeds |p|*|q|, so bits add up in products: 0 for N, 1 for N + 1, 3 for 8*N.
    """
    if isinstance(x, Expr):
        return 0 if x._terms is None else (abs(x._const) + sum(map(abs, x._terms.values()))).bit_length() - 1
    return max(x.bit_length() - 1, 0)


def in_limits(x: Dim) -> Dim:
    """The dimension. Raises SizeOverflow for numbers of more than `MAX_BITS` bits in it."""
    if bits(x) > MAX_BITS:
        raise SizeOverflow(f"a number of more than {MAX_BITS} bits is computed")
    return x


def power_in_limits(x: Dim, exponent: int) -> Dim:
    """A power. Raises SizeOverflow as `in_limits`, before it is computed."""
    if exponent > 1 and bits(x) * exponent > MAX_BITS:
        raise SizeOverflow(f"a number of {bits(x)} bits to the power {exponent} is too large")
    return power(x, exponent)
