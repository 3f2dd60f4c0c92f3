"""Statements that rest on assumed sizes: those of nodes after a node with an assumption."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from onnx_infer.engine.engine import Engine


def resting(engine: Engine, assumed: Collection[int]) -> set[int]:
    """The statements whose nodes read, directly or not, a result of a node with one of the `assumed` statements.

    Statements are identified by their index in `engine.statements`. Names inside of functions belong to another graph.
    So in models with function calls, and for reads of a subgraph, every statement after an assumption counts.
    """
    if not assumed:
        return set()
    if engine.seen.calls:
        return set(range(min(assumed) + 1, len(engine.statements))) - set(assumed)
    sources = {name for i in assumed for name in engine.statement_nodes[i][3]}
    reached: set[str] = set()
    for _, _, inputs, outputs, attributes, _ in engine.model.graph.nodes():
        if not reached.isdisjoint(inputs) or not sources.isdisjoint(outputs) or (reached and attributes.has_graphs):
            reached.update(outputs)
    return {
        i
        for i, (_, _, inputs, _, attributes, _) in enumerate(engine.statement_nodes)
        if i not in assumed and (not reached.isdisjoint(inputs) or (reached and attributes.has_graphs))
    }
