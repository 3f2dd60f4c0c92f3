"""Values that are made of others: one of two tensors, sequences, optionals, maps; and sparse tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import MAX_RANK, Dim, Shape, SymTensor, Value, interned
from symdim import Var, minimum
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class OneOf(SymTensor):
    """One of two tensors, of different ranks or with different elements. The `source` decides which one.

    Its own shape and elements are those of `joined`: what both tensors share. A rule is applied to both tensors
    (`engine/apply.py`), and what the results share is known. The source is a condition on sizes (True selects the
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
        shared["progressions"] = ()
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
            return self.choices[not source].substitute(mapping)
        tensors = [x.substitute(mapping) for x in (*self.choices, self.joined)]
        return OneOf(source, *(x for x in tensors if isinstance(x, SymTensor)))


def plain(value: Value) -> Value:
    """The value as one tensor: what both share, for one of two."""
    return value.joined if isinstance(value, OneOf) else value


CHUNK = Var.fresh("chunk", 1, origin="the size of a part")
"""The size of a part in `Parts`."""


class Parts(NamedTuple):
    """The elements of a sequence: `each`, a tensor of `CHUNK`, the size of a part of a `size` that is cut in chunks.

    That is `min(chunk, size - i*chunk)` for the i-th part, from 0 on.
    """

    size: Dim
    chunk: Dim
    each: Any

    def at(self, position: Dim) -> Any:
        """The element at a position of the sequence."""
        return self.each_of(minimum(self.chunk, self.size - position * self.chunk))

    def last(self, length: Dim) -> Any:
        """The last element of a sequence of this length."""
        return self.each_of(self.size - (length - 1) * self.chunk)

    def each_of(self, size: Dim) -> Any:
        """The element of a part of this size."""
        return self.each.substitute({CHUNK: size})


class Sequence(Value):
    """A sequence of `length` elements (None: not known). `elem` is a type that covers every element.

    `items` are the elements one by one, if they are known and not all equal. Sizes that differ are `UNKNOWN_SIZE` in
    `elem`; `parts` may tell them. An empty sequence may have any `elem`.

    >>> Sequence(SymTensor(1, (2, 3))), Sequence(SymTensor(1, (2,)), 4)
    (seq(f32[2, 3]), seq(f32[2]; 4))
    """

    __slots__ = ("elem", "items", "length", "parts")
    fields = ("elem", "length", "items", "parts")
    elem: Value | None
    items: tuple[Value, ...] | None
    length: Dim | None
    parts: Parts | None

    def __new__(
        cls,
        elem: Value | None = None,
        length: Dim | None = None,
        items: tuple[Value, ...] | None = None,
        parts: Parts | None = None,
    ) -> Sequence:
        if items is not None:
            length = len(items)
            if all(x is items[0] for x in items):
                items = None
        return interned(cls, elem=elem, length=length, items=items, parts=parts)

    def spelled(self, write: Callable[[object], str]) -> str:
        if self.items is not None:
            return f"seq({', '.join([item.spelled(write) for item in self.items])})"
        elem = _spelled(self.elem, write)
        return f"seq({elem})" if self.length is None else f"seq({elem}; {write(self.length)})"


class Optional(Value):
    """An optional value of the type `elem`. `full` says whether there is a value; None if that is not known.

    >>> Optional(SymTensor(1, (2,))), Optional(SymTensor(1), False)
    (optional(f32[2]), optional(f32[...]; empty))
    """

    __slots__ = fields = ("elem", "full")
    elem: Value | None
    full: bool | None

    def __new__(cls, elem: Value | None = None, full: bool | None = None) -> Optional:
        return interned(cls, elem=elem, full=full)

    def spelled(self, write: Callable[[object], str]) -> str:
        elem = _spelled(self.elem, write)
        return f"optional({elem})" if self.full is None else f"optional({elem}; {'full' if self.full else 'empty'})"


class Map(Value):
    """A map from keys of an element type to values.

    >>> Map(7, SymTensor(1, ()))
    map(i64, f32[])
    """

    __slots__ = fields = ("key", "value")
    key: int
    value: Value | None

    def __new__(cls, key: int, value: Value | None = None) -> Map:
        return interned(cls, key=key, value=value)

    def spelled(self, write: Callable[[object], str]) -> str:
        return f"map({dt.text(self.key)}, {_spelled(self.value, write)})"


class Sparse(Value):
    """A sparse tensor: element type and shape."""

    __slots__ = fields = ("dtype", "shape")
    dtype: int | None
    shape: Shape | None

    def __new__(cls, dtype: int | None, shape: Iterable[Dim] | None = None) -> Sparse:
        shape = None if shape is None else tuple(shape)
        return interned(cls, dtype=dtype, shape=None if shape and len(shape) > MAX_RANK else shape)

    def spelled(self, write: Callable[[object], str]) -> str:
        return f"sparse({SymTensor(self.dtype, self.shape).spelled(write)})"


def _spelled(value: Value | None, write: Callable[[object], str]) -> str:
    return "?" if value is None else value.spelled(write)
