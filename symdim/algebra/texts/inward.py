"""Shorter texts of sums: terms move into a maximum, a minimum or a division.

    shift        k*max(a, b) + k*t = k*max(a + t, b + t)
    multiples    n//d + t = (n + d*t)//d
    mirror       -max(a, b) = min(-a, -b), -(n//d) = (d - 1 - n)//d for a number d
    remainder    n - d*(n//d) = n % d, where n//d is a maximum (rounding.py) or one division with n inside (merging.py)

So `min(w, x + y) - x` prints as `min(w - x, y)`. This is for the text alone. The expression keeps the term outside, so
equal expressions are one object. A text is used only if the constructors make the same object of it.
"""

from __future__ import annotations

from itertools import product

from symdim.algebra.bounds.intervals import bounds_of
from symdim.algebra.divisions.floordiv import floordiv, mod
from symdim.algebra.expr import Extremum, FloorDiv, Max, Mod
from symdim.algebra.minmax.extrema import maximum, minimum
from symdim.algebra.minmax.lattice import OTHER
from symdim.algebra.order import dim_order, order
from symdim.algebra.sums.monomial import split_unit, terms_of
from symdim.algebra.sums.polynomial import add, scale, subtract, sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from symdim.algebra.expr import Dim, Expr, Terms

    Reading = tuple[int, type[Expr], tuple[Dim, ...], Dim]  # (k, kind, parts, rest): k*kind(*parts) + rest

_TERMS = 8  # the most terms of a sum that is tried


def readings(node: Expr) -> Iterator[Reading]:
    """The ways to write a sum with some of its terms inside of one atom.

    >>> from symdim import Var, minimum
    >>> x, y, z = Var("x"), Var("y"), Var("z")
    >>> [(k, parts, rest) for k, _, parts, rest in readings(minimum(x + y, z) - x + 1)]
    [(1, (z - x, y), 1)]
    """
    terms, const = terms_of(node)
    if not 2 <= len(terms) + (const != 0) <= _TERMS:
        return
    for unit, k in sorted(terms.items(), key=lambda term: order(term[0])):
        if isinstance(unit, (Extremum, FloorDiv)):
            for reading in _at(unit, k, terms, const):
                sign, kind, parts, rest = reading
                if add(scale(_made(kind, parts), sign), rest) is node:
                    yield reading
    if len(terms) > 1:
        yield from _remainders(node)


def _at(unit: Extremum | FloorDiv, k: int, terms: Terms, const: int) -> Iterator[Reading]:
    """The readings with terms of the sum inside of `k*unit`. If k is negative, they are mirrored, too."""
    taken = _taken(unit, k, terms)
    joins = len(taken) == len(terms) - 1 and const % k == 0 and _has_constant(unit)
    if not taken and not (joins and const):
        return
    rest = sum_of({u: c for u, c in terms.items() if u is not unit and u not in taken}, 0 if joins else const)
    if len(terms_of(rest)[0]) >= len(terms):
        return  # a short form of the rest may be long: then one reading might lead to another without an end
    inside = sum_of({u: c // k for u, c in taken.items()}, const // k if joins else 0)
    if isinstance(unit, FloorDiv):
        n, d = unit.parts
        assert isinstance(d, int)  # nothing joins another division
        n = add(n, scale(inside, d))
        yield k, FloorDiv, (n, d), rest
        if k < 0:
            yield -k, FloorDiv, (subtract(d - 1, n), d), rest
    else:
        parts = [add(part, inside) for part in unit.parts]
        yield k, type(unit), tuple(sorted(parts, key=dim_order)), rest
        if k < 0:
            yield -k, OTHER[type(unit)], tuple(sorted([scale(part, -1) for part in parts], key=dim_order)), rest


def _has_constant(unit: Extremum | FloorDiv) -> bool:
    """Whether it is a division by a number whose numerator has a constant, so that another one beside it may join."""
    return isinstance(unit, FloorDiv) and isinstance(unit.parts[1], int) and terms_of(unit.parts[0])[1] != 0


def _made(kind: type[Expr], parts: tuple[Dim, ...]) -> Dim:
    if kind is FloorDiv:
        return floordiv(*parts)
    return (maximum if kind is Max else minimum)(*parts)


def _remainders(node: Expr) -> Iterator[Reading]:
    """A sum as `k*(n % d) + rest`: n has all terms that k*d does not divide, or one of them, a maximum or minimum."""
    terms, const = terms_of(node)
    sizes = sorted({abs(c) for c in terms.values()})
    for k, d in [(k, c // k) for k in sizes for c in sizes if c > k and c % k == 0]:
        undivided = {u: c for u, c in terms.items() if c % (k * d)}
        quotient = {u: c for u, c in terms.items() if u not in undivided}
        parts: list[Terms] = [undivided]
        if len(undivided) > 1:
            parts += [{u: c} for u, c in undivided.items() if isinstance(u, Extremum) and abs(c) == k]
        for part in parts:
            if any(c % k for c in part.values()) or not _is_narrow(part | quotient, k * d):
                continue
            for sign, offset in product((k, -k), (const, 0)):
                n = sum_of({u: c // sign for u, c in part.items()}, offset // sign % d)
                rest = subtract(node, scale(mod(n, d), sign))
                if len(terms_of(rest)[0]) + len(part) < len(terms):
                    yield sign, Mod, (n, d), rest


def _is_narrow(terms: Terms, width: int) -> bool:
    """Whether a sum has at most `width` values."""
    lo, hi = bounds_of(sum_of(dict(terms), 0))
    return lo is not None and hi is not None and hi - lo < width


def _taken(unit: Extremum | FloorDiv, k: int, terms: Terms) -> Terms:
    """The other terms of a sum that cancel or join a term inside of the unit, beside `k*unit`."""
    others = {u: c for u, c in terms.items() if u is not unit and c % k == 0}
    if isinstance(unit, Extremum):
        return {u: c for u, c in others.items() if _cancels(unit, u, c // k)}
    n, d = unit.parts
    if not isinstance(d, int):
        return {}
    mine, _ = terms_of(n)
    inner = split_unit(n)
    found: Terms = {}
    for u, c in others.items():
        added = d * c // k
        fits = u in mine
        if not fits and isinstance(inner, Extremum) and added % mine[inner] == 0:
            fits = _cancels(inner, u, added // mine[inner])
        if fits:
            found[u] = c
    return found


def _cancels(unit: Extremum, u: Expr, k: int) -> bool:
    return any(terms_of(part)[0].get(u) == -k for part in unit.parts)
