"""Products of constraints as further constraints, for cases that linear combinations of the hypotheses do not refute.

Only products that share units of degree 2 or more with the other constraints can help. The others are left out.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd

from symdim.algebra.bounds import bounds_of, linear_bounds
from symdim.algebra.constructors.arithmetic import add, scale, subtract, sum_of, total
from symdim.algebra.dims import at_least
from symdim.algebra.expr import Expr, FloorDiv, Mul
from symdim.algebra.order import order
from symdim.algebra.polynomials import divides, exact_quotient, powers_of, terms_of, times, unit_of
from symdim.prover.axioms import PRODUCT, RANGE, SQUARE, divisor_is_positive
from symdim.prover.hypotheses import nonlinear
from symdim.relations.relation import Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.prover.budget import Budget

_ROWS = 90  # products are added until there are this many constraints
_UNITS = 60
_FACTORS = 6  # differences are squared for at most this many factors
_PRODUCT = 2  # the price of one product in steps of the budget


def products(given: list[Relation], laws: list[Relation], atoms: list[Expr], budget: Budget) -> list[Relation]:
    """Products of constraints that share units of degree 2 or more with the others; at least one unit must be so."""
    made = _Products([*given, *laws], budget)
    factors = made.factors(1)
    degree = max(sum(powers_of(u).values()) for u in made.known)
    made.by_divisors(given, atoms)
    squared = made.factors(2)
    limits = [subtract(hi, f) for f in factors if (hi := bounds_of(f)[1]) is not None]
    multipliers = [f for f in factors if at_least(f, 0)]
    made.by_factors(
        [*given, *laws, *[Relation("at_least", dim, 0, frozenset((RANGE,))) for dim in limits]], multipliers, 0
    )
    first = [*given, *laws, *made.found]
    made.completed(given)
    made.squares(squared, degree)
    made.by_factors(first, multipliers, 1)
    made.by_factors([*given, *laws, *made.found], multipliers, 2)
    made.pairs(given)
    return made.found


class _Products:
    """The products so far, and the units of degree 2 or more that occur in them and in the constraints."""

    def __init__(self, constraints: list[Relation], budget: Budget) -> None:
        self.found: list[Relation] = []
        self.known = nonlinear([c.left for c in constraints])
        self._seen = {c.left for c in constraints}
        self._budget = budget

    def factors(self, least: int) -> list[Expr]:
        """The factors that occur in at least `least` units."""
        return list({a: None for u in sorted(self.known, key=order) for a, e in powers_of(u).items() if e >= least})

    def enter(self, constraint: Relation, most_new: int) -> None:
        """Add a constraint if it has at most `most_new` new units and tells the linear system something new."""
        dim = constraint.left
        self._budget.spend(_PRODUCT)
        self._budget.charge((dim,))
        if isinstance(dim, int) or dim in self._seen or len(self.found) >= _ROWS:
            return
        lo, _ = linear_bounds(*terms_of(dim))  # the linear system knows this much without the constraint
        if lo is not None and lo >= 0 and constraint.kind == "at_least":
            return
        units = nonlinear([dim])
        new = units - self.known
        if len(new) > most_new or len(self.known) + len(new) > _UNITS:
            return
        if most_new < _UNITS and units and not units & self.known:
            return
        self._seen.add(dim)
        self.known.update(new)
        self.found.append(constraint)

    def by_divisors(self, given: list[Relation], atoms: list[Expr]) -> None:
        """Products with the divisors of quotients."""
        divisors = {a.parts[1]: None for a in atoms if isinstance(a, FloorDiv) and isinstance(a.parts[1], Expr)}
        positive = [d for d in divisors if divisor_is_positive(d)]
        for c in given:
            for d in positive:
                self.enter(Relation(c.kind, self._budget.product(c.left, d), 0, c.origins | {PRODUCT}), _UNITS)

    def by_factors(self, constraints: list[Relation], factors: list[Expr], most_new: int) -> None:
        """Products with factors that are at least 0."""
        for c in constraints:
            for f in factors:
                if len(self.found) < _ROWS and self._is_near(c.left, f, most_new):
                    self.enter(Relation(c.kind, self._budget.product(c.left, f), 0, c.origins | {PRODUCT}), most_new)

    def _is_near(self, dim: Dim, factor: Expr, most_new: int) -> bool:
        """Whether a product may be added, judged by its units. Most may not, so this saves computing them."""
        if factor.terms is not None:
            return True
        self._budget.charge((dim,))
        terms, const = terms_of(dim)
        units = {u for u in (*[times(u, factor) for u in terms], factor if const else None) if type(u) is Mul}
        return bool(units & self.known) and len(units - self.known) <= most_new

    def squares(self, factors: list[Expr], degree: int) -> None:
        """Squares of differences of factors, times factors up to the degree of the units that occur."""
        few = factors[:_FACTORS]
        natural = [f for f in few if at_least(f, 0)] if degree >= 3 else []
        for difference in [subtract(a, b) for a, b in combinations(few, 2)] + [add(a, -1) for a in few]:
            square = self._budget.product(difference, difference)
            self.enter(Relation("at_least", square, 0, frozenset((SQUARE,))), 2)
            for f in natural:
                self.enter(Relation("at_least", self._budget.product(square, f), 0, frozenset((SQUARE, PRODUCT))), 2)

    def completed(self, given: list[Relation]) -> None:
        """The squares that complete quadratic constraints: `(2*k*a - L)**2 >= 0` for `-k*a**2 + L*a + r >= 0`.

        Where the numbers in L leave a remainder by all others, the square is never 0: `(2*x - 5)**2 >= 1`.
        """
        for dim in [sign for c in given for sign in ((c.left, scale(c.left, -1)) if c.kind == "equal" else (c.left,))]:
            terms, _ = terms_of(dim)
            squares = [u for u, k in terms.items() if k < 0 and not any(e % 2 for e in powers_of(u).values())]
            for unit in squares[:_FACTORS]:
                side = unit_of({atom: exponent // 2 for atom, exponent in powers_of(unit).items()})
                assert side is not None
                beside = [(exact_quotient(u, side), k) for u, k in terms.items() if u is not unit and divides(side, u)]
                linear = total([k if u is None else scale(u, k) for u, k in beside])
                root = subtract(scale(side, -2 * terms[unit]), linear)
                numbers, const = terms_of(root)
                common = gcd(*numbers.values())
                if const % common == 0:
                    root, least = sum_of({u: n // common for u, n in numbers.items()}, const // common), 0
                else:
                    least = min(const % common, -const % common)
                square = self._budget.product(root, root)
                self.enter(Relation("at_least", subtract(square, least**2), 0, frozenset((SQUARE,))), 2)

    def pairs(self, given: list[Relation]) -> None:
        """Products of two hypotheses."""
        for a, b in combinations(given, 2):
            if len(self.found) >= _ROWS:
                break
            product = self._budget.product(a.left, b.left)
            kind = a.kind if b.kind == "at_least" else b.kind
            self.enter(Relation(kind, product, 0, a.origins | b.origins | {PRODUCT}), 2)
