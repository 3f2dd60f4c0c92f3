"""Intervals of sums in which divisions are correlated: `n//8 - n//16` is not negative where `n` is not.

Law: (n - c + 1)/c <= floor(n/c) <= n/c for a number c >= 1. Putting the linear end for each division of a sum leaves a
sum with rational coefficients in which the numerators cancel; the interval of that contains the value.
"""

from __future__ import annotations

from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import named_fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Expr, Interval

    Terms = dict[Expr, int]

SUMS = 8  # so many sums are looked at for one end of an interval, by choices.py
_STEPS = 12  # so many divisions are replaced at most
_TERMS = 32  # longer sums are left alone


def is_correlated(terms: Terms) -> bool:
    """Whether a sum has a division by a number beside other terms, so that relaxing it may help."""
    if not 2 <= len(terms) <= _TERMS:
        return False
    return any(type(unit) is FloorDiv and type(unit.parts[1]) is int for unit in terms)


def relaxed(terms: Terms, const: int) -> Interval:
    """The interval of a sum by the law above.

    >>> from symdim import Var
    >>> n = Var("H") + 4
    >>> relaxed((n // 8 - n // 16).terms, 0)[0]
    0
    """
    lo = least(terms, const)
    hi = least({unit: -k for unit, k in terms.items()}, -const)
    return lo, None if hi is None else -hi


def least(terms: Terms, const: int, sums: int = SUMS) -> int | None:
    """A lower bound: `scale` times the sum is held in integers, the most deeply nested division goes first.

    Maxima and minima that are left are chosen from by at most so many `sums`.
    """
    terms, scale = dict(terms), 1
    for _ in range(_STEPS):
        divisions = [u for u in terms if type(u) is FloorDiv and type(u.parts[1]) is int and u.parts[1] >= 1]
        if not divisions:
            break
        chosen = max(divisions, key=lambda u: (u.height, named_fingerprint(u)))
        k = terms.pop(chosen)
        numerator, c = chosen.parts
        assert isinstance(c, int)
        terms = {unit: a * c for unit, a in terms.items()}
        const, scale = const * c, scale * c
        if k > 0:
            const -= k * (c - 1)
        if isinstance(numerator, int):
            const += k * numerator
            continue
        inner = numerator.terms if numerator.terms is not None else {numerator: 1}
        const += k * numerator.const
        for unit, a in inner.items():
            total = terms.get(unit, 0) + k * a
            if total:
                terms[unit] = total
            else:
                del terms[unit]
    lo = choices.least(terms, const, sums) if choices.is_correlated(terms) else linear_bounds(terms, const)[0]
    return None if lo is None else -(-lo // scale)


from symdim.algebra import choices  # noqa: E402  (which asks this module for the intervals of sums)
from symdim.algebra.intervals import linear_bounds  # noqa: E402  (and so does this)
