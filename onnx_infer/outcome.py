"""One rule applied to one node: its results with what goes with them, or what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import OnnxInferError
from .scope import UndefinedInput
from .trace import Fact, Trace
from .verification import misuse

if TYPE_CHECKING:
    from symdim import Var

    from .binding import Operator
    from .tensor import Value


class Outcome(NamedTuple):
    """What a rule said of a node: its results and what goes with them. `plain` if there is nothing but results."""

    values: tuple[Value, ...]
    plain: bool = True
    note: str | None = None
    facts: tuple[Fact, ...] = ()
    fresh: tuple[Var, ...] = ()
    error: tuple[str, str] | None = None


def apply(operator: Operator, attributes: Any, values: tuple[Value | None, ...], output_count: int) -> Outcome:
    """Apply a rule; an error of the node, or of the rule itself, costs this node's results and nothing else."""
    with Trace() as trace:
        try:
            results, note = operator.infer(values, attributes, output_count)
            error = None
        except OnnxInferError as e:
            error = ("error", str(e))
        except UndefinedInput:
            raise
        except Exception as e:  # a defect of a rule: reported as such, with everything else inferred
            error = ("defect", f"{type(e).__name__}: {e}")
        if error is not None:
            unknown = operator.unknowns(values, attributes, output_count)
            if error[0] == "defect":  # unless the rule was given what its schema does not admit
                wrong = misuse(operator.schema, values, attributes, unknown)
                error = error if wrong is None else ("error", wrong)
            return Outcome(unknown, False, error[1], error=error)
    wrong = misuse(operator.schema, values, attributes, results)
    if note is None and wrong is None and not (trace.facts or trace.fresh or trace.warnings):
        return Outcome(results)
    if note is None and trace.notes:
        note = trace.notes[0]
    error = None if wrong is None else ("error", wrong)
    if error is None and trace.warnings:
        error = ("warning", trace.warnings[0])
    return Outcome(results, False, note, tuple(trace.facts), tuple(trace.fresh), error)
