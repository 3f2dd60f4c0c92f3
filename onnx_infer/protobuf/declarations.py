"""The types that a graph declares: read from its messages once, and parsed once for equal bytes.

Types repeat: a model of a thousand values has a few dozen types. So a declaration is kept as the bytes of its
TypeProto, and the parsed type is remembered for these bytes, with its sizes in written form. What a whole list of value
infos declares is remembered when it is read a second time, because a model is often inferred again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from onnx import TypeProto, ValueInfoProto

from onnx_infer.model.attributes import declared_size, value_type
from onnx_infer.model.declared_bounds import KEY
from onnx_infer.model.size_texts import Size, said
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value
from onnx_infer.values.text import text
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from onnx import GraphProto


_tensors = shared_cache(1 << 12)  # bytes of a TypeProto -> the result of `_tensor`
_MAX_TYPE = 1 << 10
"""The most bytes of a type that is remembered."""

_met = shared_cache(1 << 8)  # (whether they are inputs, their number, bytes of the first and of the last one) of lists
_lists = shared_cache(1 << 5)  # (whether they are inputs, bytes of each ValueInfoProto) of a list -> Types
_MOST_INFOS = 1 << 13
"""The most value infos of a list that is remembered."""

_bytes_of = ValueInfoProto.SerializeToString


class Types(NamedTuple):
    """The types of some values: names with the bytes of TypeProtos; these bytes once each; the dim_params in them.

    Of inputs, `sizes` are the names with the sizes as they are written, `bounds` the texts of bounds in the metadata.
    """

    of: tuple[tuple[str, bytes], ...]
    distinct: tuple[bytes, ...]
    texts: tuple[str, ...]
    sizes: tuple[tuple[str, tuple[Size, ...]], ...] = ()
    bounds: tuple[str, ...] = ()


class Declared(NamedTuple):
    """The types of a graph's inputs, outputs and other values."""

    inputs: Types
    outputs: Types
    others: Types

    @classmethod
    def of(cls, graph: GraphProto) -> Declared:
        """The declarations of a graph."""
        return cls(_remembered(graph.input, True), _remembered(graph.output), _remembered(graph.value_info))


def _remembered(infos: Any, are_inputs: bool = False) -> Types:
    """What value infos declare, remembered from the second time on that such a list is read."""
    if not 0 < len(infos) <= _MOST_INFOS:
        return _declared(infos, are_inputs)
    met = are_inputs, len(infos), _bytes_of(infos[0]), _bytes_of(infos[-1])
    if met not in _met:
        _met[met] = True
        return _declared(infos, are_inputs)
    key = are_inputs, *map(_bytes_of, infos)
    found: Types | None = _lists.get(key)
    if found is None:
        found = _lists[key] = _declared(infos, are_inputs)
    return found


def _declared(infos: Iterable[Any], are_inputs: bool) -> Types:
    """What value infos declare. Equal types are one object, so they are read and looked up by identity."""
    wires: dict[bytes, bytes] = {}
    of = [(text(info.name), wires.setdefault(wire := info.type.SerializeToString(), wire)) for info in infos]
    texts = dict.fromkeys(size for wire in wires for size in sizes_in(wire) if isinstance(size, str) and said(size))
    if not are_inputs:
        return Types(tuple(of), tuple(wires), tuple(texts))
    written = {wire: tuple(map(said, sizes_in(wire))) for wire in wires}
    sizes = tuple([(name, written[wire]) for name, wire in of])
    return Types(tuple(of), tuple(wires), tuple(texts), sizes, tuple(bounds_in(infos)))


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
        numbers = [size for size in map(said, sizes) if isinstance(size, int)]
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
    while True:
        which = kind.WhichOneof("value")
        if which in ("tensor_type", "sparse_tensor_type"):
            return getattr(kind, which).shape
        if which in ("sequence_type", "optional_type"):
            kind = getattr(kind, which).elem_type
        elif which == "map_type":
            kind = kind.map_type.value_type
        else:
            return None
