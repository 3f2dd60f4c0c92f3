"""Which of two opposite forms is held: of n//d and -1 - (-1 - n)//d, and of n//d and (-n)//(-d).

The first term of the basis decides (basis.py): a sum and its negative have the same terms there, in their short forms
perhaps not. So exactly one of two opposite forms is held.
"""

from __future__ import annotations

from symdim.algebra.forms import basis
from symdim.algebra.order import leading, order
from symdim.algebra.sums.monomial import divides, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Expr, Terms


def leads_negative(d: Expr) -> bool:
    terms, _ = basis.in_basis(*terms_of(d))
    return terms[leading(terms)] < 0


def is_reflected(terms: Terms, c: int) -> bool:
    """Whether the form with the negated numerator is the canonical one, for c > 2.

    The leading coefficient decides, without coefficients of c/2, because negation modulo c does not change these.
    """
    others = [unit for unit, k in terms.items() if 2 * k != c]
    return terms[min(others, key=order) if len(others) > 1 else others[0]] < 0


def has_other_sign(terms: Terms, const: int, d: Expr) -> bool:
    """Whether the numerator that reflection gives is the canonical one for a divisor d >= 1: that of d's own sign.

    A coefficient that is half of d's leading one keeps its sign. Where that is the leading one, both forms stand.
    """
    sign = -1 if is_opposite(d) else 1
    d_terms, _ = terms_of(d)
    by = leading(d_terms)
    halves = {unit for unit, k in terms.items() if 2 * abs(k) == abs(d_terms[by]) and divides(by, unit)}
    if halves and leading(terms) in halves:
        return False
    if halves:
        terms = {unit: k for unit, k in terms.items() if unit not in halves}
    terms, const = basis.in_basis(terms, const)
    return sign * (terms[leading(terms)] if terms else const) < 0


def is_opposite(d: Expr) -> bool:
    """Whether no term of d is positive: `x//y` for y <= -1 is stored as `(-x)//(-y)`."""
    terms, const = terms_of(d)
    for k in terms.values():
        if k > 0:
            return False
    return const <= 0
