"""Operators that make tensors from attributes and sizes: constants, ranges, random numbers."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.arithmetic import ceil, convert, divide, subtract
from onnx_infer.elements.conditions import decided
from onnx_infer.elements.progressions import consisting_of
from onnx_infer.elements.ratio import Ratio
from onnx_infer.errors import require
from onnx_infer.laws.limits import (
    demand_one_element,
    divisors,
    known_elements,
    no_less,
    not_negative,
)
from onnx_infer.laws.sizes import at_least, is_fresh, of_rank
from onnx_infer.laws.statements import conflicting, demand, element, fresh
from onnx_infer.operators.registration import op
from onnx_infer.ops.unary import same_shape_of_input
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Sparse
from onnx_infer.values.tensor import MAX_DATA, MAX_VECTOR, Progression, SymTensor, is_small
from symdim import Expr, ceildiv

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import AnyRank, Dim, Elements, FlatSizes, Floats, Ints, Shape, Strings, Value


@op("Constant", total=True)
def constant(
    value: SymTensor | None,
    sparse_value: Value | None,
    value_int: int | None,
    value_ints: Ints | None,
    value_float: float | None,
    value_floats: Floats | None,
    value_string: str | None,
    value_strings: Strings | None,
) -> Value:
    """The tensor of the given attribute; a sparse tensor becomes dense (Constant-1 to 25)."""
    scalars = ((dt.INT64, value_int), (dt.FLOAT, value_float), (dt.STRING, value_string))
    vectors = ((dt.INT64, value_ints), (dt.FLOAT, value_floats), (dt.STRING, value_strings))
    values: list[Value] = [SymTensor(dtype, (), (x,)) for dtype, x in scalars if x is not None]
    values += [
        SymTensor(dtype, (len(v),), v if len(v) <= (MAX_VECTOR if dtype == dt.INT64 else MAX_DATA) else None)
        for dtype, v in vectors
        if v is not None
    ]
    values += [x for x in (value, sparse_value) if x is not None]
    require(len(values) == 1, "the number of attributes that give a value is not 1", len(values))
    (tensor,) = values
    return SymTensor(tensor.dtype, tensor.shape) if isinstance(tensor, Sparse) else tensor


def _filled(dtype: int | None, shape: Shape, element: Any) -> SymTensor:
    """A tensor of equal elements, with data if it is small."""
    tensor = SymTensor(dtype, shape, fill=element)
    if element is None or not is_small(tensor):
        return tensor
    return SymTensor(dtype, shape, (element,) * prod(d for d in shape if isinstance(d, int)))


@op("ConstantOfShape", dtype=lambda value: dt.FLOAT if value is None else value.dtype, total=True)
def constant_of_shape(input: FlatSizes, value: SymTensor | None) -> SymTensor:
    """sizes -> a tensor of these sizes; every element is that of `value`, or 0.0 (ConstantOfShape-9 to 25)."""
    if value is not None and value.shape is not None:  # broken sizes of an attribute are reported anyway
        demand(value.size == 1, "value does not have one element", value)
    sizes = [
        fresh("a size of the input", value=element("input", i)) if x is None else not_negative(x, "a size of the input")
        for i, x in enumerate(input)
    ]
    if value is None:
        return _filled(dt.FLOAT, tuple(sizes), 0.0)
    return _filled(value.dtype, tuple(sizes), value.data[0] if value.data else None)


def _dtype_or_like(input: AnyRank, dtype: int | None) -> int | None:
    return input.dtype if dtype is None else dtype


@op("EyeLike", dtype=_dtype_or_like, bounded=True)
def eye_like(input: AnyRank, k: int, output_dtype: int | None) -> SymTensor:
    """(rows, columns) -> (rows, columns), ones at `[i, i + k]` (EyeLike-9, 22)."""
    shape = of_rank(input.shape, 2, "input")
    rows, columns = shape
    if not (isinstance(rows, int) and isinstance(columns, int) and rows * columns <= MAX_DATA):
        return SymTensor(output_dtype, shape)
    ones = [convert(column == row + k, output_dtype) for row in range(rows) for column in range(columns)]
    return SymTensor(output_dtype, shape, ones)


def _float_length(start: float, limit: float, delta: float, dtype: int | None) -> int | None:
    """ceil((limit - start) / delta); None if rounding the difference to single precision matters."""
    exact = np.ceil((limit - start) / delta)
    rounded = exact if dtype == dt.DOUBLE else np.ceil(float(np.float32(limit) - np.float32(start)) / delta)
    return max(int(exact), 0) if exact == rounded and np.isfinite(exact) else None


def _range_length(start: Any, limit: Any, delta: Any, dtype: int | None) -> Dim | None:
    """max(ceil((limit - start) / delta), 0); None if the sign of delta or a rounding is not known."""
    if delta in (0, 0.0):
        return conflicting("delta is 0")
    if isinstance(start, float) and isinstance(limit, float) and isinstance(delta, float):
        return _float_length(start, limit, delta, dtype)
    if not any(isinstance(x, (float, Ratio)) for x in (start, limit, delta)):
        span, step = (limit - start, delta) if at_least(delta, 1) else (start - limit, -delta)
        return ceildiv(no_less(span, 0), step) if at_least(step, 1) else None
    span = subtract(limit, start)
    count = None if span is None else divide(span, delta)
    whole = None if count is None else convert(ceil(count), dt.INT64)
    return None if whole is None else no_less(whole, 0)


def _computed_length(start: Any, limit: Any, delta: Any) -> Dim | None:
    """The same length over unknown integer elements; None for an unknown delta."""
    first, last = (element(n) if x is None else x for n, x in (("start", start), ("limit", limit)))
    whole = all(isinstance(x, (int, Expr)) for x in (first, last, delta))
    return _range_length(first, last, delta, dt.INT64) if whole else None


def _length_between(start: Any, limit: Any, delta: Any) -> Dim | None:
    """The same length if the unknown element of an input cancels: from p to p + S."""
    if not all(isinstance(x, (int, Expr)) for x in (start, limit, delta)) or delta == 0:
        return None
    length = _range_length(start, limit, delta, dt.INT64)
    return None if length is None or is_fresh(length) else length


def _is_exact(x: Any) -> bool:
    """Whether sums and multiples of an element are exact in all its types: integers, small integral floats."""
    return isinstance(x, (int, Expr)) or (isinstance(x, float) and x.is_integer() and abs(x) < 2**20)


def _only_element(scalar: SymTensor) -> Any:
    """The element of a scalar, or of a tensor of one element; None if it is not known."""
    return decided(scalar.data[0]) if scalar.data is not None and len(scalar.data) == 1 else None


def _steps(inputs: Values, _: Values, __: Attributes) -> Least | None:
    """A step is not 0. The rule refuses the number 0 itself. A float may be 0 where its size is not."""
    step = inputs[2] if len(inputs) > 2 else None
    elements = known_elements(step)
    if elements is not None and all(isinstance(x, (int, float)) for x in elements):
        return []
    return None if isinstance(step, SymTensor) and step.dtype in dt.FLOATS else divisors(step)


@op("Range", total=True, demands=_steps)
def range_(start: Elements, limit: Elements, delta: Elements, output_dtype: int | None) -> SymTensor | Shape:
    """scalars -> (max(ceil((limit - start) / delta), 0),): start, start + delta, ... (Range-11, 27)."""
    for scalar, name in ((start, "start"), (limit, "limit"), (delta, "delta")):
        demand_one_element(scalar, name)
    first, last, step = numbers = [_only_element(x) for x in (start, limit, delta)]
    length = None if None in numbers else _range_length(first, last, step, output_dtype)
    if length is None:
        filled = [x.fill if known is None else known for x, known in zip((start, limit, delta), numbers, strict=True)]
        length = _length_between(*filled)
        if length is None:
            length = fresh("the number of elements of a range", value=_computed_length(*numbers))
        return (length,)
    if not (_is_exact(first) and _is_exact(step)):
        return (length,)
    if not isinstance(length, int) or length > MAX_DATA:
        if isinstance(first, float) or isinstance(step, float):
            return (length,)
        return consisting_of([Progression(first, step, length)], output_dtype, (length,))
    return SymTensor(output_dtype, (length,), [convert(first + i * step, output_dtype) for i in range(length)])


@op("RandomNormal", "RandomUniform", dtype=lambda dtype: dtype, random=True)
def random(shape: Ints) -> Shape:
    """() -> shape (RandomNormal-1, 22, RandomUniform-1, 22)."""
    return tuple(not_negative(size, "a size of shape") for size in shape)


# RandomNormalLike-1, 22, RandomUniformLike-1, 22, Bernoulli-15, 22: the type is `dtype`, or that of the input
op("Bernoulli", dtype=_dtype_or_like, random=True)(same_shape_of_input)
op("RandomNormalLike", "RandomUniformLike", dtype=_dtype_or_like, random=True, bounded=True)(same_shape_of_input)


@op("Multinomial", dtype=lambda dtype: dtype, random=True)
def multinomial(input: AnyRank, sample_size: int, dtype: int) -> Shape:
    """(batch, classes) -> (batch, sample_size) (Multinomial-7, 22)."""
    demand(dtype in (dt.INT32, dt.INT64), "dtype is neither int32 nor int64", dt.text(dtype))
    batch, _ = of_rank(input.shape, 2, "input")
    return batch, not_negative(sample_size, "sample_size")
