"""The parts of a tensor that is cut along an axis: all of one size, but the last one may be smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.values.table import interned
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Sequence, SymTensor, Value
from symdim import Expr, ceildiv, minimum

if TYPE_CHECKING:
    from collections.abc import Mapping


class Parts(Sequence):
    """The parts of the tensor `whole`, each with at most `chunk` of the sizes along `axis`.

    Part i has `min(chunk, size - i*chunk)`. For what does not ask, it is a sequence whose elements differ in this size.

    >>> from symdim import Var
    >>> parts = Parts(SymTensor(1, (Var("N"), 3)), 0, 4)
    >>> parts, parts.part(1)
    (seq(f32[?, 3]; (N + 3)//4), f32[min(N, 8) - 4, 3])
    """

    __slots__ = ("axis", "chunk", "whole")
    axis: int
    chunk: Dim
    whole: SymTensor

    def __new__(cls, whole: SymTensor, axis: int, chunk: Dim) -> Parts:
        elem, length = _with_size(whole, axis, UNKNOWN_SIZE), ceildiv(whole.dims[axis], chunk)
        return interned(cls, whole=whole, axis=axis, chunk=chunk, elem=elem, items=None, length=length)

    def __reduce__(self) -> tuple[Any, ...]:
        return Parts, (self.whole, self.axis, self.chunk)

    @property
    def size(self) -> Dim:
        """The size of the axis that is cut."""
        return self.whole.dims[self.axis]

    def of_size(self, size: Dim) -> SymTensor:
        """A part of this size."""
        return _with_size(self.whole, self.axis, size)

    def part(self, index: Dim) -> SymTensor:
        """The part at an index from 0 on. There must be such a part."""
        return self.of_size(minimum(self.chunk, self.size - index * self.chunk))

    def substitute(self, mapping: Mapping[Any, Dim]) -> Value:
        """The parts with variables replaced."""
        chunk = self.chunk.substitute(mapping) if isinstance(self.chunk, Expr) else self.chunk
        whole = self.whole.substitute(mapping)
        assert isinstance(whole, SymTensor)
        return Parts(whole, self.axis, chunk)


def _with_size(tensor: SymTensor, axis: int, size: Dim) -> SymTensor:
    return SymTensor(tensor.dtype, (*tensor.dims[:axis], size, *tensor.dims[axis + 1 :]))
