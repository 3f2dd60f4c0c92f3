"""Terms of a sum inside of a maximum, minimum, division or remainder, for shorter texts.

    shift        k*max(a, b) + k*t = k*max(a + t, b + t)
    multiples    n//d + t = (n + d*t)//d
    mirror       -max(a, b) = min(-a, -b), -(n//d) = (d - 1 - n)//d for a number d
    remainder    n - d*(n//d) = n % d, where n//d is a maximum or one division with n inside

and in the other direction, where all arguments are divided by one number:

    rounding     max(a//d + t, b//d, c) = max(a + d*t, b, c*d)//d

So `min(w, x + y) - x` prints as `min(w - x, y)`, and `min(x//2, y//2)` as `min(x, y)//2`. The expression keeps its
form, so equal expressions are one object. A form is used only if the constructors make the same object of it.
"""

from __future__ import annotations

from itertools import product

from symdim.algebra.bounds import bounds_of
from symdim.algebra.caches import remembered
from symdim.algebra.constructors.arithmetic import add, multiply, scale, subtract, sum_of
from symdim.algebra.constructors.extrema import arguments, extremum_of
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.expr import Extremum, FloorDiv, Max
from symdim.algebra.order import dim_order, order
from symdim.algebra.polynomials import divides, exact_quotient, powers_of, terms_of
from symdim.algebra.texts.remainders import dividend
from symdim.algebra.texts.tree import Operation, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from symdim.algebra.expr import Dim, Expr, Sum, Terms
    from symdim.algebra.texts.tree import Operator

    Form: TypeAlias = tuple[int, Operation, Dim]
    Factored: TypeAlias = tuple[int, Expr | None, Operation, Dim]

_TERMS = 8  # the most terms of a sum that is tried
_HEIGHT = 4  # the greatest height of a maximum or minimum whose quotients are looked for
_MIRRORED: dict[Operator, Operator] = {"max": "min", "min": "max"}


def pushed_down(node: Expr) -> Iterator[Factored]:
    """(k, u, operation, rest) with `k*u*operation + rest == node`, where terms of the sum are inside of the operation.

    >>> from symdim import Var, minimum
    >>> x, y, z = Var("x"), Var("y"), Var("z")
    >>> list(pushed_down(minimum(x + y, z) - x + 1))
    [(1, None, Operation(operator='min', operands=(z - x, y)), 1)]
    """
    terms, const = terms_of(node)
    if not 2 <= len(terms) + (const != 0) <= _TERMS:
        return
    for monomial, k in sorted(terms.items(), key=lambda term: order(term[0])):
        for atom, exponent in powers_of(monomial).items():
            if exponent == 1 and isinstance(atom, (Extremum, FloorDiv)):
                factor = exact_quotient(monomial, atom)
                (inner, number), beside = _multiples(terms, const, factor)
                for sign, operation, rest in _at(atom, k, inner, number):
                    rest = add(_times(rest, factor), beside)
                    term = scale(_times(value_of(operation), factor), sign)
                    if len(terms_of(rest)[0]) < len(terms) and add(term, rest) is node:
                        yield sign, factor, operation, rest
    if len(terms) > 1:
        yield from _remainders(node)


def _times(dim: Dim, factor: Expr | None) -> Dim:
    return dim if factor is None else multiply(dim, factor)


def _multiples(terms: Terms, const: int, factor: Expr | None) -> tuple[Sum, Dim]:
    """(m, r) with `factor*m + r` the sum."""
    if factor is None:
        return (terms, const), 0
    inner = {
        u: k for unit, k in terms.items() if divides(factor, unit) and (u := exact_quotient(unit, factor)) is not None
    }
    rest = sum_of({unit: k for unit, k in terms.items() if not divides(factor, unit)}, const)
    return (inner, terms.get(factor, 0)), rest


