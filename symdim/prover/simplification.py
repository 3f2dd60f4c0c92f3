"""Shorter forms of dimensions under facts.

    equation      T  ->  P + S                 where the facts say T == P + S, if the result is shorter
    remainder     c*d*(n//d)  ->  c*(n - r)    n % d == r
    value         n//d, max(a, b)  ->  k       n//d == k, max(a, b) == k
    rounding      (n + r)//(g*d)  ->  (n + g*((s + r)//g) - s)//(g*d)      n % g == s, for numbers r, g, d
    dominance     max(a, b)  ->  a             a >= b; the same for a minimum

Each replacement is proved first, so the result equals the dimension for all values that the facts allow. All proofs
share one budget. When it is used up, the remaining parts stay as they are.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from symdim import prove
from symdim.algebra.constructors.arithmetic import add, checked, multiply, product, subtract, sum_of
from symdim.algebra.constructors.extrema import maximum, minimum
from symdim.algebra.constructors.floordiv import floordiv, mod
from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import children, postorder, replaced
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.order import order
from symdim.algebra.polynomials import divides, exact_quotient, powers_of, terms_of
from symdim.errors import DivisionByZero
from symdim.facts import Facts, demand_facts
from symdim.prover.budget import Budget, OutOfBudget
from symdim.prover.elimination import solved
from symdim.prover.hypotheses import Refuted, problem_of
from symdim.prover.witness import valued

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var

_ROUNDS = 8
_BUDGET = 4 * prove.BUDGET  # the steps of all proofs together
_REBUILDING = prove.BUDGET  # the steps to build what has new parts
_FACTORS = 64  # the largest number that is tried as a factor of a divisor


class _Grounds(NamedTuple):
    """The facts that proofs use, the budgets that are left, and an example: values that the facts allow."""

    facts: Facts
    budget: Budget
    rebuilding: Budget
    example: dict[Var, int] | None


def simplify(dim: Dim, facts: Facts | None = None, *, budget: int = _BUDGET) -> Dim:
    """A dimension that equals `dim` whenever the facts, if any, hold; shorter than `dim` if the search finds one.

    All proofs together take at most `budget` steps, about half a second for the 20,000 of the default, with the
    expressions that they build. Where that does not suffice, parts stay as they are. The result is `dim` itself if the
    facts contradict each other, or if they make a divisor 0, so that `dim` has no value.

    >>> from symdim import Var, maximum
    >>> H, N, T, P, S = (Var(name) for name in "HNTPS")
    >>> facts = Facts(["H % 8 == 0", "N >= 5", "T == P + S"])
    >>> simplify(H // 8 * 8, facts), simplify(maximum(N, 4), facts), simplify(T - P, facts), simplify(T, facts)
    (H, N, S, T)
    """
    dim = checked(dim)
    demand_facts(facts)
    facts = Facts() if facts is None else facts
    if isinstance(dim, int) or facts.contradiction() is not None:
        return dim
    left = Budget(budget)
    rebuilding = Budget(min(_REBUILDING, budget))
    grounds = _Grounds(facts, left, rebuilding, prove.example((dim,), facts, within=left))
    try:
        equations = determined(dim, facts, left)
        settled = _settled(dim, grounds)
        other = _settled(replaced(dim, equations, {}, grounds.rebuilding.build), grounds) if equations else settled
    except (Refuted, DivisionByZero, OutOfBudget):
        return dim
    return settled if other is settled else min(settled, other, key=_length)


def _length(dim: Dim) -> tuple[int, int]:
    """The length of a dimension: its nodes, then its characters."""
    return (0 if isinstance(dim, int) else len(postorder(dim))), len(str(dim))


def determined(
    dim: Dim, facts: Facts, within: Budget | None = None, *, equations_only: bool = False
) -> dict[Expr, Dim]:
    """The variables that the facts determine, as expressions of other variables or as numbers.

    With `equations_only` no other fact is used. Raises `Refuted` if the dimension has no value.
    """
    try:
        problem = problem_of(facts.relevant(dim), (dim,), Budget(prove.BUDGET, within))
        variables = set(problem.solution)
        solution = solved(problem, equations_only=equations_only).solution
    except OutOfBudget:
        return {}
    return {v: value for v, value in solution.items() if value is not v and variables.issuperset(variables_of([value]))}


def _settled(dim: Dim, grounds: _Grounds) -> Dim:
    """The dimension after rounds of replacement, until nothing changes or the budget is used up."""
    for _ in range(_ROUNDS):
        if isinstance(dim, int) or grounds.budget.steps < 0:
            break
        values: dict[Dim, Dim] = {}
        for node in postorder(dim):
            try:
                value = values[node] = replaced(node, {}, values, grounds.rebuilding.build)
            except OutOfBudget:
                return dim
            if isinstance(value, Expr) and grounds.budget.steps >= 0:
                with suppress(OutOfBudget):  # then the nodes above are only rebuilt from the replaced nodes below
                    values[node] = _locally(value, grounds)
        if values[dim] is dim:
            break
        dim = values[dim]
    return dim


def _locally(node: Expr, grounds: _Grounds) -> Dim:
    grounds.budget.charge((node, *children(node)))
    if isinstance(node, Extremum):
        value = _known(node, grounds) if grounds.facts.relevant(node) else None
        return _without_dominated(node, grounds) if value is None else value
    if isinstance(node, FloorDiv):
        value = _known(node, grounds)
        return _rounded(node, grounds) if value is None else value
    return _exact(node, grounds)


def _rounded(node: FloorDiv, grounds: _Grounds) -> Dim:
    """The division with its numerator rounded down to a multiple of a factor of the divisor.

    The facts must give the remainder that is dropped.
    """
    dividend, divisor = node._parts
    terms, const = terms_of(dividend)
    if not isinstance(divisor, int) or not const or not grounds.facts.relevant(node):
        return node
    n = sum_of(dict(terms), 0)
    for g in [divisor // d for d in range(1, min(divisor, _FACTORS)) if divisor % d == 0]:
        grounds.budget.build(node)
        remainder = _known(mod(n, g), grounds)
        if remainder is not None:
            rounded = g * ((remainder + const) // g) - remainder
            return floordiv(add(n, rounded), divisor)
    return node


def _without_dominated(node: Extremum, grounds: _Grounds) -> Dim:
    is_max = isinstance(node, Max)
    kept = list(node._parts)
    for part in node._parts:
        pairs = [(other, part) if is_max else (part, other) for other in kept if other is not part]
        if any(_proved(larger, ">=", smaller, grounds) for larger, smaller in pairs):
            kept.remove(part)
    if len(kept) == len(node._parts):
        return node
    grounds.budget.build(node)
    return (maximum if is_max else minimum)(*kept)


def _exact(node: Expr, grounds: _Grounds) -> Dim:
    """The sum without divisions that have a known remainder and are multiplied by their divisor."""
    terms, _ = terms_of(node)
    for monomial in sorted(terms, key=order):
        for atom in powers_of(monomial):
            if not isinstance(atom, FloorDiv):
                continue
            n, d = atom._parts
            k, left = terms[monomial], exact_quotient(monomial, atom)
            if isinstance(d, int):
                if k % d:
                    continue
                k //= d
            elif d._terms is None and divides(d, left):
                left = exact_quotient(left, d)
            else:
                continue
            remainder = _known(subtract(n, multiply(d, atom)), grounds)
            if remainder is not None:
                replacement = product([k, subtract(n, remainder), 1 if left is None else left])
                return add(subtract(node, sum_of({monomial: terms[monomial]}, 0)), replacement)
    return node


def _known(dim: Dim, grounds: _Grounds) -> int | None:
    """The value of a dimension if the facts allow only one, else None. The candidate is its value at the example."""
    grounds.budget.spend()
    value = None if grounds.example is None else valued(dim, grounds.example)
    return value if value is not None and _proved(dim, "==", value, grounds) else None


def _proved(a: Dim, relation: str, b: Dim, grounds: _Grounds) -> bool:
    """Whether `a relation b` is proved; raises `OutOfBudget` when the budget is used up."""
    grounds.budget.spend()
    return prove.explain(a, relation, b, grounds.facts, within=grounds.budget).answer is True
