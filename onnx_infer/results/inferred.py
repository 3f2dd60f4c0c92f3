"""The result of a walk as data: the part of an `InferenceResult` from which plans and reports are made."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from onnx_infer.values.tensor import Shape, SymTensor, Value
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.diagnostics import Diagnostic
    from onnx_infer.engine.engine import Engine
    from onnx_infer.model.graph import Node
    from onnx_infer.model.size_texts import Size
    from onnx_infer.results.guards import Guard
    from onnx_infer.results.sources import Sources
    from symdim import Expr


class Inferred:
    """The types that one inference found.

    `types`: value name -> its type, main graph only. `diagnostics`: errors and warnings about malformed, contradictory
    or unsupported parts. `notes`: value name -> why something in it is unknown. `found_inputs`: the shapes of inputs
    that say more than the model; this includes new names of axes without a name.
    """

    def __init__(self, engine: Engine, found_inputs: Mapping[str, tuple[Size, ...]]) -> None:
        self._walked = engine
        self.found_inputs = dict(found_inputs)
        self.diagnostics: list[Diagnostic] = engine.diagnostics
        self.notes: dict[str, str] = engine.notes

    @cached_property
    def _engine(self) -> Engine:
        """The engine after its walk, with sizes that only this result has. Writing a model does not need these."""
        self._walked.take_own_sizes()
        return self._walked

    @cached_property
    def types(self) -> Mapping[str, Value]:
        """Every value of the main graph that a node reads or gives, by name."""
        scope = self._engine.scope
        scope.touch(self._engine.model.graph.literals)
        return scope

    @property
    def inputs(self) -> list[str]:
        """The inputs of the main graph, without initializers."""
        return [name for name, _ in self._engine.model.graph.inputs]

    @property
    def outputs(self) -> list[str]:
        """The outputs of the main graph."""
        return list(self._engine.model.graph.outputs)

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the tensors of known rank."""
        return {n: v.shape for n, v in self.types.items() if isinstance(v, SymTensor) and v.shape is not None}

    @property
    def values(self) -> dict[str, tuple[object, ...]]:
        """The elements of the tensors whose data are known, in row-major order."""
        return {n: v.data for n, v in self.types.items() if isinstance(v, SymTensor) and v.data is not None}

    @property
    def symbols(self) -> dict[str, Expr]:
        """The symbols that occur in the shapes, by name."""
        found = variables_of(d for shape in self.shapes.values() for d in shape)
        return {v.name: v for v in found}

    @cached_property
    def sources(self) -> Sources:
        """Where the symbols of the input sizes can be read: the axes of the inputs."""
        from onnx_infer.results.sources import Sources  # few callers ask for guards

        return Sources({name: self.types[name] for name in self.inputs})

    @cached_property
    def _guards(self) -> tuple[list[Guard], list[Guard]]:
        from onnx_infer.results.derived_guards import guards_of
        from onnx_infer.results.sources import element_of

        inputs = frozenset(self.inputs)
        parted: tuple[list[Guard], list[Guard]] = ([], [])
        for guard in guards_of(self._engine):
            known = all(v in self.sources.symbols or element_of(v, inputs) for v in guard.variables())
            parted[not known].append(guard)
        return parted

    @property
    def guards(self) -> list[Guard]:
        """Conditions on the sizes and elements of inputs, each with its nodes, in order.

        The kind "required" is needed for the model to run, the kind "assumed" for it to have the inferred sizes.
        """
        return self._guards[0]

    @property
    def data_guards(self) -> list[Guard]:
        """Conditions on sizes that only the data decide."""
        return self._guards[1]


def schedule(result: Inferred) -> list[Node]:
    """The nodes of the main graph in the model's order. They are sorted only if one reads a value before it is made.

    Nodes that are constants are left out: their values count as initializers.
    """
    engine = result._engine
    graph = engine.model.graph
    nodes = list(graph.nodes())
    made = {name for node in nodes for name in node[3]}
    seen: set[str] = set()
    for node in nodes:
        if any(name in made and name not in seen for name in reads_of(result, node) if name):
            from onnx_infer.engine.topological_sort import sort_nodes  # few models need it

            return list(sort_nodes(graph, engine.scope, lambda _: None, engine.view))
        seen.update(node[3])
    return nodes


def reads_of(result: Inferred, node: Node) -> Sequence[str]:
    """The names that a node reads, and those that the graphs in it read from around them."""
    if not node[4].has_graphs:
        return node[2]
    from onnx_infer.engine.topological_sort import captured

    return [*node[2], *captured(result._engine.view, node)]
