"""Divisions by products. Constructors merge divisions by `n//(c*p) == (n//c)//p`, the prover takes them apart by it.

    nesting     n//(c*p) == (n//p)//c, with n//p as a variable
    order       m//d == n//d + t with t >= 0, where n <= m

Both laws restate a problem in other variables, in which intervals and linear constraints decide more.
"""

from __future__ import annotations

from itertools import permutations
from math import gcd

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import add, multiply, scale, subtract
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.constructors.long_division import divided, long_division
from symdim.algebra.dims import at_least
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Mul
from symdim.algebra.intervals import quotient
from symdim.algebra.order import order
from symdim.algebra.polynomials import exact_quotient, powers_of, terms_of
from symdim.prover.axioms import atoms_of, defining, divisor_is_positive
from symdim.prover.hypotheses import Problem, remainder_of
from symdim.relations.relation import Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.prover.hypotheses import Reasons

ORDER = "n//d <= m//d where n <= m and d >= 1"
NESTING = "n//(c*p) == (n//p)//c"


def factors(d: Dim) -> list[tuple[Dim, Dim]]:
    """Pairs (c, p) with d == c*p, both >= 1: c is the content of the sum d, or p is an atom of the product d.

    >>> from symdim import Var
    >>> s, t = Var("s"), Var("t")
    >>> factors(4 * s + 8), factors(s * t), factors(s)
    ([(4, s + 2)], [(s, t), (t, s)], [])
    """
    if isinstance(d, int) or not at_least(d, 1):
        return []
    terms, const = terms_of(d)
    g = gcd(const, *terms.values())
    found: list[tuple[Dim, Dim]] = []
    if g > 1:
        found.append((g, divided(terms, const // g, g)))
    if len(terms) == 1 and not const:
        ((unit, k),) = terms.items()
        for atom in sorted(powers_of(unit), key=order):
            left = exact_quotient(unit, atom)
            if left is not None and at_least(atom, 1) and at_least(left, 1):
                found.append((atom, scale(left, k)))
    return found


def shortened(problem: Problem) -> Problem:
    """The problem with divisions that turn out to nest: (4*w + x - 4*(x//4))//(4*z) == (w - x//4 + x//4)//z == w//z."""
    shorter: dict[Expr, Dim] = {}
    for atom in atoms_of([h.left for h in problem.hypotheses]):
        if isinstance(atom, FloorDiv):
            n, d = atom.parts
            for c, p in factors(d):
                problem.budget.build(atom, 2)
                other = floordiv(floordiv(n, c), p)
                if isinstance(other, int) or len(postorder(other)) < len(postorder(atom)):
                    shorter[atom] = other
                    break
    return problem.replace(shorter, frozenset((NESTING,))) if shorter else problem


def restated(problem: Problem) -> Problem | None:
    """The problem in other variables that show nesting and order; None if it has neither."""
    atoms = atoms_of([h.left for h in problem.hypotheses])
    if any(isinstance(a, Extremum) and a.height == 1 for a in atoms):
        return None  # first a case for each argument, in which equal quotients become the same variable
    return _unnested(problem, atoms) or _ordered(problem, atoms)


def _ordered(problem: Problem, atoms: list[Expr]) -> Problem | None:
    """Of two divisions, write the one with the larger numerator as the other plus a variable >= 0.

    This is for cases that linear constraints cannot decide: divisions by an expression, and factors of products.
    """
    reasons: Reasons = frozenset((ORDER,))
    factors: set[Expr] = set()
    for h in problem.hypotheses:
        for node in postorder(h.left) if isinstance(h.left, Expr) else ():
            if type(node) is Mul and node.terms is None:
                factors.update(powers_of(node))
    divisions = [a for a in atoms if isinstance(a, FloorDiv) and (isinstance(a.parts[1], Expr) or a in factors)]
    for smaller, larger in permutations(sorted(divisions, key=lambda a: (a.height, order(a))), 2):
        (n, d), (m, e) = smaller.parts, larger.parts
        problem.budget.work(1)
        if d != e or not divisor_is_positive(d):
            continue
        problem.budget.charge((m, n))
        if at_least(subtract(m, n), 0):
            value = add(smaller, problem.fresh("t", 0, None))
            return problem.case({larger: value}, reasons, defining(larger, value, reasons))
    return None


def _unnested(problem: Problem, atoms: list[Expr]) -> Problem | None:
    """Take merged divisions apart if their divisors are different multiples of an expression.

    For n == s*p + r the quotient n//p is s + q with q == r//p, so equal remainders share one variable.
    """
    reasons: Reasons = frozenset((NESTING,))
    found: dict[Expr, Dim] = {}
    quotients: dict[tuple[Dim, Expr], Expr] = {}
    laws: list[Relation] = []
    multiples: dict[Expr, set[Dim]] = {}
    primitive = _primitive_divisors(atoms)
    divisors = sorted(set(primitive.values()), key=lambda p: (_degree(p), order(p)))
    for atom in atoms:
        if not isinstance(atom, FloorDiv) or atom.parts[1] not in primitive:
            continue
        problem.budget.build(atom)
        n, d = atom.parts
        p, c = next((p, c) for p in divisors if (c := _times(d, p)) is not None)
        multiples.setdefault(p, set()).add(c)
        s, r = long_division(n, p)
        q = quotients.get((r, p))
        if q is None:
            q = quotients[r, p] = problem.fresh("q", *quotient(bounds_of(r), bounds_of(p)))
            laws += remainder_of(subtract(r, multiply(p, q)), p, reasons)
        found[atom] = floordiv(add(s, q), c)
    for ((n, p), q), ((m, d), larger) in permutations(quotients.items(), 2):
        problem.budget.charge((m, n))
        if p is d and at_least(subtract(m, n), 0):
            laws.append(Relation("at_least", subtract(larger, q), 0, frozenset((ORDER,))))
    several = any(len(factors) > 1 for factors in multiples.values())
    return problem.case(found, reasons, laws) if several else None


def _primitive_divisors(atoms: list[Expr]) -> dict[Dim, Expr]:
    """The divisors that are expressions >= 1, each with its primitive part (the divisor without its content)."""
    found: dict[Dim, Expr] = {}
    for atom in atoms:
        if not isinstance(atom, FloorDiv):
            continue
        d = atom.parts[1]
        if isinstance(d, Expr) and d not in found and at_least(d, 1):
            terms, const = terms_of(d)
            c = gcd(const, *terms.values())
            p = divided(terms, const // c, c)
            assert isinstance(p, Expr)
            found[d] = p
    return found


def _times(d: Dim, p: Expr) -> Dim | None:
    """The number c >= 1 with d == c*p, or None."""
    c, rest = long_division(d, p)
    return c if rest == 0 and at_least(c, 1) else None


def _degree(dim: Expr) -> int:
    return max(sum(powers_of(unit).values()) for unit in terms_of(dim)[0])
