"""Numerators: what is taken out of one, or merged with it, before it is divided.

Small parts, which cannot change the quotient by g*d, for d >= 1:

    interval      floor((g*a + b)/(g*d)) = floor((a + q)/d)            q <= b/g < q + 1 by intervals

So `(4*i + j)//8` with j in 0..3 is `i//2`.

Nested divisions, which become one, for d, a >= 1:

    nesting       floor((floor(m/a) + r)/d) = floor((m + a*r)/(a*d))
    reflection    -floor(m/a) = floor((a - 1 - m)/a)

Multiples of a divisor, which are split off. The short form of a sum with maxima, minima or halves may hide a multiple:
`4*x - 3*max(x, 0)` is `x + 3*min(x, 0)`. So numerator and divisor are divided in the basis of basis.py. The remainder r
is the same for all numerators that differ by multiples of d. Of r and its like (r - d, r + d, r with another twin) the
one with the fewest terms is left. So `min(x, y)//max(x, y)` and `min(x, y)//x` stay.

Opposite forms, of which one is held: n//d and -1 - (-1 - n)//d, and n//d and (-n)//(-d). The first term of the basis
decides: a sum and its negative have the same terms there, in their short forms perhaps not.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import bounds_of, linear_bounds
from symdim.algebra.constructors import arithmetic, basis, long_division, shortening
from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import leading, order
from symdim.algebra.polynomials import HALF, HAS_LAWS, PAIR, accumulate, divides, has_laws, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from symdim.algebra.expr import Dim, Expr, Sum, Terms

_TERMS = 64  # the most terms of a merged numerator or divisor


def without_small_parts(terms: Terms, const: int, c: int) -> tuple[Terms, int, int] | None:
    """(m, r, g) with floor((terms + const)/(c*d)) == floor((m + r)/(c//g*d)) for all d >= 1; None without small parts.

    g begins at c, and falls until all units with many values are multiples of it.

    >>> from symdim import Var
    >>> i, j = Var("i"), Var.fresh("j", 0, 3)
    >>> without_small_parts({i: 4, j: 1}, 0, 8)
    ({i: 1}, 0, 4)
    """
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


def _divided(terms: Terms, small: Terms, g: int) -> Terms:
    return {unit: k // g for unit, coefficient in terms.items() if (k := coefficient - small.get(unit, 0))}


def nearest_residue(k: int, c: int) -> int:
    """The r with r == k modulo c in (-c/2, c/2]."""
    r = k % c
    return r - c if 2 * r > c else r


def merged_by_expression(terms: Terms, const: int, d: Expr) -> tuple[Dim, Dim] | None:
    """(n, e) with floor(n/e) == floor((terms + const)/d) for d >= 1, by the laws of nested divisions."""
    d_terms, d_const = terms_of(d)
    content = gcd(d_const, *d_terms.values())
    if content > 1:
        g = gcd(content, *terms.values())
        if g > 1:
            return long_division.divided(terms, const // g, g), long_division.divided(d_terms, d_const // g, g)
        simpler = without_small_parts(terms, const, content)
        if simpler is not None:
            rest, offset, g = simpler
            return arithmetic.sum_of(rest, offset), long_division.divided(d_terms, d_const // g, g)
    inner = mergeable(terms)
    if inner is None:
        return None
    n, a = merged(terms, const, inner)
    divisor = arithmetic.multiply(a, d)
    if max(len(terms_of(n)[0]), len(terms_of(divisor)[0])) > _TERMS:
        return None
    return n, divisor


def mergeable(terms: Terms) -> FloorDiv | None:
    """The first division by a positive divisor that is a term with the coefficient 1 or -1."""
    found: list[FloorDiv] = []
    for unit, k in terms.items():
        if type(unit) is FloorDiv and (k == 1 or k == -1):
            d = unit._parts[1]
            lo = d if isinstance(d, int) else bounds_of(d)[0]
            if lo is not None and lo >= 0:
                found.append(unit)
    if len(found) > 1:
        return min(found, key=order)
    return found[0] if found else None


def numerator_of(inner: FloorDiv, a: int, k: int) -> tuple[Terms, int]:
    """m with floor(m/a) == k * inner for k = 1 or -1, since -floor(m/a) = floor((a - 1 - m)/a)."""
    terms, const = terms_of(inner._parts[0])
    return (dict(terms), const) if k == 1 else ({unit: -c for unit, c in terms.items()}, a - 1 - const)


def merged(terms: Terms, const: int, inner: FloorDiv) -> tuple[Dim, Dim]:
    """(n, a) with floor((terms + const)/d) == floor(n/(a*d)) for all d >= 1. The division `inner` is gone from n."""
    numerator, a = inner._parts
    if terms[inner] == -1:
        numerator = arithmetic.subtract(arithmetic.subtract(a, 1), numerator)
    rest = arithmetic.sum_of({unit: k for unit, k in terms.items() if unit is not inner}, const)
    return arithmetic.add(numerator, arithmetic.multiply(a, rest)), a


def is_whole(unit: Expr, k: int, rest: Terms, c: int) -> bool:
    """Whether `rest` has, in the basis and modulo c, the divisions of `k*unit` with the same coefficients."""
    own, _ = basis.in_basis({unit: k}, 0)
    return all((rest.get(u, 0) - x) % c == 0 for u, x in own.items() if type(u) is FloorDiv)


def remainder_in(rest: Terms, divisions: list[FloorDiv], c: int) -> tuple[bool, Terms] | None:
    """(False, terms) if `rest` is, modulo c, the terms of a remainder m % a; (True, terms) if `-rest` is; else None."""
    for unit in sorted(divisions, key=lambda u: (-u._height, order(u))) if len(divisions) > 1 else divisions:
        m, a = unit._parts
        if isinstance(a, int) and len(rest) > 1:
            core, _ = basis.in_basis(*terms_of(m))
            core = dict(core)
            accumulate(core, {unit: -a})
            units = [u for u, k in core.items() if k % c]
            if len(units) == len(rest) and all(u in rest for u in units):
                for turned in (False, True):
                    if all((core[u] + rest[u] if turned else core[u] - rest[u]) % c == 0 for u in units):
                        return turned, core
    return None


def without_multiples(n: Dim, d: Expr) -> tuple[Dim, Dim]:
    """(q, r) with n == q*d + r, where r is the same for all n that differ by a multiple of d.

    >>> from symdim import Var, minimum
    >>> x, y = Var("x"), Var("y")
    >>> x + 3 * minimum(x, y), without_multiples(x + 3 * minimum(x, y), minimum(x, y))
    (x + 3*min(x, y), (3, x))
    """
    if not has_laws(d):
        q, r = long_division.long_division(n, d)
        if r == 0 or not has_laws(n):
            return q, r
    divisor = basis.in_basis(*terms_of(d))
    with_laws = {unit: k for unit, k in divisor[0].items() if unit._flags & HAS_LAWS}
    lead = leading(with_laws or divisor[0])
    q, r = long_division.divided_by_lead(basis.in_basis(*terms_of(n)), divisor, lead)
    found = [
        (q, r),
        (arithmetic.add(q, 1), arithmetic.subtract(r, d)),
        (arithmetic.subtract(q, 1), arithmetic.add(r, d)),
    ]
    if not with_laws:
        found += [(arithmetic.add(q, f), rest) for f, rest in _with_twins(r, divisor, lead)]
    return min(found, key=lambda some: len(terms_of(some[1])[0]))


def _with_twins(r: Dim, divisor: Sum, lead: Expr) -> Iterator[tuple[Dim, Dim]]:
    """The same for r in forms with one other twin: `y - max(x, y)` is `min(x, y) - x`."""
    terms, const = basis.in_basis(*terms_of(r))
    for unit in terms:
        if unit._flags & (PAIR | HALF):
            turned = shortening.with_twin(basis.polynomial(terms, const), unit)
            offset = turned.pop(None, 0)
            yield long_division.divided_by_lead((turned, offset), divisor, lead)  # type: ignore[arg-type]


def leads_negative(d: Expr) -> bool:
    terms, _ = basis.in_basis(*terms_of(d))
    return terms[leading(terms)] < 0


def is_reflected(terms: Terms, c: int) -> bool:
    """Whether the form with the negated numerator is the canonical one, for c > 2.

    The leading coefficient decides, without coefficients of c/2, because negation modulo c does not change these.
    """
    others = [unit for unit, k in terms.items() if 2 * k != c]
    return terms[min(others, key=order) if len(others) > 1 else others[0]] < 0


def has_other_sign(terms: Terms, const: int, d: Expr) -> bool:
    """Whether the numerator that reflection gives is the canonical one for a divisor d >= 1: that of d's own sign.

    A coefficient that is half of d's leading one keeps its sign. Where that is the leading one, both forms stand.
    """
    sign = -1 if is_opposite(d) else 1
    d_terms, _ = terms_of(d)
    by = leading(d_terms)
    halves = {unit for unit, k in terms.items() if 2 * abs(k) == abs(d_terms[by]) and divides(by, unit)}
    if halves and leading(terms) in halves:
        return False
    if halves:
        terms = {unit: k for unit, k in terms.items() if unit not in halves}
    terms, const = basis.in_basis(terms, const)
    return sign * (terms[leading(terms)] if terms else const) < 0


def is_opposite(d: Expr) -> bool:
    """Whether no term of d is positive: `x//y` for y <= -1 is stored as `(-x)//(-y)`."""
    terms, const = terms_of(d)
    for k in terms.values():
        if k > 0:
            return False
    return const <= 0
