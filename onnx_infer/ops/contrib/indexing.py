"""Operators of onnxruntime that select, pad, split or transform: GatherND, Pad, Range, Unique, Tokenizer, Rfft, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import demand_at_least, demand_at_most
from onnx_infer.laws.sizes import at_least, confirm, of_rank
from onnx_infer.laws.statements import fresh
from onnx_infer.operators.registration import op
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.ops.creation import range_
from onnx_infer.ops.indexing import gather_nd
from onnx_infer.ops.joining import pad
from onnx_infer.ops.slicing import slice_, unsqueeze
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import maximum

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Elements, Shape


# -- picking -----------------------------------------------------------------------------------------------------------

contrib("GatherND", inputs="data indices", indices=(1,))(gather_nd)
op("DynamicSlice", inputs="data starts ends axes?")(slice_)


@contrib("TorchEmbedding", inputs="weight indices padding_idx? scale_grad_by_freq?", indices=(1,))
def torch_embedding(weight: AnyRank, indices: SymTensor) -> Shape:
    """Weight (words, size), indices -> (*indices, size)."""
    return (*indices.dims, of_rank(weight.shape, 2, "weight")[1])


@contrib("NGramRepeatBlock", inputs="input_ids scores", dtype=lambda scores: scores.dtype)
def ngram_repeat_block(input_ids: AnyRank, scores: AnyRank) -> Shape:
    """Tokens (B, length), scores (B, words) -> the scores."""
    batch, words = of_rank(scores.shape, 2, "scores")
    return confirm(batch, of_rank(input_ids.shape, 2, "input_ids")[0], "batch sizes of scores and input_ids"), words


@contrib("Unique", inputs="x", dtype=lambda x: [x.dtype, dt.INT64, dt.INT64])
def unique(x: AnyRank) -> list[Shape]:
    """A vector -> its distinct elements, the index of each element among them, and their counts."""
    (size,) = of_rank(x.shape, 1, "x")
    count = fresh("the number of different elements", at_most=size, at_least=1 if at_least(size, 1) else 0)
    return [(count,), (size,), (count,)]


# -- shapes ------------------------------------------------------------------------------------------------------------


contrib("ExpandDims", inputs="X=data axis=axes")(unsqueeze)
contrib("Pad", inputs="data pads value?")(pad)  # as Pad-11


@op("Crop", inputs="input")
def crop(input: AnyRank, border: tuple[int, ...], scale: tuple[int, ...] = ()) -> Shape:
    """(N, C, H, W) without left, top, right, bottom borders, or `scale` from the left and top one on; experimental."""
    batch, channels, height, width = of_rank(input.shape, 4, "input")
    require(len(border) == 4 and len(scale) in (0, 2), "border must have 4, scale 2 elements", border, scale, sign=",")
    left, top, right, bottom = border
    return (batch, channels, *(scale or (height - top - bottom, width - left - right)))


@contrib("Range", inputs="start limit delta?")
def range_with_default(
    start: Elements, limit: Elements, delta: Elements | None, output_dtype: int | None
) -> SymTensor | Shape:
    """As Range-11; delta is 1 by default."""
    return range_(start, limit, SymTensor(start.dtype, (), (1,)) if delta is None else delta, output_dtype)


# -- transforms --------------------------------------------------------------------------------------------------------


@uncounted_contrib("Rfft", inputs="X")
def rfft(X: SymTensor, signal_ndim: int = 1) -> Shape:
    """(..., n) -> (..., n // 2 + 1, 2): the half of a spectrum, in pairs of real and imaginary parts."""
    require(1 <= signal_ndim <= X.rank, "signal_ndim does not fit the rank of X", signal_ndim, X.rank, sign=",")
    return (*X.dims[:-1], X.dims[-1] // 2 + 1, 2)


@uncounted_contrib("Irfft", inputs="X")
def irfft(X: SymTensor, signal_ndim: int) -> Shape:
    """(..., n // 2 + 1, 2) -> (..., n), where n is even."""
    require(1 <= signal_ndim < X.rank, "signal_ndim does not fit the rank of X", signal_ndim, X.rank, sign=",")
    return (*X.dims[:-2], 2 * (X.dims[-2] - 1))


@contrib("DynamicTimeWarping", inputs="input", dtype=lambda: dt.INT32)
def dynamic_time_warping(input: SymTensor) -> Shape:
    """Costs (M, N) or (1, M, N) -> (2, the length of the cheapest path), at most M + N - 1, and at least 0."""
    require(input.rank in (2, 3), "rank of the input is neither 2 nor 3", input.rank)
    rows, columns = input.dims[-2:]
    return (2, fresh("the length of the path", at_most=maximum(rows + columns - 1, 0)))


# -- text --------------------------------------------------------------------------------------------------------------


@contrib("Tokenizer", inputs="X")
def tokenizer(X: SymTensor) -> Shape:
    """(C) or (N, C) strings -> (*X, the largest number of tokens); an empty X is returned unchanged."""
    require(X.rank in (1, 2), "rank of X is neither 1 nor 2", X.rank)
    if X.size == 0:
        return X.dims
    if not at_least(X.size, 1):
        raise Unknown("whether there are any strings is not known")
    return (*X.dims, fresh("the largest number of tokens"))


@uncounted_contrib("WordConvEmbedding", inputs="Sequence W B C", dtype=lambda W: W.dtype)
def word_conv_embedding(Sequence: SymTensor, W: AnyRank) -> Shape:
    """Words (count, characters), filters (size, 1, window, character size) -> (count, size)."""
    require(Sequence.rank >= 2, "rank of Sequence is less than 2", Sequence.rank)
    return (Sequence.dims[0], of_rank(W.shape, 4, "W")[0])


@contrib("BifurcationDetector", inputs="src_tokens cur_tokens prev_suffix_match_idx pred_tokens?")
def bifurcation_detector(
    src_tokens: AnyRank, cur_tokens: AnyRank, prev_suffix_match_idx: AnyRank, pred_tokens: AnyRank | None
) -> list[Shape | None]:
    """Tokens -> the decoded tokens with the confirmed predicted ones, and the next position in the source.

    The source after the previous position was predicted: `len(src_tokens) + 1 - prev_suffix_match_idx` tokens.
    """
    (length,) = of_rank(cur_tokens.shape, 1, "cur_tokens")
    if pred_tokens is not None:
        (most,) = of_rank(pred_tokens.shape, 1, "pred_tokens")
        (source,) = of_rank(src_tokens.shape, 1, "src_tokens")
        demand_at_least(most, 1, "the number of predicted tokens")
        demand_at_most(most, source + 1, "the number of predicted tokens")
        length = length + fresh("the number of predicted tokens that hold", at_most=most)
    return [(length,), prev_suffix_match_idx.shape]
