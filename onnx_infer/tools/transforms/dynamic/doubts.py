"""Numbers beside free sizes that the trace may have decided. Nothing contradicts them at other sizes.

A Pad that made an axis of 13 a multiple of 4 has the width 3, and a Slice that took all but the last 5 places of 80 has
the end 75. Such a number may as well be meant, so it is no pin. A person must look at it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.graph import Node, label_of, title_of
from onnx_infer.tools.transforms.dynamic.pinned import Tracer
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from onnx_infer.result import InferenceResult
    from onnx_infer.values.tensor import Shape

_FARTHEST = 2**31 - 1
"""A number from here on stands for the end of every axis."""


class Doubt(NamedTuple):
    """A number of a node at an axis of free size, which the trace may have decided."""

    operator: str
    node: str
    what: str

    def __str__(self) -> str:
        return f"{self.operator} '{self.node}': {self.what}"


def doubts(result: InferenceResult, symbols: Collection[str]) -> Iterator[Doubt]:
    """The numbers in Slice, Pad and Gather nodes of the main graph that meet an axis of a size with these symbols."""
    tracer = Tracer(result, ())
    for node in result._engine.model.graph.nodes():
        find = _FOUND.get(node[0]) if node[1] in ("", "ai.onnx") else None
        shape = tracer.shape(node[2][0]) if find is not None and node[2] else ()
        free = [isinstance(d, Expr) and any(v.name in symbols for v in d.variables()) for d in shape]
        if find is not None and any(free):
            for axis, what in find(tracer, node, shape):
                if 0 <= axis < len(shape) and free[axis]:
                    yield Doubt(title_of(node), label_of(node), f"{what} on axis {axis} of size {shape[axis]}")


def _numbers(tracer: Tracer, node: Node, index: int, attribute: str) -> Sequence[int] | None:
    """The elements of an operand, or of the attribute that it was in earlier versions; None if they are not known."""
    if attribute in node[4].values:
        found: Sequence[int] = node[4].values[attribute]
        return found
    return tracer.elements(node[2][index]) if index < len(node[2]) and node[2][index] else ()


def _slice(tracer: Tracer, node: Node, shape: Shape) -> Iterator[tuple[int, str]]:
    axes = _numbers(tracer, node, 3, "axes")
    for index, attribute in ((1, "starts"), (2, "ends")):
        bounds = _numbers(tracer, node, index, attribute)
        if bounds is None or axes is None:
            continue
        chosen = [axis % len(shape) for axis in axes] if axes else range(len(bounds))
        for axis, bound in zip(chosen, bounds, strict=False):
            if 0 < bound < _FARTHEST:
                yield axis, f"{attribute[:-1]} {bound}"


def _pad(tracer: Tracer, node: Node, shape: Shape) -> Iterator[tuple[int, str]]:
    pads = _numbers(tracer, node, 1, "pads") or ()
    axes = tracer.elements(node[2][3]) if len(node[2]) > 3 and node[2][3] else range(len(pads) // 2)
    for i, pad in enumerate(pads if axes else ()):
        if axes and pad:
            yield axes[i % len(axes)] % len(shape), f"padding of {pad}"


def _gather(tracer: Tracer, node: Node, shape: Shape) -> Iterator[tuple[int, str]]:
    axis = node[4].values.get("axis", 0) % len(shape)
    for index in tracer.elements(node[2][1]) or ():
        if index > 0:
            yield axis, f"index {index}"


_FOUND: dict[str, Callable[[Tracer, Node, Shape], Iterator[tuple[int, str]]]] = {
    "Slice": _slice, "Pad": _pad, "Gather": _gather,
}  # fmt: skip
