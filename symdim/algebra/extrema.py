"""Maximum and minimum in canonical form.

Laws used below, for integers (each is a `Law` in laws.py):

    flattening   k*max(a, b) + c = max(k*a + c, k*b + c)      k > 0
    shift        max(a + t, b + t) = max(a, b) + t
    content      max(g*a, g*b) = g*max(a, b)                  g > 0
    dominance    max(a, b) = a                                a - b >= 0 by bounds
    reflection   min(a, b) = -max(-a, -b)
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.expr import CACHE_SIZE, Max
from symdim.algebra.interning import find_unit, publish, sequence_fingerprint
from symdim.algebra.intervals import bounds_of, greatest, linear_bounds
from symdim.algebra.monomial import accumulate, terms_of
from symdim.algebra.order import dim_order, height_of, merged_names
from symdim.algebra.polynomial import checked, scale, sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr

    Terms = dict[Expr, int]
    Sum = tuple[Terms, int]

_maxima: dict[tuple[Dim, ...], Dim] = {}

_PAIRS = 16  # arguments are compared in pairs up to this many
_FLAT = 64  # a maximum with more arguments than this is not merged into another


def clear_memo() -> None:
    """Forget remembered maxima."""
    _maxima.clear()


def maximum(*dims: Dim) -> Dim:
    """The greatest of one or more dimensions.

    >>> from symdim import Var, maximum
    >>> N = Var("N")
    >>> maximum(N, 1), maximum(2 * N, 4), maximum(N - 3, 0)
    (N, 2*max(N, 2), max(N, 3) - 3)
    """
    if not dims:
        raise TypeError("maximum of no dimensions")
    key = tuple([checked(dim) for dim in dims])
    found = _maxima.get(key)
    if found is None:
        if len(_maxima) >= CACHE_SIZE:
            _maxima.clear()
        found = _maxima[key] = _maximum([_sum(dim) for dim in key])
    return found


def minimum(*dims: Dim) -> Dim:
    """The least of one or more dimensions.

    >>> from symdim import Var, minimum
    >>> N = Var("N")
    >>> minimum(N, 512), minimum(N, 4) + maximum(N, 4)
    (min(N, 512), N + 4)
    """
    if not dims:
        raise TypeError("minimum of no dimensions")
    return scale(maximum(*[scale(checked(dim), -1) for dim in dims]), -1)


def _sum(dim: Dim) -> Sum:
    terms, const = terms_of(dim)
    return dict(terms), const


def _flatten(sums: list[Sum]) -> list[Sum]:
    """The sums with each single `k*max(a, b) + rest`, k > 0, as `k*a + rest` and `k*b + rest`."""
    flat: list[Sum] = []
    for terms, const in sums:
        found = [unit for unit in terms if type(unit) is Max]
        if len(found) != 1 or terms[found[0]] < 0 or len(flat) + len(found[0].parts) > _FLAT:
            flat.append((terms, const))
            continue
        (inner,) = found
        k = terms.pop(inner)
        for part in inner.parts:
            part_terms, part_const = terms_of(part)
            expanded = dict(terms)
            accumulate(expanded, part_terms, k)
            flat.append((expanded, const + k * part_const))
    return flat


def _maximum(sums: list[Sum]) -> Dim:
    """The maximum of sums, whose dicts are taken over.

    Ends: a round that changes anything flattens a maximum into parts nested less deeply, or drops a sum.
    """
    shift: Terms = {}  # the result is shift + offset + factor * max(sums)
    offset, factor = 0, 1
    while True:
        count = len(sums)
        sums = _undominated(_distinct(_flatten(sums)))
        if len(sums) == 1:
            ((terms, const),) = sums
            accumulate(shift, terms, factor)
            return sum_of(shift, offset + factor * const)
        least: Terms = {}
        for unit in {unit: None for terms, _ in sums for unit in terms}:
            low = min([terms.get(unit, 0) for terms, _ in sums])
            if low:
                least[unit] = low
        low = min([const for _, const in sums])
        for terms, _ in sums:
            accumulate(terms, least, -1)
        sums = [(terms, const - low) for terms, const in sums]
        accumulate(shift, least, factor)
        offset += factor * low
        g = gcd(*[const for _, const in sums], *[k for terms, _ in sums for k in terms.values()])
        if not least and not low and g == 1 and len(sums) == count:
            break
        sums = [({unit: k // g for unit, k in terms.items()}, const // g) for terms, const in sums]
        factor *= g
    parts = sorted([sum_of(terms, const) for terms, const in sums], key=dim_order)
    accumulate(shift, {maximum_atom(tuple(parts)): factor})
    return sum_of(shift, offset)


def _distinct(sums: list[Sum]) -> list[Sum]:
    """One of each: for equal terms the one with the greatest constant, in structural order."""
    best: dict[Dim, int] = {}
    for terms, const in sums:
        key = sum_of(dict(terms), 0)
        best[key] = max(const, best.get(key, const))
    ordered = sorted(best, key=dim_order)
    return [(dict(terms_of(key)[0]), best[key]) for key in ordered]


def _undominated(sums: list[Sum]) -> list[Sum]:
    """Without the sums that another one exceeds for all values in the variables' bounds."""
    if len(sums) > _PAIRS:
        ranges = [bounds_of(sum_of(dict(terms), const)) for terms, const in sums]
        lows = [(lo, -i) for i, (lo, _) in enumerate(ranges) if lo is not None]
        if not lows:
            return sums
        floor, keeper = max(lows)
        return [s for i, s in enumerate(sums) if i == -keeper or ranges[i][1] is None or ranges[i][1] > floor]  # type: ignore[operator]
    kept: list[Sum] = []
    for terms, const in sums:
        dominated = False
        rivals: list[Sum] = []
        for other in kept:
            lo, hi = _difference(other, (terms, const))
            if lo is not None and lo >= 0:
                dominated = True
                break
            if hi is None or hi > 0:
                rivals.append(other)
        if not dominated:
            kept = [*rivals, (terms, const)]
    return kept


def _difference(a: Sum, b: Sum) -> tuple[int | None, int | None]:
    terms = dict(a[0])
    accumulate(terms, b[0], -1)
    if any(unit.height for unit in terms):
        return bounds_of(sum_of(terms, a[1] - b[1]))
    return linear_bounds(terms, a[1] - b[1])


def maximum_atom(parts: tuple[Dim, ...]) -> Expr:
    """The maximum of sorted, shifted and undominated dimensions as an atom."""
    fingerprint = sequence_fingerprint(2, parts)
    found = find_unit(fingerprint, Max, parts)
    if found is not None:
        return found
    node: Max = object.__new__(Max)
    node.terms = None
    node.const = 0
    node.parts = parts
    node.fingerprint = fingerprint
    node.height = 1 + max([height_of(part) for part in parts])
    node._bounds = greatest([bounds_of(part) for part in parts])
    node._names = merged_names(parts)
    node._order = node._named = node._text = None
    return publish(node)
