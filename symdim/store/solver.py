"""The store: statements, questions, and the worklist between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.store.facts import NOWHERE, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from symdim.expr import Dim
    from symdim.rows import Row
    from symdim.variable import Var


class Store:
    """What is known about sizes and rows, with its origins. Statements take effect at the next question.

    `least` is the lower bound of the sizes that the store itself introduces.
    """

    def __init__(self, *, least: int = 0) -> None:
        raise NotImplementedError

    # variables

    def fresh(self, name: str = "_d", lo: int | None = None, hi: int | None = None) -> Var:
        """A new size variable that the store may replace by what it equals."""
        raise NotImplementedError

    # statements (origin: Origin(node, operand, axis, text) or a text)

    def eq(self, a: Dim, b: Dim, *, origin: Origin | str = NOWHERE, law: str = "size") -> None:
        """a == b. The law names the error of a violation: size, stride, concat, window, elements, index."""

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

    def concat(self, whole: Dim, parts: Iterable[Dim], *, origin: Origin | str = NOWHERE) -> None:
        """whole == sum of the parts."""

    def eq_row(self, a: Row, b: Row, *, origin: Origin | str = NOWHERE) -> None:
        """The rows have the same axes."""

    def exact(self, rows: Iterable[Row], dims: Iterable[Dim], *, origin: Origin | str = NOWHERE) -> None:
        """The rows, one after the other, have these axes."""

    def refine(self, result: Dim, operand: Dim, *, origin: Origin | str = NOWHERE) -> None:
        """The operand is 1 or equal to the result."""

    def refine_row(self, result: Row, operand: Row, *, origin: Origin | str = NOWHERE) -> None:
        """The operand may be stretched to the result at its gap (its row variable)."""

    def bcast_to(self, target: Row, operand: Row, *, origin: Origin | str = NOWHERE) -> None:
        """The operand may be stretched to the target by NumPy's rule, one way."""

    def bcast(self, result: Row, operands: Sequence[Row], *, origin: Origin | str = NOWHERE) -> None:
        """The result is exactly the row to which the operands broadcast by NumPy's rule."""

    def elements(
        self, rows: Iterable[Row], count: Dim, divided_by: Iterable[Dim] = (), *, origin: Origin | str = NOWHERE
    ) -> None:
        """The rows together have count / (product of divided_by) elements."""

    def count(self, row: Row) -> Dim:
        """The number of elements of a row, with a variable for that of an unknown part."""
        raise NotImplementedError

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
        """out windows of a kernel fit into size, as ONNX's convolutions and pools count them."""

    def bounds(
        self,
        dim: Dim,
        lo: int | None = None,
        hi: int | None = None,
        *,
        origin: Origin | str = NOWHERE,
        law: str = "size",
    ) -> None:
        """lo <= dim <= hi; law "index" for a size that an index demands."""

    def divisible(self, dim: Dim, by: Dim, *, origin: Origin | str = NOWHERE, law: str = "stride") -> None:
        """dim % by == 0."""

    def rank(
        self, row: Row, at_least: int = 0, at_most: int | None = None, *, origin: Origin | str = NOWHERE
    ) -> None:
        """The number of axes lies in at_least..at_most."""

    def label(self, dim: Var, text: str, *, origin: Origin | str = NOWHERE) -> None:
        """The axis of this size has a denotation; equal sizes have one denotation, and a labelled 1 is no 1."""

    # questions; each raises Contradiction when the facts cannot hold together

    def value(self, dim: Dim) -> Dim:
        """The size in terms of what is known."""
        raise NotImplementedError

    def row(self, row: Row) -> Row:
        """The row in terms of what is known."""
        raise NotImplementedError

    def equal(self, a: Dim, b: Dim) -> bool | None:
        """True: equal in every model, False: in none... None: not known."""
        raise NotImplementedError


__all__ = ["NOWHERE", "Origin", "Store"]
