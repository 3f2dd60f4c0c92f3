"""The nodes of an einsum specification. `symdim.einsum.reader` makes them from text, `str` prints them.

An axis is a label, a fixed index, an affine index or a concatenation. A row of axes has at most one row variable. A
tensor has three rows (batch, input, output); a usual tensor has only the last one. A specification has operands and a
result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.printing import shortened
from symdim.errors import SymdimError

if TYPE_CHECKING:
    from symdim.algebra.expr import Dim
    from symdim.rows import Row

KINDS = ("batch", "input", "output")
T = TypeVar("T")


class SpecError(SymdimError):
    """A specification does not fit its use; `kind` says in which way.

    Kinds: arity, index_mismatch, index_out_of_range, padding_mismatch, padding_unspecified, rank_mismatch,
    repeated_part, size_mismatch, stride_mismatch, unknown_label.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Label:
    """An axis with a name. Axes with the same name have equal sizes and the same index."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FixedIndex:
    """An axis that is read or written at one position only. Its size is at least `position + 1`."""

    position: int

    def __str__(self) -> str:
        return str(self.position)


@dataclass(frozen=True, slots=True)
class AffineIndex:
    """An axis indexed by `stride*over + offset + dilation*kernel - left padding`. Strides and dilations may be names.

    `padding` True keeps the size (`stride*over`). False is the valid convolution: `stride*(over - 1) + 1 +
    dilation*(kernel - 1)`. None means not given; only an axis without a kernel allows that.
    """

    over: str
    stride: int | str = 1
    offset: int = 0
    kernel: str | None = None
    dilation: int | str = 1
    padding: bool | None = None

    def __str__(self) -> str:
        text = self.over if self.stride == 1 else f"{self.stride}*{self.over}"
        text += {True: "=", False: "<", None: ""}[self.padding]
        if self.offset:
            text += f"+{self.offset}"
        if self.kernel is not None:
            text += f"+{self.kernel}" if self.dilation == 1 else f"+{self.dilation}*{self.kernel}"
        return f"1*{text}" if text == self.over else text


@dataclass(frozen=True, slots=True)
class Concatenation:
    """An axis of parts one after the other. A part is a label, or a number: the size of a part without a name."""

    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        return "^".join(map(str, self.parts))


Axis: TypeAlias = Label | FixedIndex | AffineIndex | Concatenation


class RowSpec(NamedTuple):
    """The axes before and after a row variable. Without a variable (None) all axes are in `trail`."""

    lead: tuple[Axis, ...] = ()
    variable: str | None = None
    trail: tuple[Axis, ...] = ()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that are written out."""
        return self.lead + self.trail


