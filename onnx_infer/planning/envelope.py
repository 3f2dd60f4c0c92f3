"""The maximum of many sizes as a short expression, of sums that grow and shrink as the memory over a schedule does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from symdim import Expr, maximum
from symdim.bounds import linear_bounds
from symdim.monomial import accumulate, powers_of, terms_of
from symdim.polynomial import sum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_infer.tensor import Dim

MOST = 24
"""The most operands of an envelope's maximum."""

_SAMPLES = (1, 8, 64, 512, 4096)


class Envelope(NamedTuple):
    """A size that is at least each of several sizes; `exact` where it is their maximum."""

    size: Dim
    exact: bool


class Polynomial(NamedTuple):
    """A sum `const + coefficient * unit + ...` outside of the table of expressions: most are never looked at again."""

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
        """Whether it is at least another one, as the intervals of the units tell.

        >>> from symdim import Var
        >>> zero, N = Polynomial({}, 0), Var("N")
        >>> zero.plus([3 * N]).covers(zero.plus([N, 2])), zero.plus([N]).covers(zero.plus([2]))
        (True, False)
        """
        gap = dict(self.terms)
        accumulate(gap, other.terms, -1)
        low = linear_bounds(gap, self.const - other.const)[0]
        return low is not None and low >= 0

    def at(self, sample: int) -> int:
        """About the value where every symbol is `sample`: good enough to try the largest first."""
        return self.const + sum(k * int(sample ** _degree(unit)) for unit, k in self.terms.items())

    @property
    def size(self) -> Dim:
        """The dimension."""
        return sum_of(dict(self.terms), self.const)


ZERO = Polynomial({}, 0)


def envelope(sums: Iterable[Polynomial], most: int = MOST) -> Envelope:
    """The maximum of the sums that no other one covers.

    Where these are more than `most`, those that are largest for symbols of some magnitude stay, and one sum stands for
    all others together: the larger coefficient of each unit. The size is an upper bound then.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> envelope([ZERO.plus([d]) for d in (N + 1, 3 * N, N, 2 * N + 1, 100)])
    Envelope(size=max(3*N, 100), exact=True)
    >>> envelope([ZERO.plus([d]) for d in (N * N, 5 * N + 1, 9 * N, 50)], most=2)
    Envelope(size=max(N**2, 9*N + 50), exact=False)
    """
    front = _uncovered(list(sums))
    if len(front) <= most:
        return Envelope(maximum(0, *(sum_.size for sum_ in front)), True)
    kept: dict[int, Polynomial] = {}
    for sample in reversed(_SAMPLES):
        best = max(range(len(front)), key=lambda i: front[i].at(sample))
        if len(kept) < most - 1:
            kept[best] = front[best]
    rest = [sum_ for i, sum_ in enumerate(front) if i not in kept]
    sizes = [sum_.size for sum_ in (*(kept[i] for i in sorted(kept)), *_joined(rest))]
    return Envelope(maximum(0, *sizes), len(rest) == 1)


def _uncovered(sums: Sequence[Polynomial]) -> list[Polynomial]:
    """The sums that no other covers, the largest first."""
    distinct = {(frozenset(s.terms.items()), s.const): s for s in sums}
    front: list[Polynomial] = []
    for candidate in sorted(distinct.values(), key=lambda s: s.at(_SAMPLES[-1]), reverse=True):
        if not any(other.covers(candidate) for other in front):
            front = [other for other in front if not candidate.covers(other)]
            front.append(candidate)
    return front


def _joined(sums: Sequence[Polynomial]) -> list[Polynomial]:
    """One sum that covers all where no unit is negative; those with units that may be are left as they are."""
    signed = [s for s in sums if any((unit.bounds()[0] or 0) < 0 or unit.bounds()[0] is None for unit in s.terms)]
    plain = [s for s in sums if s not in signed]
    terms: dict[Expr, int] = {}
    for sum_ in plain:
        for unit in sum_.terms:
            most = max(other.terms.get(unit, 0) for other in plain)
            if most:
                terms[unit] = most
    return [*signed, Polynomial(terms, max(s.const for s in plain))] if plain else signed


def _degree(unit: Expr) -> int:
    """The number of factors of a unit."""
    return sum(powers_of(unit).values())
