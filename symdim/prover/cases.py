"""Case distinctions: each gives problems of which at least one holds.

maximum     max(a, b) == a with a >= b, or == b with b >= a
residue     v == m*k + r for one r in 0..m-1
value       a variable or division with few possible values has one of them
sign        v >= 0 or v <= -1
order       m//d == n//d + t with t >= 0, where n <= m; one case
nesting     n//(c*p) == (n//p)//c, with n//p as a variable; one case
"""

from __future__ import annotations

from itertools import permutations
from math import gcd

from symdim.bounds import bounds_of, quotient
from symdim.evaluate import postorder
from symdim.expr import Expr, FloorDiv, Max, Mul
from symdim.floordiv import floordiv
from symdim.longdivision import long_division
from symdim.monomial import powers_of, terms_of
from symdim.order import order
from symdim.polynomial import add, multiply, subtract, sum_of
from symdim.prover.axioms import atoms_of, divisor_is_positive
from symdim.prover.hypotheses import Contradiction, Hypothesis, Problem
from symdim.prover.residues import moduli, moduli_of_equations
from symdim.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from symdim.expr import Dim
    from symdim.prover.hypotheses import Reasons

MAXIMUM = "max(a, b) is one of its arguments"
RESIDUE = "every integer is m*k + r for one r in 0..m-1"
VALUE = "a bounded integer has one of finitely many values"
ORDER = "n//d <= m//d where n <= m and d >= 1"
NESTING = "n//(c*p) == (n//p)//c"
SIGN = "an integer is >= 0 or <= -1"
_MODULUS = 128
_VALUES = 12


def structural(problem: Problem) -> list[Problem] | None:
    """The first distinction that makes expressions simpler: nesting, order, maxima, signs; None where there is none."""
    atoms = atoms_of([h.dim for h in problem.hypotheses])
    single = _unnested(problem, atoms) or _ordered(problem, atoms)
    if single is not None:
        return [single]
    for maximum in _maxima(problem, atoms):
        return _by_argument(problem, maximum)
    for v in atoms:
        if isinstance(v, Var) and v.lo is None and (v.hi is None or v.hi >= 0):
            return _by_sign(problem, v)
    return None


def arithmetic(problem: Problem, cases: int) -> Iterator[list[Problem]]:
    """Distinctions of residues and values into at most so many cases, the smallest first; lazily made."""
    atoms = atoms_of([h.dim for h in problem.hypotheses])
    congruences = [h.dim for h in problem.hypotheses if h.relation == "=="]
    for leaf, m in (*moduli(atoms), *moduli_of_equations(congruences)):
        if m <= cases:
            yield _by_residue(problem, leaf, m)
    for atom in atoms:
        lo, hi = bounds_of(atom)
        if lo is not None and hi is not None and hi - lo < min(cases, _VALUES) and not isinstance(atom, Max):
            yield _by_value(problem, atom, lo, hi)


def _maxima(problem: Problem, atoms: list[Expr]) -> list[Max]:
    """Maxima whose parts hold no other one, those of the first hypothesis (the goal) before the others."""
    innermost = [a for a in atoms if isinstance(a, Max) and sum(type(n) is Max for n in postorder(a)) == 1]
    goal = set(atoms_of([problem.hypotheses[0].dim])) if problem.hypotheses else set()
    return sorted(innermost, key=lambda a: (a not in goal, len(a.parts), order(a)))


def _problems(
    problem: Problem, cases: Iterator[tuple[dict[Expr, Dim], tuple[Hypothesis, ...], Reasons]]
) -> list[Problem]:
    return [problem.replace(mapping, reasons, more) for mapping, more, reasons in cases]


def _by_argument(problem: Problem, atom: Max) -> list[Problem]:
    reasons: Reasons = frozenset((MAXIMUM,))
    result = []
    for i, part in enumerate(atom.parts):
        more = []
        for j, other in enumerate(atom.parts):
            if i != j:
                margin = 1 if j < i else 0  # the first of equal arguments is taken
                more.append(Hypothesis(subtract(subtract(part, other), margin), ">=", reasons))
        result.append(_replaced(problem, {atom: part}, reasons, more))
    return result


def _replaced(problem: Problem, mapping: dict[Expr, Dim], reasons: Reasons, more: list[Hypothesis]) -> Problem:
    """As `replace`; a case that cannot be is a problem with a hypothesis that says so."""
    try:
        return problem.replace(mapping, reasons, tuple(more))
    except Contradiction as impossible:
        return Problem([Hypothesis(-1, ">=", impossible.reasons)], {}, problem.scope, problem.serial)


