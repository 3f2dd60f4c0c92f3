"""One rule applied to one node, and what is recorded of that: results, statements and notes, or an error.

A remembered outcome replays the statements, notes and warnings of its rule. Its fresh sizes get new names each time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from onnx_infer.diagnostics import Diagnostic, Refusal, about_node
from onnx_infer.elements.conditions import Positive
from onnx_infer.engine.scope import UndefinedInput
from onnx_infer.errors import OnnxInferError, OpUsageError
from onnx_infer.laws.bounds import supposing
from onnx_infer.laws.sizes import is_fresh
from onnx_infer.laws.statements import USUAL, Mode, Statement, Trace, named
from onnx_infer.model.graph import label_of
from onnx_infer.types.branches import demand_side, of_branches, of_side, sources_of
from onnx_infer.types.join import either
from onnx_infer.values.containers import OneOf, plain
from onnx_infer.values.tensor import substitute
from onnx_infer.values.text import bounded
from symdim import Expr, Var
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from onnx_infer.engine.record import Record
    from onnx_infer.engine.run_time import NewSize
    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Attributes, Node
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Value


_MAX_SOURCES = 2
"""The most sources that decide which tensors the operands are. A rule is applied to all combinations of sides."""

MOST_CHOICES = 64
"""Different pairs of sizes of which broadcasting chooses one. Of 185 real models none has more than 3."""


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


def apply(
    operator: Operator,
    attributes: Attributes,
    values: tuple[Value | None, ...],
    output_count: int,
    mode: Mode = USUAL,
) -> Outcome:
    """Apply a rule in a mode. An error of the node, or of the rule itself, costs at most this node's results.

    A law that the rule reports as broken (`contradict`) costs only the sizes that depend on it.
    """
    if (operator.selects or OneOf in map(type, values)) and not attributes.has_graphs:
        sources = sources_of(values, _MAX_SOURCES, elements=operator.selects)
        if 1 <= len(sources) <= _MAX_SOURCES:
            return _of_choices(sources[0], operator, attributes, values, output_count, mode)
        values = tuple([v and plain(v) for v in values])
    return _of_rule(operator, attributes, values, output_count, mode)


def _of_rule(
    operator: Operator, attributes: Attributes, values: tuple[Value | None, ...], output_count: int, mode: Mode
) -> Outcome:
    """The outcome of a rule for operands of which none is taken for one of two."""
    with Trace(mode) as trace:
        try:
            results, note, wrong = operator.infer(values, attributes, output_count)
        except OpUsageError as e:
            return failed(operator.unknowns(values, attributes, output_count), "error", str(e))
        except OnnxInferError as e:
            unknown = operator.unknowns(values, attributes, output_count)
            # an operand of a kind that the schema does not allow is an error of its type, whatever the rule says
            wrong = None if trace.errors else operator.misuse(values, attributes, unknown)
            law = trace.errors[0] if trace.errors else wrong or str(e)
            return failed(unknown, "error", law)._replace(refused=wrong is None)
        except (UndefinedInput, MemoryError):
            raise
        except Exception as e:  # a defect of a rule: it is reported, and everything else is inferred
            unknown = operator.unknowns(values, attributes, output_count)
            wrong = operator.misuse(values, attributes, unknown)  # a node that breaks its schema is not a defect
            if wrong is not None:
                return failed(unknown, "error", wrong)
            return failed(unknown, "defect", f"{type(e).__name__}: {e}")
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
    teaches = bool(trace.fresh) or any(
        s.relation == "equal" and (is_fresh(s.lhs) or is_fresh(s.rhs)) for s in statements
    )
    return Outcome(results, False, note, statements, tuple(trace.fresh), error, teaches=teaches)


def _of_choices(
    source: Positive | Var,
    operator: Operator,
    attributes: Attributes,
    values: tuple[Value | None, ...],
    output_count: int,
    mode: Mode,
) -> Outcome:
    """Apply a rule to inputs that are one of two tensors: to the first ones and to the second ones.

    What both results share is known. If one side breaks a law, the result is that of the other side. If that is an
    assumed law, runtimes may run both sides, so nothing is chosen.

    If only elements differ, and a condition on sizes decides, it holds on the first side and not on the second one.
    Where the sides demand different things or leave a size open, the rule is applied to the elements as expressions of
    the condition.
    """
    sides = [tuple([v and of_side(v, source, i) for v in values]) for i in (0, 1)]
    if not (isinstance(source, Positive) and _are_alike(values)):
        first, second = [apply(operator, attributes, side, output_count, mode) for side in sides]
        return _of_sides(source, first, second, mode)
    first, second = [
        supposing(size, partial(apply, operator, attributes, side, output_count, mode))
        for side, size in zip(sides, (source.size - 1, -source.size), strict=True)
    ]
    outcome = _of_sides(source, first, second, mode)
    if first.refused != second.refused:
        return outcome
    is_known = not outcome.fresh and not any(None in (value.data or ()) for value in outcome.values)
    if is_known and _demands(first) == _demands(second):
        return outcome
    return _of_rule(operator, attributes, tuple([v and plain(v) for v in values]), output_count, mode)


def _are_alike(values: tuple[Value | None, ...]) -> bool:
    """Whether all tensors that are one of two have sides of one shape, so that only elements differ."""
    return all(a.shape == b.shape for a, b in (v.choices for v in values if isinstance(v, OneOf)))


def _demands(side: Outcome) -> tuple[object, ...]:
    """What a side states or reports, without what only would make it simpler."""
    return side.error, [s for s in side.statements if s.relation != "undecided"]


def _of_sides(source: Positive | Var, first: Outcome, second: Outcome, mode: Mode) -> Outcome:
    """The outcome for values that are one of two, from those for both sides."""
    if first.refused != second.refused:
        runs, other = (second, first) if first.refused else (first, second)
        with Trace(mode) as trace:
            demand_side(source, first=runs is first, law=other.error[1] if other.error else "")
        return runs._replace(
            plain=runs.plain and not trace.statements, statements=(*runs.statements, *trace.statements)
        )
    with Trace(mode) as trace:
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
    reported = [x for x in (first, second) if x is not None]
    if len(reported) == 2 and all(severity == "error" for severity, _ in reported):
        return first
    return next((x for x in reported if x[0] != "error"), None)


def failed(unknown: tuple[Value, ...], severity: str, message: str) -> Outcome:
    """The outcome of a node of which only this message is known."""
    return Outcome(unknown, False, message, error=(severity, message))


# -- the record -------------------------------------------------------------------------------------------------


def replay(
    record: Record, outcome: Outcome, operator: Operator, node: Node, inputs: tuple[Value | None, ...], scope: Scope
) -> Outcome:
    """Record the statements, notes and warnings of an outcome, with new names for its fresh sizes."""
    if outcome.error is not None:
        severity, message = outcome.error
        diagnostic = about_node(severity, operator.schema, label_of(node), message, inputs, node[4].values)
        record.diagnostics.append(Refusal(*diagnostic) if outcome.refused else diagnostic)
    if outcome.note is not None:
        record.notes.update(dict.fromkeys(node[3], bounded(outcome.note)))
    new = None
    if outcome.fresh:
        of = record.sizes.run_time
        new = of.of(node, operator, inputs, scope) if scope is record.scope else of.inside(node)
    return recorded(record, outcome, node, scope, new)


def recorded(record: Record, outcome: Outcome, node: Node, scope: Scope, run_time: NewSize | None = None) -> Outcome:
    """The outcome (of a call, unless `run_time` is given) with new names for its fresh sizes, recorded."""
    teaches = outcome.teaches and record.nesting.certain
    if outcome.fresh:
        names = named(outcome.fresh, run_time or record.sizes.run_time.of_call)
        record.sizes.created += names.values()  # type: ignore[arg-type]
        statements = [statement.substitute(names) for statement in outcome.statements]
        statements += record.sizes.run_time.new_statements()
        values = tuple([substitute(v, names) for v in outcome.values])
        outcome = Outcome(values, statements=tuple(statements))
    stated = outcome.statements
    # of a graph that may not run: what sizes rest on, as no demand, and what would make them simpler
    if stated and not record.nesting.certain:
        record.statements.uncertain += [(statement, node) for statement in stated]
        stated = tuple([s._replace(filled=()) for s in stated if s.kind == "assumed" or s.relation == "undecided"])
    for statement in stated:
        _state(record, statement, node, scope, teaches)
    return outcome


def _state(record: Record, statement: Statement, node: Node, scope: Scope, teaches: bool) -> None:
    """Record a statement of a node. One in the body of a Loop is about any iteration, so it teaches nothing."""
    if statement.relation == "undecided" and not scope.repeated:
        gap = statement.lhs - statement.rhs
        if isinstance(gap, Expr):
            record.statements.undecided[gap] = None
            if record.statements.may_end and scope is record.scope and record.statements.decide(gap):
                from onnx_infer.engine.repeat import certain_bounds  # few models need it

                record.statements.may_end = False  # bounds that rest on an assumption do not end it
                record.statements.known_early = certain_bounds(record)
        return
    record.statements.add(statement, node)
    if statement.relation == "broadcast" and scope is record.scope and record.sizes.last_choice is None:
        record.sizes.choices[statement.lhs, statement.rhs] = None
        if len(record.sizes.choices) > MOST_CHOICES:  # from now on, each size that broadcasting chooses is a fresh one
            record.sizes.last_choice = node
            record.mode = record.mode._replace(chooses=False)
    if teaches and not scope.repeated:
        record.sizes.fresh.add(statement)


def too_many_choices(node: Node) -> Diagnostic:
    """The warning after so many choices: an expression of chosen sizes may be twice as long as each of them."""
    message = (
        f"broadcasting chooses one of two sizes for more than {MOST_CHOICES} pairs, so each further size that it "
        "chooses is a new one; declare equal sizes of the inputs by one name"
    )
    return Diagnostic("warning", "", label_of(node), message)
