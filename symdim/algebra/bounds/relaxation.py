"""Intervals of sums in which divisions are correlated: if `n` is not negative, `n//8 - n//16` is not either.

Law: (n - c + 1)/c <= floor(n/c) <= n/c for a number c >= 1. One of these linear bounds replaces each division of a sum.
Then numerators cancel, and the interval of the new sum, which has rational coefficients, contains the value.
"""

from __future__ import annotations

from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import named_fingerprint
from symdim.algebra.sums.monomial import accumulate, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Terms

SUMS = 8  # the most sums that choices.py bounds for one end of an interval
_STEPS = 12  # the most divisions that are replaced
_TERMS = 32  # the most terms of a sum


def is_correlated(terms: Terms) -> bool:
    """Whether a sum has a division by a number beside other terms, so that relaxing it may help."""
    if not 2 <= len(terms) <= _TERMS:
        return False
    return any(type(unit) is FloorDiv and type(unit.parts[1]) is int for unit in terms)


def least(terms: Terms, const: int, sums: int = SUMS) -> int | None:
    """A lower bound of a sum by the law above. The most deeply nested division is replaced first.

    The rest may have maxima and minima; choices.py bounds it by at most `sums` sums.

    >>> from symdim import Var
    >>> n = Var("H") + 4
    >>> least((n // 8 - n // 16).terms, 0)
    0
    """
    terms, scale = dict(terms), 1  # terms + const is `scale` times the sum
    for _ in range(_STEPS):
        divisions = [u for u in terms if type(u) is FloorDiv and type(u.parts[1]) is int]
        if not divisions:
            break
        chosen = max(divisions, key=lambda u: (u.height, named_fingerprint(u)))
        k = terms.pop(chosen)
        numerator, c = chosen.parts
        assert isinstance(c, int)
        inner, offset = terms_of(numerator)
        terms = {unit: a * c for unit, a in terms.items()}
        accumulate(terms, inner, k)
        const, scale = const * c + k * offset - (k * (c - 1) if k > 0 else 0), scale * c
    lo = choices.least(terms, const, sums) if choices.is_correlated(terms) else corners.least(terms, const)
    return None if lo is None else -(-lo // scale)


from symdim.algebra.bounds import choices, corners  # noqa: E402  (choices.py uses this module for sums)
