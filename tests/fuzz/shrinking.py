"""A smaller model with the same fault: without outputs, nodes and initializers that it does not need."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import onnx

from tests.fuzz import judges
from tests.fuzz.growing import captured
from tests.fuzz.subject import tried

if TYPE_CHECKING:
    from tests.fuzz.models import Judged
    from tests.fuzz.runtime import Runtime

SECONDS = 10.0
"""The most time for one model."""


def shrunk(one: Judged, judge: str, text: str, runtime: Runtime) -> tuple[onnx.ModelProto, str]:
    """The smallest model that was found with a fault of this judge, and the text of the fault."""
    model, end = one.subject.model, time.monotonic() + SECONDS
    before = -1
    while before != len(model.graph.node):
        before = len(model.graph.node)
        for at in reversed(range(before)):
            if at >= len(model.graph.node) or time.monotonic() > end:
                continue
            candidate = _without_node(model, at)
            subject = tried(candidate, one.feeds, runtime)
            if candidate.graph.node and any(run.succeeded for run in subject.runs):
                faults = dict(judges.verdict(subject, runtime, only=judge))
                if judge in faults:
                    model, text = candidate, faults[judge]
    return model, text


def _without_node(model: onnx.ModelProto, at: int) -> onnx.ModelProto:
    """The model without one node and all that depends on it, and without functions that nothing calls."""
    nodes = list(model.graph.node)
    gone = set(nodes[at].output)
    for node in nodes[at + 1 :]:
        if gone.intersection(captured([node])):
            gone.update(node.output)
    copy = _without(model, [node for node in nodes if not gone.issuperset(node.output)])
    called = {node.op_type for node in copy.graph.node}
    kept = [f for f in model.functions if f.name in called]
    del copy.functions[:]
    copy.functions.extend(kept)
    return copy


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
