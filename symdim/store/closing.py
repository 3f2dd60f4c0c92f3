"""Closing: guesses for all open variables, in stages, for callers who want shapes without variables.

    stage               sizes                                           rows
    1 online            deduced                                         deduced
    2 late sizes        sizes that the caller computes late             -
    3 leaf rows         -                                               leaf -> bound, or one axis if a count needs it
    4 leaf sizes        leaf -> bound                                   leaf without bound -> no axes
    5 guesses           leaf without bound -> 1                         counts: bound, none or one axis; exact axes
    6 rows              any that is read beyond index 0 -> bound        any -> bound, or no axes
    7 sizes             any -> the size it is stretched from, else 1    -

The bound of a variable is the least result that it is broadcast to; if two results differ, it is 1, axis by axis.
A leaf takes its shape from its uses, so it closes to its bound. All other shapes are forced by their operands; they
close upwards afterwards. A stage chooses all its values before one of them takes effect, and nothing is taken back: a
contradiction that follows is a "closing_conflict". Given variables are never guessed, unless they are leaves or are in
the shape of a leaf. A row with an unknown count takes its bound before sizes in that count are guessed.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeVar

from symdim.algebra.constructors.extrema import maximum
from symdim.algebra.order import dim_order
from symdim.algebra.variable import Var
from symdim.rows import Axes, Row, RowVar
from symdim.store.broadcasting import left_over
from symdim.store.constraints import (
    Constraint,
    Contradiction,
    Origin,
    RowEqual,
    RowRefines,
    RowsEqual,
    SizeEqual,
    SizeRefines,
)
from symdim.store.contents import row_order, variables_in
from symdim.store.propagation import run
from symdim.store.rows import shortest_row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import TypeAlias

    from symdim.algebra.expr import Dim
    from symdim.store.state import State

    Place: TypeAlias = "Axes | Row | Var"

_Kind = TypeVar("_Kind", bound=Constraint)
STAGES = ("late sizes", "leaf rows", "leaf sizes", "guesses", "rows", "sizes")


class Closing:
    """One closing of a store. `run` returns for each variable the stage that set it."""

    def __init__(
        self,
        state: State,
        leaves: Iterable[Place],
        params: Iterable[Place],
        late: Mapping[Var, int],
        may_be_empty: Collection[Var],
        others: Iterable[Place],
        without: Iterable[Place],
    ) -> None:
        self.state = state
        self.params = _rows(params)
        self.leaves = [*_rows(leaves), *self.params]
        self.late = late
        self.may_be_empty = may_be_empty
        self.others, self.without = _rows(others), _rows(without)
        self.named = {v for _, row in self.leaves for v in row.dims if isinstance(v, Var)}
        self.chosen: dict[Var | RowVar, str] = {}
        self.stage: str

    def run(self) -> dict[Var | RowVar, str]:
        """All stages, one after the other. Raises Contradiction."""
        steps = self._late_sizes, self._leaf_rows, self._leaf_sizes, self._guesses, self._all_rows, self._all_sizes
        for self.stage, step in zip(STAGES, steps, strict=True):
            try:
                step()
            except Contradiction as error:
                if error.kind == "unspecified_parameter":
                    raise
                message = f"closing ({self.stage}) contradicts its own choices: {error.message}"
                raise Contradiction("closing_conflict", message, error.chain) from error
        return self.chosen

    # stages

    def _late_sizes(self) -> None:
        self._choose({v: size for v, size in self.late.items() if v not in self.state.sizes}, {})

    def _leaf_rows(self) -> None:
        while True:
            rows: dict[RowVar, Row] = {}
            for kind, row in self.leaves:
                v = self._open(row)
                if v is None or v in rows:
                    continue
                closed = self._by_bound(v) or self._one_axis(v)
                if closed == Row():
                    continue
                if closed is None and kind not in ("", "output") and self._shares_its_count(v):
                    closed = Row()
                if closed is not None:
                    rows[v] = closed
            if not rows:
                return
            self._choose({}, rows)

    def _leaf_sizes(self) -> None:
        self._choose({v: self._bound(v) for v in self._leaf_variables(self.leaves)}, {})
        opened = [v for _, row in self.leaves if (v := self._open(row))]
        waiting: set[RowVar | None] = {v for fact in self._pending(RowsEqual) for v in self._ends(fact)}
        waiting |= {v for fact in self._pending(RowEqual) if (v := self._open(fact.a)) == self._open(fact.b)}
        self._choose({}, {v: Row() for v in opened if v not in waiting and self._count(v) in (None, 1)})

    def _guesses(self) -> None:
        for size in self._leaf_variables(self.params):
            if (self.state.interval(size)[0] or 0) <= 1:
                message = f"nothing determines the size {size} of a parameter"
                raise self.state.contradiction("unspecified_parameter", message, None, size)
        # a row with an unknown count takes its bound before sizes in that count are guessed
        counted = [v for v in self._open_rows() if self._count(v) is not None and not isinstance(self._count(v), int)]
        bounds = {v: self._by_bound(v) for v in counted}
        self._choose({}, {v: row for v, row in bounds.items() if row and all(map(self._is_known, row.dims))})
        self._choose({v: self._guess(v) for v in self._leaf_variables(self.leaves) if not self._is_blocked(v)}, {})
        self._guess_counted_rows()
        kinds = self._kinds()
        for fact in self._pending(RowsEqual):
            self._choose({}, self._all_but_one_empty(self._ends(fact), kinds))

    def _guess_counted_rows(self) -> None:
        """Of the rows that share a count one keeps it, an output if there is one; then counts decide about axes."""
        kinds = self._kinds()
        empty = self._all_but_one_empty([v for v in self._open_rows() if self._shares_its_count(v)], kinds)
        self._choose({}, {v: row for v, row in empty.items() if kinds.get(v) != "output"})
        counted = [v for v in self._open_rows() if v in self.state.counts]
        rows = {v: self._one_axis(v) or self._by_bound(v) for v in counted}
        self._choose({}, {v: row for v, row in rows.items() if row is not None})

    def _all_but_one_empty(self, rows: list[RowVar], kinds: Mapping[RowVar, str]) -> dict[RowVar, Row]:
        """No axes for all rows except one: the first output, else the last row."""
        absorbing = next((v for v in rows if kinds.get(v) == "output"), rows[-1] if rows else None)
        return {v: Row() for v in rows if v != absorbing}

    def _pending(self, kind: type[_Kind]) -> list[_Kind]:
        return [fact for fact in self.state.pending if isinstance(fact, kind)]

    def _ends(self, fact: RowsEqual) -> list[RowVar]:
        return [end for row in fact.rows if (end := self._open(row)) is not None]

    def _all_rows(self) -> None:
        self._choose_bounds()
        for fact in self._pending(RowEqual):
            self._choose({}, shortest_row(self.state, fact))
        while opened := self._open_rows():
            bounded = {v: row for v in opened if (row := self._by_bound(v)) is not None}
            self._choose({}, bounded or {v: self._one_axis(v) or Row() for v in opened})
        self._choose_bounds()

    def _all_sizes(self) -> None:
        while stretched := self._stretched():
            self._choose(stretched, {})
        self._choose({v: 0 for v in self.may_be_empty if not isinstance(self.state.size(v), int)}, {})
        self._choose({v: self._guess(v) for v in self._unset() if not self._is_blocked(v)}, {})
        self._choose({v: self._guess(v) for v in self._unset()}, {})

    # choices

    def _choose(self, sizes: Mapping[Var, Dim | None], rows: Mapping[RowVar, Row]) -> None:
        """Make values take effect together; None is no choice."""
        state, origin = self.state, Origin(text=f"closing: {self.stage}")
        for v, size in sizes.items():
            if size is not None and state.size(v) != size:
                self.chosen[v] = self.stage
                state.push(SizeEqual(origin, (), "size", v, size))
        for variable, row in rows.items():
            self.chosen[variable] = self.stage
            state.push(RowEqual(origin, (), "size", Row((), variable), row))
        run(state)

    def _choose_bounds(self) -> None:
        """Choose the bounds of all sizes, except axes that are read at index 0 only: size 1 is enough for them."""
        least: dict[Dim, int] = {}
        for dim, size in self.state.accessed:
            dim = self.state.size(dim)
            least[dim] = max(size, least.get(dim, 0))
        self._choose({v: self._bound(v) for v in self._unset() if least.get(v, 0) != 1}, {})

    def _guess(self, v: Var) -> int:
        lo = self.state.interval(v)[0] or 0
        return lo if v in self.may_be_empty else max(1, lo)

    def _is_blocked(self, v: Var) -> bool:
        """Whether a guess may make a count unsatisfiable: v is in its numerator, and a divisor has no value yet."""
        return any(variables_in(self.state.size(d)) for d in self.state.numerators.get(v, ()))

    def _bound(self, v: Var) -> Dim | None:
        """The least known size that v is broadcast to; 1 if two of them differ."""
        above: dict[Dim, list[Dim]] = {}
        for fact in self._pending(SizeRefines):
            above.setdefault(self.state.size(fact.operand), []).append(self.state.size(fact.result))
        limits: dict[Dim, None] = {}
        seen, queue = {v}, [v]
        for one in queue:
            for result in above.get(one, ()):
                if self._is_known(result):
                    limits[result] = None
                elif isinstance(result, Var) and result not in seen:
                    seen.add(result)
                    queue.append(result)
        return None if not limits else next(iter(limits)) if len(limits) == 1 else 1

    def _stretched(self) -> dict[Var, Dim]:
        """For each open size the maximum of the given sizes that are broadcast to it: each of them is 1 or the size."""
        operands: dict[Dim, list[Dim]] = {}
        for fact in self._pending(SizeRefines):
            operand = self.state.size(fact.operand)
            if not isinstance(operand, int) and self._is_known(operand):
                operands.setdefault(self.state.size(fact.result), []).append(operand)
        return {v: maximum(*operands[v]) for v in self._unset() if v in operands}

    def _by_bound(self, v: RowVar) -> Row | None:
        """The bound of a row, unless it has one element. An axis that is not known yet gets a new size."""
        row = None if self._count(v) == 1 else row_bound(self.state, v)
        return None if row is None else row.map(lambda dim: dim if self._is_known(dim) else self.state.fresh())

    # open variables

    def _open(self, row: Row) -> RowVar | None:
        return self.state.splice(row).variable

    def _kinds(self) -> dict[RowVar, str]:
        """The kinds of open rows, if the places to be closed tell them."""
        rows = [*self.leaves, *self.others]
        return {end: kind for kind, row in rows if (end := self._open(row)) is not None}

    def _count(self, v: RowVar) -> Dim | None:
        """The number of elements of a row variable, as far as it is known; None if no constraint counts them."""
        return self.state.size(self.state.counts[v]) if v in self.state.counts else None

    def _one_axis(self, v: RowVar) -> Row | None:
        """The row for a known count: no axes for 1, else one axis."""
        size = self._count(v)
        if size is None or not self._is_known(size):
            return None
        return Row() if size == 1 else Row((), None, (size,))

    def _shares_its_count(self, v: RowVar) -> bool:
        state, count = self.state, self.state.counts.get(v)
        if count is None or count in state.sizes:
            return False
        others = set(state.counts.values()) - {count}
        facts = (f for f in state.pending if isinstance(f, SizeEqual) and f.law == "elements")
        sizes = ({*variables_in(state.size(f.a)), *variables_in(state.size(f.b))} for f in facts)
        return any(count in symbols and symbols & others for symbols in sizes)

    def _is_known(self, dim: Dim) -> bool:
        return not any(self._is_flexible(v) for v in variables_in(dim))

    def _is_flexible(self, v: Var) -> bool:
        return v in self.state.generated or v in self.named

    def _leaf_variables(self, places: Iterable[tuple[str, Row]]) -> list[Var]:
        """The sizes of leaves that have no value, each once."""
        open_sizes: dict[Var, None] = {}
        for _, row in places:
            for dim in (*row.dims, *self.state.splice(row).dims):
                size = self.state.size(dim)
                if isinstance(size, Var) and (self._is_flexible(size) or dim in self.named):
                    open_sizes[size] = None
        excluded = self._excluded()
        return sorted([v for v in open_sizes if v not in excluded], key=dim_order)

    def _unset(self) -> list[Var]:
        """All sizes that may be guessed and have no value. Counts of open rows are left out: they follow from these."""
        counts = {count for v, count in self.state.counts.items() if self._open(Row((), v)) is not None}
        excluded = {*counts, *self._excluded()}
        candidates = {*self.state.generated, *self.named} - self.state.sizes.keys() - excluded
        return sorted(candidates, key=dim_order)

    def _open_rows(self) -> list[RowVar]:
        """All row variables without a value in the constraints or in the places to be closed."""
        rows = [row for _, row in [*self.leaves, *self.others]]
        rows += [Row((), v) for v in (*self.state.ranks.least, *self.state.counts) if v is not None]
        open_rows = {v for row in rows if (v := self._open(row)) is not None}
        return sorted(open_rows - self._excluded(), key=row_order)

    def _excluded(self) -> set[Var | RowVar]:
        variables: set[Var | RowVar] = set()
        for row in [self.state.row(row) for _, row in self.without]:
            variables |= {v for dim in row.dims for v in variables_in(dim)}
            if row.variable is not None:
                variables.add(row.variable)
        return variables


def _rows(places: Iterable[Place]) -> list[tuple[str, Row]]:
    """The rows of some places with their kinds; a size is a row of one axis."""
    rows: list[tuple[str, Row]] = []
    for place in places:
        if isinstance(place, Axes):
            rows += [("batch", place.batch), ("input", place.input), ("output", place.output)]
        else:
            rows.append(("", place if isinstance(place, Row) else Row((), None, (place,))))
    return rows


def row_bound(state: State, v: RowVar) -> Row | None:
    """The join of the rows that a row variable is broadcast to; None if there are none."""
    bounds: list[Row] = []  # the closed rows, also through other variables
    rests = [rest for fact in state.pending if isinstance(fact, RowRefines) and (rest := left_over(state, fact))]
    seen, queue = {v}, [v]
    for one in queue:
        for result, operand in rests:
            if operand != Row((), one):
                continue
            if result.variable is None:
                bounds.append(state.row(result))
            elif not result.dims and result.variable not in seen:
                seen.add(result.variable)
                queue.append(result.variable)
    return reduce(lambda a, b: _joined(a, b, state), bounds) if bounds else None


def _joined(a: Row, b: Row, state: State) -> Row:
    """The greatest row that broadcasts to both: axis by axis if the ranks agree, else the ends that both have."""
    if a.rank == b.rank:
        dims = tuple(_common(x, y, state) for x, y in zip(a.dims, b.dims, strict=True))
        gap = min(len(a.lead), len(b.lead))
        return Row(dims[:gap], None, dims[gap:])
    before, after = min(len(a.lead), len(b.lead)), min(len(a.trail), len(b.trail))
    lead = tuple(_common(x, y, state) for x, y in zip(a.lead[:before], b.lead[:before], strict=True))
    left, right = a.trail[len(a.trail) - after :], b.trail[len(b.trail) - after :]
    return Row(lead, None, tuple(_common(x, y, state) for x, y in zip(left, right, strict=True)))


def _common(a: Dim, b: Dim, state: State) -> Dim:
    return a if state.size(a) == state.size(b) else 1
