"""One of two tensors: the result of an If of which only one branch squeezes, or elements that a condition selects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.values.table import interned
from onnx_infer.values.tensor import Dim, SymTensor, Value, substitute

if TYPE_CHECKING:
    from collections.abc import Mapping


class OneOf(SymTensor):
    """One of two tensors, of different ranks or with different elements. The `source` decides which one.

    Its own shape and elements are those of `joined`: what both tensors share. A rule is applied to both tensors
    (`engine/outcome.py`), and what the results share is known. The source is a condition on sizes (True selects the
    first tensor), or any other comparable object. All tensors with the same source take the same side.

    >>> OneOf("a condition", SymTensor(1, (2,)), SymTensor(1, (2, 3)), SymTensor(1))
    f32[...]
    """

    __slots__ = ("choices", "joined", "source")
    choices: tuple[SymTensor, SymTensor]
    joined: SymTensor
    source: Any

    def __new__(cls, source: Any, first: SymTensor, second: SymTensor, joined: SymTensor) -> OneOf:
        shared = {"dtype": joined.dtype, "shape": joined.shape, "data": joined.data, "fill": None, "samples": ()}
        return interned(cls, source=source, choices=(first, second), joined=joined, **shared)

    def __reduce__(self) -> tuple[Any, ...]:
        return OneOf, (self.source, *self.choices, self.joined)

    def without_data(self) -> SymTensor:
        """What both share, without the elements."""
        return self.joined.without_data()

    def substitute(self, mapping: Mapping[Any, Dim]) -> Value:
        """The value with variables replaced; one of the two tensors if that decides the source."""
        replace = getattr(self.source, "substitute", None)
        source = self.source if replace is None else replace(mapping)
        if isinstance(source, bool):
            return substitute(self.choices[not source], mapping)
        tensors = [substitute(x, mapping) for x in (*self.choices, self.joined)]
        return OneOf(source, *(x for x in tensors if isinstance(x, SymTensor)))


def plain(value: Value) -> Value:
    """The value as one tensor: what both share, for one of two."""
    return value.joined if isinstance(value, OneOf) else value
