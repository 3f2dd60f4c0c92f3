"""Leaves between two others: `min(x, 16, (x + 16)//2)` is `min(x, 16)`.

Law, for integers and numbers p, q >= 1: a maximum is an integer that is at least each mean of its arguments, and a
minimum is at most that, so

    max(a, b, m) = max(a, b)    if p*(a - m) + q*(b - m) >= 1 - (p + q)
    min(a, b, m) = min(a, b)    if p*(a - m) + q*(b - m) <= (p + q) - 1

The sum must not grow with any variable, and this gives p and q: with the slopes s of a - m and -t of b - m they are t
and s, without common factors. The slope of n//c is that of n/c. Then the interval of the sum decides.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import bounds_of
from symdim.algebra.caches import remembered
from symdim.algebra.constructors import arithmetic
from symdim.algebra.expr import FloorDiv, Max
from symdim.algebra.polynomials import accumulate, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.constructors.lattice import Kind
    from symdim.algebra.expr import Dim, Terms

_LEAVES = 6  # the most leaves that are compared in threes
_STEPS = 8  # the most divisions of a sum whose slopes are found


def is_needless(kind: Kind, leaf: Dim, others: Sequence[Dim]) -> bool:
    """Whether a maximum (minimum) of the others is at least (at most) this leaf, because two of them are.

    >>> from symdim import Var
    >>> from symdim.algebra.expr import Min
    >>> x = Var("x")
    >>> is_needless(Min, (x + 16) // 2, [x, 16]), is_needless(Min, (x + 16) // 2 - 1, [x, 16])
    (True, False)
    """
    if not 2 <= len(others) < _LEAVES:
        return False
    return any(_is_between(kind, leaf, a, b) for i, a in enumerate(others) for b in others[i + 1 :])


def without_needless(kind: Kind, leaves: list[Dim]) -> list[Dim]:
    """The leaves of a maximum or minimum without those between two others."""
    for leaf in leaves if len(leaves) <= _LEAVES else ():
        rest = [other for other in leaves if other is not leaf]
        if is_needless(kind, leaf, rest):
            leaves = rest
    return leaves


@remembered(4096)
def _is_between(kind: Kind, leaf: Dim, a: Dim, b: Dim) -> bool:
    above, beyond = arithmetic.subtract(a, leaf), arithmetic.subtract(b, leaf)
    return any(_is_mean(kind, above, beyond, p, q) for p, q in _weights(above, beyond))


def _is_mean(kind: Kind, a: Dim, b: Dim, p: int, q: int) -> bool:
    """Whether p*a + q*b has the sign of the law."""
    terms, const = terms_of(a)
    others, other_const = terms_of(b)
    total: Terms = {}
    accumulate(total, terms, p)
    accumulate(total, others, q)
    lo, hi = bounds_of(arithmetic.sum_of(total, p * const + q * other_const))
    if kind is Max:
        return lo is not None and lo > -(p + q)
    return hi is not None and hi < p + q


def _weights(a: Dim, b: Dim) -> list[tuple[int, int]]:
    """The pairs (p, q) for which p*a + q*b does not grow with one of the units that a and b have in common."""
    (slopes, scale), (others, other_scale) = _slopes(a), _slopes(b)
    found: list[tuple[int, int]] = []
    for unit, k in slopes.items():
        other = others.get(unit, 0)
        if k * other < 0:
            p, q = abs(other) * scale, abs(k) * other_scale
            g = gcd(p, q)
            found.append((p // g, q // g))
    return list(dict.fromkeys(found))


def _slopes(dim: Dim) -> tuple[Terms, int]:
    """(terms, s): the sum without rounding is `terms/s` and a constant."""
    terms, scale = dict(terms_of(dim)[0]), 1
    for _ in range(_STEPS):
        division = next((unit for unit in terms if type(unit) is FloorDiv and type(unit._parts[1]) is int), None)
        if division is None:
            break
        n, c = division._parts
        assert isinstance(c, int)
        k = terms.pop(division)
        terms = {unit: c * slope for unit, slope in terms.items()}
        accumulate(terms, terms_of(n)[0], k)
        scale *= c
    return terms, scale
