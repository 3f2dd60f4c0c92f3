"""Operators of onnxruntime for language models: generation of sequences, streams of features, indexers of caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import demand_at_most
from onnx_infer.laws.sizes import confirm_shape, exact_quotient, of_rank, unify
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.values import dtype as dt

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape, SymTensor


_GREEDY = "input_ids max_length min_length? repetition_penalty? vocab_mask? prefix_vocab_mask? attention_mask?"
_BEAMS = (
    "input_ids max_length min_length? num_beams num_return_sequences length_penalty? repetition_penalty? vocab_mask? "
    "prefix_vocab_mask? attention_mask? decoder_input_ids? logits_processor?"
)


def _value(size: Dim | Unknown) -> Dim:
    return fresh(size.note) if isinstance(size, Unknown) else size


def _words(vocab_size: int) -> Dim:
    return vocab_size if vocab_size > 0 else fresh("the decoder's number of words")


@contrib("GreedySearch", inputs=_GREEDY, dtype=lambda: dt.INT32)
def greedy_search(input_ids: SymTensor, max_length: Dim | Unknown) -> list[Shape]:
    """Prompts (B, S) -> sequences (B, max_length)."""
    require(input_ids.rank >= 1, "the prompts have no batch axis; their shape", input_ids)
    return [(input_ids.dims[0], _value(max_length))]


@contrib("Sampling", inputs=f"{_GREEDY} presence_mask? seed?", dtype=lambda: dt.INT32, random=True)
def sampling(input_ids: SymTensor, max_length: Dim | Unknown, vocab_size: int = -1) -> list[Shape]:
    """Prompts (B, S) -> sequences (B, max_length), and logits (B, words)."""
    sequences = greedy_search(input_ids, max_length)
    return [*sequences, (input_ids.dims[0], _words(vocab_size))]


@contrib(
    "SpeculativePrefixCommit",
    inputs="next_tokens input_ids status ctl ctx_commit prefixes ptrs",
    dtype=lambda ctl, ctx_commit: [dt.INT32, ctl.dtype, ctx_commit.dtype],
)
def commit_prefix(next_tokens: SymTensor, ctl: AnyRank, ctx_commit: AnyRank) -> list[Shape | None]:
    """Tokens (B, rows), or (rows) of one sequence -> the lengths before (B), and the state, changed in place."""
    require(next_tokens.rank in (1, 2), "rank of next_tokens is neither 1 nor 2", next_tokens.rank)
    return [(next_tokens.dims[0] if next_tokens.rank == 2 else 1,), ctl.shape, ctx_commit.shape]


@contrib("BeamSearch", inputs=_BEAMS, dtype=lambda: dt.INT32)
@contrib(
    "WhisperBeamSearch",
    inputs=f"{_BEAMS} cross_qk_layer_head? extra_decoding_ids? temperature?",
    dtype=lambda: [dt.INT32, None, None, dt.FLOAT],
)
def beam_search(
    input_ids: SymTensor,
    max_length: Dim | Unknown,
    num_beams: Dim | Unknown,
    num_return_sequences: Dim | Unknown,
    vocab_size: int = -1,
) -> list[Shape]:
    """Prompts (B, S) or features (B, ...) -> sequences (B, R, max_length), their scores (B, R), and those of each step.

    The scores of the steps are (steps, B, beams, words). Whisper's weights of the cross-attention are (B, R, heads,
    length, frames), its probabilities of no speech (B).
    """
    (batch, longest) = greedy_search(input_ids, max_length)[0]
    kept = _value(num_return_sequences)
    steps = (fresh("the number of steps", at_most=longest), batch, _value(num_beams), _words(vocab_size))
    weights = (fresh(f"the decoder's number of {what}") for what in ("heads", "tokens", "frames"))
    return [(batch, kept, longest), (batch, kept), steps, (batch, kept, *weights), (batch,)]


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


def _capacity(policy_mode: str, compress_ratio: int, token_budget: int | None, index_topk: int | None) -> int:
    """The number of entries that are selected for each query."""
    require(policy_mode in ("qsa", "csa"), "policy_mode is neither qsa nor csa", policy_mode)
    given = token_budget if policy_mode == "qsa" else index_topk
    require(given, "token_budget of policy_mode qsa, or index_topk of csa, must be given")
    return (given or 0) + (compress_ratio - 1 if policy_mode == "qsa" else 0)


@uncounted_contrib(
    "SparseAttentionIndexer",
    inputs="query key? query_norm_weight key_norm_weight cos_cache sin_cache mask? past_key gate? position_bias? "
    "head_weights? position_ids? past_sequence_length? past_proj_buffer?",
    dtype=lambda query, past_key: [dt.INT32, past_key.dtype, query.dtype],
)
def sparse_attention_indexer(
    query: AnyRank,
    past_key: AnyRank,
    past_sequence_length: AnyRank | None,
    policy_mode: str,
    compress_ratio: int,
    token_budget: int | None,
    index_topk: int | None,
) -> list[Shape]:
    """Queries (B, S, hidden), keys (B, P, size) -> entries (B, S, capacity), keys (B, P + S, size), (2, B, n, 2*size).

    With past_sequence_length the keys keep P. In the mode csa (compressed keys) fewer than S are added.
    """
    batch, length, _ = of_rank(query.shape, 3, "query")
    old_batch, old, size = of_rank(past_key.shape, 3, "past_key")
    batch = unify(batch, old_batch, "batch sizes of query and past_key")
    if past_sequence_length is None:
        most = length + compress_ratio
        old = old + (length if policy_mode == "qsa" else fresh("the number of new compressed keys", at_most=most))
    present = (batch, old, size)
    buffer = (2, batch, fresh("the length of the buffer", at_most=2 * compress_ratio - 1), 2 * size)
    return [(batch, length, _capacity(policy_mode, compress_ratio, token_budget, index_topk)), present, buffer]


@uncounted_contrib(
    "PackedSparseAttentionIndexer",
    inputs="query key? query_norm_weight key_norm_weight cos_cache sin_cache cumulative_sequence_lengths "
    "past_sequence_lengths gate? position_bias? head_weights? position_ids? past_key_state past_kv_buffer "
    "past_gate_buffer? past_state_lengths state_update_capture_count? state_update_active? indexshare_mode? "
    "merged_indices? merged_counts? merged_status?",
    dtype=lambda query, past_key_state: [
        *[dt.INT32] * 2,
        past_key_state.dtype,
        query.dtype,
        query.dtype,
        dt.INT32,
        query.dtype,
        *[dt.INT32] * 2,
    ],
)
def packed_sparse_attention_indexer(
    query: AnyRank,
    past_key_state: AnyRank,
    past_kv_buffer: AnyRank,
    past_gate_buffer: AnyRank | None,
    past_state_lengths: AnyRank,
    policy_mode: str,
    compress_ratio: int,
    token_budget: int | None,
    index_topk: int | None,
    state_update_capacity: int = 0,
    max_output_entries: int = 0,
) -> list[Shape | None]:
    """Queries (count, hidden) -> entries (count, capacity), their numbers (count), states, their changes, statuses.

    A shared index has another shape. Which one, only a run knows.
    """
    count: Dim = of_rank(query.shape, 2, "query")[0]
    batch, _, size = of_rank(past_key_state.shape, 3, "past_key_state")
    capacity: Dim = _capacity(policy_mode, compress_ratio, token_budget, index_topk)
    if max_output_entries:
        demand_at_most(capacity, max_output_entries, "the number of entries that are selected")
        count = fresh("the schema does not say how many queries a shared index has")
        capacity = fresh("the schema does not say how many entries a shared index has", at_most=max_output_entries)
    gates = None if past_gate_buffer is None else past_gate_buffer.shape
    states = (past_key_state.shape, past_kv_buffer.shape, gates, past_state_lengths.shape)
    changes = (batch, state_update_capacity, size)
    return [(count, capacity), (count,), *states, changes, (count,), (batch,)]


@contrib(
    "PackedSparseAttentionIndexerMerge",
    inputs="base_indices base_counts base_row_indices range_starts? range_ends? additional_indices? additional_counts?",
)
def merge_selections(
    base_indices: AnyRank,
    base_counts: AnyRank,
    base_row_indices: AnyRank,
    range_starts: AnyRank | None,
    range_ends: AnyRank | None,
    additional_indices: AnyRank | None,
    additional_counts: AnyRank | None,
    max_output_entries: int,
    policy_mode: str,
) -> list[Shape]:
    """Rows (R, C), their counts (R), a row for each query (N), and ranges (N) or more entries (N, A) -> (N, entries).

    Then the counts of the entries (N), and a status (N).
    """
    require(policy_mode in ("append_range", "append_indices"), "no such policy_mode", policy_mode)
    demand(max_output_entries > 0, "max_output_entries must be positive", max_output_entries)
    ranges, more = (range_starts, range_ends), (additional_indices, additional_counts)
    if policy_mode == "append_indices":
        ranges, more = more, ranges
    fits = all(x is not None for x in ranges) and all(x is None for x in more)
    demand(fits, "the inputs do not fit policy_mode", policy_mode)
    rows, counts = of_rank(base_indices.shape, 2, "base_indices")[0], base_counts.shape
    if counts is not None:
        unify(rows, of_rank(counts, 1, "base_counts")[0], "the rows of base_indices and base_counts")
    (count,) = of_rank(base_row_indices.shape, 1, "base_row_indices")
    for given, rank in ((range_starts, 1), (range_ends, 1), (additional_indices, 2), (additional_counts, 1)):
        if given is not None and given.shape is not None:
            count = unify(count, of_rank(given.shape, rank, "the added entries")[0], "the numbers of queries")
    return [(count, max_output_entries), (count,), (count,)]
