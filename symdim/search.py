"""The refutation of hypotheses: laws that need no search, then linear constraints, products, and case distinctions."""

from __future__ import annotations

from symdim.axioms import Constraint, atoms_of, axioms, constraints_of, contradiction, nonlinear, products
from symdim.budget import Budget
from symdim.cases import splits
from symdim.elimination import solved
from symdim.hypotheses import Contradiction, Hypothesis, Problem
from symdim.polynomial import add, scale
from symdim.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.expr import Expr
    from symdim.hypotheses import Reasons

_DEPTH = 7  # nested case distinctions
_CASES = 512  # cases in all along one branch
_MODULUS = 256
_BRANCHES = 6  # of branch and bound in one linear system


def refuted(problem: Problem, budget: Budget) -> Reasons | None:
    """The reasons why the hypotheses cannot all hold; None when that is not shown. Raises `OutOfBudget`."""
    return _refuted(problem, budget, _DEPTH, _CASES)


def _refuted(problem: Problem, budget: Budget, depth: int, cases: int) -> Reasons | None:
    budget.spend()
    try:
        problem = solved(problem, budget)
        if not problem.hypotheses:
            return None
        found = by_linear(problem, budget)
    except Contradiction as contradicted:
        return contradicted.reasons
    if found is None and depth:
        for count, alternatives in splits(problem, min(cases, _MODULUS)):
            if count <= cases:
                found = _by_cases(alternatives, budget, depth - 1, cases // max(count, 1))
                if found is not None or depth < _DEPTH:
                    break
    return found


def _by_cases(alternatives: list[Problem], budget: Budget, depth: int, cases: int) -> Reasons | None:
    reasons: Reasons = frozenset()
    for problem in alternatives:
        found = _refuted(problem, budget, depth, cases)
        if found is None:
            return None
        reasons |= found
    return reasons


def by_linear(problem: Problem, budget: Budget) -> Reasons | None:
    """A contradiction of linear constraints over units, first without and then with their products."""
    reasons: Reasons = frozenset()
    for branch in _one_sided(problem):
        found = _linear(branch, budget)
        if found is None:
            found = _with_products(branch, budget)
        if found is None:
            return None
        reasons |= found
    return reasons


def _one_sided(problem: Problem) -> list[Problem]:
    """The problem with its first `e != 0` as e >= 1 and as e <= -1."""
    for i, (dim, relation, reasons) in enumerate(problem.hypotheses):
        if relation == "!=":
            rest = problem.hypotheses[:i] + problem.hypotheses[i + 1 :]
            sides = [Hypothesis(add(scale(dim, sign), -1), ">=", reasons) for sign in (1, -1)]
            return [Problem([side, *rest], {}, problem.scope, problem.serial) for side in sides]
    return [problem]


def _linear(problem: Problem, budget: Budget) -> Reasons | None:
    given = constraints_of(problem.hypotheses)
    laws = axioms(atoms_of([c.dim for c in given]))
    return contradiction([*given, *laws], budget, _BRANCHES)


def _with_products(problem: Problem, budget: Budget) -> Reasons | None:
    try:
        problem = shifted(problem).checked()
    except Contradiction as contradicted:
        return contradicted.reasons
    given: list[Constraint] = constraints_of(problem.hypotheses)
    atoms = atoms_of([c.dim for c in given])
    laws = axioms(atoms)
    if not nonlinear([c.dim for c in (*given, *laws)]):
        return None
    more = products(given, laws, atoms, budget)
    return contradiction([*given, *laws, *more], budget, _BRANCHES)


def shifted(problem: Problem) -> Problem:
    """The problem with each variable counted from its bound, so that products of variables are not negative."""
    mapping: dict[Expr, int | Expr] = {}
    for v in atoms_of([h.dim for h in problem.hypotheses]):
        if not isinstance(v, Var):
            continue
        if v.lo is not None and v.lo != 0:
            mapping[v] = problem.fresh(v.name, 0, None if v.hi is None else v.hi - v.lo) + v.lo
        elif v.lo is None and v.hi is not None:
            mapping[v] = v.hi - problem.fresh(v.name, 0, None)
    return problem.replace(mapping, frozenset()) if mapping else problem
