"""Answers of a store after propagation: values, candidates, guards.

A generated size without an exact equation may still have a value. `4*x == H*W` makes it `H*W//4`, with the guard
`(H*W) % 4 == 0`. The broadcast of N and M, both at least 1, is `max(N, M)`, with the guard `N == M or 1 in (N, M)`.
Such values are computed on demand and take no part in propagation, so the order of constraints does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from symdim.algebra.constructors.arithmetic import power, product, total
from symdim.algebra.constructors.extrema import maximum
from symdim.algebra.constructors.floordiv import floordiv, mod
from symdim.algebra.expr import Expr
from symdim.algebra.intervals import contains
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.algebra.texts.written import leaf_count
from symdim.algebra.variable import Var
from symdim.errors import SymdimError
from symdim.relations.relation import Relation
from symdim.rows import RowVar
from symdim.store.constraints import Bounds, Constraint, Divisible, Origin, SizeEqual, SizeJoin, SizeRefines
from symdim.store.contents import dims_of, mentioned_in, variables_in
from symdim.store.solution import MOST_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from symdim.algebra.expr import Dim
    from symdim.store.state import State

_MANY = 1000  # the most candidates that are listed


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on given sizes that remains after propagation: a run is valid only if it holds.

    >>> from symdim import Store, Var
    >>> store = Store()
    >>> store.bounds(Var("H") - 2, lo=3, origin="a kernel of 5")
    >>> [(guard.text, guard.holds({"H": 4}), str(guard.origin)) for guard in store.guards()]
    [('H >= 5', False, 'a kernel of 5')]
    """

    fact: Constraint

    @property
    def text(self) -> str:
        """The condition."""
        return str(self.fact)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations of sizes that together are the condition; none if it is about ranks."""
        return self.fact.relations()

    @property
    def origin(self) -> Origin:
        """The origin of its constraint."""
        return self.fact.origin

    def holds(self, bindings: Mapping[str | Var, int]) -> bool | None:
        """Whether the condition holds at these sizes; None if some are missing, or if it is about ranks."""
        return self.fact.holds(bindings)

    def __str__(self) -> str:
        return self.text + (f"    ({self.origin})" if str(self.origin) else "")


class Answers:
    """Values of generated sizes that equations and joins define, and the guards of these values."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.defined: dict[Var, Dim] = {}
        self.conditions: list[Constraint] = []
        self.used: set[Constraint] = set()
        self._define_all([fact for fact in state.pending if isinstance(fact, SizeEqual | SizeJoin)])

    def value(self, dim: Dim) -> Dim:
        """The size as an expression of given variables, as far as it is known."""
        dim = self.state.size(dim)
        return dim.substitute(self.defined) if self.defined and isinstance(dim, Expr) else dim

    def _given(self, dim: Dim) -> bool:
        return self.state.given(variables_in(dim))

    def _define_all(self, facts: Sequence[SizeEqual | SizeJoin]) -> None:
        """Go through the constraints in rounds. Each is looked at again only after a size in it was defined."""
        queue = [(0, place) for place in range(len(facts))]  # (round, place)
        waiting: dict[Var, list[int]] = {}
        queued = set(range(len(facts)))
        while queue:
            turn, place = heappop(queue)
            queued.discard(place)
            sizes = tuple(map(self.value, dims_of(facts[place])))
            v = self._define(facts[place], sizes)
            if v is None:
                for w in {w for dim in sizes for w in variables_in(dim) if w in self.state.generated}:
                    waiting.setdefault(w, []).append(place)
                continue
            for other in waiting.pop(v, ()):
                if other not in queued and facts[other] not in self.used:
                    queued.add(other)
                    heappush(queue, (turn if other > place else turn + 1, other))

    def _define(self, fact: SizeEqual | SizeJoin, sizes: tuple[Dim, ...]) -> Var | None:
        """The generated size that a constraint with these values of its sizes defines over given sizes, or None."""
        if isinstance(fact, SizeJoin):
            result, *operands = sizes
            least = [self.state.bounds(dim)[0] for dim in operands]
            if not isinstance(result, Var) or result not in self.state.generated or not all(map(self._given, operands)):
                return None
            if not all(lo is not None and lo >= 1 for lo in least) or sum(map(leaf_count, operands)) > MOST_NAMES:
                return None
            self._put(result, maximum(*operands), fact)
            self.conditions.append(SizeJoin(fact.origin, (fact,), fact.law, self.defined[result], tuple(operands)))
            return result
        difference = sizes[0] - sizes[1]
        terms, const = terms_of(difference)
        unknown = [v for v in variables_in(difference) if v in self.state.generated]
        if len(unknown) != 1:
            return None
        (v,) = unknown
        factors: list[Dim] = []
        others: list[Dim] = [const]
        for monomial, k in terms.items():
            powers = powers_of(monomial)
            if powers.get(v) == 1 and not any(v in variables_in(atom) for atom in powers if atom is not v):
                factors.append(product([k, *[power(atom, e) for atom, e in powers.items() if atom is not v]]))
            elif v in variables_in(monomial):
                return None
            else:
                others.append(product([k, monomial]))
        factor, rest = total(factors), product([-1, total(others)])
        lo, hi = self.state.bounds(factor)
        if hi is not None and hi < 0:
            factor, rest, lo = product([-1, factor]), product([-1, rest]), -hi
        if lo is None or lo < 1 or leaf_count(rest) + leaf_count(factor) > MOST_NAMES:
            return None
        self._put(v, floordiv(rest, factor), fact)
        if mod(rest, factor) != 0:
            self.conditions.append(Divisible(fact.origin, (fact,), fact.law, rest, factor))
        return v

    def _put(self, v: Var, value: Dim, fact: Constraint) -> None:
        self.used.add(fact)
        self.defined[v] = value
        interval = self.state.interval(v)
        if not contains(interval, self.state.bounds(value)):
            self.conditions.append(Bounds(fact.origin, (fact,), fact.law, value, *interval))

    def guards(self) -> list[Guard]:
        """The conditions on given sizes that remain, in the order of their discovery."""
        state = self.state
        guards: dict[tuple[object, ...], Guard] = {}

        def add(fact: Constraint) -> None:
            fresh = any(v.serial for v in mentioned_in(fact) if isinstance(v, RowVar))
            if not fresh and self.state.given(v for v in mentioned_in(fact) if isinstance(v, Var)):
                guard = Guard(fact)
                guards.setdefault((guard.text, *dims_of(fact)), guard)  # long texts may be alike

        for v, dim in list(state.sizes.items()):  # a long value may be dropped here
            if v not in state.generated:
                cause = state.causes[v][-1][0]
                add(SizeEqual(cause.origin, (cause,), cause.law, v, self.value(dim)))
        for v, (lo, hi) in state.intervals.items():
            settled = any(cause not in state.pending for cause, _ in state.causes[v])
            if v not in state.generated and v not in state.sizes and settled:
                cause = state.causes[v][-1][0]
                low, high = (None if lo == v.lo else lo), (None if hi == v.hi else hi)
                add(Bounds(cause.origin, (cause,), cause.law, v, low, high))
        left = [self.resolved(fact) for fact in [*state.pending, *self.conditions] if fact not in self.used]
        joined = {(fact.result, dim) for fact in left if isinstance(fact, SizeJoin) for dim in fact.operands}
        for fact in left:
            if not (isinstance(fact, SizeRefines) and (fact.result, fact.operand) in joined):
                add(fact)
        return list(guards.values())

    def resolved(self, fact: Constraint) -> Constraint:
        """The constraint over given sizes."""
        if not isinstance(fact, SizeEqual | SizeRefines | SizeJoin | Bounds | Divisible):
            return fact
        values: dict[str, Any] = {}
        for name in fact.SIZES:
            content = getattr(fact, name)
            values[name] = tuple(map(self.value, content)) if isinstance(content, tuple) else self.value(content)
        return replace(fact, parents=(fact,), **values)

    def candidates(self, dim: Dim) -> tuple[int, ...] | None:
        """The sizes that intervals, divisibilities and the limits of broadcasting allow; None if there are many."""
        lo, hi = self.state.bounds(dim)
        dim = self.state.holder(dim)
        if lo is None or hi is None or hi - lo > _MANY:
            return None
        values = range(lo, hi + 1)
        if not isinstance(dim, Var):
            return tuple(values)
        ceiling = self.state.ceilings.get(dim)
        kept = list(values)
        if ceiling is not None:
            kept = [value for value in kept if value in (1, ceiling[0])]
        for fact in self.state.pending:
            if isinstance(fact, SizeEqual | Divisible) and dim in variables_in(self.state.size(dims_of(fact)[0])):
                kept = [value for value in kept if _possible(self.resolved(fact), dim, value)]
        return tuple(kept)


class Known(NamedTuple):
    """What follows from the first `done` constraints of a store. It is replaced as a whole, never changed in part."""

    state: State
    done: int
    answers: Answers | None


def _possible(fact: Constraint, v: Var, value: int) -> bool:
    try:
        return Guard(fact).holds({v: value}) is not False
    except SymdimError:
        return True
