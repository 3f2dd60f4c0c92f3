"""Statements of one graph that no run fulfils together: a branch that demands N == 3 and N == 4 is never taken.

Each statement about one variable alone narrows the interval of this variable. If nothing is left, the statements
contradict each other, so every run of the graph fails. Only required statements count: a run may break the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onnx_infer.engine.implied_bounds import of_one_symbol
from onnx_infer.model.graph import label_of
from symdim import Var

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.graph import Node

    Stated: TypeAlias = tuple[Statement, Node]


class _Interval:
    """What is left of the values of a variable, and the statements that give its ends (None: the variable itself)."""

    __slots__ = ("ends", "why")

    def __init__(self, var: Var) -> None:
        self.ends: list[int | None] = [var.lo, var.hi]
        self.why: list[Stated | None] = [None, None]

    def narrow(self, relation: str, number: int, stated: Stated) -> bool:
        """Use a relation of the variable and a number; whether a value is left."""
        low, high = self.ends
        if relation in ("at_least", "equal") and (low is None or number > low):
            self.ends[0], self.why[0] = number, stated
        if relation in ("at_most", "equal") and (high is None or number < high):
            self.ends[1], self.why[1] = number, stated
        low, high = self.ends
        return low is None or high is None or low <= high


def contradiction(stated: Iterable[Stated]) -> str | None:
    """The statements that contradict each other, as a text; None if none are found."""
    intervals: dict[Var, _Interval] = {}
    for statement, node in stated:
        if statement.kind != "required" or statement.relation == "undecided":
            continue
        conditions = of_one_symbol(statement)
        if conditions is None:
            return _text((statement, node))
        for relation, var, number in conditions:
            if isinstance(var, Var) and isinstance(number, int):
                interval = intervals.setdefault(var, _Interval(var))
                if not interval.narrow(relation, number, (statement, node)):
                    return " and ".join(dict.fromkeys([_text(each) for each in interval.why if each is not None]))
    return None


def _text(stated: Stated) -> str:
    """A statement and its node."""
    from symdim.conditions.condition import Condition  # few models need it

    statement, node = stated
    condition = Condition(*statement[:3])  # type: ignore[arg-type]  # it is not "undecided"
    return f"{node[0]} '{label_of(node)}' demands {condition}"
