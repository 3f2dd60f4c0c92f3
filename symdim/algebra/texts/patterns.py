"""The remainders and products in a polynomial, as it is printed.

A `Pattern` is a part `coefficient * unit * (n % d)` of a sum, where `n % d == n - d*(n//d)`. Each division of the sum
is tried, the outermost one first. A pattern is found if all its terms occur in the sum with at least these
coefficients. So taking it out never adds a term.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import intervals as bounds
from symdim.algebra.expr import Add, FloorDiv, Mod, Mul
from symdim.algebra.order import leading, order
from symdim.algebra.sums.monomial import SPLIT, accumulate, divides, exact_quotient, powers_of, split_unit, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeGuard

    from symdim.algebra.expr import Dim, Expr, Interval, Terms

_NESTED = 64  # the most terms of a sum in which (x//e) % k is looked for, by pairs of terms


class Pattern:
    """`coefficient * unit * core`, where core is `n % d` for the operands n, d and equals `core_terms + core_const`.

    Operands are given as (terms, const); `terms, const` is the whole part.
    """

    __slots__ = ("coefficient", "const", "core_const", "core_terms", "operands", "terms", "unit")

    def __init__(
        self,
        operands: list[tuple[Terms, int]],
        coefficient: int,
        unit: Expr | None,
        core_terms: Terms,
        core_const: int,
    ) -> None:
        self.operands = operands
        self.coefficient, self.unit = coefficient, unit
        self.core_terms, self.core_const = core_terms, core_const
        self.terms: Terms = {}
        self.const = 0
        accumulate(self.terms, core_terms, coefficient, unit)
        if unit is None:
            self.const = coefficient * core_const
        elif core_const:
            accumulate(self.terms, {unit: coefficient * core_const})

    def left_of(self, terms: Terms) -> int:
        """How many of its terms are still in the sum after it was taken out."""
        return sum([terms[unit] != k for unit, k in self.terms.items()])

    def rigid(self) -> bool:
        """Whether it is the remainder of a number, which may leave no constant in the sum."""
        return not self.operands[0][0]

    def interval(self) -> Interval:
        """Bounds of the core, from its operands' terms alone."""
        (n_lo, n_hi), (d_lo, d_hi) = [bounds.linear_bounds(*operand) for operand in self.operands]
        if d_lo is None or d_lo < 1:
            return None if d_lo is None else min(d_lo + 1, 0), None if d_hi is None else max(d_hi - 1, 0)
        below = None if d_hi is None else d_hi - 1
        if n_lo is not None and n_lo >= 0 and n_hi is not None:
            below = n_hi if below is None else min(below, n_hi)  # n % d <= n
        return 0, below


def _holds(terms: Terms, part: Terms, factor: int = 1) -> bool:
    """Whether a sum has all terms of `factor * part`, with the same signs and at least these coefficients."""
    for unit, k in part.items():
        mine, theirs = factor * k, terms.get(unit, 0)
        if not (theirs >= mine if mine > 0 else theirs <= mine):
            return False
    return True


