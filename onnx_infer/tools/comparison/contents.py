"""The content of constants by its bits. External data are read in blocks, from regular files in the model's reach."""

from __future__ import annotations

import os
import stat
from collections import Counter
from functools import cached_property
from hashlib import sha256
from itertools import zip_longest
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import NodeProto, SparseTensorProto, TensorProto

from onnx_infer.protobuf.files import is_in_reach
from onnx_infer.tools.materialization import literal_tensor
from onnx_infer.values import dtype as dt
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_BLOCK = 1 << 20
"""The bytes that are read at once. Each block has whole elements."""

_FIELDS = {
    dt.FLOAT: ("float_data", "<f4"), dt.COMPLEX64: ("float_data", "<f4"), dt.DOUBLE: ("double_data", "<f8"),
    dt.COMPLEX128: ("double_data", "<f8"), dt.INT64: ("int64_data", "<i8"), dt.UINT64: ("uint64_data", "<u8"),
    dt.UINT32: ("uint64_data", "<u4"), dt.INT32: ("int32_data", "<i4"),
}  # fmt: skip
"""Element type -> the field that holds it and the bytes of `raw_data` for an entry; the others are in int32_data."""

_ENTRIES = {"int32_data": "<i8", "uint64_data": "<u8"}
"""What holds all entries of a field, before they become those of a narrower type."""


class NotReadError(Exception):
    """External data that cannot be read. The message says why."""


class Content:
    """A constant: its element type, its sizes, and a function that reads its bytes, as `raw_data` has them.

    `strings` are the elements of a constant of strings instead. `place` is where external data are.
    """

    def __init__(
        self,
        kind: int,
        dims: tuple[int, ...],
        blocks: Callable[[], Iterator[bytes]],
        strings: tuple[bytes, ...] = (),
        place: tuple[str, ...] = (),
    ) -> None:
        self.kind, self.dims, self.blocks, self.strings, self.place = kind, dims, blocks, strings, place
        self.not_read = ""
        """Why the data could not be read; known after `key`."""

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What equal constants have in common. What cannot be read is matched by its place."""
        digest = sha256()
        try:
            for block in self.blocks():
                digest.update(block)
        except NotReadError as error:
            self.not_read = str(error)
            return "not read", self.kind, self.dims, self.place
        return self.kind, self.dims, digest.digest()

    def __str__(self) -> str:
        return f"{dt.text(dt.read(self.kind))}[{', '.join(map(str, self.dims))}]"


class Contents:
    """Reads constants of a model that lies at `path`; None: nobody knows where its external data are."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        self._external: list[Content] = []

    @property
    def not_read(self) -> list[str]:
        """What could not be read of what was asked for, a line for each reason."""
        reasons = Counter(content.not_read for content in self._external if content.not_read)
        return [f"{count} constant{'s' * (count > 1)}: {reason}" for reason, count in reasons.items()]

    def of(self, tensor: TensorProto) -> Content:
        """The content of a tensor. Nothing is read before it is asked for."""
        kind, dims = tensor.data_type, tuple(tensor.dims)
        if tensor.data_location == TensorProto.EXTERNAL:
            entries = {text(entry.key): text(entry.value) for entry in tensor.external_data}
            place = tuple(entries.get(key, "") for key in ("location", "offset", "length"))
            self._external.append(Content(kind, dims, lambda: self._read(tensor, *place), place=place))
            return self._external[-1]
        if kind == dt.STRING:
            return of_strings(dims, tuple(tensor.string_data))
        return Content(kind, dims, lambda: _parts(tensor.raw_data or _packed(tensor)))

    def of_sparse(self, sparse: SparseTensorProto) -> Content:
        """The content of a sparse tensor: its values and their places."""
        parts = self.of(sparse.values), self.of(sparse.indices)

        def blocks() -> Iterator[bytes]:
            for part in parts:
                yield repr(("sparse", part.key)).encode()
                if part.not_read:
                    raise NotReadError(part.not_read)

        return Content(sparse.values.data_type, tuple(sparse.dims), blocks, place=parts[0].place + parts[1].place)

    def _read(self, tensor: TensorProto, location: str, offset: str, length: str) -> Iterator[bytes]:
        if self._path is None:
            raise NotReadError(f"the folder of the file {location!r} was not given")
        path = os.path.join(os.path.realpath(self._path.parent), location)
        if not is_in_reach(path, self._path):
            raise NotReadError(f"the file {location!r} is outside of the model's folder")
        try:
            start, count = int(offset or 0), int(length or 0) or _bytes_of(tensor)
        except ValueError:
            raise NotReadError(f"an offset or length in the file {location!r} is not a number") from None
        try:
            yield from _blocks(path, start, count)
        except (OSError, ValueError) as error:
            raise NotReadError(f"the file {location!r}: {getattr(error, 'strerror', None) or error}") from None


