"""The types that a graph declares: read from its messages once, and parsed once for equal bytes.

Types repeat: a model of a thousand values has a few dozen types. So a type is parsed once in a list. What a whole list
of value infos declares is remembered for its bytes, because a model is often inferred again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import FunctionProto, TypeProto, ValueInfoProto

from onnx_infer.model.attributes import declared_size, value_type
from onnx_infer.model.size_texts import Size
from onnx_infer.protobuf.wire import dim_param, field
from onnx_infer.values.tensor import Dim, Value
from onnx_infer.values.text import encoded, text
from symdim.algebra.caches import Cache, shared_cache
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from onnx import GraphProto


_bare = shared_cache(1 << 12)  # bytes of a TypeProto that is bare
_MAX_TYPE = 1 << 10
"""The most bytes of a type that is remembered."""

_lists = shared_cache(1 << 7)  # bytes of each ValueInfoProto of a list -> Types
_MOST_INFOS = 1 << 12
"""The most value infos of a list that is remembered."""

_bytes_of = ValueInfoProto.SerializeToString


class DeclaredType:
    """A type as it is written. `sizes` are those of a tensor, or of the tensor in a sequence or optional."""

    __slots__ = ("_proto", "sizes", "wire")

    def __init__(self, wire: bytes) -> None:
        self.wire = wire
        self._proto = TypeProto.FromString(wire)
        self.sizes: tuple[Size, ...] = tuple(map(declared_size, innermost_dims(self._proto)[:]))

    def value(self, dim: Callable[[Size], Dim]) -> Value | None:
        """The value that the type describes. `dim` reads the sizes one after the other."""
        return value_type(self._proto, dim)


class Types:
    """The declared types of some values: `of` are their names with the types, `texts` the dim_params in these.

    `sizes` are the names with the sizes as they are written; `are_named` says whether each is a number or has a text.
    """

    __slots__ = ("_bare", "_kinds", "_values", "_wires", "are_named", "of", "sizes", "texts")

    def __init__(self, infos: Iterable[ValueInfoProto], wires: tuple[bytes, ...]) -> None:
        self._wires = wires
        self._bare: list[str | None] | None = None
        kinds: dict[bytes, DeclaredType] = {}
        self.of: list[tuple[str, DeclaredType]] = []
        for info in infos:
            wire = info.type.SerializeToString()
            self.of.append((text(info.name), kinds.get(wire) or kinds.setdefault(wire, DeclaredType(wire))))
        self._kinds = tuple(kinds.values())
        self.texts = tuple(dict.fromkeys([s for kind in self._kinds for s in kind.sizes if isinstance(s, str)]))
        self.sizes = tuple([(name, kind.sizes) for name, kind in self.of])
        self.are_named = not any(None in kind.sizes for kind in self._kinds)
        self._values = Cache(1 << 4)  # sizes in place of the texts -> names with values

    def values(self, dim: Callable[[Size], Dim]) -> list[tuple[str, Value | None]]:
        """The names with the values that the types describe. `dim` gives a size for each text and for None."""
        key = tuple(map(dim, self.texts))
        values: list[tuple[str, Value | None]] | None = self._values.get(key)
        if values is None:
            read = {kind: kind.value(dim) for kind in self._kinds}
            values = self._values[key] = [(name, read[kind]) for name, kind in self.of]
        return values

    def bare_names(self) -> list[str | None]:
        """The names of the value infos that have a name and a bare type; None for each other one."""
        if self._bare is None:
            self._bare = [
                name if name and is_bare(kind.wire) and info == field(1, encoded(name)) + field(2, kind.wire) else None
                for (name, kind), info in zip(self.of, self._wires, strict=True)
            ]
        return self._bare


class Declared(NamedTuple):
    """The types of a graph's inputs, outputs and other values."""

    inputs: Types
    outputs: Types
    others: Types

    @classmethod
    def of(cls, graph: GraphProto | FunctionProto) -> Declared:
        """The declarations of a graph, or of a function, of whose inputs and outputs only the names are declared."""
        others = types_of(graph.value_info)
        if isinstance(graph, FunctionProto):
            return cls(types_of(()), types_of(()), others)
        return cls(types_of(graph.input), types_of(graph.output), others)

    def named(self) -> tuple[tuple[tuple[str, tuple[Size, ...]], ...], ...]:
        """The names with their sizes as they are written, without lists that have no text, inputs last."""
        return tuple([types.sizes for types in reversed(self) if types.texts])


def types_of(infos: Any) -> Types:
    """What value infos declare, remembered for their bytes. The messages are not kept."""
    key = tuple(map(_bytes_of, infos))
    types: Types | None = _lists.get(key)
    if types is None:
        types = Types(infos, key)
        if len(key) <= _MOST_INFOS:
            _lists[key] = types
    return types


def innermost_dims(kind: Any) -> Any:
    """The Dimension messages of a type, which may be nested."""
    tensor = innermost_tensor(kind)
    return () if tensor is None else tensor.shape.dim


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


def write_sizes(shape: Any, sizes: Sequence[Size]) -> None:
    """Write the sizes of a shape. The denotations of its axes stay if the rank does."""
    if len(shape.dim) != len(sizes):
        del shape.dim[:]
    for axis, size in enumerate(sizes):
        dim = shape.dim[axis] if axis < len(shape.dim) else shape.dim.add()
        if isinstance(size, int):
            dim.dim_value = size
        elif size is not None:
            dim.MergeFromString(dim_param(size))
    shape.SetInParent()


def is_bare(wire: bytes) -> bool:
    """Whether the bytes of a TypeProto are few, and have no denotations or unknown fields."""
    if wire in _bare:
        return True
    if len(wire) > _MAX_TYPE:
        return False
    kind = TypeProto.FromString(wire)
    kind.DiscardUnknownFields()
    for part in nested(kind):
        part.ClearField("denotation")
    for dim in innermost_dims(kind):
        dim.ClearField("denotation")
    if kind.SerializeToString() != wire:
        return False
    _bare[wire] = True
    return True
