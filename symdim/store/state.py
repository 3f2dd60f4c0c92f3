"""The state of a store: what is known, the worklist of constraints, and what rules may do to them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from symdim.algebra.intervals import contains, meet
from symdim.algebra.order import dim_order
from symdim.algebra.texts.printing import shortened
from symdim.algebra.variable import Scope, Var
from symdim.rows import Row, RowVar
from symdim.store.constraints import (
    INDIVISIBLE,
    OUT_OF_RANGE,
    Bounds,
    Constraint,
    Label,
    RankEdge,
    RowEqual,
    RowsEqual,
    SizeEqual,
    kind_of,
)
from symdim.store.contents import is_linear, mentioned_in, variables_in
from symdim.store.ranks import RankGraph
from symdim.store.solution import Labels, Solution

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from symdim.algebra.expr import Dim

    Edges: TypeAlias = dict[tuple[Var | RowVar, Var | RowVar], Constraint]  # (high, low): low broadcasts to high

_ATOMS, _ROWS, _SIZES, _REST, _POLYNOMIALS, _GROWTH = range(6)  # the order in which constraints are looked at
_NARROWINGS = 64
_BITS = 1024  # the longest end of an interval: that of b >= 2*b*b doubles its length each time
_SHARED = "_scope", "_known", "_substitutions"  # copies have these in common; the last two only save time


class State(Solution):
    """What a store knows, and what rules may do to it. `copied` gives a question its own."""

    def __init__(self, least: int) -> None:
        super().__init__()
        self.least = least
        self.ranks = RankGraph()
        self.pending: dict[Constraint, None] = {}
        self.stated: dict[Constraint, Dim] = {}  # constraints that narrow intervals, with the size in each that does
        self.ceilings: dict[Var, tuple[int, Constraint]] = {}  # v is 1 or this
        self.counts: dict[RowVar, Var] = {}
        self.labels = Labels()
        self.edges: Edges = {}
        self.generated: dict[Var, None] = {}
        self.numerators: dict[Var, tuple[Var, ...]] = {}  # variable in the numerator of a count -> the divisors
        self.unsolved: set[Var] = set()  # variables that keep their names, because their values would be too long
        self.accessed: list[tuple[Dim, int]] = []  # (size, the least value that an index demands)
        self.growing: set[Constraint] = set()  # constraints whose rows may grow, after everything else
        self.progress: dict[Constraint, int] = {}
        self.paired: dict[Constraint, tuple[int, int]] = {}  # refinement -> axes paired from the left, from the right
        self._scope = Scope()
        self._serial = -1  # a number and not `itertools.count`, which later Pythons do not pickle
        self._queues: tuple[deque[Constraint], ...] = tuple(deque() for _ in range(6))
        self.queued: set[Constraint] = set()
        self._watchers: dict[Var | RowVar, dict[Constraint, None]] = {}
        self._narrowed: dict[Var, int] = {}

    def copied(self) -> State:
        """The same state, to be changed apart from this one. Constraints, sizes and rows never change.

        A question works on a copy, which takes the place of the state when it is done. So a question that fails, by an
        error or by an interrupt, leaves everything as it was.
        """
        copy = object.__new__(State)
        for name, value in vars(self).items():
            setattr(copy, name, value if name in _SHARED else _copied(value))
        return copy

    # variables

    def _next_serial(self) -> int:
        self._serial += 1
        return self._serial

    def fresh(self, name: str = "_d", lo: int | None = None, hi: int | None = None) -> Var:
        """A new size variable. The store replaces it by what it equals."""
        v = self._scope.var(f"{name}{self._next_serial()}", self.least if lo is None else lo, hi)
        self.generated[v] = None
        return v

    def fresh_row(self, rank: int) -> Row:
        """A row of so many new sizes."""
        return Row((), None, tuple(self.fresh() for _ in range(rank)))

    def given(self, variables: Iterable[Var]) -> bool:
        """Whether none of these variables was made by the store."""
        return not any(v in self.generated for v in variables)

    def preference(self, v: Var) -> tuple[bool, bool, tuple[object, ...]]:
        """A sort key: of two variables the greater is replaced. Generated ones and the store's own are the greatest."""
        return v in self.generated, v.scope is self._scope, dim_order(v)

    # the worklist

    def push(self, fact: Constraint) -> None:
        """Put a constraint on the worklist."""
        if fact not in self.queued:
            self.queued.add(fact)
            self._queues[self._priority(fact)].append(fact)

    def _priority(self, fact: Constraint) -> int:
        if isinstance(fact, SizeEqual):
            if isinstance(fact.a, int | Var) and isinstance(fact.b, int | Var):
                return _ATOMS
            return _SIZES if is_linear(fact.a) and is_linear(fact.b) else _POLYNOMIALS
        if isinstance(fact, RowEqual | RowsEqual | RankEdge | Label):
            return _ROWS
        if isinstance(fact, Bounds):
            return _SIZES
        return _GROWTH if fact in self.growing else _REST

    def take(self) -> Constraint | None:
        """The next constraint of the worklist, which is taken from it; None if there is none."""
        queue = next((q for q in self._queues if q), None)
        if queue is None:
            return None
        fact = queue.popleft()
        self.queued.discard(fact)
        return fact

    def watch(self, fact: Constraint) -> None:
        """Look again at a constraint that is not settled when more is known about its variables."""
        self.pending[fact] = None
        for v in mentioned_in(fact):
            if isinstance(v, Var):
                ends: tuple[Var | RowVar, ...] = variables_in(self.size(v)) if v in self.sizes else (v,)
            else:
                end = self.row(Row((), v))
                ends = tuple(w for dim in end.dims for w in variables_in(dim))
                ends += () if end.variable is None else (end.variable,)
            for w in ends:
                self._watchers.setdefault(w, {})[fact] = None

    def watch_intervals(self, fact: Constraint, dim: Dim) -> None:
        """Look again at a constraint whenever the interval of a variable in `dim`, its stated form, is narrowed."""
        for v in variables_in(dim):
            if v in self.sizes:
                self._fix(v, fact)
            if fact not in self.stated:
                self._watchers.setdefault(v, {})[fact] = None
        self.stated[fact] = dim

    def touch(self, variable: Var | RowVar) -> None:
        """Look again at the constraints that mention a variable."""
        if watching := self._watchers.get(variable):
            self._watchers[variable] = waiting = {
                fact: None for fact in watching if fact in self.pending or fact in self.stated
            }
            for fact in waiting:
                self.push(fact)

    def touch_value(self, v: Var) -> None:
        """Look again at the constraints that mention a variable, or a variable in its value."""
        for w in (v, *variables_in(self.size(v))):
            self.touch(w)

    # actions of rules

    def equate(self, a: Dim, b: Dim, parent: Constraint, law: str = "size", axis: int | None = None) -> None:
        """Add a == b, which follows from a constraint. Nothing happens if they are the same dimension."""
        if a is not b and a != b:
            origin = parent.origin if axis is None else parent.origin._replace(axis=axis)
            self.push(SizeEqual(origin, (parent,), law, a, b))

    def leave_unsolved(self, v: Var, value: Dim) -> None:
        """Keep `v == value` as an equation. It stays a guard and narrows intervals."""
        self.unsolved.add(v)
        cause, _ = self.causes[v][-1]
        fact = SizeEqual(cause.origin, (cause,), "size", v, value)
        self.pending[fact] = None
        self.push(fact)

    def bind(self, v: Var, value: Dim, fact: Constraint) -> None:
        """Give a variable a value. The value must not contain the variable."""
        self.because(v, fact, variables_in(value))
        interval, known = self.interval(v), self.bounds(value)
        if self.differ(v, value):
            raise self.out_of_range(v, value, fact)
        self.learn_value(v, value)
        if isinstance(value, Var):
            self.narrow(value, *interval, fact)
        elif not isinstance(value, int) and not contains(interval, known):
            self.push(Bounds(fact.origin, (fact,), fact.law, value, *interval))
        if v in self.ceilings and isinstance(value, int | Var):
            del self.ceilings[v]
        self.touch(v)

    def narrow(self, v: Var, lo: int | None, hi: int | None, fact: Constraint) -> None:
        """Add lo <= v <= hi."""
        value = self.size(v)
        if isinstance(value, Var):
            v = value
        old = self.interval(v)
        low, high = new = meet(old, (lo, hi))
        if new == old:
            return
        if low is not None and high is not None and low > high:
            self.because(v, fact)
            raise self.out_of_range(v, low if lo == low else high, fact)
        times = self._narrowed.get(v, 0)
        longest = max([end.bit_length() for end in new if end is not None], default=0)
        if low != high and (times > _NARROWINGS or longest > _BITS):
            return
        self._narrowed[v] = times + 1
        self.because(v, fact)
        self.learn_interval(v, new)
        if low is not None and low == high and v not in self.sizes:
            self.bind(v, low, fact)
            return
        self.touch(v)
        if v in self.sizes:
            self.push(Bounds(fact.origin, (fact,), fact.law, value, low, high))
            self._fix(v, fact)

    def _fix(self, v: Var, fact: Constraint) -> None:
        """Give a variable the only number in its interval as its value, instead of an expression."""
        value = self.size(v)
        low, high = self.interval(v)
        if low is not None and low == high and not isinstance(value, int | Var):
            self.touch_value(v)
            self.learn_value(v, low)
            self.equate(value, low, fact, fact.law)

    def bind_row(self, variable: RowVar, value: Row, fact: Constraint) -> None:
        """Give a row variable its axes, which must not contain it. The value has no gap."""
        value = value.flat()
        variables = tuple(v for dim in value.dims for v in variables_in(dim))
        self.because(variable, fact, variables if value.variable is None else (*variables, value.variable))
        self.rows[variable] = value
        known = value.least_rank
        self.ranks.add(variable, value.variable, known, fact)
        self.ranks.add(value.variable, variable, -known, fact)
        if variable in self.counts:
            self.push(SizeEqual(fact.origin, (fact,), "elements", self.counts[variable], self.count(value)))
        self.touch(variable)

    def count(self, row: Row) -> Dim:
        """The number of elements of a row, with a variable for the count of its unknown part."""
        from symdim.algebra.constructors.arithmetic import product

        row = self.row(row)
        factors = list(row.dims)
        if row.variable is not None:
            if row.variable not in self.counts:
                self.counts[row.variable] = self._count_of(row.variable)
            factors.append(self.counts[row.variable])
        return product(factors)

    def _count_of(self, variable: RowVar) -> Var:
        """The variable for the number of elements of a row variable, named after it."""
        name = f"#{variable.name}" if not variable.serial else f"#{variable.name}.{self._next_serial()}"
        v = self._scope.var(name, self.least)
        self.generated[v] = None
        return v

    def unite(self, variables: tuple[Var, ...], fact: Constraint) -> None:
        """Give variables the same label."""
        for v in self.labels.unite(self, variables, fact):
            self.touch_value(v)

    def limit(self, v: Var, ceiling: int, fact: Constraint) -> None:
        """Add: a variable is 1 or `ceiling`. If it gets two different ceilings, it is 1."""
        old = self.ceilings.get(v)
        if old is None:
            self.ceilings[v] = ceiling, fact
            self.because(v, fact)
            self.narrow(v, min(1, ceiling), max(1, ceiling), fact)
            self.touch(v)
        elif old[0] != ceiling:
            self.equate(v, 1, fact)

    # errors

    def out_of_range(self, v: Var, value: Dim, fact: Constraint) -> Exception:
        """The error for a variable whose value would lie outside of its interval."""
        bounded = [cause for cause, _ in self.causes.get(v, ()) if isinstance(cause, Bounds)]
        law = fact.law
        if bounded and law == "size":
            law = bounded[-1].law
        lo, hi = self.interval(v)
        kind = kind_of(law, OUT_OF_RANGE)
        return self.contradiction(
            kind, f"{v!r} would be {value!r}, outside of {lo}..{'' if hi is None else hi}", fact, v
        )

    def indivisible(self, fact: Constraint, n: Dim, d: Dim) -> Exception:
        """The error for a division that leaves a remainder."""
        return self.contradiction(kind_of(fact.law, INDIVISIBLE), f"{fact}, but {n!r} is not a multiple of {d!r}", fact)

    def ranks_differ(self, fact: Constraint, a: Row, b: Row) -> Exception:
        """The error for two rows of different rank."""
        return self.contradiction(
            "rank_mismatch", f"{shortened(str(a))} and {shortened(str(b))} have different numbers of axes", fact
        )


def _copied(value: Any) -> Any:
    """A container with containers of its own. Constraints, sizes and rows never change."""
    if isinstance(value, dict):
        return {key: list(v) if type(v) is list else dict(v) if type(v) is dict else v for key, v in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    if isinstance(value, list | set | deque):
        return value.copy()
    if isinstance(value, RankGraph | Labels):
        copy = object.__new__(type(value))
        vars(copy).update({name: _copied(part) for name, part in vars(value).items()})
        return copy
    return value
