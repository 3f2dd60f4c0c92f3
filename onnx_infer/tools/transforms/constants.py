"""Constants: tensors of known elements, and nodes whose inputs are constants.

Only what every runtime computes to the same bits is computed here: elements that are moved, integers, and single IEEE
operations (+ - * /) of float32 and float64, which are rounded correctly everywhere. NaN and subnormal numbers are left
to the runtime, and so are sums and functions such as Exp or Sqrt: their last bits differ between implementations.

Some nodes are exact themselves, but without them a runtime computes others with other last bits. Where a runtime has no
kernels for float16, onnxruntime on a CPU for example, it computes in float32. It rounds between two nodes only if a
node that it has in float16 stands between them: a Cast, a Reshape, an Identity. So such a node stays, even if it
changes nothing. And a runtime packs a constant operand of a product before the run, and takes another kernel for it. So
an operand that is computed stays computed, a Transpose of a weight for example.
"""

from __future__ import annotations

import math
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import NodeProto, TensorProto, numpy_helper

from onnx_infer.protobuf.nodes import read_attributes
from onnx_infer.tools.materialization import array_of
from onnx_infer.tools.transforms.draft import Draft, is_default
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from onnx_infer.operators.rule import Traits

    Array = NDArray[Any]


_KINDS: dict[int, type[np.generic]] = {
    dt.BOOL: np.bool_, dt.INT8: np.int8, dt.INT16: np.int16, dt.INT32: np.int32, dt.INT64: np.int64,
    dt.UINT8: np.uint8, dt.UINT16: np.uint16, dt.UINT32: np.uint32, dt.UINT64: np.uint64,
    dt.FLOAT16: np.float16, dt.FLOAT: np.float32, dt.DOUBLE: np.float64,
}  # fmt: skip
EXACT = frozenset((dt.BOOL, *dt.INTEGER_RANGE))
_FEW_BYTES = 1 << 10
"""A larger constant is made only if it replaces constants of this size."""


def known_tensor(value: Value | None) -> TensorProto | None:
    """A tensor whose elements inference knows as numbers, for integers and booleans; None for others.

    Floats are left: inference computes them as exact numbers, and a runtime rounds each step. The element
    of a condition whose rank is not known is left, too.
    """
    if not isinstance(value, SymTensor) or value.data is None or value.shape is None:
        return None
    if value.dtype not in EXACT or value.dtype not in _KINDS:
        return None
    low, high = dt.INTEGER_RANGE.get(value.dtype, (0, 1))
    if not all(isinstance(element, int) and low <= element <= high for element in value.data):
        return None
    shape = [size for size in value.shape if isinstance(size, int)]  # all of them: elements go with known sizes
    return numpy_helper.from_array(np.array(value.data, _KINDS[value.dtype]).reshape(shape))


class Constants:
    """The elements of initializers, read once. External data are never opened."""

    def __init__(self, tensors: Mapping[str, TensorProto]) -> None:
        self._tensors = tensors
        self._arrays: dict[str, Array | None] = {}

    def array(self, name: str) -> Array | None:
        """The elements of an initializer; None if it is none, or its data are external or of another kind."""
        if name not in self._arrays:
            tensor = self._tensors.get(name)
            self._arrays[name] = array_of(tensor) if tensor is not None and tensor.data_type in _KINDS else None
        return self._arrays[name]

    def result(
        self, node: NodeProto, traits: Traits, names: list[str], made: Value | None, readers: Mapping[str, int]
    ) -> Array | None:
        """The only output of a node that reads constants of these names; None if it is not computed here.

        `made` is its inferred type. `readers` has the number of nodes that read a constant. A large result is computed
        only if no other node reads the constants from which it is computed.
        """
        compute = (lambda arrays, shape, *_: arrays[0].reshape(shape)) if traits.view == "whole" else traits.computes
        if compute is None or len([name for name in node.output if name]) != 1 or "" in names or not names:
            return None
        shape = _known_shape(made)
        if shape is None or not all(name in self._tensors for name in names):
            return None
        arrays = [array for name in names if (array := self.array(name)) is not None]
        if len(arrays) < len(names):
            return None
        assert isinstance(made, SymTensor)
        kind = _KINDS[made.dtype or 0]
        freed = [a.nbytes for a, name in zip(arrays, names, strict=True) if readers.get(name, 0) <= 1]
        if math.prod(shape) * np.dtype(kind).itemsize > max(_FEW_BYTES, *freed, 0):
            return None
        rounds = isinstance(compute, np.ufunc) or arrays[0].dtype != kind
        if rounds and not all(map(_is_plain, arrays)):
            return None
        if isinstance(compute, np.ufunc) and any(array.dtype == np.float16 for array in arrays):
            return None
        attributes = read_attributes(node.op_type, node.attribute).values
        try:
            with np.errstate(all="ignore"):
                computed = np.asarray(
                    compute(*arrays) if isinstance(compute, np.ufunc) else compute(arrays, shape, kind, attributes)
                )
        except (LookupError, TypeError, ValueError):  # a node that breaks its schema
            return None
        if computed.shape != shape or computed.dtype != kind or (rounds and not _is_plain(computed)):
            return None
        return np.ascontiguousarray(computed).reshape(shape)


