"""Hypotheses: relations `dim >= 0`, `dim == 0`, `dim != 0` that hold together, and what follows from them at once.

The prover proves a claim by refuting its negation together with the facts. The laws here need no search: intervals,
common divisors, and solving for a variable. A refutation comes with the set of reasons that it uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from math import gcd
from typing import TYPE_CHECKING

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors.arithmetic import add, subtract
from symdim.algebra.constructors.long_division import common_powers, divided, long_division
from symdim.algebra.dims import at_least, at_most, excludes
from symdim.algebra.evaluate import postorder, replaced, variables_of
from symdim.algebra.expr import Expr, FloorDiv, Mul
from symdim.algebra.polynomials import powers_of, terms_of, unit_of
from symdim.algebra.variable import Scope, Var, make_variable
from symdim.errors import DivisionByZero
from symdim.prover.budget import Budget, words_of
from symdim.relations.relation import Relation, RelationKind

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import TypeAlias

    from symdim.algebra.expr import Dim

    Reasons: TypeAlias = frozenset[Hashable]  # numbers of facts, names of laws


class Refuted(Exception):  # noqa: N818
    """The hypotheses cannot all hold, for these reasons."""

    def __init__(self, reasons: Reasons) -> None:
        super().__init__(reasons)
        self.reasons = reasons


class Problem:
    """Hypotheses over variables, the original variables as dimensions over them, and the budget.

    A problem is immutable except for its budget; every method that changes something returns a new problem.
    """

    __slots__ = ("budget", "hypotheses", "scope", "serial", "solution")

    def __init__(
        self,
        hypotheses: list[Relation],
        solution: dict[Var, Dim],
        scope: Scope,
        budget: Budget,
        serial: Iterator[int] | None = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.solution = solution
        self.scope = scope
        self.budget = budget
        self.serial = count() if serial is None else serial

    def having(self, hypotheses: list[Relation], solution: dict[Var, Dim] | None = None) -> Problem:
        """A problem of the same variables and budget with other hypotheses."""
        return Problem(
            hypotheses, self.solution if solution is None else solution, self.scope, self.budget, self.serial
        )

    def fresh(self, like: str, lo: int | None, hi: int | None) -> Var:
        """A new variable, named after another one."""
        stem, _, _ = like.partition("'")
        return make_variable(self.scope, f"{stem}'{next(self.serial)}", lo, hi)

    def replace(self, mapping: Mapping[Expr, Dim], reasons: Reasons, more: tuple[Relation, ...] = ()) -> Problem:
        """The problem with monomials replaced by equal dimensions, and further hypotheses."""
        values: dict[Dim, Dim] = {}
        hypotheses: list[Relation] = []

        def charge(node: Expr) -> None:
            self.budget.build(node)
            if type(node) is Mul and node._terms is None:
                self.budget.expand({values[atom]: exponent for atom, exponent in powers_of(node).items()})

        for h in (*self.hypotheses, *more):
            try:
                dim = replaced(h.left, mapping, values, charge)
            except DivisionByZero:
                raise Refuted(h.origins | reasons | {DEFINED}) from None
            hypotheses.append(h if dim is h.left else Relation(h.kind, dim, 0, h.origins | reasons))
        try:
            solution = {v: replaced(dim, mapping, values, charge) for v, dim in self.solution.items()}
        except DivisionByZero:  # a hypothesis of `defined` has become 0 != 0, or is the reason here
            solution = self.solution
            hypotheses.append(Relation("unequal", 0, 0, reasons | {DEFINED}))
        self.budget.spend(len(hypotheses) + len(values) // 2)
        self.budget.replace([value for node, value in values.items() if value is not node])
        return self.having(hypotheses, solution)

    def case(self, mapping: Mapping[Expr, Dim], reasons: Reasons, more: Iterable[Relation] = ()) -> Problem:
        """As `replace`; an impossible case becomes a problem with one false hypothesis."""
        try:
            return self.replace(mapping, reasons, tuple(more))
        except Refuted as impossible:
            return self.having([Relation("at_least", -1, 0, impossible.reasons)], {})

    def checked(self) -> Problem:
        """Drop hypotheses that always hold, and divide each sum by its content and by factors that are not 0.

        Raises `Refuted`.
        """
        kept: dict[tuple[Dim, str], Relation] = {}
        for h in self.hypotheses:
            simpler = simplified(h)
            for part in () if simpler is None else without_factors(simpler):
                known = part if part is simpler else simplified(part)
                if known is not None:
                    kept.setdefault((known.left, known.kind), known)
        return self.having(self._cancelled(list(kept.values())))

    def _cancelled(self, hypotheses: list[Relation]) -> list[Relation]:
        """The hypotheses, with m == 0 in place of d*m == 0 if another hypothesis says d != 0."""
        divisors = [h for h in hypotheses if h.kind == "unequal" and isinstance(h.left, Expr)]
        shorter: list[Relation | None] = []
        for h in hypotheses:
            product: Relation | None = h
            for d in divisors if h.kind == "equal" else ():
                while product is not None and nonlinear([product.left]):
                    self.budget.charge((product.left, d.left))
                    quotient, rest = long_division(product.left, d.left)  # type: ignore[arg-type]
                    self.budget.work(words_of(quotient) * words_of(d.left))
                    if rest != 0:
                        break
                    product = simplified(Relation("equal", quotient, 0, product.origins | d.origins | {NONZERO}))
            shorter.append(product)
        return [h for h in shorter if h is not None]


def nonlinear(dims: list[Dim]) -> set[Expr]:
    """The monomials of some sums that are products of variables, or of other atoms."""
    return {monomial for dim in dims for monomial in terms_of(dim)[0] if type(monomial) is Mul}


def without_factors(h: Relation) -> tuple[Relation, ...]:
    """Equivalent hypotheses without the factors that all terms except the constant share.

    f*m != 0 is f != 0 and m != 0. For f that is never 0, f*m == 0 is m == 0. For f >= 1, f*m >= 0 is m >= 0, and
    f*m >= 1 is m >= 1; f*m >= c for c > 1 implies m >= 1.
    """
    terms, const = terms_of(h.left)
    if const > 0 or (const < 0 and h.kind != "at_least") or not nonlinear([h.left]):
        return (h,)
    common = common_powers([*terms])
    if h.kind != "unequal":
        common = {atom: e for atom, e in common.items() if _may_cancel(atom, h.kind)}
    factor = unit_of(dict(common))
    if factor is None:
        return (h,)
    reasons = h.origins | {FACTOR if h.kind == "at_least" else NONZERO}
    simpler = Relation(h.kind, divided(terms, -1 if const else 0, 1, factor), 0, reasons)
    if h.kind == "unequal":
        return (*[Relation("unequal", atom, 0, reasons) for atom in common], simpler)
    return (simpler,) if const >= -1 else (h, simpler)


def _may_cancel(factor: Expr, kind: RelationKind) -> bool:
    """Whether a factor is always >= 1; for relations where that is enough, whether it is never 0."""
    return at_least(factor, 1) or (kind == "equal" and at_most(factor, -1))


def problem_of(hypotheses: list[Relation], about: tuple[Dim, ...], budget: Budget) -> Problem:
    """The problem of some hypotheses, with the upper bounds of the variables in them and in `about`.

    All these dimensions must have a value, so no divisor is 0. The problem keeps that even for a divisor that cancels
    in a difference or is solved away.
    """
    variables: dict[Var, Dim] = {}
    limits: list[Relation] = []
    stack = [*about, *[h.left for h in hypotheses]]
    budget.charge(stack)
    budget.admit(node for dim in stack if isinstance(dim, Expr) for node in postorder(dim))
    divisors = defined([*hypotheses, *[Relation("equal", dim, 0, frozenset()) for dim in about]])
    while stack:
        dim = stack.pop()
        for v in variables_of(dim) if isinstance(dim, Expr) else ():
            if v not in variables:
                variables[v] = v
                if isinstance(v.at_most, Expr):
                    limits.append(Relation("at_least", subtract(v.at_most, v), 0, frozenset((LIMIT,))))
                    stack.append(limits[-1].left)
    return Problem([*hypotheses, *divisors, *limits], variables, Scope(), budget)


def defined(hypotheses: list[Relation]) -> list[Relation]:
    """Hypotheses that no divisor in the given ones is 0. Each has the reasons of the hypothesis with the divisor."""
    nonzero: dict[Dim, Relation] = {}
    for h in hypotheses:
        for node in postorder(h.left) if isinstance(h.left, Expr) and h.left._height else ():
            if not isinstance(node, FloorDiv):
                continue
            d = node._parts[1]
            lo, hi = bounds_of(d)
            if d not in nonzero and (lo is None or lo <= 0) and (hi is None or hi >= 0):
                signed = lo is None or lo < 0
                reasons = h.origins | {DEFINED}
                nonzero[d] = Relation("unequal" if signed else "at_least", d if signed else add(d, -1), 0, reasons)
    return list(nonzero.values())


def remainder_of(rest: Dim, d: Dim, reasons: Reasons) -> tuple[Relation, Relation]:
    """0 <= rest <= d - 1, for the remainder of a division by d >= 1."""
    return Relation("at_least", rest, 0, reasons), Relation("at_least", subtract(subtract(d, 1), rest), 0, reasons)


FACTOR = "a product is positive as its factors are"
NONZERO = "a product is 0 where a factor is 0, and only there"
LIMIT = "the upper bound of a variable"
INTERVALS = "intervals of sums, products, quotients and maxima"
CONTENT = "a number that divides every coefficient divides a sum that is 0"
DEFINED = "no divisor is 0"


def simplified(h: Relation) -> Relation | None:
    """An equivalent hypothesis in lowest terms, None if it always holds; raises `Refuted` if it never does.

    g*m + c >= 0 is m + floor(c/g) >= 0; g*m + c is never 0 where g does not divide c.
    """
    kind, dim, _, reasons = h
    assert kind in ("at_least", "equal", "unequal"), kind
    lo, hi = bounds_of(dim)
    if kind == "at_least":
        if lo is not None and lo >= 0:
            return None
        if hi is not None and hi < 0:
            raise Refuted(reasons | {INTERVALS})
        if hi == 0:  # dim <= 0 too: -x**2 >= 0 is x**2 == 0
            return simplified(Relation("equal", dim, 0, reasons | {INTERVALS}))
    else:
        never, always = excludes(dim, 0), lo == 0 == hi
        if never if kind == "unequal" else always:
            return None
        if always if kind == "unequal" else never:
            raise Refuted(reasons | {INTERVALS} if not isinstance(dim, int) else reasons)
    terms, const = terms_of(dim)
    g = gcd(*terms.values())
    if g == 1:
        return h
    if kind != "at_least" and const % g:
        if kind == "unequal":
            return None
        raise Refuted(reasons | {CONTENT})
    return Relation(kind, divided(terms, const // g, g), 0, reasons)
