"""Rows: shapes of which the number of axes may be unknown.

A row is `lead ++ variable ++ trail`. The variable stands for any number of axes between the known ones. A row without a
variable is closed. Its gap, the place where broadcasting inserts axes of size 1, is between `lead` and `trail`; in
NumPy's rule the gap is at the left end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from symdim.algebra.texts.printing import listed
from symdim.algebra.variable import Var
from symdim.errors import ParseError, SymdimError
from symdim.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from symdim.algebra.expr import Dim

_serials = count(1)
_DOTS = ".."


@dataclass(frozen=True, slots=True)
class RowVar:
    """An unknown sequence of axes. Equal names are one variable; a fresh variable equals no other.

    >>> RowVar("r") == RowVar("r"), RowVar.fresh("r") == RowVar.fresh("r")
    (True, False)
    """

    name: str
    serial: int = 0

    @classmethod
    def fresh(cls, name: str = "_r") -> RowVar:
        """A variable that equals no other one, not even one of the same name."""
        return cls(name, next(_serials))

    def __hash__(self) -> int:
        return self.serial or hash(self.name)

    def __repr__(self) -> str:
        return f"..{self.name}.."


@dataclass(frozen=True, slots=True)
class Row:
    """Axes with at most one row variable; `Row.of` and `Row.parse` build one from sizes or text.

    >>> row = Row.parse("[N, ..r.., 768]")
    >>> row.lead, row.variable, row.trail, row.rank, row.least_rank
    ((N,), ..r.., (768,), None, 2)
    >>> print(row, row.spliced(Row.of([3, 4])), row.spliced(Row.of([3, 4])).flat())
    [N, ..r.., 768] [N, |, 3, 4, 768] [N, 3, 4, 768]
    """

    lead: tuple[Dim, ...] = ()
    variable: RowVar | None = None
    trail: tuple[Dim, ...] = ()

    @classmethod
    def of(cls, dims: Iterable[Dim | str | RowVar]) -> Row:
        """The row of these axes. One of them may be a RowVar, or a text `...` or `..name..` for one.

        Other texts are read as the `dim_param` of an ONNX model. A row without a variable has its gap at the left.
        """
        from symdim.parsing import items_of

        items = list(items_of(dims))
        places = [i for i, item in enumerate(items) if isinstance(item, RowVar) or row_name(item) is not None]
        if not places:
            return cls(trail=Shape(_sizes(items)).dims)
        if len(places) > 1:
            raise SymdimError(f"a row has one row variable at most, but {items} has {len(places)}")
        sizes = Shape(_sizes(items[: places[0]] + items[places[0] + 1 :])).dims
        return cls(sizes[: places[0]], _variable(items[places[0]]), sizes[places[0] :])

    @classmethod
    def unknown(cls, name: str = "_r") -> Row:
        """A row about which nothing is known: `[...]`, with a new variable."""
        return cls(variable=RowVar.fresh(name))

    @classmethod
    def parse(cls, text: str, names: Collection[str] | Mapping[str, Var] = ()) -> Row:
        """The row that a text denotes; the inverse of `str`. Raises ParseError.

        row  = "[" [item {"," item}] "]"
        item = "..." | ".." name ".." | sum | "|"          a bar marks the gap of a closed row, if not at the left

        >>> Row.parse("[3, |, 5]").lead, Row.parse("[]").rank, str(Row.parse("[...]"))
        ((3,), 0, '[...]')
        """
        from symdim.parsing import spans_between_commas

        inner = text.strip()
        if not (inner.startswith("[") and inner.endswith("]") and len(inner) >= 2):
            raise ParseError(text, 0, "a row is written [...]")
        before: list[str] = []
        marks: list[str] = []
        after: list[str] = []
        for first, last in spans_between_commas(inner, 1, len(inner) - 1, frozenset()):
            piece = inner[first:last]
            marker = piece.strip()
            if marker == "|" or row_name(marker) is not None:
                if marks:
                    raise ParseError(text, text.find(piece), "a row has one row variable or gap at most")
                marks.append(marker)
            else:
                (after if marks else before).append(piece)
        lead = Shape.parse(f"[{','.join(before)}]", names).dims
        trail = Shape.parse(f"[{','.join(after)}]", names).dims
        if not marks:
            return cls(trail=lead)
        return cls(lead, None if marks[0] == "|" else _variable(marks[0]), trail)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The known axes, in order."""
        return self.lead + self.trail

    @property
    def least_rank(self) -> int:
        """The number of known axes."""
        return len(self.lead) + len(self.trail)

    @property
    def rank(self) -> int | None:
        """The number of axes; None while there is a row variable."""
        return self.least_rank if self.variable is None else None

    @property
    def is_open(self) -> bool:
        """Whether there is a row variable."""
        return self.variable is not None

    def shape(self) -> Shape | None:
        """The shape of a closed row; None while the rank is unknown."""
        return Shape(self.dims) if self.variable is None else None

    def flat(self) -> Row:
        """The row with its gap moved to the left if it is closed, as NumPy broadcasts."""
        return Row((), None, self.dims) if self.variable is None else self

    def spliced(self, value: Row) -> Row:
        """The row with `value` in place of its variable."""
        return Row(self.lead + value.lead, value.variable, value.trail + self.trail)

    def map(self, change: Callable[[Dim], Dim]) -> Row:
        """The row with every known axis changed."""
        return Row(tuple(map(change, self.lead)), self.variable, tuple(map(change, self.trail)))

    def __str__(self) -> str:
        lead, trail = ([listed(d) for d in part] for part in (self.lead, self.trail))
        if self.variable is not None:
            lead.append("..." if self.variable.serial else repr(self.variable))
        elif lead:
            lead.append("|")
        return f"[{', '.join(lead + trail)}]"


@dataclass(frozen=True, slots=True)
class Axes:
    """The three rows of a tensor whose axes have kinds: batch, input and output. Stored order: batch, output, input.

    >>> print(Axes(output=Row.of(["o"]), input=Row.of(["i"])), Axes(batch=Row.of([2]), output=Row.of([3])))
    i->o 2|3
    """

    batch: Row = Row()
    input: Row = Row()
    output: Row = Row()

    def __iter__(self) -> Iterator[Row]:
        return iter((self.batch, self.input, self.output))

    def map(self, change: Callable[[Row], Row]) -> Axes:
        """The same kinds with every row changed."""
        return Axes(change(self.batch), change(self.input), change(self.output))

    def __str__(self) -> str:
        """`batch|input->output`, without the kinds that have no axes."""
        batch, read, made = (str(row)[1:-1] for row in self)
        return (f"{batch}|" if batch else "") + (f"{read}->" if read else "") + made


def row_name(item: object) -> str | None:
    """The name in `..name..`, empty for `...`; None if the item is not a row variable."""
    if item == "...":
        return ""
    if isinstance(item, str) and len(item) > 4 and item.startswith(_DOTS) and item.endswith(_DOTS):
        return item[2:-2]
    return None


def _variable(item: object) -> RowVar:
    if isinstance(item, RowVar):
        return item
    name = row_name(item)
    return RowVar(name) if name else RowVar.fresh()


def _sizes(items: list[Dim | str | RowVar]) -> list[Dim | str]:
    return [item for item in items if not isinstance(item, RowVar)]
