"""Which statements of a walk rest on assumptions, and which ones hold in every run that a runtime accepts.

A runtime may run a node against an assumed statement, with other sizes than inferred. So what later nodes demand of
these sizes is not certain. It must not teach the next walk anything about symbols, and it does not show that a branch
never runs.

A value depends on an assumption if its node makes it, or reads a value that depends on one. Names inside of functions
belong to another graph, and for values inside of subgraphs only the outermost node is compared. So there more values
count than those that depend on an assumption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.engine.implied_bounds import implied_bounds
from onnx_infer.engine.topological_sort import captured
from symdim import Var
from symdim.algebra.dims import at_least

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Set

    from onnx_infer.engine.walk import Walk
    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.graph import Graph, Node
    from onnx_infer.values.tensor import Dim, Shape


def resting(walk: Walk, assumed: Collection[int]) -> set[int]:
    """The statements whose nodes read a value that depends on one of the `assumed` statements.

    Statements are identified by their index in `walk.statements`. In models with function calls, and in subgraphs,
    every statement after an assumption counts.
    """
    if not assumed:
        return set()
    others = [i for i in range(len(walk.statements)) if i not in assumed]
    first = min(assumed)
    if walk.seen.calls:
        return {i for i in others if i > first}
    nodes = [node for _, node in walk.stated()]
    main = {name for node in walk.model.graph.nodes() for name in node[3]}
    values = _dependent(walk, [walk.model.graph], [nodes[i] for i in assumed])
    later = {i for i in others if i > first and main.isdisjoint(nodes[i][3])}
    return later.union(i for i in others if reads(walk, nodes[i], values))


def dependent_values(walk: Walk, graphs: Iterable[Graph]) -> Set[str] | None:
    """The values of graphs, each inside the one before, that depend on assumptions so far. None if they may all do."""
    nodes = [node for statement, node in walk.stated() if statement.kind == "assumed" and not _holds(statement)]
    if nodes and walk.model.functions:
        return None
    return _dependent(walk, graphs, nodes) if nodes else frozenset()


def reads(walk: Walk, node: Node, values: Set[str]) -> bool:
    """Whether a node, or a graph inside it, reads one of these values."""
    return not values.isdisjoint(node[2]) or (node[4].has_graphs and not values.isdisjoint(captured(walk.view, node)))


def _dependent(walk: Walk, graphs: Iterable[Graph], nodes: Iterable[Node]) -> set[str]:
    """The values of graphs, each inside the one before, that depend on these nodes, which may be in other graphs."""
    found = {name for node in nodes for name in node[3]}
    for graph in graphs:
        given = {name for node in graph.nodes() for name in node[3]}
        inside = not found <= given  # some node is in a graph around this one, or in one inside
        found.update(name for name, _ in graph.inputs if inside and graph is not walk.model.graph)
        size = -1
        while size < len(found):  # nodes may be out of order
            size = len(found)
            for node in graph.nodes():
                if reads(walk, node, found) or (inside and node[4].has_graphs):
                    found.update(node[3])
    return found


def certain(walk: Walk) -> list[tuple[Statement, Node]]:
    """The statements of a walk that every run fulfils, with their nodes.

    An assumed statement is one of them if those before imply it, or if no tensor that it is about can be empty.
    """
    stated = walk.stated()
    assumed = {i for i, (statement, _) in enumerate(stated) if statement.kind == "assumed"}
    while True:
        uncertain = assumed | resting(walk, assumed)
        found = [
            (statement._replace(kind="required"), node)
            for i, (statement, node) in enumerate(stated)
            if i not in uncertain and statement.kind != "declared"
        ]
        ends = implied_bounds(statement for statement, _ in found)
        narrow: dict[Var, Dim] = {v: low if low == hi else Var.fresh(v.name, low, hi) for v, (low, hi) in ends.items()}
        left = {i for i in assumed if not _holds(stated[i][0].substitute(narrow))}
        if left == assumed:
            return found
        assumed = left


def _holds(statement: Statement) -> bool:
    """Whether bounds prove an assumed statement, or that a run demands it."""
    from symdim.conditions.condition import Condition  # few models need it
    from symdim.conditions.solving import solve

    return all_filled(statement.filled) or solve(Condition(*statement[:3])) == []  # type: ignore[arg-type]


def all_filled(sizes: Shape) -> bool:
    """Whether there are sizes, and bounds prove that none of them is 0."""
    return bool(sizes) and all(at_least(size, 1) for size in sizes)
