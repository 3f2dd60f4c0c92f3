"""Laws of atoms and products as linear constraints over units, and the refutation of hypotheses by them.

    division    n - d*(n//d) >= 0  and  d*(n//d) + d - 1 - n >= 0      d >= 1
    maximum     max(a, b) - a >= 0,  a - min(a, b) >= 0
    product     c*f >= 0                                               c >= 0, f >= 0
    square      (a - b)**2 >= 0

Each constraint carries its reasons, so a certificate can list what was used.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import multiply, subtract
from symdim.algebra.dims import at_least
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max, Mul
from symdim.algebra.order import order
from symdim.algebra.polynomials import terms_of
from symdim.prover.hypotheses import remainder_of
from symdim.prover.linear import System, refute
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.prover.budget import Budget
    from symdim.prover.hypotheses import Reasons

DIVISION = "d*(n//d) <= n <= d*(n//d) + d - 1 for d >= 1"
MAXIMUM = "max(a, b) >= a >= min(a, b)"
PRODUCT = "a product of numbers >= 0 is >= 0"
SQUARE = "a square is >= 0"
RANGE = "intervals of sums, products, quotients, maxima and minima"
LINEAR = "linear combination (Farkas)"
_BRANCHES = 8  # the most branches of branch and bound in one linear system


def divisor_is_positive(d: Dim) -> bool:
    """Whether d >= 1 in every assignment in which a division by d has a value."""
    return at_least(d, 0)


def atoms_of(dims: list[Dim]) -> list[Expr]:
    """All units below some dimensions that are atoms, in structural order."""
    seen: dict[Expr, None] = {}
    for dim in dims:
        if isinstance(dim, Expr):
            seen.update(dict.fromkeys(postorder(dim)))
    return sorted([node for node in seen if node.terms is None and type(node) is not Mul], key=order)


def axioms(atoms: list[Expr]) -> list[Relation]:
    """The laws of division, maximum and minimum for some atoms."""
    found: list[Relation] = []
    for atom in atoms:
        if isinstance(atom, FloorDiv):
            n, d = atom.parts
            if divisor_is_positive(d):
                below = subtract(n, multiply(d, atom))
                found.append(Relation("at_least", below, 0, frozenset((DIVISION,))))
                found.append(Relation("at_least", subtract(subtract(d, 1), below), 0, frozenset((DIVISION,))))
        elif isinstance(atom, Extremum):
            found += [Relation("at_least", dim, 0, frozenset((MAXIMUM,))) for dim in margins(atom, atom)]
    return found


def defining(atom: Expr, value: Dim, reasons: Reasons) -> list[Relation]:
    """The constraints on the parts of an atom that follow from `atom == value`."""
    if isinstance(atom, FloorDiv) and divisor_is_positive(atom.parts[1]):
        n, d = atom.parts
        return [*remainder_of(subtract(n, multiply(d, value)), d, reasons)]
    if isinstance(atom, Extremum):
        return [Relation("at_least", dim, 0, reasons) for dim in margins(atom, value)]
    return []


def margins(atom: Extremum, value: Dim) -> list[Dim]:
    """By how much a maximum of this value exceeds each of its arguments, or each of them a minimum."""
    if isinstance(atom, Max):
        return [subtract(value, part) for part in atom.parts]
    return [subtract(part, value) for part in atom.parts]


def constraints_of(hypotheses: list[Relation]) -> list[Relation]:
    """The hypotheses other than `!=`."""
    return [h for h in hypotheses if h.kind != "unequal"]


def contradiction(constraints: list[Relation], budget: Budget) -> tuple[Reasons | None, dict[Expr, int] | None]:
    """(reasons, None) if the constraints have no common solution; else (None, a solution over units or None)."""
    system = System()
    index: dict[Expr, int] = {}
    reasons: list[Reasons] = []
    units = sorted({u: None for c in constraints for u in terms_of(c.left)[0]}, key=order)
    for unit in units:
        index[unit] = system.variable(*bounds_of(unit))
        reasons.append(frozenset((RANGE,)))
    rows: dict[tuple[tuple[int, int], ...], int] = {}
    for kind, dim, _, why in constraints:
        exact = kind == "equal"
        terms, const = terms_of(dim)
        g = gcd(*terms.values())
        if g == 0:
            if const < 0 or (exact and const):
                return why, None
            continue
        if exact and const % g:
            return why, None
        least = -(const // g)
        key = tuple(sorted([(index[u], k // g) for u, k in terms.items()]))
        place = rows.get(key)
        if place is None:
            place = rows[key] = system.sum(dict(key))
            reasons.append(frozenset())
        lower, upper = system.lower[place], system.upper[place]
        tighter = (lower is None or least > lower, exact and (upper is None or least < upper))
        if any(tighter):
            lower, upper = least if tighter[0] else lower, least if tighter[1] else upper
            reasons[place] |= why
            system.restrict(place, lower, upper)
            if lower is not None and upper is not None and lower > upper:
                return reasons[place], None
    budget.spend(len(rows))
    budget.charge(c.left for c in constraints)
    used = refute(system, budget, _BRANCHES)
    if used is None:
        if system.fractional(budget) is not None:
            return None, None
        return None, {unit: system.value(v)[0] // system.value(v)[1] for unit, v in index.items()}
    return frozenset((LINEAR,)).union(*[reasons[v] for v, _ in used]), None
