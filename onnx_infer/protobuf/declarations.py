"""The types that a graph declares: read from its messages once, and parsed once for equal bytes.

Types repeat: a model of a thousand values has a few dozen types. So a declaration is kept as the bytes of its
TypeProto, and the parsed type is remembered for these bytes, with its sizes in written form.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx import TypeProto

from onnx_infer.model.attributes import declared_size, value_type
from onnx_infer.model.symbols import said
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from onnx_infer.values.text import text
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onnx import GraphProto

    from onnx_infer.model.symbols import Size
    from onnx_infer.values.tensor import Dim, Value

_tensors = shared_cache(1 << 12)  # bytes of a TypeProto -> the result of `_tensor`
_MAX_TYPE = 1 << 10
"""The most bytes of a type that is remembered."""

_name_and_type = attrgetter("name", "type")
_bytes_of = TypeProto.SerializeToString


class Declared(NamedTuple):
    """The names and the bytes of the types of a graph's inputs, outputs and other values."""

    inputs: list[tuple[str, bytes]]
    outputs: list[tuple[str, bytes]]
    others: list[tuple[str, bytes]]

    @classmethod
    def of(cls, graph: GraphProto) -> Declared:
        """The declarations of a graph."""
        return cls(_declared(graph.input), _declared(graph.output), _declared(graph.value_info))


def _declared(infos: Iterable[Any]) -> list[tuple[str, bytes]]:
    pairs = map(_name_and_type, infos)
    return [(name if type(name) is str else text(name), _bytes_of(kind)) for name, kind in pairs]


def _tensor(wire: bytes) -> tuple[int | None, tuple[Size, ...] | None] | None:
    """The element type and the written sizes of a tensor type; None for other types."""
    if wire in _tensors:
        return _tensors[wire]  # type: ignore[no-any-return]
    proto, found = TypeProto.FromString(wire), None
    if proto.WhichOneof("value") == "tensor_type":
        inner = proto.tensor_type
        shape = tuple(map(declared_size, inner.shape.dim)) if inner.HasField("shape") else None
        found = dt.read(inner.elem_type), shape
    if len(wire) <= _MAX_TYPE:
        _tensors[wire] = found
    return found


def declared_type(wire: bytes, dim: Callable[[Size], Dim]) -> Value | None:
    """The value that the bytes of a TypeProto describe. `dim` reads the sizes one after the other."""
    tensor = _tensor(wire)
    if tensor is None:
        return value_type(TypeProto.FromString(wire), dim)
    dtype, sizes = tensor
    return SymTensor(dtype, None if sizes is None else map(dim, sizes))


def sizes_in(wire: bytes) -> tuple[Size, ...]:
    """The written sizes of a tensor, or of the tensor in a sequence or optional."""
    tensor = _tensor(wire)
    if tensor is not None:
        return tensor[1] or ()
    shape = innermost_shape(TypeProto.FromString(wire))
    return () if shape is None else tuple(map(declared_size, shape.dim))


def dim_params(declared: Iterable[tuple[str, bytes]]) -> list[str]:
    """The dim_params in these types, in order. Equal types are read once."""
    sizes = (size for wire in dict.fromkeys(wire for _, wire in declared) for size in sizes_in(wire))
    return [size for size in sizes if isinstance(size, str) and said(size)]


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
