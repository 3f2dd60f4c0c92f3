"""Operators that make tensors from attributes and sizes: constants, ranges, random numbers, windows of signals.

Then transforms of signals (DFT, STFT) and ImageDecoder.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.arithmetic import ceil, convert, divide, subtract
from onnx_infer.elements.conditions import decided
from onnx_infer.elements.progressions import consisting_of
from onnx_infer.elements.ratio import Ratio
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import (
    demand_at_least,
    demand_at_most,
    demand_one_element,
    divisors,
    known_elements,
    no_less,
    not_negative,
)
from onnx_infer.laws.sizes import at_least, has_axis, is_fresh, of_rank, unify, unknown_shape
from onnx_infer.laws.statements import conflicting, contradict, demand, element, fresh
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import uncounted
from onnx_infer.ops.unary import same_shape_of_input
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Sparse
from onnx_infer.values.tensor import MAX_DATA, MAX_VECTOR, Progression, SymTensor, is_small
from symdim import Expr, ceildiv, maximum

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import AnyRank, Dim, Elements, FlatSizes, Floats, Ints, Shape, Strings, SymTensor, Value


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
    given: list[Value] = [SymTensor(dtype, (), (x,)) for dtype, x in scalars if x is not None]
    given += [
        SymTensor(dtype, (len(v),), v if len(v) <= (MAX_VECTOR if dtype == dt.INT64 else MAX_DATA) else None)
        for dtype, v in vectors
        if v is not None
    ]
    given += [x for x in (value, sparse_value) if x is not None]
    require(len(given) == 1, "the number of attributes that give a value is not 1", len(given))
    (tensor,) = given
    return SymTensor(tensor.dtype, tensor.shape) if isinstance(tensor, Sparse) else tensor


def _filled(dtype: int | None, shape: Shape, element: Any) -> SymTensor:
    """A tensor of equal elements, with data if it is small."""
    found = SymTensor(dtype, shape, fill=element)
    if element is None or not is_small(found):
        return found
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
    first, last, step = given = [_only_element(x) for x in (start, limit, delta)]
    length = None if None in given else _range_length(first, last, step, output_dtype)
    if length is None:
        filled = [x.fill if known is None else known for x, known in zip((start, limit, delta), given, strict=True)]
        length = _length_between(*filled)
        if length is None:
            length = fresh("the number of elements of a range", value=_computed_length(*given))
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


def _length(value: Dim | Unknown, name: str, what: str) -> Dim:
    """The size that the scalar input of this name gives."""
    demand_one_element(value, name)
    return fresh(what, value=element(name)) if isinstance(value, Unknown) else not_negative(value, what)


@op("BlackmanWindow", "HannWindow", "HammingWindow", dtype=lambda output_datatype: output_datatype)
def signal_window(size: Dim | Unknown) -> Shape:
    """size -> (size,) (BlackmanWindow-17, HannWindow-17, HammingWindow-17)."""
    demand(size != 0, "size is not positive", size)
    return (_length(size, "size", "the size of the window"),)


@op("MelWeightMatrix", dtype=lambda output_datatype: output_datatype)
def mel_weight_matrix(num_mel_bins: Dim | Unknown, dft_length: Dim | Unknown) -> Shape:
    """num_mel_bins, dft_length -> (dft_length // 2 + 1, num_mel_bins) (MelWeightMatrix-17)."""
    bins = _length(num_mel_bins, "num_mel_bins", "num_mel_bins")
    demand_one_element(dft_length, "dft_length")
    if isinstance(dft_length, Unknown):
        return fresh("the number of frequencies", at_least=1, value=element("dft_length") // 2 + 1), bins
    demand_at_least(dft_length, -1, "dft_length")
    return maximum(dft_length, 0) // 2 + 1, bins  # a machine's -1 / 2 is 0


def _demand_parts(size: Dim, parts: tuple[int, ...]) -> None:
    """Demand that the last axis has one of these numbers of parts: 1 for real, 2 for complex numbers."""
    law = f"the last size (1: real, 2: complex) is not in {parts}"
    if isinstance(size, int):
        demand(size in parts, law, size)
    elif parts == (2,):
        unify(size, 2, "the last size")
    else:  # onnxruntime takes the real part of what must be real
        demand_at_most(size, 2, "the last size")


@op("DFT", cost=uncounted)
def dft(
    input: SymTensor, dft_length: Dim | Unknown | None, inverse: int, onesided: int, axis: int | Unknown = -2
) -> Shape:
    """(*signal, 1 or 2) -> n values along the axis, n//2 + 1 if one-sided (DFT-17, 20).

    A one-sided transform takes real numbers; its inverse returns them, with the default length 2 * (size - 1).
    """
    if not demand(input.rank >= 2, "the input has no signal axis", input.rank):
        return unknown_shape(input.rank, "the result")
    _demand_parts(input.dims[-1], (1, 2) if not onesided else (2,) if inverse else (1,))
    real = bool(inverse and onesided)
    signal, last = list(input.dims[:-1]), 1 if real else 2
    if isinstance(axis, Unknown):
        if onesided or dft_length is not None:
            signal = [fresh("the axis of the transform is not known") for _ in signal]
        return (*signal, last)
    law = "the last axis holds real and imaginary parts and is no axis to transform"
    if not (has_axis(input.rank, axis) and demand(axis % input.rank < len(signal), law)):
        return (*unknown_shape(len(signal), "the signal"), last)
    at = axis % input.rank
    length = dft_length
    if length is None:
        length = 2 * (signal[at] - 1) if real else signal[at]
    elif isinstance(length, Unknown):
        demand_one_element(length, "dft_length")
        length = fresh("the length of the transform is not known", value=element("dft_length"))
    else:
        demand_at_least(length, 1, "dft_length")
    signal[at] = length // 2 + 1 if onesided and not inverse else length
    return (*signal, last)


@op("STFT", cost=uncounted)
def stft(
    signal: AnyRank,
    frame_step: Dim | Unknown,
    window: AnyRank | None,
    frame_length: Dim | Unknown | None,
    onesided: int,
) -> Shape:
    """(B, length, 1 or 2) -> (B, (length - frame) // step + 1, frame or frame//2 + 1, 2) (STFT-17).

    onnxruntime accepts (B, length) for real numbers.
    """
    real = signal.shape is not None and len(signal.shape) == 2
    batch, length, last = (*signal.dims, 1) if real else of_rank(signal.shape, 3, "signal")
    _demand_parts(last, (1, 2))
    frame = (
        fresh("the frame length is not known", value=element("frame_length"))
        if isinstance(frame_length, Unknown)
        else frame_length
    )
    for scalar, name in ((frame_step, "frame_step"), (frame_length, "frame_length")):
        demand_one_element(scalar, name)
    if window is not None:
        size = of_rank(window.shape, 1, "window")[0]
        frame = size if frame is None else unify(frame, size, "frame_length and the length of the window")
    if frame is None:
        frame = length  # according to the specification; onnxruntime refuses the node
        contradict("neither window nor frame_length is given")
    demand_at_least(length, frame, "the signal of the frames")
    demand_at_least(frame, 1, "the length of a frame")
    if not isinstance(frame_step, Unknown):
        demand_at_least(frame_step, 1, "frame_step")
    bins = frame // 2 + 1 if onesided else frame
    if isinstance(frame_step, Unknown) or not at_least(frame_step, 1):
        return batch, fresh("the step between frames is not known", at_most=length), bins, 2
    return batch, (length - frame) // frame_step + 1, bins, 2


@op("ImageDecoder")
def image_decoder(encoded_stream: AnyRank, pixel_format: str) -> Shape:
    """Bytes -> (height, width, channels); height 0 if the image cannot be decoded (ImageDecoder-20)."""
    channels = {"RGB": 3, "BGR": 3, "Grayscale": 1}
    demand(pixel_format in channels, "no such pixel format", pixel_format)
    if encoded_stream.shape is not None:
        of_rank(encoded_stream.shape, 1, "encoded_stream")
    height, width = fresh("the height of the image"), fresh("the width of the image")
    return height, width, channels.get(pixel_format) or fresh("no such pixel format")
