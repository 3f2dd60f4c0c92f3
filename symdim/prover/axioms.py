"""Laws of atoms as linear constraints over monomials, their products, and the refutation of hypotheses by them.

    division    n - d*(n//d) >= 0  and  d*(n//d) + d - 1 - n >= 0      d >= 1
    maximum     max(a, b) - a >= 0,  a - min(a, b) >= 0
    product     c*f >= 0                                               c >= 0, f >= 0
    square      (a - b)**2 >= 0,  (a - v)*(a - v - 1) >= 0 for a number v

Each constraint has its reasons as origins, so a certificate can list what was used. Products of constraints are made
where linear combinations do not refute; only those that share monomials of degree 2 or more with the others can help.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING

from symdim.algebra.bounds import bounds_of, linear_bounds
from symdim.algebra.constructors.arithmetic import subtract
from symdim.algebra.dims import at_least
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Expr, FloorDiv, Mul
from symdim.algebra.order import order
from symdim.algebra.polynomials import exact_quotient, powers_of, terms_of, times
from symdim.prover.hypotheses import nonlinear
from symdim.prover.linear import System, refute
from symdim.relations.laws import parts_at_least, parts_at_most
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.prover.budget import Budget
    from symdim.prover.hypotheses import Reasons

DIVISION = "d*(n//d) <= n <= d*(n//d) + d - 1 for d >= 1"
MAXIMUM = "max(a, b) >= a >= min(a, b)"
PRODUCT = "a product of numbers >= 0 is >= 0"
SQUARE = "a square is >= 0"
NEIGHBOURS = "no integer lies between v and v + 1"
RANGE = "intervals of sums, products, quotients, maxima and minima"
LINEAR = "linear combination (Farkas)"
_BRANCHES = 8  # the most branches of branch and bound in one linear system
_ROWS = 90  # products are added until there are this many constraints
_UNITS = 60
_FACTORS = 6  # differences are squared for at most this many factors
_PRODUCT = 2  # the price of one product in steps of the budget


def atoms_of(dims: list[Dim]) -> list[Expr]:
    """All monomials below some dimensions that are atoms, in structural order."""
    seen: dict[Expr, None] = {}
    for dim in dims:
        if isinstance(dim, Expr):
            seen.update(dict.fromkeys(postorder(dim)))
    return sorted([node for node in seen if node._terms is None and type(node) is not Mul], key=order)


def axioms(atoms: list[Expr]) -> list[Relation]:
    """The laws of division, maximum and minimum for some atoms: what follows from `atom == atom`."""
    return [
        law
        for atom in atoms
        for law in defining(atom, atom, frozenset((DIVISION if isinstance(atom, FloorDiv) else MAXIMUM,)))
    ]


def defining(atom: Expr, value: Dim, reasons: Reasons) -> list[Relation]:
    """The constraints on the parts of an atom that follow from `atom == value`."""
    parts = [*(parts_at_least(atom, value) or ()), *(parts_at_most(atom, value) or ())]
    return [Relation("at_least", part, 0, reasons) for part in parts]


def constraints_of(hypotheses: list[Relation]) -> list[Relation]:
    """The hypotheses other than `!=`."""
    return [h for h in hypotheses if h.kind != "unequal"]


def contradiction(constraints: list[Relation], budget: Budget) -> tuple[Reasons | None, dict[Expr, int] | None]:
    """(reasons, None) if the constraints have no common solution; else (None, a solution over monomials or None)."""
    system = System()
    index: dict[Expr, int] = {}
    reasons: list[Reasons] = []
    monomials = sorted({u: None for c in constraints for u in terms_of(c.left)[0]}, key=order)
    for monomial in monomials:
        index[monomial] = system.variable(*bounds_of(monomial))
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
        return None, {monomial: system.value(v)[0] // system.value(v)[1] for monomial, v in index.items()}
    return frozenset((LINEAR,)).union(*[reasons[v] for v, _ in used]), None


# -- products ----------------------------------------------------------------------------------------------------------


def products(constraints: list[Relation], laws: list[Relation], budget: Budget) -> list[Relation]:
    """Products of constraints that share monomials of degree 2 or more with the others; one at least must be so."""
    made = _Products([*constraints, *laws], budget)
    factors = {atom: None for monomial in sorted(made.known, key=order) for atom in powers_of(monomial)}
    limits = [subtract(hi, f) for f in factors if (hi := bounds_of(f)[1]) is not None]
    multipliers = [f for f in factors if at_least(f, 0)]
    ranges = [Relation("at_least", dim, 0, frozenset((RANGE,))) for dim in limits]
    made.by_factors([*constraints, *laws, *ranges], multipliers, 0)
    first = [*constraints, *laws, *made.products]
    made.squares()
    made.neighbours(constraints)
    made.by_factors(first, multipliers, 1)
    made.by_factors([*constraints, *laws, *made.products], multipliers, 2)
    return made.products


class _Products:
    """The products so far, and the monomials of degree 2 or more that occur in them and in the constraints."""

    def __init__(self, constraints: list[Relation], budget: Budget) -> None:
        self.products: list[Relation] = []
        self.known = nonlinear([c.left for c in constraints])
        self._seen = {c.left for c in constraints}
        self._budget = budget

    def enter(self, constraint: Relation, most_new: int) -> None:
        """Add a constraint if it has at most `most_new` new monomials and tells the linear system something new."""
        dim = constraint.left
        self._budget.spend(_PRODUCT)
        self._budget.charge((dim,))
        if isinstance(dim, int) or dim in self._seen or len(self.products) >= _ROWS:
            return
        lo, _ = linear_bounds(*terms_of(dim))  # the linear system knows this much without the constraint
        if lo is not None and lo >= 0 and constraint.kind == "at_least":
            return
        monomials = nonlinear([dim])
        new = monomials - self.known
        if len(new) > most_new or len(self.known) + len(new) > _UNITS:
            return
        if most_new < _UNITS and monomials and not monomials & self.known:
            return
        self._seen.add(dim)
        self.known.update(new)
        self.products.append(constraint)

    def by_factors(self, constraints: list[Relation], factors: list[Expr], most_new: int) -> None:
        """Products with factors that are at least 0."""
        for c in constraints:
            for f in factors:
                if len(self.products) < _ROWS and self._is_near(c.left, f, most_new):
                    self.enter(Relation(c.kind, self._budget.product(c.left, f), 0, c.origins | {PRODUCT}), most_new)

    def _is_near(self, dim: Dim, factor: Expr, most_new: int) -> bool:
        """Whether a product may be added, judged by its monomials. Most may not, so this saves computing them."""
        if factor._terms is not None:
            return True
        self._budget.charge((dim,))
        terms, const = terms_of(dim)
        monomials = {u for u in (*[times(u, factor) for u in terms], factor if const else None) if type(u) is Mul}
        return bool(monomials & self.known) and len(monomials - self.known) <= most_new

    def squares(self) -> None:
        """Squares of differences of first factors that occur together, times factors where a degree is 3."""
        products = [powers_of(monomial) for monomial in sorted(self.known, key=order)]
        few = list({a: None for powers in products for a, exponent in powers.items() if exponent >= 2})[:_FACTORS]
        natural = [f for f in few if at_least(f, 0)] if any(sum(p.values()) >= 3 for p in products) else []
        for difference in [subtract(a, b) for a, b in combinations(few, 2)] + [subtract(a, 1) for a in few]:
            square = self._budget.product(difference, difference)
            self.enter(Relation("at_least", square, 0, frozenset((SQUARE,))), 2)
            for f in natural:
                self.enter(Relation("at_least", self._budget.product(square, f), 0, frozenset((SQUARE, PRODUCT))), 2)

    def neighbours(self, constraints: list[Relation]) -> None:
        """`(a - v)*(a - v - 1) >= 0` at the vertex of each `k*a**2 + l*a`, also where both terms have a factor >= 0.

        The parabola of a constraint is least between v and v + 1, so this is all that integers say of it.
        """
        for c in constraints:
            terms, _ = terms_of(c.left)
            for monomial in sorted(terms, key=order):
                for atom in [a for a, exponent in powers_of(monomial).items() if exponent == 2]:
                    factor = exact_quotient(exact_quotient(monomial, atom), atom)
                    single = atom if factor is None else exact_quotient(monomial, atom)
                    assert single is not None
                    v = -terms.get(single, 0) // (2 * terms[monomial])
                    dim = self._budget.product(subtract(atom, v), subtract(atom, v + 1))
                    if factor is not None:
                        if not at_least(factor, 0):
                            continue
                        dim = self._budget.product(dim, factor)
                    self.enter(Relation("at_least", dim, 0, frozenset((NEIGHBOURS,))), 0)
