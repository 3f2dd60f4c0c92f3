"""Recurrent layers: RNN, GRU, LSTM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.errors import require
from onnx_infer.ops.recurrent import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.constraints.relations import Relations
    from symdim.rows import Row

    Rows = tuple[Row | None, ...]


def recurrent(gates: int) -> Callable[..., None]:
    """The form of a recurrent layer whose weights have this many gates.

    (length, n, i), (D, gates*h, i), (D, gates*h, h), (D, 2*gates*h) -> (length, D, n, h), states (D, n, h).
    """

    def form_of(s: Relations, X: Row, W: Row, R: Row, B: Row | None, initial_h: Row | None, outs: Rows,
                direction: str = "forward", hidden_size: int | None = None, layout: int = 0,
                initial_c: Row | None = None) -> None:  # fmt: skip
        require(direction in DIRECTIONS, "no such direction", direction)
        first, second, inputs = s.axes(X, 3)
        batch, length = (first, second) if layout else (second, first)
        count, hidden = DIRECTIONS[direction], s.axes(R, 3)[2]
        s.eq(hidden, hidden_size, R, 2)
        s.be(W, (count, hidden * gates, inputs))
        s.be(R, (count, hidden * gates, hidden))
        s.be(B, (count, hidden * 2 * gates))
        last = (batch, count, hidden) if layout else (count, batch, hidden)
        for row in (initial_h, initial_c, *outs[1:]):
            s.be(row, last)
        if outs:
            s.be(outs[0], (batch, length, count, hidden) if layout else (length, count, batch, hidden))

    return form_of


form("RNN")(recurrent(1))
form("GRU")(recurrent(3))
form("LSTM")(recurrent(4))
