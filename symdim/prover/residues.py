"""How divisions by numbers change with the leaves inside them.

Law: let u(v + P) == u(v) + t for all v. Then floor(u/c) changes by t/g when v grows by P*c/g, where g = gcd(c, t).
So v := m*k + r turns every division that contains v into a polynomial, if m is a common period of these divisions.
"""

from __future__ import annotations

from math import gcd, lcm

from symdim.algebra.expr import Expr, FloorDiv
from symdim.algebra.order import order
from symdim.algebra.polynomials import powers_of, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim

    Periods = dict[Expr, tuple[int, int | None]]  # leaf -> (period, change over it; None: not a constant)


def moduli(atoms: list[Expr]) -> list[tuple[Expr, int]]:
    """Pairs (leaf, m), the smallest m > 1 first. A leaf is a variable, a maximum, or a division by an expression.

    >>> from symdim import Var
    >>> x, y = Var("x"), Var("y")
    >>> moduli([(2 * x + y) // 6, y // 4])
    [(x, 3), (y, 12)]
    """
    known: dict[Expr, Periods] = {}
    found: dict[Expr, int] = {}
    for atom in sorted(atoms, key=lambda a: a.height):
        if isinstance(atom, FloorDiv) and isinstance(atom.parts[1], int):
            periods = known[atom] = _of_quotient(_of_sum(atom.parts[0], known), atom.parts[1])
            for leaf, (period, _) in periods.items():
                found[leaf] = lcm(found.get(leaf, 1), period)
    return sorted(((leaf, m) for leaf, m in found.items() if m > 1), key=lambda pair: (pair[1], order(pair[0])))


def moduli_of_equations(sums: list[Dim]) -> list[tuple[Expr, int]]:
    """Pairs (leaf, m): modulo a coefficient m of a sum that is 0, only the terms with other coefficients remain.

    >>> from symdim import Var
    >>> x, q = Var("x"), Var("q")
    >>> moduli_of_equations([x**2 - 8 * q - 5])
    [(x, 8)]
    """
    found: dict[tuple[Expr, int], None] = {}
    for dim in sums:
        terms, _ = terms_of(dim)
        for m in {abs(k): None for k in terms.values() if abs(k) > 1}:
            for unit in sorted(terms, key=order):
                if terms[unit] % m:
                    found.update({(atom, m): None for atom in powers_of(unit)})
    return sorted(found, key=lambda pair: (pair[1], order(pair[0])))


def _of_quotient(periods: Periods, c: int) -> Periods:
    result: Periods = {}
    for leaf, (period, change) in periods.items():
        if change is None:
            result[leaf] = period * c, None
        else:
            g = gcd(c, change)
            result[leaf] = period * c // g, change // g
    return result


def _of_sum(dim: Dim, known: dict[Expr, Periods]) -> Periods:
    result: Periods = {}
    for unit, k in terms_of(dim)[0].items():
        powers = powers_of(unit)
        linear = len(powers) == 1 and powers.get(unit) == 1
        for atom in powers:
            for leaf, (period, change) in known.get(atom, {atom: (1, 1)}).items():
                before, total = result.get(leaf, (1, 0))
                common = lcm(before, period)
                if not linear or change is None or total is None:
                    result[leaf] = common, None
                else:
                    result[leaf] = common, total * (common // before) + k * change * (common // period)
    return result
