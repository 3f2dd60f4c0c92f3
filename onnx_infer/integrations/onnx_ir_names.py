"""Names for the values of an `onnx_ir.Model`."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Any

import onnx_ir as ir

from onnx_infer.errors import ArgumentError
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

GRAPHS = frozenset((ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS))
"""The kinds of attributes that hold graphs."""

_LONGEST = 400
"""Characters of a reason: names may be long."""


class ValueNames(dict[Any, str]):
    """The name of every `ir.Value` in some graphs: its own, unless another value that is visible with it has the same.

    In onnx_ir a value is an object, and names need not be unique; the engine identifies values by name. An output that
    is left out has the name "". The values `around` are visible in all graphs, and have these names.
    """

    def __init__(self, graphs: Iterable[ir.Graph], around: Mapping[ir.Value, str] | None = None) -> None:
        super().__init__(around or {})
        self._numbers = count()
        outer: tuple[set[str], ...] = (set(self.values()),) if around else ()
        pending = [(graph, outer) for graph in graphs]
        while pending:
            graph, outer = pending.pop()
            visible = (self._enter(graph, outer), *outer)
            pending += [(g, visible) for node in graph for g in subgraphs(node)]
        self._all = set(self.values())

    def _enter(self, graph: ir.Graph, outer: tuple[set[str], ...]) -> set[str]:
        taken: set[str] = set()
        others: list[ir.Value] = []
        for value in chain(graph.inputs, graph.initializers.values(), given_values(graph)):
            name = value.name and text(value.name)
            if value in self:
                continue
            if name and name not in taken and not any(name in names for names in outer):
                taken.add(name)
                self[value] = name
            elif name == "" and not value.uses() and not value.is_graph_output():
                self[value] = ""
            else:
                others.append(value)
        for value in others:
            name = self._new(value, (taken, *outer))
            taken.add(name)
            self[value] = name
        return taken

    def _new(self, value: ir.Value, visible: tuple[set[str], ...]) -> str:
        while True:
            name = f"{text(value.name or 'value')}_{next(self._numbers)}"
            if not any(name in names for names in visible):
                return name

    def __missing__(self, value: ir.Value) -> str:
        """The name of a value that belongs to no graph of the model."""
        name = text(value.name or "")
        if not name or name in self._all:
            name = self._new(value, (self._all,))
        self._all.add(name)
        self[value] = name
        return name


def copied(model: ir.Model) -> ir.Model:
    """A copy of the model, with the same tensors. Raises `ArgumentError` if onnx_ir refuses to make one.

    It refuses if a node reads a value that no node and no graph around it gives. Its message holds the text of the
    whole model, with weights. If one of these is malformed, writing the message raises another error.
    """
    try:
        return model.clone()
    except Exception as error:
        cause: BaseException = error
        while not isinstance(cause, RuntimeError) and cause.__context__ is not None:
            cause = cause.__context__
        while cause.__cause__ is not None:
            cause = cause.__cause__
        reason = str(cause)[:_LONGEST]
        raise ArgumentError(f"onnx_ir cannot copy this model, but in_place=True works: {reason}") from None


def given_values(graph: ir.Graph) -> Iterator[ir.Value]:
    """The values that the nodes of a graph give."""
    return (value for node in graph for value in node.outputs)


def subgraphs(node: ir.Node) -> Iterator[ir.Graph]:
    """The graphs in the attributes of a node."""
    for attribute in node.attributes.data.values():
        if attribute.type in GRAPHS and not attribute.ref_attr_name:
            yield from (attribute.value,) if attribute.type == ir.AttributeType.GRAPH else attribute.value
