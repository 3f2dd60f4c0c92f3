"""Division of polynomials with integer coefficients, and their common factors."""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors import arithmetic
from symdim.algebra.order import leading, order
from symdim.algebra.polynomials import accumulate, divides, exact_quotient, powers_of, terms_of, unit_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from symdim.algebra.expr import Dim, Expr, Sum, Terms

_STEPS = 256  # the most steps of a division


def long_division(n: Dim, d: Expr) -> tuple[Dim, Dim]:
    """(q, r) with n == q*d + r.

    Each term of n that the leading term of d divides is reduced, the highest one first, until its coefficient is in
    (-c/2, c/2] for the leading coefficient c of d. The order is a monomial order, so a step adds only lower terms. So
    the division ends, and r is the same for all n that differ by a multiple of d.
    """
    divisor = terms_of(d)
    lead = leading(divisor[0])
    terms, const = terms_of(n)
    return divided_by_lead((terms, const), divisor, lead) if any(divides(lead, unit) for unit in terms) else (0, n)


def divided_by_lead(n: Sum, d: Sum, lead: Expr) -> tuple[Dim, Dim]:
    """The same for sums, where the terms with this unit of d are reduced."""
    (terms, const), (d_terms, d_const) = n, d
    c = d_terms[lead]
    rest = dict(terms)
    quotient: Terms = {}
    whole = 0
    if len(d_terms) == 1 and d_const == 0:
        for unit, k in terms.items():
            q = _rounded(k, c)
            if q and divides(lead, unit):
                if k == q * c:
                    del rest[unit]
                else:
                    rest[unit] = k - q * c
                factor = exact_quotient(unit, lead)
                if factor is None:
                    whole = q
                else:
                    quotient[factor] = q
        return arithmetic.sum_of(quotient, whole), arithmetic.sum_of(rest, const)
    for _ in range(_STEPS):
        reducible = [unit for unit, k in rest.items() if _rounded(k, c) and divides(lead, unit)]
        if not reducible:
            return arithmetic.sum_of(quotient, whole), arithmetic.sum_of(rest, const)
        unit = min(reducible, key=order)
        q, factor = _rounded(rest[unit], c), exact_quotient(unit, lead)
        accumulate(rest, d_terms, -q, factor)
        if factor is None:
            whole += q
            const -= q * d_const
        else:
            accumulate(quotient, {factor: q})
            accumulate(rest, {factor: -q * d_const} if d_const else {})
    return 0, arithmetic.sum_of(dict(terms), n[1])


def _rounded(k: int, c: int) -> int:
    """The q that leaves k - q*c in (-|c|/2, |c|/2]."""
    return (k - nearest_residue(k, abs(c))) // c


def nearest_residue(k: int, c: int) -> int:
    """The r with r == k modulo c in (-c/2, c/2]."""
    r = k % c
    return r - c if 2 * r > c else r


def cancelled(*dims: Dim, any_sign: bool = False) -> list[Dim]:
    """The dimensions without the number that divides all of them, and without the positive factors of all their terms.

    With `any_sign` factors of any sign go, too. A quotient n/d stays then, because no factor of d is 0 where d is not.

    >>> from symdim import Var
    >>> N, M = Var("N"), Var("M")
    >>> cancelled(6 * N * M - 9 * N), cancelled(4, 6 * N + 2)
    ([2*M - 3], [2, 3*N + 1])
    """
    sums = [terms_of(dim) for dim in dims]
    number = gcd(*[x for terms, const in sums for x in (const, *terms.values())])
    units = [] if any(const for _, const in sums) else [unit for terms, _ in sums for unit in terms]
    common = common_powers(units)
    factor = unit_of({atom: k for atom, k in common.items() if any_sign or (bounds_of(atom)[0] or 0) >= 1})
    if number <= 1 and factor is None:
        return list(dims)
    return [divided(terms, const // number, number, factor) for terms, const in sums]


def common_factor(units: Sequence[Expr]) -> Expr | None:
    """The product of the atoms that all these units have; None if there is none."""
    return unit_of(common_powers(units))


def common_powers(units: Sequence[Expr]) -> dict[Expr, int]:
    """The atoms that all these units have, with their least exponents."""
    common: dict[Expr, int] = {}
    for atom, exponent in powers_of(units[0]).items() if units else ():
        least = exponent
        for unit in units:
            least = min(least, powers_of(unit).get(atom, 0))
            if not least:
                break
        else:
            common[atom] = least
    return common


def divided(terms: Terms, const: int, g: int, factor: Expr | None = None) -> Dim:
    """The sum of `terms`, each divided by `g` and `factor`, which divide them, and of the constant."""
    result: Terms = {}
    for unit, k in terms.items():
        left = exact_quotient(unit, factor)
        if left is None:
            const += k // g
        elif left._terms is None:
            result[left] = k // g
        else:  # a sum that was a factor
            accumulate(result, left._terms, k // g)
            const += k // g * left._const
    return arithmetic.sum_of(result, const)
