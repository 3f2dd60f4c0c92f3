"""A smaller model with the same fault: without outputs, nodes and initializers that it does not need."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import onnx

from tests.fuzz import judges
from tests.fuzz.growing import captured
from tests.fuzz.subject import tried

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.models import Judged
    from tests.fuzz.runtime import Runtime

SECONDS = 10.0
"""So long a model is shrunk at most."""


def shrunk(one: Judged, judge: str, text: str, runtime: Runtime) -> tuple[onnx.ModelProto, str]:
    """The smallest model that was found with a fault of this judge, and the text of the fault."""
    model, end = one.subject.model, time.monotonic() + SECONDS
    found = True
    while found and time.monotonic() < end:
        found = False
        for candidate in _smaller(model):
            faults = dict(judges.verdict(tried(candidate, one.feeds, runtime), runtime, only=judge))
            if judge in faults:
                model, text, found = candidate, faults[judge], True
                break
            if time.monotonic() > end:
                break
    return model, text


def _smaller(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """The model without one node and all that depends on it, or without one that nothing depends on."""
    nodes = list(model.graph.node)
    for first in range(len(nodes)):
        gone = set(nodes[first].output)
        for node in nodes[first + 1 :]:
            if gone.intersection(captured([node])):
                gone.update(node.output)
        yield _without(model, [node for node in nodes if not gone.issuperset(node.output)])
    for at in reversed(range(len(nodes))):
        yield _without(model, nodes[:at] + nodes[at + 1 :])
    yield _without_functions(model)


def _without(model: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> onnx.ModelProto:
    """The model of these nodes alone. What they use and do not make must be inputs or constants."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    used = set(captured(nodes))
    made = {o for node in nodes for o in node.output}
    for field, kept in (
        (graph.node, nodes),
        (graph.output, [o for o in graph.output if o.name in made]),
        (graph.input, [i for i in graph.input if i.name in used]),
        (graph.initializer, [t for t in graph.initializer if t.name in used]),
    ):
        items = [type(x).FromString(x.SerializeToString()) for x in kept]
        del field[:]
        field.extend(items)
    return copy


def _without_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without functions that nothing calls."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    called = {node.op_type for node in copy.graph.node}
    kept = [f for f in model.functions if f.name in called]
    del copy.functions[:]
    copy.functions.extend(kept)
    return copy
