"""The short form of sums with maxima, minima, clamps and halves: a function of their basis.

The laws of basis.py make a sum short when they are used from right to left. The search begins with the basis. It tries
the laws on each atom, the most deeply nested ones first, and keeps a form that has fewer terms. So the form does not
depend on how a sum was built. In particular `max(a, b)*min(a, b)` is `a*b`.
"""

from __future__ import annotations

from itertools import combinations, permutations

from symdim.algebra.caches import remembered, shared_cache
from symdim.algebra.divisions.small_parts import nearest_residue
from symdim.algebra.expr import Max, Min
from symdim.algebra.forms.apart import PAIRS, is_apart, is_in_basis, is_plain
from symdim.algebra.forms.basis import both_of, in_basis, less, part_in_basis, polynomial, split, twin_of
from symdim.algebra.interning import PRIME
from symdim.algebra.order import order
from symdim.algebra.sums.monomial import (
    CLAMP,
    EXTREMUM,
    LAWFUL,
    NEAR,
    NESTED,
    PAIR,
    SEVERAL,
    SPLIT,
    TWIN,
    accumulate,
    divides,
    exact_quotient,
    has_extrema,
    powers_of,
    terms_of,
    times,
    unit_of,
)
from symdim.algebra.sums.polynomial import subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from symdim.algebra.expr import Dim, Expr, Sum, Terms
    from symdim.algebra.forms.basis import Polynomial, Unit

_TERMS = 64  # the most terms of a sum after twins are put into its products

_settled = shared_cache(8192)


def settled(terms: Terms, const: int) -> Sum:
    """The canonical form of a sum with units that the laws concern; `terms` itself if it has this form."""
    lawful = [unit for unit in terms if unit.flags & LAWFUL]
    if is_apart(terms, const, lawful):
        return terms, const
    if len(lawful) == 1 and is_plain(lawful[0]):
        return _one_turned(terms, const, lawful[0])
    basis = polynomial(*in_basis(terms, const))
    fingerprint = sum([k * (1 if unit is None else unit.fingerprint) for unit, k in basis.items()]) % PRIME
    known = _settled.get(fingerprint)
    if known is None or known[0] != basis:
        known = _settled[fingerprint] = basis, _shortened(basis)
    found = dict(known[1])
    offset = found.pop(None, 0)
    return found, offset


def shortened_modulo(basis: Terms, c: int) -> Terms:
    """A short form, modulo c, of a sum in the basis without a constant."""
    if not any(unit.flags & LAWFUL for unit in basis):
        return basis
    found = _shortened(dict(basis), c)  # type: ignore[arg-type]
    found.pop(None, None)
    return found  # type: ignore[return-value]


def _one_turned(terms: Terms, const: int, unit: Expr) -> Sum:
    """The shorter of the two forms of a sum with one twin. The other twin is built only if that form is taken."""
    factor, atom = split(unit)
    here = polynomial(terms, const)
    there = dict(here)
    k = there.pop(unit)
    accumulate(there, both_of(atom), k, factor)  # type: ignore[arg-type]
    mine, theirs = len(here), len(there) + 1
    if mine == theirs and atom.flags & PAIR:
        mine, theirs = _negatives(here), _negatives(there) + (k > 0)
    if mine < theirs or (mine == theirs and is_in_basis(atom)):
        return terms, const
    accumulate(there, twin_of(atom), -k, factor)  # type: ignore[arg-type]
    offset = there.pop(None, 0)
    return there, offset  # type: ignore[return-value]


def with_twin(sums: Polynomial, unit: Expr) -> Polynomial:
    """The sum with `both - twin` in place of a twin in a unit."""
    turned = dict(sums)
    accumulate(turned, _turning(unit), sums[unit])  # type: ignore[arg-type]
    return turned


