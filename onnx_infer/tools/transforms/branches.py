"""Ifs whose condition is known in every run: the nodes of the branch that is taken, in place of the If."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import NodeProto, helper

from onnx_infer.protobuf.nodes import graphs_of, subgraphs
from onnx_infer.tools.transforms.draft import is_default
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import GraphProto, ModelProto


def take_decided_branches(
    model: ModelProto, types: Mapping[str, Value], is_upheld: Callable[[NodeProto], bool]
) -> bool:
    """Replace the Ifs of known condition, at any depth, by their branch; return whether there was one.

    The names of the values are unique already. An inner If is replaced before the one around it.
    """
    found = False
    for graph in reversed(list(graphs_of(model.graph))):
        for place in reversed(range(len(graph.node))):
            node = graph.node[place]
            condition = types.get(node.input[0]) if is_default(node) and node.op_type == "If" and node.input else None
            taken = condition.data[0] if isinstance(condition, SymTensor) and condition.data else None
            if isinstance(taken, bool) and is_upheld(node) and _put_in_place(graph, place, taken):
                found = True
    return found


def _put_in_place(graph: GraphProto, place: int, taken: bool) -> bool:
    node = NodeProto()
    node.CopyFrom(graph.node[place])
    name = "then_branch" if taken else "else_branch"
    branch = next((attribute.g for attribute in node.attribute if attribute.name == name), None)
    if branch is None or len(branch.output) < len(node.output) or branch.sparse_initializer:
        return False
    pairs = [(info.name, given) for info, given in zip(branch.output, node.output, strict=False) if given]
    others = sum(len(graph.node) for graph in subgraphs(node)) - len(branch.node)
    if len(pairs) > 1 + others:  # the Identities may stay, where they decide how nodes round
        return False
    del graph.node[place]
    graph.initializer.extend(branch.initializer)
    graph.value_info.extend(branch.value_info)
    given_back = [helper.make_node("Identity", [inner], [outer], f"{outer}_taken") for inner, outer in pairs]
    for i, inner in enumerate([*branch.node, *given_back]):
        graph.node.insert(place + i, inner)
    return True
