"""The walk over a freed model. Each node is inferred as it was meant, not as it was traced.

A traced Reshape, Expand or Slice has constants that equal traced sizes. If its operand has a free size now, the meant
size replaces the constant. If a node demands a free size and an operand has the traced one, the walk continues with the
free size. `Tracer` finds the constant that pins the operand, and the next walk replaces it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.engine.record import Record
from onnx_infer.engine.walk import walk
from onnx_infer.errors import OnnxInferError
from onnx_infer.laws.slices import slice_end
from onnx_infer.laws.statements import Trace
from onnx_infer.model.graph import Node, first_output, label_of, title_of
from onnx_infer.model.symbols import Symbols
from onnx_infer.ops.reshaping import reshaped
from onnx_infer.protobuf.reading import ModelProtoFrontEnd
from onnx_infer.tools.transforms.dynamic.meant_targets import Merged, meant_target, remember
from onnx_infer.tools.transforms.dynamic.pinned import Change, Pin, Place, Tracer
from onnx_infer.tools.transforms.dynamic.trials import aligned, demanded, elements_of, trial_of, value_at
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, Shape, SymTensor
from symdim import Expr, Var, product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import ModelProto


class FreedWalk:
    """Walks over one freed model. `changes` are those of all walks, `pins` those of the last one."""

    def __init__(self, model: ModelProto, tracer: Tracer, traced: dict[str, int]) -> None:
        self.model, self.tracer, self.traced_names = model, tracer, traced
        self.changes: dict[tuple[Place, str, int], Change] = {}
        self.pins: dict[tuple[str, str, str], Pin] = {}

    def run(self) -> bool:
        """Walk over the model; return whether there is a new change."""
        before = len(self.changes)
        front = ModelProtoFrontEnd(self.model)
        symbols = Symbols(*front.dim_params())
        view = front.view(symbols)
        nodes = view.graph.nodes
        view = view._replace(graph=view.graph._replace(nodes=lambda: map(self._meant, nodes())))
        self.engine = Record(view, symbols)
        self.traced: dict[str | Var, int] = {}
        self.pins.clear()
        self.tracer.wanted.clear()
        self._merged: Merged = {}
        self.tracer.merged, self.tracer.values = self._merged, self.traced
        walk(self.engine)
        return len(self.changes) > before

    # -- one node -----------------------------------------------------------------------------------------------------

    def _meant(self, node: Node) -> Node:
        """The node with operands as they were meant."""
        if not self.traced:
            inputs = self.engine.symbols.known()
            self.traced.update((v, self.traced_names[n]) for n, v in inputs.items() if n in self.traced_names)
        scope = self.engine.scope
        operands, giver = node[2], self.tracer.producer(first_output(node))
        if not all(map(scope.knows, filter(None, operands))) or giver is None or giver[2] != operands:
            return node  # it has no name, or a broken model gives its name to another node too
        self._find_changes(node, self._with_changes(node)[2])
        node = self._with_changes(node)
        asked = [] if node[0] == "Reshape" else list(demanded(node, scope, self._value))  # its target is seen to
        for operand, axis, wanted in asked:
            place = Place.of(node, operand)
            changes, pins = self.tracer.trace(place, operands[operand], axis, wanted)
            self._note(changes)
            for pin in pins:
                self._note_pin(pin)
            node = self._with_size(node, operand, axis, wanted)
        return node

    def _note(self, changes: list[Change]) -> None:
        for change in changes:
            self.changes.setdefault((change.place, change.kind, change.at), change)

    def _with_changes(self, node: Node) -> Node:
        """The node with the changes of its operands that are known so far."""
        for operand in range(len(node[2])):
            place = Place.of(node, operand)
            changes = [change for (where, _, _), change in self.changes.items() if where == place]
            for change in changes:
                if change.kind == "size":
                    node = self._with_element(node, operand, change.at, change.new)
                else:
                    node = self._with_size(node, operand, change.at, change.new)
            if node[0] == "Gather" and operand == 1 and any(change.kind == "count" for change in changes):
                self._check_index(node)
        return node

    def _check_index(self, node: Node) -> None:
        """Pin the node if its constant indices go over a free axis but do not have its size."""
        data, index = (self._shape(name) for name in node[2][:2])
        axis = node[4].values.get("axis", 0)
        if not data or index is None or not -len(data) <= axis < len(data):
            return
        if isinstance(data[axis], Expr) and product(index) != data[axis]:
            why = f"constant indices {list(map(str, index))} go over an axis of free size {data[axis]}"
            cure = "only the author knows which: trace with sizes that differ from each other and from 1"
            self._note_pin(Pin(title_of(node), label_of(node), why, cure))

    def _note_pin(self, pin: Pin) -> None:
        self.pins.setdefault((pin.operator, pin.node, pin.why), pin)

    def _with_element(self, node: Node, operand: int, at: int, new: Dim) -> Node:
        value, data = self.engine.scope[node[2][operand]], self._vector(node[2][operand])
        if data is None:
            return node
        changed = [*data[:at], new, *data[at + 1 :]]
        return self._with_value(node, operand, SymTensor(value.dtype, value.shape, changed))

    def _with_size(self, node: Node, operand: int, axis: int, wanted: Dim) -> Node:
        value = self.engine.scope[node[2][operand]]
        if not isinstance(value, SymTensor) or value.shape is None:
            return node
        shape = list(value.shape)
        shape[axis] = wanted
        return self._with_value(node, operand, SymTensor(value.dtype, shape))

    def _with_value(self, node: Node, operand: int, value: SymTensor) -> Node:
        name = f"\0meant {first_output(node)} {operand}"  # no name of a model has a NUL
        self.engine.scope[name] = value
        op_type, domain, inputs, outputs, attributes, handle = node
        return op_type, domain, [*inputs[:operand], name, *inputs[operand + 1 :]], outputs, attributes, handle

    # -- values -------------------------------------------------------------------------------------------------------

    def _shape(self, name: str) -> Shape | None:
        value = self.engine.scope[name] if name else None
        return value.shape if isinstance(value, SymTensor) else None

    def _vector(self, name: str) -> tuple[Any, ...] | None:
        """The elements of an operand, if all are known."""
        data = elements_of(self.engine.scope, name) if name else None
        return None if data is None or None in data else data

    def _value(self, size: Dim) -> int | None:
        """The traced value of a size; None if it has symbols that were not freed."""
        return value_at(size, self.traced)

    # -- constants that equal traced sizes ----------------------------------------------------------------------------

    def _find_changes(self, node: Node, operands: Sequence[str]) -> None:
        """Note the changes of sizes that a node reads. `operands` are its operands as they are changed so far."""
        op_type, domain = node[:2]
        self._sizes(node, operands)
        if domain not in ("", "ai.onnx") or len(node[2]) < 2:
            return
        shape, target = self._shape(operands[0]), self._vector(node[2][1])
        if shape is None or target is None or any(self._value(d) is None for d in shape):
            return
        if not any(isinstance(size, Expr) for size in shape):
            return
        if op_type == "Reshape":
            self._reshape(node, shape, target)
        elif op_type == "Expand":
            for at, size in enumerate(target):
                axis = at + len(shape) - len(target)
                if size != 1 and axis >= 0 and isinstance(shape[axis], Expr) and self._value(shape[axis]) == size:
                    self._note([self.tracer.change(node, 1, at, size, 1)])  # broadcasting gives it the operand's size
        elif op_type == "Slice" and len(node[2]) > 2:
            self._slice(node, shape)

    def _sizes(self, node: Node, operands: Sequence[str]) -> None:
        """Note the changes of numbers that are sizes of results, where the first operand has a free size.

        So a Resize gets the size that it has, and a TopK of a whole axis sorts the whole axis.
        """
        shape = self._shape(operands[0]) if operands else None
        if not any(isinstance(size, Expr) for size in shape or ()):
            return
        trial = trial_of((*node[:2], list(operands), *node[3:]), self.engine.scope)
        if trial is None:
            return
        for number, effect in trial.sizes_read():
            size = aligned(trial, effect)
            if number.operand is not None and isinstance(size, Expr) and self._value(size) == number.value:
                self._note([self.tracer.change(node, number.operand, number.at, number.value, size)])

    def _reshape(self, node: Node, shape: Shape, target: tuple[Any, ...]) -> None:
        traced = self.tracer.shape(node[3][0])
        numbers = [size for size in traced if isinstance(size, int)]
        if len(numbers) != len(traced) or len(numbers) != len(target):
            return
        allowzero = node[4].values.get("allowzero", 0)
        natural, is_broken = _reshaped(shape, target, allowzero)
        if not is_broken and any(isinstance(size, Expr) for size in target):  # the author computes it
            remember(self._merged, shape, natural, self.traced)
            return
        meant = meant_target(shape, numbers, self.traced, self._merged)
        if meant is None:
            if is_broken or not all(
                isinstance(size, Expr) for size, n in zip(natural, numbers, strict=True) if size != n
            ):
                shown = ", ".join(map(str, target))
                why = f"the target [{shown}] has traced sizes, and several places could take the free ones"
                cure = "trace with sizes that differ from each other and from 1"
                self._note_pin(Pin(title_of(node), label_of(node), why, cure))
            return
        remember(self._merged, shape, meant, self.traced)
        if meant == natural:
            return
        elements = as_target(meant, shape, bool(allowzero))
        changes = [
            self.tracer.change(node, 1, at, old if isinstance(old, int) else -1, new)
            for at, (old, new) in enumerate(zip(target, elements, strict=True))
            if old != new
        ]
        self._note(changes)

    def _slice(self, node: Node, shape: Shape) -> None:
        ends = self._vector(node[2][2])
        has_axes = len(node[2]) > 3 and bool(node[2][3])
        axes = self._vector(node[2][3]) if has_axes else None
        if ends is None or (axes is None and has_axes):
            return
        chosen = range(len(ends)) if axes is None else axes
        for at, (end, axis) in enumerate(zip(ends, chosen, strict=False)):
            size = shape[axis] if -len(shape) <= axis < len(shape) else 0
            if isinstance(size, Expr) and isinstance(end, int) and end == self._value(size):
                self._note(
                    [self.tracer.change(node, 2, at, end, slice_end(self.engine.scope[node[2][2]].dtype or dt.INT64))]
                )


def as_target(meant: Shape, operand: Shape, no_zeros: bool) -> tuple[Dim, ...]:
    """The target of a Reshape with 0 for sizes that are copied and -1 for one other free size.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> as_target((N, S, 12, 64), (N, S, 768), False), as_target((N * S, 768), (N, S, 768), False)
    ((0, 0, 12, 64), (-1, 768))
    """
    target = list(meant)
    for i, size in enumerate(target):
        if not no_zeros and isinstance(size, Expr) and i < len(operand) and operand[i] is size:
            target[i] = 0
    free = [i for i, size in enumerate(target) if isinstance(size, Expr)]
    if len(free) == 1:
        target[free[0]] = -1
    return tuple(target)


def _reshaped(shape: Shape, target: tuple[Any, ...], allowzero: int) -> tuple[Shape, bool]:
    """The result for the target as it is, and whether Reshape fails or demands equal sizes then."""
    with Trace() as trace:
        try:
            result = reshaped(shape, target, allowzero)
        except OnnxInferError:
            return (), True
    return result, bool(trace.errors or trace.fresh or any(s.relation == "equal" for s in trace.statements))
