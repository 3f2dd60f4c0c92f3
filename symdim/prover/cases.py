"""Case distinctions. Each one gives a list of problems; at least one of them holds.

maximum     max(a, b) == a with a >= b, or == b with b >= a; the same for a minimum
residue     v == m*k + r for one r in 0..m-1
value       a variable or division with few possible values has one of them
sign        v >= 0 or v <= -1
"""

from __future__ import annotations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import subtract
from symdim.algebra.evaluate import children, postorder
from symdim.algebra.expr import Expr, Extremum, Max
from symdim.algebra.intervals import is_empty, plus, unscaled
from symdim.algebra.order import order
from symdim.algebra.variable import Var
from symdim.prover.axioms import atoms_of, defining
from symdim.prover.budget import words_of
from symdim.prover.hypotheses import Problem
from symdim.prover.residues import moduli, moduli_of_equations
from symdim.relations.relation import Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from symdim.algebra.expr import Dim
    from symdim.prover.hypotheses import Reasons

MAXIMUM = "max(a, b) and min(a, b) are one of their arguments"
RESIDUE = "every integer is m*k + r for one r in 0..m-1"
VALUE = "a bounded integer has one of finitely many values"
SIGN = "an integer is >= 0 or <= -1"
_MODULUS = 128
_VALUES = 12


def structural(problem: Problem) -> list[Problem] | None:
    """The first distinction that makes expressions simpler: maxima and minima, signs; None where there is none."""
    for atom in _extrema(problem):
        return _by_argument(problem, atom)
    for v in atoms_of([h.left for h in problem.hypotheses]):
        if isinstance(v, Var) and v.lo is None and (v.hi is None or v.hi >= 0):
            return _by_sign(problem, v)
    return None


def arithmetic(problem: Problem, cases: int) -> Iterator[list[Problem]]:
    """Distinctions of residues and values into at most this many cases, the smallest first. A lazy iterator."""
    atoms = atoms_of([h.left for h in problem.hypotheses])
    congruences = [h.left for h in problem.hypotheses if h.kind == "equal"]
    problem.budget.work(sum([words_of(dim) ** 2 for dim in congruences]))
    for leaf, m in (*moduli(atoms), *moduli_of_equations(congruences)):
        if m <= cases:
            yield _by_residue(problem, leaf, m)
    for atom in atoms:
        lo, hi = bounds_of(atom)
        if lo is not None and hi is not None and hi - lo < min(cases, _VALUES) and not isinstance(atom, Extremum):
            yield _by_value(problem, atom, lo, hi)


def _extrema(problem: Problem) -> list[Extremum]:
    """Maxima and minima whose parts hold no other one, those of the first hypothesis (the goal) before the others."""
    found: dict[Extremum, bool] = {}  # whether one is in the goal
    above: set[Dim] = set()  # what is a maximum or minimum, or holds one
    for number, h in enumerate(problem.hypotheses):
        for node in postorder(h.left) if isinstance(h.left, Expr) and h.left.height else ():
            if any(child in above for child in children(node)):
                above.add(node)
            elif isinstance(node, Extremum):
                found.setdefault(node, number == 0)
                above.add(node)
    return sorted(found, key=lambda a: (not found[a], a.height, len(a.parts), order(a)))


def _by_argument(problem: Problem, atom: Extremum) -> list[Problem]:
    reasons: Reasons = frozenset((MAXIMUM,))
    result = []
    problem.budget.work(len(atom.parts) ** 2)
    for i, part in enumerate(atom.parts):
        more = []
        for j, other in enumerate(atom.parts):
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
        ends = unscaled(plus(bounds_of(v), (-r, -r)), m)
        if is_empty(ends):
            continue
        value = m * problem.fresh(v.name if isinstance(v, Var) else "q", *ends) + r
        result.append(problem.case({v: value}, reasons, defining(v, value, reasons)))
    return result


def _by_value(problem: Problem, atom: Expr, lo: int, hi: int) -> list[Problem]:
    reasons: Reasons = frozenset((VALUE,))
    result = []
    for value in range(lo, hi + 1):
        result.append(problem.case({atom: value}, reasons, defining(atom, value, reasons)))
    return result
