"""What is assumed of sizes while a model is inferred: rules ask it where intervals decide nothing.

Facts that are intervals are the bounds of their symbols. The others are facts of the prover, which are open during a
walk, as a trace is during the call of a rule. Without such facts a question costs one look.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim
    from symdim import Facts

_BUDGET = 300
"""Steps of the prover for one question; a question is asked once per walk."""


class Known:
    """The facts of one walk, and the questions that were answered.

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

    def holds(self, a: Dim, relation: str, b: Dim) -> bool:
        """Whether the facts prove `a relation b`; not where they say nothing of the symbols."""
        question = a, relation, b
        found = self._answers.get(question)
        if found is None:
            from symdim import prove

            related = bool(self.facts.relevant(a, b))
            found = related and prove.explain(a, relation, b, self.facts, budget=_BUDGET).answer is True
            self._answers[question] = found
        return found


class _Open(local):
    """The facts of the walks of a thread, those of the innermost last."""

    def __init__(self) -> None:
        self.known: list[Known] = []


_OPEN = _Open()


def holds(a: Dim, relation: str, b: Dim) -> bool:
    """Whether what is assumed proves `a relation b` (one of == != >= > <= <)."""
    return bool(_OPEN.known) and _OPEN.known[-1].holds(a, relation, b)
