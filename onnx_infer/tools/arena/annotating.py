"""An arena plan as metadata of the model that it is of. docs/planning.md describes the form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onnx import GraphProto, ModelProto, NodeProto

from onnx_infer.errors import ArgumentError
from onnx_infer.protobuf.names import ARENA
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_infer.tools.arena.plan import ArenaPlan
    from onnx_infer.tools.arena.sharing import Step

VERSION = 1
"""It is increased if an entry is removed or changes its meaning."""

_LONGEST = 1_000
"""The most characters of an offset; a longer one is left out, and `below` gives it."""


def annotate(model: ModelProto, plan: ArenaPlan) -> None:
    """Write a plan into the metadata of a model and of its value infos; put the nodes into the order of the plan.

    Entries of an earlier plan are removed. Raises ArgumentError if the model does not have the nodes of the plan, or if
    steps of a function's body stand between other steps of the plan: then no order of the calls is that of the plan.
    """
    graph = model.graph
    numbers = _reordered(plan.steps, graph)
    infos = {text(info.name): info for infos in (graph.value_info, graph.output, graph.input) for info in infos}
    without: dict[str, Mapping[str, str]] = {}
    for info in infos.values():
        _write(info.metadata_props, {})
    for name, entries in _entries(plan).items():
        if name in infos:
            _write(infos[name].metadata_props, entries)
        else:
            without[name] = entries
    facts = {"version": VERSION, "align": plan.align, "size": plan.size, "steps": " ".join(map(str, numbers))}
    facts["values"] = json.dumps(without) if without else None
    _write(model.metadata_props, {name: str(fact) for name, fact in facts.items() if fact is not None})


def _entries(plan: ArenaPlan) -> dict[str, dict[str, str]]:
    """The entries of each value in the arena. Only the root of a buffer says what lies below."""
    numbers = {storage.root: number for number, storage in enumerate(plan.storages)}
    found = {}
    for buffer in plan.buffers:
        number = numbers[buffer.root]
        facts = {
            "buffer": number, "kind": buffer.kind, "start": plan._places[buffer.value].start, "bytes": buffer.size,
            "first": buffer.first, "last": buffer.last,
        }  # fmt: skip
        entries = {name: str(fact) for name, fact in facts.items()}
        if buffer.offset is not None and len(offset := str(buffer.offset)) <= _LONGEST:
            entries["offset"] = offset
        if buffer.root == buffer.value:
            entries["below"] = " ".join(map(str, plan.storages[number].below))
        found[buffer.value] = entries
    return found


def _write(properties: Any, entries: Mapping[str, str]) -> None:
    """Let these be the entries of a plan in a list of properties."""
    others = [(entry.key, entry.value) for entry in properties if not entry.key.startswith(ARENA)]
    del properties[:]
    for key, value in [*others, *((f"{ARENA}{name}", value) for name, value in entries.items())]:
        properties.add(key=key, value=value)


def _reordered(steps: Sequence[Step], graph: GraphProto) -> list[int]:
    """Put the nodes into the order of the plan, constants first. For each step the number of its node afterwards."""
    order = [
        step.graph_node
        for place, step in enumerate(steps)
        if not place or steps[place - 1].graph_node != step.graph_node
    ]
    if len(order) != len(set(order)):
        raise ArgumentError("annotate: nodes of a function stand between others; inline the function first")
    places = _places(steps, graph)
    if missing := next((step for step in steps if step.graph_node not in places), None):
        raise ArgumentError(f"annotate: the model has no node {missing.operator} {missing.node!r}")
    if sorted(order, key=places.__getitem__) != order:
        _permute(graph, order, places)
        places = _places(steps, graph)
    return [places[step.graph_node] for step in steps]


def _places(steps: Iterable[Step], graph: GraphProto) -> dict[int, int]:
    """The number of a node in the plan -> its place in a graph, by what it writes."""
    maker = {text(name): place for place, node in enumerate(graph.node) for name in node.output if name}
    return {step.graph_node: maker[name] for step in steps for name in step.writes if name in maker}


def _permute(graph: GraphProto, order: Sequence[int], places: Mapping[int, int]) -> None:
    """Nodes that are constants, which read nothing, come first; then the others in this order."""
    ordered = [places[number] for number in order]
    others = sorted(set(range(len(graph.node))) - set(ordered))
    nodes = [NodeProto.FromString(graph.node[place].SerializeToString()) for place in (*others, *ordered)]
    del graph.node[:]
    graph.node.extend(nodes)
