"""Floor division in canonical form.

Laws used below, for integers, c > 0 a number and d, a >= 1 known from bounds (each is a `Law` in laws.py):

    multiples    floor((q*d + r)/d) = q + floor(r/d)
    content      floor((g*m + r)/(g*d)) = floor((m + floor(r/g))/d)                     g > 0
    nesting      floor((floor(m/a) + r)/d) = floor((m + a*r)/(a*d))                     (merging.py)
    reflection   floor(-m/d) = -1 - floor((m - 1)/d)
    interval     floor(n/d) = k when k <= n/d < k + 1

Parts of the numerator that cannot change the quotient are left out (small_parts.py).

Multiples are split off, and common factors cancelled, for every d. If d is 0 the division has no value, but the result
may have one: `x*y//y` is `x`. So a divisor that is never negative counts as positive. A divisor that stays in the
result raises `DivisionByZero` if it is evaluated to 0.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors import (
    arithmetic,
    basis,
    long_division,
    numerators,
    rounding,
    shortening,
    stable,
)
from symdim.algebra.expr import FloorDiv
from symdim.algebra.interning import find_unit, publish, sequence_fingerprint
from symdim.algebra.intervals import quotient
from symdim.algebra.order import height_of, merged_names, names_of
from symdim.algebra.polynomials import NESTED, SPLIT, TWIN, accumulate, has_laws, split_unit, terms_of
from symdim.errors import DivisionByZero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr, Sum, Terms

_ROUNDS = 32  # the most rewriting steps of a division by an expression


def floordiv(n: Dim, d: Dim) -> Dim:
    """floor(n / d), Python's `//`.

    >>> from symdim import Var
    >>> H, B = Var("H"), Var("B")
    >>> (2 * H + 3) // 2, (H // 2) // 3, (5 * B * H) // (3 * B), H // 2 * 2 + H % 2
    (H + 1, H//6, 5*H//3, H)
    """
    if isinstance(d, int):
        if d == 0:
            raise DivisionByZero(f"the divisor of ({n!r}) // 0 is zero")
        if isinstance(n, int):
            return n // d
        if d < 0:
            n, d = arithmetic.scale(n, -1), -d
        if isinstance(n, int) or d == 1:
            return n
    return arithmetic.sum_of(*stable.stable(once(n, d), (n, d)))


def once(n: Dim, d: Dim) -> Sum:
    """floor(n / d) for a number d >= 2 or an expression, as a sum that is not canonical yet; a pass of stable.py."""
    if not isinstance(d, int):
        return _by_expression(n, d)
    within = None if isinstance(n, int) else rounding.with_its_sign(n, d)
    if within is None:
        return _by_number(*terms_of(n), d)
    terms, const = within
    return dict(terms), const


def mod(n: Dim, d: Dim) -> Dim:
    """n - d * floor(n / d), Python's `%`."""
    return arithmetic.subtract(n, arithmetic.multiply(d, floordiv(n, d)))


def ceildiv(n: Dim, d: Dim) -> Dim:
    """ceil(n / d) = -floor(-n / d), which is floor((n + d - 1) / d) for a number d >= 1.

    >>> from symdim import Var, ceildiv
    >>> ceildiv(Var("H"), 2), ceildiv(Var("H") - 1, 2), ceildiv(7, 2)
    ((H + 1)//2, H//2, 4)
    """
    n, d = arithmetic.checked(n), arithmetic.checked(d)
    if isinstance(d, int) and d >= 1:
        return floordiv(arithmetic.add(n, d - 1), d)
    return arithmetic.scale(floordiv(arithmetic.scale(n, -1), d), -1)


def _by_number(terms: Terms, const: int, c: int) -> Sum:
    """floor(n / c) for a number c >= 2.

    All steps work in the basis of basis.py, in which numerators that are equal modulo c have one form. The numerator is
    made short at the end. A remainder modulo another number is divided as it is; so a chain of remainders grows by one
    step each time.

    The loop ends. A nesting step removes a division, and all coefficients that are not from inside of it become
    multiples of its divisor; so the next division to merge is nested deeper. A numerator is reflected at most once,
    because the other sign is not reflected again.
    """
    whole: Terms = {}
    offset, sign = 0, 1
    while True:
        if len(terms) == 1 and (nested := numerators.as_nested(terms, const, c)) is not None:
            terms, const, c = nested
        given = terms
        terms, const = basis.in_basis(terms, const)
        while len(terms) > 1 and (simpler := numerators.without_small_parts(terms, const, c)) is not None:
            terms, const, g = simpler
            c //= g
        rest: Terms = {}
        height = 0
        for unit, k in terms.items():
            r = k % c
            if 2 * r > c:
                r -= c
            if r:
                rest[unit] = r
                height = height or unit._height
            if k != r:
                accumulate(whole, {unit: sign * (k - r) // c})
        q, const = divmod(const, c)
        offset += sign * q
        if not rest:
            return whole, offset
        g = gcd(c, *rest.values())
        if g > 1:
            rest = {unit: k // g for unit, k in rest.items()}
            c, const = c // g, const // g
        if not height:
            core = rest
            if c > 2 and numerators.is_reflected(rest, c):
                terms, const, sign = {unit: -k for unit, k in rest.items()}, c - 1 - const, -sign
                continue
            break
        divisions = [unit for unit in rest if type(unit) is FloorDiv]
        remainder = numerators.remainder_in(rest, divisions, c) if divisions else None
        if remainder is not None:
            turned, core = remainder
            if turned:
                rest, const, sign = {unit: -k for unit, k in rest.items()}, c - 1 - const, -sign
            core, const, offset = _shortened(whole, rest, core, const, offset, sign, c)
            break
        core = shortening.shortened_modulo(rest, c)
        inner = _merging(core, rest, c) if c == 2 and divisions else None
        if inner is not None and given.get(inner, 0) < 0:
            core = {**core, inner: -core[inner]}  # 1 and -1 are one modulo 2, but -(m//a) is merged as (a - 1 - m)//a
        core, const, offset = _shortened(whole, rest, core, const, offset, sign, c)
        composed = sum([bool(unit._flags & (SPLIT | NESTED)) for unit in core]) == 1
        if composed:
            within = rounding.inside(arithmetic.sum_of(dict(core), const), c)
            if within is not None:
                return _plus((whole, offset), within, sign)
        inner = _merging(core, rest, c) if divisions else None
        if inner is None and c > 2 and numerators.is_reflected(rest, c):
            known = _constant(arithmetic.sum_of(dict(core), const), c) if any(unit._height for unit in core) else None
            if known is not None:
                return whole, offset + sign * known
            terms, const, sign = {unit: -k for unit, k in core.items()}, c - 1 - const, -sign
            continue
        if inner is not None:
            a = inner._parts[1]
            if not isinstance(a, int):
                n, a = numerators.merged(core, const, inner)
                return _plus((whole, offset), _by_expression(n, arithmetic.scale(a, c)), sign)
            rest = dict(core)
            terms, added = numerators.numerator_of(inner, a, rest.pop(inner))
            accumulate(terms, rest, a)
            const, c = added + a * const, a * c
            continue
        break
    n = arithmetic.sum_of(dict(core), const)
    linear = _without_division(n, c)
    if linear is not None:
        return _plus((whole, offset), linear, sign)
    accumulate(whole, {_atom(n, c): sign})
    return whole, offset


def _merging(core: Terms, rest: Terms, c: int) -> FloorDiv | None:
    """The division that is merged with the one by c of a sum, `core`, which is `rest` in the basis."""
    return numerators.mergeable(
        core if core is rest else {u: k for u, k in core.items() if numerators.is_whole(u, k, rest, c)}
    )


def _plus(a: Dim | Sum, b: Dim | Sum, k: int) -> Sum:
    """a + k*b as a sum that is not canonical yet."""
    (terms, const), (added, offset) = [some if isinstance(some, tuple) else terms_of(some) for some in (a, b)]
    total = dict(terms)
    accumulate(total, added, k)
    return total, const + k * offset


def _shortened(
    whole: Terms, rest: Terms, core: Terms, const: int, offset: int, sign: int, c: int
) -> tuple[Terms, int, int]:
    """The sum to divide, its constant, and the constant beside `whole`, to which (rest - core)/c is added.

    The sum is `core`, or `rest` if these are not equal modulo c. This happens if the basis would be too long.
    """
    if core is not rest:
        terms, added = basis.in_basis(core, 0)
        apart = dict(rest)
        accumulate(apart, terms, -1)
        if any(k % c for k in apart.values()):
            core = rest
        else:
            const -= added
            accumulate(whole, {unit: k // c for unit, k in apart.items()}, sign)
    q, const = divmod(const, c)
    return core, const, offset + sign * q


def _constant(n: Dim, c: int) -> int | None:
    """The value of floor(n / c) if the interval of n allows one only, else None."""
    lo, hi = bounds_of(n)
    return lo // c if lo is not None and hi is not None and lo // c == hi // c else None


def _without_division(n: Dim, c: int) -> Sum | None:
    """floor(n / c), where n has one value by its interval, or two, lo and hi = lo + g, since all are one modulo g:

    floor(n / c) = floor(lo / c) + (floor(hi / c) - floor(lo / c))*((n - lo) / g)
    """
    lo, hi = bounds_of(n)
    if lo is None or hi is None:
        return None
    first, step = lo // c, hi // c - lo // c
    if not step:
        return {}, first
    terms, const = terms_of(n)
    g = gcd(*terms.values())
    if hi - lo != g or (const - lo) % g:
        return None
    return {unit: k // g * step for unit, k in terms.items()}, first + (const - lo) // g * step


def _by_expression(n: Dim, d: Dim) -> Sum:
    """floor(n / d) for an expression d. If d is 0 there is no value."""
    whole: Dim = 0
    sign = 1
    for _ in range(_ROUNDS):
        known = bounds_of(d)
        if known[0] is not None and known[0] == known[1] != 0:
            d = known[0]
        if isinstance(d, int):
            return _plus(whole, floordiv(n, d), sign)
        signed = known != (0, 0)  # else there is no value, and any form is right
        positive = signed and known[0] is not None and known[0] >= 0
        if not positive and ((signed and known[1] is not None and known[1] <= 0) or numerators.leads_negative(d)):
            n, d = arithmetic.scale(n, -1), arithmetic.scale(d, -1)
            continue
        m, divisor = long_division.in_lowest_terms(n, d)
        if divisor is not d:
            n, d = m, divisor
            continue
        q, rest = numerators.without_multiples(n, d)
        whole, n = arithmetic.add(whole, arithmetic.scale(q, sign)), rest
        if n == 0:
            return terms_of(whole)
        within = rounding.inside(n, d) if positive else None
        if within is not None:
            return _plus(whole, within, sign)
        terms, const = terms_of(n)
        if positive:
            further = numerators.merged_by_expression(terms, const, d)
            if further is not None:
                n, d = further
                continue
            if numerators.has_other_sign(terms, const, d):
                whole, sign = arithmetic.add(whole, -sign), -sign
                n = arithmetic.subtract(-1, n)
                continue
        bounds = quotient(bounds_of(n), known)
        if bounds[0] is not None and bounds[0] == bounds[1]:
            return terms_of(arithmetic.add(whole, sign * bounds[0]))
        if positive and bounds[0] is not None and bounds[0] >= 0:
            margin, _ = bounds_of(arithmetic.subtract(d, n))
            if margin is not None and margin >= 1:
                return terms_of(whole)
        break
    return _plus(whole, _atom(n, d), sign)


def _atom(n: Dim, d: Dim) -> Expr:
    parts = (n, d)
    fingerprint = sequence_fingerprint(1, parts)
    found = find_unit(fingerprint, FloorDiv, parts)
    if found is not None:
        return found
    node: FloorDiv = object.__new__(FloorDiv)
    node._terms = None
    node._const = 0
    node._parts = parts
    node._fingerprint = fingerprint
    node._height = 1 + max(height_of(n), height_of(d))
    node._bounds = quotient(bounds_of(n), bounds_of(d))
    several = isinstance(d, int) and split_unit(n) is not None
    node._names = names_of(n) if isinstance(d, int) else merged_names(parts)
    node._order = node._named = node._text = None
    if several:
        node._flags = SPLIT | basis.flags_of_quotient(node)
    else:
        node._flags = TWIN if d == 2 and _has_other_half(n) else 0
    return publish(node)


def _has_other_half(n: Dim) -> bool:
    """Whether n//2 is one of x//2 and (x + 1)//2 for a sum x: with a constant, the terms of maxima may change."""
    terms, const = terms_of(n)
    if not has_laws(n):
        return True
    return const in (0, 1) and terms_of(arithmetic.sum_of(dict(terms), 1 - const)) == (terms, 1 - const)


def quotient_atom(n: Dim, d: Dim) -> Expr:
    """The atom n // d, for a numerator and divisor that are canonical already (unpickling)."""
    return _atom(n, d)
