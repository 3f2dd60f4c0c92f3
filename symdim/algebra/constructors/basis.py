"""Sums and products with maxima, minima, clamps and halves in a basis, in which equal ones have one form.

Laws used below, for integers (each is a `Law` in laws.py), here for sums a, b, c and l <= h, from left to right:

    both       min(a, b) = a + b - max(a, b)
    clamp      min(max(c, l), h) = max(c, l) - max(c, h) + h
    halves     (a + 1)//2 = a - a//2
    product    max(a, b)*min(a, b) = a*b

Two atoms of a law are *twins*: the maximum and the minimum of two arguments, or the two halves. In the basis a sum has
one of two twins only. This form is long; shortening.py makes it short. A product of several atoms that the laws concern
stays as it is, except for that of twins. A division of a maximum of two by a number counts as such a maximum.
"""

from __future__ import annotations

from symdim.algebra.caches import remembered
from symdim.algebra.constructors import arithmetic, extrema, floordiv, lattice, rounding
from symdim.algebra.expr import FloorDiv, Max, Min
from symdim.algebra.polynomials import (
    CLAMP,
    HALF,
    HAS_LAWS,
    OPPOSITE,
    PAIR,
    accumulate,
    exact_quotient,
    has_extrema,
    opposites,
    powers_of,
    split_unit,
    terms_of,
    times,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.constructors.lattice import Clause
    from symdim.algebra.expr import Dim, Expr, Extremum, Sum, Terms

    Unit = Expr | None
    Polynomial = dict[Unit, int]  # None stands for 1

_TERMS = 64  # a unit with a longer basis is its own basis

_STEPS = 256  # likewise a unit whose basis needs more steps


def polynomial(terms: Terms, const: int) -> Polynomial:
    """A sum in which the constant is a term."""
    found: Polynomial = {**terms}  # type: ignore[dict-item]
    if const:
        found[None] = const
    return found


def in_basis(terms: Terms, const: int) -> Sum:
    """The basis of a sum."""
    for unit in terms:
        if unit._flags & HAS_LAWS:
            break
    else:
        return terms, const
    total = part_in_basis(polynomial(terms, const), keep=0)
    offset = total.pop(None, 0)
    return total, offset  # type: ignore[return-value]


def part_in_basis(sums: Polynomial, keep: int) -> Polynomial:
    """The basis of a polynomial, except for units with the flag `keep`, which stay."""
    total: Polynomial = {}
    for unit, k in sums.items():
        law = unit is not None and unit._flags & HAS_LAWS and not unit._flags & keep
        accumulate(total, _basis_of(unit) if law else {unit: 1}, k)  # type: ignore[arg-type, dict-item]
    return total


def split(unit: Expr) -> tuple[Unit, Expr]:
    """(the other factors, the atom) of a unit with one atom that the laws concern."""
    if not isinstance(unit._parts, dict):
        return None, unit
    atom = next(atom for atom in powers_of(unit) if atom._flags & HAS_LAWS)
    return exact_quotient(unit, atom), atom


def both_of(atom: Expr) -> Polynomial:
    """The sum of an atom and its twin, in the basis."""
    if atom._flags & HALF:
        return polynomial(*in_basis(terms_of(atom._parts[0])[0], 0))  # type: ignore[index]
    total: Polynomial = {}
    for part in lattice.two_leaves(atom):
        accumulate(total, polynomial(*in_basis(*terms_of(part))))  # type: ignore[arg-type]
    return total


def twin_of(atom: Expr) -> Polynomial:
    """The twin of an atom: the minimum for a maximum of two, the maximum for a minimum, the other half for a half."""
    if atom._flags & HALF:
        terms, const = terms_of(atom._parts[0])  # type: ignore[index]
        return {floordiv.quotient_atom(arithmetic.sum_of(dict(terms), 1 - const), 2): 1}
    return _of_leaves(lattice.OTHER[lattice.kind_of(atom)], atom)


@remembered(2048)
def _of_leaves(kind: type[Extremum], atom: Expr) -> Polynomial:
    """The maximum or minimum of the two leaves of an atom."""
    if type(atom) is not FloorDiv:
        return {extrema.extremum_atom(kind, atom._parts): 1}  # type: ignore[arg-type]
    return polynomial(*extrema.as_sum(kind, list(lattice.two_leaves(atom))))


def less(a: Polynomial, b: Polynomial) -> Polynomial:
    accumulate(a, b, -1)  # type: ignore[arg-type]
    return a


@remembered(8192)
def _basis_of(unit: Expr) -> Polynomial:
    """The basis of a unit; the unit itself if the basis would be long."""
    found: Polynomial = {}
    waiting: Polynomial = {unit: 1}
    for _ in range(_STEPS):
        if not waiting:
            break
        some, k = waiting.popitem()
        law = None if some is None or not some._flags & HAS_LAWS else _to_basis(some)
        if law is None:
            accumulate(found, {some: k})  # type: ignore[arg-type, dict-item]
        else:
            accumulate(waiting, law[1], k, law[0])  # type: ignore[arg-type]
        if len(found) + len(waiting) > _TERMS:
            break
    return {unit: 1} if waiting else found


def _to_basis(unit: Expr) -> tuple[Unit, Polynomial] | None:
    """(factor, sum) whose product equals a unit, by the laws from left to right; None for a unit in the basis."""
    if unit._flags & OPPOSITE:
        greatest, smallest = opposites(powers_of(unit))  # type: ignore[misc]
        a, b = greatest._parts  # type: ignore[misc]
        return exact_quotient(unit, times(greatest, smallest)), _product(a, b)
    for atom in powers_of(unit):
        if atom._flags & CLAMP:
            return exact_quotient(unit, atom), clamp_basis(atom)
        if atom._flags & HALF and terms_of(atom._parts[0])[1]:  # type: ignore[index]
            return exact_quotient(unit, atom), less(both_of(atom), twin_of(atom))
        if atom._flags & PAIR:
            maximum = _of_leaves(Max, atom)
            if maximum != {atom: 1}:
                by = dict(maximum) if lattice.kind_of(atom) is Max else less(both_of(atom), maximum)
                return exact_quotient(unit, atom), by
    return None


def _product(a: Dim, b: Dim) -> Polynomial:
    """The product of two dimensions."""
    total: Polynomial = {}
    for unit, k in polynomial(*terms_of(a)).items():
        accumulate(total, polynomial(*terms_of(b)), k, unit)  # type: ignore[arg-type]
    return total


def limits(clauses: list[Clause] | None) -> tuple[Dim, Dim, Dim] | None:
    """(c, l, h) if a minimum with these clauses is the clamp min(max(c, l), h), with l <= h by bounds; else None."""
    if clauses is None or sorted([len(clause) for clause in clauses]) != [1, 2]:
        return None
    (high,), (first, second) = sorted(clauses, key=len)
    if any(has_extrema(leaf) for leaf in (high, first, second)):
        return None
    for c, low in ((first, second), (second, first)):
        if lattice.exceeds(Max, high, low):
            return c, low, high
    return None


@remembered(2048)
def clamp_basis(atom: Expr) -> Polynomial:
    """The clamp min(max(c, l), h) as max(c, l) - max(c, h) + h."""
    ends = limits(lattice.of_unit(Min, atom))
    assert ends is not None
    c, low, high = ends
    found = polynomial(*extrema.as_sum(Max, [c, low]))
    accumulate(found, polynomial(*extrema.as_sum(Max, [c, high])), -1)  # type: ignore[arg-type]
    accumulate(found, polynomial(*terms_of(high)))  # type: ignore[arg-type]
    return found


def flags_of(atom: Extremum) -> int:
    """The flags of the laws that concern a maximum or minimum."""
    if len(atom._parts) != 2:
        return 0
    if all(split_unit(part) is None for part in atom._parts):
        return PAIR
    return CLAMP if type(atom) is Min and limits(lattice.of_unit(Min, atom)) is not None else 0


def flags_of_quotient(atom: FloorDiv) -> int:
    """The flags of the laws that concern a division of a maximum or minimum, by its leaves."""
    clauses = lattice.of_unit(Min, atom)
    if clauses is None or rounding.outside([leaf for clause in clauses for leaf in clause]) is None:
        return 0
    if lattice.two_leaves(atom):
        return PAIR
    return CLAMP if limits(clauses) is not None else 0


# these make sums
