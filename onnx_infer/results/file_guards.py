"""The guards of the contract in a file, against what inference finds.

`contract.py` writes the contract, `onnx_infer.model.contract` has its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.diagnostics import Diagnostic
from onnx_infer.engine.assumptions import Assumptions
from onnx_infer.model.contract import ELEMENT, Condition, Names
from onnx_infer.model.given import KEY, interval_text
from onnx_infer.results.derived_guards import key_of
from onnx_infer.results.guards import Guard, NodeName
from onnx_infer.types.join import variables_in
from symdim import Facts, Scope, SymdimError, UnboundName, Var
from symdim.algebra.origin import ValueOf
from symdim.prove import holds
from symdim.relations.relation import SIGNS

if TYPE_CHECKING:
    from collections.abc import Collection

    from onnx_infer.engine.record import Record
    from onnx_infer.inference import Run
    from symdim import Dim
    from symdim.relations.relation import Relation


class Judged(NamedTuple):
    """The guards that inference finds, those that only the contract in the file states, and what is wrong with this."""

    own: list[Guard]
    stated: list[Guard]
    findings: list[Diagnostic]


def judged(run: Run, own: list[Guard]) -> Judged:
    """The guards of the file against those that inference finds.

    One that inference finds, or that follows from those, is not told twice. One that cannot hold together with them is
    a warning. Any other is the word of the author.
    """
    if not run.in_file.guards:
        return Judged(own, [], [])
    record = run.record
    sizes, inputs = _sizes(record, own), {name for name, _ in record.model.graph.inputs}
    told = {guard.condition.normal(): f"{guard} of {guard.origins[0]}" for guard in own if guard.origins}
    given = Assumptions(run.given.relations, record.symbols.known(), record.symbols.bound).relations
    of_nodes = Facts([*given, *(guard.condition for guard in own if guard.kind != "declared")])
    facts = Facts([*of_nodes, *(guard.condition for guard in own)])
    keys = {key_of(guard.condition) for guard in own}
    stated: list[Guard] = []
    findings: list[str] = []
    for condition in run.in_file.guards:
        try:
            relation = _relation(condition, sizes, inputs)
            if key_of(relation) in keys or follows(relation, facts):
                continue
            others = against(relation, of_nodes)
        except SymdimError as error:  # a text that is no size, a divisor that is 0, a function without a value
            findings.append(f"the guard {_text(condition)} is not used: {error}")
            continue
        if others is not None:
            known = [told.get(other.normal(), str(other)) for other in others]
            bounds = known or [interval_text(v) for v in relation.variables()] or ["the given sizes"]
            findings.append(f"the guard {_text(condition)} contradicts {'; '.join(bounds)}")
        else:
            origins = tuple([NodeName(*node) for node in condition.nodes])
            stated.append(Guard(relation, condition.law, origins, "declared"))
    return Judged(own, stated, [Diagnostic("warning", "", "", f"metadata {KEY}: {text}") for text in findings])


def _sizes(record: Record, own: list[Guard]) -> dict[str, Dim]:
    """What stands for the names that a guard of the file may have."""
    symbols = record.symbols
    found: dict[str, Dim] = {v.name: v for guard in own for v in guard.variables()}
    found |= {v.name: v for value in dict.fromkeys(record.scope.values()) for v in variables_in(value)}
    found |= {name: symbols.bound(v) for name, v in symbols.known().items()}
    return found | {name_in_file(v): v for v in found.values() if isinstance(v, Var)}


def name_in_file(v: Var) -> str:
    """The name of a variable in a file: an element of an input is `k[0]`, whatever stands for it here."""
    return f"{v.origin.tensor}[{v.origin.index}]" if isinstance(v.origin, ValueOf) else v.name


def _relation(condition: Condition, sizes: dict[str, Dim], inputs: Collection[str]) -> Relation:
    """The relation over the sizes of a result. Raises `SymdimError` for a text that is none, and for other names."""
    relation = condition.read(Names())
    found: dict[Var, Dim] = {}
    for v in relation.variables():
        element = ELEMENT.fullmatch(v.name)
        if v.name not in sizes and element is not None and element[1] in inputs:
            origin = ValueOf(element[1], int(element[2]), "the element")
            sizes[v.name] = Scope().restored(v.name, None, None, None, origin)
        if v.name not in sizes:
            raise UnboundName((v.name,))
        found[v] = sizes[v.name]
    return relation.substitute(found)


def _text(condition: Condition) -> str:
    """A condition with its law, as messages have it."""
    try:
        text = str(condition.read(Names()))
    except SymdimError:
        text = f"{condition.relation} of {condition.left} and {condition.right}"
    return f"{text} ({condition.law})" if condition.law else text


def follows(relation: Relation, facts: Facts) -> bool:
    """Whether a relation holds wherever the facts do."""
    kind, left, right, _ = relation.normal()
    return holds(left, SIGNS[kind], right, facts.about(left, right)) is True


def against(relation: Relation, facts: Facts) -> list[Relation] | None:
    """The facts that cannot hold together with a relation; None if none are found."""
    together = facts.about(relation.left, relation.right)
    together.assume(relation)
    found = together.contradiction() or ()
    others = [other for other in found if other.normal() != relation.normal()]
    return others if len(others) < len(found) else None
