"""Exact integer intervals: `(lo, hi)`, where None stands for no bound."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Interval

_LARGE = 4096  # bits; for larger powers and products the bounds are weaker
_HUGE = 1 << _LARGE


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


def add(a: Interval, b: Interval) -> Interval:
    """The interval of x + y for x in `a` and y in `b`."""
    return (
        None if a[0] is None or b[0] is None else a[0] + b[0],
        None if a[1] is None or b[1] is None else a[1] + b[1],
    )


def multiply(a: Interval, b: Interval) -> Interval:
    """The interval of x*y for x in `a` and y in `b`; 0 times anything is 0.

    >>> multiply((2, None), (-3, 5)), multiply((0, 0), (None, None)), multiply((1, None), (1, None))
    ((None, None), (0, 0), (1, None))
    """
    (al, ah), (bl, bh) = a, b
    if al is not None and bl is not None and al >= 0 and bl >= 0:
        if ah is not None and bh is not None:
            return _weaker(al * bl, ah * bh)
        return _weaker(al * bl, 0 if ah == 0 or bh == 0 else None)
    corners = [_corner(x, i, y, j) for i, x in ((-1, a[0]), (1, a[1])) for j, y in ((-1, b[0]), (1, b[1]))]
    least, most = min(corners), max(corners)
    return _weaker(None if least[0] else least[1], None if most[0] else most[1])


def _weaker(lo: int | None, hi: int | None) -> Interval:
    """The interval; without the end of a huge number. The other end stays within what is not huge."""
    if lo is not None and not -_HUGE < lo < _HUGE:
        lo = _HUGE if lo > 0 else None
    if hi is not None and not -_HUGE < hi < _HUGE:
        hi = -_HUGE if hi < 0 else None
    return lo, hi


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
