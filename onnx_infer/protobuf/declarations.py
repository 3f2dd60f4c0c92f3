"""The types that a graph declares: read from its messages once, and parsed once for equal bytes.

Types repeat: a model of a thousand values has a few dozen types. So a declaration is kept as the bytes of its
TypeProto, and the parsed type is remembered for these bytes, with its sizes in written form. What a whole list of value
infos declares is remembered, because a model is often inferred again; of a long list only when it is read a second
time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onnx import FunctionProto, TypeProto, ValueInfoProto

from onnx_infer.model.attributes import declared_size, value_type
from onnx_infer.model.given import KEY
from onnx_infer.model.size_texts import Size
from onnx_infer.protobuf.wire import field
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value
from onnx_infer.values.text import text
from symdim.algebra.caches import Cache, shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx import GraphProto


_tensors = shared_cache(1 << 12)  # bytes of a TypeProto -> the result of `_tensor`
_bare = shared_cache(1 << 12)  # bytes of the field `type` of a ValueInfoProto that is bare
_names = shared_cache(1 << 14)  # bytes of a ValueInfoProto with a bare type -> its name
_MAX_TYPE = 1 << 10
"""The most bytes of a type that is remembered."""

_NAME, _LONG = 10, 128
"""The first byte of a ValueInfoProto, and the first size of a field that needs more than one byte."""

_met = shared_cache(1 << 8)  # (whether they are inputs, their number, bytes of the first and of the last one) of lists
_lists = shared_cache(1 << 5)  # (whether they are inputs, bytes of each ValueInfoProto) of a list -> Types
_short_lists = shared_cache(1 << 9)
_FEW_INFOS, _MOST_INFOS = 1 << 4, 1 << 13
"""The most value infos of a short list, and of one that is remembered."""

_bytes_of = ValueInfoProto.SerializeToString


class Types:
    """The types of some values: `of` are names with the bytes of TypeProtos, `texts` the dim_params in these.

    `sizes` are the names with the sizes as they are written; `are_named` says whether each is a number or has a text.
    Of inputs, `bounds` are the texts of bounds in the metadata.
    """

    __slots__ = ("_values", "_wires", "are_named", "bounds", "of", "sizes", "texts")

    def __init__(self, infos: Iterable[Any], are_inputs: bool) -> None:
        wires: dict[bytes, bytes] = {}  # equal types are one object, so they are read and looked up by identity
        self.of = [(text(info.name), wires.setdefault(wire := info.type.SerializeToString(), wire)) for info in infos]
        written = {wire: sizes_in(wire) for wire in wires}
        self.texts = tuple(dict.fromkeys(s for sizes in written.values() for s in sizes if isinstance(s, str)))
        self.sizes = tuple([(name, written[wire]) for name, wire in self.of])
        self.bounds = tuple(bounds_in(infos)) if are_inputs else ()
        self.are_named = not any(None in sizes for sizes in written.values())
        self._wires = tuple(wires)
        self._values = Cache(1 << 4)  # sizes in place of the texts -> names with values

    def values(self, dim: Callable[[Size], Dim]) -> list[tuple[str, Value | None]]:
        """The names with the values that the types describe. `dim` gives a size for each text and for None."""
        key = tuple(map(dim, self.texts))
        found: list[tuple[str, Value | None]] | None = self._values.get(key)
        if found is None:
            read = {wire: declared_type(wire, dim) for wire in self._wires}
            found = self._values[key] = [(name, read[wire]) for name, wire in self.of]
        return found


class Declared(NamedTuple):
    """The types of a graph's inputs, outputs and other values."""

    inputs: Types
    outputs: Types
    others: Types

    @classmethod
    def of(cls, graph: GraphProto | FunctionProto) -> Declared:
        """The declarations of a graph, or of a function, of whose inputs and outputs only the names are declared."""
        others = _remembered(graph.value_info)
        if isinstance(graph, FunctionProto):
            return cls(_remembered((), True), _remembered(()), others)
        return cls(_remembered(graph.input, True), _remembered(graph.output), others)

    def named(self) -> tuple[tuple[tuple[str, tuple[Size, ...]], ...], ...]:
        """The names with their sizes as they are written, without lists that have no text, inputs last."""
        return tuple([types.sizes for types in reversed(self) if types.texts])


def _remembered(infos: Any, are_inputs: bool = False) -> Types:
    """What value infos declare. A list of more than a few is remembered from the second time on that it is read."""
    known = _short_lists
    if len(infos) > _FEW_INFOS:
        known = _lists
        met = are_inputs, len(infos), _bytes_of(infos[0]), _bytes_of(infos[-1])
        if len(infos) > _MOST_INFOS or met not in _met:
            _met[met] = True
            return Types(infos, are_inputs)
    key = are_inputs, *map(_bytes_of, infos)
    found: Types | None = known.get(key)
    if found is None:
        found = known[key] = Types(infos, are_inputs)
    return found


