"""Streams of features that run side by side through a model (hyper-connections), and hashes of n-grams for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import confirm_shape, exact_quotient, of_rank
from onnx_infer.laws.statements import demand
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.values import dtype as dt

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape, SymTensor

# -- streams of features -----------------------------------------------------------------------------------------------


@contrib("HyperConnectionPreMix", inputs="streams pre_mix")
def mix_streams(streams: SymTensor, pre_mix: AnyRank, num_branches: int = 0) -> Shape:
    """(..., C, H) or, for C branches, (..., C * H) -> (..., H). The gates have the leading sizes of the streams."""
    require(streams.rank >= 1, "the streams have no axis")
    if num_branches:
        mixed = (*streams.dims[:-1], exact_quotient(streams.dims[-1], num_branches, "the size of all streams"))
    else:
        require(streams.rank >= 2, "grouped streams have at least 2 axes", streams.rank)
        mixed = (*streams.dims[:-2], streams.dims[-1])
    _demand_gates(mixed[:-1], num_branches or streams.dims[-2], pre_mix, joined=num_branches > 0)
    return mixed


def _demand_gates(leading: Shape, count: Dim, gates: AnyRank, joined: bool) -> None:
    """Demand gates (..., C), (..., C, 1) or (..., C, H), or (..., C * H) for `joined` streams: `leading` and C."""
    least = len(leading) + 1
    if gates.shape is None or not demand(len(gates.shape) >= least, "the gates have too few axes", len(gates.shape)):
        return
    known = leading if joined and len(gates.shape) == least else (*leading, count)
    confirm_shape(known, gates.shape[: len(known)], "the sizes of the streams and of the gates")


@contrib("HyperConnectionPostMix", inputs="streams block_output post_mix stream_mix?")
def add_to_streams(
    streams: SymTensor, block_output: AnyRank, post_mix: AnyRank, stream_mix: AnyRank | None, num_branches: int = 0
) -> Shape:
    """The streams' shape. The output of the block is (..., H), and mixes of streams are (..., C, C)."""
    mixed = mix_streams(streams, post_mix, num_branches)
    confirm_shape(mixed, block_output.shape, "the sizes of a stream and of block_output")
    if stream_mix is not None:
        count = num_branches or streams.dims[-2]
        confirm_shape((*mixed[:-1], count, count), stream_mix.shape, "the sizes of the streams and of stream_mix")
    return streams.dims


@uncounted_contrib(
    "HyperConnectionLowRankMix",
    inputs="streams norm_scale down_weight up_weight inject_weight prev_block_output? prev_post_gate?",
)
def mix_streams_by_low_rank(
    streams: SymTensor, prev_block_output: AnyRank | None, prev_post_gate: AnyRank | None, num_branches: int
) -> list[Shape]:
    """C streams (..., C * H) -> their mix (..., H), the gates (..., C), and the streams with the previous block added.

    The output of the previous block is (..., H), its gates (..., C).
    """
    require(streams.rank >= 1, "the streams have no axis")
    require(num_branches > 0, "num_branches must be positive", num_branches)
    *leading, width = streams.dims
    mixed = (*leading, exact_quotient(width, num_branches, "the size of all streams"))
    gates = (*leading, num_branches)
    if prev_block_output is not None and prev_post_gate is not None:
        confirm_shape(mixed, prev_block_output.shape, "the sizes of a stream and of prev_block_output")
        confirm_shape(gates, prev_post_gate.shape, "the sizes of the streams and of prev_post_gate")
    return [mixed, gates, streams.dims]


@contrib("EngramGate", inputs="key query value key_norm_scale query_norm_scale conv_norm_scale?")
def engram_gate(key: AnyRank) -> list[Shape]:
    """Keys (B, S, C, hidden) -> the gated values and the normalized ones, of the same shape."""
    return [of_rank(key.shape, 4, "key")] * 2


# -- hashes of n-grams -------------------------------------------------------------------------------------------------


@contrib(
    "NGramHashMapping", inputs="input_ids multipliers vocab_sizes past_ids? head_offsets? eos_token_id? segment_ids?"
)
def hash_ngrams(input_ids: AnyRank, max_ngram_size: int, n_head_per_ngram: int) -> list[Shape]:
    """Ids (B, S) -> hashes (B, S, (n - 1)*heads), the last ids (B, n - 1)."""
    batch, length = of_rank(input_ids.shape, 2, "input_ids")
    return [(batch, length, (max_ngram_size - 1) * n_head_per_ngram), (batch, max_ngram_size - 1)]


@contrib(
    "VarlenNGramHashMapping",
    inputs="input_ids multipliers vocab_sizes cumulative_sequence_length past_ids? head_offsets? eos_token_id? "
    "segment_ids? past_segment_ids? capture_count?",
    dtype=lambda input_ids: [input_ids.dtype, input_ids.dtype, dt.INT32, input_ids.dtype],
)
def hash_packed_ngrams(
    input_ids: AnyRank,
    cumulative_sequence_length: AnyRank,
    max_ngram_size: int,
    n_head_per_ngram: int,
    state_update_capacity: int = 0,
) -> list[Shape]:
    """Ids (count) of B sequences -> hashes (count, (n - 1)*heads), last ids and segments (B, n - 1), their changes."""
    (count,) = of_rank(input_ids.shape, 1, "input_ids")
    batch = of_rank(cumulative_sequence_length.shape, 1, "cumulative_sequence_length")[0] - 1
    last = max_ngram_size - 1
    return [(count, last * n_head_per_ngram), (batch, last), (batch, last), (batch, state_update_capacity, last)]
