"""Values: tensors with dtype, shape and (small) data, and the base of all types.

Values are immutable and interned: equal values are the same object, so results can be remembered by identity. The table
of live values has weak references, so unused values are freed. Test cases use the text form of values: `f32[N, 3]`,
`i64[2]={N, 2}`, `f32[...]` (rank unknown), `seq(f32[N])`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar
from weakref import ref

import numpy as np

from onnx_infer.errors import UnknownRank
from onnx_infer.values import dtype as dt
from onnx_infer.values.text import printable
from symdim import Expr, Var, product
from symdim.algebra.caches import clear_with_caches, remembered
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.interning import shared_lock
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


Dim: TypeAlias = int | Expr
Shape: TypeAlias = tuple[Dim, ...]
T = TypeVar("T")

MAX_RANK = 1 << 10
"""The most axes of a tensor whose shape is known. Tools take far fewer: NumPy and torch 64."""

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


# -- the table of live values --------------------------------------------------------------------------------------

TABLE: dict[tuple[Any, ...], ref[Any]] = {}
"""Key -> the live value."""

_lock = shared_lock()
_capacity = 1 << 10


def find(key: tuple[Any, ...]) -> Any:
    """The live value with this key, or None."""
    entry = TABLE.get(key)
    return None if entry is None else entry()


def interned(kind: type[T], **fields: Any) -> T:
    """The only live value of this kind with these fields."""
    key = (kind, *fields.values())
    live = find(key)
    if live is None:
        live = object.__new__(kind)
        for name, field in fields.items():
            setattr(live, name, field)
        live = publish(key, live)
    value: T = live
    return value


def publish(key: tuple[Any, ...], value: Any) -> Any:
    """The only live value with this key: `value`, unless there was one before."""
    value.wire = None
    entry = ref(value)
    if TABLE.setdefault(key, entry) is not entry:  # `setdefault` is atomic
        with _lock:
            other = find(key)
            if other is not None:
                return other
            TABLE[key] = entry
    if len(TABLE) > _capacity:
        with _lock:
            _sweep()
    return value


def _sweep() -> None:
    """Drop the entries of dead values, whose keys hold sizes. It runs when the table has doubled, and with
    `clear_caches`, so it costs O(1) for each new value."""
    global _capacity
    for made in list(TABLE):  # a copy: a finalizer may run now and make values
        entry = TABLE.get(made)
        if entry is not None and entry() is None:
            del TABLE[made]
    _capacity = max(1 << 10, 2 * len(TABLE))


def _clear() -> None:
    with _lock:
        _sweep()


clear_with_caches(_clear)  # this file is imported before those whose caches hold values, so it is called after them


# -- values --------------------------------------------------------------------------------------------------------


class Value:
    """What a name in a graph denotes. `wire` has its type as protobuf bytes; only tensors have `dtype` and `shape`.

    A class is called with its `fields`, in this order.
    """

    __slots__ = ("__weakref__", "wire")
    wire: bytes | None
    dtype: int | None = None
    shape: Shape | None = None
    data: tuple[Any, ...] | None = ()
    fields: ClassVar[tuple[str, ...]] = ()

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

    def substitute(self, mapping: Mapping[Any, Dim]) -> Value:
        """The value with variables replaced in its sizes and elements; the same object if none occurs."""
        kind: Any = type(self)
        return kind(*[replaced(getattr(self, name), mapping) for name in self.fields])  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple([getattr(self, name) for name in self.fields])

    def spelled(self, write: Callable[[object], str]) -> str:
        """The text of the type, in which `write` makes the texts of sizes and elements."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spelled(str)

    def __repr__(self) -> str:
        return str(self)


class Progression(NamedTuple):
    """The elements `start`, `start + step`, ...; `length` of them."""

    start: Dim
    step: Dim
    length: Dim

    @property
    def last(self) -> Dim:
        """The last element, if there is one."""
        return self.at(self.length - 1)

    def at(self, index: Dim) -> Dim:
        """The element at an index."""
        return self.start + index * self.step

    def part(self, begin: Dim, length: Dim) -> Progression:
        """So many elements from an index on."""
        return Progression(self.at(begin), self.step, length)

    def backward(self) -> Progression:
        """The elements in reverse order."""
        return Progression(self.last, -self.step, self.length)


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
    fields = ("dtype", "shape", "data", "fill", "samples", "progressions")
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
        tensor: Any = None if entry is None else entry()
        if tensor is None:
            if shape is not None and len(shape) > MAX_RANK:
                return SymTensor(dtype)
            if shape is not None:
                shape = tuple([d if type(d) is int else checked(d) for d in shape])  # NumPy's integers are ints, too
            tensor = object.__new__(cls)
            tensor.dtype, tensor.shape, tensor.data, tensor.fill, tensor.samples = dtype, shape, data, fill, samples
            tensor.progressions = progressions
            tensor = publish(key, tensor)
        assert isinstance(tensor, SymTensor)
        return tensor

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
        shape = self.shape and tuple([replaced(d, mapping) for d in self.shape])
        data = self.data and tuple([replaced(x, mapping) for x in self.data])
        fill = replaced(self.fill, mapping)
        samples = self.samples and tuple([tuple([replaced(x, mapping) for x in part]) for part in self.samples])
        parts = self.progressions
        parts = parts and tuple([Progression(*[replaced(x, mapping) for x in part]) for part in parts])
        same = shape == self.shape and data == self.data and fill is self.fill and samples == self.samples
        same = same and parts == self.progressions
        return self if same else SymTensor(self.dtype, shape, data, fill, samples, parts)

    def spelled(self, write: Callable[[object], str]) -> str:
        dims = "..." if self.shape is None else ", ".join(map(write, self.shape))
        head = f"{dt.text(self.dtype)}[{dims}]"
        data = "" if self.data is None else f"={{{', '.join('?' if x is None else write(x) for x in self.data)}}}"
        return printable(head + data)


def substitute(value: Value, mapping: Mapping[Any, Dim]) -> Value:
    """The value with variables replaced in its shape and data; the same object if none occurs.

    >>> N = Var("N")
    >>> substitute(SymTensor(1, (N, 2 * N)), {N: 3})
    f32[3, 6]
    """
    return value if value is None else value.substitute(mapping)  # None is an absent input in the body of a function


def replaced(x: Any, mapping: Mapping[Any, Dim]) -> Any:
    """A size, an element, a type or a tuple of them with variables replaced."""
    if isinstance(x, Expr):
        return x.substitute(mapping)
    if isinstance(x, tuple):
        parts = [replaced(part, mapping) for part in x]
        return x._make(parts) if hasattr(x, "_make") else tuple(parts)
    replace = getattr(x, "substitute", None)
    return x if replace is None else replace(mapping)


UNKNOWN_SIZE = Var.fresh("?", origin="the sizes of the elements differ")
"""A marker for the size of an axis that differs between the elements of a sequence. It is not a size."""


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
