"""Sums with maxima, minima and divisions by even numbers, in their shortest form.

Two atoms are complements if their sum has none of them:

    extrema       max(a, b) + min(a, b) = a + b
    halves        n//d + (n + d/2)//d = n//(d/2)             d > 0 an even number (Hermite's identity for two terms)

A sum that has both, with coefficients of one sign, loses one of them: `x//2 + (x + 1)//2` is `x`. After that, an atom
or a pair of atoms is replaced as long as the sum gets shorter:

    complement    max(a, b) = a + b - min(a, b), and so for halves
    clamp         min(max(t, a), b) = max(t, a) + min(t, b) - t          a <= b by bounds

The clamp law is used in both directions, and with the complements of its maximum and minimum.

This ends. The first step takes atoms away, and those that come in are nested less. A later step counts only if it and
the first steps after it make the length of the sum (`_length`) smaller.
"""

from __future__ import annotations

from itertools import combinations

from symdim.algebra.caches import remembered
from symdim.algebra.constructors import arithmetic, extrema, floordiv
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max, Min
from symdim.algebra.order import order
from symdim.algebra.polynomials import EXTREMUM, accumulate, exact_quotient, has_extrema, powers_of, terms_of, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from symdim.algebra.expr import Dim, Sum, Terms

    Length: TypeAlias = tuple[int, int, int, int, int]
    Multiples: TypeAlias = list[tuple[int, Dim | Sum]]
    Place: TypeAlias = tuple[Expr, Expr, Expr | None]  # a unit, an atom of it with exponent 1, its other factors

_PLACES = 6  # the most atoms that are replaced
_BITS = 32  # the most bits of an even divisor: halves of halves are looked for


def shortest(terms: Terms, const: int) -> Sum | None:
    """The sum in its shortest form; None if it has it. The dict is not changed."""
    if not any(_is_near(place, terms, const) for place in _places_in(terms)):
        return None
    start = _without_complements(terms, const)
    basis = _in_basis(*start)
    found = _descended(start)
    if basis != start:
        found = min(_descended(basis), found, key=lambda some: _length(*some))
    return None if found == (terms, const) else found


def _descended(found: Sum) -> Sum:
    """A sum after the replacements that make it shorter, the best one first."""
    best: Sum | None = found
    length = _length(*found)
    while best is not None:
        found, best = best, None
        for candidate in _replacements(*found):
            candidate = _without_complements(*candidate)
            size = _length(*candidate)
            if size < length:
                length, best = size, candidate
    return found


def _in_basis(terms: Terms, const: int) -> Sum:
    """The sum without clamps, and without minima of two. Equal sums are one here, up to halves."""
    while True:
        for unit, atom, factor in _places(terms):
            parts = _over_maxima(atom) if isinstance(atom, Min) else None
            if parts is not None:
                k = terms[unit]
                terms, const = _replaced(terms, const, {unit: k}, [(k * c, part) for c, part in parts], factor)
                break
        else:
            return _without_complements(terms, const)


def _over_maxima(atom: Min) -> Multiples | None:
    """A clamp, or a minimum of two, by maxima."""
    known = complement_of(atom)
    return next(_without_clamp(atom), None) if known is None else [(1, known[1]), (-1, known[0])]


def _places(terms: Terms) -> list[Place]:
    """The atoms of a sum that these laws concern, in structural order."""
    return _places_in(sorted([unit for unit in terms if unit._flags], key=order))


def _places_in(units: Iterable[Expr]) -> list[Place]:
    """The same, in the order of the units."""
    return [place for unit in units if unit._flags for place in _places_of(unit)]


@remembered(4096)
def _places_of(unit: Expr) -> list[Place]:
    return [
        (unit, atom, exact_quotient(unit, atom))
        for atom, exponent in powers_of(unit).items()
        if atom._flags and exponent == 1
    ]


def _is_near(place: Place, terms: Terms, const: int) -> bool:
    """Whether another term of the sum may cancel what a replacement of the atom brings in."""
    unit, atom, factor = place
    if isinstance(atom, FloorDiv) and not _has_half(atom, terms):
        return False
    for total in _totals(atom):
        inner, number = terms_of(total)
        if number and isinstance(atom, Extremum) and (const if factor is None else factor in terms):
            return True
        if any(u is not unit and u in terms for u in [times(u, factor) for u in inner]):
            return True
    return isinstance(atom, Extremum) and any(u is not unit and u._flags & EXTREMUM for u in terms)


