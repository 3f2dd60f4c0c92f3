"""The interval of an expression: the one engine for it.

`by_parts` gives the interval of a node from those of its parts, which here are the parts' own (`bounds_of`), and in a
store those that its constraints imply. A sum has better ends where its terms depend on each other. Three laws see that:

    products    multiplied out from the least values of their factors, `H*W - H` is not negative (corners.py)
    divisions   (n - d + 1)/d <= floor(n/d) <= n/d, for d >= 1, in place of one that shares a unit with the rest
    extrema     s + max(a, b) is s + a or s + b: it is at least the lesser of their lower bounds
                s - max(a, b) is at most s - a and s - b, and s + max(a, b) is at least s + a and s + b

The same holds for minima, and for multiples by a factor that is not negative. Then terms cancel: `n//8 - n//16` is not
negative where n is not, `x - 4*(x//4)` is in 0..3, and `min(x, y) - x` is not positive.

What stays beside this engine has other ends, or less time:

    store/intervals.py           the other way: from the interval of a size to those of its variables
    relations/monotone.py        how an expression grows from x to x + 1
    guarantee.py                 ends that are expressions of known sizes, for buffers
    texts/remainders.py          `n % d` from the terms of n and d, before it is an expression
    dialects/floats.py           ends that are floats, with sizes that cancel in a quotient

The number of sums that are bounded is counted. Atoms have their interval from the start, and sums that are factors
get it before the products that they are in. So nothing recurses on an expression.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra import corners
from symdim.algebra.application import Application
from symdim.algebra.caches import remembered
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max
from symdim.algebra.intervals import greatest, meet, multiply, power, quotient, smallest, unscaled
from symdim.algebra.order import leading, named_fingerprint, order
from symdim.algebra.polynomials import EXTREMUM, accumulate, divides, exact_quotient, powers_of, terms_of
from symdim.algebra.polynomials import times as times_unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from symdim.algebra.expr import Dim, Interval, Sum, Terms

    Relaxed = tuple[Terms, int, int]  # (terms, const, scale): the sum is at most `scale` times the given one
    Division = tuple[Expr, FloorDiv, Expr | None]  # a unit, the division in it, and the other factors
    Place = tuple[Expr, Extremum, Expr | None]  # a unit, the maximum or minimum in it, and the other factors

_SUMS = 8  # the most sums, with arguments in place of extrema, bounded for one end of an interval
_REPLACED = 12  # the most divisions that are replaced
_TERMS = 32  # the most terms of a sum
_DEPTH = 3  # how deep in an atom units are looked for


def bounds_of(dim: Dim) -> Interval:
    """An interval that contains the value for all values in the variables' bounds.

    >>> from symdim import Var
    >>> N = Var.fresh("N", 1, 10)
    >>> bounds_of(2 * N - 1), bounds_of(N % 4), bounds_of((N - 20) // 3)
    ((1, 19), (0, 3), (-7, -4))
    """
    if isinstance(dim, int):
        return dim, dim
    known = dim._bounds
    if known is not None:
        return known
    stack = [dim]
    while stack:
        missing = _factors_without_bounds(stack[-1]) if stack[-1]._height else ()
        if missing:
            stack += missing
        else:
            node = stack.pop()
            node._bounds = _of_product(node) if node._terms is None else _of_sum(node._terms, node._const)
    return dim._bounds  # type: ignore[return-value]


def bounds_of_sum(*parts: tuple[Dim, int]) -> Interval:
    """The interval of a sum of dimensions, each times a number, as it stands. No expression is made.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> bounds_of_sum((2 * N + 3, 1), (N, -1))
    (4, None)
    """
    terms: Terms = {}
    const = 0
    for dim, k in parts:
        more, offset = terms_of(dim)
        accumulate(terms, more, k)
        const += k * offset
    return _of_sum(terms, const)


def _factors_without_bounds(node: Expr) -> list[Expr]:
    """The sums that are factors of a product, or of the terms of a sum, and have no interval yet."""
    units = [node] if node._terms is None else [unit for unit in node._terms if unit._height and unit._bounds is None]
    return [atom for unit in units for atom in powers_of(unit) if atom._terms is not None and atom._bounds is None]


def by_parts(node: Expr, of: Callable[[Dim], Interval]) -> Interval:
    """The interval of a node that is no variable, from those of its parts alone."""
    if node._terms is not None:
        return linear_bounds(node._terms, node._const, of)
    if isinstance(node, FloorDiv):
        return quotient(*map(of, node._parts))
    if isinstance(node, Extremum):
        return (greatest if isinstance(node, Max) else smallest)(list(map(of, node._parts)))
    if isinstance(node, Application):
        return node.function.bounds(list(map(of, node._parts)))
    result: Interval = (1, 1)
    for atom, exponent in powers_of(node).items():
        result = multiply(result, of(atom) if exponent == 1 else power(of(atom), exponent))
    return result


def _of_sum(terms: Terms, const: int) -> Interval:
    interval = linear_bounds(terms, const)
    if not 2 <= len(terms) <= _TERMS or not (corners.is_correlated(terms) or any(unit._height for unit in terms)):
        return interval
    common = gcd(*terms.values())
    lo, minus_hi = [_lower_end({unit: k // part for unit, k in terms.items()}, 0) for part in (common, -common)]
    return meet(
        interval,
        (None if lo is None else const + common * lo, None if minus_hi is None else const - common * minus_hi),
    )


def linear_bounds(terms: dict[Expr, int], const: int, of: Callable[[Dim], Interval] | None = None) -> Interval:
    """The interval of a sum, term by term; `of` gives those of the terms, by default `bounds_of`."""
    lo: int | None = const
    hi: int | None = const
    for unit, coefficient in terms.items():
        least, most = (unit._bounds or bounds_of(unit)) if of is None else of(unit)
        if coefficient < 0:
            least, most = most, least
        lo = None if lo is None or least is None else lo + coefficient * least
        hi = None if hi is None or most is None else hi + coefficient * most
        if lo is None and hi is None:
            break
    return lo, hi


def _lower_end(terms: Terms, const: int, sums: int = _SUMS) -> int | None:
    """A lower bound of a sum, from the bounds of at most `sums` sums with an argument in place of each extremum."""
    known = _end_of_terms(terms, const)
    if not 2 <= len(terms) <= _TERMS:
        return known
    place = _shared_extremum(terms, sums)
    if place is not None:
        known = _greater(known, _end_by_arguments(terms, const, place, sums))
        if sums < _SUMS:
            return known
    lower: Relaxed | None = None
    for lower in _without_divisions(terms, const):
        known = _greater(known, unscaled((linear_bounds(*lower[:2])[0], None), lower[2])[0])
    if lower is not None:
        terms, const, scale = lower
        place = _shared_extremum(terms, sums)
        end = _end_of_terms(terms, const) if place is None else _end_by_arguments(terms, const, place, sums)
        known = _greater(known, unscaled((end, None), scale)[0])
    return known


def _end_of_terms(terms: Terms, const: int) -> int | None:
    known, _ = linear_bounds(terms, const)
    return _greater(known, corners.lower_end(terms, const, bounds_of)) if corners.is_correlated(terms) else known


def _end_by_arguments(terms: Terms, const: int, place: Place, sums: int) -> int | None:
    """A lower bound of a sum from those of the sums with an argument in place of an extremum, or the exact one."""
    unit, atom, factor = place
    ends: list[int] = []
    for part in atom._parts:
        rest = {u: k for u, k in terms.items() if u is not unit}
        offset = const + _accumulated(rest, terms_of(part), terms[unit], factor)
        end = _lower_end(rest, offset, sums // len(atom._parts))
        if end is not None:
            ends.append(end)
    if _each_counts(place, terms):
        return max(ends, default=None)
    return min(ends) if len(ends) == len(atom._parts) else None


def _greater(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else max(a, b)


def _accumulated(total: Terms, part: Sum, k: int, factor: Expr | None) -> int:
    """Add `k * factor * part` to terms in place. The constant that is to be added besides."""
    terms, const = part
    accumulate(total, terms, k, factor)
    if factor is None:
        return k * const
    if const:
        accumulate(total, {factor: k * const})
    return 0


def _without_divisions(terms: Terms, const: int) -> Iterator[Relaxed]:
    """Sums with bounds in place of more and more divisions. The most nested one goes first: it brings in others."""
    total, scale = terms, 1
    for _ in range(_REPLACED):
        places = [place for unit in total if unit._height and (place := _division_in(unit, total)) is not None]
        if not places:
            break
        if len(places) > 1:
            places.sort(key=lambda place: (place[1]._height, named_fingerprint(place[0])))
        unit, atom, factor = places[-1]
        n, d = atom._parts
        d_terms, d_const = terms_of(d)
        by = d_terms[leading(d_terms)] if d_terms else d_const
        k = total[unit] * abs(by) // by
        total = {u: abs(by) * c for u, c in total.items()}
        const, scale = const * abs(by), scale * abs(by)
        if d_terms:
            const += _accumulated(total, (d_terms, d_const), -k, times_unit(atom, factor))
        else:
            del total[unit]
        const += _accumulated(total, terms_of(n), k, factor)
        if k > 0:
            const += _accumulated(total, (d_terms, d_const - 1), -k, factor)
        yield total, const, scale


def _division_in(unit: Expr, terms: Terms) -> Division | None:
    """A division in a unit that a bound may replace, because the sum has the terms that it meets; None without one."""
    if type(unit) is FloorDiv and type(unit._parts[1]) is int:
        return unit, unit, None
    for place, all_of, any_of in _divisions_in(unit):
        if all(u in terms for u in all_of) and (any_of is None or any(u in terms for u in any_of)):
            return place
    return None


@remembered(2048)
def _divisions_in(unit: Expr) -> list[tuple[Division, list[Expr | None], list[Expr | None] | None]]:
    """The divisions in a unit by a positive divisor with a factor that is not negative, and the terms that each needs.

    A divisor that is never negative counts as positive. If it is an expression, all its terms must stand in the sum,
    and beside another factor, a term of the numerator.
    """
    divisions: list[tuple[Division, list[Expr | None], list[Expr | None] | None]] = []
    for atom in powers_of(unit):
        if not isinstance(atom, FloorDiv):
            continue
        factor = exact_quotient(unit, atom)
        n, d = atom._parts
        all_of: list[Expr | None] = []
        if isinstance(d, Expr):
            units = terms_of(d)[0]
            lead = leading(units)
            if not divides(lead, factor) or not _is_not_negative(d):
                continue
            factor = exact_quotient(factor, lead)
            all_of = [times_unit(u, times_unit(atom, factor)) for u in units]
        if factor is None:
            divisions.append(((unit, atom, None), all_of, None))
        elif _is_not_negative(factor):
            divisions.append(((unit, atom, factor), all_of, [times_unit(u, factor) for u in terms_of(n)[0]]))
    return divisions


def _is_not_negative(node: Expr) -> bool:
    lo, _ = bounds_of(node)
    return lo is not None and lo >= 0


def _shared_extremum(terms: Terms, sums: int) -> Place | None:
    """The maximum or minimum to replace, of those that have a unit in common with the rest of the sum.

    Those of which all arguments count go first, because a good argument of another one may depend on them.
    """
    if sums < 2 or len(terms) < 2:
        return None
    places: list[tuple[Place, set[Expr | None]]] = []
    for unit in terms:
        if unit._flags & EXTREMUM:
            atom = next(atom for atom in powers_of(unit) if isinstance(atom, Extremum))
            factor = exact_quotient(unit, atom)
            if factor is None:
                places.append(((unit, atom, None), _within(atom)))
            elif _is_not_negative(factor):
                inner = {factor, *[times_unit(u, factor) for u in _within(atom)]}
                places.append(((unit, atom, factor), inner))
    shared = [
        place
        for place, inner in places
        if len(place[1]._parts) <= sums
        and (
            any(unit in terms for unit in inner)
            or any(not inner.isdisjoint(other) for theirs, other in places if theirs is not place)
        )
    ]
    return min(shared, key=lambda place: (_each_counts(place, terms), order(place[0])), default=None)


def _each_counts(place: Place, terms: Terms) -> bool:
    """Whether a sum is at least the same sum with any argument in place of this maximum or minimum."""
    unit, atom, _ = place
    return (type(atom) is Max) == (terms[unit] > 0)


@remembered(2048)
def _within(atom: Extremum) -> set[Expr | None]:
    """The units inside of a maximum or minimum, down to a depth of `_DEPTH`. Callers must not change the set."""
    inner_units: set[Expr | None] = set()
    level: list[Extremum] = [atom]
    for _ in range(_DEPTH):
        units = [unit for inner in level for part in inner._parts for unit in terms_of(part)[0]]
        inner_units.update(units)
        inner_units.update([u for unit in units if type(unit) is FloorDiv for u in terms_of(unit._parts[0])[0]])
        level = [unit for unit in units if isinstance(unit, Extremum)]
    return inner_units


def _of_product(unit: Expr) -> Interval:
    result = by_parts(unit, bounds_of)
    for atom in powers_of(unit) if unit._height else ():
        if type(atom) is FloorDiv:
            n, d = atom._parts
            if type(d) is not int and exact_quotient(unit, atom) is d:
                result = meet(result, _rounded_down(n, d))
    return result


def _rounded_down(n: Dim, d: Dim) -> Interval:
    """The interval of n//d*d, which is n - n % d, for d >= 1; a divisor that is never negative counts as positive."""
    least, most = bounds_of(d)
    if least is None or least < 0:
        return None, None
    lo, hi = bounds_of(n)
    ends = [0] if lo is not None and lo >= 0 else []
    if lo is not None and most is not None:
        ends.append(lo - most + 1)
    return max(ends, default=None), hi
