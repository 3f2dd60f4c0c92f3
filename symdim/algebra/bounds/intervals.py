"""Exact integer intervals: `(lo, hi)`, where None stands for no bound.

The interval of a sum is that of its terms, met with that of its remainders: `x - 4*(x//4)` is `x % 4`, so it lies in
0..3. Products (corners.py), divisions (relaxation.py), maxima and minima (choices.py) with common variables are treated
together. No step recurses, because atoms get their interval when they are made.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max
from symdim.algebra.sums.monomial import exact_quotient, powers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from symdim.algebra.expr import Dim, Interval, Terms

_LARGE = 4096  # bits; for larger powers the bounds are weaker


def bounds_of(dim: Dim) -> Interval:
    """An interval that contains the value for all values in the variables' bounds.

    >>> from symdim import Var
    >>> N = Var.fresh("N", 1, 10)
    >>> bounds_of(2 * N - 1), bounds_of(N % 4), bounds_of((N - 20) // 3)
    ((1, 19), (0, 3), (-7, -4))
    """
    if isinstance(dim, int):
        return dim, dim
    found = dim._bounds
    if found is None:
        if dim.terms is None:
            found = _product_bounds(dim)
        else:
            found = linear_bounds(dim.terms, dim.const)
            if corners.is_correlated(dim.terms):
                found = meet(found, between(corners.least, dim.terms, dim.const))
            if dim.height:
                found = remainders.met_with_remainders(dim.terms, dim.const, found)
                if relaxation.is_correlated(dim.terms):
                    found = meet(found, between(relaxation.least, dim.terms, dim.const))
                if choices.is_correlated(dim.terms):
                    found = meet(found, between(choices.least, dim.terms, dim.const))
        dim._bounds = found
    return found


def linear_bounds(terms: dict[Expr, int], const: int) -> Interval:
    """The interval of a sum, term by term."""
    lo: int | None = const
    hi: int | None = const
    for unit, coefficient in terms.items():
        least, most = unit._bounds or bounds_of(unit)
        if coefficient < 0:
            least, most = most, least
        lo = None if lo is None or least is None else lo + coefficient * least
        hi = None if hi is None or most is None else hi + coefficient * most
        if lo is None and hi is None:
            break
    return lo, hi


def between(least: Callable[[Terms, int], int | None], terms: Terms, const: int) -> Interval:
    """The interval of a sum by a lower bound. What all coefficients have in common is taken out first."""
    common = gcd(*terms.values())
    lo, minus_hi = (least({unit: k // part for unit, k in terms.items()}, 0) for part in (common, -common))
    return None if lo is None else const + common * lo, None if minus_hi is None else const - common * minus_hi


def meet(a: Interval, b: Interval) -> Interval:
    """The intersection of two intervals that both contain the value."""
    lo = b[0] if a[0] is None else a[0] if b[0] is None else max(a[0], b[0])
    hi = b[1] if a[1] is None else a[1] if b[1] is None else min(a[1], b[1])
    return lo, hi


def contains(a: Interval, b: Interval) -> bool:
    """Whether all values in `b` are in `a`."""
    (lo, hi), (low, high) = a, b
    return (lo is None or (low is not None and low >= lo)) and (hi is None or (high is not None and high <= hi))


def disjoint(a: Interval, b: Interval) -> bool:
    """Whether no value is in both of two intervals."""
    return is_empty((a[0], b[1])) or is_empty((b[0], a[1]))


def is_empty(a: Interval) -> bool:
    """Whether no value is in the interval."""
    lo, hi = a
    return lo is not None and hi is not None and lo > hi


def scaled(a: Interval, k: int) -> Interval:
    """The interval of k*x for x in `a`."""
    lo = None if a[0] is None else k * a[0]
    hi = None if a[1] is None else k * a[1]
    return (lo, hi) if k >= 0 else (hi, lo)


def plus(a: Interval, b: Interval) -> Interval:
    """The interval of x + y for x in `a` and y in `b`."""
    return (
        None if a[0] is None or b[0] is None else a[0] + b[0],
        None if a[1] is None or b[1] is None else a[1] + b[1],
    )


def times(a: Interval, b: Interval) -> Interval:
    """The interval of x*y for x in `a` and y in `b`; 0 times anything is 0.

    >>> times((2, None), (-3, 5)), times((0, 0), (None, None)), times((1, None), (1, None))
    ((None, None), (0, 0), (1, None))
    """
    (al, ah), (bl, bh) = a, b
    if al is not None and bl is not None and al >= 0 and bl >= 0:
        if ah is not None and bh is not None:
            return al * bl, ah * bh
        return al * bl, 0 if ah == 0 or bh == 0 else None
    corners = [_corner(x, i, y, j) for i, x in ((-1, a[0]), (1, a[1])) for j, y in ((-1, b[0]), (1, b[1]))]
    least, most = min(corners), max(corners)
    return (None if least[0] else least[1]), (None if most[0] else most[1])


def _corner(x: int | None, x_end: int, y: int | None, y_end: int) -> tuple[int, int]:
    """x*y as (sign of infinity, finite part), where None is the infinity of its end."""
    if x is not None and y is not None:
        return 0, x * y
    signs = [end if v is None else (v > 0) - (v < 0) for v, end in ((x, x_end), (y, y_end))]
    return signs[0] * signs[1], 0


def power(a: Interval, k: int) -> Interval:
    """The interval of x**k for x in `a` and k >= 1. It is weaker if the exact one would need huge numbers."""
    lo, hi = a
    if any(end is not None and end.bit_length() * k > _LARGE and abs(end) > 1 for end in a):
        return (lo, None) if lo is not None and lo >= 0 else (None, None)
    ends = [None if lo is None else lo**k, None if hi is None else hi**k]
    if k % 2 == 1 or (lo is not None and lo >= 0):
        return ends[0], ends[1]
    if hi is not None and hi <= 0:
        return ends[1], ends[0]
    return 0, None if ends[0] is None or ends[1] is None else max(ends[0], ends[1])


def unscaled(a: Interval, k: int) -> Interval:
    """The interval of all x with k*x in `a`.

    >>> unscaled((3, 10), 2), unscaled((3, None), -2)
    ((2, 5), (None, -2))
    """
    lo, hi = a if k > 0 else scaled(a, -1)
    return None if lo is None else -(-lo // abs(k)), None if hi is None else hi // abs(k)


def numerator(q: Interval, d: int) -> Interval:
    """The interval of all n with n//d in `q`, for d >= 1."""
    return None if q[0] is None else q[0] * d, None if q[1] is None else q[1] * d + d - 1


def quotient(n: Interval, d: Interval) -> Interval:
    """The interval of floor(x/y) for x in `n` and y in `d`, y != 0; (None, None) if y is always 0.

    >>> quotient((-3, 10), (2, None)), quotient((None, -1), (1, 4)), quotient((-3, 10), (-2, None))
    ((-2, 5), (None, -1), (-10, 10))
    """
    if d == (0, 0):
        return None, None
    (nl, nh), (dl, dh) = n, without_zero(d)
    if dl is None or dl < 1:
        negated = quotient(scaled(n, -1), (1 if dh is None or dh > 0 else -dh, None if dl is None else -dl))
        return negated if dh is not None and dh < 1 else hull(quotient(n, (1, dh)), negated)
    lo = hi = None
    if nl is not None:
        lo = nl // dl if nl < 0 else 0 if dh is None else nl // dh
    if nh is not None:
        hi = nh // dl if nh >= 0 else -1 if dh is None else nh // dh
    return lo, hi


def without_zero(a: Interval) -> Interval:
    """The interval of the values in `a` other than 0; `a` must have one.

    >>> without_zero((0, 8)), without_zero((-2, 0)), without_zero((-2, 8))
    ((1, 8), (-2, -1), (-2, 8))
    """
    return 1 if a[0] == 0 else a[0], -1 if a[1] == 0 else a[1]


def hull(a: Interval, b: Interval) -> Interval:
    """The least interval that contains both."""
    return (
        None if a[0] is None or b[0] is None else min(a[0], b[0]),
        None if a[1] is None or b[1] is None else max(a[1], b[1]),
    )


def greatest(intervals: list[Interval]) -> Interval:
    """The interval of the maximum of values in the given intervals."""
    lows = [lo for lo, _ in intervals if lo is not None]
    highs = [hi for _, hi in intervals if hi is not None]
    return max(lows, default=None), max(highs) if len(highs) == len(intervals) else None


def smallest(intervals: list[Interval]) -> Interval:
    """The interval of the minimum of values in the given intervals."""
    return scaled(greatest([scaled(interval, -1) for interval in intervals]), -1)


def of_parts(node: Expr, found: Mapping[Dim, Interval]) -> Interval:
    """The interval of a node that is no variable, from those of its parts that are no numbers."""
    if node.terms is not None:
        whole: Interval = (node.const, node.const)
        for unit, coefficient in node.terms.items():
            whole = plus(whole, scaled(found[unit], coefficient))
        return whole
    if isinstance(node, FloorDiv | Extremum):
        parts = [(part, part) if isinstance(part, int) else found[part] for part in node.parts]
        if isinstance(node, FloorDiv):
            return quotient(*parts)
        return greatest(parts) if isinstance(node, Max) else smallest(parts)
    result: Interval = (1, 1)
    for atom, exponent in powers_of(node).items():
        result = times(result, power(found[atom], exponent))
    return result


def _product_bounds(unit: Expr) -> Interval:
    result: Interval = (1, 1)
    for atom, exponent in powers_of(unit).items():
        base = bounds_of(atom)
        result = times(result, base if exponent == 1 else power(base, exponent))
    for atom in powers_of(unit) if unit.height else ():
        if type(atom) is FloorDiv:
            n, d = atom.parts
            if type(d) is not int and exact_quotient(unit, atom) is d:
                result = meet(result, _rounded_down(n, d))
    return result


def _rounded_down(n: Dim, d: Dim) -> Interval:
    """The interval of n//d*d, which is n - n % d, for d >= 1; a divisor that is never negative counts as positive."""
    least, most = bounds_of(d)
    if least is None or least < 0:
        return None, None
    lo, hi = bounds_of(n)
    ends = [0] if lo is not None and lo >= 0 else []
    if lo is not None and most is not None:
        ends.append(lo - most + 1)
    return max(ends, default=None), hi


# remainders consist of units; the functions above give the bounds of these
from symdim.algebra.bounds import choices, corners, relaxation  # noqa: E402
from symdim.algebra.divisions import remainders  # noqa: E402
