"""The knowledge about size and row variables: values, intervals, and the constraints that gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.bounds import bounds_of, by_parts
from symdim.algebra.evaluate import Substitution, postorder
from symdim.algebra.expr import Expr
from symdim.algebra.intervals import contains, disjoint, meet
from symdim.algebra.texts.written import leaf_count
from symdim.algebra.variable import Var
from symdim.errors import DivisionByZero
from symdim.store.constraints import LONGEST_CHAIN, OUT_OF_RANGE, UNEQUAL, Contradiction, kind_of
from symdim.store.contents import mentioned_in, variables_in

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Interval
    from symdim.rows import Row, RowVar
    from symdim.store.constraints import Constraint

MOST_NAMES = 64
"""The most names of a value, written out. In a chain of equations, joins or divisions each value has all names of the
former ones, or twice as many.
"""
_SUBSTITUTIONS = 256  # remembered substitutions


class Solution:
    """Values of variables as expressions of others, without cycles; intervals of variables without a value."""

    def __init__(self) -> None:
        self.sizes: dict[Var, Dim] = {}
        self.rows: dict[RowVar, Row] = {}
        self.intervals: dict[Var, Interval] = {}
        self.causes: dict[Var | RowVar, list[tuple[Constraint, tuple[Var | RowVar, ...]]]] = {}
        self._known: dict[Dim, Interval] = {}  # the intervals of sizes, until something is learned
        self._substitutions: dict[tuple[tuple[Var, Dim], ...], Substitution] = {}  # by variables with their values

    # values

    def learn_value(self, v: Var, value: Dim) -> None:
        """Set the value of a variable."""
        self.sizes[v] = value
        self._known = {}

    def learn_interval(self, v: Var, interval: Interval) -> None:
        """Set the interval of a variable."""
        self.intervals[v] = interval
        self._known = {}

    def size(self, dim: Dim) -> Dim:
        """The dimension with the values of its variables. Raises Contradiction for a value outside of its bounds."""
        sizes = self.sizes
        if isinstance(dim, int):
            return dim
        if isinstance(dim, Var):
            if dim not in sizes:
                return dim
            self._settle(dim)
            return sizes.get(dim, dim)
        bound = [v for v in variables_in(dim) if v in sizes]
        if not bound:
            return dim
        for v in bound:
            self._settle(v)
        return self._substituted(dim, [v for v in bound if v in sizes])

    def _substituted(self, dim: Expr, bound: list[Var]) -> Dim:
        """The dimension with the values of these variables.

        Sizes nest in a chain of layers, and each is asked for often. So what was rebuilt is kept with these values.
        """
        values = tuple([(v, self.sizes[v]) for v in bound])
        substitution = self._substitutions.get(values)
        if substitution is None:
            if len(self._substitutions) >= _SUBSTITUTIONS:
                self._substitutions.clear()
            substitution = self._substitutions[values] = Substitution(dict(values))
        return dim.substitute(substitution)

    def holder(self, dim: Dim) -> Dim:
        """The number or variable that a size equals. A size that equals an expression stands for itself."""
        value = self.size(dim)
        return value if isinstance(value, int | Var) else dim

    def _settle(self, variable: Var) -> None:
        """Bring the value of a variable up to date, without recursion."""
        sizes, stack = self.sizes, [variable]
        while stack:
            v = stack[-1]
            if v not in sizes:  # its value was too long
                stack.pop()
                continue
            bound = [w for w in variables_in(sizes[v]) if w in sizes]
            stale = [w for w in bound if any(x in sizes for x in variables_in(sizes[w]))]
            if stale:
                stack += stale
                continue
            stack.pop()
            if bound:
                value = sizes[v]
                assert isinstance(value, Expr)
                self.learn_value(v, self._substituted(value, bound))
                self.check_bounds(v, sizes[v])
                if leaf_count(sizes[v]) > MOST_NAMES:
                    self.leave_unsolved(v, value)
                    del sizes[v]
                    self._known = {}

    def leave_unsolved(self, v: Var, value: Dim) -> None:
        """Keep `v == value` as an equation: written out, the value is too long for a variable to be replaced by it."""
        raise NotImplementedError

    def check_bounds(self, v: Var, value: Dim) -> None:
        """Raise Contradiction for a value outside of the bounds with which its variable was made."""
        if disjoint((v.lo, v.hi), bounds_of(value)):
            fact, _ = self.causes[v][-1]
            raise self.contradiction(kind_of(fact.law, OUT_OF_RANGE), f"{v!r} cannot be {value!r}", fact, v)

    def check_divisors(self) -> None:
        """Raise Contradiction if a variable has a value in which a divisor has become 0."""
        for v, value in list(self.sizes.items()):
            if isinstance(value, Expr) and value._height:
                try:
                    self.size(v)
                except DivisionByZero as error:
                    raise self.without_value(self.causes[v][-1][0], error) from None

    def splice(self, row: Row) -> Row:
        """The row with the value of its variable; its sizes stay as they were stated."""
        variable = row.variable
        if variable is None or (value := self.rows.get(variable)) is None:
            return row
        if value.variable in self.rows:
            while value.variable is not None and (inner := self.rows.get(value.variable)) is not None:
                value = value.spliced(inner).flat()
            self.rows[variable] = value
        return row.spliced(value)

    def row(self, row: Row) -> Row:
        """The row with the values of its variable and its sizes."""
        row = self.splice(row)
        return row if all(isinstance(dim, int) for dim in row.dims) else row.map(self.size)

    # intervals

    def interval(self, v: Var) -> Interval:
        """The interval of a variable, from its own interval and that of its value."""
        known = self.intervals.get(v) or (v.lo, v.hi)
        return known if v not in self.sizes else meet(known, self.bounds(self.size(v)))

    def bounds(self, dim: Dim) -> Interval:
        """An interval of a dimension, from the intervals of its variables."""
        if isinstance(dim, int):
            return dim, dim
        if isinstance(dim, Var):
            return self.interval(dim)
        if not self.intervals:
            return bounds_of(dim)
        while (interval := self._known.get(dim)) is None:
            self._find_intervals(dim, self._known)
        return interval

    def _find_intervals(self, dim: Expr, known: dict[Dim, Interval]) -> None:
        """Compute the intervals of an expression and its parts. They are lost if that brings a value up to date."""

        def interval(part: Dim) -> Interval:
            return (part, part) if isinstance(part, int) else known[part]

        for node in postorder(dim):
            if node not in known:
                if isinstance(node, Var):
                    known[node] = self.interval(node)
                else:
                    known[node] = meet(by_parts(node, interval), bounds_of(node))

    def excludes(self, dim: Dim, value: int) -> bool:
        """Whether intervals prove that a dimension never has this value."""
        if isinstance(dim, int):
            return dim != value
        return not contains(self.bounds(dim), (value, value))

    def differ(self, a: Dim, b: Dim) -> bool:
        """Whether intervals prove that two dimensions are never equal."""
        if not isinstance(a, int | Var) and not isinstance(b, int | Var):
            return self.excludes(a - b, 0)
        return disjoint(self.bounds(a), self.bounds(b))

    # grounds

    def because(self, variable: Var | RowVar, fact: Constraint, mentioned: tuple[Var | RowVar, ...] = ()) -> None:
        """Record that a constraint determined something about a variable, from the given other variables."""
        self.causes.setdefault(variable, []).append((fact, mentioned))

    def chain(self, fact: Constraint | None, *variables: Var | RowVar) -> tuple[Constraint, ...]:
        """The stated constraints behind a constraint and behind the variables, nearest first, at most 20."""
        stated: dict[Constraint, None] = {}
        seen: set[object] = set()
        queue: list[object] = ([] if fact is None else [fact]) + list(variables)
        for item in queue:
            if item in seen:
                continue
            seen.add(item)
            if len(stated) >= LONGEST_CHAIN:
                break
            if isinstance(item, Var) or item in self.causes:
                for cause, mentioned in self.causes.get(item, ()):
                    queue += [cause, *mentioned]
            elif hasattr(item, "parents"):
                if not item.parents:
                    stated[item] = None  # type: ignore[index]
                queue += [*item.parents, *mentioned_in(item)]  # type: ignore[arg-type]
        return tuple(stated)

    def without_value(self, fact: Constraint, error: DivisionByZero) -> Contradiction:
        """The error for a constraint with a divisor that is 0."""
        return self.contradiction(kind_of(fact.law, UNEQUAL), f"{fact} has no value: {error}", fact)

    def contradiction(
        self, kind: str, message: str, fact: Constraint | None, *variables: Var | RowVar
    ) -> Contradiction:
        """The error, with its chain."""
        return Contradiction(kind, message, self.chain(fact, *variables))


class Labels:
    """Sets of variables with the same label."""

    def __init__(self) -> None:
        self._parents: dict[Var, Var] = {}
        self._members: dict[Var, list[Var]] = {}
        self._labels: dict[Var, tuple[str, Constraint]] = {}

    def root(self, v: Var) -> Var:
        """The representative of the set of `v`."""
        parents = self._parents
        while (parent := parents.get(v, v)) is not v:
            parents[v] = v = parents.get(parent, parent)
        return v

    def of(self, v: Var) -> str | None:
        """The label of a variable."""
        label = self._labels.get(self.root(v)) if self._labels else None
        return None if label is None else label[0]

    def put(self, solution: Solution, v: Var, text: str, fact: Constraint) -> list[Var]:
        """Label a set; return the variables that are labelled now. Raises Contradiction if it has another label."""
        root = self.root(v)
        old = self._labels.get(root)
        if old is None:
            self._labels[root] = text, fact
            return self._members.get(root, [root])
        if old[0] != text:
            chain = tuple(dict.fromkeys(solution.chain(fact) + solution.chain(old[1])))[:LONGEST_CHAIN]
            error = solution.contradiction("label_mismatch", f"{v!r} is {text!r} and {old[0]!r}", fact)
            error.chain = chain
            raise error
        return []

    def unite(self, solution: Solution, variables: tuple[Var, ...], fact: Constraint) -> list[Var]:
        """Give variables the same label; return those newly labelled. Raises Contradiction if labels differ."""
        changed: list[Var] = []
        for v in variables:
            a, b = self.root(variables[0]), self.root(v)
            if a is b:
                continue
            if len(self._members.get(a, ())) < len(self._members.get(b, ())):
                a, b = b, a
            members, others = self._members.setdefault(a, [a]), self._members.pop(b, [b])
            label = self._labels.pop(b, None)
            if label is not None and a in self._labels:
                self.put(solution, a, label[0], fact)
            elif label is not None:
                self._labels[a] = label
                changed += list(members)
            elif a in self._labels:
                changed += others
            self._parents[b] = a
            members += others
        return changed
