"""Sizes computed from the shapes of the inputs, where that takes fewer nodes than the model has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.tools.materialization import Names, SizeNodes, unreadable
from symdim import UnsupportedDynamicShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto, TensorProto

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.transforms.draft import Draft
    from onnx_infer.values.tensor import Dim

_MOST_TRIED = 64
"""The most wanted tensors that are tried one by one."""


class Wanted(NamedTuple):
    """An integer tensor of sizes that nodes read: its elements, element type and rank (0 or 1)."""

    elements: tuple[Dim, ...]
    dtype: int
    rank: int


class Reader(NamedTuple):
    """An input of a node."""

    node: NodeProto
    place: int


class Plan(NamedTuple):
    """The tensors to compute from the inputs, with the nodes and constants that do, and the names of the results."""

    names: dict[Wanted, str]
    nodes: list[NodeProto]
    initializers: list[TensorProto]


def cheapest(
    draft: Draft, readers: dict[Wanted, list[Reader]], result: Inferred, may_go: Callable[[NodeProto], bool]
) -> Plan | None:
    """The tensors that take fewer nodes if they are computed from the inputs, with these nodes; None if there are none.

    All tensors are tried together, because they share nodes. Then each one is left out in turn.
    """
    opset, sources, used = result._engine.model.opsets.get("", 0), result.sources, set(result._engine.model.names())

    def plan(wanted: list[Wanted]) -> Plan:
        return _plan(wanted, SizeNodes(opset, sources, Names(used, "size")))

    chosen = [tensor for tensor in readers if not any(unreadable(size, sources) for size in tensor.elements)]
    try:
        needed = _needed(plan(chosen))
    except (UnsupportedDynamicShape, ValueError):
        return None  # the opset is too old
    uses = draft.uses()
    gone = set(map(id, draft.unread(uses, may_go)))
    reads = {
        tensor: [draft.current(node.input[place]) for node, place in of if id(node) not in gone]
        for tensor, of in readers.items()
    }

    def gain(wanted: list[Wanted]) -> int:
        names = [name for tensor in wanted for name in reads[tensor]]
        after = uses.copy()
        after.subtract(names)
        return len(draft.unread(after, may_go, names)) - len(set().union(*map(needed.__getitem__, wanted)))

    best = gain(chosen)
    for tensor in list(reversed(chosen))[:_MOST_TRIED]:
        fewer = [other for other in chosen if other is not tensor]
        found = gain(fewer)
        if found >= best:
            chosen, best = fewer, found
    return plan(chosen) if chosen and best > 0 else None


def _needed(plan: Plan) -> dict[Wanted, set[str]]:
    """The nodes that each tensor of a plan needs, by their outputs. A plan of fewer tensors has just what they need."""
    inputs = {node.output[0]: node.input for node in plan.nodes}
    needed: dict[Wanted, set[str]] = {}
    for tensor, name in plan.names.items():
        found = needed[tensor] = set()
        pending = [name]
        while pending:
            name = pending.pop()
            if name in inputs and name not in found:
                found.add(name)
                pending += inputs[name]
    return needed


def _plan(wanted: list[Wanted], made: SizeNodes) -> Plan:
    """The nodes for these tensors. They share what they have in common."""
    names: dict[Wanted, str] = {}
    for tensor in wanted:
        name = made.vector(tensor.elements, tensor.dtype)
        names[tensor] = name if tensor.rank else made.node("Squeeze", name)
    for node in made.nodes:
        node.ClearField("name")  # it is known by its output, and the model stays small
    return Plan(names, made.nodes, made.initializers)
