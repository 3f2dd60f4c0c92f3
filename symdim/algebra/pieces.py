"""Exact intervals of sums of maxima and minima of one unit: a sum of clamps of a size is linear from place to place.

Law: two linear functions of x change their order at one place at most. Between the places of its parts and those where
two of its parts change their order, a maximum or minimum of sums in x is one of its parts, so it is linear in x. On the
integers from one place to the next a sum of them is least at an end, and beyond the last place it goes on as in its
first step.

The law needs that x is the only unit in all parts. It may be a variable, a product or a division.
"""

from __future__ import annotations

from itertools import combinations, pairwise

from symdim.algebra.expr import Extremum, Max
from symdim.algebra.polynomials import terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Expr, Interval, Terms

_DEPTH = 4  # how deep maxima and minima may be nested
_PARTS = 16  # the most parts of all maxima and minima in a sum


def only_unit(terms: Terms) -> Expr | None:
    """The unit x, if all maxima and minima of a sum are of no other unit; else None. None for large nests, too."""
    level = [unit for unit in terms if isinstance(unit, Extremum)]
    found: set[Expr] = set()
    count = 0
    for _ in range(_DEPTH):
        count += sum([len(atom._parts) for atom in level])
        inner = {unit for atom in level for part in atom._parts for unit in terms_of(part)[0]}
        found.update([unit for unit in inner if not isinstance(unit, Extremum)])
        if len(found) > 1 or count > _PARTS:
            return None
        level = [unit for unit in inner if isinstance(unit, Extremum)]
        if not level:
            return found.pop() if found else None
    return None


def least(terms: Terms, x: Expr, known: Interval) -> int | None:
    """The least value of a sum of multiples of x, and of maxima and minima of which x is the `only_unit`.

    `known` is the interval of x. None if there is no least value.

    >>> from symdim import Var, maximum, minimum
    >>> x = Var.fresh("x", 1)
    >>> e = 2 * minimum(x, 5) - 9 * minimum(maximum(x, 5), 6) + minimum(maximum(x, 6), 15)
    >>> least(e._terms, x, x.bounds()) + e._const
    -38
    """
    first, last = known
    places = sorted(_places(terms, x, known))
    values = [_value(terms, 0, x, place) for place in places]
    if first is None and _value(terms, 0, x, places[0] - 1) < values[0]:
        return None
    if last is None and _value(terms, 0, x, places[-1] + 1) < values[-1]:
        return None
    return min(values)


def _places(terms: Terms, x: Expr, known: Interval) -> set[int]:
    """Places in the interval of x, with its ends, between which a sum is linear. It recurses at most `_DEPTH` times."""
    found = {end for end in known if end is not None} or {0}
    for unit in terms:
        if isinstance(unit, Extremum):
            sums = [terms_of(part) for part in unit._parts]
            for inner, _ in sums:
                found |= _places(inner, x, known)
            if known[0] is None:
                found.add(min(found) - 1)
            if known[1] is None:
                found.add(max(found) + 1)
            places = sorted(found)
            columns = [[_value(*some, x, place) for place in places] for some in sums]
            for one, other in combinations(columns, 2):
                found |= _crossings(places, [a - b for a, b in zip(one, other, strict=True)], known)
    return found


def _crossings(places: list[int], values: list[int], known: Interval) -> set[int]:
    """The integers next to zeros of a function that is linear from place to place, and beyond ends without a bound."""
    found: set[int] = set()
    segments = list(zip(pairwise(places), pairwise(values), strict=True))
    for (p, q), (a, b) in segments:
        if a * b < 0:
            found.update(_next_to_zero(p, a, q, b))
    if known[0] is None:
        (p, q), (a, b) = segments[0]
        if a * (a - b) < 0:
            found.update(_next_to_zero(p, a, q, b))
    if known[1] is None:
        (p, q), (a, b) = segments[-1]
        if b * (b - a) < 0:
            found.update(_next_to_zero(p, a, q, b))
    return found


def _next_to_zero(p: int, a: int, q: int, b: int) -> tuple[int, int]:
    """The integers next to the zero of a line through (p, a) and (q, b)."""
    place = p + a * (q - p) // (a - b)
    return place, place + 1


def _value(terms: Terms, const: int, x: Expr, place: int) -> int:
    """The value of a sum at x = place. It recurses at most `_DEPTH` times."""
    for unit, k in terms.items():
        value = place
        if unit is not x:
            assert isinstance(unit, Extremum)
            values = [_value(*terms_of(part), x, place) for part in unit._parts]
            value = max(values) if type(unit) is Max else min(values)
        const += k * value
    return const
