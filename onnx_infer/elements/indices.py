"""Elements of tensors as indices into an axis: those that a run refuses are reported, or stated as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.samples import is_positive, largest, samples_at, samples_of, smallest
from onnx_infer.laws.sizes import bounds, may_be_empty
from onnx_infer.laws.statements import contradict, state
from onnx_infer.values.tensor import SymTensor
from symdim import Expr

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim, Shape


def demand_in_bounds(indices: SymTensor, size: Dim, column: int | None = None) -> None:
    """Demand of the indices, or of those at one place of the last axis, to lie in [-size, size - 1].

    An empty tensor has no index, so nothing is stated where the tensor may be empty.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     demand_in_bounds(SymTensor(7, (1,), (Var("S") - 1,)), 512)
    >>> [(fact.relation, fact.lhs, fact.rhs) for fact in trace.facts]
    [('at_most', S, 512)]
    """
    if indices.shape is None or may_be_empty(indices.shape):
        return
    found = samples_of(indices) if column is None else samples_at(indices, column)
    known = [i for i in found if isinstance(i, (int, Expr))]
    for i in known:
        if any(end is not None and end < 0 for end in (bounds(size - i - 1)[1], bounds(size + i)[1])):
            contradict(f"index {i} is out of bounds for an axis of size {size}")
            return
    for i in largest(known):
        if not is_positive(size - i):
            state("at_most", i + 1, size, "an index and the size of its axis")
    for i in smallest(known):
        if not is_positive(size + i + 1):
            state("at_least", i, -size, "an index and the size of its axis")


def demand_all_in_bounds(indices: SymTensor, sizes: Shape) -> None:
    """Demand of index tuples, which lie along the last axis, to lie in bounds of axes of these sizes."""
    for column, size in enumerate(sizes):
        demand_in_bounds(indices, size, column)
