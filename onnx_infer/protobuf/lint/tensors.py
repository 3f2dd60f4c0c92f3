"""Tensors: element type, sizes and data of initializers and of attributes, sparse ones too."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from onnx import SparseTensorProto, TensorProto

from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.lint.scopes import node_label
from onnx_infer.values import dtype as dt
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from onnx_infer.protobuf.lint.scopes import Scope

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
            found = [*single, *attribute.tensors, *attribute.sparse_tensors]
            place = f"{'' if scope.place == 'graph' else f'{scope.place}, '}{node_label(node)}" if found else ""
            yield from ((place, text(attribute.name), tensor) for tensor in found)


def dense(tensor: Tensor) -> list[TensorProto]:
    """The tensors that a tensor consists of."""
    return [tensor.values, tensor.indices] if isinstance(tensor, SparseTensorProto) else [tensor]


def tensor_findings(scope: Scope, read: Container[str]) -> Iterator[Finding]:
    """The findings about the tensors of one graph; `read` are the names that any graph reads."""
    for place, name, tensor in tensors_of(scope):
        if isinstance(tensor, TensorProto):
            found = _fault(tensor, place != scope.place or name in read)
        else:
            told = _sparse_fault(tensor)
            found = ("sparse-tensor", told) if told else None
        if found is not None:
            yield Finding(found[0], place, name, found[1])


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
        if (what == "values" or sparse.HasField(what)) and (found := _fault(part)):
            return f"its {what}: {found[1]}"
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
