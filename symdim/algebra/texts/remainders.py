"""The remainders in a sum, where `n % d` is stored as `n - d*(n//d)`.

A part `coefficient * monomial * (n % d)` of a sum is found if all its terms occur in the sum with at least these
coefficients. So taking it out never adds a term. Each division of the sum is tried, the outermost one first.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import bounds_of, linear_bounds
from symdim.algebra.caches import remembered
from symdim.algebra.constructors.arithmetic import sum_of
from symdim.algebra.expr import FloorDiv
from symdim.algebra.order import leading, order
from symdim.algebra.polynomials import accumulate, divides, exact_quotient, powers_of, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeGuard

    from symdim.algebra.expr import Dim, Expr, Interval, Sum, Terms

_NESTED = 64  # the most terms of a sum in which (x//e) % k is looked for, by pairs of terms


class Remainder:
    """A part `coefficient*monomial*(n % d)` of a sum, where n//d is `sign*quotient + offset` for an atom `quotient`.

    `core` is the sum n % d, and `terms, const` is the whole part.
    """

    __slots__ = ("coefficient", "const", "core", "monomial", "operands", "terms")

    def __init__(
        self, n: Sum, d: Sum, coefficient: int, monomial: Expr | None, quotient: Expr, sign: int = 1, offset: int = 0
    ) -> None:
        (n_terms, n_const), (d_terms, d_const) = self.operands = n, d
        self.coefficient, self.monomial = coefficient, monomial
        terms = dict(n_terms)
        accumulate(terms, d_terms, -sign, quotient)
        accumulate(terms, {quotient: -sign * d_const} if d_const else {})
        accumulate(terms, d_terms if offset else {}, -offset)
        self.core = terms, n_const - offset * d_const
        self.terms: Terms = {}
        self.const = 0
        accumulate(self.terms, terms, coefficient, monomial)
        if monomial is None:
            self.const = coefficient * self.core[1]
        elif self.core[1]:
            accumulate(self.terms, {monomial: coefficient * self.core[1]})

    def dims(self) -> tuple[Dim, Dim]:
        """n and d."""
        n, (d_terms, number) = self.operands
        d = sum_of(dict(d_terms), number)
        return sum_of(*dividend(*n, d)), d

    def left_of(self, terms: Terms) -> int:
        """How many of its terms are still in the sum after it was taken out."""
        return sum([terms[monomial] != k for monomial, k in self.terms.items()])

    def is_in(self, terms: Terms, const: int) -> bool:
        """Whether it is a part of a sum. The remainder of a number may leave no constant in the sum."""
        of_number = self.monomial is None and not self.operands[0][0]
        return _has_all(terms, self.terms) and not (of_number and self.const != const)

    def interval(self) -> Interval:
        """Bounds of n % d, from the terms of n and d alone."""
        (n_lo, n_hi), (d_lo, d_hi) = [linear_bounds(*operand) for operand in self.operands]
        if d_lo is None or d_lo < 1:
            return None if d_lo is None else min(d_lo + 1, 0), None if d_hi is None else max(d_hi - 1, 0)
        below = None if d_hi is None else d_hi - 1
        if n_lo is not None and n_lo >= 0 and n_hi is not None:
            below = n_hi if below is None else min(below, n_hi)  # n % d <= n
        return 0, below


def dividend(terms: Terms, const: int, d: Dim) -> Sum:
    """The sum n of n % d; for d == 2 it or -n, which is the same: the one with a positive first term.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> dividend({N: -3}, 1, 2), dividend({N: -3}, 1, 4)
    (({N: 3}, 1), ({N: -3}, 1))
    """
    if d == 2 and terms and terms[leading(terms)] < 0:
        return {unit: -k for unit, k in terms.items()}, -const % 2
    return dict(terms), const


@remembered(1 << 12)
def remainders_in(node: Expr) -> tuple[list[Remainder], Terms, int]:
    """Disjoint remainders in a sum, and the terms and the constant that are left. Callers must not change them."""
    terms, const = terms_of(node)
    monomials = [u for u, k in terms.items() if u._height and any(_may_remain(atom, k) for atom in powers_of(u))]
    if not monomials:
        return [], terms, const
    remainders: list[Remainder] = []
    rest = dict(terms)
    for monomial in sorted(monomials, key=lambda u: (-u._height, order(u))):
        first = _first_at(monomial, rest, const)
        if first is not None:
            accumulate(rest, first.terms, -1)
            const -= first.const
            remainders.append(first)
    return remainders, rest, const


def as_remainder(dim: Dim) -> tuple[Dim, Dim] | None:
    """(n, d) for a dimension that is n % d; None for others.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> as_remainder(N - N // 4 * 4), as_remainder(N % 4 + 1)
    ((N, 4), None)
    """
    if isinstance(dim, int) or not dim._height or dim._terms is None:
        return None
    remainders, rest, const = remainders_in(dim)
    if len(remainders) != 1 or rest or const:
        return None
    (whole,) = remainders
    return whole.dims() if whole.monomial is None and whole.coefficient == 1 else None


def _may_remain(atom: Expr, coefficient: int) -> TypeGuard[FloorDiv]:
    """Whether `coefficient*atom` may be a term of a multiple of `n % d`, or of `(n//e) % (d//e)` with e < d."""
    if type(atom) is not FloorDiv:
        return False
    divisor = atom._parts[1]
    return type(divisor) is not int or gcd(coefficient, divisor) > 1


def _first_at(monomial: Expr, terms: Terms, const: int) -> Remainder | None:
    """The remainder in a sum at one of its monomials that leaves the fewest terms and takes the most.

    Among several it is one with the least constant inside.
    """
    coefficient = terms.get(monomial, 0)
    remainders: list[Remainder] = []
    for atom in powers_of(monomial) if coefficient else ():
        if _may_remain(atom, coefficient):
            remainders += _of_division(monomial, coefficient, atom, terms)
            if len(terms) <= _NESTED:
                remainders += _of_quotients(monomial, coefficient, atom, terms)
    remainders = [r for r in remainders if r.is_in(terms, const)]
    return min(
        remainders,
        key=lambda r: (r.left_of(terms), -len(r.terms), abs(r.operands[0][1]), r.coefficient < 0),
        default=None,
    )


def _of_division(monomial: Expr, coefficient: int, atom: FloorDiv, terms: Terms) -> Iterator[Remainder]:
    """Candidates for `k*w*(x % d)` at the term `coefficient*monomial`, of which the division `atom`, n//d, is a factor.

    x is n, or -1 - n, because floor((-1 - n)/d) == -1 - floor(n/d); for a number d it is d - 1 - n, with no -1.
    """
    (n_terms, n_const), (d_terms, d_const) = n, d = [terms_of(part) for part in atom._parts]
    outer, scale = exact_quotient(monomial, atom), d_const
    if d_terms:
        lead = leading(d_terms)
        if not divides(lead, outer):
            return
        outer, scale = exact_quotient(outer, lead), d_terms[lead]
    k = coefficient // scale
    if coefficient % scale:
        return
    if outer is None and not _has_all(terms, n_terms, -k):
        return
    yield Remainder(n, d, -k, outer, atom)
    if _is_mirrored(atom, n_terms, scale):
        mirrored = {u: -c for u, c in n_terms.items()}
        offset = -1 if d_terms else 0
        yield Remainder((mirrored, (0 if d_terms else d_const) - 1 - n_const), d, k, outer, atom, -1, offset)


def _has_all(terms: Terms, part: Terms, factor: int = 1) -> bool:
    """Whether a sum has all terms of `factor * part`, with the same signs and at least these coefficients."""
    for monomial, k in part.items():
        mine, theirs = factor * k, terms.get(monomial, 0)
        if not (theirs >= mine if mine > 0 else theirs <= mine):
            return False
    return True


def _is_mirrored(atom: FloorDiv, n_terms: Terms, scale: int) -> bool:
    """Whether the constructor makes `-1 - n//d` of `(-1 - n)//d`.

    For a number d it does. For an expression it does if d >= 1 and no
    coefficient of n is half of that of d: such a coefficient would keep its sign.
    """
    divisor = atom._parts[1]
    if isinstance(divisor, int):
        return True
    lo, _ = bounds_of(divisor)
    return lo is not None and lo >= 1 and all(2 * abs(k) != abs(scale) for k in n_terms.values())


def _of_quotients(monomial: Expr, coefficient: int, atom: FloorDiv, terms: Terms) -> Iterator[Remainder]:
    """Candidates for `k*w*((n//e) % (d//e))`, for numbers: e divides d, `atom` is n//d, and n//e occurs in the sum."""
    numerator, d = atom._parts
    outer = exact_quotient(monomial, atom)
    if not isinstance(d, int):
        return
    n_terms, n_const = terms_of(numerator)
    for other in terms:
        if other._height != atom._height or not divides(outer, other):
            continue
        inner = exact_quotient(other, outer)
        if type(inner) is not FloorDiv or inner is atom:
            continue
        inside, e = inner._parts
        if not isinstance(e, int) or e >= d or d % e or (coefficient * e) % d:
            continue
        inner_terms, inner_const = terms_of(inside)
        shift, apart = divmod(n_const - inner_const, e)
        if not apart and inner_terms == n_terms:
            yield Remainder(({inner: 1}, shift), ({}, d // e), -coefficient * e // d, outer, atom)
