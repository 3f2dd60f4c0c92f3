"""Which tensors have their elements: the limits of data propagation."""

from __future__ import annotations

from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor, Value
from symdim.algebra.caches import remembered

MAX_DATA = 1024
"""The most elements of a tensor whose data are propagated."""

MAX_DATA_RANK = 32
"""The most axes of such a tensor. NumPy's arrays have up to 64, but some of its functions take only 32."""

MAX_AROUND_ZERO = 1 << 40
"""The greatest product of the other sizes of such a tensor, if one size is 0.

NumPy refuses an array without elements, too, if this product is beyond 64 bits.
"""

MAX_FLOATS = 12
"""The same for tensors of floats: the size of `roi` in a Resize of rank 6. Larger tensors are weights."""

MAX_VECTOR = 1 << 20
"""The most elements of a constant integer vector that is read if a rule asks for it, such as the sizes of a Split."""


def is_small(value: Value) -> bool:
    """Whether a value may have data: its sizes are known, and it has few elements and axes."""
    if not isinstance(value, SymTensor) or value.shape is None or len(value.shape) > MAX_DATA_RANK:
        return False
    count = around = 1
    for size in value.shape:
        if not isinstance(size, int):
            return False
        count *= size
        around *= size or 1
    if not count and around > MAX_AROUND_ZERO:
        return False
    return count <= (MAX_FLOATS if value.dtype in dt.FLOATS else MAX_DATA)


def is_told(value: Value | None) -> bool:
    """Whether all elements of a tensor are known. Then every tensor of this value has the same elements."""
    if not isinstance(value, SymTensor):
        return False
    return value.fill is not None or (value.data is not None and None not in value.data)


@remembered(1 << 12)
def may_be_read(value: Value) -> bool:
    """Whether the elements of a constant are read if a rule asks for them: they are few, or a vector of integers."""
    if is_small(value):
        return True
    if not isinstance(value, SymTensor) or value.shape is None or len(value.shape) != 1:
        return False
    (count,) = value.shape
    return value.dtype in dt.INTEGER_RANGE and isinstance(count, int) and count <= MAX_VECTOR