def bounds_in(holders: Iterable[Any]) -> Iterator[str]:
    """The texts of bounds in the metadata of a model, or of values."""
    metadata = [entries for holder in holders if (entries := holder.metadata_props)]
    return (text(e.value) for entries in metadata for e in entries if e.key == KEY)


class _Tensor(NamedTuple):
    """A tensor type as it is written. `known` is the tensor if every declared size is a number."""

    dtype: int | None
    sizes: tuple[Size, ...]
    known: SymTensor | None


def _tensor(wire: bytes) -> _Tensor | None:
    """The tensor type in these bytes; None for other types."""
    known: _Tensor | bool | None = _tensors.get(wire, False)
    if known is not False:
        return known  # type: ignore[return-value]
    proto, found = TypeProto.FromString(wire), None
    if proto.WhichOneof("value") == "tensor_type":
        inner = proto.tensor_type
        dtype, sizes = dt.read(inner.elem_type), tuple(map(declared_size, inner.shape.dim))
        numbers = [size for size in sizes if isinstance(size, int)]
        shape = numbers if inner.HasField("shape") else None
        found = _Tensor(dtype, sizes, SymTensor(dtype, shape) if len(numbers) == len(sizes) else None)
    if len(wire) <= _MAX_TYPE:
        _tensors[wire] = found
    return found


def declared_type(wire: bytes, dim: Callable[[Size], Dim]) -> Value | None:
    """The value that the bytes of a TypeProto describe. `dim` reads the sizes one after the other."""
    tensor = _tensor(wire)
    if tensor is None:
        return value_type(TypeProto.FromString(wire), dim)
    return tensor.known or SymTensor(tensor.dtype, map(dim, tensor.sizes))


def sizes_in(wire: bytes) -> tuple[Size, ...]:
    """The written sizes of a tensor, or of the tensor in a sequence or optional."""
    tensor = _tensor(wire)
    if tensor is not None:
        return tensor.sizes
    return tuple(map(declared_size, innermost_dims(TypeProto.FromString(wire))))


def innermost_dims(kind: Any) -> Any:
    """The Dimension messages of a type, which may be nested."""
    shape = innermost_shape(kind)
    return () if shape is None else shape.dim


def innermost_shape(kind: Any) -> Any:
    """The shape in a type, which may be nested; None if it has none."""
    tensor = innermost_tensor(kind)
    return None if tensor is None else tensor.shape


def innermost_tensor(kind: Any) -> Any:
    """The message of the tensor or sparse tensor in a type, which may be nested; None if it has none."""
    *_, last = nested(kind)
    which = last.WhichOneof("value")
    return getattr(last, which) if which in ("tensor_type", "sparse_tensor_type") else None


def nested(kind: Any) -> Iterator[Any]:
    """A TypeProto and those of its elements, outer ones first."""
    while True:
        yield kind
        which = kind.WhichOneof("value")
        if which in ("sequence_type", "optional_type"):
            kind = getattr(kind, which).elem_type
        elif which == "map_type":
            kind = kind.map_type.value_type
        else:
            return


def bare_names(infos: Iterable[Any]) -> list[str | None]:
    """The names of value infos that have a name and a bare type; None for each other one, or one of a long name."""
    wires = list(map(_bytes_of, infos))
    found: list[str | None] = list(map(_names.get, wires))
    if None in found:
        for place, wire in enumerate(wires):
            if found[place] is None and len(wire) > 1 and wire[0] == _NAME and wire[1] < _LONG:
                cut = wire[1] + 2
                if wire[cut:] in _bare or is_bare(wire[cut:]):
                    found[place] = _names[wire] = wire[2:cut].decode("utf-8", "surrogateescape")
    return found


def is_bare(wire: bytes) -> bool:
    """Whether the bytes after the name of a ValueInfoProto are a short type without denotations or unknown fields."""
    if wire in _bare:
        return True
    if not 1 < len(wire) <= _MAX_TYPE or (wire[1] < _LONG and len(wire) != wire[1] + 2):  # there is more than a type
        return False
    kind = ValueInfoProto.FromString(wire).type
    kind.DiscardUnknownFields()
    for part in nested(kind):
        part.ClearField("denotation")
    for dim in innermost_dims(kind):
        dim.ClearField("denotation")
    if field(2, kind.SerializeToString()) != wire:
        return False
    _bare[wire] = True
    return True