@remembered(4096)
def _turning(unit: Expr) -> Polynomial:
    """`both - twin - unit`, which is 0."""
    factor, atom = split(unit)
    found: Polynomial = {unit: -1}
    accumulate(found, both_of(atom), 1, factor)  # type: ignore[arg-type]
    accumulate(found, twin_of(atom), -1, factor)  # type: ignore[arg-type]
    return found


def _is_gain(sums: Polynomial, unit: Expr, c: int) -> bool:
    """Whether replacing a twin makes a sum shorter, or equally short with fewer negative terms; modulo c.

    It looks at the changed terms only, because it is called for each maximum of a sum.
    """
    factor = sums[unit]
    longer = negative = 0
    for u, k in _turning(unit).items():
        old = sums.get(u, 0)
        new = old + factor * k
        if c:
            new = 0 if u is None else nearest_residue(new, c)
        longer += bool(new) - bool(old)
        negative += (new < 0) - (old < 0)
    return longer < 0 or (longer == 0 and negative < 0 and not unit.flags & TWIN)


def _negatives(sums: Polynomial) -> int:
    return sum([k < 0 for k in sums.values()])


def _shortened(basis: Polynomial, c: int = 0) -> Polynomial:
    """The short form of a sum in the basis; modulo c unless c is 0."""
    if len(basis) == 1 and any(unit is not None and unit.flags & SEVERAL for unit in basis):
        return basis  # one term cannot be shorter
    best = _with_singles(basis, c)
    given = basis
    near = [unit for unit in basis if unit is not None and unit.flags & (NEAR | SEVERAL)]
    for unit in sorted(near, key=order) if len(near) <= PAIRS else ():
        start = given
        for power, form in _powers(unit, start):
            k = _times_in(start.get(unit, 0), form.get(unit, 0))
            if k:
                tried = less(dict(start), {power: -k})
                accumulate(tried, form, -k)  # type: ignore[arg-type]
                short = _with_singles(_modulo(tried, c), c)
                if len(short) < len(best):
                    given, best = tried, short
    for atom in _atoms(given, SEVERAL):
        turned = _turned_everywhere(given, atom)
        if turned is not None:
            short = _with_singles(_modulo(turned, c), c)
            if len(short) < len(best):
                given, best = turned, short
    return best


def _modulo(sums: Polynomial, c: int) -> Polynomial:
    if not c:
        return sums
    reduced = {unit: nearest_residue(k, c) for unit, k in sums.items()}
    return {unit: k for unit, k in reduced.items() if k and unit is not None}


def _atoms(sums: Polynomial, flag: int) -> list[Expr]:
    """The atoms with laws in units with this flag, the most deeply nested ones first."""
    units = [unit for unit in sums if unit is not None and unit.flags & flag]
    return sorted({atom for unit in units for atom in powers_of(unit) if atom.flags & (PAIR | TWIN)}, key=_depth_first)


def _depth_first(unit: Expr) -> tuple[object, ...]:
    _, atom = split(unit)
    return -atom.height, order(atom), order(unit)


def _turned_everywhere(sums: Polynomial, atom: Expr) -> Polynomial | None:
    """The sum with the twin of an atom in all products of several twins; None if it gets long."""
    by = less(both_of(atom), twin_of(atom))
    units = [unit for unit in sums if unit is not None and unit.flags & SEVERAL]
    for _ in range(max([powers_of(unit).get(atom, 0) for unit in units], default=0)):  # each turn takes one power
        done: Polynomial = {}
        for unit, k in sums.items():
            if unit is not None and unit.flags & SEVERAL and atom in powers_of(unit):
                accumulate(done, by, k, exact_quotient(unit, atom))  # type: ignore[arg-type]
            else:
                accumulate(done, {unit: k})  # type: ignore[arg-type, dict-item]
        if len(done) > _TERMS:
            return None
        sums = done
    return sums


