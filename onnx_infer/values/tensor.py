"""Values: tensors with dtype, shape and (small) data, and the types built from them.

Values are immutable and interned: equal values are the same object, so results can be remembered by identity.
Test cases use their text form: `f32[N, 3]`, `i64[2]={N, 2}`, `f32[...]` (rank unknown), `seq(f32[N])`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from onnx_infer.errors import UnknownRank
from onnx_infer.values import dtype as dt
from onnx_infer.values.parts import Parts
from onnx_infer.values.progression import Progression
from onnx_infer.values.table import TABLE, interned, publish
from onnx_infer.values.text import printable
from symdim import Expr, Var, product
from symdim.algebra.constructors.arithmetic import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


Dim: TypeAlias = int | Expr
Shape: TypeAlias = tuple[Dim, ...]

MAX_RANK = 1 << 10
"""The most axes of a tensor whose shape is known. Tools take far fewer: NumPy and torch 64."""


class Value:
    """What a name in a graph denotes. `wire` has its type as protobuf bytes; only tensors have `dtype` and `shape`."""

    __slots__ = ("__weakref__", "wire")
    wire: bytes | None
    dtype: int | None = None
    shape: Shape | None = None
    data: tuple[Any, ...] | None = ()

    @property
    def rank(self) -> int:
        """The number of axes. The engine calls a rule only if it is known. Raises `UnknownRank` otherwise."""
        return len(self.dims)

    @property
    def dims(self) -> Shape:
        """The shape, whose rank must be known. Raises `UnknownRank` otherwise, and for other values."""
        if self.shape is None:
            raise UnknownRank(self)
        return self.shape

    def spelled(self, write: Callable[[object], str]) -> str:
        """The text of the type, in which `write` makes the texts of sizes and elements."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spelled(str)

    def __repr__(self) -> str:
        return str(self)


