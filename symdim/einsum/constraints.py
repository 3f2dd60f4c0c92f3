"""The equations of a specification about the shapes of its operands and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from symdim.algebra.expr import Expr
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.texts.printing import shortened
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

"""Characters of a specification that a message shows. The origin of each axis holds this text."""


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
            f"{shortened(str(spec))} is the pattern of one shape: operands are separated by ';', and the result "
            "follows '=>', as in 'ab; bc => ac'. parse_subscripts reads NumPy's notation, 'ab,bc->ac'",
        )
    if len(shapes) != len(patterns):
        count = len(patterns) - 1
        raise SpecError(
            "arity", f"{shortened(str(spec))} takes {count} operand{'s' * (count != 1)}, not {len(shapes) - 1}"
        )
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
        self.text = shortened(str(spec))
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
        raise SpecError(
            "padding_unspecified",
            f"{shortened(str(spec))}: {axis} has a kernel, so it must say '=' (same size) or '<' (valid)",
        )
    stride = factor(axis.stride, sizes)
    if isinstance(stride, int) and axis.offset >= stride:
        raise SpecError(
            "index_out_of_range", f"{shortened(str(spec))}: the offset of {axis} is not less than its stride {stride}"
        )