def _remainders(unit: Expr, coefficient: int, atom: FloorDiv, terms: Terms, size: int) -> Iterator[Pattern]:
    """Candidates `k*w*(x % d)` at the term `coefficient*unit`, where `atom` divides `unit`.

    x is the numerator n, or -1 - n because floor((-1 - n)/d) == -1 - floor(n/d). For a number d it is also floor(n/e),
    with d/e in place of d, if e divides d and floor(n/e) occurs in the sum. With a `size` only patterns of that many
    terms are given. For a number d, n - d*(n//d) has one term more than n, and w times the constant is a term too.
    """
    divisor = atom.parts[1]
    d_terms, d_const = terms_of(divisor)
    outer = exact_quotient(unit, atom)
    if d_terms:
        lead = leading(d_terms)
        if not divides(lead, outer):
            return
        outer, scale = exact_quotient(outer, lead), d_terms[lead]
    else:
        scale = d_const
    spare = 0 if outer is None else 1
    for n_terms, n_const in _numerators(atom, coefficient, outer, terms):
        fits = not size or bool(d_terms) or 0 <= size - 1 - len(n_terms) <= spare
        if not fits or coefficient % scale or (outer is None and not _holds(terms, n_terms, -coefficient // scale)):
            continue
        core: Terms = dict(n_terms)
        accumulate(core, d_terms, -1, atom)
        accumulate(core, {atom: -d_const} if d_const else {})
        yield Pattern([(n_terms, n_const), (d_terms, d_const)], -coefficient // scale, outer, core, n_const)
        if _reflects(n_terms, scale, divisor) if d_terms else scale != 2 or not atom.flags & SPLIT:
            flipped = {u: -k for u, k in core.items()}
            x_terms = {u: -k for u, k in n_terms.items()}
            accumulate(flipped, d_terms)
            x_const = -1 - n_const + (0 if d_terms else d_const)
            const = -1 - n_const + d_const
            yield Pattern([(x_terms, x_const), (d_terms, d_const)], coefficient // scale, outer, flipped, const)
    if not d_terms and (not size or 0 <= size - 2 <= spare) and len(terms) <= _NESTED and gcd(coefficient, d_const) > 1:
        yield from _nested_remainders(atom, coefficient, outer, terms)


def _numerators(atom: FloorDiv, coefficient: int, outer: Expr | None, terms: Terms) -> Iterator[tuple[Terms, int]]:
    """The numerators n in a sum for which n//d is this division by d: its own, and others of a maximum or minimum.

    `min(x, 4)//2` also has the numerator min(x, 5), because 5//2 is 4//2.
    """
    numerator, d = atom.parts
    n_terms, n_const = terms_of(numerator)
    yield n_terms, n_const
    own = split_unit(numerator)
    if own is None or not isinstance(d, int) or coefficient % d:
        return
    sought = -coefficient * n_terms[own]
    for unit, k in terms.items():
        if k * d != sought or not divides(outer, unit):
            continue
        other = exact_quotient(unit, outer)
        if other is None or other is own or other.height > own.height:  # a higher one could lead back to this sum
            continue
        if other.flags & SPLIT:
            some = {other if u is own else u: c for u, c in n_terms.items()}
            if floordiv.floordiv(sum_of(dict(some), n_const), d) is atom:
                yield some, n_const


def _reflects(n_terms: Terms, scale: int, divisor: Dim) -> bool:
    """Whether the constructor makes `-1 - n//d` of `(-1 - n)//d` for an expression d.

    It does if d >= 1 and no coefficient of n is half of that of d: such a coefficient would keep its sign.
    """
    lo, _ = bounds.bounds_of(divisor)
    return lo is not None and lo >= 1 and all(2 * abs(k) != abs(scale) for k in n_terms.values())


def _nested_remainders(atom: FloorDiv, coefficient: int, outer: Expr | None, terms: Terms) -> Iterator[Pattern]:
    numerator, divisor = atom.parts
    n_terms, n_const = terms_of(numerator)
    assert isinstance(divisor, int)
    for unit in terms:
        if unit.height != atom.height or not (outer is None or divides(outer, unit)):
            continue
        inner = unit if outer is None else exact_quotient(unit, outer)
        if type(inner) is not FloorDiv or inner is atom or not isinstance(inner.parts[1], int):
            continue
        e = inner.parts[1]
        if e >= divisor or divisor % e or (coefficient * e) % divisor:
            continue
        inner_terms, inner_const = terms_of(inner.parts[0])
        if inner_terms != n_terms:
            continue
        shift, apart = divmod(n_const - inner_const, e)
        if apart:
            continue
        modulus = divisor // e
        core: Terms = {inner: 1, atom: -modulus}
        yield Pattern([({inner: 1}, shift), ({}, modulus)], -coefficient // modulus, outer, core, shift)


def _candidates(unit: Expr, terms: Terms, const: int, size: int = 0) -> list[Pattern]:
    """The patterns at one term. The first ones leave the fewest terms and take the most.

    Among these they have the least constant inside. With a `size`, patterns of other sizes may be left out.
    """
    coefficient = terms.get(unit, 0)
    found: list[Pattern] = []
    for atom in powers_of(unit) if coefficient else ():
        if _may_remain(atom, coefficient):
            found += _remainders(unit, coefficient, atom, terms, size)
    found = [p for p in found if _holds(terms, p.terms) and (p.unit is not None or p.const == const or not p.rigid())]
    return sorted(found, key=lambda p: (p.left_of(terms), -len(p.terms), abs(p.operands[0][1]), p.coefficient < 0))


def _may_remain(atom: Expr, coefficient: int) -> TypeGuard[FloorDiv]:
    """Whether `coefficient*atom` may be a term of a multiple of `n % d`, or of `(n//e) % (d//e)` with e < d."""
    if type(atom) is not FloorDiv or atom.terms is not None:
        return False
    divisor = atom.parts[1]
    return type(divisor) is not int or gcd(coefficient, divisor) > 1


def _promising(unit: Expr, coefficient: int, terms: Terms) -> bool:
    """Whether a pattern may be found at the term `coefficient*unit`."""
    if type(unit) is Mul:
        return any(_may_remain(a, coefficient) for a in powers_of(unit))
    return _may_remain(unit, coefficient)


def _compound(terms: Terms, size: int = 0) -> list[Expr]:
    """The units with a division that may give a pattern of `size` terms, the outermost ones first."""
    for unit, coefficient in terms.items():
        if unit.height and _promising(unit, coefficient, terms):
            break
    else:
        return []
    units = [u for u in terms if u.height and any(_size(a) >= size for a in powers_of(u))]
    return sorted(units, key=lambda u: (-u.height, order(u))) if len(units) > 1 else units


def _size(atom: Expr) -> int:
    """The most terms that a pattern at this atom can have."""
    if type(atom) is FloorDiv and atom.terms is None:
        numerator, divisor = atom.parts
        return len(terms_of(numerator)[0]) + 2 * len(terms_of(divisor)[0]) + 3
    return 0


def class_of(terms: Terms, const: int) -> type[Expr]:
    """The class of a sum that is no unit: Mod or Mul if one pattern is the whole sum, else Add."""
    pattern = whole(terms, const)
    if pattern is not None:
        return Mod if pattern.unit is None and pattern.coefficient == 1 else Mul
    return Mul if len(terms) == 1 and const == 0 else Add


def whole(terms: Terms, const: int) -> Pattern | None:
    """The pattern that is the whole sum, if there is one."""
    if len(terms) == 1 and const == 0:
        return None
    for unit in _compound(terms, len(terms)):
        for pattern in _candidates(unit, terms, const, len(terms)):
            if pattern.const == const and pattern.terms == terms:
                return pattern
    return None


def patterns(terms: Terms, const: int) -> tuple[list[Pattern], Terms, int]:
    """Disjoint patterns of a sum, and the terms and constant that are left."""
    pattern = whole(terms, const)
    return disjoint(terms, const) if pattern is None else ([pattern], {}, 0)


def disjoint(terms: Terms, const: int) -> tuple[list[Pattern], Terms, int]:
    """The same for a sum that is no pattern as a whole."""
    taken: list[Pattern] = []
    units = _compound(terms)
    rest = dict(terms) if units else terms
    for unit in units:
        for pattern in _candidates(unit, rest, const)[:1]:
            accumulate(rest, pattern.terms, -1)
            const -= pattern.const
            taken.append(pattern)
    return taken, rest, const


def met_with_patterns(node: Expr, terms: Terms, known: Interval) -> Interval:
    """`known` met with the interval of a sum, that of these terms, read as patterns."""
    read = disjoint if type(node) is Add else patterns  # whose class is `Add` is no pattern as a whole
    found, rest, rest_const = read(terms, node.const)
    if not found:
        return known
    result = bounds.linear_bounds(rest, rest_const)
    for pattern in found:
        part = bounds.scaled(pattern.interval(), pattern.coefficient)
        if pattern.unit is not None:
            part = bounds.times(part, bounds.bounds_of(pattern.unit))
        result = bounds.plus(result, part)
    return bounds.meet(known, result)


from symdim.algebra.divisions import floordiv  # noqa: E402  (which makes sums, whose class is told here)
from symdim.algebra.sums.polynomial import sum_of  # noqa: E402