class SymTensor(Value):
    """A tensor: element type, shape, and its elements if they are known.

    `dtype` is a number of `TensorProto.DataType` or None. `shape` is a tuple of dims (`int | Expr`), or None for an
    unknown rank or one above `MAX_RANK`. `data` are the elements in row-major order (`int | Expr | bool | float |
    Ratio`, None for an unknown element), or None if none is known. Only a shape of plain ints can have data. A tensor
    without data may have `fill`, `samples` and `progressions`. `fill` is the value of all elements. `samples` are some
    elements that occur in it unless it is empty: one tuple, or one tuple for each index of the last axis.
    `progressions` are all its elements (`elements/progressions.py`).

    >>> SymTensor(7, (2,), (3, 4))
    i64[2]={3, 4}
    >>> SymTensor(1, (2, 3)) is SymTensor(1, (2, 3))
    True
    """

    __slots__ = ("data", "dtype", "fill", "progressions", "samples", "shape")
    dtype: int | None
    shape: Shape | None
    data: tuple[Any, ...] | None
    fill: Any
    samples: tuple[tuple[Any, ...], ...]
    progressions: tuple[Progression, ...]

    def __new__(
        cls,
        dtype: int | None,
        shape: Iterable[Dim] | None = None,
        data: Iterable[Any] | None = None,
        fill: Any = None,
        samples: tuple[tuple[Any, ...], ...] = (),
        progressions: tuple[Progression, ...] = (),
    ) -> SymTensor:
        if shape is not None:
            shape = tuple(shape)
        if data is not None:
            data = tuple(data)
        # 1 == 1.0 == True in Python: if the dtype is unknown, the classes of the elements are part of the key
        key: tuple[Any, ...] = (
            (dtype, shape, data, tuple(map(type, data))) if data and not dtype else (dtype, shape, data)
        )
        if fill is not None:
            key += (fill,)
        if samples or progressions:
            key += ("samples", samples, progressions)
        entry = TABLE.get(key)
        found: Any = None if entry is None else entry()
        if found is None:
            if shape is not None and len(shape) > MAX_RANK:
                return SymTensor(dtype)
            if shape is not None:
                shape = tuple([d if type(d) is int else checked(d) for d in shape])  # NumPy's integers are ints, too
            found = object.__new__(cls)
            found.dtype, found.shape, found.data, found.fill, found.samples = dtype, shape, data, fill, samples
            found.progressions = progressions
            found = publish(key, found)
        assert isinstance(found, SymTensor)
        return found

    @property
    def size(self) -> Dim:
        """The number of elements."""
        return product(self.dims)

    @property
    def array(self) -> np.ndarray[Any, Any] | None:
        """The data as a numpy object array of this shape, or None."""
        if self.data is None:
            return None
        flat = np.empty(len(self.data), dtype=object)
        flat[:] = self.data
        return flat if self.rank == 1 else flat.reshape(self.shape)

    @property
    def has_elements(self) -> bool:
        """Whether some of its elements are known."""
        return self.data is not None or self.fill is not None or bool(self.samples or self.progressions)

    def without_data(self) -> SymTensor:
        """The same tensor without its elements."""
        return SymTensor(self.dtype, self.shape) if self.has_elements else self

    def substitute(self, mapping: Mapping[Any, Dim]) -> Value:
        """The tensor with variables replaced in its shape and elements."""
        shape = self.shape and tuple([_replace(d, mapping) for d in self.shape])
        data = self.data and tuple([_replace(x, mapping) for x in self.data])
        fill = _replace(self.fill, mapping)
        samples = self.samples and tuple([tuple([_replace(x, mapping) for x in part]) for part in self.samples])
        parts = self.progressions
        parts = parts and tuple([Progression(*[_replace(x, mapping) for x in part]) for part in parts])
        same = shape == self.shape and data == self.data and fill is self.fill and samples == self.samples
        same = same and parts == self.progressions
        return self if same else SymTensor(self.dtype, shape, data, fill, samples, parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return SymTensor, (self.dtype, self.shape, self.data, self.fill, self.samples, self.progressions)

    def spelled(self, write: Callable[[object], str]) -> str:
        dims = "..." if self.shape is None else ", ".join(map(write, self.shape))
        head = f"{dt.text(self.dtype)}[{dims}]"
        data = "" if self.data is None else f"={{{', '.join('?' if x is None else write(x) for x in self.data)}}}"
        return printable(head + data)


UNKNOWN_SIZE = Var.fresh("?", origin="the sizes of the elements differ")
"""A marker for the size of an axis that differs between the elements of a sequence. It is not a size."""


class Sequence(Value):
    """A sequence of `length` elements (None: not known). `elem` is a type that covers every element.

    `items` are the elements one by one, if they are known and not all equal. Sizes that differ are `UNKNOWN_SIZE` in
    `elem`; `parts` may tell them. An empty sequence may have any `elem`.

    >>> Sequence(SymTensor(1, (2, 3))), Sequence(SymTensor(1, (2,)), 4)
    (seq(f32[2, 3]), seq(f32[2]; 4))
    """

    __slots__ = ("elem", "items", "length", "parts")
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

    def substitute(self, mapping: Mapping[Any, Dim]) -> Value:
        """The sequence with variables replaced in its elements and its length."""
        items = self.items and tuple(substitute(x, mapping) for x in self.items)
        parts = self.parts and Parts(*[_replace(x, mapping) for x in self.parts])
        return Sequence(self.elem and substitute(self.elem, mapping), _replace(self.length, mapping), items, parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sequence, (self.elem, self.length, self.items, self.parts)

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

    __slots__ = ("elem", "full")
    elem: Value | None
    full: bool | None

    def __new__(cls, elem: Value | None = None, full: bool | None = None) -> Optional:
        return interned(cls, elem=elem, full=full)

    def __reduce__(self) -> tuple[Any, ...]:
        return Optional, (self.elem, self.full)

    def spelled(self, write: Callable[[object], str]) -> str:
        elem = _spelled(self.elem, write)
        return f"optional({elem})" if self.full is None else f"optional({elem}; {'full' if self.full else 'empty'})"


class Map(Value):
    """A map from keys of an element type to values.

    >>> Map(7, SymTensor(1, ()))
    map(i64, f32[])
    """

    __slots__ = ("key", "value")
    key: int
    value: Value | None

    def __new__(cls, key: int, value: Value | None = None) -> Map:
        return interned(cls, key=key, value=value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Map, (self.key, self.value)

    def spelled(self, write: Callable[[object], str]) -> str:
        return f"map({dt.text(self.key)}, {_spelled(self.value, write)})"


class Sparse(Value):
    """A sparse tensor: element type and shape."""

    __slots__ = ("dtype", "shape")
    dtype: int | None
    shape: Shape | None

    def __new__(cls, dtype: int | None, shape: Iterable[Dim] | None = None) -> Sparse:
        shape = None if shape is None else tuple(shape)
        return interned(cls, dtype=dtype, shape=None if shape and len(shape) > MAX_RANK else shape)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sparse, (self.dtype, self.shape)

    def spelled(self, write: Callable[[object], str]) -> str:
        return f"sparse({SymTensor(self.dtype, self.shape).spelled(write)})"


def _spelled(value: Value | None, write: Callable[[object], str]) -> str:
    return "?" if value is None else value.spelled(write)


def substitute(value: Value, mapping: Mapping[Any, Dim]) -> Value:
    """The value with variables replaced in its shape and data; the same object if none occurs.

    >>> N = Var("N")
    >>> substitute(SymTensor(1, (N, 2 * N)), {N: 3})
    f32[3, 6]
    """
    if isinstance(value, SymTensor):
        return value.substitute(mapping)
    if isinstance(value, Sparse):
        return Sparse(value.dtype, value.shape and tuple(_replace(d, mapping) for d in value.shape))
    if isinstance(value, Sequence):
        return value.substitute(mapping)
    if isinstance(value, Optional):
        return value if value.elem is None else Optional(substitute(value.elem, mapping), value.full)
    if isinstance(value, Map):
        return value if value.value is None else Map(value.key, substitute(value.value, mapping))
    return value


def _replace(x: Any, mapping: Mapping[Any, Dim]) -> Any:
    if isinstance(x, Expr):
        return x.substitute(mapping)
    replace = getattr(x, "substitute", None)
    return x if replace is None else replace(mapping)


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
            return substitute(self.choices[not source], mapping)
        tensors = [substitute(x, mapping) for x in (*self.choices, self.joined)]
        return OneOf(source, *(x for x in tensors if isinstance(x, SymTensor)))


def plain(value: Value) -> Value:
    """The value as one tensor: what both share, for one of two."""
    return value.joined if isinstance(value, OneOf) else value
