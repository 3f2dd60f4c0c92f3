"""Maximum and minimum in canonical form.

The laws are in the table of the room. Distribution is left to the prover: `max(min(a, b), c)` stays as it is written.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd

from symdim.algebra.bounds import bounds_of, bounds_of_sum
from symdim.algebra.caches import remembered, shared_cache
from symdim.algebra.constructors import arithmetic, floordiv
from symdim.algebra.expr import CACHE_SIZE, Expr, Extremum, FloorDiv, Max, Min
from symdim.algebra.interning import find_unit, publish, sequence_fingerprint
from symdim.algebra.intervals import greatest, smallest
from symdim.algebra.order import dim_order, leading
from symdim.algebra.polynomials import EXTREMUM, accumulate, divides, has_extrema, new_atom, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Interval, Sum

    Kind = type[Extremum]

OTHER: dict[type[Extremum], type[Extremum]] = {Max: Min, Min: Max}

_known = shared_cache(CACHE_SIZE)
_PAIRS = 8  # the most arguments of which the differences are bounded
_ARGUMENTS = 24  # the most arguments that a nest may have to be rewritten, and of a maximum in a sum to be flattened
_MEANS = 6  # the most arguments that are compared in threes
_TERMS = 8  # the most terms beside a maximum or minimum that each argument takes in


def maximum(*dims: Dim) -> Dim:
    """The greatest of one or more dimensions."""
    return _remembered(Max, dims)


def minimum(*dims: Dim) -> Dim:
    """The least of one or more dimensions."""
    return _remembered(Min, dims)


def _remembered(kind: Kind, dims: tuple[Dim, ...]) -> Dim:
    if not dims:
        raise TypeError(f"{'maximum' if kind is Max else 'minimum'} of no dimensions")
    key = (kind, *[arithmetic.checked(dim) for dim in dims])
    result: Dim | None = _known.get(key)
    if result is None:
        result = _known[key] = extremum_of(kind, list(key[1:]))  # type: ignore[arg-type]
    return result


def extremum_of(kind: Kind, dims: list[Dim]) -> Dim:
    """The maximum or minimum of some dimensions."""
    return arithmetic.sum_of(*as_sum(kind, dims))


def as_sum(kind: Kind, dims: list[Dim]) -> Sum:
    """The maximum or minimum of some dimensions as a sum that is not canonical yet. The dict is the caller's.

    This ends: of the calls of it that follow, one by `_common` has fewer terms or fewer negative ones in its arguments,
    and one by `_shared` or `_absorbed` fewer arguments in the whole nest. A clamp is turned once.
    """
    parts = undominated(kind, _absorbed(kind, _flattened(kind, dims)))
    if len(parts) == 1:
        terms, const = terms_of(parts[0])
        return dict(terms), const
    if all(_is_negative(part) for part in parts if isinstance(part, Expr)):
        terms, const = as_sum(OTHER[kind], [arithmetic.scale(part, -1) for part in parts])
        return {unit: -k for unit, k in terms.items()}, -const
    (common, offset), g, rest = _common(parts)
    terms, const = as_sum(kind, rest) if _size(rest) < _size(parts) else _nest(kind, rest)
    accumulate(common, terms, g)
    return common, offset + g * const


def _nest(kind: Kind, parts: list[Dim]) -> Sum:
    """The maximum or minimum of shifted and undominated dimensions."""
    short = _clamp(kind, parts)
    if short is None:
        short = _shared(kind, parts)
    return ({extremum_atom(kind, tuple(sorted(parts, key=dim_order))): 1}, 0) if short is None else short


def _size(parts: list[Dim]) -> tuple[int, int]:
    """The number of terms in all parts, with the depths of their nesting, and that of negative terms."""
    sums = [terms_of(part)[0] for part in parts]
    return sum([1 + unit._height for terms in sums for unit in terms]), sum(
        [k < 0 for terms in sums for k in terms.values()]
    )


def _flattened(kind: Kind, dims: list[Dim]) -> list[Dim]:
    """The dimensions, with the arguments of an inner maximum (for a minimum, minimum) in place of it.

    A sum is replaced only as long as the arguments are few, because each argument takes up all its other terms.
    """
    flat: dict[Dim, None] = {}
    stack = dims[::-1]
    while stack:
        dim = stack.pop()
        if type(dim) is kind:
            stack += dim._parts[::-1]
            continue
        inner = arguments(dim)
        if inner is not None and inner[0] is kind and len(flat) + len(stack) + len(inner[1]) <= _ARGUMENTS:
            stack += inner[1][::-1]
        else:
            flat[dim] = None
    return list(flat)


def arguments(dim: Dim) -> tuple[Kind, list[Dim]] | None:
    """(kind, arguments) of a sum with one maximum or minimum as a term; None for others."""
    terms, const = terms_of(dim)
    if len(terms) > _TERMS + 1:
        return None
    units = [unit for unit in terms if isinstance(unit, Extremum)]
    if len(units) != 1:
        return None
    unit, k = units[0], terms[units[0]]
    if len(terms) == 1 == k and not const:
        return type(unit), list(unit._parts)
    rest = arithmetic.sum_of({u: c for u, c in terms.items() if u is not unit}, const)
    parts = [arithmetic.add(arithmetic.scale(part, k), rest) for part in unit._parts]
    return type(unit) if k > 0 else OTHER[type(unit)], parts


def _is_small(dim: Dim) -> bool:
    """Whether a nest has few arguments in all, and so a small depth."""
    count, stack = 0, [dim]
    while stack and count <= _ARGUMENTS:
        units = [unit for unit in terms_of(stack.pop())[0] if isinstance(unit, Extremum)]
        count += not units
        stack += [part for unit in units for part in unit._parts]
    return count <= _ARGUMENTS


def undominated(kind: Kind, leaves: list[Dim]) -> list[Dim]:
    """The leaves, without those that another one exceeds everywhere by the bounds of their difference."""
    numbers = [leaf for leaf in leaves if isinstance(leaf, int)]
    if len(numbers) > 1:
        best = max(numbers) if kind is Max else min(numbers)
        leaves = [*[leaf for leaf in leaves if not isinstance(leaf, int)], best]
    leaves = sorted(leaves, key=dim_order)
    if len(leaves) > _PAIRS:
        return _within_reach(kind, leaves)
    kept: list[Dim] = []
    for leaf in leaves:
        rivals: list[Dim] = []
        for other in kept:
            lo, hi = _difference(other, leaf) if kind is Max else _difference(leaf, other)
            if lo is not None and lo >= 0:
                break
            if hi is None or hi > 0:
                rivals.append(other)
        else:
            kept = [*rivals, leaf]
    return _without_means(kind, kept) if 3 <= len(kept) <= _MEANS else kept


def _without_means(kind: Kind, leaves: list[Dim]) -> list[Dim]:
    """The leaves, without those that are on no side of both of two others: an integer c <= (a + b + 1)/2."""
    sign = 1 if kind is Max else -1
    for leaf in reversed(leaves):
        others = [other for other in leaves if other is not leaf]
        for a, b in combinations(others, 2):
            least, _ = bounds_of_sum((a, sign), (b, sign), (leaf, -2 * sign))
            if least is not None and least >= -1:
                return _without_means(kind, others) if len(others) > 2 else others
    return leaves


def _within_reach(kind: Kind, leaves: list[Dim]) -> list[Dim]:
    """The same in linear time, with the interval of each leaf alone: those that the greatest lower end exceeds go."""
    if kind is Min:
        return [
            arithmetic.scale(leaf, -1) for leaf in _within_reach(Max, [arithmetic.scale(leaf, -1) for leaf in leaves])
        ]
    ends = [(lo, i) for i, leaf in enumerate(leaves) if (lo := bounds_of(leaf)[0]) is not None]
    least, place = max(ends, key=lambda end: (end[0], -end[1]), default=(None, 0))
    if least is None:
        return leaves
    return [leaf for i, leaf in enumerate(leaves) if i == place or (hi := bounds_of(leaf)[1]) is None or hi > least]


def exceeds(kind: Kind, a: Dim, b: Dim) -> bool:
    """Whether a >= b by bounds, or a <= b for a minimum."""
    lo, hi = _difference(a, b)
    return (lo is not None and lo >= 0) if kind is Max else (hi is not None and hi <= 0)


@remembered(8192)
def _difference(a: Dim, b: Dim) -> Interval:
    """The interval of a - b. It alone orders two arguments."""
    return bounds_of_sum((a, 1), (b, -1))


def _clamp(kind: Kind, parts: list[Dim]) -> Sum | None:
    """max(min(a, h), l) as min(max(a, l), h), for l <= h by bounds: a clamp has one form."""
    if kind is not Max or len(parts) != 2:
        return None
    for inner, low in (parts, parts[::-1]):
        nested = arguments(inner)
        if nested is not None and nested[0] is Min and len(nested[1]) == 2:
            for a, high in (nested[1], nested[1][::-1]):
                if exceeds(Max, high, low):
                    return as_sum(Min, [maximum(a, low), high])
    return None


def _absorbed(kind: Kind, parts: list[Dim]) -> list[Dim]:
    """min(y, max(z, min(x, y))) as min(y, max(z, x)): what is an argument already is not asked for again inside."""
    leaves, shorter = set(parts), []
    for part in parts:
        if isinstance(part, OTHER[kind]) and any(
            isinstance(a, kind) and not leaves.isdisjoint(a._parts) for a in part._parts
        ):
            inner: list[Dim] = []
            for a in part._parts:
                rest = [x for x in a._parts if x not in leaves] if isinstance(a, kind) else [a]
                if not rest:
                    break
                inner.append(extremum_of(kind, rest))
            else:
                shorter.append(extremum_of(OTHER[kind], inner))
        else:
            shorter.append(part)
    return shorter


def _shared(kind: Kind, parts: list[Dim]) -> Sum | None:
    """min(max(x, y), max(x, z)) as max(x, min(y, z)); None without a common argument."""
    other = OTHER[kind]
    nests = [part._parts for part in parts if isinstance(part, other)]
    common = [a for a in nests[0] if all(a in nest for nest in nests)] if len(nests) == len(parts) else []
    if not common:
        return None
    rests = [[a for a in nest if a not in common] for nest in nests]
    if not all(rests):
        return as_sum(other, common)
    return as_sum(other, [*common, extremum_of(kind, [extremum_of(other, rest) for rest in rests])])


def _is_negative(dim: Expr) -> bool:
    return all(k < 0 for k in terms_of(dim)[0].values())


def _common(parts: list[Dim]) -> tuple[Sum, int, list[Dim]]:
    """(s, g, rests) with part == s + g*rest. No unit is in all rests, and no rest of two has a negative term."""
    sums = [terms_of(part) for part in parts]
    if len(parts) == 2:
        (ones, const), (others, other_const) = sums
        gap = dict(ones)
        accumulate(gap, others, -1)
        plus, minus = {u: k for u, k in gap.items() if k > 0}, {u: -k for u, k in gap.items() if k < 0}
        offset = const - other_const
        ahead = offset if not plus else 0 if not minus else max(offset, 0)
        common = dict(ones)
        accumulate(common, plus, -1)
        base, rests = const - ahead, [(plus, ahead), (minus, ahead - offset)]
    else:
        common = {u: k for u, k in sums[0][0].items() if all(terms.get(u) == k for terms, _ in sums)}
        inner = [const for terms, const in sums if terms != common]
        base = min(inner, key=lambda c: (-inner.count(c), c)) if inner else 0
        rests = [({u: k for u, k in terms.items() if u not in common}, const - base) for terms, const in sums]
    g = gcd(*[number for terms, const in rests for number in (const, *terms.values())]) or 1
    divided = [arithmetic.sum_of({u: k // g for u, k in terms.items()}, const // g) for terms, const in rests]
    return (common, base), g, divided


def divided(n: Dim, d: Dim) -> Dim | None:
    """floor(n/d) for d >= 1 where n is a multiple of one maximum or minimum plus a rest; None for others.

    It is also None for an expression d that divides no argument: such a division stays as written.
    """
    inner = arguments(n) if _is_small(n) and not has_extrema(d) else None
    if inner is None:
        return None
    kind, parts = inner
    if not isinstance(d, int):
        lead = leading(terms_of(d)[0])
        if any(has_extrema(part) for part in parts):
            return None
        if not any(divides(lead, unit) for part in parts for unit in terms_of(part)[0]):
            return None
        quotients = [floordiv.floordiv(part, d) for part in parts]
        if all(isinstance(q, int) or any(type(u) is FloorDiv for u in terms_of(q)[0]) for q in quotients):
            return None
        return extremum_of(kind, quotients)
    return extremum_of(kind, [floordiv.floordiv(part, d) for part in parts])


def extremum_atom(kind: Kind, parts: tuple[Dim, ...]) -> Expr:
    """The maximum or minimum of sorted, shifted and undominated dimensions as an atom."""
    fingerprint = sequence_fingerprint(2 if kind is Max else 3, parts)
    live = find_unit(fingerprint, kind, parts)
    if live is not None:
        return live
    ranges = [bounds_of(part) for part in parts]
    bounds = greatest(ranges) if kind is Max else smallest(ranges)
    return publish(new_atom(kind, parts, fingerprint, bounds, EXTREMUM))
