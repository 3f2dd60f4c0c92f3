"""Value infos as wire bytes, merged into the message at once. This is several times faster than field by field.

Only these messages of onnx.proto are written: ValueInfoProto {1: name, 2: type}, TypeProto {1: tensor, 4: sequence,
5: map, 8: sparse tensor, 9: optional}, TypeProto.Tensor {1: elem_type, 2: shape}, TensorShapeProto {1: dim} and its
Dimension {1: dim_value, 2: dim_param}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from onnx_infer.values.text import encoded

if TYPE_CHECKING:
    from collections.abc import Container, Mapping


_SHORT = [bytes((n,)) for n in range(128)]
_TAGS = [bytes((number << 3 | 2,)) for number in range(16)]
_TAGGED = [[tag + size for size in _SHORT] for tag in _TAGS]
"""Number of a field -> size of its payload -> what comes before the payload."""


def varint(n: int) -> bytes:
    """A non-negative number in protobuf's base-128 form.

    >>> varint(300)
    b'\\xac\\x02'
    """
    if n < 128:
        return _SHORT[n]
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    """A length-delimited field."""
    size = len(payload)
    return _TAGS[number] + (_SHORT[size] if size < 128 else varint(size)) + payload


def number_field(number: int, value: int) -> bytes:
    """A varint field."""
    return _SHORT[number << 3] + (_SHORT[value] if value < 128 else varint(value))


def dimension(dim: Dim) -> bytes:
    """The field `dim` of a shape: a number, or the text of an expression; empty for `UNKNOWN_SIZE`."""
    if isinstance(dim, int):
        return field(1, number_field(1, dim))
    return field(1, b"" if dim is UNKNOWN_SIZE else dim_param(str(dim)))


def dim_param(text: str) -> bytes:
    """The field `dim_param` of a Dimension."""
    return field(2, encoded(text))


def tensor_type(value: SymTensor | Sparse) -> bytes:
    """A TypeProto.Tensor (or SparseTensor): element type, and the shape if the rank is known."""
    elem = number_field(1, value.dtype) if value.dtype else b""
    if value.shape is None:
        return elem
    return elem + field(2, b"".join(map(dimension, value.shape)))


def type_bytes(value: Value | None) -> bytes:
    """A TypeProto; empty for an unknown value, or one of an unknown element.

    >>> type_bytes(SymTensor(1, (2,)))
    b'\\n\\x08\\x08\\x01\\x12\\x04\\n\\x02\\x08\\x02'
    """
    if isinstance(value, (SymTensor, Sparse)):
        known = value.dtype or value.shape is not None
        return field(1 if isinstance(value, SymTensor) else 8, tensor_type(value)) if known else b""
    if not isinstance(value, (Sequence, Optional, Map)):
        return b""
    inner = type_bytes(value.value if isinstance(value, Map) else value.elem)
    if not inner:  # a type without its element's type is not valid
        return b""
    if isinstance(value, Map):
        return field(5, number_field(1, value.key) + field(2, inner))
    return field(4 if isinstance(value, Sequence) else 9, field(1, inner))


def type_field(value: Value) -> bytes:
    """The field `type` of a ValueInfoProto. It is stored in the value, which is interned."""
    wire = value.wire
    if wire is None:
        payload = type_bytes(value)
        wire = value.wire = field(2, payload) if payload else b""
    return wire


def value_infos(number: Literal[12, 13], values: Mapping[str, Value | None], without: Container[str] = ()) -> bytes:
    """Value infos as a repeated field of this number, without absent and unknown values and those in `without`."""
    tag, entries, names = _TAGS[number], _TAGGED[number], _TAGGED[1]
    out: list[bytes] = []
    for name, value in values.items():
        if name in without:
            continue
        kind = b"" if value is None else value.wire
        if kind is None:
            kind = type_field(value)  # type: ignore[arg-type]  # a value
        if not kind:
            continue
        try:
            text = name.encode()
        except UnicodeEncodeError:
            text = encoded(name)
        size = 2 + len(text) + len(kind)
        if size < 128:
            out.append(entries[size] + names[len(text)] + text + kind)
        else:
            info = field(1, text) + kind
            out.append(tag + varint(len(info)) + info)
    return b"".join(out)
