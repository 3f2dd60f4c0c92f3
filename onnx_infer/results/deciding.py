"""Conditions on symbols under which a node leaves nothing unknown. They are found by trying."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from onnx_infer.elements.conditions import Positive, positive
from onnx_infer.engine.apply import apply
from onnx_infer.engine.assumptions import assumed_bounds, text_of
from onnx_infer.laws.bounds import Known, assuming
from onnx_infer.results.exactness import is_typed, varies
from onnx_infer.types.join import sizes
from onnx_infer.values.tensor import Dim, SymTensor, Value, substitute
from symdim import Expr, Facts, Var
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Node

_MOST_SIZES = 8


def deciding_conditions(engine: Record, node: Node, inputs: frozenset[Var]) -> tuple[str, ...]:
    """Conditions on the symbols of `inputs` under which a node leaves nothing unknown; empty if none are found.

    Candidates are `size >= 2` and `size == 1` for the sizes of its operands, and the conditions that select a branch.
    Each is tried alone. Then all `size >= 2` are tried together and reduced to as few as suffice.
    """
    scope = engine.scope
    operator = scope.operators[node[1], node[0]]
    if operator is None or any(name and not scope.knows(name) for name in node[2]):
        return ()
    names, attributes, count = node[2], node[4], len(node[3])
    operands = scope.with_elements(operator, names, tuple(scope[name] if name else None for name in names))

    def suffice(relations: Sequence[Relation]) -> bool:
        bounds, left, impossible = assumed_bounds(relations)
        if impossible:
            return False
        new: dict[Any, Dim] = {**bounds.narrowed(bounds.of)}
        values = tuple(None if value is None else substitute(value, new) for value in operands)
        if attributes.has_graphs:
            return not any(map(_open_conditions, values))
        facts = Facts(relation.substitute(new) for relation in left)
        outcome = assuming(Known(facts), partial(apply, operator, attributes, values, count))
        known = all(is_typed(x) and not varies(x) for x in outcome.values)
        return known and outcome.error is None and not outcome.fresh

    if attributes.has_graphs:
        candidates = [r for value in operands if value is not None for c in _open_conditions(value) for r in _about(c)]
    else:
        composed = dict.fromkeys(s for value in operands for s in sizes(value) if isinstance(s, Expr))
        tried = [size for size in composed if inputs.issuperset(size.variables())][:_MOST_SIZES]
        candidates = [Relation("at_least", size, 2) for size in tried]
        candidates += [Relation("equal", size, 1) for size in tried]
    for relation in candidates:
        if suffice([relation]):
            return (text_of(relation),)
    together = [relation for relation in candidates if relation.kind == "at_least" and relation.right == 2]
    if attributes.has_graphs or len(together) < 2 or not suffice(together):
        return ()
    for relation in list(together):
        fewer = [other for other in together if other is not relation]
        if suffice(fewer):
            together = fewer
    return tuple(map(text_of, together))


def _open_conditions(value: Value | None) -> list[Positive]:
    """The elements of a value that are conditions on sizes."""
    return [x for x in value.data or () if isinstance(x, Positive)] if isinstance(value, SymTensor) else []


def _about(condition: Positive) -> Iterator[Relation]:
    """The two cases of a condition that selects a branch: false and true."""
    size = condition.size
    yield Relation("at_most", size, 0, frozenset((str(positive(1 - size)),)))
    yield Relation("at_least", size, 1, frozenset((str(condition),)))
