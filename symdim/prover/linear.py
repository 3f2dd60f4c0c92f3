"""Linear constraints over integers: exact refutation by the simplex method, with certificates.

The general simplex of Dutertre and de Moura (CAV 2006): every variable has bounds, every constraint is a bound on a
variable defined by a row. Rows hold integers only. Nonbasic variables rest on a bound, so their values are integers
too, and no rational number is ever stored. Bland's rule makes it end.

A contradiction is a certificate in the sense of Farkas' lemma: bounds with weights > 0 whose weighted sum is `0 >= 1`.
`System.check` recomputes this sum from the caller's definitions before it returns the certificate. So an error in the
pivoting can lose an answer but never give a wrong one.
"""

from __future__ import annotations

from math import gcd

from symdim.prover.budget import Budget, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Row: TypeAlias = dict[int, int]
    Bound: TypeAlias = tuple[int, int]  # (variable, -1 for its lower bound, 1 for its upper bound)
    Weights: TypeAlias = dict[Bound, int]


class System:
    """Integer variables with bounds. Some variables are defined as sums of others."""

    __slots__ = ("definitions", "lower", "rows", "upper", "values", "words")

    def __init__(self) -> None:
        self.lower: list[int | None] = []
        self.upper: list[int | None] = []
        self.values: list[int] = []  # the values of nonbasic variables
        self.rows: dict[int, Row] = {}  # basic variable -> equation sum(k*v) == 0; the variable's own k is > 0
        self.words: dict[int, int] = {}  # the words of the coefficients in each row
        self.definitions: dict[int, Row] = {}

    def variable(self, lower: int | None = None, upper: int | None = None) -> int:
        """A new variable in lower..upper; None is no bound."""
        self.lower.append(lower)
        self.upper.append(upper)
        self.values.append(lower if lower is not None else upper if upper is not None else 0)
        return len(self.lower) - 1

    def sum(self, terms: Row, lower: int | None = None, upper: int | None = None) -> int:
        """A new variable equal to `sum(k*v)` over the given variables; all are defined before the first `check`."""
        new = self.variable(lower, upper)
        self.definitions[new] = terms
        self.rows[new] = {new: 1, **{v: -k for v, k in terms.items()}}
        self.words[new] = words_in(self.rows[new].values())
        return new

    def check(self, budget: Budget) -> Weights | None:
        """The certificate of a contradiction; None if rational numbers satisfy the bounds."""
        while True:
            violated = self._violated(budget)
            if violated is None:
                return None
            budget.spend()
            basic, end = violated
            entering = self._entering(basic, end)
            if entering is None:
                return self._verified(self._certificate(basic, end))
            self._pivot(basic, entering, budget)
            bound = self.lower[basic] if end < 0 else self.upper[basic]
            assert bound is not None
            self.values[basic] = bound

    def value(self, variable: int) -> tuple[int, int]:
        """The variable's value as (numerator, denominator > 0)."""
        row = self.rows.get(variable)
        if row is None:
            return self.values[variable], 1
        values = self.values
        return -sum([k * values[v] for v, k in row.items() if v != variable]), row[variable]

    def fractional(self, budget: Budget) -> tuple[int, int] | None:
        """(v, floor of its value) for the first variable whose value is not an integer."""
        budget.work(sum(self.words.values()))
        for basic in sorted(self.rows):
            numerator, denominator = self.value(basic)
            if numerator % denominator:
                return basic, numerator // denominator
        return None

    def restrict(self, variable: int, lower: int | None, upper: int | None) -> None:
        """Give a variable other bounds."""
        self.lower[variable], self.upper[variable] = lower, upper
        if variable not in self.rows:
            value = self.values[variable]
            if lower is not None and value < lower:
                self.values[variable] = lower
            elif upper is not None and value > upper:
                self.values[variable] = upper

    def _violated(self, budget: Budget) -> tuple[int, int] | None:
        for basic in sorted(self.rows):
            lower, upper = self.lower[basic], self.upper[basic]
            if lower is None and upper is None:
                continue
            budget.work(self.words[basic])
            numerator, denominator = self.value(basic)
            if lower is not None and numerator < lower * denominator:
                return basic, -1
            if upper is not None and numerator > upper * denominator:
                return basic, 1
        return None

    def _entering(self, basic: int, end: int) -> int | None:
        """The first nonbasic variable that can move the basic one toward its violated bound."""
        best = None
        for v, k in self.rows[basic].items():
            if v == basic or (best is not None and v > best):
                continue
            rises = (k > 0) == (end > 0)  # basic = -sum(k*v)/k_basic: at a lower bound it has to rise
            limit = self.upper[v] if rises else self.lower[v]
            if limit is None or limit != self.values[v]:
                best = v
        return best

    def _pivot(self, leaving: int, entering: int, budget: Budget) -> None:
        """Exchange two variables."""
        pivot = self.rows.pop(leaving)
        self.words[entering] = self.words.pop(leaving)
        if pivot[entering] < 0:
            pivot = {v: -k for v, k in pivot.items()}
        p = pivot[entering]
        for basic, row in self.rows.items():
            k = row.get(entering)
            if k is None:
                continue
            g = gcd(k, p)
            mine, theirs = p // g, k // g
            merged = {v: mine * c for v, c in row.items()} if mine != 1 else dict(row)
            for v, c in pivot.items():
                total = merged.get(v, 0) - theirs * c
                if total:
                    merged[v] = total
                else:
                    merged.pop(v, None)
            budget.work(words_in(merged.values()))
            g = gcd(*merged.values())
            row = self.rows[basic] = {v: c // g for v, c in merged.items()} if g > 1 else merged
            self.words[basic] = words_in(row.values())
        self.rows[entering] = pivot

    def _certificate(self, basic: int, end: int) -> Weights:
        row = self.rows[basic]
        weights: Weights = {(basic, end): row[basic]}
        for v, k in row.items():
            if v != basic:
                weights[v, end if k > 0 else -end] = abs(k)
        return weights

    def _verified(self, weights: Weights) -> Weights:
        """The certificate, if its weighted sum of `v - lower >= 0` and `upper - v >= 0` is a negative number."""
        total: Row = {}
        const = 0
        for (v, end), weight in weights.items():
            bound = self.lower[v] if end < 0 else self.upper[v]
            if bound is None or weight <= 0:
                raise AssertionError("a certificate uses a bound that is not there")
            const += end * weight * bound
            total[v] = total.get(v, 0) - end * weight
        for v in sorted(total, reverse=True):  # sums are defined over earlier variables
            terms = self.definitions.get(v)
            if terms is not None:
                k = total.pop(v)
                for u, c in terms.items():
                    total[u] = total.get(u, 0) + k * c
        if const >= 0 or any(total.values()):
            raise AssertionError("a certificate does not add up")
        return weights


def refute(system: System, budget: Budget, branches: int) -> frozenset[Bound] | None:
    """The bounds that contradict each other over the integers; None if no contradiction was shown.

    Branch and bound: if a variable's value x is not an integer, v <= floor(x) and v >= floor(x) + 1 are refuted each.
    """
    used: set[Bound] = set()
    stack: list[tuple[list[int | None], list[int | None]]] = [(list(system.lower), list(system.upper))]
    while stack:
        lower, upper = stack.pop()
        for v in range(len(lower)):
            if system.lower[v] != lower[v] or system.upper[v] != upper[v]:
                system.restrict(v, lower[v], upper[v])
        weights = system.check(budget)
        if weights is not None:
            used |= {(v, e) for v, e in weights}
            continue
        branch = system.fractional(budget)
        if branch is None or branches <= 0:
            return None
        branches -= 1
        v, floor = branch
        below, above = list(upper), list(lower)
        below[v], above[v] = floor, floor + 1
        stack.append((above, upper))
        stack.append((lower, below))
    return frozenset(used)
