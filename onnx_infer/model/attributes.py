"""Attributes and small tensors, read from protobuf as plain values."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, TensorProto

from onnx_infer.model.size_texts import Size, said
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import MAX_AROUND_ZERO, MAX_DATA, MAX_FLOATS, MAX_VECTOR, UNKNOWN_SIZE, SymTensor, Value
from onnx_infer.values.text import text
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onnx import SparseTensorProto, TensorShapeProto, TypeProto


def attribute_value(attribute: AttributeProto) -> Any:
    """The plain value of an attribute: int, float, str, tuples of them, SymTensor, Value; a GraphProto stays one."""
    field, read = _FIELDS.get(kind_of(attribute), ("", None))
    if read is None:
        return getattr(attribute, field) if field else None
    return read(getattr(attribute, field))


def kind_of(attribute: AttributeProto) -> int:
    """The type of an attribute; 0 where nothing tells it.

    Models before IR version 2 leave it out: then the first field that is set says it, in the order of `_FIELDS`.
    """
    kind: int = attribute.type
    if kind:
        return kind
    set_fields = {descriptor.name for descriptor, _ in attribute.ListFields()}
    return next((kind for kind, (field, _) in _FIELDS.items() if field in set_fields), 0)


def value_type(proto: TypeProto, dim: Any = None) -> Value | None:
    """The value that a TypeProto describes. `dim` reads one size of a shape; the default reads only numbers."""
    kind = proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        inner = getattr(proto, kind)
        read = dim or number
        shape: Any = tuple([read(declared_size(d)) for d in inner.shape.dim]) if inner.HasField("shape") else None
        if shape is not None and None in shape:
            shape = None
        return (SymTensor if kind == "tensor_type" else Sparse)(dt.read(inner.elem_type), shape)
    if kind == "sequence_type":
        # an unnamed size may differ from element to element
        inner_dim = dim and (lambda size: UNKNOWN_SIZE if size is None else dim(size))
        return Sequence(value_type(proto.sequence_type.elem_type, inner_dim))
    if kind == "optional_type":
        return Optional(value_type(proto.optional_type.elem_type, dim))
    if kind == "map_type":
        return Map(proto.map_type.key_type, value_type(proto.map_type.value_type, dim))
    return None


def declared_size(dim: TensorShapeProto.Dimension) -> Size:
    """A size as the model writes it; None if it says nothing."""
    kind = dim.WhichOneof("value")
    if kind == "dim_param":
        return said(text(dim.dim_param))
    return None if kind is None else said(int(dim.dim_value))


def number(size: Size) -> int | None:
    """A size that is written as a number, or None."""
    return size if isinstance(size, int) else None


def sparse_constant(proto: SparseTensorProto) -> Sparse:
    """The type of a sparse constant."""
    return Sparse(dt.read(proto.values.data_type), sizes(proto))


def dense(proto: SparseTensorProto) -> SymTensor:
    """The tensor that a sparse one stands for, with its elements if they are few and stored in the message."""
    kind, shape = proto.values.data_type, sizes(proto)
    count = None if shape is None else known_count(kind, shape)
    values, places = constant(proto.values).data, constant(proto.indices).data
    if shape is None or count is None or values is None or places is None or kind == dt.STRING:
        return SymTensor(dt.read(kind), shape)
    if len(proto.indices.dims) == 2 and len(places) == len(values) * len(shape):
        rows = [places[i : i + len(shape)] for i in range(0, len(places), len(shape))]
        places = tuple([sum(x * prod(shape[i + 1 :]) for i, x in enumerate(row)) for row in rows])
    elements = [False if kind == dt.BOOL else 0.0 if kind in dt.FLOATS else 0] * count
    if len(places) != len(values) or not all(0 <= place < count for place in places):
        return SymTensor(kind, shape)
    for place, value in zip(places, values, strict=True):
        elements[place] = value
    return SymTensor(kind, shape, elements)


def why_unread(handle: object) -> str:
    """Why the elements of a constant are not read."""
    tensor = getattr(handle, "t", handle)
    if not isinstance(tensor, TensorProto):
        return "they are not in the model"
    if tensor.data_location == _EXTERNAL:
        file = next((text(entry.value) for entry in tensor.external_data if text(entry.key) == "location"), "")
        return f"they are external data in '{file}', which onnx.load(path) reads"
    stored, what = (tensor.raw_data, "bytes") if tensor.raw_data else (_in_field(tensor, tensor.data_type), "numbers")
    return f"it stores {len(stored)} {what} for {prod(tensor.dims)} elements of {dt.text(tensor.data_type)}"


def sizes(proto: TensorProto | SparseTensorProto) -> tuple[int, ...] | None:
    """The sizes of a constant; None if one is negative."""
    dims = tuple(proto.dims[:])  # to iterate over protobuf's container costs several times as much as a slice
    return None if dims and min(dims) < 0 else dims


_EXTERNAL = TensorProto.EXTERNAL
_STRUCT = {dt.INT64: "q", dt.INT32: "i", dt.FLOAT: "f", dt.DOUBLE: "d", dt.BOOL: "?", dt.INT8: "b", dt.UINT8: "B",
           dt.INT16: "h", dt.UINT16: "H", dt.UINT32: "I", dt.UINT64: "Q", dt.FLOAT16: "e",
           dt.BFLOAT16: "H"}  # fmt: skip
_PACKED = {n: bits for n, bits in dt.BITS.items() if bits < 8 and n in dt.INTEGER_RANGE}
"""Integers of which several are in a byte, the first one in its lowest bits."""
_BYTES = {code: struct.calcsize(f"<{code}") for code in _STRUCT.values()}
_TYPED_FIELD = {dt.INT64: "int64_data", dt.FLOAT: "float_data", dt.DOUBLE: "double_data", dt.UINT32: "uint64_data",
                dt.UINT64: "uint64_data", dt.STRING: "string_data"}  # fmt: skip

_constants = shared_cache(1 << 11)  # (element type, sizes, what is stored) of a small tensor -> SymTensor


def constant(proto: TensorProto, long: bool = False) -> SymTensor:
    """A TensorProto as a tensor, with its elements if they are few and stored in the message. Weights are never read.

    With `long` the elements of longer integer vectors are read too.
    """
    kind, shape = proto.data_type, sizes(proto)
    count = None if shape is None else known_count(kind, shape, long)
    if shape is None or count is None or proto.data_location == _EXTERNAL:
        return SymTensor(dt.read(kind), shape)
    stored = proto.raw_data or _in_field(proto, kind)
    tensor: SymTensor | None = _constants.get(key := (kind, shape, stored))
    if tensor is None:
        tensor = SymTensor(kind, shape, _elements(kind, stored, count))
        if count <= MAX_DATA:
            _constants[key] = tensor
    return tensor


def _in_field(proto: TensorProto, kind: int) -> tuple[Any, ...]:
    """The values in the field of their type."""
    return tuple(getattr(proto, _TYPED_FIELD.get(kind, "int32_data"))[:])


def _elements(kind: int, stored: bytes | tuple[Any, ...], count: int) -> tuple[Any, ...] | None:
    """The elements of a tensor from what is stored; None if their number is not `count`."""
    if isinstance(stored, bytes):
        return unpacked(kind, stored, count)
    if kind == dt.STRING:
        return strings(stored, count)
    if kind in _PACKED:
        return unpacked(kind, bytes([byte & 0xFF for byte in stored]), count)
    if len(stored) != count:
        return None
    if kind not in (dt.FLOAT16, dt.BFLOAT16):
        return tuple(map(bool, stored)) if kind == dt.BOOL else _without_nan(stored)
    # int32_data has 16-bit floats as their bits, and small integers and bools as numbers (onnx.proto)
    return unpacked(kind, struct.pack(f"<{count}H", *[bits & 0xFFFF for bits in stored]), count)


def known_count(kind: int, shape: tuple[int, ...], long: bool = False) -> int | None:
    """The number of a tensor's elements if they are few and of a type that is propagated, else None.

    With `long`, longer integer vectors are allowed too.
    """
    count = around = 1
    for size in shape:
        count *= size
        around *= size or 1
    if not count and around > MAX_AROUND_ZERO:
        return None
    most = MAX_FLOATS if kind in dt.FLOATS else MAX_DATA
    if long and len(shape) == 1 and kind in dt.INTEGER_RANGE:
        most = MAX_VECTOR
    if count > most:
        return None
    return count if kind in _STRUCT or kind in _PACKED or kind == dt.STRING else None


def strings(texts: Iterable[bytes], count: int) -> tuple[str, ...] | None:
    """The elements of a tensor of strings; None if their number is not `count`."""
    elements = tuple(map(text, texts))
    return elements if len(elements) == count else None


def unpacked(kind: int, raw: bytes, count: int) -> tuple[Any, ...] | None:
    """The numbers of a tensor from its `raw_data`; None if their number is not `count`.

    >>> unpacked(dt.NUMBERS["i4"], bytes([0x40, 0x0F]), 3)
    (0, 4, -1)
    """
    if kind in _PACKED:
        return _in_bytes(raw, count, _PACKED[kind], dt.INTEGER_RANGE[kind][0])
    code = _STRUCT.get(kind)
    if code is None or len(raw) != count * _BYTES[code]:
        return None
    if kind == dt.BFLOAT16:
        # the upper half of a 32-bit float
        raw, code = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2)), "f"
    numbers = struct.unpack(f"<{count}{code}", raw)
    return _without_nan(numbers) if code in "efd" else numbers


def _in_bytes(raw: bytes, count: int, bits: int, low: int) -> tuple[int, ...] | None:
    """The integers in bytes, each of so many bits, from `low` on; None if their number is not `count`."""
    if len(raw) != -(-count * bits // 8):
        return None
    numbers = [byte >> shift & (1 << bits) - 1 for byte in raw for shift in range(0, 8, bits)]
    return tuple([(number - low) % (1 << bits) + low for number in numbers[:count]])


def _without_nan(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values with NaN as unknown and -0.0 as 0.0, because rules compare elements."""
    if all(type(x) is not float for x in values):
        return values
    return tuple(x + 0.0 if x == x else None for x in values)


