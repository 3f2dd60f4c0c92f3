"""Signals and images: windows, Mel weights, Fourier transforms (DFT, STFT) and ImageDecoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown
from onnx_infer.laws.limits import demand_at_least, demand_at_most, demand_one_element, not_negative
from onnx_infer.laws.sizes import at_least, has_axis, of_rank, unify, unknown_shape
from onnx_infer.laws.statements import contradict, demand, element, fresh
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import uncounted
from symdim import maximum

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape, SymTensor


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
