"""Sums with maxima, minima and divisions by even numbers, in their shortest form.

An *identity* is a sum that is 0 for all sizes. Each has atoms that it takes out, here with the coefficient -1:

    complement    -max(a, b) - min(a, b) + a + b
    halves        -(n//d) - (n + d/2)//d + n//(d/2)               d > 0 an even number (Hermite)
    clamp         -min(max(t, a), b) + max(t, a) - max(t, b) + b  a <= b by bounds; max(t, x) = t + x - min(t, x)

A multiple of an identity, which takes an atom out of the sum, or the two that make a clamp, is added as long as that
makes the sum shorter by `_length`, the best one first. So `x//2 + (x + 1)//2` is `x`. This ends: the length falls.
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
    from collections.abc import Iterator
    from typing import TypeAlias

    from symdim.algebra.expr import Dim, Sum, Terms

    Multiples: TypeAlias = list[tuple[int, Dim]]
    Place: TypeAlias = tuple[Expr, Expr, Expr | None]  # a unit, an atom of it with exponent 1, its other factors

_PLACES = 6  # the most maxima and minima of a sum of which pairs are made clamps
_BITS = 32  # the most bits of an even divisor: halves of halves are looked for
_DIGIT = 1 << 12  # the base of lengths
_NEGATIVE, _TERM = _DIGIT, _DIGIT**4


def shortest(terms: Terms, const: int) -> Sum | None:
    """The sum in its shortest form; None if it has it. The dict is not changed."""
    if len(terms) == 1 and type(next(iter(terms))) is FloorDiv:
        return None  # its complement would bring in two terms for one
    short: Sum | None = None
    while (step := _best_step(terms, const)) is not None:
        short = terms, const = floordiv.plus_multiple((terms, const), *step)
    return short


def _best_step(terms: Terms, const: int) -> tuple[Sum, int] | None:
    """The identity, and its multiple, that makes a sum shortest; None if none makes it shorter."""
    best, least = None, 0
    for identity, k in _steps(terms, const):
        change = _change(terms, const, identity, k)
        if change < least:
            best, least = (identity, k), change
    return best


def _steps(terms: Terms, const: int) -> Iterator[tuple[Sum, int]]:
    """Multiples of identities that take a term out, or a pair of terms."""
    places = [place for unit in terms if unit._flags for place in _places_of(unit)]
    near = [place for place in places if _is_near(place, terms, const)]
    if not near:
        return
    near.sort(key=lambda place: order(place[0]))
    for unit, atom, factor in near:
        for identity in _identities(unit, atom, factor):
            yield identity, terms[unit]
    pairs = [
        (unit, atom, factor) for unit, atom, factor in places if isinstance(atom, Extremum) and len(atom._parts) == 2
    ]
    if len(pairs) > _PLACES:
        return
    pairs.sort(key=lambda place: order(place[0]))
    for (unit, atom, factor), (unit2, atom2, factor2) in combinations(pairs, 2):
        sign = 1 if type(atom) is not type(atom2) else -1
        if factor is factor2 and terms[unit2] == sign * terms[unit]:
            clamp = _as_clamp(unit, unit2, atom, atom2, factor)
            if clamp is not None:
                yield clamp, terms[unit]


@remembered(4096)
def _places_of(unit: Expr) -> list[Place]:
    """The atoms of a unit that these laws concern."""
    return [
        (unit, atom, exact_quotient(unit, atom))
        for atom, exponent in powers_of(unit).items()
        if atom._flags and exponent == 1
    ]


def _is_near(place: Place, terms: Terms, const: int) -> bool:
    """Whether another term of the sum may cancel what an identity of the atom brings in."""
    unit, atom, factor = place
    if isinstance(atom, FloorDiv) and not _has_half(place, terms):
        return False
    if isinstance(atom, Extremum) and any(u is not unit and u._flags & EXTREMUM for u in terms):
        return True
    inner = _inner_units(unit, atom, factor)
    return not inner.isdisjoint(terms) or (const != 0 and None in inner)


@remembered(4096)
def _inner_units(unit: Expr, atom: Expr, factor: Expr | None) -> set[Expr | None]:
    """The units beside `unit` that an identity of its atom brings in; None for 1. Callers must not change the set."""
    dims = atom._parts if isinstance(atom, Extremum) else complement_of(atom) or ()
    units = {times(u, factor) for dim in dims for u in terms_of(dim)[0]}
    if any(terms_of(dim)[1] for dim in dims):
        units.add(factor)
    return units - {unit}


def _has_half(place: Place, terms: Terms) -> bool:
    """Whether a term may have the complement of a division, or what both make: by divisors, and by numerators of 2."""
    _, atom, factor = place
    assert isinstance(atom, FloorDiv)
    n, d = atom._parts
    if d == 2 and (factor is not None or any(u in terms for u in terms_of(n)[0])):
        return True
    return any(a is not atom and e in (d, d // 2) for unit in terms if unit._height for a, e in _divisors_in(unit))


@remembered(4096)
def _divisors_in(unit: Expr) -> list[tuple[Expr, int]]:
    """The divisions by numbers in a unit, with their divisors."""
    divisions = [(atom, atom._parts[1]) for atom in powers_of(unit) if type(atom) is FloorDiv]
    return [(atom, d) for atom, d in divisions if isinstance(d, int)]


@remembered(4096)
def _identities(unit: Expr, atom: Expr, factor: Expr | None) -> list[Sum]:
    """The identities of an atom, times the other factors of a unit, in which the unit has the coefficient -1."""
    known = complement_of(atom)
    if known is not None:
        forms = [[(1, known[1]), (-1, known[0])]]
    else:
        forms = list(_without_clamp(atom)) if isinstance(atom, Min) else []
    return [_identity({unit: -1}, form, factor) for form in forms]


def _identity(gone: Terms, parts: Multiples, factor: Expr | None) -> Sum:
    """The sum of some terms, and of multiples of some dimensions, times a factor."""
    total, const = dict(gone), 0
    for k, part in parts:
        terms, number = terms_of(part)
        accumulate(total, terms, k, factor)
        if number and factor is not None:
            accumulate(total, {factor: k * number})
        else:
            const += k * number
    return total, const


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


def _is_second(atom: Expr) -> bool:
    """Whether the complement is taken if both give sums of one length: of a minimum, no nest, or an upper half."""
    if isinstance(atom, FloorDiv):
        n, d = atom._parts
        return isinstance(d, int) and 2 * terms_of(n)[1] >= d
    return isinstance(atom, Min) and not _is_nest(atom)


def _without_clamp(atom: Extremum) -> Iterator[Multiples]:
    """The two forms of a clamp with a maximum or minimum of two, as multiples of dimensions."""
    if len(atom._parts) != 2:
        return
    for inner, b in (atom._parts, atom._parts[::-1]):
        nested = extrema.arguments(inner)
        if nested is not None and nested[0] is Max and len(nested[1]) == 2:
            for t, a in (nested[1], nested[1][::-1]):
                if extrema.exceeds(Max, b, a):
                    yield [(1, inner), (1, b), (-1, extrema.maximum(t, b))]
                    yield [(1, extrema.minimum(t, b)), (1, a), (-1, extrema.minimum(t, a))]


@remembered(4096)
def _as_clamp(unit: Expr, unit2: Expr, x: Extremum, y: Extremum, factor: Expr | None) -> Sum | None:
    """x + y for a maximum and a minimum, x - y for two of one kind, with one clamp; None without one."""
    shared = [part for part in x._parts if part in y._parts]
    shift = 0
    if len(shared) == 1:
        (t,) = shared
        a, b = [next(part for part in atom._parts if part != t) for atom in (x, y)]
    else:
        numbers = [part for atom in (x, y) for part in atom._parts if isinstance(part, int)]
        if len(numbers) != 2 or type(x) is type(y):
            return None
        t, shift = numbers[0], numbers[0] - numbers[1]  # y is the extremum of t and b, less the shift
        a, b = [next(part for part in atom._parts if isinstance(part, Expr)) for atom in (x, y)]
        b = arithmetic.add(b, shift)
    parts = _clamp_of(t, a, b, type(x), type(y))
    sign = 1 if type(x) is not type(y) else -1
    return None if parts is None else _identity({unit: -1, unit2: -sign}, [*parts, (1, -shift)], factor)


def _clamp_of(t: Dim, a: Dim, b: Dim, first: type[Expr], second: type[Expr]) -> Multiples | None:
    """What `_as_clamp` gives for the extrema of t and a, and of t and b."""
    if has_extrema(t) or has_extrema(a) or has_extrema(b):
        return None  # the clamp would be shifted by them, and the sum with them brought back to this one
    is_turned = not extrema.exceeds(Max, b, a)
    if is_turned:
        a, b, first, second = b, a, second, first
        if not extrema.exceeds(Max, b, a):
            return None
    clamp = extrema.minimum(extrema.maximum(t, a), b)
    if first is not second:
        return [(1, t), (1, clamp)] if first is Max else [(1, a), (1, b), (1, t), (-1, clamp)]
    sign = -1 if is_turned else 1
    return [(sign, clamp), (-sign, b)] if first is Max else [(sign, a), (-sign, clamp)]


def _change(terms: Terms, const: int, identity: Sum, k: int) -> int:
    """By how much a multiple of an identity makes a sum longer."""
    change = _length_of_number(const + k * identity[1]) - _length_of_number(const)
    for unit, c in identity[0].items():
        before = terms.get(unit, 0)
        after = before + k * c
        length = _length(unit)
        if before:
            change -= length + (_NEGATIVE if before < 0 else 0)
        if after:
            change += length + (_NEGATIVE if after < 0 else 0)
    return change


def _length_of_number(const: int) -> int:
    return 0 if not const else _TERM + (_NEGATIVE if const < 0 else 0)


@remembered(1 << 14)
def _length(unit: Expr) -> int:
    """The length of a positive term: its depth of nesting, its atoms, upper halves and atoms of the second form."""
    places = _places_of(unit) if unit._flags else []
    upper = sum([isinstance(atom, FloorDiv) and _is_second(atom) for _, atom, _ in places])
    second = sum([_is_second(atom) for _, atom, _ in places])
    whole = 1 + unit._height + len(places)
    return ((whole * _DIGIT + len(places)) * _DIGIT + upper) * _DIGIT**2 + second
