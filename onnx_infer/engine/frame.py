"""A graph being walked, on the engine's own stack. So calls of functions nest without recursion."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_infer.engine.run_time_elements import RunTimeValues
from onnx_infer.model.graph import Graph, Node, label_of
from onnx_infer.types.join import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.engine.functions import Call
    from onnx_infer.engine.scope import Scope, UndefinedInput
    from onnx_infer.engine.walk import Checkpoint, Walk


class Frame:
    """A graph being walked: the main graph, a subgraph, or the body of a function that is called.

    `given` are the names of the outputs so far.
    """

    __slots__ = ("call", "checkpoint", "given", "graph", "nodes", "scope", "sorted")

    def __init__(self, graph: Graph, scope: Scope, checkpoint: Checkpoint, call: Call | None = None) -> None:
        self.graph, self.scope, self.checkpoint, self.call = graph, scope, checkpoint, call
        self.sorted = False
        self.given: list[str] = []
        self.nodes: Iterator[Node] = iter(graph.nodes())

    def sort(self, engine: Walk, undefined: UndefinedInput) -> None:
        """Start again with sorted nodes. A name that an outer graph should give is left to that graph."""
        graph, scope, name = self.graph, self.scope, undefined.args[0]
        if scope.parent is not None and not any(name in node[3] for node in graph.nodes()):
            raise undefined
        engine.rewind(self.checkpoint)
        if scope is engine.scope:
            engine.run_time = RunTimeValues(engine.symbols)
        if self.sorted:
            engine.complain(f"value '{name}' is read before it is given")
            scope[name] = NOTHING
        self.sorted = True
        self.given.clear()
        for name in graph.literals:
            scope.pop(name, None)
        from onnx_infer.engine.topological_sort import sort_nodes  # few models need it

        self.nodes = sort_nodes(graph, scope, engine.complain, engine.view)

    def close(self, engine: Walk) -> None:
        """End the walk: report names that several nodes gave, and drop the outputs that nodes leave out."""
        left_out = self.given.count("")
        if len(set(self.given)) - (left_out > 0) < len(self.given) - left_out:
            givers: dict[str, list[str]] = {name: [] for name, n in Counter(self.given).items() if name and n > 1}
            for node in self.graph.nodes():
                for name in node[3]:
                    if name in givers:
                        givers[name].append(label_of(node))
            for name, labels in givers.items():
                first = ", ".join(labels[:5])
                engine.complain(f"value '{name}' is given by {len(labels)} nodes, of which the last counts: {first}")
        self.scope.pop("", None)
