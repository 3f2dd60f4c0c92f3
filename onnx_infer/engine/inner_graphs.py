"""The inner graphs of a model after a walk: subgraphs and bodies of functions, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.engine.scope import Scope
from onnx_infer.model.graph import NO_ATTRIBUTES, Graph
from onnx_infer.types.join import NOTHING, join, varying

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.engine.general_calls import Placeholders
    from onnx_infer.engine.walk import Record
    from onnx_infer.values.tensor import Value


def inner_graphs(record: Record, placeholders: Placeholders) -> Iterator[tuple[Graph, Scope]]:
    """The inner graphs of a model that calls functions, with values that hold in all walks that count."""
    joined: dict[int, tuple[Graph, Scope]] = {}
    walked: set[int] = set()
    known: dict[tuple[Value, Value], Value] = {}  # pairs of values -> their join
    pending = [record]
    while pending:
        record = pending.pop()
        if id(record) in walked:
            continue
        walked.add(id(record))
        pending += reversed(record.calls)
        for key, (graph, scope) in record.graphs.items():
            if placeholders:
                scope.update((name, placeholders.closed(value)) for name, value in scope.items() if value is not None)
            if key in joined:
                joined[key] = (graph, _joined(joined[key][1], scope, known))
            else:
                joined[key] = (graph, scope)
    return iter(joined.values())


def _joined(a: Scope, b: Scope, known: dict[tuple[Value, Value], Value]) -> Scope:
    """The joined values of a graph from two walks. A size that differs has no name."""
    both = Scope(a.model, a.constants, a.operators, a.parent, NO_ATTRIBUTES)
    for name, value in a.items():
        other = b.get(name)
        if value is None or other is None:
            both[name] = NOTHING
        elif value is other:
            both[name] = value
        else:
            found = known.get((value, other))
            both[name] = known[value, other] = join(value, other, varying) if found is None else found
    return both
