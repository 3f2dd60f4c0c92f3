"""From a size that must be free, back to the constant that pins it.

A value has the traced size at an axis, and a node demands a free size there. The axis is followed through the nodes
that keep it, back to a constant size (the target of an Expand, the end of a Slice, ...), to a constant tensor, or to an
input. A constant tensor with a clear pattern can be continued: equal slices, 0, 1, 2, ..., equal steps, a causal mask
(`meant_targets.py`). Any other tensor pins the size, because only the author knows its further elements.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from onnx import TensorProto

from onnx_infer.model.graph import Node, first_output, label_of, title_of
from onnx_infer.tools.materialization import array_of
from onnx_infer.tools.transforms.dynamic.meant_targets import Kind, Merged, blocks, meant_target, pattern
from onnx_infer.tools.transforms.dynamic.trials import deciding, dims_of, elements_of, trial_of
from onnx_infer.values.tensor import Dim, Shape, SymTensor
from onnx_infer.values.text import text
from symdim import Expr, Var

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from onnx_infer.result import InferenceResult

    Way = list[tuple["Place", str, int, Dim]]

Wanted: TypeAlias = "dict[tuple[str, int], dict[Dim, None]]"
"""An input and an axis of it -> the sizes that nodes want there, in order."""


class Place(NamedTuple):
    """An operand of a node of the main graph; the node is known by its first output that has a name."""

    output: str
    operand: int

    @staticmethod
    def of(node: Node, operand: int) -> Place:
        """The place of the operand with this number."""
        return Place(first_output(node), operand)


class Change(NamedTuple):
    """A change that frees a size. At the traced sizes the model stays as it is.

    | kind   | the operand                                                                                         |
    |--------|-----------------------------------------------------------------------------------------------------|
    | size   | has the size `new` in place of the number `old` at the index `at`                                   |
    | repeat | is a constant whose slices along the axis `at` are equal; it gets `new` of them in place of `old`   |
    | count  | is a constant with 0, 1, 2, ... in row-major order; it gets the size `new` at the axis `at`         |
    | step   | is a constant whose slices along the axis `at` grow by `step`; it gets `new` of them                |
    | mask   | is a causal mask; it gets the size `new` at the axis `at`                                           |
    """

    operator: str
    node: str
    place: Place
    operand: str
    kind: Kind
    at: int
    old: int
    new: Dim
    step: int = 0

    def __str__(self) -> str:
        what = {
            "size": f"{self.old} at index {self.at} becomes {self.new}",
            "repeat": f"its {self.old} equal slices along axis {self.at} become {self.new}",
            "count": f"0, 1, 2, ... goes on along axis {self.at}: {self.old} becomes {self.new}",
            "mask": f"the causal mask goes on along axis {self.at}: {self.old} becomes {self.new}",
            "step": f"the steps of {self.step} go on along axis {self.at}: {self.old} becomes {self.new}",
        }[self.kind]
        return f"{self.operator} '{self.node}': operand '{self.operand}': {what}"


class Pin(NamedTuple):
    """A place that pins a free size and has no certain change: the node, the reason, and what a person can do."""

    operator: str
    node: str
    why: str
    cure: str

    def __str__(self) -> str:
        head = f"{self.operator} '{self.node}': " if self.node else ""
        return f"{head}{self.why}; {self.cure}"


class Tracer:
    """Follows pinned sizes back over the traced model. `static` is its result, `traced` the sizes that are free now.

    The walk sets `values`, the traced sizes by symbol, and `merged`, the merged sizes. `wanted` are the sizes that
    nodes want at axes of inputs; `making.py` says what a person can do about them.
    """

    def __init__(self, static: InferenceResult, traced: Iterable[int]) -> None:
        self.static = static
        self.traced = {size for size in traced if size != 1}
        self.values: dict[str | Var, int] = {}
        self.merged: Merged = {}
        self.wanted: Wanted = {}
        self.producer = static._index.producer
        self.constants = static._record.model.graph.constants
        self._arrays: dict[str, NDArray[np.generic] | None] = {}

    def trace(self, place: Place, name: str, axis: int, wanted: Dim) -> tuple[list[Change], list[Pin]]:
        """The changes and pins that decide the size of a value at an axis, where `wanted` should be."""
        changes: list[Change] = []
        pins: list[Pin] = []
        pending: Way = [(place, name, axis, wanted)]
        seen = set()
        while pending:
            step = pending.pop()
            place, name, axis, wanted = step
            if (name, axis) in seen:
                continue
            seen.add((name, axis))
            node = self.producer(name)
            decided: Change | Pin | Way
            if node is not None:
                decided = self._through(node, name, axis, wanted) or Pin(
                    title_of(node), label_of(node), f"gives {self.size(name, axis)} at axis {axis} of '{name}'",
                    f"it should be {wanted}",
                )  # fmt: skip
            elif name in self.constants:
                decided = self._constant(*step)
            else:
                self.wanted.setdefault((name, axis), {})[wanted] = None
                continue
            if isinstance(decided, Change):
                changes.append(decided)
            elif isinstance(decided, Pin):
                pins.append(decided)
            else:
                pending += decided
        return changes, pins

    def shape(self, name: str) -> Shape:
        """The traced shape of a value; empty if it is not known."""
        return dims_of(self.static.types.get(name))

    def size(self, name: str, axis: int) -> Dim | None:
        """The traced size of a value at an axis."""
        shape = self.shape(name)
        return shape[axis] if axis < len(shape) else None

    def elements(self, name: str) -> tuple[int, ...] | None:
        """The traced elements of a small integer tensor, or None."""
        data = elements_of(self.static._record.scope, name) if name else None
        return data if data is not None and all(type(x) is int for x in data) else None

    def _constant(self, place: Place, name: str, axis: int, wanted: Dim) -> Change | Pin:
        node = self.producer(place.output)
        assert node is not None
        old = self.size(name, axis)
        array = self.array(name)
        head = title_of(node), label_of(node)
        if isinstance(old, int):
            step: tuple[Kind, int] | None = ("repeat", 0) if old == 1 else None
            if array is not None and old == array.shape[axis]:
                step = pattern(array, axis, self.traced)
            if step is not None:
                return Change(*head, place, name, step[0], axis, old, wanted, step[1])
        shape = ", ".join(map(str, self.shape(name)))
        return Pin(*head, f"constant '{name}' of shape [{shape}] has {old} at axis {axis}",
                   f"it should have {wanted} there, and only the author knows which: export it for other sizes,"
                   f" or slice or resize it")  # fmt: skip

    def array(self, name: str) -> NDArray[np.generic] | None:
        """A constant with its elements, if they are in the model."""
        if name not in self._arrays:
            handle = self.constants[name]
            tensor = self._literals[name] if isinstance(handle, SymTensor) else getattr(handle, "t", handle)
            self._arrays[name] = array_of(tensor) if isinstance(tensor, TensorProto) else None
        return self._arrays[name]

    @cached_property
    def _literals(self) -> dict[str, TensorProto]:
        """The tensors of Constant nodes. The handle of one that was met before is not its message."""
        nodes = self.static._record.model.graph.handle.node
        return {
            text(n.output[0]): n.attribute[0].t for n in nodes if n.op_type == "Constant" and n.output and n.attribute
        }

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _through(self, node: Node, name: str, axis: int, wanted: Dim) -> Change | Way | None:
        """A constant size, or axes of operands, that decide the size of a result at an axis; None if not known."""
        op_type, domain, inputs, *_ = node
        if domain in ("", "ai.onnx") and axis < len(self.shape(node[3][0])):
            traits = self.static._record.scope.operators.traits(op_type, domain)
            if traits.in_place == "elements":
                return self._aligned(node, axis, wanted, range(len(inputs)))
            rule, least = (Tracer._squeezed, 1) if traits.view == "whole" else _RULES.get(op_type, (None, 0))
            if rule is not None and len(inputs) >= least:
                return rule(self, node, axis, wanted)
        index = node[3].index(name)
        trial = trial_of(node, self.static._record.scope)
        for number, effect in trial.sizes_read() if trial is not None else ():
            if effect[:2] == (index, axis) and number.operand is not None:
                return self.change(node, number.operand, number.at, number.value, wanted)
        places = deciding(node, self.static._record.scope, index, axis, wanted)
        return [step for operand, own in places for step in self._on(node, operand, own, wanted)] or None

    def _on(self, node: Node, operand: int, axis: int, wanted: Dim) -> Way:
        return [(Place.of(node, operand), node[2][operand], axis, wanted)]

    def _aligned(self, node: Node, axis: int, wanted: Dim, operands: range) -> Way | None:
        """The operands that have the size of the result at an axis, counted from the end."""
        rank, size = len(self.shape(node[3][0])), self.size(node[3][0], axis)
        ways = []
        for i in operands:
            own = axis - rank + len(self.shape(node[2][i]))
            if own >= 0 and self.size(node[2][i], own) == size:
                ways += self._on(node, i, own, wanted)
        return ways or None

    def change(self, node: Node, operand: int, at: int, old: int, new: Dim) -> Change:
        """The change of a constant size."""
        name = node[2][operand]
        return Change(title_of(node), label_of(node), Place.of(node, operand), name, "size", at, old, new)

    def _sized(self, node: Node, operand: int, at: int, axis: int, wanted: Dim) -> Change | None:
        """The change of an element that is the size of the result at an axis."""
        elements = self.elements(node[2][operand])
        size = self.size(node[3][0], axis)
        if elements is None or not 0 <= at < len(elements) or elements[at] != size:
            return None
        return self.change(node, operand, at, elements[at], wanted)

    def _expand(self, node: Node, axis: int, wanted: Dim) -> Change | Way | None:
        target = self.elements(node[2][1])
        if target is None:
            return None
        at = axis - len(self.shape(node[3][0])) + len(target)
        return self._sized(node, 1, at, axis, wanted) or self._aligned(node, axis, wanted, range(1))

    def _slice(self, node: Node, axis: int, wanted: Dim) -> Change | Way | None:
        starts, ends, axes, steps = [self.elements(name) for name in (*node[2][1:], "", "", "", "")][:4]
        rank = len(self.shape(node[2][0]))
        if starts is None or ends is None or (len(node[2]) > 3 and node[2][3] and axes is None):
            return None
        chosen = [a % max(rank, 1) for a in (axes or range(len(starts)))]
        if axis not in chosen:
            return self._on(node, 0, axis, wanted)
        at = chosen.index(axis)
        if any(len(x) != len(chosen) for x in (starts, ends, steps or starts)):
            return None
        if starts[at] != 0 or (steps is not None and steps[at] != 1):
            return None
        return self._sized(node, 2, at, axis, wanted)

    def _squeezed(self, node: Node, axis: int, wanted: Dim) -> Way | None:
        """Squeeze, Unsqueeze, Flatten, Reshape: an axis that alone has the elements of an axis of the operand."""
        before, after = ([d for d in self.shape(name) if isinstance(d, int)] for name in (node[2][0], node[3][0]))
        is_whole = len(before) == len(self.shape(node[2][0])) and len(after) == len(self.shape(node[3][0]))
        if not is_whole or 0 in before + after:
            return None
        parts = blocks(before, after)
        first, last, start, end = next(part for part in parts if part[2] <= axis < part[3])  # they cover all axes
        if end - start == 1:
            sizes: Sequence[Dim] = meant_target([wanted], before[first:last], self.values, self.merged) or ()
        else:
            axes = [i for i in range(first, last) if before[i] % after[axis] == 0]
            sizes = [before[i] // after[axis] * wanted if [i] == axes else 1 for i in range(first, last)]
        ways = [self._on(node, 0, i, size) for i, size in enumerate(sizes, first) if isinstance(size, Expr)]
        return [step for way in ways for step in way] or None


_RULES: Mapping[str, tuple[Callable[[Tracer, Node, int, Dim], Change | Way | None], int]] = {
    "Expand": (Tracer._expand, 2), "Slice": (Tracer._slice, 3),
}  # fmt: skip
"""Operators whose result has a size by several operands, with the least number of inputs. Of others the rule is asked
(`trials.py`)."""
