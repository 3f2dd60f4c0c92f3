"""The parts of a tensor that is cut along an axis: all of one size, but the last one may be smaller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.values.table import find, publish
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
        key = (cls, whole, axis, chunk)
        found = find(key)
        if found is None:
            found = object.__new__(cls)
            found.whole, found.axis, found.chunk = whole, axis, chunk
            found.elem, found.items, found.length = found.of_size(UNKNOWN_SIZE), None, ceildiv(found.size, chunk)
            found = publish(key, found)
        assert isinstance(found, Parts)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Parts, (self.whole, self.axis, self.chunk)

    @property
    def size(self) -> Dim:
        """The size of the axis that is cut."""
        return self.whole.dims[self.axis]

    def of_size(self, size: Dim) -> SymTensor:
        """A part of this size."""
        dims = self.whole.dims
        return SymTensor(self.whole.dtype, (*dims[: self.axis], size, *dims[self.axis + 1 :]))

    def part(self, index: Dim) -> SymTensor:
        """The part at an index from 0 on. There must be such a part."""
        return self.of_size(minimum(self.chunk, self.size - index * self.chunk))

    def substitute(self, mapping: Mapping[Any, Dim]) -> Value:
        """The parts with variables replaced."""
        chunk = self.chunk.substitute(mapping) if isinstance(self.chunk, Expr) else self.chunk
        whole = self.whole.substitute(mapping)
        assert isinstance(whole, SymTensor)
        return Parts(whole, self.axis, chunk)
