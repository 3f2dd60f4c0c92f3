"""Parts of a numerator that are too small to change its quotient.

    interval     floor((g*a + b)/(g*d)) = floor((a + q)/d)          q <= b/g < q + 1 by intervals
    remainder    floor((g*a + j*(p % m))/(g*d)) = floor(a/d)        g = j*m

So `(4*i + j)//8` with j in 0..3 is `i//2`, and `(4*i + j % 4)//8` is too, whatever j is. Both laws need d >= 1.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds.intervals import bounds_of, linear_bounds
from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import order
from symdim.algebra.sums.monomial import accumulate, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Expr, Terms


def without_small_parts(terms: Terms, const: int, c: int) -> tuple[Terms, int, int] | None:
    """(m, r, g) with floor((terms + const)/(c*d)) == floor((m + r)/(c//g*d)) for all d >= 1; None without small parts.

    >>> from symdim import Var
    >>> i, j = Var("i"), Var.fresh("j", 0, 3)
    >>> without_small_parts({i: 4, j: 1}, 0, 8)
    ({i: 1}, 0, 4)
    """
    bounded = quotients = False
    for unit in terms:
        bounded = bounded or (unit._bounds or bounds_of(unit))[1] is not None
        quotients = quotients or type(unit) is FloorDiv
    found = without_bounded_parts(terms, const, c) if bounded else None
    return _without_remainders(terms, const, c) if found is None and quotients else found


def without_bounded_parts(terms: Terms, const: int, c: int) -> tuple[Terms, int, int] | None:
    """The same by the law of intervals. g begins at c, and falls until all units with many values are multiples."""
    g = c
    bounded: dict[Expr, int] = {}  # unit -> the difference of its bounds
    for unit, k in terms.items():
        lo, hi = unit._bounds or bounds_of(unit)
        if lo is not None and hi is not None and hi - lo < c:
            if k % c:
                bounded[unit] = hi - lo
        elif k % g:
            g = gcd(g, k)
            if g == 1:
                return None
    while True:
        small = {unit: r for unit in bounded if (r := nearest_residue(terms[unit], g))}
        if not small:
            return None
        lo, hi = linear_bounds(small, const)
        assert lo is not None
        assert hi is not None
        if lo // g == hi // g:
            return _divided(terms, small, g), lo // g, g
        widest = max(small, key=lambda unit: (abs(small[unit]) * bounded[unit], order(unit)))
        g = gcd(g, terms[widest])


def _without_remainders(terms: Terms, const: int, c: int) -> tuple[Terms, int, int] | None:
    """The same by the law of remainders: floor(b/g) cancels a division with the coefficient -g, modulo c."""
    for unit, k in terms.items():
        if type(unit) is not FloorDiv or not k % c:
            continue
        g = abs(nearest_residue(k, c))
        if g <= 1 or c % g:
            continue
        small = {u: r for u, coefficient in terms.items() if (r := nearest_residue(coefficient, g))}
        found = _as_multiple(unit, small, const, g) if small else None
        if found is None:
            continue
        own, offset = found
        rest = _divided(terms, small, g)
        accumulate(rest, own)
        if rest.get(unit, 0) % (c // g) == 0:
            return rest, offset, g
    return None


def _as_multiple(atom: FloorDiv, terms: Terms, const: int, g: int) -> tuple[Terms, int] | None:
    """floor((terms + const)/g) as a sum, where it is the atom, the other half or -1 - atom, and a number; else None."""
    inner, m = terms_of(atom.parts[0]), atom.parts[1]
    content = gcd(g, *terms.values())
    if g // content != m or len(terms) != len(inner[0]):
        return None
    for sign in (1, -1):
        if all(inner[0].get(unit) == sign * k // content for unit, k in terms.items()):
            q, r = divmod((const // content if sign == 1 else -1 - const // content) - inner[1], m)
            if r == 0:
                return {atom: sign}, q if sign == 1 else -1 - q
            if m == 2 and sign == 1:  # (x + 1)//2 = x - x//2
                return {**inner[0], atom: -1}, q + inner[1]
    return None


def _divided(terms: Terms, small: Terms, g: int) -> Terms:
    return {unit: k // g for unit, coefficient in terms.items() if (k := coefficient - small.get(unit, 0))}


def nearest_residue(k: int, c: int) -> int:
    """The r with r == k modulo c in (-c/2, c/2]."""
    r = k % c
    return r - c if 2 * r > c else r
