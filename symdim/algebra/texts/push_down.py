"""Terms of a sum inside of a maximum, minimum, division or remainder, for shorter texts.

    shift        k*max(a, b) + k*t = k*max(a + t, b + t)
    multiples    n//d + t = (n + d*t)//d
    mirror       -max(a, b) = min(-a, -b), -(n//d) = (d - 1 - n)//d for a number d
    remainder    n - d*(n//d) = n % d, where n//d is a maximum (rounding.py) or one division with n inside

So `min(w, x + y) - x` prints as `min(w - x, y)`. The expression keeps the term outside, so equal expressions are one
object. A form is used only if the constructors make the same object of it.
"""

from __future__ import annotations

from itertools import product

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import add, scale, subtract, sum_of
from symdim.algebra.expr import Extremum, FloorDiv, Max
from symdim.algebra.order import dim_order, order
from symdim.algebra.polynomials import terms_of
from symdim.algebra.texts.tree import Operation, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from symdim.algebra.expr import Dim, Expr, Terms
    from symdim.algebra.texts.tree import Operator

    Form: TypeAlias = tuple[int, Operation, Dim]

_TERMS = 8  # the most terms of a sum that is tried
_MIRRORED: dict[Operator, Operator] = {"max": "min", "min": "max"}


def pushed_down(node: Expr) -> Iterator[Form]:
    """(k, operation, rest) with `k*operation + rest == node`, where terms of the sum are inside of the operation.

    >>> from symdim import Var, minimum
    >>> x, y, z = Var("x"), Var("y"), Var("z")
    >>> list(pushed_down(minimum(x + y, z) - x + 1))
    [(1, Operation(operator='min', operands=(z - x, y)), 1)]
    """
    terms, const = terms_of(node)
    if not 2 <= len(terms) + (const != 0) <= _TERMS:
        return
    for monomial, k in sorted(terms.items(), key=lambda term: order(term[0])):
        if isinstance(monomial, (Extremum, FloorDiv)):
            for factor, operation, rest in _at(monomial, k, terms, const):
                if add(scale(value_of(operation), factor), rest) is node:
                    yield factor, operation, rest
    if len(terms) > 1:
        yield from _remainders(node)


def _at(monomial: Extremum | FloorDiv, k: int, terms: Terms, const: int) -> Iterator[Form]:
    """The forms with terms of the sum inside of `k*monomial`. If k is negative, they are mirrored, too."""
    taken = _taken(monomial, k, terms)
    joins = len(taken) == len(terms) - 1 and const % k == 0 and _has_constant(monomial)
    if not taken and not (joins and const):
        return
    rest = sum_of({u: c for u, c in terms.items() if u is not monomial and u not in taken}, 0 if joins else const)
    if len(terms_of(rest)[0]) >= len(terms):
        return  # a short form of the rest may be long: then one form might lead to another without an end
    inside = sum_of({u: c // k for u, c in taken.items()}, const // k if joins else 0)
    if isinstance(monomial, FloorDiv):
        n, d = monomial._parts
        assert isinstance(d, int)  # nothing joins another division
        n = add(n, scale(inside, d))
        yield k, Operation("//", (n, d)), rest
        if k < 0:
            yield -k, Operation("//", (subtract(d - 1, n), d)), rest
    else:
        operator: Operator = "max" if isinstance(monomial, Max) else "min"
        parts = [add(part, inside) for part in monomial._parts]
        yield k, Operation(operator, tuple(sorted(parts, key=dim_order))), rest
        if k < 0:
            parts = [scale(part, -1) for part in parts]
            yield -k, Operation(_MIRRORED[operator], tuple(sorted(parts, key=dim_order))), rest


def _has_constant(monomial: Extremum | FloorDiv) -> bool:
    """Whether it is a division by a number whose numerator has a constant, so that another one beside it may join."""
    return (
        isinstance(monomial, FloorDiv) and isinstance(monomial._parts[1], int) and terms_of(monomial._parts[0])[1] != 0
    )


def _remainders(node: Expr) -> Iterator[Form]:
    """A sum as `k*(n % d) + rest`: n has all terms that k*d does not divide, or one of them, a maximum or minimum."""
    terms, const = terms_of(node)
    sizes = sorted({abs(c) for c in terms.values()})
    for k, d in [(k, c // k) for k in sizes for c in sizes if c > k and c % k == 0]:
        undivided = {u: c for u, c in terms.items() if c % (k * d)}
        quotient = {u: c for u, c in terms.items() if u not in undivided}
        if not any(u._height for u in quotient):  # n//d has a division or an extremum
            continue
        parts: list[Terms] = [undivided]
        if len(undivided) > 1:
            parts += [{u: c} for u, c in undivided.items() if isinstance(u, Extremum) and abs(c) == k]
        for part in parts:
            if any(c % k for c in part.values()) or not _is_narrow(part | quotient, k * d):
                continue
            for factor, offset in product((k, -k), (const, 0)):
                remainder = Operation("%", (sum_of({u: c // factor for u, c in part.items()}, offset // factor % d), d))
                rest = subtract(node, scale(value_of(remainder), factor))
                if len(terms_of(rest)[0]) + len(part) < len(terms):
                    yield factor, remainder, rest


def _is_narrow(terms: Terms, width: int) -> bool:
    """Whether a sum has at most `width` values."""
    lo, hi = bounds_of(sum_of(dict(terms), 0))
    return lo is not None and hi is not None and hi - lo < width


def _taken(monomial: Extremum | FloorDiv, k: int, terms: Terms) -> Terms:
    """The other terms of a sum that cancel or join a term inside of the monomial, beside `k*monomial`."""
    others = {u: c for u, c in terms.items() if u is not monomial and c % k == 0}
    if isinstance(monomial, Extremum):
        return {u: c for u, c in others.items() if _cancels(monomial, u, c // k)}
    n, d = monomial._parts
    if not isinstance(d, int):
        return {}
    mine, _ = terms_of(n)
    inner = None
    found: Terms = {}
    for u, c in others.items():
        added = d * c // k
        fits = u in mine
        if not fits and isinstance(inner, Extremum) and added % mine[inner] == 0:
            fits = _cancels(inner, u, added // mine[inner])
        if fits:
            found[u] = c
    return found


def _cancels(monomial: Extremum, u: Expr, k: int) -> bool:
    return any(terms_of(part)[0].get(u) == -k for part in monomial._parts)
