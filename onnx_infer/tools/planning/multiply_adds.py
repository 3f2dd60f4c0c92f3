"""The number of multiply-adds of a node, from the shapes of its inputs and outputs.

A multiply-add is one of the products in the sums of a contraction: a matrix product, a convolution, attention or a
recurrent layer. By definition, elementwise operators, reductions, movements and comparisons have none. The softmax and
the biases of layers are not counted either. The `cost` of an operator stands at its rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.results.sources import without_computed
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.operators.operator import Operator


def multiply_adds(
    operator: Operator, inputs: Sequence[Value | None], outputs: Sequence[Value | None], attributes: Mapping[str, Any]
) -> Dim | None:
    """The multiply-adds of one node of an operator; 0 if it contracts nothing, None if they are not known.

    >>> from onnx_infer.operators.lookup import bind
    >>> from symdim import Var
    >>> B, S = Var("B"), Var("S")
    >>> a, w, y = (SymTensor(1, shape) for shape in ((B, S, 64), (64, 128), (B, S, 128)))
    >>> multiply_adds(bind("", "MatMul", 13), (a, w), (y,), {})
    8192*B*S
    """
    cost = operator.rule.facets.cost
    if cost is None:
        return 0
    try:
        return cost([_shape(v) for v in inputs], [_shape(v) for v in outputs], attributes)
    except (AttributeError, LookupError, TypeError, ValueError):  # a shape is not known, or the node is malformed
        return None


def _shape(value: Value | None) -> Shape | None:
    known = isinstance(value, SymTensor) and value.shape is not None
    return tuple(map(without_computed, value.shape)) if known else None  # type: ignore[union-attr]
