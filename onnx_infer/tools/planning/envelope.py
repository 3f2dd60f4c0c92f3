"""The maximum of many sizes as a short expression, for sums that change step by step (memory over a schedule)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symdim import Expr, maximum
from symdim.algebra.bounds import linear_bounds
from symdim.algebra.caches import shared_cache
from symdim.algebra.constructors.arithmetic import sum_of
from symdim.algebra.polynomials import accumulate, powers_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.values.tensor import Dim

MOST = 24
"""The most operands of an envelope's maximum."""
MOST_COMPARED = 256
"""The most sums of which none covers another that are compared with each further sum. 143 are the most in a real model.
"""

_SAMPLES = (1, 8, 64, 512, 4096)


class Envelope(NamedTuple):
    """An upper bound of several sizes: the maximum of `sizes`. If `exact`, it is their maximum at all values.

    `places`: for each size, the number of the first sum that has it; of a joined size, that of its largest part.
    """

    sizes: tuple[Dim, ...]
    exact: bool
    places: tuple[int, ...] = ()

    @property
    def size(self) -> Dim:
        """The maximum as one expression, at least 0."""
        return maximum(0, *self.sizes)


class Polynomial(NamedTuple):
    """A sum `const + coefficient * unit + ...` that is not interned, because most sums are never used again."""

    terms: dict[Expr, int]
    const: int

    def plus(self, dims: Iterable[Dim], factor: int = 1) -> Polynomial:
        """The sum with multiples of dimensions added."""
        terms, const = dict(self.terms), self.const
        for dim in dims:
            added, offset = terms_of(dim)
            accumulate(terms, added, factor)
            const += factor * offset
        return Polynomial(terms, const)

    def covers(self, other: Polynomial) -> bool:
        """Whether the intervals of the units prove that it is at least another sum.

        >>> from symdim import Var
        >>> zero, N = Polynomial({}, 0), Var("N")
        >>> zero.plus([3 * N]).covers(zero.plus([N, 2])), zero.plus([N]).covers(zero.plus([2]))
        (True, False)
        """
        gap = dict(self.terms)
        accumulate(gap, other.terms, -1)
        low = linear_bounds(gap, self.const - other.const)[0]
        return low is not None and low >= 0

    def at(self) -> list[int]:
        """About the values where every symbol is one of the samples: good enough to try the largest first."""
        degrees: dict[int, int] = {}
        for unit, k in self.terms.items():
            degree = _degree(unit)
            degrees[degree] = degrees.get(degree, 0) + k
        return [self.const + sum(k * sample**degree for degree, k in degrees.items()) for sample in _SAMPLES]

    @property
    def is_bounded(self) -> bool:
        """Whether each unit has a lower bound."""
        return all(unit.bounds()[0] is not None for unit in self.terms)

    def joined(self, other: Polynomial) -> Polynomial:
        """A sum that is at least both, of bounded ones: the larger coefficient of each unit, from its lower bound.

        >>> from symdim import Var
        >>> N, M = Var("N"), Var("M")
        >>> ZERO.plus([3 * N]).joined(ZERO.plus([N + 2 * M])).size
        2*M + 3*N - 2
        """
        units = self.terms | other.terms
        terms = {unit: max(self.terms.get(unit, 0), other.terms.get(unit, 0)) for unit in units}
        lows = {unit: unit.bounds()[0] or 0 for unit in units}
        least = max(sum_.const + sum(k * lows[unit] for unit, k in sum_.terms.items()) for sum_ in (self, other))
        return Polynomial({u: k for u, k in terms.items() if k}, least - sum(k * lows[u] for u, k in terms.items()))

    @property
    def size(self) -> Dim:
        """The dimension."""
        return sum_of(dict(self.terms), self.const)


ZERO = Polynomial({}, 0)


