"""The part of an engine that a pickled result keeps: the results as data, and only the wiring of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.errors import OnnxInferError
from onnx_infer.results.data_laws import data_laws
from onnx_infer.results.inferred import Inferred, nameable, schedule
from onnx_infer.results.reasons import reasons
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_infer.model.graph import Graph, Node
    from onnx_infer.values.tensor import Value


class Part:
    """A part of a model with some attributes. Access to another attribute raises an error that names the cure."""

    def __init__(self, **kept: Any) -> None:
        vars(self).update(kept)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise OnnxInferError("this result was read from a pickle, which holds no model: infer the model anew for this")


class Types(dict[str, "Value"]):
    """The types of the main graph, in the form of a scope."""

    def touch(self, names: Iterable[str]) -> None:
        """Nothing to do: all values exist already."""


class Wiring(Part):
    """The main graph with its inputs, outputs and nodes, but without attributes.

    The nodes are in the order of the schedule, because sorting them would need their subgraphs.
    """

    def __init__(self, graph: Graph, schedule: list[Node]) -> None:
        nodes = [(*node[:4], Part(has_graphs=False), Part(name=text(node[5].name or ""))) for node in schedule]
        super().__init__(inputs=graph.inputs, outputs=list(graph.outputs), literals=list(graph.literals), kept=nodes)

    def nodes(self) -> Iterable[Node]:
        """The nodes. Access to their attributes raises an error."""
        nodes: list[Node] = self.kept
        return nodes


def saved(result: Inferred) -> Part:
    """The replacement for the engine in a result that was read from a pickle."""
    nodes = schedule(result)
    return Part(
        scope=Types(result.types),
        diagnostics=result.diagnostics,
        notes=result.notes,
        reasons=reasons(result, nodes),
        data_laws=data_laws(result, nodes),
        nameable=nameable(result),
        model=Part(graph=Wiring(result._engine.model.graph, nodes)),
    )
