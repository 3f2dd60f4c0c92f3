"""Floor divisions of maxima and minima by one divisor d >= 1, and maxima and minima of such divisions.

Law: floor(max(a, b)/d) = max(floor(a/d), floor(b/d)), the same for the minimum, since rounding never changes an order.
So a division of a maximum is the maximum of divisions, and its form depends on these leaves alone. If all leaves except
numbers are divisions by d, one division stands outside, as in `min(N, 512)//16`. Otherwise divisions stand inside:
`min(2*x, y)//2` is `min(x, y//2)`.
"""

from __future__ import annotations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors import arithmetic, extrema, floordiv, lattice, numerators
from symdim.algebra.expr import FloorDiv, Max, Min
from symdim.algebra.order import leading
from symdim.algebra.polynomials import NESTED, SPLIT, divides, has_extrema, split_unit, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr, Sum

    Outside = tuple[int, int, dict[Dim, Dim]]


def outside(leaves: list[Dim]) -> Outside | None:
    """(sign, d, {leaf: n}) if each leaf is sign * (n//d) for one d >= 1, and not all are numbers; else None.

    The sign is -1 if all divisions are subtracted. Otherwise a subtracted one is written as -(n//d) = (d - 1 - n)//d.
    """
    divisor = 0
    found: list[tuple[Dim, Dim, int, Dim]] = []  # (leaf, n, k, rest) with leaf = k*(n//d) + rest
    for leaf in leaves:
        if isinstance(leaf, int):
            continue
        terms, const = terms_of(leaf)
        floors = [unit for unit in terms if type(unit) is FloorDiv]
        if len(floors) != 1 or abs(terms[floors[0]]) != 1 or any(unit._flags & SPLIT for unit in terms):
            return None  # a leaf with several maxima would get another division when its numerator is made
        n, d = floors[0]._parts
        if not isinstance(d, int) or d != (divisor or d):
            return None
        divisor = d
        rest = arithmetic.sum_of({unit: c for unit, c in terms.items() if unit is not floors[0]}, const)
        found.append((leaf, n, terms[floors[0]], rest))
    if not found:
        return None
    sign = -1 if all(k < 0 for _, _, k, _ in found) else 1
    by_leaf: dict[Dim, Dim] = {}
    for leaf, n, k, rest in found:
        numerator = n if k == sign else arithmetic.subtract(divisor - 1, n)
        by_leaf[leaf] = arithmetic.add(numerator, arithmetic.scale(rest, sign * divisor))
    # 257 is 514//2 and 515//2: take the numerator that the divisions have modulo d
    offset = min([terms_of(n)[1] % divisor for n in by_leaf.values()])
    for leaf in leaves:
        if isinstance(leaf, int):
            by_leaf[leaf] = divisor * sign * leaf + offset
    return sign, divisor, by_leaf


def inside(n: Dim, d: Dim) -> Sum | None:
    """floor(n/d) for d >= 1, if n is a multiple of a maximum or minimum plus a rest; None beyond the budget.

    It is also None for an expression d that divides no argument: such a division stays as written. It stays, too, if an
    argument still has a maximum or minimum in a product: the division of that argument may lead back to this one.
    """
    unit = split_unit(n)
    if unit is None or has_extrema(d):
        return None
    kind = Max if terms_of(n)[0][unit] > 0 else Min
    clauses = lattice.distributed(kind, [(n,)])
    if clauses is None or any(split_unit(leaf) is not None for clause in clauses for leaf in clause):
        return None
    if not isinstance(d, int):
        leaves = [leaf for clause in clauses for leaf in clause]
        if any(map(has_extrema, leaves)) or not any(_has_multiple(leaf, d) for leaf in leaves):
            return None
    clauses = [tuple([floordiv.floordiv(leaf, d) for leaf in clause]) for clause in clauses]
    if not isinstance(d, int) and all(_has_division(leaf) for clause in clauses for leaf in clause):
        return None
    return extrema.of_clauses(kind, clauses)


def divided(n: Dim, d: int) -> Sum | None:
    """floor(n / d) for d >= 1 as a sum with one division, also if n has a maximum or minimum.

    None if n has a multiple k of one with |k| >= d, or several of them: floordiv.py splits these off.
    """
    unit = split_unit(n)
    if unit is None:
        return None if any(u._flags & (SPLIT | NESTED) for u in terms_of(n)[0]) else terms_of(floordiv.floordiv(n, d))
    terms, const = terms_of(n)
    if abs(terms[unit]) >= d:
        return None
    rest = {u: k if u is unit else numerators.nearest_residue(k, d) for u, k in terms.items()}
    whole = {u: (k - rest[u]) // d for u, k in terms.items() if k != rest[u]}
    offset, const = divmod(const, d)
    atom = floordiv.quotient_atom(arithmetic.sum_of({u: k for u, k in rest.items() if k}, const), d)
    lo, hi = bounds_of(atom)
    if lo is not None and lo == hi:
        return whole, offset + lo
    whole[atom] = 1
    return whole, offset


def _has_multiple(n: Dim, d: Expr) -> bool:
    """Whether the leading term of d divides a term of n."""
    lead = leading(terms_of(d)[0])
    return any(divides(lead, unit) for unit in terms_of(n)[0])


def _has_division(dim: Dim) -> bool:
    return isinstance(dim, int) or any(type(unit) is FloorDiv for unit in terms_of(dim)[0])
