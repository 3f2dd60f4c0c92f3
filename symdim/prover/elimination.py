"""Solving hypotheses for variables. The canonical form then simplifies the remaining hypotheses.

    equation       v + r == 0                 v := -r
    exact          n == d*q                   n//d := q
    remainder      n - d*(n//d) == r          n//d := q, an integer with n == d*q + r
    bounds         v - c >= 0                 v := another variable with the bound c
    difference     v - r >= 0                 v := r + t, t >= 0

If a replacement loses a bound of the variable, the bound becomes a hypothesis.
"""

from __future__ import annotations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import scale, subtract, sum_of
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.dims import at_least
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Expr, FloorDiv
from symdim.algebra.intervals import contains, meet, quotient, unscaled
from symdim.algebra.order import order
from symdim.algebra.polynomials import divides, exact_quotient, powers_of, terms_of
from symdim.algebra.variable import Var
from symdim.prover.budget import TooLarge
from symdim.prover.hypotheses import Problem, remainder_of
from symdim.relations.relation import Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from symdim.algebra.expr import Dim, Terms
    from symdim.prover.hypotheses import Reasons

    Laws: TypeAlias = list[tuple[str, list[Callable[[Problem, Relation], Problem | None]]]]

_ROUNDS = 40
EQUATION = "an equation is solved for a variable"
EXACT = "n == d*q gives n//d == q"
REMAINDER = "a quotient with a known remainder is an integer of its own"
DIFFERENCE = "v >= r is v == r + t with t >= 0"


def solved(problem: Problem, *, equations_only: bool = False) -> Problem:
    """The problem with its equations and bounds solved as far as the laws above allow; raises `Refuted`.

    The rounds end before one that would make larger numbers than the budget allows. With `equations_only` only
    equations are solved for a variable.
    """
    problem = problem.checked()
    for _ in range(_ROUNDS):
        problem.budget.spend()
        try:
            step = next(_steps(problem, _EQUATIONS if equations_only else _LAWS), None)
        except TooLarge:
            break
        if step is None:
            break
        problem = step.checked()
    return problem


def _steps(problem: Problem, laws: Laws) -> Iterator[Problem]:
    """What one law makes of one hypothesis, for each that changes the problem. A lazy iterator."""
    for kind, steps in laws:
        for h in problem.hypotheses:
            for step in steps if h.kind == kind else ():
                simpler = step(problem, h)
                if simpler is not None:
                    yield simpler


def linear_variables(terms: Terms) -> list[Var]:
    """The variables that are terms of a sum and do not occur in its other terms, in structural order."""
    inner: set[Expr] = set()
    for monomial in terms:
        if not isinstance(monomial, Var):
            inner.update(postorder(monomial))
    return [u for u in sorted(terms, key=order) if isinstance(u, Var) and u not in inner]


def _within(v: Var, dim: Dim) -> bool:
    return contains((v.lo, v.hi), bounds_of(dim))


def _replace(problem: Problem, v: Var, dim: Dim, reasons: Reasons) -> Problem:
    """The problem with v := dim, and the bounds of v as hypotheses about dim."""
    more: list[Relation] = []
    lo, hi = bounds_of(dim)
    if v.lo is not None and (lo is None or lo < v.lo):
        more.append(Relation("at_least", subtract(dim, v.lo), 0, reasons))
    if v.hi is not None and (hi is None or hi > v.hi):
        more.append(Relation("at_least", subtract(v.hi, dim), 0, reasons))
    return problem.replace({v: dim}, reasons, tuple(more))


def _equation(problem: Problem, h: Relation) -> Problem | None:
    terms, const = terms_of(h.left)
    choices: list[tuple[Var, Dim]] = []
    for v in linear_variables(terms):
        if abs(terms[v]) == 1:
            rest = sum_of({u: k for u, k in terms.items() if u is not v}, const)
            choices.append((v, scale(rest, -terms[v])))
    if not choices:
        return None
    v, dim = next((c for c in choices if _within(*c)), choices[0])
    return _replace(problem, v, dim, h.origins | {EQUATION})


