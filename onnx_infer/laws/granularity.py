"""The scales and zero points of quantized tensors: one for a tensor, or one for each of its rows, columns or filters.

What is demanded here is what onnxruntime and the reference evaluator both refuse. Of what the reference broadcasts, and
onnxruntime refuses, only an unknown length becomes a statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.laws.sizes import broadcast_to, confirm, confirm_shape, differ, may_be_empty
from onnx_infer.laws.statements import demand
from symdim import Expr, product

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.values.tensor import Dim, Shape, SymTensor


def _shapes(scales: Mapping[str, SymTensor], names: tuple[str, ...]) -> Iterator[tuple[str, Shape]]:
    """The parameters of these names, or all, with their shapes, as far as these are known."""
    for name in names or scales:
        x = scales.get(name)
        if x is not None and x.shape is not None:
            yield name, x.shape


def demand_scalars(scales: Mapping[str, SymTensor]) -> None:
    """Demand parameters of the shape (): onnxruntime does not load a vector of one element either."""
    for name, shape in _shapes(scales, ()):
        demand(not shape, f"{name} is not a scalar; its rank", len(shape))


def demand_single(scales: Mapping[str, SymTensor], *names: str) -> None:
    """Demand parameters of the shape () or (1,).

    >>> from onnx_infer.laws.statements import Trace
    >>> from onnx_infer.values.tensor import SymTensor
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     demand_single({"a": SymTensor(1, ()), "b": SymTensor(1, (2,)), "c": SymTensor(1, (Var("K"),))})
    >>> trace.errors, trace.statements[0][:3]
    (['the number of elements of b and 1 differ: 1 != 2'], ('equal', 1, K))
    """
    demand_vector(1, scales, *names)


def demand_vector(count: Dim, scales: Mapping[str, SymTensor], *names: str) -> None:
    """Demand parameters that are scalars, or vectors of one element or of this many."""
    for name, shape in _shapes(scales, names):
        if not demand(len(shape) <= 1, f"{name} is neither a scalar nor a vector; its rank", len(shape)):
            continue
        if count == 1 and shape:
            confirm(1, shape[0], f"the number of elements of {name} and 1")
        elif shape:
            broadcast_to((count,), shape, name)


def demand_fit(target: Shape | None, scales: Mapping[str, SymTensor], *names: str, rows: Shape = ()) -> None:
    """Demand parameters of one element, or of one for each of `rows` (a size, or none), or that broadcast to a target.

    The specification allows one element for each row of a left factor, and the reference broadcasts; onnxruntime has
    kernels for a single element only. So an unknown length must be 1, and a known one may be meant for another runtime.
    """
    for name, shape in _shapes(scales, names):
        if len(shape) == 1 and isinstance(shape[0], Expr):
            confirm(1, shape[0], f"the number of elements of {name} and 1")
        elif target is not None and not (len(shape) == 1 and rows and not differ(shape[0], rows[0])):
            _demand_broadcast(name, shape, target)


def demand_for_columns(
    result: Shape, target: Shape, scales: Mapping[str, SymTensor], *names: str, exact: bool = False
) -> None:
    """Demand parameters of a right factor: of one element, or for each column, or that broadcast to the `target`.

    Not all kernels of onnxruntime read parameters for a result that is empty. If it is the only runtime, the shape of
    parameters of its rank is `exact`: the target's with 1 for the rows.
    """
    for name, shape in _shapes(scales, names) if not may_be_empty(result) else ():
        if len(shape) == 1:
            broadcast_to(target[-1:], shape, name)
        elif exact and shape:
            confirm_shape((*target[:-2], 1, *target[-1:]), shape, f"the sizes of the weight and of {name}")
        else:
            _demand_broadcast(name, shape, target)


def demand_for_filters(result: Shape, filters: Dim, scales: Mapping[str, SymTensor], *names: str) -> None:
    """Demand parameters of the weight of a convolution: of one element, or of one for each filter."""
    for name, shape in _shapes(scales, names) if not may_be_empty(result) else ():
        if len(shape) == 1:
            broadcast_to((filters,), shape, name)
        else:  # the reference evaluator takes elements in any number of axes
            count = product(shape)
            demand(not differ(count, 1) or not differ(count, filters), f"{name} fits no filters; its shape", shape)


def _demand_broadcast(name: str, shape: Shape, target: Shape) -> None:
    """Demand that known sizes broadcast to those of the target."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    fits = len(shape) <= len(target) and not any(differ(size, 1) and differ(size, wanted) for size, wanted in pairs)
    demand(fits, f"{name} has neither one element nor those that fit; its shape, and the tensor's", shape, target)
