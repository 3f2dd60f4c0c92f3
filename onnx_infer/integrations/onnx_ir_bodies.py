"""The graphs in the attributes of an `ir.Node`, at any depth.

Records of walks over them hold for one inference only: nothing but the node itself, which its owner may change between
two inferences, says that its graphs are the same ones.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import onnx_ir as ir

from onnx_infer.integrations.onnx_ir_names import GRAPHS, given_values
from onnx_infer.model.graph import Bodies
from onnx_infer.protobuf import bodies as proto

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx_infer.model.graph import Node, Place


class InnerGraphs:
    """The graphs inside the nodes of one model. `texts` gives the dim_params in the types of values."""

    def __init__(self, all_constant: bool, texts: Callable[[Iterable[ir.Value]], list[str]]) -> None:
        self._all_constant, self._texts = all_constant, texts
        self._known: dict[ir.Node, tuple[Bodies, list[ir.Graph]]] = {}

    def bodies(self, node: Node) -> Bodies | None:
        """The graphs of a node. Nodes in the bodies of operator schemas are protobuf messages here too."""
        handle = node[5]
        if not isinstance(handle, ir.Node):
            return proto.bodies(self._all_constant, node)
        if handle not in self._known:
            self._known[handle] = self._found(handle)
        return self._known[handle][0]

    def handles(self, node: Node, places: tuple[Place, ...]) -> list[Any]:
        """The graphs at the places that `bodies` gives."""
        handle = node[5]
        return self._known[handle][1] if isinstance(handle, ir.Node) else proto.handles(node, places)

    def _found(self, node: ir.Node) -> tuple[Bodies, list[ir.Graph]]:
        places: list[Place] = []
        graphs: list[ir.Graph] = []
        texts: dict[str, None] = {}
        pending = [(-1, 0, node)]
        for around, number, holder in pending:
            for i, j, graph in _placed(holder):
                inner = len(graphs)
                places.append((around, number, i, j))
                graphs.append(graph)
                values = chain(graph.inputs, given_values(graph), graph.outputs)
                texts.update(dict.fromkeys(self._texts(values)))
                pending += [(inner, n, below) for n, below in enumerate(graph) if below.attributes]
        return Bodies(node, tuple(texts), tuple(places), is_lasting=False), graphs


def _placed(node: ir.Node) -> Iterator[tuple[int, int, ir.Graph]]:
    """The graphs in the attributes of one node, each with the number of the attribute, and its own in a list or -1."""
    for i, attribute in enumerate(node.attributes.data.values()):
        if attribute.type not in GRAPHS or attribute.ref_attr_name:
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            yield i, -1, attribute.value
        else:
            yield from ((i, j, graph) for j, graph in enumerate(attribute.value))
