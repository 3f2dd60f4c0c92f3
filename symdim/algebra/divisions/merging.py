"""Nested divisions, which are merged into one.

nesting      floor((floor(m/a) + r)/d) = floor((m + a*r)/(a*d))      d, a >= 1
reflection   -floor(m/a) = floor((a - 1 - m)/a)                      a >= 1
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds.intervals import bounds_of
from symdim.algebra.divisions.small_parts import without_bounded_parts
from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import order
from symdim.algebra.sums.long_division import divided
from symdim.algebra.sums.monomial import SPLIT, accumulate, terms_of
from symdim.algebra.sums.polynomial import add, multiply, subtract, sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr, Terms

_TERMS = 64  # the most terms of a merged numerator or divisor


def merged_by_expression(terms: Terms, const: int, d: Expr) -> tuple[Dim, Dim] | None:
    """(n, e) with floor(n/e) == floor((terms + const)/d) for d >= 1, by the laws of nested divisions."""
    d_terms, d_const = terms_of(d)
    content = gcd(d_const, *d_terms.values())
    if content > 1:
        g = gcd(content, *terms.values())
        if g > 1:
            return divided(terms, const // g, g), divided(d_terms, d_const // g, g)
        simpler = without_bounded_parts(terms, const, content)
        if simpler is not None:
            rest, offset, g = simpler
            return sum_of(rest, offset), divided(d_terms, d_const // g, g)
    inner = mergeable(terms)
    if inner is None:
        return None
    n, a = merged(terms, const, inner)
    divisor = multiply(a, d)
    if max(len(terms_of(n)[0]), len(terms_of(divisor)[0])) > _TERMS:
        return None
    return n, divisor


def mergeable(terms: Terms) -> FloorDiv | None:
    """The first division by a positive divisor that is a term with the coefficient 1 or -1."""
    found: list[FloorDiv] = []
    for unit, k in terms.items():
        if type(unit) is FloorDiv and (k == 1 or k == -1):
            d = unit.parts[1]
            lo = d if isinstance(d, int) else bounds_of(d)[0]
            if lo is not None and lo >= 0:
                found.append(unit)
    if len(found) > 1:
        return min(found, key=order)
    return found[0] if found else None


def numerator_of(inner: FloorDiv, a: int, k: int) -> tuple[Terms, int]:
    """m with floor(m/a) == k * inner for k = 1 or -1, since -floor(m/a) = floor((a - 1 - m)/a)."""
    terms, const = terms_of(inner.parts[0])
    return (dict(terms), const) if k == 1 else ({unit: -c for unit, c in terms.items()}, a - 1 - const)


def merged(terms: Terms, const: int, inner: FloorDiv) -> tuple[Dim, Dim]:
    """(n, a) with floor((terms + const)/d) == floor(n/(a*d)) for all d >= 1. The division `inner` is gone from n."""
    numerator, a = inner.parts
    if terms[inner] == -1:
        numerator = subtract(subtract(a, 1), numerator)
    rest = sum_of({unit: k for unit, k in terms.items() if unit is not inner}, const)
    return add(numerator, multiply(a, rest)), a


def as_nested(terms: Terms, const: int, c: int) -> tuple[Terms, int, int] | None:
    """(m, r, a*c) with floor((floor(m/a) + const)/c) == floor((m + r)/(a*c)); None for any other numerator."""
    ((unit, k),) = terms.items()
    if k != 1 or type(unit) is not FloorDiv or unit.flags & SPLIT:
        return None
    m, a = unit.parts
    if type(a) is not int:
        return None
    inner, added = terms_of(m)
    return inner, added + a * const, a * c


def is_whole(unit: Expr, k: int, rest: Terms, c: int) -> bool:
    """Whether `rest` has, in the basis and modulo c, the divisions of `k*unit` with the same coefficients."""
    own, _ = basis.in_basis({unit: k}, 0)
    return all((rest.get(u, 0) - x) % c == 0 for u, x in own.items() if type(u) is FloorDiv)


def remainder_in(rest: Terms, divisions: list[FloorDiv], c: int) -> tuple[bool, Terms] | None:
    """(False, terms) if `rest` is, modulo c, the terms of a remainder m % a; (True, terms) if `-rest` is; else None."""
    for unit in sorted(divisions, key=lambda u: (-u.height, order(u))) if len(divisions) > 1 else divisions:
        m, a = unit.parts
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


from symdim.algebra.forms import basis  # noqa: E402  (it makes divisions, too)
