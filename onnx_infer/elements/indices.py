"""Elements of tensors as indices into an axis. Indices out of bounds are errors; doubtful ones become statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.samples import largest, samples_at, samples_of, smallest
from onnx_infer.laws.readable import is_long
from onnx_infer.laws.sizes import at_least, doubtful_sizes
from onnx_infer.laws.statements import call_mode, contradict, elements_of, state
from onnx_infer.values.tensor import Dim, Shape, SymTensor
from symdim import Expr, minimum, product
from symdim.algebra.dims import at_most

if TYPE_CHECKING:
    from symdim.relations.relation import RelationKind


def demand_in_bounds(
    indices: SymTensor, size: Dim, column: int | None = None, *, negative: bool = True, slices: Shape = ()
) -> None:
    """Demand that the indices (or those at one place of the last axis) are in [-size, size - 1], or in [0, size - 1].

    An empty tensor has no index. If the tensor may be empty, the index in the statement is multiplied by 0 for an empty
    tensor; index 0 is always allowed there. Where that makes a long size, the statement is assumed instead, and
    required of a tensor that is not empty. Of indices that are elements of an input only this is demanded: an axis
    into which there are some is not empty. `slices` are the sizes of what an index selects, if indices of empty slices
    are not checked.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     demand_in_bounds(SymTensor(7, (1,), (Var("S") - 1,)), 512)
    >>> [(statement.relation, statement.lhs, statement.rhs) for statement in trace.statements]
    [('at_most', S, 512)]
    """
    if indices.shape is None:
        return
    samples = samples_of(indices) if column is None else samples_at(indices, column)
    known = [i for i in samples if isinstance(i, (int, Expr)) and not elements_of(i)]
    above = [i for i in known if not at_least(size - i, 1)]
    least = -size if negative else 0
    below = [i for i in known if not at_least(i - least, 0)]
    if (known or at_least(size, 1)) and not above and not below:
        return
    doubtful = doubtful_sizes(indices.shape, slices)
    any_index = minimum(product(doubtful), 1)  # 1, or 0 where the tensor is empty
    if any_index == 0:
        return
    if not known and not at_most(size, 0):
        state("at_least", size, any_index, "the size of the axis of the indices")
    for i in (*above, *below) if any_index == 1 else ():
        if at_most(size - i, 0) or at_most(i - least, -1):
            contradict(f"index {i} is out of bounds for an axis of size {size}")
            return
    for i in largest(above):
        if not at_least(size - i, 1):
            _demand("at_most", i + 1, size, any_index, doubtful)
    for i in smallest(below):
        if not at_least(i - least, 0):
            _demand("at_least", i, least, any_index, doubtful)


def _demand(relation: RelationKind, end: Dim, limit: Dim, any_index: Dim, doubtful: Shape) -> None:
    """Demand a relation of an end of the indices to a limit that 0 keeps, unless there is no index."""
    law, whole = "index out of bounds", any_index * end
    if any_index == 1 or call_mode().is_cautious or not is_long(whole):
        state(relation, whole, limit, law)
    else:
        state(relation, end, limit, law, "assumed", doubtful)


def demand_all_in_bounds(indices: SymTensor, sizes: Shape, slices: Shape = ()) -> None:
    """Demand that index tuples, which are along the last axis, are in bounds of axes of these sizes."""
    for column, size in enumerate(sizes):
        demand_in_bounds(indices, size, column, slices=slices)