def equal_constants(tensors: Iterable[TensorProto]) -> dict[str, str]:
    """The names of tensors with the type, shape and bytes of an earlier one, and the name of that one.

    External data are equal if they lie in the same place.
    """
    alike: dict[tuple[Any, ...], list[TensorProto]] = {}
    for tensor in tensors:
        place = frozenset((entry.key, entry.value) for entry in tensor.external_data)
        segment = tensor.segment.begin, tensor.segment.end
        key = tensor.data_type, tuple(tensor.dims), tensor.data_location, place, segment
        alike.setdefault(key, []).append(tensor)
    names: dict[str, str] = {}
    for group in alike.values():
        first: dict[bytes, str] = {}
        for tensor in group if len(group) > 1 else ():
            if (name := first.setdefault(_digest(tensor), tensor.name)) != tensor.name:
                names[tensor.name] = name
    return names


_FIELDS = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")


def _digest(tensor: TensorProto) -> bytes:
    """A digest of the data, which may be more than the 2 GB that protobuf writes."""
    digest = sha256()
    for field in _FIELDS:
        data = getattr(tensor, field)
        digest.update(f"{field} {len(data)} ".encode())
        if field == "string_data":
            digest.update(repr(list(data)).encode())
        else:
            digest.update(data if isinstance(data, bytes) else np.array(data).tobytes())
    return digest.digest()


def _known_shape(value: Value | None) -> tuple[int, ...] | None:
    if not isinstance(value, SymTensor) or value.shape is None or value.dtype not in _KINDS:
        return None
    sizes = [size for size in value.shape if isinstance(size, int)]
    return tuple(sizes) if len(sizes) == len(value.shape) else None


def _is_plain(array: Array) -> bool:
    """Whether no element is NaN, infinite or subnormal."""
    if array.dtype.kind != "f":
        return True
    size = np.abs(array)
    return bool(np.all(np.isfinite(array) & ((size == 0) | (size >= np.finfo(array.dtype).tiny))))


_HALVES = (dt.FLOAT16, dt.BFLOAT16)


class Roundings:
    """The nodes of a draft that decide how others round.

    onnxruntime packs the weights of some contractions. Operators of other domains may pack any operand.
    """

    def __init__(self, draft: Draft, types: Mapping[str, Value]) -> None:
        self._draft, self._types = draft, types
        self._packed: set[str] = set()
        for node in draft.nodes():
            if not is_default(node):
                self._packed.update(node.input)
            elif draft.traits(node).packs:
                self._packed.update(node.input[1:])

    def depend_on(self, node: NodeProto) -> bool:
        """Whether another node may round otherwise, if what it reads of this node is the operand, or a constant."""
        source, made = (self._types.get(name) for name in (node.input[0], node.output[0]))
        if not isinstance(made, SymTensor) or made.dtype not in dt.FLOATS:
            return False
        if not self._is_computed(node.input[0]) and node.output[0] in self._packed:
            return True
        is_rounded = (
            isinstance(source, SymTensor) and source.dtype == made.dtype and node.input[0] in self._draft.constants
        )
        return made.dtype in _HALVES and not is_rounded

    def _is_computed(self, name: str) -> bool:
        """Whether a node computes a value; it is a constant otherwise, or an input, which is one in some calls."""
        node = self._draft.made.get(self._draft.current(name))
        return node is not None and node.op_type != "Constant"
