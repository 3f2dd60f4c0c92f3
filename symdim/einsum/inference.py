"""Shapes of an einsum in both directions, and the sizes of its labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from symdim.algebra.texts.printing import shortened
from symdim.einsum.constraints import Dim, Names, state
from symdim.einsum.reader import parse_spec
from symdim.einsum.spec import KINDS, Spec, SpecError
from symdim.rows import Axes, Row
from symdim.store import Store

Shaped: TypeAlias = "Axes | Row | Mapping[str, Iterable[Dim | str] | None] | Iterable[Dim | str] | None"
"""A shape: rows by kind (None: an unknown row), or one row of axes, or None (nothing is known)."""


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
                raise SpecError("rank_mismatch", f"{shortened(str(self.spec))}: {name!r} is a row, which has no scale")
        if factor < 1:
            raise SpecError(
                "stride_mismatch",
                f"{shortened(str(self.spec))}: the scale of {large!r} to {small!r} is {factor}, below 1",
            )
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
        return SpecError("unknown_label", f"{shortened(str(self.spec))} has no label {name!r}, but {names or 'none'}")


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
