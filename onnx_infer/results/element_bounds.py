"""Upper bounds of integers that a run computes from booleans: counts of tokens, as the positions of tokens are.

Exporters write positions as `CumSum(mask) * mask + 1`. They are at most S + 1, whatever the mask is. So a look-up by
them is in bounds for all inputs where S is small enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.lifting import SAME
from onnx_infer.values.dtype import BOOL, INT32, INT64
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.model.graph import Node
    from onnx_infer.operators.operator import Operator
    from onnx_infer.values.tensor import Dim, Value


def greatest(name: str, known: Mapping[str, Dim], types: Mapping[str, Value]) -> Dim | None:
    """The greatest element that a value may have, if none is negative; None if that is not known.

    `known` are those of the values that nodes give.
    """
    value = types.get(name)
    if not isinstance(value, SymTensor):
        return None
    if value.dtype == BOOL:
        return 1
    numbers = [x for x in value.data or () if isinstance(x, int) and x >= 0]
    return max(numbers) if numbers and len(numbers) == len(value.data or ()) else known.get(name)


def greatest_of(node: Node, operator: Operator, known: Mapping[str, Dim], types: Mapping[str, Value]) -> Dim | None:
    """The greatest element of the result of a node, if none is negative; None if that is not known.

    No integer wraps: counts are below the sizes of tensors, and to these only numbers are added.
    """
    op_type, _, inputs, outputs, _, _ = node
    result = types.get(outputs[0]) if outputs else None
    if not isinstance(result, SymTensor) or result.dtype not in (INT32, INT64):
        return None
    most = [greatest(name, known, types) for name in inputs]
    first = most[0] if most else None
    if first is None:
        return None
    if operator.rule.moves or operator.rule.data is SAME:
        return first
    second = most[1] if len(most) == 2 else None
    if op_type == "Add" and second is not None and (isinstance(first, int) or isinstance(second, int)):
        return first + second
    if op_type == "Mul" and second is not None and 1 in (first, second):
        return first * second
    if op_type == "CumSum" and first == 1 and isinstance(second, int) and result.shape:
        axis = types[inputs[1]]
        assert isinstance(axis, SymTensor)
        return result.dims[second] if axis.data == (second,) and second < result.rank else None
    return None
