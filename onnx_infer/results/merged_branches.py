"""Values whose types are not written, because onnx merges the shapes of the branches of an If below opset 11.

If onnx can tell that the branches have different ranks, or different numbers on an axis, it refuses the model, and so
does onnxruntime. Such a model loads only as long as onnx cannot infer the branches. So all values from which it could
infer them keep the types that the model has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.engine.scope import graphs_of
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Graph, Node

_UNION = 11
"""From this version of the operators on, the branches of an If may have any shapes."""


def not_written(engine: Record) -> frozenset[str]:
    """The names of the values whose types stay as they are in the model, in any of its graphs."""
    if engine.scope.operators.version("") >= _UNION:
        return frozenset()
    graphs = ((engine.model.graph, engine.scope), *engine.inner)
    scopes: dict[int, Mapping[str, Value]] = {id(graph.handle): scope for graph, scope in graphs}
    constants = {name for graph, _ in graphs for name in graph.constants}
    sources: dict[str, set[str]] = {}
    pending: list[str] = []
    for graph, _ in graphs:
        for node in graph.nodes():
            bodies = [engine.view(handle) for handle in graphs_of(node)]
            rank_from = engine.scope.operators.facets(node[0], node[1]).rank_from
            for name, read in _reads(node, bodies, constants, rank_from):
                sources.setdefault(name, set()).add(read)
            if node[0] == "If" and len(bodies) == 2:
                first, second = (scopes.get(id(body.handle), {}) for body in bodies)
                for a, b in zip(bodies[0].outputs, bodies[1].outputs, strict=False):
                    if _differ(first.get(a), second.get(b)):
                        pending += (a, b)
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += sources.get(name, ())
    return frozenset(found)


def _reads(node: Node, bodies: Iterable[Graph], constants: set[str], at: int | None) -> Iterator[tuple[str, str]]:
    """The outputs of a node, and the inputs of its bodies, each with a value from which onnx may infer its shape.

    If the elements of the input `at` decide the rank of the output, onnx infers nothing unless they are constant.
    """
    if at is not None and len(node[2]) > at and node[2][at] not in constants:
        return
    inner = [name for body in bodies for name in body.outputs]
    formal = [name for body in bodies for name, _ in body.inputs]
    yield from ((name, read) for name in node[3] for read in (*node[2], *inner))
    yield from ((name, read) for name in formal for read in node[2])


def _differ(a: Value | None, b: Value | None) -> bool:
    """Whether two tensors have different ranks, or different numbers on an axis."""
    if not isinstance(a, SymTensor) or not isinstance(b, SymTensor) or a.shape is None or b.shape is None:
        return False
    pairs = zip(a.shape, b.shape, strict=False)
    return len(a.shape) != len(b.shape) or any(x != y and isinstance(x, int) and isinstance(y, int) for x, y in pairs)