def _blocks(path: str, offset: int, length: int) -> Iterator[bytes]:
    """So many bytes of a regular file. A pipe or a device would never end, or wait for ever."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a regular file")
        if offset < 0 or length < 0 or status.st_size < offset + length:
            raise ValueError(f"it ends before byte {offset + length}")
        file.seek(offset)
        for start in range(0, length, _BLOCK):
            block = file.read(min(_BLOCK, length - start))
            if not block:
                raise ValueError("it became shorter")
            yield block


def _bytes_of(tensor: TensorProto) -> int:
    bits: int = prod(tensor.dims) * dt.BITS.get(tensor.data_type, 8)
    return -(-bits // 8)


def _parts(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))


def _packed(tensor: TensorProto) -> bytes:
    """The entries of the field of a type as `raw_data` would have them. Types below a byte are packed there already."""
    width = max(dt.BITS.get(tensor.data_type, 32) // 8, 1)
    field, code = _FIELDS.get(tensor.data_type, ("int32_data", f"<u{width}"))
    entries = np.array(getattr(tensor, field)[:], _ENTRIES.get(field, code))
    return entries.astype(code).tobytes()


def of_strings(dims: tuple[int, ...], strings: tuple[bytes, ...]) -> Content:
    """The content of a constant of strings."""
    return Content(dt.STRING, dims, lambda: (b"%d:%s" % (len(s), s) for s in strings), strings)


def literal(node: NodeProto, contents: Contents) -> Content | None:
    """The content of a Constant node, which is the same as that of an initializer; None for other nodes."""
    if node.input or len(node.output) != 1:
        return None
    if (tensor := literal_tensor(node)) is not None:
        return contents.of(tensor)
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or len(node.attribute) != 1:
        return None
    (attribute,) = node.attribute
    if attribute.ref_attr_name or attribute.name not in ("value_string", "value_strings"):
        return None
    if attribute.name == "value_string":
        return of_strings((), (attribute.s,))
    return of_strings((len(attribute.strings),), tuple(attribute.strings))


def differing(first: Content, second: Content) -> str:
    """How two constants differ that are not equal, in words. Both were read."""
    if (first.kind, first.dims) != (second.kind, second.dims):
        return f"{first} -> {second}"
    if first.kind == dt.STRING:
        count = sum(a != b for a, b in zip_longest(first.strings, second.strings))
        return f"{first}: {count} of {max(len(first.strings), len(second.strings))} elements differ"
    bits = dt.BITS.get(first.kind, 8)
    different = 0
    for ours, theirs in zip_longest(first.blocks(), second.blocks(), fillvalue=b""):
        if len(ours) != len(theirs):
            return f"{first}: they have different numbers of bytes"
        different += 0 if ours == theirs else _count(ours, theirs, bits)
    return f"{first}: {different} of {prod(first.dims)} elements differ"


def _count(ours: bytes, theirs: bytes, bits: int) -> int:
    changed = np.frombuffer(ours, np.uint8) ^ np.frombuffer(theirs, np.uint8)
    if bits % 8:
        width = bits if 8 % bits == 0 else 8
        return sum(int(np.count_nonzero(changed >> shift & (1 << width) - 1)) for shift in range(0, 8, width))
    size = bits // 8
    whole = len(changed) // size * size
    return int(np.count_nonzero(changed[:whole].reshape(-1, size).any(axis=1))) + bool(changed[whole:].any())
