"""One rule applied to one node: its results with what goes with them, or what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.engine.scope import UndefinedInput
from onnx_infer.errors import OnnxInferError, OpUsageError
from onnx_infer.laws.statements import Fact, Trace

if TYPE_CHECKING:
    from onnx_infer.model.graph import Attributes
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Value
    from symdim import Var


class Outcome(NamedTuple):
    """What a rule said of a node: its results and what goes with them. `plain` if there is nothing but results."""

    values: tuple[Value, ...]
    plain: bool = True
    note: str | None = None
    facts: tuple[Fact, ...] = ()
    fresh: tuple[Var, ...] = ()
    error: tuple[str, str] | None = None


def apply(operator: Operator, attributes: Attributes, values: tuple[Value | None, ...], output_count: int) -> Outcome:
    """Apply a rule; an error of the node, or of the rule itself, costs at most this node's results.

    A law that the rule reports as broken (`trace.contradict`) costs only the sizes that hang on it.
    """
    with Trace() as trace:
        try:
            results, note, wrong = operator.infer(values, attributes, output_count)
        except OpUsageError as e:
            return _failed(operator.unknowns(values, attributes, output_count), "error", str(e))
        except OnnxInferError as e:
            unknown = operator.unknowns(values, attributes, output_count)
            # an operand of another kind than the schema admits is an error of its type, whatever the rule makes of it
            law = trace.errors[0] if trace.errors else operator.misuse(values, attributes, unknown) or str(e)
            return _failed(unknown, "error", law)
        except UndefinedInput:
            raise
        except Exception as e:  # a defect of a rule: reported as such, with everything else inferred
            unknown = operator.unknowns(values, attributes, output_count)
            wrong = operator.misuse(values, attributes, unknown)  # what its schema does not admit is no defect
            if wrong is not None:
                return _failed(unknown, "error", wrong)
            return _failed(unknown, "defect", f"{type(e).__name__}: {e}")
    if trace.errors:
        # what it states besides holds in no run: there is none
        return Outcome(results, False, trace.errors[0], (), tuple(trace.fresh), ("error", trace.errors[0]))
    if note is None and wrong is None and not (trace.facts or trace.fresh or trace.warnings):
        return Outcome(results)
    if note is None and trace.notes:
        note = trace.notes[0]
    error = None if wrong is None else ("error", wrong)
    if error is None and trace.warnings:
        error = ("warning", trace.warnings[0])
    return Outcome(results, False, note, tuple(trace.facts), tuple(trace.fresh), error)


def _failed(unknown: tuple[Value, ...], severity: str, message: str) -> Outcome:
    return Outcome(unknown, False, message, error=(severity, message))
