"""How many sizes broadcasting chooses in the main graph of a walk, and the limit of them.

Where nothing decides which of two sizes is the result of a broadcast, the result is an expression of both. A later
broadcast of it may make an expression that is twice as long, and each choice is a guard. No real model has many of
them, so after many choices each further one is a fresh size (`laws.readable.chosen`), with a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.laws.statements import Statement, choose_no_more
from onnx_infer.model.graph import Node, label_of

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim

MOST = 64
"""Different pairs of sizes of which broadcasting chooses one. Of 185 real models none has more than 3."""


class Choices:
    """The pairs of sizes of which broadcasting chose one in the main graph so far, and the node of the last one."""

    __slots__ = ("_last", "_pairs")

    def __init__(self) -> None:
        self._pairs: set[tuple[Dim, Dim]] = set()
        self._last: Node | None = None

    def are_too_many(self, choice: Statement, node: Node) -> bool:
        """Count a choice of a node. True once: after this one each further choice is a fresh size."""
        if self._last is not None:
            return False
        self._pairs.add((choice.lhs, choice.rhs))
        if len(self._pairs) <= MOST:
            return False
        self._last = node
        choose_no_more()
        return True

    def told(self) -> list[Diagnostic]:
        """The warning, if there were too many."""
        if self._last is None:
            return []
        message = (
            f"broadcasting chooses one of two sizes for more than {MOST} pairs, so each further size that it chooses "
            "is a new one; declare equal sizes of the inputs by one name"
        )
        return [Diagnostic("warning", "", label_of(self._last), message)]
