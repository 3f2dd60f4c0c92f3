"""Assumptions about sizes during an inference. Rules ask them if intervals do not decide.

Assumptions that are intervals become the bounds of their symbols. The others are facts for the prover. They are active
during a walk, as a trace is active during a rule call. Without such facts a question costs one attribute look-up.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim
    from symdim import Facts

_BUDGET = 300
"""Steps of the prover for one question. A question is asked once per walk."""


class Known:
    """The facts of one walk, and the questions that have been answered.

    >>> from symdim import Facts, Var
    >>> from onnx_infer.laws.sizes import differ
    >>> N, M = Var("N"), Var("M")
    >>> with Known(Facts(["N >= M + 1"])):
    ...     differ(N, M), holds(N, ">", M), holds(N, "==", 4)
    (True, True, False)
    >>> differ(N, M)
    False
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._answers: dict[tuple[Dim, str, Dim], bool] = {}

    def __enter__(self) -> Known:
        _OPEN.known.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _OPEN.known.pop()

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


class _Open(local):
    """The facts of a thread's active walks, the innermost last."""

    def __init__(self) -> None:
        self.known: list[Known] = []


_OPEN = _Open()


def holds(a: Dim, relation: str, b: Dim) -> bool:
    """Whether the assumptions prove `a relation b` (one of == != >= > <= <)."""
    return bool(_OPEN.known) and _OPEN.known[-1].holds(a, relation, b)