def envelope(sums: Iterable[Polynomial], most: int = MOST) -> Envelope:
    """The maximum of the sums that no other sum covers.

    If there are more than `most` of them, the sums that are largest for symbols of some magnitude stay. Each other sum
    is joined with the one that grows least. Then the result is only an upper bound. Sums with a unit without a lower
    bound stay as they are. If more than `MOST_COMPARED` sums cover none of the others, all further ones are joined into
    one, so the time is linear in the number of sums.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> envelope([ZERO.plus([d]) for d in (N + 1, 3 * N, N, 2 * N + 1, 100)])
    Envelope(sizes=(3*N, 100), exact=True, places=(1, 4))
    >>> envelope([ZERO.plus([d]) for d in (9 * N * N, N * N + 9, 7 * N + 9, 10)], most=2)
    Envelope(sizes=(9*N**2 + 1, 7*N + 9), exact=False, places=(0, 2))
    """
    place, front, is_whole = _uncovered(sums)
    if is_whole and len(front) <= most:
        return Envelope(tuple(sum_.size for sum_ in front), True, tuple(place[id(sum_)] for sum_ in front))
    ranked = _largest_first(front)
    signed = [sum_ for sum_ in ranked if not sum_.is_bounded]
    plain = [sum_ for sum_ in ranked if sum_.is_bounded]
    groups = plain[:most]
    places = tuple(place[id(sum_)] for sum_ in (*signed, *groups))
    values = [group.at() for group in groups]
    for sum_ in plain[most:]:
        joins = [group.joined(sum_) for group in groups]
        joined = [join.at() for join in joins]
        best = min(range(most), key=lambda i: _excess(joined[i], values[i]))
        groups[best], values[best] = joins[best], joined[best]
    return Envelope(tuple(sum_.size for sum_ in (*signed, *groups)), is_whole and len(plain) <= most, places)


def _largest_first(sums: Sequence[Polynomial]) -> list[Polynomial]:
    """The sums, sorted by the best rank of each over several magnitudes of symbols."""
    best = [len(sums)] * len(sums)
    for values in zip(*[sum_.at() for sum_ in sums], strict=True):
        order = sorted(range(len(sums)), key=lambda i: -values[i])
        for place, i in enumerate(order):
            best[i] = min(best[i], place)
    return [sums[i] for i in sorted(range(len(sums)), key=best.__getitem__)]


def _excess(larger: Sequence[int], smaller: Sequence[int]) -> float:
    """How much larger the values of a sum are than those of another one, as a ratio, at all samples."""
    return sum(a / max(b, 1) for a, b in zip(larger, smaller, strict=True))


def _uncovered(sums: Iterable[Polynomial]) -> tuple[dict[int, int], list[Polynomial], bool]:
    """The sums that no other covers, the largest first, the number of each by its id, and whether none are joined.

    The sum that covered the last one is compared first. So most sums take one comparison, and are not stored. If there
    are `MOST_COMPARED` sums, all further ones are joined, without any comparison. The number of the join is that of its
    largest part.
    """
    front: list[Polynomial] = []
    place: dict[int, int] = {}
    rest, largest, at = None, -1, 0
    for i, candidate in enumerate(sums):
        if len(front) >= MOST_COMPARED and candidate.is_bounded:
            rest = candidate if rest is None else rest.joined(candidate)
            largest, at = max((largest, at), (candidate.at()[-1], i), key=lambda pair: pair[0])
            continue
        cover = next((j for j, other in enumerate(front) if other.covers(candidate)), None)
        if cover is not None:
            front.insert(0, front.pop(cover))
            continue
        front = [candidate, *(other for other in front if not candidate.covers(other))]
        place[id(candidate)] = i
    if rest is not None:
        front.append(rest)
        place[id(rest)] = at
    return place, sorted(front, key=lambda s: (-s.at()[-1], place[id(s)])), rest is None


def _degree(unit: Expr) -> int:
    """The number of factors of a unit."""
    degree: int | None = _degrees.get(unit)
    if degree is None:
        degree = _degrees[unit] = sum(powers_of(unit).values())
    return degree


_degrees = shared_cache(1 << 14)
