"""Sizes from the shapes of the inputs, where that takes fewer nodes than the model has for them, or of other tensors.

From opset 15 on, one Shape gives the sizes that successive axes of a tensor have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx import NodeProto, TensorProto

from onnx_infer.tools.nodes_of_sizes import Names, SizeNodes, unreadable
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import Expr
from symdim.errors import UnsupportedDynamicShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.transforms.draft import Draft


_MOST_TRIED = 64
"""The most wanted tensors that are tried one by one."""


class Wanted(NamedTuple):
    """An integer tensor of sizes that nodes read: its elements, element type and rank (0 or 1)."""

    elements: tuple[Dim, ...]
    dtype: int
    rank: int


class Plan(NamedTuple):
    """The tensors to compute from the inputs, with the nodes and constants that do, and the names of the results."""

    names: dict[Wanted, str]
    nodes: list[NodeProto]
    initializers: list[TensorProto]


def cheapest(
    draft: Draft,
    readers: dict[Wanted, list[tuple[NodeProto, int]]],
    result: Inferred,
    may_go: Callable[[NodeProto], bool],
) -> Plan | None:
    """The tensors that take fewer nodes if they are computed from the inputs, with these nodes; None if there are none.

    `readers`: the nodes that read a tensor, each with the number of the input. All tensors are tried together, because
    they share nodes. Then each one is left out in turn.
    """
    opset, sources, used = result._record.model.opsets.get("", 0), result.sources, set(result._record.model.names())

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
        gained = gain(fewer)
        if gained >= best:
            chosen, best = fewer, gained
    return plan(chosen) if chosen and best > 0 else None


def _needed(plan: Plan) -> dict[Wanted, set[str]]:
    """The nodes that each tensor of a plan needs, by their outputs. A plan of fewer tensors has just what they need."""
    inputs = {node.output[0]: node.input for node in plan.nodes}
    needed: dict[Wanted, set[str]] = {}
    for tensor, name in plan.names.items():
        names = needed[tensor] = set()
        pending = [name]
        while pending:
            name = pending.pop()
            if name in inputs and name not in names:
                names.add(name)
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


_PARTS_SINCE = 15
_MOST_PLACES = 4
"""The most places that are remembered of a size."""


class ShapeReads:
    """The tensors of one graph that exist so far, by their sizes.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> reads = ShapeReads(opset=17)
    >>> reads.add("x", SymTensor(1, (N, S, 3, 8)))
    >>> reads.find((S, 3)), reads.find((N,)), reads.find((3, 8)), reads.find((S, N))
    (('x', 1, 3), ('x', 0, 1), None, None)
    """

    def __init__(self, opset: int) -> None:
        self._is_used = opset >= _PARTS_SINCE
        self._places: dict[Dim, list[tuple[str, int, tuple[Dim, ...]]]] = {}

    def add(self, name: str, value: Value | None) -> None:
        """A tensor that exists from now on."""
        if self._is_used and isinstance(value, SymTensor) and value.shape is not None:
            for axis, size in enumerate(value.shape):
                places = self._places.setdefault(size, []) if isinstance(size, Expr) else []
                if len(places) < _MOST_PLACES:
                    places.append((name, axis, value.shape))

    def find(self, elements: tuple[Dim, ...]) -> tuple[str, int, int] | None:
        """A tensor, and where its axes with these sizes begin and end; the first size is no number."""
        for name, axis, shape in self._places.get(elements[0], ()) if elements else ():
            if shape[axis : axis + len(elements)] == elements:
                return name, axis, axis + len(elements)
        return None
