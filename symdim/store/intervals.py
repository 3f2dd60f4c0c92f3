"""Intervals of variables from the interval of a size that contains them.

Constraints are used here in the form in which they were stated, not with the later values of their variables. So the
result depends neither on the variable that an equation was solved for, nor on the order of the constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.application import Application
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max
from symdim.algebra.intervals import add, contains, disjoint, multiply, numerator, power, scaled, unscaled
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
        return [(n, numerator(wanted, d))] if isinstance(d, int) else []  # a number is positive: the form is canonical
    if isinstance(dim, Extremum):
        of_all, of_one = ((None, hi), (lo, None)) if isinstance(dim, Max) else ((lo, None), (None, hi))
        able = [part for part in dim._parts if not disjoint(of_one, p.bounds(part))]
        return [(part, wanted if able == [part] else of_all) for part in dim._parts] if able else []
    return [] if isinstance(dim, Application) else _factors(p, powers_of(dim), wanted)


def _terms(p: State, dim: Expr, wanted: Interval) -> list[tuple[Dim, Interval]]:
    terms, const = terms_of(dim)
    if len(terms) > _FEW:
        return []
    ranges = {monomial: scaled(p.bounds(monomial), k) for monomial, k in terms.items()}
    intervals: list[tuple[Dim, Interval]] = []
    for monomial, k in terms.items():
        lo: int | None = const
        hi: int | None = const
        for other, interval in ranges.items():
            if other is not monomial:
                lo, hi = add((lo, hi), interval)
        least = None if wanted[0] is None or hi is None else wanted[0] - hi
        most = None if wanted[1] is None or lo is None else wanted[1] - lo
        if least is not None or most is not None:
            intervals.append((monomial, unscaled((least, most), k)))
    return intervals


def _factors(p: State, powers: dict[Expr, int], wanted: Interval) -> list[tuple[Dim, Interval]]:
    """The factors of a product of sizes >= 0, with the intervals in which they lie."""
    ranges = {atom: p.bounds(atom) for atom in powers}
    if wanted[0] is None or wanted[0] < 1 or any(lo is None or lo < 0 for lo, _ in ranges.values()):
        return []
    intervals: list[tuple[Dim, Interval]] = []
    for atom, k in powers.items():
        rest: Interval = (1, 1)
        for other, interval in ranges.items():
            if other is not atom:
                rest = multiply(rest, power(interval, powers[other]))
        least = 1 if not rest[1] else root_above(-(-wanted[0] // rest[1]), k)
        most = None if wanted[1] is None else root_below(wanted[1] // (rest[0] or 1), k)
        intervals.append((atom, (least, most)))
    return intervals


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
