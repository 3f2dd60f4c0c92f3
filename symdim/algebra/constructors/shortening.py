"""The short form of sums with maxima, minima, clamps and halves: a function of their basis.

The laws of basis.py make a sum short when they are used from right to left. The search begins with the basis. It tries
the laws on each atom, the most deeply nested ones first, and keeps a form that has fewer terms. So the form does not
depend on how a sum was built. In particular `max(a, b)*min(a, b)` is `a*b`.
"""

from __future__ import annotations

from itertools import combinations, permutations

from symdim.algebra.caches import remembered, shared_cache
from symdim.algebra.constructors import arithmetic, basis, extrema, lattice, numerators
from symdim.algebra.expr import Max, Min
from symdim.algebra.interning import PRIME
from symdim.algebra.order import order
from symdim.algebra.polynomials import (
    CLAMP,
    EXTREMUM,
    HALF,
    HAS_LAWS,
    NESTED,
    PAIR,
    SPLIT,
    accumulate,
    has_extrema,
    terms_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.constructors.basis import Polynomial
    from symdim.algebra.expr import Dim, Expr, Sum, Terms

PAIRS = 8  # the most atoms that are tried in pairs: two maxima as a clamp, two twins at once

_short_forms = shared_cache(8192)


def short_form(terms: Terms, const: int) -> Sum:
    """The canonical form of a sum with units that the laws concern."""
    given = basis.polynomial(*basis.in_basis(terms, const))
    fingerprint = sum([k * (1 if unit is None else unit._fingerprint) for unit, k in given.items()]) % PRIME
    known = _short_forms.get(fingerprint)
    if known is None or known[0] != given:
        known = _short_forms[fingerprint] = given, _shortened(given)
    found = dict(known[1])
    offset = found.pop(None, 0)
    return found, offset


def shortened_modulo(terms: Terms, c: int) -> Terms:
    """A short form, modulo c, of a sum in the basis without a constant."""
    if not any(unit._flags & HAS_LAWS for unit in terms):
        return terms
    found = _shortened(dict(terms), c)  # type: ignore[arg-type]
    found.pop(None, None)
    return found  # type: ignore[return-value]


def with_twin(sums: Polynomial, unit: Expr) -> Polynomial:
    """The sum with `both - twin` in place of a twin in a unit."""
    turned = dict(sums)
    accumulate(turned, _twin_difference(unit), sums[unit])  # type: ignore[arg-type]
    return turned


@remembered(4096)
def _twin_difference(unit: Expr) -> Polynomial:
    """`both - twin - unit`, which is 0."""
    factor, atom = basis.split(unit)
    found: Polynomial = {unit: -1}
    accumulate(found, basis.both_of(atom), 1, factor)  # type: ignore[arg-type]
    accumulate(found, basis.twin_of(atom), -1, factor)  # type: ignore[arg-type]
    return found


def _is_gain(sums: Polynomial, unit: Expr, c: int) -> bool:
    """Whether replacing a twin makes a sum shorter, or equally short with fewer negative terms; modulo c.

    It looks at the changed terms only, because it is called for each maximum of a sum.
    """
    factor = sums[unit]
    longer = negative = 0
    for u, k in _twin_difference(unit).items():
        old = sums.get(u, 0)
        new = old + factor * k
        if c:
            new = 0 if u is None else numerators.nearest_residue(new, c)
        longer += bool(new) - bool(old)
        negative += (new < 0) - (old < 0)
    return longer < 0 or (longer == 0 and negative < 0 and not unit._flags & HALF)


def _modulo(sums: Polynomial, c: int) -> Polynomial:
    if not c:
        return sums
    reduced = {unit: numerators.nearest_residue(k, c) for unit, k in sums.items()}
    return {unit: k for unit, k in reduced.items() if k and unit is not None}


def _depth_first(unit: Expr) -> tuple[object, ...]:
    _, atom = basis.split(unit)
    return -atom._height, order(atom), order(unit)


def _shortened(sums: Polynomial, c: int = 0) -> Polynomial:
    """The short form of a sum in the basis, modulo c unless c is 0: with clamps, and the better twin in each unit."""
    singles = [unit for unit in sums if unit is not None and unit._flags & (PAIR | HALF)]
    if not singles:
        return sums
    singles.sort(key=_depth_first)
    best = sums
    maxima = [unit for unit in singles if unit._flags & PAIR]
    for i, first in enumerate(maxima if len(maxima) <= PAIRS else ()):
        for second in maxima[i + 1 :]:
            best = _clamped(best, first, second, c)
    for unit in singles:
        if unit in best and _is_gain(best, unit, c):
            best = _modulo(with_twin(best, unit), c)
    for first, second in combinations(singles if 2 <= len(singles) <= PAIRS else (), 2):
        if first in best and second in best:  # min(N, 8) - 2*(min(N, 8)//2) is shorter only if both are replaced
            turned = with_twin(best, first)
            if second in turned:
                tried = _modulo(with_twin(turned, second), c)
                if len(tried) < len(best):
                    best = tried
    return best


def _clamped(sums: Polynomial, first: Expr, second: Expr, c: int) -> Polynomial:
    """The sum with a clamp in place of two maxima, if that is shorter."""
    k, other = sums.get(first, 0), sums.get(second, 0)
    if c and k == other and 2 * k == c:
        other = -other
    if k * other >= 0:
        return sums
    (factor, low), (theirs, high) = basis.split(first), basis.split(second)
    leaves = lattice.two_leaves(low), lattice.two_leaves(high)
    if factor is not theirs or any(_brings_extrema(leaf) for some in leaves for leaf in some):
        return sums  # a clamp of such leaves would be made of sums with these two maxima again
    if k < 0:
        low, high = high, low
    count = min(abs(k), abs(other))
    best = sums
    for found, is_close in _clamps(low, high):
        tried = dict(sums)
        accumulate(tried, {low: -count, high: count}, 1, factor)  # type: ignore[arg-type]
        accumulate(tried, found, count, factor)  # type: ignore[arg-type]
        tried = _modulo(tried, c)
        if len(tried) < len(best) or (len(tried) == len(best) and is_close):
            best = tried
    return best


def _brings_extrema(leaf: Dim) -> bool:
    """Whether the basis of a leaf has a maximum or minimum: that of `(max(a, b) + 1)//2` has `max(a, b)`."""
    terms, _ = basis.in_basis(*terms_of(leaf))
    return has_extrema(leaf) or any(unit._flags & (EXTREMUM | SPLIT | NESTED) for unit in terms)


@remembered(2048)
def _clamps(low: Expr, high: Expr) -> list[tuple[Polynomial, bool]]:
    """Sums with a clamp that equal `low - high`, each with a flag: whether the limits of the clamp share a term."""
    found: list[tuple[Polynomial, bool]] = []
    for a, b in permutations(lattice.two_leaves(low)):
        for d, e in permutations(lattice.two_leaves(high)):
            above, beyond = arithmetic.subtract(b, a), arithmetic.subtract(e, d)
            if lattice.exceeds(Max, beyond, above):  # max(a, b) - max(d, e) = clamp(0, b - a, e - d) + a - e
                inner = extrema.extremum_of(Max, [0, above])
                clamp = basis.polynomial(*extrema.as_sum(Min, [inner, beyond]))
                accumulate(clamp, basis.polynomial(*terms_of(arithmetic.subtract(a, e))))  # type: ignore[arg-type]
                left = basis.part_in_basis(clamp, keep=0)
                accumulate(left, {low: -1, high: 1})  # type: ignore[arg-type]
                if not left:  # not if bounds simplified the clamp further
                    found.append((basis.part_in_basis(clamp, keep=CLAMP), _meet(above, beyond)))
    return found


def _meet(a: Dim, b: Dim) -> bool:
    """Whether two sums have a term in common."""
    (terms, _), (others, _) = terms_of(a), terms_of(b)
    return any(others.get(unit) == k for unit, k in terms.items())


# these make sums
