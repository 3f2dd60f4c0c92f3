"""Which statements of a walk rest on assumptions, and which ones hold in every run that a runtime accepts.

A runtime may run a node against an assumed statement, with other sizes than inferred. So what later nodes demand of
these sizes is not certain, and it must not teach the next walk anything about symbols.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.engine.implied_bounds import implied_bounds
from symdim import Var
from symdim.algebra.dims import at_least

if TYPE_CHECKING:
    from collections.abc import Collection

    from onnx_infer.engine.walk import Walk
    from onnx_infer.laws.statements import Statement
    from onnx_infer.model.graph import Node
    from onnx_infer.values.tensor import Dim, Shape


def resting(walk: Walk, assumed: Collection[int]) -> set[int]:
    """The statements whose nodes read, directly or not, a result of a node with one of the `assumed` statements.

    Statements are identified by their index in `walk.statements`. Names inside of functions and subgraphs belong to
    another graph. So in models with function calls, and for nodes in a subgraph or with one, every statement after an
    assumption counts.
    """
    if not assumed:
        return set()
    others = [i for i in range(len(walk.statements)) if i not in assumed]
    first = min(assumed)
    if walk.seen.calls:
        return {i for i in others if i > first}
    nodes = [node for _, node in walk.stated()]
    sources = {name for i in assumed for name in nodes[i][3]}
    reached: set[str] = set()
    main: set[str] = set()
    for _, _, inputs, outputs, attributes, _ in walk.model.graph.nodes():
        main.update(outputs)
        if not reached.isdisjoint(inputs) or not sources.isdisjoint(outputs) or (reached and attributes.has_graphs):
            reached.update(outputs)
    found = {i for i in others if not reached.isdisjoint(nodes[i][2]) or (reached and nodes[i][4].has_graphs)}
    return found | {i for i in others if i > first and main.isdisjoint(nodes[i][3])}


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
