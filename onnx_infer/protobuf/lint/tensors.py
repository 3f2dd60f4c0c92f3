"""Tensors: element type, sizes and data of initializers and attributes, sparse ones too, and the files of weights."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from onnx import SparseTensorProto, TensorProto

from onnx_infer.protobuf.files import data_files, within
from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.lint.names import node_label
from onnx_infer.values import dtype as dt
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from onnx import ModelProto

    from onnx_infer.protobuf.lint.names import Scope

    Tensor: TypeAlias = "TensorProto | SparseTensorProto"


MOST = 2**63 - 1
"""The most elements of a tensor, and bytes of a file."""

_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "raw_data", "double_data", "uint64_data")
_OWN = {
    **dict.fromkeys((dt.FLOAT, dt.COMPLEX64), "float_data"), **dict.fromkeys((dt.DOUBLE, dt.COMPLEX128), "double_data"),
    **dict.fromkeys((dt.UINT32, dt.UINT64), "uint64_data"), dt.INT64: "int64_data", dt.STRING: "string_data",
}  # fmt: skip
"""Element type -> the field of its data, if this is not int32_data."""


def tensors_of(scope: Scope) -> Iterator[tuple[str, str, Tensor]]:
    """The tensors of a graph, without those of graphs in it, each with its place and name."""
    if not scope.is_function:
        yield from ((scope.place, text(tensor.name), tensor) for tensor in scope.graph.initializer)
        yield from ((scope.place, text(sparse.values.name), sparse) for sparse in scope.graph.sparse_initializer)
    for node in scope.graph.node:
        for attribute in node.attribute:
            single = [getattr(attribute, name) for name in ("t", "sparse_tensor") if attribute.HasField(name)]
            tensors = [*single, *attribute.tensors, *attribute.sparse_tensors]
            place = f"{'' if scope.place == 'graph' else f'{scope.place}, '}{node_label(node)}" if tensors else ""
            yield from ((place, text(attribute.name), tensor) for tensor in tensors)


def tensor_findings(scope: Scope, read: Container[str]) -> Iterator[Finding]:
    """The findings about the tensors of one graph; `read` are the names that any graph reads."""
    for place, name, tensor in tensors_of(scope):
        if isinstance(tensor, TensorProto):
            fault = _fault(tensor, place != scope.place or name in read)
        else:
            told = _sparse_fault(tensor)
            fault = ("sparse-tensor", told) if told else None
        if fault is not None:
            yield Finding(fault[0], place, name, fault[1])


def count_of(tensor: TensorProto) -> int | None:
    """The number of elements; None if a size is negative, or a product of sizes is too large."""
    count = 1
    for size in tensor.dims:
        count *= size
        if size < 0 or count > MOST:
            return None
    return count


def byte_count(tensor: TensorProto) -> int | None:
    """The number of bytes of the elements as raw data; None if it is not known."""
    count, bits = count_of(tensor), dt.BITS.get(tensor.data_type, 0)
    return None if count is None or not bits else -(-count * bits // 8)


def _fault(tensor: TensorProto, is_read: bool = True) -> tuple[str, str] | None:
    """The rule that a tensor breaks, and how. Only of one that `is_read` too many data are a fault."""
    kind, count = tensor.data_type, count_of(tensor)
    if kind not in TensorProto.DataType.values() or not kind:
        return "tensor-type", f"the element type {kind}" if kind else "no element type"
    if count is None:
        return "tensor-shape", f"dims {list(tensor.dims)}"
    lengths = {field: length for field in _FIELDS if (length := len(getattr(tensor, field)))}
    if tensor.data_location == TensorProto.EXTERNAL:
        told = f"the data are in a file, and in {next(iter(lengths))}" if lengths else ""
        told = told or ("strings in a file" if kind == dt.STRING and count else "")
    elif count == 0:
        told = f"no elements, and data in {next(iter(lengths))}" if lengths else ""
    elif len(lengths) != 1:
        told = f"{count} elements, and data in {' and '.join(lengths) or 'no field'}"
    else:
        ((field, length),) = lengths.items()
        told = _length_fault(tensor, count, field, length, is_read)
    return ("tensor-data", told) if told else None


def _length_fault(tensor: TensorProto, count: int, field: str, length: int, is_read: bool) -> str:
    """What is wrong with the field of the data or its length."""
    kind, bits = tensor.data_type, dt.BITS.get(tensor.data_type, 0)
    own = _OWN.get(kind, "int32_data")
    if field == "raw_data":
        least = most = byte_count(tensor)
        what = "bytes"
        if kind == dt.STRING:
            return "strings in raw_data"
    else:
        if field != own:
            return f"{dt.text(kind)} in {field}, and not in {own}"
        what = "entries"
        least = most = count * (2 if kind in (dt.COMPLEX64, dt.COMPLEX128) else 1)
        if kind in dt.BITS and 0 < bits < 6:  # an entry has as many as fit into 8 or 32 bits
            least = -(-count * bits // 32)
    if least is None or most is None or (least <= length and (length <= most or not is_read or 0 < bits < 8)):
        return ""
    return f"{length} {what} in {field}, and {least} are needed for {count} elements of {dt.text(kind)}"


def _sparse_fault(sparse: SparseTensorProto) -> str:
    """What is wrong with a sparse tensor; empty if nothing is."""
    values, indices, dims = sparse.values, sparse.indices, list(sparse.dims)
    if not sparse.HasField("values"):
        return "it has no values"
    for what, part in (("values", values), ("indices", indices)):
        if (what == "values" or sparse.HasField(what)) and (fault := _fault(part)):
            return f"its {what}: {fault[1]}"
    if len(values.dims) != 1:
        return f"its values have {len(values.dims)} axes, and not 1"
    count = values.dims[0]
    if not dims or min(dims) <= 0:
        return f"dims {dims}, and all must be positive"
    if not sparse.HasField("indices"):
        return f"it has no indices for {count} values" if count else ""
    if indices.data_type != TensorProto.INT64:
        return f"its indices are {dt.text(indices.data_type)}, and not i64"
    shape = list(indices.dims)
    if shape not in ([count], [count, len(dims)]):
        return f"its indices are {shape}, and neither [{count}] nor [{count}, {len(dims)}]"
    return "" if indices.data_location == TensorProto.EXTERNAL else _order_fault(indices, shape, dims)


def _order_fault(indices: TensorProto, shape: list[int], dims: list[int]) -> str:
    """What is wrong with the values and the order of the indices of a sparse tensor."""
    raw = np.frombuffer(indices.raw_data, "<i8") if indices.raw_data else np.array(indices.int64_data, np.int64)
    table = raw.reshape(shape)
    rows = [tuple(row) for row in table.tolist()] if len(shape) == 2 else [(index,) for index in table.tolist()]
    limits = dims if len(shape) == 2 else [int(np.prod(np.array(dims, object)))]
    before: tuple[int, ...] = ()
    for number, row in enumerate(rows):
        if not all(0 <= index < limit for index, limit in zip(row, limits, strict=True)):
            return f"its index {number} is {list(row)}, which is not within {limits}"
        if number and row <= before:
            return f"its index {number} is {list(row)}, and the one before is {list(before)}: they must rise"
        before = row
    return ""


_KEYS = frozenset(("location", "offset", "length", "checksum"))
_NUMBER = re.compile(r"\d{1,19}", re.ASCII)


def external(scopes: Iterable[Scope]) -> list[tuple[str, str, TensorProto]]:
    """The tensors whose data are in files, each with its place and name."""
    tensors = []
    for place, name, tensor in (each for scope in scopes for each in tensors_of(scope)):
        parts = [tensor.values, tensor.indices] if isinstance(tensor, SparseTensorProto) else [tensor]
        tensors += [(place, name, part) for part in parts if part.data_location == TensorProto.EXTERNAL]
    return tensors


def file_findings(
    model: ModelProto, tensors: Sequence[tuple[str, str, TensorProto]], path: str | os.PathLike[str] | None
) -> Iterator[Finding]:
    """The findings about files of weights; only about what the entries say if the folder of the model is not known."""
    folder = Path("." if path is None else path).parent
    locations = [text(entry.value) for _, _, tensor in tensors for entry in tensor.external_data]
    for file in data_files(model, folder) if not any("\0" in location for location in locations) else ():
        location = text(file.entries[0].value)
        if _is_outside(location):
            yield Finding("outside-weights", "external data", location)
        elif path is not None and location and not os.path.isfile(file.path):
            yield Finding("missing-weights", "external data", location)
        elif path is not None and location and _is_linked(file.path, (folder, os.path.dirname(os.path.realpath(path)))):
            yield Finding("linked-weights", "external data", location)
    for place, name, tensor in tensors:
        entries = [(text(entry.key), text(entry.value)) for entry in tensor.external_data]
        if told := _entry_fault(entries):
            yield Finding("external-entry", place, name, told)
        elif path is not None and (told := _range_fault(tensor, dict(entries), folder)):
            yield Finding("cut-weights", place, name, told)


def _is_outside(location: str) -> bool:
    return os.path.isabs(location) or os.path.normpath(location).split(os.sep)[0] == os.pardir


def _entry_fault(entries: list[tuple[str, str]]) -> str:
    """What is wrong with the entries of one tensor; empty if nothing is."""
    values = dict(entries)
    location = values.get("location", "")
    if not location or "\0" in location:
        return "its location has a NUL character" if location else "it has no location"
    for key, count in Counter(key for key, _ in entries).items():
        if key not in _KEYS:
            return f"onnxruntime knows no key {key!r}"
        if count > 1:
            return f"it has {count} entries {key!r}"
    for key in ("offset", "length"):
        number = values.get(key, "0")
        if not _NUMBER.fullmatch(number) or int(number) > MOST:
            return f"its {key} is {number!r:.60}, and no number of bytes"
    return ""


def _range_fault(tensor: TensorProto, entries: dict[str, str], folder: Path) -> str:
    """How the data of a tensor do not fit into their file; empty if they do, and if the file or their size is open."""
    needed, offset = byte_count(tensor), int(entries.get("offset", "0"))
    length = int(entries.get("length", "0")) or needed  # 0 is none
    path = os.path.join(os.path.realpath(folder), entries["location"])
    if needed is None or length is None or _is_outside(entries["location"]) or not os.path.isfile(path):
        return ""
    if length != needed:
        return f"its length is {length} bytes, and its type and shape need {needed}"
    size = os.path.getsize(path)
    return "" if offset + needed <= size else f"{needed} bytes from {offset}, and the file has {size}"


def _is_linked(path: str, folders: Iterable[str | Path]) -> bool:
    """Whether a file is a symbolic link, has several hard links, or lies outside of these folders because of a link."""
    real = os.path.realpath(path)
    outside = all(within(real, Path(folder)) is None for folder in folders)
    return os.path.islink(path) or outside or os.stat(path).st_nlink > 1
