"""The refutation of hypotheses: laws that need no search, then linear constraints, products, and case distinctions."""

from __future__ import annotations

from symdim.algebra.constructors.arithmetic import add, scale
from symdim.algebra.variable import Var
from symdim.prover.axioms import atoms_of, axioms, constraints_of, contradiction
from symdim.prover.budget import OutOfBudget
from symdim.prover.cases import arithmetic, structural
from symdim.prover.differences import shortest
from symdim.prover.elimination import solved
from symdim.prover.hypotheses import Problem, Refuted, nonlinear
from symdim.prover.nesting import restated
from symdim.prover.ordering import with_order
from symdim.prover.products import products
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

    def refuted(self, problem: Problem) -> Reasons | None:
        """The reasons why the hypotheses cannot all hold; None if the search does not show that.

        Raises `Found` with an assignment that satisfies the original problem, and `OutOfBudget`.
        """
        return self._refuted(problem, _DEPTH, _CASES)

    def _refuted(self, problem: Problem, depth: int, cases: int) -> Reasons | None:  # noqa: C901 (one order of attempts)
        self.budget.spend()
        left_out: Reasons = frozenset()  # why alternatives were excluded before this problem
        try:
            self.by_differences(problem)
            given = problem = solved(problem)
            while True:
                if not problem.hypotheses:
                    return None
                found = self._linear_with_order(problem)
                if found is not None or not depth:
                    break
                simpler = restated(problem)
                if simpler is not None:
                    problem = solved(simpler)
                    continue
                alternatives = structural(problem)
                if alternatives is None:
                    break
                possible, impossible = self._possible(alternatives)
                if len(possible) == 1:
                    problem, left_out = possible[0], left_out | impossible
                    continue
                found = self._by_cases(possible, impossible, depth - 1, cases)
                if found is None and depth < _DEPTH:
                    return None
                break
            spellings = [(problem, left_out)]
            if problem is not given and depth == _DEPTH:
                spellings.append((given, frozenset()))
            for spelling, reasons in spellings if found is None else ():
                found = self._on_both_sides(spelling, self._with_products)
                if found is not None:
                    return found | reasons
        except Refuted as contradicted:
            return contradicted.reasons | left_out
        if found is not None:
            return found | left_out
        for spelling, reasons in spellings if depth else ():
            for alternatives in arithmetic(spelling, min(cases, _MODULUS)):
                found = self._by_cases(*self._possible(alternatives), depth - 1, cases)
                if found is not None:
                    return found | reasons
                if depth < _DEPTH:
                    return None
        return None

    def by_differences(self, problem: Problem) -> None:
        """Raise `Refuted` if differences contradict each other, `Found` if they give an example."""
        model = shortest(problem)
        if model is not None:
            self._try(problem, model)

    def _linear_with_order(self, problem: Problem) -> Reasons | None:
        """`_linear` with the hypotheses alone, then with the order of atoms that they imply."""
        found = self._on_both_sides(problem, self._linear)
        ordered = with_order(problem) if found is None else None
        return found if ordered is None else self._on_both_sides(ordered, self._linear)

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
            found = self._refuted(problem, depth, cases // len(possible))
            if found is None:
                return None
            reasons |= found
        return reasons

    def _on_both_sides(self, problem: Problem, refute: Callable[[Problem], Reasons | None]) -> Reasons | None:
        """Refute the problem with e >= 1 and with e <= -1, for its first hypothesis `e != 0`; the reasons of both."""
        reasons: Reasons = frozenset()
        for side in one_sided(problem):
            found = refute(side)
            if found is None:
                return None
            reasons |= found
        return reasons

    def _linear(self, problem: Problem) -> Reasons | None:
        """The reasons of a linear contradiction of hypotheses and laws. A solution is tried as an example."""
        given = constraints_of(problem.hypotheses)
        laws = axioms(atoms_of([c.left for c in given]))
        found, model = contradiction([*given, *laws], self.budget)
        if model is not None:
            self._try(problem, model)
        return found

    def _with_products(self, problem: Problem) -> Reasons | None:
        """As `_linear`, with variables counted from their bounds, and with products of constraints."""
        try:
            problem = shifted(problem).checked()
        except Refuted as contradicted:
            return contradicted.reasons
        given: list[Relation] = constraints_of(problem.hypotheses)
        atoms = atoms_of([c.left for c in given])
        laws = axioms(atoms)
        if not nonlinear([c.left for c in (*given, *laws)]):
            return None
        more = products(given, laws, atoms, self.budget)
        found, model = contradiction([*given, *laws, *more], self.budget)
        if model is not None:
            self._try(problem, model)
        return found

    def _try(self, problem: Problem, model: dict[Expr, int]) -> None:
        """Raise `Found` if a solution of the constraints gives values that solve the original problem."""
        self.budget.charge(problem.solution.values())
        values = {unit: value for unit, value in model.items() if isinstance(unit, Var)}
        found = translated(self.original, problem, values)
        if found is not None and satisfies(found, self.original.hypotheses):
            raise Found(found)


def decided(problem: Problem) -> Assignment | Reasons | None:
    """Values that satisfy all hypotheses, the reasons why there are none, or None if neither is found."""
    search, reduced = Search(problem), problem
    try:
        search.by_differences(problem)
        reduced = solved(problem)
        found = witness(problem, reduced, 0, _FIRST)
        if found is not None:
            return found
        reasons = search.refuted(reduced)
        if reasons is not None:
            return reasons
    except Refuted as contradicted:
        return contradicted.reasons
    except Found as example:
        return example.values
    except OutOfBudget:
        pass  # without a proof, an example may still be found
    found = witness(problem, reduced, _FIRST, _ALL)
    return witness(problem, problem, 0, _ALL) if found is None and reduced is not problem else found


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