def _has_half(atom: FloorDiv, terms: Terms) -> bool:
    """Whether a term has the complement of a division, or what both make: found by divisors alone."""
    d = atom._parts[1]
    if d == 2:
        return True
    return any(a is not atom and e in (d, d // 2) for unit in terms if unit._height for a, e in _divisors_in(unit))


@remembered(4096)
def _divisors_in(unit: Expr) -> list[tuple[Expr, int]]:
    """The divisions by numbers in a unit, with their divisors."""
    divisions = [(atom, atom._parts[1]) for atom in powers_of(unit) if type(atom) is FloorDiv]
    return [(atom, d) for atom, d in divisions if isinstance(d, int)]


def _totals(atom: Expr) -> list[Dim]:
    """The sums that replacements of an atom bring in beside other atoms."""
    if isinstance(atom, Extremum):
        return [*atom._parts]
    known = complement_of(atom)
    return [] if known is None else [known[1], known[0]]


@remembered(4096)
def complement_of(atom: Expr) -> tuple[Expr, Dim] | None:
    """(other, total) with atom + other == total; None for an atom without a complement.

    The complement of a nest, `min(max(a, b), c)`, would flatten to another form.
    """
    if isinstance(atom, Extremum):
        if len(atom._parts) != 2 or _is_nest(atom):
            return None
        return extrema.extremum_atom(extrema.OTHER[type(atom)], atom._parts), arithmetic.add(*atom._parts)
    if not isinstance(atom, FloorDiv):
        return None
    n, d = atom._parts
    if not isinstance(d, int) or d % 2 or d.bit_length() > _BITS:
        return None
    half = d // 2
    lower = arithmetic.subtract(n, half) if _is_second(atom) else n
    other = floordiv.floordiv(arithmetic.add(n, half) if lower is n else lower, d)
    return (other, floordiv.floordiv(lower, half)) if isinstance(other, FloorDiv) else None


def _is_nest(atom: Extremum) -> bool:
    return any(extrema.arguments(part) is not None for part in atom._parts)


@remembered(4096)
def _is_second(atom: Expr) -> bool:
    """Whether the complement is taken if both give sums of one length: of a minimum, no nest, or an upper half."""
    if isinstance(atom, FloorDiv):
        n, d = atom._parts
        return isinstance(d, int) and 2 * terms_of(n)[1] >= d
    return isinstance(atom, Min) and not _is_nest(atom)


def _without_complements(terms: Terms, const: int) -> Sum:
    """The sum without atoms beside their complements. The dict is not changed."""
    found = True
    while found:
        found = False
        for unit, atom, factor in _places(terms):
            k = terms[unit]
            known = complement_of(atom) if not isinstance(atom, FloorDiv) or _has_half(atom, terms) else None
            other = None if known is None else times(known[0], factor)
            if known is not None and other is not None and k * terms.get(other, 0) > 0:
                k = min(k, terms[other], key=abs)
                terms, const = _replaced(terms, const, {unit: k, other: k}, [(k, known[1])], factor)
                found = True
                break
    return terms, const


def _replaced(terms: Terms, const: int, gone: Terms, parts: Multiples, factor: Expr | None) -> Sum:
    """The sum without some terms, and with multiples of some dimensions, times a factor, added."""
    total = dict(terms)
    accumulate(total, gone, -1)
    for k, part in parts:
        inner, number = part if isinstance(part, tuple) else terms_of(part)
        accumulate(total, inner, k, factor)
        if number and factor is not None:
            accumulate(total, {factor: k * number})
        elif number:
            const += k * number
    return total, const


def _replacements(terms: Terms, const: int) -> Iterator[Sum]:
    """The sum with an atom, or a pair of atoms, replaced."""
    places = _places(terms)
    if len(places) > _PLACES:
        return
    for place in places:
        unit, atom, factor = place
        k = terms[unit]
        if _is_near(place, terms, const):
            known = None if isinstance(atom, FloorDiv) and not _has_half(atom, terms) else complement_of(atom)
            if known is not None:
                yield _replaced(terms, const, {unit: k}, [(k, known[1]), (-k, known[0])], factor)
            elif isinstance(atom, Min):
                for parts in _without_clamp(atom):
                    yield _replaced(terms, const, {unit: k}, [(k * c, part) for c, part in parts], factor)
    for (unit, atom, factor), (unit2, atom2, factor2) in combinations(places, 2):
        k = terms[unit]
        if factor is factor2 and isinstance(atom, Extremum) and isinstance(atom2, Extremum):
            sign = 1 if type(atom) is not type(atom2) else -1
            if terms[unit2] == sign * k:
                merged = _as_clamp(atom, atom2)
                if merged is not None:
                    yield _replaced(terms, const, {unit: k, unit2: sign * k}, [(k * c, p) for c, p in merged], factor)


def _without_clamp(atom: Extremum) -> Iterator[Multiples]:
    """The two forms of a clamp with a maximum or minimum of two, as multiples of dimensions."""
    if len(atom._parts) != 2:
        return
    for inner, b in (atom._parts, atom._parts[::-1]):
        found = extrema.arguments(inner)
        if found is not None and found[0] is Max and len(found[1]) == 2:
            for t, a in (found[1], found[1][::-1]):
                if extrema.exceeds(Max, b, a):
                    yield [(1, inner), (1, b), (-1, extrema.as_sum(Max, [t, b]))]
                    yield [(1, extrema.as_sum(Min, [t, b])), (1, a), (-1, extrema.as_sum(Min, [t, a]))]


def _as_clamp(x: Extremum, y: Extremum) -> Multiples | None:
    """x + y for a maximum and a minimum, x - y for two of one kind, with one clamp; None without one."""
    if len(x._parts) != 2 or len(y._parts) != 2:
        return None
    shared = [part for part in x._parts if part in y._parts]
    if len(shared) == 1:
        a, b = [next(part for part in atom._parts if part != shared[0]) for atom in (x, y)]
        return _clamp_of(shared[0], a, b, type(x), type(y))
    numbers = [part for atom in (x, y) for part in atom._parts if isinstance(part, int)]
    if len(numbers) != 2 or type(x) is type(y):
        return None
    shift = numbers[0] - numbers[1]  # y is the extremum of the first number and b, less the shift
    a, b = [next(part for part in atom._parts if isinstance(part, Expr)) for atom in (x, y)]
    found = _clamp_of(numbers[0], a, arithmetic.add(b, shift), type(x), type(y))
    return None if found is None else [*found, (1, -shift)]


def _clamp_of(t: Dim, a: Dim, b: Dim, first: type[Expr], second: type[Expr]) -> Multiples | None:
    """What `_as_clamp` gives for the extrema of t and a, and of t and b."""
    if has_extrema(t) or has_extrema(a) or has_extrema(b):
        return None  # the clamp would be shifted by them, and the sum with them brought back to this one
    is_turned = not extrema.exceeds(Max, b, a)
    if is_turned:
        a, b, first, second = b, a, second, first
        if not extrema.exceeds(Max, b, a):
            return None
    clamp = extrema.as_sum(Min, [extrema.maximum(t, a), b])
    if first is not second:
        return [(1, t), (1, clamp)] if first is Max else [(1, a), (1, b), (1, t), (-1, clamp)]
    sign = -1 if is_turned else 1
    return [(sign, clamp), (-sign, b)] if first is Max else [(sign, a), (-sign, clamp)]


def _length(terms: Terms, const: int) -> Length:
    """The terms of a sum with the depths of their nesting, its atoms, negative terms, and atoms of the second form."""
    places = _places_in(terms)
    return (
        len(terms) + (const != 0) + sum([unit._height for unit in terms]) + len(places),
        len(places),
        sum([isinstance(atom, FloorDiv) and _is_second(atom) for _, atom, _ in places]),
        sum([k < 0 for k in terms.values()]) + (const < 0),
        sum([_is_second(atom) for _, atom, _ in places]),
    )
