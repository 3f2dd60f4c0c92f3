"""Nodes whose result equals their input in every run: the same elements, type and shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.tools.transforms.draft import is_default
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import NodeProto

    Types = Mapping[str, Value]


def same_as(node: NodeProto, types: Types) -> str | None:
    """The input that the first output of this node equals; None if that is not proved."""
    if not is_default(node) or not node.input or not node.output:
        return None
    if node.op_type == "Identity":
        return node.input[0] or None
    law = _LAWS.get(node.op_type)
    given, made = (types.get(name) for name in (node.input[0], node.output[0]))
    if law is None or not isinstance(given, SymTensor) or not isinstance(made, SymTensor):
        return None
    if given.dtype != made.dtype or not given.dtype or given.shape is None or given.shape != made.shape:
        return None
    return node.input[0] if law(node, types) else None


def _moves_nothing(node: NodeProto, types: Types) -> bool:
    """These operators keep the row-major order of the elements, so an equal shape is enough."""
    return True


def _is_forward(node: NodeProto, types: Types) -> bool:
    """A Slice that leaves every size as it is takes all elements in order, unless it steps back."""
    if len(node.input) < 5 or not node.input[4]:
        return True
    steps = types[node.input[4]].data if node.input[4] in types else None
    return steps is not None and all(isinstance(step, int) and step >= 1 for step in steps)


def _keeps_order(node: NodeProto, types: Types) -> bool:
    """A Transpose moves nothing if the axes with more than one element stay in order."""
    shape = types[node.input[0]]
    assert isinstance(shape, SymTensor)
    perm = next((list(a.ints) for a in node.attribute if a.name == "perm"), list(reversed(range(shape.rank))))
    moved = [axis for axis in perm if 0 <= axis < shape.rank and shape.dims[axis] != 1]
    return len(perm) == shape.rank and moved == sorted(moved)


def _pads_nothing(node: NodeProto, types: Types) -> bool:
    if len(node.input) < 2:
        pads = next((tuple(a.ints) for a in node.attribute if a.name in ("pads", "paddings")), None)
    else:
        pads = types[node.input[1]].data if node.input[1] in types else None
    return pads is not None and all(isinstance(pad, int) and pad == 0 for pad in pads)


def _infers(node: NodeProto, types: Types) -> bool:
    """A Dropout that does not train (Dropout-7 to 13; earlier versions have `is_test`)."""
    if any(attribute.name in ("is_test", "consumed_inputs") for attribute in node.attribute):
        return False
    if len(node.input) < 3 or not node.input[2]:
        return True
    training = types[node.input[2]].data if node.input[2] in types else None
    return training is not None and len(training) == 1 and training[0] is False


def _is_alone(node: NodeProto, types: Types) -> bool:
    return len(node.input) == 1


_LAWS: dict[str, Callable[[NodeProto, Types], bool]] = {
    "Cast": _moves_nothing, "CastLike": _moves_nothing, "Concat": _is_alone, "Dropout": _infers,
    "Expand": _moves_nothing, "Flatten": _moves_nothing, "Pad": _pads_nothing, "Reshape": _moves_nothing,
    "Slice": _is_forward, "Squeeze": _moves_nothing, "Tile": _moves_nothing, "Transpose": _keeps_order,
    "Unsqueeze": _moves_nothing,
}  # fmt: skip
