"""The refutation of hypotheses: laws that need no search, then linear constraints, products, and case distinctions."""

from __future__ import annotations

from symdim.algebra.constructors.arithmetic import add, scale
from symdim.algebra.variable import Var
from symdim.prover.axioms import atoms_of, axioms, constraints_of, contradiction, products
from symdim.prover.budget import OutOfBudget
from symdim.prover.cases import arithmetic, structural
from symdim.prover.elimination import solved
from symdim.prover.hypotheses import Problem, Refuted, nonlinear
from symdim.prover.witness import satisfies, translated, witness
from symdim.relations.relation import Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from symdim.algebra.expr import Expr
    from symdim.prover.hypotheses import Reasons
    from symdim.prover.witness import Assignment

_DEPTH = 7  # the most nested case distinctions
_CASES = 512  # the most cases along one branch, multiplied
_MODULUS = 256
_FIRST, _ALL = 24, 1000  # the points that are tried before and after the search for a proof


class Found(Exception):  # noqa: N818
    """The search met an assignment that satisfies all hypotheses."""

    def __init__(self, values: Assignment) -> None:
        super().__init__(values)
        self.values = values


class Search:
    """One attempt to refute the hypotheses of a problem."""

    __slots__ = ("budget", "original")

    def __init__(self, original: Problem) -> None:
        self.original = original
        self.budget = original.budget

    def refuted(self, problem: Problem, depth: int = _DEPTH, cases: int = _CASES) -> Reasons | None:
        """The reasons why the hypotheses cannot all hold; None if the search does not show that.

        At most `depth` case distinctions lie inside one another. At the top, each means is tried; inside of a case,
        only the first distinction is. Raises `Found` with an assignment that satisfies the original problem, and
        `OutOfBudget`.
        """
        self.budget.spend()
        reasons: Reasons | None = None
        left_out: Reasons = frozenset()  # why alternatives were excluded before this problem
        try:
            problem = solved(problem)
            while problem.hypotheses:
                reasons = self._on_both_sides(problem, self._linear)
                alternatives = structural(problem) if reasons is None and depth else None
                if alternatives is None:
                    break
                possible, impossible = self._possible(alternatives)
                if len(possible) != 1:
                    reasons = self._by_cases(possible, impossible, depth - 1, cases)
                    if reasons is None and depth < _DEPTH:
                        return None
                    break
                problem, left_out = possible[0], left_out | impossible
            if reasons is None:
                reasons = self._on_both_sides(problem, self._with_products)
        except Refuted as contradicted:
            return contradicted.reasons | left_out
        if reasons is None and depth:
            reasons = self._by_arithmetic(problem, depth, cases)
        return None if reasons is None else reasons | left_out

    def _by_arithmetic(self, problem: Problem, depth: int, cases: int) -> Reasons | None:
        for alternatives in arithmetic(problem, min(cases, _MODULUS)):
            reasons = self._by_cases(*self._possible(alternatives), depth - 1, cases)
            if reasons is not None or depth < _DEPTH:
                return reasons
        return None

    def _possible(self, alternatives: list[Problem]) -> tuple[list[Problem], Reasons]:
        """The alternatives that are not refuted at once, and the reasons why the others are."""
        possible = []
        impossible: Reasons = frozenset()
        for problem in alternatives:
            try:
                possible.append(solved(problem))
            except Refuted as contradicted:
                impossible |= contradicted.reasons
        return possible, impossible

    def _by_cases(self, possible: list[Problem], reasons: Reasons, depth: int, cases: int) -> Reasons | None:
        """The given reasons and the reasons against each alternative; None if one is not refuted."""
        if len(possible) > cases:
            return None
        for problem in possible:
            against = self.refuted(problem, depth, cases // len(possible))
            if against is None:
                return None
            reasons |= against
        return reasons

    def _on_both_sides(self, problem: Problem, refute: Callable[[Problem], Reasons | None]) -> Reasons | None:
        """Refute the problem with e >= 1 and with e <= -1, for its first hypothesis `e != 0`; the reasons of both."""
        reasons: Reasons = frozenset()
        for side in one_sided(problem):
            of_side = refute(side)
            if of_side is None:
                return None
            reasons |= of_side
        return reasons

    def _linear(self, problem: Problem) -> Reasons | None:
        """The reasons of a linear contradiction of hypotheses and laws. A solution is tried as an example."""
        constraints = constraints_of(problem.hypotheses)
        laws = axioms(atoms_of([c.left for c in constraints]))
        reasons, model = contradiction([*constraints, *laws], self.budget)
        if model is not None:
            self._try(problem, model)
        return reasons

    def _with_products(self, problem: Problem) -> Reasons | None:
        """As `_linear`, with variables counted from their bounds, and with products of constraints."""
        try:
            problem = shifted(problem).checked()
        except Refuted as contradicted:
            return contradicted.reasons
        constraints: list[Relation] = constraints_of(problem.hypotheses)
        laws = axioms(atoms_of([c.left for c in constraints]))
        if not nonlinear([c.left for c in (*constraints, *laws)]):
            return None
        more = products(constraints, laws, self.budget)
        reasons, model = contradiction([*constraints, *laws, *more], self.budget)
        if model is not None:
            self._try(problem, model)
        return reasons

    def _try(self, problem: Problem, model: dict[Expr, int]) -> None:
        """Raise `Found` if a solution of the constraints gives values that solve the original problem."""
        self.budget.charge(problem.solution.values())
        values = {monomial: value for monomial, value in model.items() if isinstance(monomial, Var)}
        original_values = translated(self.original, problem, values)
        if original_values is not None and satisfies(original_values, self.original.hypotheses):
            raise Found(original_values)


def decided(problem: Problem) -> Assignment | Reasons | None:
    """Values that satisfy all hypotheses, the reasons why there are none, or None if neither is found."""
    search, reduced = Search(problem), problem
    try:
        reduced = solved(problem)
        values = witness(problem, reduced, 0, _FIRST)
        if values is not None:
            return values
        reasons = search.refuted(reduced)
        if reasons is not None:
            return reasons
    except Refuted as contradicted:
        return contradicted.reasons
    except Found as example:
        return example.values
    except OutOfBudget:
        pass  # without a proof, an example may still be found
    values = witness(problem, reduced, _FIRST, _ALL)
    return witness(problem, problem, 0, _ALL) if values is None and reduced is not problem else values


def one_sided(problem: Problem) -> list[Problem]:
    """Two problems: with e >= 1 and with e <= -1 in place of the first hypothesis `e != 0`."""
    for i, (kind, dim, _, reasons) in enumerate(problem.hypotheses):
        if kind == "unequal":
            rest = problem.hypotheses[:i] + problem.hypotheses[i + 1 :]
            sides = [Relation("at_least", add(scale(dim, sign), -1), 0, reasons) for sign in (1, -1)]
            return [problem.having([side, *rest]) for side in sides]
    return [problem]


def shifted(problem: Problem) -> Problem:
    """The problem with each variable counted from its bound, so products of variables are >= 0."""
    mapping: dict[Expr, int | Expr] = {}
    for v in atoms_of([h.left for h in problem.hypotheses]):
        if not isinstance(v, Var):
            continue
        if v.lo is not None and v.lo != 0:
            mapping[v] = problem.fresh(v.name, 0, None if v.hi is None else v.hi - v.lo) + v.lo
        elif v.lo is None and v.hi is not None:
            mapping[v] = v.hi - problem.fresh(v.name, 0, None)
    return problem.replace(mapping, frozenset()) if mapping else problem
