"""What the outcome of a rule says beyond values: it is recorded for each node that has this outcome.

A remembered outcome replays the statements, notes and warnings of its rule. Its fresh sizes get new names each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.diagnostics import Diagnostic, Refusal, about_node
from onnx_infer.engine.apply import Outcome
from onnx_infer.engine.repeat import ask_for_sign
from onnx_infer.laws.statements import named
from onnx_infer.model.graph import label_of
from onnx_infer.values.tensor import Value, substitute
from onnx_infer.values.text import bounded

if TYPE_CHECKING:
    from onnx_infer.engine.record import Record
    from onnx_infer.engine.run_time import NewSize
    from onnx_infer.engine.scope import Scope
    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.graph import Node
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Dim
    from symdim import Var

MOST_CHOICES = 64
"""Different pairs of sizes of which broadcasting chooses one. Of 185 real models none has more than 3."""


def replay(
    record: Record, outcome: Outcome, operator: Operator, node: Node, inputs: tuple[Value | None, ...], scope: Scope
) -> Outcome:
    """Record the statements, notes and warnings of an outcome, with new names for its fresh sizes."""
    if outcome.error is not None:
        severity, message = outcome.error
        told = about_node(severity, operator.schema, label_of(node), message, inputs, node[4].values)
        record.diagnostics.append(Refusal(*told) if outcome.refused else told)
    if outcome.note is not None:
        record.notes.update(dict.fromkeys(node[3], bounded(outcome.note)))
    new = None
    if outcome.fresh:
        of = record.run_time
        new = of.of(node, operator, inputs) if scope is record.scope else of.inside(node)
    return renew(record, outcome, node, scope, new)


def renew(record: Record, outcome: Outcome, node: Node, scope: Scope, run_time: NewSize | None = None) -> Outcome:
    """The outcome (of a call, unless `run_time` is given) with new names for its fresh sizes, recorded."""
    teaches = outcome.teaches and record.certain
    if outcome.fresh:
        names = named(outcome.fresh, run_time or record.run_time.of_call)
        record.created += names.values()  # type: ignore[arg-type]
        values, statements = _with_names(outcome, names)
        outcome = Outcome(values, statements=statements + record.run_time.new_statements(), rank=outcome.rank)
    stated = outcome.statements
    if stated and not record.certain:  # kept is what sizes rest on, as no demand, and what would make them simpler
        record.uncertain += [(statement, node) for statement in stated]
        stated = tuple([s._replace(filled=()) for s in stated if s.kind == "assumed" or s.relation == "undecided"])
    for statement in stated:
        _state(record, statement, node, scope, teaches)
    return outcome


def _state(record: Record, statement: Statement, node: Node, scope: Scope, teaches: bool) -> None:
    """Record a statement of a node. One in the body of a Loop is about any turn, so it teaches nothing."""
    if statement.relation == "undecided" and not scope.repeated:
        ask_for_sign(record, statement, scope)
        return
    record.state(statement, node)
    if statement.relation == "broadcast" and scope is record.scope and record.last_choice is None:
        record.choices[statement.lhs, statement.rhs] = None
        if len(record.choices) > MOST_CHOICES:  # from now on, each size that broadcasting chooses is a fresh one
            record.last_choice = node
            record.mode = record.mode._replace(chooses=False)
    if teaches and not scope.repeated:
        record.fresh_sizes.add(statement)


def too_many_choices(node: Node) -> Diagnostic:
    """The warning after so many choices: an expression of chosen sizes may be twice as long as each of them."""
    message = (
        f"broadcasting chooses one of two sizes for more than {MOST_CHOICES} pairs, so each further size that it "
        "chooses is a new one; declare equal sizes of the inputs by one name"
    )
    return Diagnostic("warning", "", label_of(node), message)


def _with_names(outcome: Outcome, names: dict[Var, Dim]) -> tuple[tuple[Value, ...], tuple[Statement, ...]]:
    """The results and statements of an outcome with these names for its fresh sizes."""
    values = tuple([substitute(v, names) for v in outcome.values])
    return values, tuple([statement.substitute(names) for statement in outcome.statements])
