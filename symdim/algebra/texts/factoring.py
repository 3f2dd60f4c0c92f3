"""Sums that are products, for shorter texts. The expressions stay expanded."""

from __future__ import annotations

from math import gcd

from symdim.algebra.constructors.arithmetic import multiply, scale
from symdim.algebra.constructors.long_division import common_factor, divided, long_division
from symdim.algebra.expr import Expr
from symdim.algebra.order import dim_order, leading
from symdim.algebra.polynomials import exact_quotient, has_sum_factor, powers_of, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Terms

MOST_TERMS = 32  # the most terms of a sum that is factored: long division is quadratic in this number


def factored(node: Expr) -> tuple[int, Expr | None, list[Expr]] | None:
    """(k, u, sums) with k*u*product(sums) == node, for a number k and a product of atoms u; None if none is found.

    It finds numbers and atoms that all terms share, and sums that are linear in an atom that no other factor has.

    >>> from symdim import Var
    >>> x, y, z = Var("x"), Var("y"), Var("z")
    >>> factored(2 * x * (y + 1) * (z - 3)), factored(x * y + z)
    ((2, x, [y + 1, z - 3]), None)
    """
    terms, const = terms_of(node)
    if not 2 <= len(terms) + (const != 0) <= MOST_TERMS or any(has_sum_factor(monomial) for monomial in terms):
        return None
    k, monomial, part = _primitive(terms, const)
    if not isinstance(part, Expr):
        return None
    sums: list[Expr] = []
    while (pair := _factors(part)) is not None:
        factor, part = pair
        sums.append(factor)
    sums.append(part)
    if k == 1 and monomial is None and len(sums) == 1:
        return None
    sums.sort(key=dim_order)
    product: Dim = k if monomial is None else scale(monomial, k)
    for factor in sums:
        product = multiply(product, factor)
    return (k, monomial, sums) if product is node else None


def _primitive(terms: Terms, const: int) -> tuple[int, Expr | None, Dim]:
    """(k, u, p) with the sum == k*u*p, where the terms of p share no number, no sign and no atom.

    p is a number where the terms cancel: `n//2 + (n + 1)//2 - n`, which a longer sum may have kept as it was.
    """
    k = gcd(const, *terms.values())
    if const <= 0 and all(c < 0 for c in terms.values()):
        k = -k
    monomial = None if const else common_factor(list(terms))
    return k, monomial, divided(terms, const // k, k, monomial)


def _factors(dim: Expr) -> tuple[Expr, Expr] | None:
    """(f, g) with f*g == dim, both sums. g is the coefficient of an atom of the leading term."""
    terms, _ = terms_of(dim)
    atoms = sorted(powers_of(leading(terms)), key=dim_order)
    return next((found for atom in atoms if (found := factors_at(dim, terms, atom)) is not None), None)


def factors_at(dim: Expr, terms: Terms, atom: Expr) -> tuple[Expr, Expr] | None:
    """(f, g) with f*g == dim, both sums, where g is the coefficient of an atom in which the sum is linear."""
    powers = [powers_of(monomial).get(atom, 0) for monomial in terms]
    if max(powers) > 1:
        return None
    cofactor: Terms = {}
    number = 0
    for (monomial, k), power in zip(terms.items(), powers, strict=True):
        rest = exact_quotient(monomial, atom) if power else None
        if rest is not None:
            cofactor[rest] = k
        elif power:
            number = k
    if len(cofactor) + (number != 0) < 2:
        return None
    _, _, g = _primitive(cofactor, number)
    if not isinstance(g, Expr):
        return None
    f, left = long_division(dim, g)
    if left == 0 and isinstance(f, Expr) and len(terms_of(f)[0]) + (terms_of(f)[1] != 0) > 1:
        return f, g
    return None