class ShapeSpec(NamedTuple):
    """The rows of one tensor. A kind that is not written is a row without axes."""

    batch: RowSpec = RowSpec()
    input: RowSpec = RowSpec()
    output: RowSpec = RowSpec()

    def rows(self) -> Iterator[tuple[str, RowSpec]]:
        """The rows with their kinds."""
        return zip(KINDS, self, strict=True)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes that are written out, in the order of the text."""
        return self.batch.axes + self.input.axes + self.output.axes


@dataclass(frozen=True, slots=True)
class Spec:
    """`operand; operand; ... => result`. If `operands` is None, it is the pattern of a single shape.

    `multi`: names may have several characters. `broadcasts`: an axis of size 1 is stretched, and a row variable may
    stand for different ranks, as in NumPy and ONNX; otherwise all sizes of a label are equal.
    """

    operands: tuple[ShapeSpec, ...] | None
    result: ShapeSpec
    multi: bool = field(default=True, compare=False)
    broadcasts: bool = False

    @property
    def shapes(self) -> tuple[ShapeSpec, ...]:
        """The patterns of the operands and, last, of the result."""
        return (*(self.operands or ()), self.result)

    def labels(self) -> tuple[str, ...]:
        """The names of sizes, strides and dilations (not of rows), by first occurrence."""
        axes = [axis for shape in self.shapes for axis in shape.axes]
        factors = [f for axis in axes if isinstance(axis, AffineIndex) for f in (axis.stride, axis.dilation)]
        named = [factor for factor in factors if isinstance(factor, str)]
        return tuple(dict.fromkeys([*(name for axis in axes for name in labels_of(axis)), *named]))

    def row_variables(self) -> tuple[str, ...]:
        """The names of rows, by first occurrence; `...` has the name of its kind."""
        rows = (row.variable for shape in self.shapes for row in shape)
        return tuple(dict.fromkeys(name for name in rows if name is not None))

    def __str__(self) -> str:
        """The text. The reader of its language reads it as this specification."""
        if self.broadcasts and all(shape == ShapeSpec(output=shape.output) for shape in self.shapes):
            operands = ",".join(_row_text(shape.output, "output") for shape in self.operands or ())
            return f"{operands}->{_row_text(self.result.output, 'output')}"
        text = self._text(", " if self.multi else "")
        # Names of several characters need one of the signs that announce them: a comma after an axis will do.
        return self._text(", ", ",") if self.multi and not is_multi(text) else text

    @property
    def brief(self) -> str:
        """The text, or its beginning, for messages."""
        return shortened(str(self))

    def _text(self, separator: str, end: str = "") -> str:
        result = _shape_text(self.result, separator, end)
        if self.operands is None:
            return result
        operands = "; ".join(_shape_text(shape, separator, end) for shape in self.operands)
        return f"{operands} => {result}".strip()


def in_storage(rows: Iterable[T]) -> tuple[T, T, T]:
    """What there is for batch, input and output rows, in the order in which their axes lie in memory."""
    batch, read, output = rows
    return batch, output, read


def closed(row: Row, what: str) -> tuple[Dim, ...]:
    """The sizes of a row; SpecError if its number of axes is not known."""
    if row.variable is not None:
        raise SpecError("rank_mismatch", f"{what}: the number of axes of {row} is not known")
    return row.dims


def is_multi(text: str) -> bool:
    """Whether names in a text may have several characters: it has one of the signs `, * + ^ & <`, or a bare `=`."""
    return any(sign in text for sign in ",*+^&<") or "=" in text.replace("=>", "")


def labels_of(axis: Axis) -> tuple[str, ...]:
    """The names of the sizes in an axis."""
    match axis:
        case Label(name):
            return (name,)
        case AffineIndex(over=over, kernel=kernel):
            return (over,) if kernel is None else (over, kernel)
        case Concatenation(parts):
            return tuple(part for part in parts if isinstance(part, str))
        case _:
            return ()


def _shape_text(shape: ShapeSpec, separator: str, end: str) -> str:
    batch, read, output = (_row_text(row, kind, separator, end) for kind, row in shape.rows())
    text = f"{read}->{output}" if shape.input != RowSpec() else output
    return f"{batch}|{text}" if shape.batch != RowSpec() else text


def _row_text(row: RowSpec, kind: str, separator: str = "", end: str = "") -> str:
    variable = [] if row.variable is None else ["..." if row.variable == kind else f"..{row.variable}.."]
    items = [*map(str, row.lead), *variable, *map(str, row.trail)]
    if not separator:  # adjacent digits would be one index: a blank separates two indices
        items = [
            f" {item}" if item.isdigit() and i and items[i - 1].isdigit() else item for i, item in enumerate(items)
        ]
    return separator.join(items) + (end if items else "")


def discardable(spec: Spec) -> frozenset[str]:
    """The labels whose part of a concatenation may have size 0.

    Let v be a label in a component of a concatenation on one side. It is discardable if every shape on the other side
    has an axis such that every component of the axis shares a label with the other components of v's concatenation.

    >>> from symdim.einsum.reader import parse_spec
    >>> [sorted(discardable(parse_spec(text))) for text in ("a^b => b", "a^b => a^b", "a; b => a^b", "a^b^c => b^c")]
    [['a'], [], [], ['a']]
    """
    operands, result = spec.operands or (), (spec.result,)
    return _one_side(operands, result) | _one_side(result, operands)


def _one_side(side: tuple[ShapeSpec, ...], other: tuple[ShapeSpec, ...]) -> frozenset[str]:
    names = set()
    for axis in (axis for shape in side for axis in shape.axes if isinstance(axis, Concatenation)):
        for place, part in enumerate(axis.parts):
            complement = {name for i, name in enumerate(axis.parts) if i != place}
            if isinstance(part, str) and other and all(_is_covered(shape, complement) for shape in other):
                names.add(part)
    return frozenset(names)


def _is_covered(shape: ShapeSpec, complement: set[str | int]) -> bool:
    """Whether some axis has a label of the complement in each of its components."""
    return any(all(complement & component for component in _components(axis)) for axis in shape.axes)


def _components(axis: Axis) -> list[set[str]]:
    """The sets of labels in an axis: one set per part of a concatenation, else a single set."""
    if isinstance(axis, Concatenation):
        return [{part} if isinstance(part, str) else set() for part in axis.parts]
    return [set(labels_of(axis))]
