"""The store: constraints, and questions about their consequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.canonical import product, total
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.intervals import meet
from symdim.errors import printable
from symdim.outputs import html_table
from symdim.rows import Row, RowVar
from symdim.store.answers import Answers, Guard, Known
from symdim.store.constraints import (
    NOWHERE,
    Bounds,
    Constraint,
    Contradiction,
    Divisible,
    Label,
    Origin,
    RankEdge,
    RowEqual,
    RowJoin,
    RowRefines,
    RowsEqual,
    SizeEqual,
    SizeRefines,
    origin_of,
)
from symdim.store.contents import checked_fact, checked_row, in_order, listed, variables_in
from symdim.store.propagation import run
from symdim.store.sizes import affine_size, free_room, windows
from symdim.store.state import State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from symdim.algebra.expr import Dim, Interval
    from symdim.algebra.variable import Var
    from symdim.store.closing import Place


class Store:
    """Constraints on sizes and rows, each with its origin.

    A constraint is stated by its name: `eq`, `refine`, `bcast`, `bounds`, `divisible`, `rank` and so on. Questions are
    `value`, `row`, `interval`, `candidates`, `equal`, `guards` and `explain`.

    Constraints take effect together at the next question, in a fixed order. So the order in which they are stated does
    not matter, neither for answers nor for the kind of an error. Once the constraints cannot hold together, every
    question raises Contradiction. Only `close` guesses. `least` is the lower bound of sizes that the store makes.

    >>> from symdim import Row, Store, Var
    >>> store, x, w = Store(), Row.unknown(), Row.of([10, 784])
    >>> store.eq_row(x, Row.of(["M", "K"]), origin=Origin("Gemm_0", "A"))
    >>> store.eq(Var("K"), 784, origin=Origin("Gemm_0", "B", 1))
    >>> print(store.row(x))
    [M, 784]
    """

    def __init__(self, *, least: int = 0) -> None:
        self._facts: list[Constraint] = []  # everything that was stated
        self._known = Known(State(least), 0, None)
        self._contradiction: Contradiction | None = None

    @property
    def _state(self) -> State:
        return self._known.state

    def _learn(self, fact: Constraint) -> None:
        self._facts.append(checked_fact(fact))

    def __repr__(self) -> str:
        return f"Store({printable(listed(self._facts))})"

    def _repr_html_(self) -> str:
        return html_table(f"{len(self._facts)} facts", ["fact", "origin"], [(f, f.origin) for f in self._facts])

    # variables

    def fresh(self, name: str = "_d", lo: int | None = None, hi: int | None = None) -> Var:
        """A new size variable. The store replaces it by what it equals."""
        return self._state.fresh(name, lo, hi)

    def generated(self, variable: Var) -> None:
        """Allow the store to replace a variable by what it equals, as if it were its own."""
        self._state.generated[variable] = None

    # constraints

    def eq(self, a: Dim, b: Dim, *, origin: Origin | str = NOWHERE, law: str = "size") -> None:
        """a == b. The law selects the kind of error: size, stride, concat, window, elements, index."""
        self._learn(SizeEqual(origin_of(origin), (), law, a, b))

    def affine(
        self,
        size: Dim,
        over: Dim,
        *,
        stride: int = 1,
        kernel: Dim | None = None,
        dilation: int = 1,
        padding: bool = True,
        origin: Origin | str = NOWHERE,
    ) -> None:
        """size == stride*over, or stride*(over - 1) + 1 + (kernel - 1)*dilation with a kernel and no padding."""
        valid = kernel is not None and not padding
        whole = affine_size(over, stride, kernel, dilation, padding)
        law = "window" if valid else "stride"
        self._learn(SizeEqual(origin_of(origin), (), law, size, whole, kernel if valid else None))

    def concat(self, whole: Dim, parts: Iterable[Dim], *, origin: Origin | str = NOWHERE) -> None:
        """whole == sum of the parts."""
        self._learn(SizeEqual(origin_of(origin), (), "concat", whole, total(parts)))

    def eq_row(self, a: Row, b: Row, *, origin: Origin | str = NOWHERE) -> None:
        """The rows have the same axes. The gaps of closed rows do not matter."""
        self._learn(RowEqual(origin_of(origin), (), "size", a, b))

    def exact(self, rows: Iterable[Row], dims: Iterable[Dim], *, origin: Origin | str = NOWHERE) -> None:
        """The rows, one after the other, have these axes."""
        self._learn(RowsEqual(origin_of(origin), (), "size", tuple(rows), tuple(dims)))

    def refine(self, result: Dim, operand: Dim, *, origin: Origin | str = NOWHERE) -> None:
        """The operand is 1 or equal to the result."""
        self._learn(SizeRefines(origin_of(origin), (), "size", result, operand))

    def refine_row(self, result: Row, operand: Row, *, origin: Origin | str = NOWHERE) -> None:
        """The operand broadcasts to the result. Axes that it lacks are inserted at its gap, left of a row variable."""
        self._learn(RowRefines(origin_of(origin), (), "size", result, operand))

    def bcast_to(self, target: Row, operand: Row, *, origin: Origin | str = NOWHERE) -> None:
        """The operand broadcasts to the target by NumPy's rule, one way."""
        self._learn(RowRefines(origin_of(origin), (), "size", target, operand, leftmost=True))

    def bcast(self, result: Row, operands: Sequence[Row], *, origin: Origin | str = NOWHERE) -> None:
        """The result is exactly the row to which the operands broadcast by NumPy's rule."""
        where, different = origin_of(origin), tuple(dict.fromkeys(operands))
        for operand in different:
            self._learn(RowRefines(where, (), "size", result, operand, leftmost=True))
        self._learn(RowJoin(where, (), "size", result, different))

    def elements(
        self, rows: Iterable[Row], count: Dim, divided_by: Iterable[Dim] = (), *, origin: Origin | str = NOWHERE
    ) -> None:
        """The rows together have count / (product of divided_by) elements."""
        counts, divisors = [self.count(row) for row in rows], list(divided_by)
        if divisors:
            waiting = tuple(v for dim in divisors for v in variables_in(dim))
            self._state.numerators.update(dict.fromkeys(variables_in(count), waiting))
        self._learn(SizeEqual(origin_of(origin), (), "elements", product([*counts, *divisors]), count))

    def count(self, row: Row) -> Dim:
        """The number of elements of a row, with a variable for the count of its unknown part."""
        return self._state.count(checked_row(row))

    def window(
        self,
        size: Dim,
        out: Dim,
        kernel: Dim,
        *,
        stride: int = 1,
        dilation: int = 1,
        pads: tuple[int, int] = (0, 0),
        auto_pad: str = "NOTSET",
        ceil: bool = False,
        origin: Origin | str = NOWHERE,
    ) -> None:
        """`out` is the number of windows of a kernel in an axis of this `size`, as ONNX's convolutions and pools count.

        A known `out` gives an interval of `size`: one number for stride 1, `stride` numbers otherwise.
        """
        where = origin_of(origin)
        number = windows(size, kernel, stride, dilation, pads, auto_pad, ceil)
        self._learn(SizeEqual(where, (), "window", out, number, kernel))
        if not auto_pad.startswith("SAME"):
            room = free_room(size, kernel, dilation, 0 if auto_pad == "VALID" else sum(pads))
            self._learn(Bounds(where, (), "window", room, 0, None))

    def bounds(
        self,
        dim: Dim,
        lo: int | None = None,
        hi: int | None = None,
        *,
        origin: Origin | str = NOWHERE,
        law: str = "size",
    ) -> None:
        """lo <= dim <= hi. The law "index" is for a size that an index demands."""
        if law == "index" and lo is not None:
            self._state.accessed.append((dim, lo))
        self._learn(Bounds(origin_of(origin), (), law, dim, lo, hi))

    def divisible(self, dim: Dim, by: Dim, *, origin: Origin | str = NOWHERE, law: str = "stride") -> None:
        """dim % by == 0."""
        self._learn(Divisible(origin_of(origin), (), law, dim, by))

    def rank(self, row: Row, at_least: int = 0, at_most: int | None = None, *, origin: Origin | str = NOWHERE) -> None:
        """The number of axes is in at_least..at_most."""
        where, known = origin_of(origin), checked_row(row).least_rank
        self._learn(RankEdge(where, (), "rank", row.variable, None, at_least - known))
        if at_most is not None:
            self._learn(RankEdge(where, (), "rank", None, row.variable, known - at_most))

    def label(self, dim: Var, text: str, *, origin: Origin | str = NOWHERE) -> None:
        """The axis of this size has a denotation.

        Sizes that are equal, or are parts of each other, have one denotation. An axis with a denotation is not
        stretched, even if its size is 1. To label a known size, label a variable that equals it.
        """
        self._learn(Label(origin_of(origin), (), "label", dim, text))

    # questions

    def propagate(self) -> Answers:
        """Derive all consequences. Every question calls this. Raises Contradiction."""
        if self._contradiction is not None:
            raise self._contradiction.with_traceback(None)
        state, done, answers = self._known
        if answers is not None and done == len(self._facts) and not state.queued:
            return answers
        state, count = state.copied(), len(self._facts)
        try:
            for fact in in_order(self._facts[done:count]):
                state.push(fact)
            run(state)
            state.check_divisors()
            answers = Answers(state)
        except Contradiction as error:
            self._contradiction = error
            raise
        self._known = Known(state, count, answers)  # only now: a question that fails leaves everything as it was
        return answers

    def value(self, dim: Dim) -> Dim:
        """The size as an expression of given sizes, as far as it is known."""
        return self.propagate().value(checked(dim))

    def row(self, row: Row) -> Row:
        """The row as far as it is known, its sizes as expressions of given ones."""
        answers = self.propagate()
        return self._state.splice(checked_row(row)).map(answers.value)

    def rank_bounds(self, row: Row) -> tuple[int, int | None]:
        """The interval of the number of axes."""
        self.propagate()
        row = self._state.splice(checked_row(row))
        least, most = self._state.ranks.bounds(row.variable)
        return least + row.least_rank, None if most is None else most + row.least_rank

    def interval(self, dim: Dim) -> Interval:
        """The interval of a size."""
        self.propagate()
        dim = checked(dim)
        return meet(self._state.bounds(dim), self._state.bounds(self._state.size(dim)))

    def candidates(self, dim: Dim) -> tuple[int, ...] | None:
        """The values that a size may still have; None if there are many.

        >>> from symdim import Store, Var
        >>> store, x = Store(), Var("x")
        >>> store.window(x, 2, 3, stride=2)
        >>> store.candidates(x)
        (5, 6)
        """
        return self.propagate().candidates(checked(dim))

    def label_of(self, dim: Var) -> str | None:
        """The denotation of the axis with this size."""
        self.propagate()
        return self._state.labels.of(dim)

    def equal(self, a: Dim, b: Dim) -> bool | None:
        """True: equal in every solution of the constraints; False: in none; None: not known.

        >>> from symdim import Store, Var
        >>> store, N, M = Store(), Var("N"), Var("M")
        >>> store.eq(N, 2 * M)
        >>> store.equal(N + M, 3 * M), store.equal(N, 2 * M + 1), store.equal(N, 8)
        (True, False, None)
        """
        a, b = self.value(a), self.value(b)
        return True if a is b or a == b else False if self._state.differ(a, b) else None

    def guards(self) -> list[Guard]:
        """The conditions on given sizes that remain after propagation."""
        return self.propagate().guards()

    # closing

    def close(
        self,
        leaves: Iterable[Place] = (),
        params: Iterable[Place] = (),
        *,
        late: Mapping[Var, int] | None = None,
        may_be_empty: Collection[Var] = (),
        others: Iterable[Place] = (),
        without: Iterable[Place] = (),
    ) -> dict[Var | RowVar, str]:
        """Guess all open variables, in stages (closing.py); return the stage that set each variable.

        `leaves` are the tensors, rows and sizes that take their shape from their uses; `params` the leaves whose sizes
        must not be guessed; `late` sizes that become known only now; `may_be_empty` sizes that close to 0; `others`
        variables that are in no constraint; `without` unused ones that are not closed. Raises Contradiction: an
        "unspecified_parameter", or a "closing_conflict" if the guesses contradict the constraints.

        >>> from symdim import Row, Store, Var
        >>> store, leaf = Store(), Row.unknown("leaf")
        >>> store.refine_row(Row.of([2, 3]), leaf)
        >>> store.close(leaves=[leaf])
        {..leaf..: 'leaf rows'}
        >>> print(store.row(leaf))
        [2, 3]
        """
        from symdim.store.closing import Closing

        self.propagate()
        state = self._state.copied()
        try:
            chosen = Closing(state, leaves, params, late or {}, may_be_empty, others, without).run()
        except Contradiction as error:
            self._contradiction = error
            raise
        self._known = Known(state, self._known.done, None)
        return chosen

    def explain(self, about: Dim | Row) -> tuple[str, ...]:
        """The stated constraints behind a size or a row, the nearest first, each with its origin."""
        self.propagate()
        row = about if isinstance(about, Row) else Row((), None, (checked(about),))
        sizes = [v for dim in row.dims for v in variables_in(dim)]
        chain = self._state.chain(None, *sizes, *filter(None, [row.variable]))
        return tuple(f"{fact}" + (f" ({fact.origin})" if str(fact.origin) else "") for fact in chain)
