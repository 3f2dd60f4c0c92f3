"""The refutation of hypotheses: laws that need no search, then linear constraints, products, and case distinctions."""

from __future__ import annotations

from itertools import chain

from symdim.polynomial import add, scale
from symdim.prover.axioms import Constraint, atoms_of, axioms, constraints_of, contradiction, nonlinear, products
from symdim.prover.budget import Budget, OutOfBudget
from symdim.prover.cases import arithmetic, structural
from symdim.prover.elimination import solved
from symdim.prover.hypotheses import Contradiction, Hypothesis, Problem
from symdim.prover.nesting import restated
from symdim.prover.ordering import with_order
from symdim.prover.witness import satisfies, translated, witness
from symdim.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from symdim.expr import Expr
    from symdim.prover.hypotheses import Reasons
    from symdim.prover.witness import Assignment

_DEPTH = 7  # nested case distinctions
_CASES = 512  # cases in all along one branch
_MODULUS = 256
_FIRST, _ALL = 24, 1000  # points tried before and after the search for a proof


class Found(Exception):  # noqa: N818
    """An assignment that satisfies all hypotheses turned up on the way."""

    def __init__(self, values: Assignment) -> None:
        super().__init__(values)
        self.values = values


class Search:
    """One attempt to refute the hypotheses of a problem."""

    __slots__ = ("budget", "original")

    def __init__(self, original: Problem) -> None:
        self.original = original
        self.budget = original.budget

    def refuted(self, problem: Problem) -> Reasons | None:
        """The reasons why the hypotheses cannot all hold; None when that is not shown.

        Raises `Found` with an assignment that satisfies the original problem, and `OutOfBudget`.
        """
        return self._refuted(problem, _DEPTH, _CASES)

    def _refuted(self, problem: Problem, depth: int, cases: int) -> Reasons | None:
        self.budget.spend()
        try:
            given = problem = solved(problem)
            while problem.hypotheses:
                found = self._linear_with_order(problem)
                simpler = restated(problem) if found is None and depth else None
                if simpler is None:
                    break
                problem = solved(simpler)
            else:
                return None
            if found is None and depth:
                alternatives = structural(problem)
                if alternatives is not None:
                    found = self._by_cases(alternatives, depth, cases)
                    if found is not None or depth < _DEPTH:
                        return found
            spellings = [problem] if problem is given or depth < _DEPTH else [problem, given]
            for spelling in spellings:
                found = found or self._on_both_sides(spelling, self._with_products)
        except Contradiction as contradicted:
            return contradicted.reasons
        if found is None and depth:
            for alternatives in chain(*[arithmetic(spelling, min(cases, _MODULUS)) for spelling in spellings]):
                found = self._by_cases(alternatives, depth, cases)
                if found is not None or depth < _DEPTH:
                    break
        return found

    def _linear_with_order(self, problem: Problem) -> Reasons | None:
        """`_linear`, at first with the hypotheses alone, then with the order of atoms that they imply."""
        found = self._on_both_sides(problem, self._linear)
        ordered = with_order(problem) if found is None else None
        return found if ordered is None else self._on_both_sides(ordered, self._linear)

    def _by_cases(self, alternatives: list[Problem], depth: int, cases: int) -> Reasons | None:
        """The reasons why none of the alternatives can be; those that need no search are no distinction."""
        reasons: Reasons = frozenset()
        left = []
        for problem in alternatives:
            try:
                left.append(solved(problem))
            except Contradiction as contradicted:
                reasons |= contradicted.reasons
        if len(left) > cases:
            return None
        for problem in left:
            found = self._refuted(problem, depth - (len(left) > 1), cases // len(left))
            if found is None:
                return None
            reasons |= found
        return reasons

    def _on_both_sides(self, problem: Problem, refute: Callable[[Problem], Reasons | None]) -> Reasons | None:
        """What refutes the problem with its first `e != 0` as e >= 1, together with what refutes it with e <= -1."""
        reasons: Reasons = frozenset()
        for side in one_sided(problem):
            found = refute(side)
            if found is None:
                return None
            reasons |= found
        return reasons

    def _linear(self, problem: Problem) -> Reasons | None:
        """The reasons of a linear contradiction of hypotheses and laws; a solution of them is tried as an example."""
        given = constraints_of(problem.hypotheses)
        laws = axioms(atoms_of([c.dim for c in given]))
        found, model = contradiction([*given, *laws], self.budget)
        if found is None and model is not None:
            self._try(problem, model)
        return found

    def _with_products(self, problem: Problem) -> Reasons | None:
        """As `_linear`, with the variables counted from their bounds and products of constraints added."""
        try:
            problem = shifted(problem).checked()
        except Contradiction as contradicted:
            return contradicted.reasons
        given: list[Constraint] = constraints_of(problem.hypotheses)
        atoms = atoms_of([c.dim for c in given])
        laws = axioms(atoms)
        if not nonlinear([c.dim for c in (*given, *laws)]):
            return None
        more = products(given, laws, atoms, self.budget)
        found, model = contradiction([*given, *laws, *more], self.budget)
        if found is None and model is not None:
            self._try(problem, model)
        return found

    def _try(self, problem: Problem, model: dict[Expr, int]) -> None:
        """Raise `Found` if the variables' values in a solution of the constraints are one of the original problem."""
        values = {unit: value for unit, value in model.items() if isinstance(unit, Var)}
        found = translated(self.original, problem, values)
        if found is not None and satisfies(found, self.original.hypotheses):
            raise Found(found)


def decided(problem: Problem) -> Assignment | Reasons | None:
    """Values that satisfy all hypotheses, or the reasons why none do, or None where neither is found."""
    try:
        reduced = solved(problem)
    except Contradiction as contradicted:
        return contradicted.reasons
    except OutOfBudget:
        return None
    found = witness(problem, reduced, Budget(_FIRST), 0, _FIRST)
    if found is not None:
        return found
    try:
        reasons = Search(problem).refuted(reduced)
        if reasons is not None:
            return reasons
    except Found as example:
        return example.values
    except OutOfBudget:
        pass  # examples are still looked for
    return witness(problem, reduced, Budget(_ALL), _FIRST, _ALL)


def one_sided(problem: Problem) -> list[Problem]:
    """The problem with its first `e != 0` as e >= 1 and as e <= -1."""
    for i, (dim, relation, reasons) in enumerate(problem.hypotheses):
        if relation == "!=":
            rest = problem.hypotheses[:i] + problem.hypotheses[i + 1 :]
            sides = [Hypothesis(add(scale(dim, sign), -1), ">=", reasons) for sign in (1, -1)]
            return [problem.having([side, *rest]) for side in sides]
    return [problem]


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