def _with_singles(sums: Polynomial, c: int) -> Polynomial:
    """The sum with clamps, and with the better twin in each unit that has one only."""
    singles = [unit for unit in sums if unit is not None and unit.flags & (PAIR | TWIN) and not unit.flags & SEVERAL]
    if not singles:
        return sums
    singles.sort(key=_depth_first)
    best = sums
    maxima = [unit for unit in singles if unit.flags & PAIR]
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
    (factor, low), (theirs, high) = split(first), split(second)
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
    terms, _ = in_basis(*terms_of(leaf))
    return has_extrema(leaf) or any(unit.flags & (EXTREMUM | SPLIT | NESTED) for unit in terms)


@remembered(2048)
def _clamps(low: Expr, high: Expr) -> list[tuple[Polynomial, bool]]:
    """Sums with a clamp that equal `low - high`, each with a flag: whether the limits of the clamp share a term."""
    found: list[tuple[Polynomial, bool]] = []
    for a, b in permutations(lattice.two_leaves(low)):
        for d, e in permutations(lattice.two_leaves(high)):
            above, beyond = subtract(b, a), subtract(e, d)
            if lattice.exceeds(Max, beyond, above):  # max(a, b) - max(d, e) = clamp(0, b - a, e - d) + a - e
                inner = extremum.extremum_of(Max, [0, above])
                clamp = polynomial(*extremum.raw(Min, [inner, beyond]))
                accumulate(clamp, polynomial(*terms_of(subtract(a, e))))  # type: ignore[arg-type]
                left = part_in_basis(clamp, keep=0)
                accumulate(left, {low: -1, high: 1})  # type: ignore[arg-type]
                if not left:  # not if bounds simplified the clamp further
                    found.append((part_in_basis(clamp, keep=CLAMP), _meet(above, beyond)))
    return found


def _meet(a: Dim, b: Dim) -> bool:
    """Whether two sums have a term in common."""
    (terms, _), (others, _) = terms_of(a), terms_of(b)
    return any(others.get(unit) == k for unit, k in terms.items())


def _times_in(k: int, part: int) -> int:
    """How often a coefficient is in another one; 0 if it does not divide that."""
    return k // part if part and k % part == 0 else 0


def _powers(unit: Expr, sums: Polynomial) -> Iterator[tuple[Expr, Polynomial]]:
    """(power, basis) for products with a power of a maximum, minimum or clamp whose basis may have this unit.

    The basis of `max(a, b)**2` has `a*max(a, b)` and `b*max(a, b)`, so the sum must have both.
    """
    powers = powers_of(unit)
    atoms = [atom for atom in powers if atom.flags & PAIR and powers[atom] == 1]
    found: list[tuple[Expr, int, Unit]] = []  # (what is raised, the exponent, the other factors)
    for atom in atoms:
        both = both_of(atom)
        for part in both:
            rest, exponent = exact_quotient(unit, atom), 1
            while part is not None and divides(part, rest):
                rest, exponent = exact_quotient(rest, part), exponent + 1
                beside = times(atom, exact_quotient(exact_quotient(unit, atom), part))
                if all(times(beside, other) in sums for other in both):
                    found += [(root, exponent, rest) for root in (atom, *twin_of(atom)) if root is not None]
    for low, high in permutations(atoms, 2) if sums.get(unit, 1) % 2 == 0 else ():  # (low - high + h)**2
        if not set(lattice.two_leaves(low)).isdisjoint(lattice.two_leaves(high)):
            factor = exact_quotient(exact_quotient(unit, low), high)
            clamps = [u for some, _ in _clamps(low, high) for u in some if u is not None and u.flags & CLAMP]
            found += [(clamp, 2, factor) for clamp in clamps]
    for root, exponent, factor in found:
        power = times(unit_of({root: exponent}), factor)
        assert power is not None
        yield power, part_in_basis({power: 1}, keep=0)


# these make sums
from symdim.algebra.minmax import extrema as extremum  # noqa: E402
from symdim.algebra.minmax import lattice  # noqa: E402
