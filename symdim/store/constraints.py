"""The kinds of constraints, as pure data. Their rules are in the modules on the right.

    SizeEqual    a == b                                        sizes.py
    SizeRefines  operand is 1 or equal to result               broadcasting.py
    SizeJoin     result is the NumPy broadcast of operands     broadcasting.py
    Bounds       lo <= dim <= hi                               sizes.py
    Divisible    dim % by == 0                                 sizes.py
    RowEqual     two rows have the same axes                   rows.py
    RowsEqual    rows one after the other have these axes      rows.py
    RowRefines   SizeRefines axis by axis, with missing axes   broadcasting.py
    RowJoin      SizeJoin axis by axis, with missing axes      broadcasting.py
    Label        the axis of this size has a denotation        propagation.py
    RankEdge     rank(high) >= rank(low) + by                  ranks.py

A derived constraint has those it follows from as its `parents`; a stated one has no parents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from symdim.algebra.constructors.extrema import maximum
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.printing import shortened
from symdim.errors import SymdimError
from symdim.relations.relation import Relation
from symdim.rows import Row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var
    from symdim.rows import RowVar


class Origin(NamedTuple):
    """Where a constraint comes from: the node, its operand, the axis (negative: from the right)."""

    node: str = ""
    operand: str = ""
    axis: int | None = None
    text: str = ""

    def __str__(self) -> str:
        parts = [self.node, self.operand, "" if self.axis is None else f"axis {self.axis}", self.text]
        return ", ".join(part for part in parts if part)


NOWHERE = Origin()


def origin_of(given: Origin | str) -> Origin:
    """The origin that is given, maybe as a text."""
    return Origin(text=given) if isinstance(given, str) else given


_LONGEST = 500  # characters of a constraint in a message


@dataclass(frozen=True, eq=False, slots=True)
class Constraint:
    """A condition with its origin. `law` selects the kind of error if it is violated.

    The names of the fields with a size, or several, are in `SIZES`; of those with a row, or several, in `ROWS`; of
    those with other numbers in `NUMBERS`.
    """

    SIZES: ClassVar[tuple[str, ...]] = ()
    ROWS: ClassVar[tuple[str, ...]] = ()
    NUMBERS: ClassVar[tuple[str, ...]] = ()

    origin: Origin
    parents: tuple[Constraint, ...]
    law: str

    def relations(self) -> tuple[Relation, ...]:
        """The relations of sizes that together are this condition; none if it is about rows."""
        return ()

    def text(self) -> str:
        """The condition, in which sizes have short texts."""
        return " and ".join(map(str, self.relations()))

    def holds(self, bindings: Mapping[str | Var, int]) -> bool | None:
        """Whether the condition holds at these sizes; None if some are missing, or if it is about rows."""
        answers = [relation.holds(bindings) for relation in self.relations()]
        return None if None in answers or not answers else all(answers)

    def __str__(self) -> str:
        return shortened(self.text(), _LONGEST)


@dataclass(frozen=True, eq=False, slots=True)
class SizeEqual(Constraint):
    """a == b. For the law "window", `kernel` is the size of the window's kernel."""

    SIZES = ("a", "b")

    a: Dim
    b: Dim
    kernel: Dim | None = None

    def relations(self) -> tuple[Relation, ...]:
        return (Relation("equal", self.a, self.b),)


@dataclass(frozen=True, eq=False, slots=True)
class SizeRefines(Constraint):
    """The operand is 1 or equal to the result."""

    SIZES = ("result", "operand")

    result: Dim
    operand: Dim

    def relations(self) -> tuple[Relation, ...]:
        return (Relation("broadcast_to", self.operand, self.result),)


@dataclass(frozen=True, eq=False, slots=True)
class SizeJoin(Constraint):
    """The result is the size to which the operands broadcast: the one that is not 1, or 1."""

    SIZES = ("result", "operands")

    result: Dim
    operands: tuple[Dim, ...]

    def relations(self) -> tuple[Relation, ...]:
        """Each operand is 1 or the result. That one of them is the result is no relation of two sizes."""
        return tuple([Relation("broadcast_to", operand, self.result) for operand in self.operands])

    def text(self) -> str:
        if len(self.operands) == 2 and self.result == maximum(*self.operands):
            return str(Relation("broadcast", *self.operands))
        return f"{self.result!r} == broadcast({', '.join(map(repr, self.operands))})"

    def holds(self, bindings: Mapping[str | Var, int]) -> bool | None:
        same = [Relation("equal", operand, self.result).holds(bindings) for operand in (*self.operands, 1)]
        return None if None in same else any(same) and all(r.holds(bindings) for r in self.relations())


@dataclass(frozen=True, eq=False, slots=True)
class Bounds(Constraint):
    """lo <= dim <= hi; None is no bound."""

    SIZES, NUMBERS = ("dim",), ("lo", "hi")

    dim: Dim
    lo: int | None
    hi: int | None

    def relations(self) -> tuple[Relation, ...]:
        least = [] if self.lo is None else [Relation("at_least", self.dim, self.lo)]
        return tuple(least if self.hi is None else [*least, Relation("at_most", self.dim, self.hi)])

    def text(self) -> str:
        return Constraint.text(self) if None in (self.lo, self.hi) else f"{self.lo} <= {self.dim!r} <= {self.hi}"


