"""What a rule states beside its result: facts that a run of the model implies, and sizes that only the data decide.

Rules stay pure functions: `unify`, `broadcast` and `fresh` note what they find in the trace of the call, the engine
opens one trace per rule call, remembers it with the result and replays both for every equal node.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, NamedTuple

from symdim import Expr, Var

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tensor import Dim


class Fact(NamedTuple):
    """One thing that holds in every run in which the node runs: `kind` of (lhs, rhs), and the law that says so.

    | kind         | fact                                                           |
    |--------------|----------------------------------------------------------------|
    | equal        | lhs == rhs                                                     |
    | at_least     | lhs >= rhs                                                     |
    | divides      | lhs divides rhs                                                |
    | broadcast    | lhs == rhs or lhs == 1 or rhs == 1                             |
    | broadcast_to | lhs == rhs or lhs == 1                                         |
    | undecided    | nothing: a result would be simpler if lhs >= rhs were known    |
    """

    kind: str
    lhs: Dim
    rhs: Dim
    law: str

    def __str__(self) -> str:
        if self.kind == "equal":
            return f"{self.lhs} == {self.rhs}"
        if self.kind == "at_least":
            return f"{self.lhs} >= {self.rhs}"
        if self.kind == "divides":
            return f"{self.rhs} % {self.lhs} == 0"
        if self.kind == "broadcast_to":
            return f"{self.lhs} in ({self.rhs}, 1)"
        return f"{self.lhs} == {self.rhs} or 1 in ({self.lhs}, {self.rhs})"


class Trace:
    """The facts, fresh sizes and notes of one rule call."""

    __slots__ = ("facts", "fresh", "notes")

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.fresh: list[Var] = []
        self.notes: list[str] = []

    def __enter__(self) -> Trace:
        _STACK.traces.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _STACK.traces.pop()


class _Stack(local):
    """The open traces of a thread."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []


_STACK = _Stack()


def state(kind: str, lhs: Dim, rhs: Dim, law: str) -> None:
    """Note a fact in the open trace, if there is one."""
    if _STACK.traces:
        _STACK.traces[-1].facts.append(Fact(kind, lhs, rhs, law))


def fresh(note: str, *, at_most: Dim | None = None, at_least: int = 0) -> Var:
    """A size that no input size determines; the note says what decides it, `at_most` bounds it where something does.

    >>> fresh("the number of non-zero elements").lo
    0
    """
    hi = at_most if isinstance(at_most, int) else None
    var = Var.fresh("_d", lo=at_least, hi=hi, at_most=at_most, origin=note)
    if _STACK.traces:
        _STACK.traces[-1].fresh.append(var)
        _STACK.traces[-1].notes.append(note)
    return var


def named(fresh: tuple[Var, ...], name: Callable[[], str]) -> dict[Var, Dim]:
    """New variables for the fresh sizes of a remembered outcome, each with a name of its own.

    >>> named((fresh("why"),), lambda: "_d7")
    {_d: _d7}
    """
    names: dict[Var, Dim] = {}
    for placeholder in fresh:
        limit = placeholder.at_most
        if isinstance(limit, Expr):
            limit = limit.substitute(names)
        names[placeholder] = Var.fresh(name(), placeholder.lo or 0, placeholder.hi, limit, placeholder.origin)
    return names
