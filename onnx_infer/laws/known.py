"""Assumptions about sizes during an inference. Rules ask them if intervals do not decide.

Assumptions that are intervals become the bounds of their symbols. The others are facts for the prover. They are active
during a walk (`assuming`), as a trace is active during a rule call. Without such facts a question costs one attribute
look-up.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.values.tensor import Dim
    from symdim import Facts

T = TypeVar("T")

_BUDGET = 300
"""Steps of the prover for one question. A question is asked once per walk."""


class Known:
    """The facts of one walk, and the questions that have been answered.

    >>> from symdim import Facts, Var
    >>> from onnx_infer.laws.sizes import differ
    >>> N, M = Var("N"), Var("M")
    >>> assuming(Known(Facts(["N >= M + 1"])), lambda: (differ(N, M), holds(N, ">", M), holds(N, "==", 4)))
    (True, True, False)
    >>> differ(N, M)
    False
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._answers: dict[tuple[Dim, str, Dim], bool] = {}

    def asked(self) -> list[tuple[Dim, str, Dim]]:
        """The questions so far, in order: two sizes and the relation between them."""
        return list(self._answers)

    def holds(self, a: Dim, relation: str, b: Dim) -> bool:
        """Whether the facts prove `a relation b`. False if they are not about these symbols."""
        question = a, relation, b
        found = self._answers.get(question)
        if found is None:
            from symdim import prove

            related = bool(self.facts.relevant(a, b))
            found = related and prove.explain(a, relation, b, self.facts, budget=_BUDGET).answer is True
            self._answers[question] = found
        return found


class _Active(local):
    """The facts of the innermost walk of a thread, if it has some."""

    known: Known | None = None


_ACTIVE = _Active()


def assuming(known: Known | None, action: Callable[[], T]) -> T:
    """The result of an action. These facts, or none, are active while it runs.

    A plain assignment ends that: an interrupt can stop the `__exit__` of a context before it has done anything.
    """
    outer = _ACTIVE.known
    try:
        _ACTIVE.known = known
        return action()
    finally:
        _ACTIVE.known = outer


def holds(a: Dim, relation: str, b: Dim) -> bool:
    """Whether the assumptions prove `a relation b` (one of == != >= > <= <)."""
    known = _ACTIVE.known
    return known is not None and known.holds(a, relation, b)