@dataclass(frozen=True, eq=False, slots=True)
class Divisible(Constraint):
    """dim % by == 0."""

    SIZES = ("dim", "by")

    dim: Dim
    by: Dim

    def relations(self) -> tuple[Relation, ...]:
        return (Relation("divides", self.by, self.dim),)


@dataclass(frozen=True, eq=False, slots=True)
class RowEqual(Constraint):
    """The rows have the same axes. The gaps of closed rows do not matter."""

    ROWS = ("a", "b")

    a: Row
    b: Row

    def text(self) -> str:
        return f"{self.a} == {self.b}"


@dataclass(frozen=True, eq=False, slots=True)
class RowsEqual(Constraint):
    """The rows, one after the other, have these axes."""

    SIZES, ROWS = ("dims",), ("rows",)

    rows: tuple[Row, ...]
    dims: tuple[Dim, ...]

    def text(self) -> str:
        return f"{' ++ '.join(map(str, self.rows))} == [{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True, eq=False, slots=True)
class RowRefines(Constraint):
    """The operand broadcasts to the result. Its axes may be 1, and axes that it lacks are missing at its gap.

    The gap of an open row is to the left of its variable, whatever row the variable equals. With `leftmost` axes are
    missing at the left end wherever the row variable is, as NumPy broadcasts.
    """

    ROWS = ("result", "operand")

    result: Row
    operand: Row
    leftmost: bool = False

    def text(self) -> str:
        return f"{self.operand} broadcasts to {self.result}"


@dataclass(frozen=True, eq=False, slots=True)
class RowJoin(Constraint):
    """The result is the row to which the operands broadcast by NumPy's rule."""

    ROWS = ("result", "operands")

    result: Row
    operands: tuple[Row, ...]

    def text(self) -> str:
        return f"{self.result} == broadcast({', '.join(map(str, self.operands))})"


@dataclass(frozen=True, eq=False, slots=True)
class RankEdge(Constraint):
    """rank(high) >= rank(low) + by; None is a row without axes."""

    NUMBERS = ("by",)

    high: RowVar | None
    low: RowVar | None
    by: int

    def text(self) -> str:
        high, low = ("" if v is None else f"rank({v.name})" for v in (self.high, self.low))
        if not high:
            return f"{low} <= {-self.by}"
        return f"{high} >= {f'{low} + {self.by}' if low else self.by}"


@dataclass(frozen=True, eq=False, slots=True)
class Label(Constraint):
    """The axis of this size has a denotation."""

    SIZES = ("dim",)

    dim: Var
    label: str

    def text(self) -> str:
        return f"label({self.dim!r}) == {self.label!r}"


LONGEST_CHAIN = 20

# law of the violated constraint -> kind of error in three situations: both sides are known and differ; a division
# leaves a remainder; an unknown would have to lie outside its bounds
_KINDS = {
    "size": ("size_mismatch", "stride_mismatch", "size_mismatch"),
    "stride": ("size_mismatch", "stride_mismatch", "size_mismatch"),
    "window": ("size_mismatch", "stride_mismatch", "kernel_mismatch"),
    "concat": ("size_mismatch", "stride_mismatch", "concat_exceeds"),
    "elements": ("elements_mismatch",) * 3,
    "index": ("index_out_of_range",) * 3,
    "rank": ("rank_mismatch",) * 3,
    "label": ("label_mismatch",) * 3,
}
UNEQUAL, INDIVISIBLE, OUT_OF_RANGE = range(3)


def kind_of(law: str, situation: int) -> str:
    """The kind of error for a violation of a law.

    >>> kind_of("concat", OUT_OF_RANGE), kind_of("stride", INDIVISIBLE)
    ('concat_exceeds', 'stride_mismatch')
    """
    return _KINDS[law][situation]


class Contradiction(SymdimError):  # noqa: N818
    """Constraints that cannot hold together.

    `kind` is one of size_mismatch, rank_mismatch, label_mismatch, index_out_of_range, infinite_rank, rank_cycle,
    occurs, stride_mismatch, kernel_mismatch, concat_exceeds, elements_mismatch; while closing also closing_conflict and
    unspecified_parameter. `chain` holds the stated constraints that led to it, the nearest first, at most 20.
    """

    def __init__(self, kind: str, message: str, chain: tuple[Constraint, ...] = ()) -> None:
        super().__init__(kind, message, chain)
        self.kind = kind
        self.message = message
        self.chain = chain

    def __str__(self) -> str:
        lines = [f"{self.kind.replace('_', ' ')}: {self.message}"]
        for fact in self.chain:
            lines.append(f"    {fact}" + (f"    ({fact.origin})" if str(fact.origin) else ""))
        return "\n".join(lines)
