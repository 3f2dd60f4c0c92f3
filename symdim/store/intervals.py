"""Intervals of variables from the interval of a size that contains them.

Constraints are used here in the form in which they were stated, not with the later values of their variables. So the
result depends neither on the variable that an equation was solved for, nor on the order of the constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.application import Application
from symdim.algebra.caches import remembered
from symdim.algebra.expr import Expr, FloorDiv, Max, Min
from symdim.algebra.intervals import contains, disjoint, numerator, plus, power, scaled, times, unscaled
from symdim.algebra.order import order
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.algebra.variable import Var
from symdim.store.constraints import OUT_OF_RANGE, kind_of

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Interval
    from symdim.store.constraints import Bounds, SizeEqual
    from symdim.store.state import State

_FEW = 8  # sums of more terms are not narrowed


def narrow_within(p: State, fact: SizeEqual | Bounds, dim: Dim, wanted: Interval) -> bool:
    """Narrow every variable of a size that lies in an interval, by the intervals of the other parts.

    Whether nothing is left to say: the intervals of its variables now imply that of the size.
    """
    stack = [(dim, wanted)]
    while stack:
        part, (lo, hi) = stack.pop()
        known = p.bounds(part)
        if disjoint((lo, hi), known):
            raise p.contradiction(
                kind_of(fact.law, OUT_OF_RANGE), f"{fact}, but {part!r} is in {_written(*known)}", fact
            )
        if contains((lo, hi), known):
            continue
        if isinstance(part, Var):
            p.narrow(part, lo, hi, fact)
        else:
            assert isinstance(part, Expr)  # the interval of a number is the number
            stack += _parts(p, part, (lo, hi))
    return contains(wanted, p.bounds(p.size(dim)))


def _written(lo: int | None, hi: int | None) -> str:
    return f"{'' if lo is None else lo}..{'' if hi is None else hi}"


def _parts(p: State, dim: Expr, wanted: Interval) -> list[tuple[Dim, Interval]]:
    """The parts of a size with the intervals in which they lie."""
    lo, hi = wanted
    if dim._terms is not None:
        return _terms(p, dim, wanted)
    if isinstance(dim, FloorDiv):
        n, d = dim._parts
        if not _is_quotient(dim):
            return []
        assert isinstance(d, int)
        return [(n, numerator(wanted, d))]
    if isinstance(dim, Max):
        able = [part for part in dim._parts if lo is None or (high := p.bounds(part)[1]) is None or high >= lo]
        only = lo if len(able) == 1 else None
        return [(part, (only if part is able[0] else None, hi)) for part in dim._parts] if able else []
    if isinstance(dim, Min):
        able = [part for part in dim._parts if hi is None or (low := p.bounds(part)[0]) is None or low <= hi]
        only = hi if len(able) == 1 else None
        return [(part, (lo, only if part is able[0] else None)) for part in dim._parts] if able else []
    return [] if isinstance(dim, Application) else _factors(p, powers_of(dim), wanted)


def _terms(p: State, dim: Expr, wanted: Interval) -> list[tuple[Dim, Interval]]:
    terms, const = terms_of(dim)
    if len(terms) > _FEW:
        return []
    ranges = {monomial: scaled(p.bounds(monomial), k) for monomial, k in terms.items()}
    found: list[tuple[Dim, Interval]] = []
    if multiplied := _multiplied(dim):
        found.append(_without_division(*multiplied, wanted))
    for monomial, k in terms.items():
        lo: int | None = const
        hi: int | None = const
        for other, interval in ranges.items():
            if other is not monomial:
                lo, hi = plus((lo, hi), interval)
        least = None if wanted[0] is None or hi is None else wanted[0] - hi
        most = None if wanted[1] is None or lo is None else wanted[1] - lo
        if least is not None or most is not None:
            found.append((monomial, unscaled((least, most), k)))
    return found


def _is_quotient(monomial: Expr) -> bool:
    """Whether a monomial is a division by a number, which is positive."""
    if not isinstance(monomial, FloorDiv):
        return False
    divisor = monomial._parts[1]
    return isinstance(divisor, int)


def _without_division(whole: Dim, k: int, d: int, wanted: Interval) -> tuple[Dim, Interval]:
    """Remove a division from a sum that lies in an interval: multiply lo <= k*(n//d) + rest <= hi by d.

    d*(n//d) == n - n % d, and n % d is in 0..d-1. For k == 1 and k == -1 both forms are equivalent.
    """
    slack, (lo, hi) = k * (d - 1), wanted
    return whole, (None if lo is None else lo * d + min(slack, 0), None if hi is None else hi * d + max(slack, 0))


@remembered(1024)  # a sum is narrowed often, and the interval of a new sum is the costly part
def _multiplied(dim: Expr) -> tuple[Dim, int, int] | None:
    """`k*n + d*rest` for a sum `k*(n//d) + rest`, with k and d. The highest of the divisions is chosen.

    None if the sum has no division, or if the new sum is no simpler: it may be written in other atoms, which bring a
    division back. That would go on without end.
    """
    assert dim._terms is not None
    quotients = [monomial for monomial in dim._terms if _is_quotient(monomial)]
    if not quotients:
        return None
    quotient = max(quotients, key=_height_and_order)
    assert isinstance(quotient, FloorDiv)
    n, d = quotient._parts
    assert isinstance(d, int)
    k = dim._terms[quotient]
    whole = k * n + d * (dim - k * quotient)
    return (whole, k, d) if _heights(whole) < _heights(dim) else None


def _height_and_order(monomial: Expr) -> tuple[object, ...]:
    return monomial._height, order(monomial)


def _heights(dim: Dim) -> list[int]:
    """The height of a sum, and those of its divisions, highest first: there is no endless descent of such lists."""
    if isinstance(dim, int):
        return [0]
    return [
        dim._height,
        *sorted((monomial._height for monomial in terms_of(dim)[0] if _is_quotient(monomial)), reverse=True),
    ]


def _factors(p: State, powers: dict[Expr, int], wanted: Interval) -> list[tuple[Dim, Interval]]:
    """The factors of a product of sizes >= 0, with the intervals in which they lie."""
    ranges = {atom: p.bounds(atom) for atom in powers}
    if wanted[0] is None or wanted[0] < 1 or any(lo is None or lo < 0 for lo, _ in ranges.values()):
        return []
    found: list[tuple[Dim, Interval]] = []
    for atom, k in powers.items():
        rest: Interval = (1, 1)
        for other, interval in ranges.items():
            if other is not atom:
                rest = times(rest, power(interval, powers[other]))
        least = 1 if not rest[1] else root_above(-(-wanted[0] // rest[1]), k)
        most = None if wanted[1] is None else root_below(wanted[1] // (rest[0] or 1), k)
        found.append((atom, (least, most)))
    return found


def root_below(value: int, k: int) -> int:
    """The greatest r >= 0 with r**k <= value, for value >= 0.

    >>> root_below(8, 3), root_below(26, 3), root_below(0, 2)
    (2, 2, 0)
    """
    if k == 1 or value < 2:
        return value
    lo, hi = 1, 1 << (value.bit_length() // k + 1)
    while lo + 1 < hi:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if middle**k <= value else (lo, middle)
    return lo


def root_above(value: int, k: int) -> int:
    """The least r >= 0 with r**k >= value, for value >= 0."""
    root = root_below(value, k)
    return root if root**k == value else root + 1
