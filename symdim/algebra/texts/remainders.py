"""The remainders in a sum, where `n % d` is stored as `n - d*(n//d)`.

A part `coefficient * unit * (n % d)` of a sum is found if all its terms occur in the sum with at least these
coefficients. So taking it out never adds a term. Each division of the sum is tried, the outermost one first.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import bounds_of, linear_bounds
from symdim.algebra.caches import remembered
from symdim.algebra.constructors.arithmetic import sum_of
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import leading, order
from symdim.algebra.polynomials import SPLIT, accumulate, divides, exact_quotient, powers_of, split_unit, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeGuard

    from symdim.algebra.expr import Dim, Expr, Interval, Sum, Terms

_NESTED = 64  # the most terms of a sum in which (x//e) % k is looked for, by pairs of terms


class Remainder:
    """A part `coefficient * unit * (n % d)` of a sum, where n//d is `sign*quotient + offset` for an atom `quotient`.

    `core` is the sum n % d, and `terms, const` is the whole part.
    """

    __slots__ = ("coefficient", "const", "core", "operands", "terms", "unit")

    def __init__(
        self, n: Sum, d: Sum, coefficient: int, unit: Expr | None, quotient: Expr, sign: int = 1, offset: int = 0
    ) -> None:
        (n_terms, n_const), (d_terms, d_const) = self.operands = n, d
        self.coefficient, self.unit = coefficient, unit
        terms = dict(n_terms)
        accumulate(terms, d_terms, -sign, quotient)
        accumulate(terms, {quotient: -sign * d_const} if d_const else {})
        accumulate(terms, d_terms if offset else {}, -offset)
        self.core = terms, n_const - offset * d_const
        self.terms: Terms = {}
        self.const = 0
        accumulate(self.terms, terms, coefficient, unit)
        if unit is None:
            self.const = coefficient * self.core[1]
        elif self.core[1]:
            accumulate(self.terms, {unit: coefficient * self.core[1]})

    def dims(self) -> tuple[Dim, Dim]:
        """n and d."""
        n, d = [sum_of(dict(terms), const) for terms, const in self.operands]
        return n, d

    def left_of(self, terms: Terms) -> int:
        """How many of its terms are still in the sum after it was taken out."""
        return sum([terms[unit] != k for unit, k in self.terms.items()])

    def is_in(self, terms: Terms, const: int) -> bool:
        """Whether it is a part of a sum. The remainder of a number may leave no constant in the sum."""
        of_number = self.unit is None and not self.operands[0][0]
        return _has_all(terms, self.terms) and not (of_number and self.const != const)

    def interval(self) -> Interval:
        """Bounds of n % d, from the terms of n and d alone."""
        (n_lo, n_hi), (d_lo, d_hi) = [linear_bounds(*operand) for operand in self.operands]
        if d_lo is None or d_lo < 1:
            return None if d_lo is None else min(d_lo + 1, 0), None if d_hi is None else max(d_hi - 1, 0)
        below = None if d_hi is None else d_hi - 1
        if n_lo is not None and n_lo >= 0 and n_hi is not None:
            below = n_hi if below is None else min(below, n_hi)  # n % d <= n
        return 0, below


@remembered(1 << 12)
def remainders_in(node: Expr) -> tuple[list[Remainder], Terms, int]:
    """Disjoint remainders in a sum, and the terms and the constant that are left. Callers must not change them."""
    terms, const = terms_of(node)
    all_of_it = _whole(terms, const)
    if all_of_it is not None:
        return [all_of_it], {}, 0
    taken: list[Remainder] = []
    units = _units_with_divisions(terms)
    rest = dict(terms) if units else terms
    for unit in units:
        for found in _at_unit(unit, rest, const)[:1]:
            accumulate(rest, found.terms, -1)
            const -= found.const
            taken.append(found)
    return taken, rest, const


def _whole(terms: Terms, const: int) -> Remainder | None:
    """The multiple of a remainder that a sum is, if it is one."""
    if len(terms) == 1 and const == 0:
        return None
    for unit in _units_with_divisions(terms, len(terms)):
        for found in _at_unit(unit, terms, const, len(terms)):
            if found.const == const and found.terms == terms:
                return found
    return None


def as_remainder(dim: Dim) -> tuple[Dim, Dim] | None:
    """(n, d) for a dimension that is n % d; None for others.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> as_remainder(N - N // 4 * 4), as_remainder(N % 4 + 1)
    ((N, 4), None)
    """
    if isinstance(dim, int) or not dim.height or dim.terms is None:
        return None
    found, rest, const = remainders_in(dim)
    is_bare = len(found) == 1 and not (rest or const) and found[0].unit is None and found[0].coefficient == 1
    return found[0].dims() if is_bare else None


def _units_with_divisions(terms: Terms, size: int = 0) -> list[Expr]:
    """The units that may give a remainder of `size` terms, the outermost ones first; none if no division fits."""
    for unit, coefficient in terms.items():
        if unit.height and any(_may_remain(atom, coefficient) for atom in powers_of(unit)):
            break
    else:
        return []
    units = [u for u in terms if u.height and any(_most_terms(a) >= size for a in powers_of(u))]
    return sorted(units, key=lambda u: (-u.height, order(u))) if len(units) > 1 else units


def _may_remain(atom: Expr, coefficient: int) -> TypeGuard[FloorDiv]:
    """Whether `coefficient*atom` may be a term of a multiple of `n % d`, or of `(n//e) % (d//e)` with e < d."""
    if type(atom) is not FloorDiv:
        return False
    divisor = atom.parts[1]
    return type(divisor) is not int or gcd(coefficient, divisor) > 1


def _most_terms(atom: Expr) -> int:
    """The most terms that a remainder with this division can have."""
    if type(atom) is not FloorDiv:
        return 0
    numerator, divisor = atom.parts
    return len(terms_of(numerator)[0]) + 2 * len(terms_of(divisor)[0]) + 3


def _at_unit(unit: Expr, terms: Terms, const: int, size: int = 0) -> list[Remainder]:
    """The remainders in a sum at one of its units: those first that leave the fewest terms and take the most.

    Among these they have the least constant inside. With a `size`, remainders of other sizes may be left out.
    """
    coefficient = terms.get(unit, 0)
    found: list[Remainder] = []
    for atom in powers_of(unit) if coefficient else ():
        if _may_remain(atom, coefficient):
            found += _of_division(unit, coefficient, atom, terms, size)
            if len(terms) <= _NESTED:
                found += _of_quotients(unit, coefficient, atom, terms, size)
    found = [r for r in found if r.is_in(terms, const)]
    return sorted(found, key=lambda r: (r.left_of(terms), -len(r.terms), abs(r.operands[0][1]), r.coefficient < 0))


def _of_division(unit: Expr, coefficient: int, atom: FloorDiv, terms: Terms, size: int) -> Iterator[Remainder]:
    """Candidates for `k*w*(x % d)` at the term `coefficient*unit`, where the division `atom`, n//d, divides the unit.

    x is n, or -1 - n, because floor((-1 - n)/d) == -1 - floor(n/d); for a number d it is d - 1 - n, with no -1.
    """
    d_terms, d_const = d = terms_of(atom.parts[1])
    outer, scale = exact_quotient(unit, atom), d_const
    if d_terms:
        lead = leading(d_terms)
        if not divides(lead, outer):
            return
        outer, scale = exact_quotient(outer, lead), d_terms[lead]
    if coefficient % scale:
        return
    k = coefficient // scale
    for n in _numerators(atom, coefficient, outer, terms):
        n_terms, n_const = n
        fits = not size or bool(d_terms) or _has_size(size, len(n_terms) + 1, outer)
        if not fits or (outer is None and not _has_all(terms, n_terms, -k)):
            continue
        yield Remainder(n, d, -k, outer, atom)
        if _is_mirrored(atom, n_terms, scale):
            mirrored = {u: -c for u, c in n_terms.items()}
            if d_terms:
                yield Remainder((mirrored, -1 - n_const), d, k, outer, atom, -1, -1)
            else:
                yield Remainder((mirrored, d_const - 1 - n_const), d, k, outer, atom, -1)


def _has_size(size: int, count: int, outer: Expr | None) -> bool:
    """Whether a remainder by a number has `size` terms: `count` of n - d*(n//d), and its constant times a factor."""
    return 0 <= size - count <= (outer is not None)


def _has_all(terms: Terms, part: Terms, factor: int = 1) -> bool:
    """Whether a sum has all terms of `factor * part`, with the same signs and at least these coefficients."""
    for unit, k in part.items():
        mine, theirs = factor * k, terms.get(unit, 0)
        if not (theirs >= mine if mine > 0 else theirs <= mine):
            return False
    return True


def _is_mirrored(atom: FloorDiv, n_terms: Terms, scale: int) -> bool:
    """Whether the constructor makes `-1 - n//d` of `(-1 - n)//d`.

    For a number d it does, except for halves of a maximum or minimum. For an expression it does if d >= 1 and no
    coefficient of n is half of that of d: such a coefficient would keep its sign.
    """
    divisor = atom.parts[1]
    if isinstance(divisor, int):
        return divisor != 2 or not atom.flags & SPLIT
    lo, _ = bounds_of(divisor)
    return lo is not None and lo >= 1 and all(2 * abs(k) != abs(scale) for k in n_terms.values())


def _numerators(atom: FloorDiv, coefficient: int, outer: Expr | None, terms: Terms) -> Iterator[Sum]:
    """The numerators n in a sum for which n//d is this division by d: its own, and others of a maximum or minimum.

    `min(x, 4)//2` also has the numerator min(x, 5), because 5//2 is 4//2.
    """
    numerator, d = atom.parts
    n_terms, n_const = terms_of(numerator)
    yield n_terms, n_const
    own = split_unit(numerator)
    if own is None or not isinstance(d, int) or coefficient % d:
        return
    sought = -coefficient * n_terms[own]
    for unit, k in terms.items():
        if k * d != sought or not divides(outer, unit):
            continue
        other = exact_quotient(unit, outer)
        if other is None or other is own or other.height > own.height:  # a higher one could lead back to this sum
            continue
        if other.flags & SPLIT:
            some = {other if u is own else u: c for u, c in n_terms.items()}
            if floordiv(sum_of(dict(some), n_const), d) is atom:
                yield some, n_const


def _of_quotients(unit: Expr, coefficient: int, atom: FloorDiv, terms: Terms, size: int) -> Iterator[Remainder]:
    """Candidates for `k*w*((n//e) % (d//e))`, for numbers: e divides d, `atom` is n//d, and n//e occurs in the sum."""
    numerator, d = atom.parts
    outer = exact_quotient(unit, atom)
    if not isinstance(d, int) or (size and not _has_size(size, 2, outer)) or gcd(coefficient, d) == 1:
        return
    n_terms, n_const = terms_of(numerator)
    for other in terms:
        if other.height != atom.height or not divides(outer, other):
            continue
        inner = exact_quotient(other, outer)
        if type(inner) is not FloorDiv or inner is atom:
            continue
        inside, e = inner.parts
        if not isinstance(e, int) or e >= d or d % e or (coefficient * e) % d:
            continue
        inner_terms, inner_const = terms_of(inside)
        shift, apart = divmod(n_const - inner_const, e)
        if not apart and inner_terms == n_terms:
            yield Remainder(({inner: 1}, shift), ({}, d // e), -coefficient * e // d, outer, atom)