def _by_sign(problem: Problem, v: Var) -> list[Problem]:
    reasons: Reasons = frozenset((SIGN,))
    up = problem.fresh(v.name, 0, v.hi)
    down = problem.fresh(v.name, 0, None)
    return [_replaced(problem, {v: up}, reasons, []), _replaced(problem, {v: -1 - down}, reasons, [])]


def _by_residue(problem: Problem, v: Expr, m: int) -> list[Problem]:
    reasons: Reasons = frozenset((RESIDUE,))
    least, most = bounds_of(v)
    result = []
    for r in range(m):
        lo = None if least is None else -((r - least) // m)
        hi = None if most is None else (most - r) // m
        if lo is not None and hi is not None and lo > hi:
            continue
        value = m * problem.fresh(v.name if isinstance(v, Var) else "q", lo, hi) + r
        result.append(_replaced(problem, {v: value}, reasons, _defining(v, value, reasons)))
    return result


def _defining(atom: Expr, value: Dim, reasons: Reasons) -> list[Hypothesis]:
    """What `atom == value` says of the parts of the atom."""
    if isinstance(atom, FloorDiv) and divisor_is_positive(atom.parts[1]):
        n, d = atom.parts
        rest = subtract(n, multiply(d, value))
        return [Hypothesis(rest, ">=", reasons), Hypothesis(subtract(subtract(d, 1), rest), ">=", reasons)]
    if isinstance(atom, Max):
        return [Hypothesis(subtract(value, part), ">=", reasons) for part in atom.parts]
    return []


def _by_value(problem: Problem, atom: Expr, lo: int, hi: int) -> list[Problem]:
    reasons: Reasons = frozenset((VALUE,))
    result = []
    for value in range(lo, hi + 1):
        result.append(_replaced(problem, {atom: value}, reasons, _defining(atom, value, reasons)))
    return result


def _ordered(problem: Problem, atoms: list[Expr]) -> Problem | None:
    """One of two divisions as the other plus a variable >= 0, where its numerator is the larger.

    Done where linear constraints do not see the order: for divisions by an expression, and for factors of products.
    """
    reasons: Reasons = frozenset((ORDER,))
    factors: set[Expr] = set()
    for h in problem.hypotheses:
        for node in postorder(h.dim) if isinstance(h.dim, Expr) else ():
            if type(node) is Mul and node.terms is None:
                factors.update(powers_of(node))
    divisions = [a for a in atoms if isinstance(a, FloorDiv) and (isinstance(a.parts[1], Expr) or a in factors)]
    for smaller, larger in permutations(sorted(divisions, key=lambda a: (a.height, order(a))), 2):
        (n, d), (m, e) = smaller.parts, larger.parts
        if d != e or not divisor_is_positive(d):
            continue
        if _never_negative(subtract(m, n)):
            value = add(smaller, problem.fresh("t", 0, None))
            return _replaced(problem, {larger: value}, reasons, _defining(larger, value, reasons))
    return None


def _never_negative(dim: Dim) -> bool:
    lo, _ = bounds_of(dim)
    return lo is not None and lo >= 0


def _unnested(problem: Problem, atoms: list[Expr]) -> Problem | None:
    """The constructors merge nested divisions; this undoes it where divisors are different multiples of an expression.

    For n == s*p + r the quotient n//p is s + q with q == r//p, so equal remainders share one variable.
    """
    reasons: Reasons = frozenset((NESTING,))
    found: dict[Expr, Dim] = {}
    quotients: dict[tuple[Dim, Expr], Expr] = {}
    laws: list[Hypothesis] = []
    multiples: dict[Expr, set[int]] = {}
    for atom in atoms:
        if not isinstance(atom, FloorDiv) or not isinstance(atom.parts[1], Expr):
            continue
        n, d = atom.parts
        if (bounds_of(d)[0] or 0) < 1:
            continue
        terms, const = terms_of(d)
        c = gcd(const, *terms.values())
        p = sum_of({u: k // c for u, k in terms.items()}, const // c)
        assert isinstance(p, Expr)
        multiples.setdefault(p, set()).add(c)
        s, r = long_division(n, p)
        q = quotients.get((r, p))
        if q is None:
            q = quotients[r, p] = problem.fresh("q", *quotient(bounds_of(r), bounds_of(p)))
            rest = subtract(r, multiply(p, q))
            laws += [Hypothesis(rest, ">=", reasons), Hypothesis(subtract(subtract(p, 1), rest), ">=", reasons)]
        found[atom] = floordiv(add(s, q), c)
    for ((n, p), q), ((m, d), larger) in permutations(quotients.items(), 2):
        if p is d and _never_negative(subtract(m, n)):
            laws.append(Hypothesis(subtract(larger, q), ">=", frozenset((ORDER,))))
    several = any(len(numbers) > 1 for numbers in multiples.values())
    return _replaced(problem, found, reasons, laws) if several else None