def _at(monomial: Expr, k: int, terms: Terms, const: int) -> Iterator[Form]:
    """The forms with terms of the sum inside of `k*monomial`. If k is negative, they are mirrored, too."""
    others = {u: c for u, c in terms.items() if u is not monomial}
    division = _division_of(monomial)
    if division is not None:
        n, d = division
        mine, number = terms_of(n)
        taken = {u: c for u, c in others.items() if c % k == 0 and u in mine}
        joins = number != 0 and len(taken) == len(others) and const % k == 0
        if taken or (joins and const):
            inside, rest = _parted(others, const, taken, k, joins)
            n = add(n, scale(inside, d))
            yield k, Operation("//", (n, d)), rest
            if k < 0:
                yield -k, Operation("//", (subtract(d - 1, n), d)), rest
    if not isinstance(monomial, Extremum):
        return
    nested = [part for whole in monomial._parts if (inner := arguments(whole)) is not None for part in inner[1]]
    tried: list[Terms] = [{}]
    for parts in (list(monomial._parts), [*monomial._parts, *nested]):
        taken = {u: c for u, c in others.items() if c % k == 0 and _cancels(parts, u, c // k)}
        if taken in tried:
            continue
        tried.append(taken)
        inside, rest = _parted(others, const, taken, k, joins=False)
        operator: Operator = "max" if isinstance(monomial, Max) else "min"
        parts = [add(part, inside) for part in monomial._parts]
        rounded = _rounded(type(monomial), parts)
        if rounded is not None:
            yield k, Operation("//", rounded), rest
        yield k, Operation(operator, tuple(sorted(parts, key=dim_order))), rest
        if k < 0:
            parts = [scale(part, -1) for part in parts]
            yield -k, Operation(_MIRRORED[operator], tuple(sorted(parts, key=dim_order))), rest


def _parted(others: Terms, const: int, taken: Terms, k: int, joins: bool) -> tuple[Dim, Dim]:
    """What comes inside of a term with the coefficient k, and the rest beside it, with the constant or without."""
    inside = sum_of({u: c // k for u, c in taken.items()}, const // k if joins else 0)
    return inside, sum_of({u: c for u, c in others.items() if u not in taken}, 0 if joins else const)


def rounded_outside(node: Extremum) -> Operation | None:
    """A maximum or minimum of quotients as a quotient; None for one that would have more numbers.

    >>> from symdim import Var, minimum
    >>> x, y = Var("x"), Var("y")
    >>> rounded_outside(minimum(x // 4 + 2, y // 4)), rounded_outside(minimum(x // 4, y))
    (Operation(operator='//', operands=(min(x + 8, y), 4)), None)
    """
    division = _division_of(node)
    return None if division is None else Operation("//", division)


@remembered(1 << 12)
def _division_of(atom: Expr) -> tuple[Dim, int] | None:
    """(n, d) with n//d == atom, for a number d; None for others."""
    if isinstance(atom, FloorDiv):
        n, d = atom._parts
        return (n, d) if isinstance(d, int) else None
    if not isinstance(atom, Extremum) or atom._height > _HEIGHT:
        return None
    division = _rounded(type(atom), atom._parts)
    return division if division is not None and floordiv(*division) is atom else None


def _rounded(kind: type[Extremum], parts: Iterable[Dim]) -> tuple[Dim, int] | None:
    """(n, d) with n//d the maximum or minimum of parts that all have this divisor, or are numbers."""
    numerators: list[Dim] = []
    numbers: list[int] = []
    divisors: set[int] = set()
    added = 0  # numbers
    for part in parts:
        if isinstance(part, int):
            numbers.append(part)
            continue
        terms, _ = terms_of(part)
        divisions = [
            (u, division) for u, k in terms.items() if abs(k) == 1 and (division := _division_of(u)) is not None
        ]
        if len(divisions) != 1:
            return None
        ((unit, (n, d)),) = divisions
        divisors.add(d)
        n = n if terms[unit] == 1 else subtract(d - 1, n)
        numerators.append(add(n, scale(subtract(part, scale(unit, terms[unit])), d)))
        added += sum([abs(k) == 1 for k in terms.values()]) - 1
    if len(divisors) != 1 or added >= len(numerators):
        return None
    (d,) = divisors
    offset = terms_of(numerators[0])[1] % d  # any from 0 to d - 1 has the same quotient; this one cancels
    return extremum_of(kind, [*numerators, *[d * number + offset for number in numbers]]), d


def _remainders(node: Expr) -> Iterator[Factored]:
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
                n = dividend({u: c // factor for u, c in part.items()}, offset // factor % d, d)
                remainder = Operation("%", (sum_of(*n), d))
                rest = subtract(node, scale(value_of(remainder), factor))
                if len(terms_of(rest)[0]) + len(part) < len(terms):
                    yield factor, None, remainder, rest


def _is_narrow(terms: Terms, width: int) -> bool:
    """Whether a sum has at most `width` values."""
    lo, hi = bounds_of(sum_of(dict(terms), 0))
    return lo is not None and hi is not None and hi - lo < width


def _cancels(parts: list[Dim], u: Expr, k: int) -> bool:
    """Whether one of some arguments has the term `-k*u`."""
    return any(terms_of(part)[0].get(u) == -k for part in parts)
