"""One number for all values of two models that compute the same.

A value has the number of an earlier one if the same operator with the same attributes reads the same numbers. So equal
numbers mean equal results in every run. Of random nodes, and of those of which it is not known, the first of one model
goes with the first of the other one, and so on. The time is linear.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_infer.tools.comparison.graphs import GraphValue, ValueGraph, parts_first

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.tools.comparison.graphs import GraphNode

Numbers = dict["GraphValue | GraphNode | ValueGraph", int]
"""The number of each value, node and graph of one model."""


class Numbering:
    """The numbers of two models. Without `data` constants of one type and shape are alike, whatever they hold."""

    def __init__(self, *, data: bool) -> None:
        self._data = data
        self._known: dict[object, int] = {}

    def of(self, graph: ValueGraph, inputs: Mapping[GraphValue, int]) -> Numbers:
        """The numbers of a model or function. `inputs`: what the inputs of the two models have in common."""
        found: Numbers = {value: self._number("input", place) for value, place in inputs.items()}
        repeated: Counter[int] = Counter()
        for part in parts_first(graph):
            if isinstance(part, ValueGraph):
                found[part] = self._number(
                    "graph",
                    len(part.inputs),
                    tuple(self._of(value, found) for value in part.outputs),
                    tuple(sorted(found[node] for node in part.nodes)),
                )
                continue
            number = self._number(
                part.operator,
                tuple(sorted((name, attribute.key) for name, attribute in part.attributes.items())),
                tuple(sorted((name, found[body]) for name, body in part.bodies.items())),
                tuple(None if value is None else self._of(value, found) for value in part.reads),
                tuple(value is not None for value in part.values),
            )
            if part.is_random or part.bodies:
                repeated[number] += 1
                number = self._number("again", number, repeated[number])
            found[part] = number
            for i, value in enumerate(part.values):
                if value is not None:
                    found[value] = self._number("output", number, i)
        return found

    def _of(self, value: GraphValue, found: Numbers) -> int:
        number = found.get(value)
        if number is None:
            number = found[value] = self._number(*self._key(value))
        return number

    def _key(self, value: GraphValue) -> tuple[object, ...]:
        if value.graph is not None:
            default = None if value.constant is None else value.constant.key
            return "input of a body", value.graph.depth, value.place, default
        if value.constant is not None:
            constant = value.constant
            return "constant", constant.key if self._data else (constant.kind, constant.dims)
        return ("in a cycle", id(value)) if value.node is not None else ("given by nothing", value.name)

    def _number(self, *key: object) -> int:
        return self._known.setdefault(key, len(self._known))