def _each(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """The function that reads every value of a repeated field."""
    return lambda values: tuple(map(read, values))


def _numbers(values: Any) -> tuple[Any, ...]:
    return tuple(values[:])


_FIELDS: dict[int, tuple[str, Callable[[Any], Any] | None]] = {
    AttributeProto.FLOAT: ("f", None),
    AttributeProto.INT: ("i", None),
    AttributeProto.STRING: ("s", text),
    AttributeProto.TENSOR: ("t", constant),
    AttributeProto.GRAPH: ("g", None),
    AttributeProto.SPARSE_TENSOR: ("sparse_tensor", sparse_constant),
    AttributeProto.TYPE_PROTO: ("tp", value_type),
    AttributeProto.FLOATS: ("floats", _numbers),
    AttributeProto.INTS: ("ints", _numbers),
    AttributeProto.STRINGS: ("strings", _each(text)),
    AttributeProto.TENSORS: ("tensors", _each(constant)),
    AttributeProto.GRAPHS: ("graphs", _numbers),
    AttributeProto.SPARSE_TENSORS: ("sparse_tensors", _each(sparse_constant)),
    AttributeProto.TYPE_PROTOS: ("type_protos", _each(value_type)),
}
"""Kind of attribute -> the field with its value, and the function that makes it plain; None if it is plain."""
