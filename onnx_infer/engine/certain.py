"""Which statements of a walk hold in every run that a runtime accepts, and which ones are conditional.

A runtime may run a node against an assumed statement, with other sizes than inferred. So what later nodes demand of
these sizes is not certain. It must not teach the second walk anything about symbols, and it does not show that a branch
never runs.

A value depends on an assumption if its node makes it, or reads a value that depends on one. Names inside of functions
belong to another graph, and for values inside of subgraphs only the outermost node is compared. So there more values
count than those that depend on an assumption.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from onnx_infer.engine.claims import is_of_found_rank
from onnx_infer.engine.order import captured
from onnx_infer.laws.bounds import Bounds, implied_bounds
from onnx_infer.laws.statements import Statement
from symdim.algebra.dims import at_least

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Set

    from onnx_infer.engine.record import Record
    from onnx_infer.model.graph import Graph, Node


def conditional(record: Record, assumed: Collection[int]) -> set[int]:
    """The statements after an assumption whose nodes read a value that depends on one of the `assumed` statements.

    Statements are identified by their index in `record.statements`. In models with function calls, and in subgraphs,
    every statement after an assumption counts.
    """
    if not assumed:
        return set()
    later = [i for i in range(min(assumed) + 1, len(record.statements)) if i not in assumed]
    if record.seen.calls:
        return set(later)
    nodes = [node for _, node in record.stated()]
    main = {name for node in record.main_nodes for name in node[3]}
    values = _dependent(record, (), [nodes[i] for i in assumed])
    return {i for i in later if main.isdisjoint(nodes[i][3]) or reads(record, nodes[i], values)}


def dependent_values(record: Record, graphs: Iterable[Graph]) -> Set[str] | None:
    """The values that depend on assumptions so far, in the main graph and in graphs, each inside the one before.

    None if all values may depend on them.
    """
    assumed = [(statement, node) for statement, node in record.stated() if statement.kind == "assumed"]
    nodes = [node for statement, node in assumed if not _holds(statement, Bounds())]
    if nodes and record.model.functions:
        return None
    return _dependent(record, graphs, nodes) if nodes else frozenset()


def reads(record: Record, node: Node, values: Set[str]) -> bool:
    """Whether a node, or a graph inside it, reads one of these values."""
    return not values.isdisjoint(node[2]) or (node[4].has_graphs and not values.isdisjoint(captured(record.view, node)))


def _dependent(record: Record, graphs: Iterable[Graph], assuming: Iterable[Node]) -> set[str]:
    """The values of the main graph and of these graphs that depend on nodes, which may be in other graphs."""
    found = {name for node in assuming for name in node[3]}
    inner = [([name for name, _ in graph.inputs], list(graph.nodes())) for graph in graphs]
    for inputs, nodes in ([], record.main_nodes), *inner:
        inside = not found.issubset(chain.from_iterable([node[3] for node in nodes]))  # some node is in another graph
        if inside:
            found.update(inputs)
        size = -1
        while size < len(found):  # nodes may be out of order
            size = len(found)
            for node in nodes:
                if not found.isdisjoint(node[2]) or (node[4].has_graphs and (inside or reads(record, node, found))):
                    found.update(node[3])
    return found


def certain(record: Record) -> list[tuple[Statement, Node]]:
    """The statements of a walk that every run fulfils, with their nodes.

    An assumed statement is one of them if the others imply it, or if no tensor that it is about can be empty. What a
    declared rank says is none, nor is what a found rank says. Other statements do not depend on either.
    """
    stated = record.stated()
    claimed = {i for i, (s, _) in enumerate(stated) if s.kind == "declared" or is_of_found_rank(s)}
    assumed = {i for i, (statement, _) in enumerate(stated) if statement.kind == "assumed" and i not in claimed}
    if not assumed:
        return [pair for i, pair in enumerate(stated) if i not in claimed]
    bounds = implied_bounds(record.statements[: min(assumed)])
    assumed = {i for i in assumed if not _holds(stated[i][0], bounds)}
    while True:
        uncertain = assumed | conditional(record, assumed)
        found = [
            (statement if statement.kind == "required" else statement._replace(kind="required"), node)
            for i, (statement, node) in enumerate(stated)
            if i not in uncertain and i not in claimed
        ]
        bounds = implied_bounds(statement for statement, _ in found if assumed)
        left = {i for i in assumed if not _holds(stated[i][0], bounds)}
        if left == assumed:
            return found
        assumed = left


def _holds(statement: Statement, bounds: Bounds) -> bool:
    """Whether bounds of symbols prove an assumed statement, or that a run demands it."""
    demands = [Statement("at_least", size, 1, "size of a tensor") for size in statement.filled]
    if demands and all(at_least(demand.lhs, 1) or bounds.implies(demand.condition) for demand in demands):
        return True
    return bounds.implies(statement.condition)
