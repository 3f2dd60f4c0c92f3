"""The work a proof may take, counted in steps, so that answers never depend on the speed of a machine."""

from __future__ import annotations


class OutOfBudget(Exception):  # noqa: N818
    """A search has used up its steps."""


class Budget:
    """Steps that are left."""

    __slots__ = ("steps",)

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int = 1) -> None:
        """Take steps; raises `OutOfBudget` when none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise OutOfBudget
