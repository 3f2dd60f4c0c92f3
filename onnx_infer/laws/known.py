"""Assumptions about sizes during an inference. Rules ask them if intervals do not decide.

Assumptions that are intervals become the bounds of their symbols. The others are facts for the prover. They are active
during a walk (`assuming`), as a trace is active during a rule call. Without such facts a question costs one attribute
look-up.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, TypeVar

from symdim.algebra.bounds import bounds_of_sum

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


class Case:
    """One side of a condition: a size that is at least 0 there, beside the facts around it.

    A relation follows if the size, subtracted from its own, leaves what an interval decides. The prover is not asked:
    a rule asks many questions, and each is asked for both sides.
    """

    def __init__(self, size: Dim, outer: Known | Case | None) -> None:
        self.size, self.outer = size, outer

    def holds(self, a: Dim, relation: str, b: Dim) -> bool:
        """Whether `a relation b` follows from the size, or from the facts around it."""
        least = int(relation in (">", "<", "!="))
        rises = relation in (">=", ">", "!=", "==") and self._is_above(a, b, least)
        if rises and relation != "==":
            return True
        falls = relation in ("<=", "<", "!=", "==") and self._is_above(b, a, least)
        if falls and (rises or relation != "=="):
            return True
        return self.outer is not None and self.outer.holds(a, relation, b)

    def _is_above(self, a: Dim, b: Dim, least: int) -> bool:
        """Whether an interval proves `a - b - size >= least`, which implies `a - b >= least` here."""
        low, _ = bounds_of_sum((a, 1), (b, -1), (self.size, -1))
        return low is not None and low >= least


class _Active(local):
    """The facts of the innermost walk of a thread, if it has some, or the case of a condition."""

    known: Known | Case | None = None


_ACTIVE = _Active()


def assuming(known: Known | Case | None, action: Callable[[], T]) -> T:
    """The result of an action. These facts, or none, are active while it runs.

    A plain assignment ends that: an interrupt can stop the `__exit__` of a context before it has done anything.
    """
    outer = _ACTIVE.known
    try:
        _ACTIVE.known = known
        return action()
    finally:
        _ACTIVE.known = outer


def supposing(size: Dim, action: Callable[[], T]) -> T:
    """The result of an action. While it runs, the size is known to be at least 0, beside the facts of the walk.

    >>> from onnx_infer.laws.sizes import at_least
    >>> from symdim import Var
    >>> supposing(Var("N") - 5, lambda: at_least(Var("N") - 3, 2)), at_least(Var("N") - 3, 2)
    (True, False)
    """
    return assuming(Case(size, _ACTIVE.known), action)


def holds(a: Dim, relation: str, b: Dim) -> bool:
    """Whether the assumptions prove `a relation b` (one of == != >= > <= <)."""
    known = _ACTIVE.known
    return known is not None and known.holds(a, relation, b)
