"""Order of divisions, of maxima and of minima that follows from that of their parts, the innermost first.

    quotient    m//d >= n//d                  m >= n, or m//c >= n//c for a factor c of d
    maximum     max(q, ..) >= max(p, ..)      each p is at most one of the q
    minimum     min(q, ..) >= min(p, ..)      each q is at least one of the p
    dominance   max(a, b) == b                a <= b

So a monotone function is compared at two sizes level by level, without distinguishing cases.
"""

from __future__ import annotations

from itertools import combinations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import add, multiply, scale, subtract
from symdim.algebra.constructors.extrema import maximum, minimum
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.dims import at_least
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max, Min
from symdim.algebra.order import order
from symdim.algebra.polynomials import exact_quotient, powers_of, terms_of
from symdim.prover.axioms import MAXIMUM, atoms_of, divisor_is_positive
from symdim.prover.hypotheses import Problem
from symdim.prover.nesting import factors
from symdim.relations.relation import Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from symdim.algebra.expr import Dim
    from symdim.prover.hypotheses import Reasons

MONOTONE = "n//d, max and min never fall where their parts grow"
_STEPS = 4  # known differences that are subtracted to see a sign
_ATOMS = 16
_COMPARISON = 2  # steps of the budget for one comparison, of however few nodes
_NODE = 8  # words of the budget for each node that is compared: a step for eight of them


def with_order(problem: Problem) -> Problem | None:
    """The problem with the conclusions of the laws above as further hypotheses; None if they give nothing new."""
    atoms = atoms_of([h.left for h in problem.hypotheses])
    compared = sorted([a for a in atoms if isinstance(a, (FloorDiv, Extremum))], key=lambda a: (a.height, order(a)))
    if all(isinstance(a, FloorDiv) and isinstance(a.parts[1], int) for a in compared):
        return None
    order_known = _Order(problem)
    found: list[Relation] = []
    pairs = combinations(compared[:_ATOMS], 2)
    for a, b in sorted(pairs, key=lambda pair: max(pair[0].height, pair[1].height)):
        for smaller, larger in ((a, b), (b, a)):
            for difference, reasons in order_known.differences(smaller, larger):
                lo, _ = bounds_of(difference)
                if lo is None or lo < 0:
                    found.append(Relation("at_least", difference, 0, reasons | {MONOTONE}))
                    order_known.learn(found[-1])
    new = [h for h in found if all(h.left is not g.left for g in problem.hypotheses)]
    shorter, reasons = order_known.without_dominated(compared)
    if not new and not shorter:
        return None
    problem = problem.extended(*new)
    return problem.replace(shorter, reasons).checked() if shorter else problem