def _exact(problem: Problem, h: Relation) -> Problem | None:
    """Replace a division n//d by q where a multiple of the equation says n == d*q. Each time one division goes."""
    terms, _ = terms_of(h.left)
    atoms = dict.fromkeys(a for o in problem.hypotheses if isinstance(o.left, Expr) for a in postorder(o.left))
    for atom in atoms:
        if not isinstance(atom, FloorDiv) or isinstance(atom._parts[1], int):
            continue
        n, d = atom._parts
        for monomial, k in terms_of(n)[0].items():
            for part, number in terms.items():
                if k % number or not divides(part, monomial):
                    continue
                factor = exact_quotient(monomial, part)
                multiple = scale(h.left if factor is None else problem.budget.product(h.left, factor), k // number)
                rest = subtract(n, multiple)  # n == rest
                problem.budget.charge((rest, d))
                problem.budget.build(atom)
                q = floordiv(rest, d)
                known = postorder(q) if isinstance(q, Expr) else ()
                if atom not in known and all(x in atoms for x in known if isinstance(x, FloorDiv)) and rest == d * q:
                    return problem.replace({atom: q}, h.origins | {EXACT})
    return None


def _remainder(problem: Problem, h: Relation) -> Problem | None:
    terms, _ = terms_of(h.left)
    for a in sorted(terms, key=order):
        for atom in powers_of(a):
            if not isinstance(atom, FloorDiv):
                continue
            n, d = atom._parts
            if not at_least(d, 1) or (a is atom and abs(terms[a]) != d):
                continue  # n//2 - c is no remainder, although n - n//2 is (n + 1)//2
            for sign in (1, -1):
                rest = subtract(scale(h.left, sign), subtract(n, d * atom))
                problem.budget.charge((rest, n, *(postorder(rest) if isinstance(rest, Expr) else ())))
                if isinstance(rest, Expr) and atom in postorder(rest):
                    continue
                lo, hi = quotient(bounds_of(n), bounds_of(d))
                if rest == 0 and at_least(n, 1):
                    lo = max(lo or 0, 1)
                q = problem.fresh("q", lo, hi)
                r = scale(rest, -1)  # n - d*q == r
                reasons = h.origins | {REMAINDER}
                equation = Relation("equal", subtract(subtract(n, d * q), r), 0, reasons)
                return problem.replace({atom: q}, reasons, (equation, *remainder_of(r, d, reasons)))
    return None


def _bound(problem: Problem, h: Relation) -> Problem | None:
    terms, const = terms_of(h.left)
    if len(terms) != 1:
        return None
    ((v, k),) = terms.items()
    if not isinstance(v, Var):
        return None
    ends = meet((v.lo, v.hi), unscaled((-const, None), k))
    return problem.replace({v: problem.fresh(v.name, *ends)}, h.origins)


def _difference(problem: Problem, h: Relation) -> Problem | None:
    """Solve `v - r >= 0` if all bounds of v follow from those of r + t, so that no hypothesis is left over."""
    terms, const = terms_of(h.left)
    if not 2 <= len(terms) <= 4 or not all(isinstance(u, Var) for u in terms):
        return None
    for v in linear_variables(terms):
        if abs(terms[v]) != 1:
            continue
        rest = sum_of({u: k for u, k in terms.items() if u is not v}, const)
        t = problem.fresh(v.name, 0, None)
        dim = subtract(t, rest) if terms[v] == 1 else subtract(rest, t)
        if _within(v, dim):
            return problem.replace({v: dim}, h.origins | {DIFFERENCE})
    return None


_EQUATIONS: Laws = [("equal", [_equation])]
_LAWS: Laws = [("equal", [_equation, _exact, _remainder]), ("at_least", [_bound, _difference])]
