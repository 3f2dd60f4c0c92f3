"""The iterations of a Loop, walked one by one: for loops of few iterations with known conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.laws.sizes import is_fresh, unify
from onnx_infer.ops.control_flow import BrokenLaws, condition, stacked
from onnx_infer.ops.fixpoint import scalar
from onnx_infer.types.join import parts_of
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import product
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from onnx_infer.ops.kinds import Dim, Graph, Value, Values
    from symdim import Var

MAX_UNROLLED, _MAX_VISITED = 32, 4096
"""The most iterations that are looked at one by one, and the most nodes visited in this way."""

SAME_COUNT = "element counts of the iterations"
"""The law of onnxruntime for the outputs that are stacked. The specification demands equal shapes."""


def few(body: Graph, limit: Dim | None) -> bool:
    """Whether the iterations of a loop may be walked one by one."""
    return isinstance(limit, int) and limit <= MAX_UNROLLED and body.node_count() * limit <= _MAX_VISITED


def one_by_one(
    body: Graph,
    limit: Dim | None,
    unconditional: bool,
    initial: list[Value],
    reached: bool | None,
    broken: BrokenLaws,
) -> list[Value] | None:
    """The results of a loop of few iterations with known conditions; None for other loops.

    The laws that these iterations break are added to `broken`.
    """
    count, values = len(initial), initial
    items: list[list[Value]] = []
    for i in range(min(MAX_UNROLLED, _MAX_VISITED // max(body.node_count(), 1))):
        if not body.may_repeat():
            return None
        index, true = scalar(body, 0, dt.INT64, i), scalar(body, 1, dt.BOOL, True)
        goes_on, *results = body(index, true, *values, repeated=True, reached=reached)
        broken.take(body)
        values = results[:count]
        items.append(results[count:])
        go = condition(goes_on)
        stops = go is False
        if stops and unconditional:
            return None
        if stops or len(items) == limit:
            return values + [
                stacked(same(x), len(items), 0, joined(body, x, initial)) for x in zip(*items, strict=True)
            ]
        if go is not True:
            return None
    return None


def same(values: Values) -> Value:
    """A value that covers those of all iterations for one output: by the specification their shapes are the same.

    onnxruntime only demands that they have the same number of elements, and takes the sizes of the first one.
    """
    found = values[0]
    for other in values[1:]:
        if isinstance(found, SymTensor) and isinstance(other, SymTensor) and found.shape and other.shape:
            unify(product(found.shape), product(other.shape), SAME_COUNT)
            if len(found.shape) == len(other.shape) and any(map(is_fresh, found.shape)):
                law, pairs = "shapes of the iterations", zip(found.shape, other.shape, strict=True)
                found = SymTensor(found.dtype, [unify(x, y, law, "assumed") if is_fresh(x) else x for x, y in pairs])
    return found


def joined(body: Graph, values: Values, outside: list[Value]) -> list[Any] | None:
    """The elements of these values one after the other; None if some are not known."""
    tensors = [x for x in values if isinstance(x, SymTensor) and x.data is not None]
    if len(tensors) < len(values):
        return None
    inside = body.locals(list(values), outside)
    return [element for x in tensors for element in without_elements(x, inside).data or ()]


def without_elements(value: Value, unknown: AbstractSet[Var]) -> Value:
    """The value without elements that depend on unknown numbers.

    >>> from onnx_infer import Sequence
    >>> from symdim import Var
    >>> N, turn = Var("N"), Var("turn")
    >>> without_elements(SymTensor(7, (2,), (N, N * turn)), {turn}), without_elements(Sequence(), {turn})
    (i64[2]={N, ?}, seq(?))
    """

    def known(x: object) -> bool:
        return unknown.isdisjoint(variables_of(parts_of(x)))

    if not isinstance(value, SymTensor) or value.data is None or all(map(known, value.data)):
        return value
    return SymTensor(value.dtype, value.shape, [x if known(x) else None for x in value.data])