class _Order:
    """Differences known to be >= 0, indexed by the units with a negative coefficient in them."""

    def __init__(self, problem: Problem) -> None:
        self.budget = problem.budget
        self.known: dict[Expr, list[Relation]] = {}
        self.answers: dict[Dim, Reasons | None] = {}
        for h in problem.hypotheses:
            if h.kind == "at_least":
                self.learn(h)

    def learn(self, h: Relation) -> None:
        """Add the hypothesis `h.left >= 0`."""
        self.answers = {dim: why for dim, why in self.answers.items() if why is not None}
        for unit, k in terms_of(h.left)[0].items():
            if k < 0:
                self.known.setdefault(unit, []).append(h)

    def differences(self, smaller: Expr, larger: Expr) -> Iterator[tuple[Dim, Reasons]]:
        """Differences that are >= 0 because parts of one atom are at most those of the other, with the reasons."""
        if isinstance(smaller, FloorDiv) and isinstance(larger, FloorDiv):
            why = self._of_quotients(smaller, larger)
            if why is not None:
                yield subtract(larger, smaller), why
        elif isinstance(smaller, Extremum) and isinstance(larger, Extremum):
            low, high = smaller.parts, larger.parts
            for kind in (Max, Min):
                below, above = _as_kind(kind, smaller), _as_kind(kind, larger)
                if below is None or above is None:
                    continue
                if kind is Max:
                    why = self._every(low, lambda part: [subtract(q, part) for q in high])
                else:
                    why = self._every(high, lambda part: [subtract(part, p) for p in low])
                if why is not None:
                    yield subtract(above, below), why

    def _of_quotients(self, smaller: FloorDiv, larger: FloorDiv) -> Reasons | None:
        (n, d), (m, e) = smaller.parts, larger.parts
        if d != e or not divisor_is_positive(d):
            return None
        why = self._nonnegative(subtract(m, n))
        for c, _ in factors(d) if why is None else ():
            why = self._nonnegative(subtract(floordiv(m, c), floordiv(n, c)))
            if why is not None:
                break
        return why

    def _every(self, parts: tuple[Dim, ...], ways: Callable[[Dim], list[Dim]]) -> Reasons | None:
        """The reasons why each part has a difference that is >= 0, or None."""
        reasons: Reasons = frozenset()
        for part in parts:
            why = next((why for dim in ways(part) if (why := self._nonnegative(dim)) is not None), None)
            if why is None:
                return None
            reasons |= why
        return reasons

    def without_dominated(self, atoms: Sequence[Expr]) -> tuple[dict[Expr, Dim], Reasons]:
        """({maximum or minimum: the same without dominated arguments}, the reasons), for those that have some."""
        found: dict[Expr, Dim] = {}
        reasons: Reasons = frozenset()
        for atom in atoms:
            if not isinstance(atom, Extremum):
                continue
            sign = 1 if isinstance(atom, Max) else -1
            kept = list(atom.parts)
            for part in atom.parts:
                ways = (self._nonnegative(scale(subtract(other, part), sign)) for other in kept if other is not part)
                why = next((way for way in ways if way is not None), None)
                if why is not None:
                    kept.remove(part)
                    reasons |= why
            if len(kept) < len(atom.parts):
                found[atom] = (maximum if sign > 0 else minimum)(*kept)
        return found, reasons | {MAXIMUM} if found else reasons

    def _nonnegative(self, dim: Dim) -> Reasons | None:
        """The reasons why dim >= 0: after subtracting known differences times factors >= 0, its interval is >= 0."""
        if dim not in self.answers:
            self.answers[dim] = self._found(dim)
        return self.answers[dim]

    def _found(self, dim: Dim) -> Reasons | None:
        reasons: Reasons = frozenset()
        for _ in range(_STEPS):
            self.budget.spend(_COMPARISON)
            self.budget.charge((dim,))
            if isinstance(dim, Expr):
                self.budget.build(dim)
            self.budget.work(_NODE * len(postorder(dim)) if isinstance(dim, Expr) else 0)
            lo, hi = bounds_of(dim)
            if lo is not None and lo >= 0:
                return reasons
            step = None if hi is not None and hi < 0 else self._step(dim)
            if step is None:
                return None
            dim, why = step
            reasons |= why
        return None

    def _step(self, dim: Dim) -> tuple[Dim, Reasons] | None:
        """`dim` minus a known difference that removes a negative term, and the reasons; the first one that is found."""
        terms, _ = terms_of(dim)
        for unit in sorted([u for u, k in terms.items() if k < 0], key=order):
            for atom in powers_of(unit):
                for h in self.known.get(atom, ()):
                    factor = exact_quotient(unit, atom)
                    times: Dim = 1 if factor is None else factor
                    k = terms_of(h.left)[0][atom]
                    if at_least(times, 0) and terms[unit] % k == 0:
                        return subtract(dim, multiply(scale(h.left, terms[unit] // k), times)), h.origins
        return None


def _as_kind(kind: type[Extremum], atom: Extremum) -> Dim | None:
    """The maximum or minimum of the arguments of an atom, if the atom is this one; else None."""
    if isinstance(atom, kind):
        return atom
    return subtract(add(*atom.parts), atom) if len(atom.parts) == 2 else None
