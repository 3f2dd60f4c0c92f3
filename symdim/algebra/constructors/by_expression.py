"""Floor divisions by expressions.

Multiples of the divisor are split off, and common factors cancelled. If the divisor d is 0 the division has no value,
but the result may have one: `x*y//y` is `x`. So a divisor that is never negative counts as positive. A divisor that
stays in the result raises `DivisionByZero` if it is evaluated to 0.
"""

from __future__ import annotations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors import arithmetic, floordiv, long_division, numerators, rounding
from symdim.algebra.intervals import quotient
from symdim.algebra.polynomials import terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr, Sum

_ROUNDS = 32  # the most rewriting steps of a division


def quotient_of(n: Dim, d: Dim) -> Sum:
    """floor(n / d) for an expression d. If d is 0 there is no value."""
    whole: Dim = 0
    sign = 1
    for _ in range(_ROUNDS):
        low, high = bounds_of(d)
        if low is not None and low == high != 0:
            d = low
        if isinstance(d, int):
            return floordiv.plus(whole, floordiv.floordiv(n, d), sign)
        simpler = _in_lowest_terms(n, d)
        if simpler is not None:
            n, d = simpler
            continue
        q, n = numerators.without_multiples(n, d)
        whole = arithmetic.add(whole, arithmetic.scale(q, sign))
        if n == 0:
            return terms_of(whole)
        known = _known_quotient(n, d)
        if known is not None:
            return floordiv.plus(whole, known, sign)
        if not _counts_as_positive(d):
            break
        terms, const = terms_of(n)
        merged = numerators.merged_by_expression(terms, const, d)
        if merged is not None:
            n, d = merged
        elif numerators.has_other_sign(terms, const, d):
            whole, sign, n = arithmetic.add(whole, -sign), -sign, arithmetic.subtract(-1, n)
        else:
            break
    return floordiv.plus(whole, ({floordiv.quotient_atom(n, d): 1}, 0), sign)


def _counts_as_positive(d: Expr) -> bool:
    """Whether a divisor is never negative; if it is always 0 there is no value, and any form is right."""
    low, high = bounds_of(d)
    return low is not None and low >= 0 and high != 0


def _in_lowest_terms(n: Dim, d: Expr) -> tuple[Dim, Dim] | None:
    """Another numerator and divisor with the same quotient: of the canonical sign, without common factors; or None.

    >>> from symdim import Var
    >>> x, y = Var("x"), Var("y")
    >>> _in_lowest_terms(x * y, -2 * y), _in_lowest_terms(x, 2 * y)
    ((-x*y, 2*y), None)
    """
    low, high = bounds_of(d)
    is_negative = high is not None and high <= 0 and low != 0
    if not _counts_as_positive(d) and (is_negative or numerators.leads_negative(d)):
        return arithmetic.scale(n, -1), arithmetic.scale(d, -1)
    m, divisor = long_division.in_lowest_terms(n, d)
    return None if divisor is d else (m, divisor)


def _known_quotient(n: Dim, d: Expr) -> Sum | None:
    """floor(n / d) as a maximum or minimum, or as a number by the intervals of n and d; None if it is neither."""
    if _counts_as_positive(d):
        within = rounding.inside(n, d)
        if within is not None:
            return within
    low, high = quotient(bounds_of(n), bounds_of(d))
    if low is not None and low == high:
        return {}, low
    if low is not None and low >= 0 and _counts_as_positive(d):
        margin, _ = bounds_of(arithmetic.subtract(d, n))
        if margin is not None and margin >= 1:
            return {}, 0
    return None
