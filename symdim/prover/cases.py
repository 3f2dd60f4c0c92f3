"""Case distinctions. Each one gives a list of problems; at least one of them holds.

maximum     max(a, b) == a with a >= b, or == b with b >= a; the same for a minimum
residue     v == m*k + r for one r in 0..m-1
sign        v >= 0 or v <= -1
"""

from __future__ import annotations

from math import gcd, lcm

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import subtract
from symdim.algebra.evaluate import children, postorder
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max
from symdim.algebra.intervals import add, is_empty, unscaled
from symdim.algebra.order import order
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.algebra.variable import Var
from symdim.prover.axioms import atoms_of, defining
from symdim.prover.budget import words_of
from symdim.prover.hypotheses import Problem
from symdim.relations.relation import Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from symdim.algebra.expr import Dim
    from symdim.prover.hypotheses import Reasons

    Periods = dict[Expr, tuple[int, int | None]]  # leaf -> (period, change over it; None: not a constant)

MAXIMUM = "max(a, b) and min(a, b) are one of their arguments"
RESIDUE = "every integer is m*k + r for one r in 0..m-1"
SIGN = "an integer is >= 0 or <= -1"


def structural(problem: Problem) -> list[Problem] | None:
    """The first distinction that makes expressions simpler: maxima and minima, signs; None where there is none."""
    for atom in _extrema(problem):
        return _by_argument(problem, atom)
    for v in atoms_of([h.left for h in problem.hypotheses]):
        if isinstance(v, Var) and v.lo is None and (v.hi is None or v.hi >= 0):
            return _by_sign(problem, v)
    return None


def arithmetic(problem: Problem, cases: int) -> Iterator[list[Problem]]:
    """Distinctions of residues into at most this many cases, the smallest first. A lazy iterator."""
    congruences = [h.left for h in problem.hypotheses if h.kind == "equal"]
    problem.budget.work(sum([words_of(dim) ** 2 for dim in congruences]))
    atoms = atoms_of([h.left for h in problem.hypotheses])
    for leaf, m in (*moduli(atoms), *moduli_of_equations(congruences)):
        if m <= cases:
            yield _by_residue(problem, leaf, m)


def _extrema(problem: Problem) -> list[Extremum]:
    """Maxima and minima whose parts hold no other one, those of the first hypothesis (the goal) before the others."""
    in_goal: dict[Extremum, bool] = {}  # whether one is in the goal
    above: set[Dim] = set()  # what is a maximum or minimum, or holds one
    for number, h in enumerate(problem.hypotheses):
        for node in postorder(h.left) if isinstance(h.left, Expr) and h.left._height else ():
            if any(child in above for child in children(node)):
                above.add(node)
            elif isinstance(node, Extremum):
                in_goal.setdefault(node, number == 0)
                above.add(node)
    return sorted(in_goal, key=lambda a: (not in_goal[a], a._height, len(a._parts), order(a)))


def _by_argument(problem: Problem, atom: Extremum) -> list[Problem]:
    reasons: Reasons = frozenset((MAXIMUM,))
    result = []
    problem.budget.work(len(atom._parts) ** 2)
    for i, part in enumerate(atom._parts):
        more = []
        for j, other in enumerate(atom._parts):
            if i != j:
                margin = 1 if j < i else 0  # the first of equal arguments is taken
                ahead = subtract(part, other) if isinstance(atom, Max) else subtract(other, part)
                more.append(Relation("at_least", subtract(ahead, margin), 0, reasons))
        result.append(problem.case({atom: part}, reasons, more))
    return result


def _by_sign(problem: Problem, v: Var) -> list[Problem]:
    reasons: Reasons = frozenset((SIGN,))
    up = problem.fresh(v.name, 0, v.hi)
    down = problem.fresh(v.name, 0, None)
    return [problem.case({v: up}, reasons, []), problem.case({v: -1 - down}, reasons, [])]


def _by_residue(problem: Problem, v: Expr, m: int) -> list[Problem]:
    reasons: Reasons = frozenset((RESIDUE,))
    result = []
    for r in range(m):
        ends = unscaled(add(bounds_of(v), (-r, -r)), m)
        if is_empty(ends):
            continue
        value = m * problem.fresh(v.name if isinstance(v, Var) else "q", *ends) + r
        result.append(problem.case({v: value}, reasons, defining(v, value, reasons)))
    return result


# -- periods of divisions ----------------------------------------------------------------------------------------------
#
# Law: let u(v + P) == u(v) + t for all v. Then floor(u/c) changes by t/g when v grows by P*c/g, where g = gcd(c, t).
# So v := m*k + r turns every division that contains v into a polynomial, if m is a common period of these divisions.


def moduli(atoms: list[Expr]) -> list[tuple[Expr, int]]:
    """Pairs (leaf, m), the smallest m > 1 first. A leaf is a variable, a maximum, or a division by an expression.

    >>> from symdim import Var
    >>> x, y = Var("x"), Var("y")
    >>> moduli([(2 * x + y) // 6, y // 4])
    [(x, 3), (y, 12)]
    """
    known: dict[Expr, Periods] = {}
    periods_of: dict[Expr, int] = {}
    for atom in sorted(atoms, key=lambda a: a._height):
        if isinstance(atom, FloorDiv) and isinstance(atom._parts[1], int):
            periods = known[atom] = _of_quotient(_of_sum(atom._parts[0], known), atom._parts[1])
            for leaf, (period, _) in periods.items():
                periods_of[leaf] = lcm(periods_of.get(leaf, 1), period)
    return sorted(((leaf, m) for leaf, m in periods_of.items() if m > 1), key=lambda pair: (pair[1], order(pair[0])))


def moduli_of_equations(sums: list[Dim]) -> list[tuple[Expr, int]]:
    """Pairs (leaf, m): modulo a coefficient m of a sum that is 0, only the terms with other coefficients remain.

    >>> from symdim import Var
    >>> x, q = Var("x"), Var("q")
    >>> moduli_of_equations([x**2 - 8 * q - 5])
    [(x, 8)]
    """
    pairs: dict[tuple[Expr, int], None] = {}
    for dim in sums:
        terms, _ = terms_of(dim)
        for m in {abs(k): None for k in terms.values() if abs(k) > 1}:
            for monomial in sorted(terms, key=order):
                if terms[monomial] % m:
                    pairs.update({(atom, m): None for atom in powers_of(monomial)})
    return sorted(pairs, key=lambda pair: (pair[1], order(pair[0])))


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
    for monomial, k in terms_of(dim)[0].items():
        powers = powers_of(monomial)
        linear = len(powers) == 1 and powers.get(monomial) == 1
        for atom in powers:
            for leaf, (period, change) in known.get(atom, {atom: (1, 1)}).items():
                before, total = result.get(leaf, (1, 0))
                common = lcm(before, period)
                if not linear or change is None or total is None:
                    result[leaf] = common, None
                else:
                    result[leaf] = common, total * (common // before) + k * change * (common // period)
    return result
