"""Vectors of sizes that successive axes of a tensor have: one Shape gives them, from opset 15 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx import helper

from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import Expr

if TYPE_CHECKING:
    from onnx import NodeProto


_PARTS_SINCE = 15
_MOST_PLACES = 4
"""The most places that are remembered of a size."""


class Axes(NamedTuple):
    """Successive axes of a tensor."""

    tensor: str
    start: int
    end: int


class ShapeReads:
    """The tensors of one graph that exist so far, by their sizes.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> reads = ShapeReads(opset=17)
    >>> reads.add("x", SymTensor(1, (N, S, 3, 8)))
    >>> reads.find((S, 3)), reads.find((N,)), reads.find((3, 8)), reads.find((S, N))
    (Axes(tensor='x', start=1, end=3), Axes(tensor='x', start=0, end=1), None, None)
    """

    def __init__(self, opset: int) -> None:
        self._is_used = opset >= _PARTS_SINCE
        self._places: dict[Dim, list[tuple[str, int, tuple[Dim, ...]]]] = {}

    def add(self, name: str, value: Value | None) -> None:
        """A tensor that exists from now on."""
        if self._is_used and isinstance(value, SymTensor) and value.shape is not None:
            for axis, size in enumerate(value.shape):
                places = self._places.setdefault(size, []) if isinstance(size, Expr) else []
                if len(places) < _MOST_PLACES:
                    places.append((name, axis, value.shape))

    def find(self, elements: tuple[Dim, ...]) -> Axes | None:
        """The axes of a tensor with these sizes, the first of which is no number."""
        for name, axis, shape in self._places.get(elements[0], ()) if elements else ():
            if shape[axis : axis + len(elements)] == elements:
                return Axes(name, axis, axis + len(elements))
        return None


def read_axes(node: NodeProto, axes: Axes) -> None:
    """Change a node into a Shape that reads these axes."""
    node.op_type = "Shape"
    del node.input[:], node.attribute[:]
    node.input.append(axes.tensor)
    node.attribute.extend([helper.make_attribute("start", axes.start), helper.make_attribute("end", axes.end)])
