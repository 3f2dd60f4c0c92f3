"""The result of a rule for an output, as a value that a model can hold."""

from __future__ import annotations

from typing import Any

from onnx_infer.laws.readable import is_unreadable, readable
from onnx_infer.laws.sizes import at_least
from onnx_infer.laws.statements import conflicting, warn
from onnx_infer.values.tensor import MAX_RANK, Dim, Shape, SymTensor, Value
from symdim import Expr
from symdim.algebra.caches import shared_cache
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.dims import bounds_of

LARGEST_SIZE = 2**63 - 1
"""The largest size that a model can hold: dim_value is a 64-bit integer (onnx.proto)."""


def result_value(result: Any, dtype: int | None) -> Value:
    """The result of a rule as a value. A rule returns a shape or a value; `dtype` is the schema's element type."""
    if isinstance(result, Value):
        if not isinstance(result, SymTensor) or result.shape is None:
            return result
        dtype, shape = result.dtype or dtype, result.shape
    else:
        shape = tuple(result)
    if len(shape) > MAX_RANK:
        warn(too_many_axes("a result", len(shape)))
        return SymTensor(dtype)
    for size in shape:
        if not 0 <= size <= LARGEST_SIZE if isinstance(size, int) else _is_unusable(size):
            return SymTensor(dtype, [_possible(x, shape) for x in shape])
    if isinstance(result, SymTensor):
        return result if result.dtype == dtype else SymTensor(dtype, shape, result.data, result.fill, result.samples)
    return SymTensor(dtype, shape)


def too_many_axes(what: str, count: int) -> str:
    """What is told of a tensor whose rank is too large.

    >>> too_many_axes("input 'x'", 2000)
    "input 'x' has 2,000 axes; of more than 1,024 only the element type is inferred"
    """
    return f"{what} has {count:,} axes; of more than {MAX_RANK:,} only the element type is inferred"


_unusable = shared_cache(1 << 13)  # size -> the result of `_is_unusable`


def _is_unusable(size: Dim) -> bool:
    """Whether a size that is no int may not be written as it is."""
    found: bool | None = _unusable.get(size)
    if found is None:
        if not isinstance(size, Expr):
            return True
        found = _unusable[size] = is_unreadable(size) or at_least(size, LARGEST_SIZE + 1)
    return found


def _possible(size: Dim, shape: Shape) -> Dim:
    """The size, or an unknown size if it is impossible or its expression is too large to read."""
    size = checked(size)
    if at_least(size, LARGEST_SIZE + 1):
        return conflicting(f"a size of the result does not fit into 64 bits: ({', '.join(map(_text, shape))})")
    if isinstance(size, int) and size < 0:
        return conflicting(f"a size of the result is negative: ({', '.join(map(_text, shape))})")
    return readable(size)


def _text(size: Dim) -> str:
    """The size as text; a nearby power of two if it is too long to be printed."""
    low = bounds_of(size)[0] or 0
    return str(size) if abs(low) <= LARGEST_SIZE else f"at least {'-' if low < 0 else ''}2**{abs(low).bit_length() - 1}"
