"""Exact intervals of sums of one unit and of its quotients by numbers, such as `W - 4*((W + 3)//8)`.

Law: where x grows by a multiple of all divisors, each quotient `(a*x + b)//m`, and so the sum, grows by the same amount
from every x on. If that amount is not negative, the sum is least in the first period, and else in the last one.
"""

from __future__ import annotations

from math import lcm

from symdim.algebra.expr import FloorDiv
from symdim.algebra.polynomials import terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Expr, Interval, Terms

_LONGEST = 64  # the longest period
_TERMS = 4  # the most terms


def only_unit(terms: Terms) -> Expr | None:
    """The unit x, if all terms are multiples of it and of its quotients by numbers, one at least; else None."""
    found: Expr | None = None
    divided = False
    for unit in terms if len(terms) <= _TERMS else ():
        inner: Terms = {unit: 1}
        if type(unit) is FloorDiv and type(unit._parts[1]) is int:
            divided = True
            inner = terms_of(unit._parts[0])[0]
        for x in inner:
            if found is not None and x is not found:
                return None
            found = x
    return found if divided else None


def ends(terms: Terms, const: int, x: Expr, known: Interval) -> Interval:
    """The interval of a sum of which x is the `only_unit`; `known` is that of x.

    >>> from symdim import Var
    >>> W = Var.fresh("W", 1)
    >>> e = W - 4 * ((W + 3) // 8)
    >>> ends(e._terms, e._const, W, (1, None))
    (1, None)
    """
    divisors = [unit._parts[1] for unit in terms if isinstance(unit, FloorDiv) and unit is not x]
    period = lcm(*[divisor for divisor in divisors if isinstance(divisor, int)])
    if period > _LONGEST:
        return None, None
    growth = _value(terms, const, x, period) - _value(terms, const, x, 0)
    first, last = known
    low = _first(first, last, period) if growth >= 0 else _last(first, last, period)
    high = _first(first, last, period) if growth <= 0 else _last(first, last, period)
    if not growth and low is None:
        low = high = _last(first, last, period) or range(period)
    return (
        None if low is None else min([_value(terms, const, x, place) for place in low]),
        None if high is None else max([_value(terms, const, x, place) for place in high]),
    )


def _first(first: int | None, last: int | None, period: int) -> range | None:
    """The first period of an interval, as far as it goes."""
    if first is None:
        return None
    return range(first, first + period if last is None else max(min(first + period, last + 1), first + 1))


def _last(first: int | None, last: int | None, period: int) -> range | None:
    if last is None:
        return None
    return range(last - period + 1 if first is None else min(max(last - period + 1, first), last), last + 1)


def _value(terms: Terms, const: int, x: Expr, place: int) -> int:
    """The value of a sum at x = place."""
    for unit, k in terms.items():
        if unit is x:
            const += k * place
        else:
            assert isinstance(unit, FloorDiv)
            numerator, divisor = unit._parts
            assert isinstance(divisor, int)
            inner, offset = terms_of(numerator)
            const += k * ((inner[x] * place + offset) // divisor)
    return const
