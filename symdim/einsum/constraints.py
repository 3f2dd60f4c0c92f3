"""The equations of a specification about shapes, in a store; shapes in both directions, and sizes of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from symdim.algebra.expr import Expr
from symdim.algebra.named_tuple import NamedTuple
from symdim.einsum.reader import parse_spec
from symdim.einsum.spec import (
    KINDS,
    AffineIndex,
    Axis,
    Concatenation,
    FixedIndex,
    Label,
    RowSpec,
    Spec,
    SpecError,
    discardable,
)
from symdim.rows import Axes, Row, RowVar
from symdim.store import Origin, Store

Dim: TypeAlias = int | Expr
Shaped: TypeAlias = "Axes | Row | Mapping[str, Iterable[Dim | str] | None] | Iterable[Dim | str] | None"
"""A shape: rows by kind (None: an unknown row), or one row of axes, or None (nothing is known)."""


class Names(NamedTuple):
    """The meaning of the names of a specification in a store: sizes by label, row variables by name."""

    sizes: dict[str, Dim]
    rows: dict[str, RowVar]


def state(
    store: Store,
    spec: Spec,
    shapes: Sequence[Row | Axes],
    *,
    sizes: Mapping[str, Dim] | None = None,
    rows: Mapping[str, RowVar] | None = None,
    least: int = 1,
    node: str = "",
    operands: Sequence[str] = (),
) -> Names:
    """State the equations of a specification. `shapes` are the shapes of the operands and, last, of the result.

    A plain row is the output row of a tensor without batch and input axes. `sizes` gives known labels; a stride or
    dilation may be a label too. Other labels become variables of the store that are at least `least`, or at least 0 if
    they are `discardable`. `operands` are names for error messages.

    Raises SpecError for a wrong number of shapes, a kernel without padding marker, and an offset that is not less than
    the stride.
    """
    patterns = spec.shapes
    if spec.operands is None:
        raise SpecError(
            "arity",
            f"{spec.brief} is the pattern of one shape: operands are separated by ';', and the result "
            "follows '=>', as in 'ab; bc => ac'. parse_subscripts reads NumPy's notation, 'ab,bc->ac'",
        )
    if len(shapes) != len(patterns):
        count = len(patterns) - 1
        raise SpecError("arity", f"{spec.brief} takes {count} operand{'s' * (count != 1)}, not {len(shapes) - 1}")
    names = Names({**(sizes or {})}, {**(rows or {})})
    may_be_empty = discardable(spec)
    for name in spec.labels():
        if name not in names.sizes:
            names.sizes[name] = store.fresh(name, 0 if name in may_be_empty else least)
    for name in spec.row_variables():
        names.rows.setdefault(name, RowVar.fresh(name))
    return _Statement(store, spec, names, node).state(shapes, operands)


class _Statement:
    def __init__(self, store: Store, spec: Spec, names: Names, node: str) -> None:
        self.store, self.spec, self.names, self.node = store, spec, names, node
        self.text = spec.brief
        self.sizes, self.rows = names

    def state(self, shapes: Sequence[Row | Axes], operands: Sequence[str]) -> Names:
        joined: dict[str, list[Row]] = {}
        for place, (pattern, shape) in enumerate(zip(self.spec.shapes, shapes, strict=True)):
            is_result = place == len(shapes) - 1
            operand = operands[place] if place < len(operands) else "result" if is_result else f"operand {place}"
            actual = shape if isinstance(shape, Axes) else Axes(output=shape)
            stretched = joined if self.spec.broadcasts and not is_result else None
            for kind, row, axes in zip(KINDS, pattern, actual, strict=True):
                origin = Origin(self.node, operand if kind == "output" else f"{operand} {kind}", None, self.text)
                self.store.eq_row(axes, self.template(row, origin, stretched), origin=origin)
        for name, occurrences in joined.items():
            whole = Row(variable=self.rows[name]) if name in self.rows else Row(trail=(self.sizes[name],))
            self.store.bcast(whole, occurrences, origin=Origin(self.node, "", None, f"{self.text}: {name}"))
        return self.names

    def template(self, row: RowSpec, origin: Origin, stretched: dict[str, list[Row]] | None) -> Row:
        """The row with sizes for its axes. With `stretched` each label gets a new size, which is recorded there."""
        sizes, variable = self.sizes, None if row.variable is None else self.rows[row.variable]
        if stretched is not None:
            own = {axis.name: self.store.fresh(axis.name) for axis in row.axes if isinstance(axis, Label)}
            sizes = {**sizes, **own}
            for name, size in own.items():
                stretched.setdefault(name, []).append(Row(trail=(size,)))
            if row.variable is not None:
                variable = RowVar.fresh(row.variable)
                stretched.setdefault(row.variable, []).append(Row(variable=variable))
        lead, trail = (
            tuple(self.size(axis, sizes, origin._replace(text=f"{self.text}: {axis}")) for axis in axes)
            for axes in (row.lead, row.trail)
        )
        return Row(lead, variable, trail)

    def size(self, axis: Axis, sizes: Mapping[str, Dim], origin: Origin) -> Dim:
        """The size of an axis; its equations are stated."""
        match axis:
            case Label(name):
                return sizes[name]
            case FixedIndex(position):
                size = self.store.fresh(f"_{position}")
                self.store.bounds(size, position + 1, origin=origin, law="index")
            case Concatenation(parts):
                size = self.store.fresh(str(axis))
                self.store.concat(
                    size, [sizes[part] if isinstance(part, str) else part for part in parts], origin=origin
                )
            case AffineIndex():  # pragma: no branch  # the last kind of axis
                size = self.store.fresh(str(axis))
                check_affine(axis, self.spec, self.sizes)
                self.affine(size, axis, sizes, origin)
        return size

    def affine(self, size: Dim, axis: AffineIndex, sizes: Mapping[str, Dim], origin: Origin) -> None:
        stride, dilation = factor(axis.stride, sizes), factor(axis.dilation, sizes)
        over = sizes[axis.over]
        kernel = None if axis.kernel is None or axis.padding else sizes[axis.kernel]
        if isinstance(stride, int) and isinstance(dilation, int):
            self.store.affine(
                size, over, stride=stride, kernel=kernel, dilation=dilation, padding=kernel is None, origin=origin
            )
        elif kernel is None:
            self.store.eq(size, stride * over, origin=origin, law="stride")
        else:
            self.store.eq(size, stride * (over - 1) + 1 + (kernel - 1) * dilation, origin=origin, law="window")


def factor(value: int | str, sizes: Mapping[str, Dim]) -> Dim:
    """A stride or dilation: a number, or the value of its name."""
    return value if isinstance(value, int) else sizes[value]


def check_affine(axis: AffineIndex, spec: Spec, sizes: Mapping[str, Dim]) -> None:
    """Check an affine index for conditions that the language does not check but its use needs; raises SpecError."""
    if axis.kernel is not None and axis.padding is None:
        text = f"{spec.brief}: {axis} has a kernel, so it must say '=' (same size) or '<' (valid)"
        raise SpecError("padding_unspecified", text)
    stride = factor(axis.stride, sizes)
    if isinstance(stride, int) and axis.offset >= stride:
        text = f"{spec.brief}: the offset of {axis} is not less than its stride {stride}"
        raise SpecError("index_out_of_range", text)


# -- inference ---------------------------------------------------------------------------------------------------------


class EinsumSpec:
    """A specification, for inferring shapes.

    >>> spec = EinsumSpec("... | 2*oh<+kh, ic; kh, ic -> oc => ... | oh, oc")
    >>> known = spec.infer({"batch": ["N"], "output": [9, 3]}, {"output": [16], "input": None}, kh=3)
    >>> print(known.result, "from", known.operands[1], "where oh =", known.size("oh"))
    N|4, 16 from 3, 3->16 where oh = 4
    """

    def __init__(self, spec: str | Spec) -> None:
        self.spec = parse_spec(spec) if isinstance(spec, str) else spec

    def __str__(self) -> str:
        return str(self.spec)

    def __repr__(self) -> str:
        return f"EinsumSpec({str(self.spec)!r})"

    def infer(self, *shapes: Shaped, result: Shaped = None, **sizes: int) -> Inference:
        """The consequences of the shapes of the operands and, if known, of the result.

        `sizes` gives labels, and rows by their number of elements. Raises SpecError if the shapes do not fit the
        specification, and Contradiction, here or at a later question, if sizes or ranks contradict each other.
        """
        return Inference(self.spec, [*shapes, result], sizes)


class Inference:
    """The shapes of one use of a specification, and its labels. Constraints on labels can still be added."""

    def __init__(self, spec: Spec, shapes: Iterable[Shaped], sizes: Mapping[str, Dim]) -> None:
        self.spec = spec
        self.store = Store()
        self._shapes = [axes_of(shape) for shape in shapes]
        labels = {name: sizes[name] for name in spec.labels() if name in sizes}
        self._names: Names = state(self.store, spec, self._shapes, sizes=labels, least=0)
        for name in sizes:
            if name not in labels:
                self.set_dim(name, sizes[name])

    @property
    def operands(self) -> tuple[Axes, ...]:
        """The shapes of the operands, as far as they are known."""
        return tuple(shape.map(self.store.row) for shape in self._shapes[:-1])

    @property
    def result(self) -> Axes:
        """The shape of the result, as far as it is known."""
        return self._shapes[-1].map(self.store.row)

    def size(self, name: str) -> Dim:
        """The size of a label, or the number of elements of a row."""
        return self.store.value(self._measure(name))

    def row(self, name: str) -> Row:
        """The axes that a row variable stands for."""
        if name not in self._names.rows:
            raise self._unknown(name)
        return self.store.row(Row(variable=self._names.rows[name]))

    def set_dim(self, name: str, size: Dim) -> None:
        """Set the size of a label, or the number of elements of a row."""
        self.store.eq(self._measure(name), size, origin=f"{name} is set to {size!r}")
        self.store.value(size)

    def set_equal(self, one: str, other: str) -> None:
        """Set two labels to equal sizes, two rows to the same axes, or a label to the number of elements of a row."""
        rows = self._names.rows
        if one in rows and other in rows:
            self.store.eq_row(Row(variable=rows[one]), Row(variable=rows[other]), origin=f"{one} equals {other}")
        else:
            self.store.eq(self._measure(one), self._measure(other), origin=f"{one} equals {other}")
        self.store.value(self._measure(one))

    def set_scale(self, large: str, small: str, factor: int) -> None:
        """Set the label `large` to `factor` times `small`; SpecError for a row or a factor below 1."""
        for name in (large, small):
            if name in self._names.rows:
                raise SpecError("rank_mismatch", f"{self.spec.brief}: {name!r} is a row, which has no scale")
        if factor < 1:
            text = f"{self.spec.brief}: the scale of {large!r} to {small!r} is {factor}, below 1"
            raise SpecError("stride_mismatch", text)
        self.store.affine(
            self._measure(large), self._measure(small), stride=factor, origin=f"{large} is {factor} times {small}"
        )
        self.store.value(self._measure(large))

    def _measure(self, name: str) -> Dim:
        if name in self._names.sizes:
            return self._names.sizes[name]
        if name in self._names.rows:
            return self.store.count(Row(variable=self._names.rows[name]))
        raise self._unknown(name)

    def _unknown(self, name: str) -> SpecError:
        names = ", ".join([*self._names.sizes, *self._names.rows])
        return SpecError("unknown_label", f"{self.spec.brief} has no label {name!r}, but {names or 'none'}")


def axes_of(shape: Shaped) -> Axes:
    """The rows of a shape, from any of the forms of `Shaped`."""
    if isinstance(shape, Axes):
        return shape
    if shape is None:
        return Axes(*(Row.unknown(kind) for kind in KINDS))
    if isinstance(shape, Mapping):
        return Axes(**{kind: Row.unknown(kind) if dims is None else _row(dims) for kind, dims in shape.items()})
    return Axes(output=_row(shape))


def _row(dims: Row | Iterable[Dim | str]) -> Row:
    return dims if isinstance(dims, Row) else Row.of(dims)
