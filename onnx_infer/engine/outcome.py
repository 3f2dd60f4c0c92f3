"""One rule applied to one node: its results, statements and notes, or its error."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.engine.fresh_sizes import renew
from onnx_infer.engine.implied_bounds import Undecided
from onnx_infer.engine.scope import UndefinedInput
from onnx_infer.errors import OnnxInferError, OpUsageError
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.laws.statements import Statement, Trace
from onnx_infer.types.branches import demand_side, of_branches, of_side
from onnx_infer.types.join import either
from onnx_infer.values.one_of import OneOf, plain
from onnx_infer.values.tensor import substitute
from symdim import Var
from symdim.algebra.dims import substituted
from symdim.algebra.evaluate import Substitution

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_infer.elements.conditions import Positive
    from onnx_infer.model.graph import Attributes
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Dim, Value


_MAX_SOURCES = 2
"""The most different sources among operands that are one of two tensors. A rule is applied to all combinations."""


class Outcome(NamedTuple):
    """The outcome of a rule for a node: its results, statements, notes and so on. `plain`: it has only results.

    `refused`: the node breaks a law that every runtime demands, so every run fails there.
    """

    values: tuple[Value, ...]
    plain: bool = True
    note: str | None = None
    statements: tuple[Statement, ...] = ()
    fresh: tuple[Var, ...] = ()
    error: tuple[str, str] | None = None
    refused: bool = False
    teaches: bool = True
    """Whether its statements may replace fresh sizes."""
    rank: Dim | None = None
    """The rank of its only result, where the length of a vector decides it."""

    def substitute(self, variables: Mapping[Var, Dim], text: Callable[[str], str] = str) -> Outcome:
        """The outcome with other sizes in place of variables, in the bounds of its fresh sizes, too.

        `text` gives a note, a law or a message with the names of the other sizes.
        """
        sizes = dict(variables)
        for var in self.fresh:
            renew(var, sizes)
        known = Substitution(sizes)
        return self._replace(
            values=tuple([substitute(value, known) for value in self.values]),
            note=self.note and text(self.note),
            statements=tuple([s.substitute(known)._replace(law=text(s.law)) for s in self.statements]),
            fresh=tuple([v for var in self.fresh if isinstance(v := sizes.get(var, var), Var)]),
            error=self.error and (self.error[0], text(self.error[1])),
            rank=None if self.rank is None else substituted(self.rank, sizes),
        )


def apply(operator: Operator, attributes: Attributes, values: tuple[Value | None, ...], output_count: int) -> Outcome:
    """Apply a rule. An error of the node, or of the rule itself, costs at most this node's results.

    A law that the rule reports as broken (`contradict`) costs only the sizes that depend on it.
    """
    if OneOf in map(type, values) and not attributes.has_graphs:
        sources = dict.fromkeys([v.source for v in values if isinstance(v, OneOf)])
        if len(sources) <= _MAX_SOURCES:
            return _of_choices(next(iter(sources)), operator, attributes, values, output_count)
        values = tuple([v and plain(v) for v in values])
    with Trace() as trace:
        try:
            results, note, wrong = operator.infer(values, attributes, output_count)
        except OpUsageError as e:
            return _failed(operator.unknowns(values, attributes, output_count), "error", str(e))
        except OnnxInferError as e:
            unknown = operator.unknowns(values, attributes, output_count)
            # an operand of a kind that the schema does not allow is an error of its type, whatever the rule says
            wrong = None if trace.errors else operator.misuse(values, attributes, unknown)
            law = trace.errors[0] if trace.errors else wrong or str(e)
            return _failed(unknown, "error", law)._replace(refused=wrong is None)
        except (UndefinedInput, Undecided, MemoryError):
            raise
        except Exception as e:  # a defect of a rule: it is reported, and everything else is inferred
            unknown = operator.unknowns(values, attributes, output_count)
            wrong = operator.misuse(values, attributes, unknown)  # a node that breaks its schema is not a defect
            if wrong is not None:
                return _failed(unknown, "error", wrong)
            return _failed(unknown, "defect", f"{type(e).__name__}: {e}")
    if trace.errors:
        # the node runs nowhere, or with other sizes, so its statements are dropped
        return Outcome(
            results, False, trace.errors[0], (), tuple(trace.fresh), ("error", trace.errors[0]), refused=trace.refused
        )
    if note is None and wrong is None and not (trace.statements or trace.fresh or trace.warnings):
        return Outcome(results)
    if note is None and trace.notes:
        note = trace.notes[0]
    error = None if wrong is None else ("error", wrong)
    if error is None and trace.warnings:
        error = ("warning", trace.warnings[0])
    statements = tuple(trace.statements)
    # each walk gives this size a new name, so its substitution may differ
    teaches = bool(trace.fresh) or any(s.relation == "equal" and _has_fresh(s) for s in statements)
    return Outcome(results, False, note, statements, tuple(trace.fresh), error, teaches=teaches, rank=trace.rank)


def _has_fresh(statement: Statement) -> bool:
    return is_fresh(statement.lhs) or is_fresh(statement.rhs)


def _of_choices(
    source: Positive | Var,
    operator: Operator,
    attributes: Attributes,
    values: tuple[Value | None, ...],
    output_count: int,
) -> Outcome:
    """Apply a rule to inputs that are one of two tensors: to the first ones and to the second ones.

    What both results share is known. If one side breaks a law, the result is that of the other side. If that is an
    assumed law, runtimes may run both sides, so nothing is chosen.
    """

    first, second = [
        apply(operator, attributes, tuple([v and of_side(v, source, i) for v in values]), output_count) for i in (0, 1)
    ]
    if first.refused != second.refused:
        runs, other = (second, first) if first.refused else (first, second)
        with Trace() as trace:
            demand_side(source, first=runs is first, law=other.error[1] if other.error else "")
        return runs._replace(
            plain=runs.plain and not trace.statements, statements=(*runs.statements, *trace.statements)
        )
    with Trace() as trace:
        unsure = either("one of two ranks")
        results = [
            of_branches(a, b, source, unsure, elements=True) for a, b in zip(first.values, second.values, strict=True)
        ]
    return Outcome(
        tuple(results),
        False,
        first.note or second.note or next(iter(trace.notes), None),
        tuple([statement for statement in first.statements if statement in second.statements]),
        (*first.fresh, *second.fresh, *trace.fresh),
        _error_of_both(first.error, second.error),
        first.refused,
    )


def _error_of_both(first: tuple[str, str] | None, second: tuple[str, str] | None) -> tuple[str, str] | None:
    """The error of a node that has these errors for the first and the second tensors. Warnings and defects come first.

    An error for one of them only is left out: a run may have the other tensors.
    """
    told = [x for x in (first, second) if x is not None]
    if len(told) == 2 and all(severity == "error" for severity, _ in told):
        return first
    return next((x for x in told if x[0] != "error"), None)


def _failed(unknown: tuple[Value, ...], severity: str, message: str) -> Outcome:
    return Outcome(unknown, False, message, error=(severity, message))
