"""The graphs of a model, functions and bodies too, each with the names that are given in it and around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.protobuf.nodes import placed
from onnx_infer.values.text import text, texts
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import ModelProto, NodeProto


class Scope(NamedTuple):
    """A graph, its place, the values in it with the number of the node that gives each, and what is around it.

    `limit` is the number of the node around: only values before it are visible. The `root` is the model, or the
    function: its opsets are those of the nodes.
    """

    graph: Any
    place: str
    given: dict[str, int]
    around: Scope | None
    limit: int
    root: Any

    def sees(self, name: str) -> bool:
        """Whether a name is visible from around the graph."""
        scope = self
        while scope.around is not None:
            if scope.around.given.get(name, scope.limit) < scope.limit:
                return True
            scope = scope.around
        return False

    def read(self) -> Iterator[str]:
        """The names that the graph returns and its nodes read."""
        yield from texts(self.graph.output) if self.is_function else (text(info.name) for info in self.graph.output)
        yield from (name for node in self.graph.node for name in texts(node.input))

    @property
    def is_function(self) -> bool:
        """Whether it is a function itself, which names its inputs and outputs only."""
        return self.graph is self.root


def function_place(function: Any) -> str:
    """The place of what is found in a function."""
    return f"function {text(function.domain)}::{text(function.name)}"


def node_label(node: NodeProto) -> str:
    """A node by its operator and name, or its first output."""
    return f"{text(node.op_type)} '{text(node.name) or next(filter(None, texts(node.output)), '')}'"


def scopes(model: ModelProto) -> Iterator[Scope]:
    """All graphs, outer ones first."""
    functions = [_scope(f, function_place(f), None, 0, f) for f in reversed(model.functions)]
    pending = [*functions, _scope(model.graph, "graph", None, 0, model)]
    while pending:
        scope = pending.pop()
        yield scope
        inner = []
        for number, node in enumerate(scope.graph.node):
            if node.attribute:
                outer = "" if scope.place == "graph" else f"{scope.place}, "
                for i, _, graph in placed(node):
                    place = f"{outer}{node_label(node)} {text(node.attribute[i].name)}"
                    inner.append(_scope(graph, place, scope, number, scope.root))
        pending += reversed(inner)


def _scope(graph: Any, place: str, around: Scope | None, limit: int, root: Any) -> Scope:
    given: dict[str, int] = {}
    for number, node in enumerate(graph.node):
        for name in filter(None, texts(node.output)):
            given.setdefault(name, number)
    given.update(dict.fromkeys(entering(graph, graph is root), -1))
    return Scope(graph, place, given, around, limit, root)


def entering(graph: Any, is_function: bool) -> list[str]:
    """The names of the inputs and initializers of a graph, or of the inputs of a function."""
    if is_function:
        return texts(graph.input)
    return [*(text(info.name) for info in graph.input), *initializers(graph)]


def initializers(graph: Any) -> list[str]:
    """The names of the initializers of a graph, those of sparse ones last."""
    return [text(x.name) for x in (*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer))]
