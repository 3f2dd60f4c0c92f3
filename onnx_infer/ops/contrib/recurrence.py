"""Operators of onnxruntime that carry a state along a sequence: LSTM, causal convolution, linear attention, hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import confirm, confirm_shape, exact_quotient, of_rank, unify, unify_shapes
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.recurrent import DIRECTIONS
from onnx_infer.values import dtype as dt
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape, SymTensor

# -- LSTM --------------------------------------------------------------------------------------------------------------


def _layer(X: AnyRank, R: AnyRank, hidden: Dim, hidden_size: int | None, direction: str) -> list[Shape]:
    require(direction in DIRECTIONS, "no such direction", direction)
    length, batch, _ = of_rank(X.shape, 3, "X")
    directions = unify(DIRECTIONS[direction], of_rank(R.shape, 3, "R")[0], "the number of directions")
    last = (directions, batch, hidden if hidden_size is None else unify(hidden, hidden_size, "hidden sizes"))
    return [(length, *last[:1], batch, last[2]), last, last]


@contrib(
    "AttnLSTM",
    inputs="X W R B? sequence_lens? initial_h? initial_c? P? QW? MW? V? M? memory_seq_lens? AW?",
)
def attention_lstm(X: AnyRank, R: AnyRank, hidden_size: int | None, direction: str = "forward") -> list[Shape]:
    """X (S, B, input), R (directions, 4*hidden, hidden) -> (S, directions, B, hidden), twice without S."""
    return _layer(X, R, of_rank(R.shape, 3, "R")[2], hidden_size, direction)


@contrib(
    "DynamicQuantizeLSTM",
    inputs="X W R B? sequence_lens? initial_h? initial_c? P? W_scale W_zero_point R_scale R_zero_point",
)
def quantized_lstm(X: AnyRank, R: AnyRank, hidden_size: int | None, direction: str = "forward") -> list[Shape]:
    """X (S, B, input), R (directions, hidden, 4*hidden) -> (S, directions, B, hidden), twice without S."""
    return _layer(X, R, of_rank(R.shape, 3, "R")[1], hidden_size, direction)


# -- causal convolution ------------------------------------------------------------------------------------------------


@contrib("CausalConvWithState", inputs="input weight bias? past_state?")
def causal_conv_with_state(
    input: SymTensor,
    weight: AnyRank,
    past_state: AnyRank | None,
    ndim: int = 1,
    dilation: int = 1,
    channels_last: int = 0,
    state_window: int = 0,
) -> list[Shape | None]:
    """(B, C, length), (C, 1, k) -> (B, C, length), state (B, C, (k - 1)*dilation); W states of a window come first.

    With channels last: (B, length, *channels) and (B, (k - 1)*dilation, *channels). With 2 or 3 spatial axes the state
    has the shape of the past state.
    """
    past = None if past_state is None else past_state.shape
    if ndim != 1:
        return [input.dims, past]
    require(input.rank >= 3, "rank of the input is less than 3", input.rank)
    batch, *rest = input.dims
    filters, _, kernel = of_rank(weight.shape, 3, "weight")
    confirm(filters, product(rest[1:]) if channels_last else rest[0], "channels of the weight and of the input")
    length = (kernel - 1) * dilation
    state: Shape = (batch, length, *rest[1:]) if channels_last else (batch, rest[0], length)
    state = (state_window, *state) if state_window else state
    return [input.dims, state if past is None else unify_shapes(state, past, "present and past_state")]


@contrib(
    "VarlenCausalConvWithState", inputs="input weight cumulative_sequence_length bias? initial_state capture_count?"
)
def packed_causal_conv(input: AnyRank, initial_state: AnyRank, state_update_capacity: int = 0) -> list[Shape]:
    """Tokens (count, C), state (B, C, length) -> both, and the changes of the state (B, capacity, C)."""
    count, channels = of_rank(input.shape, 2, "input")
    batch, depth, length = of_rank(initial_state.shape, 3, "initial_state")
    channels = unify(channels, depth, "channels of input and initial_state")
    return [(count, channels), (batch, channels, length), (batch, state_update_capacity, channels)]


# -- linear attention --------------------------------------------------------------------------------------------------


@contrib(
    "LinearAttention",
    inputs="query key value past_state? decay? beta?",
    dtype=lambda query, past_state: [query.dtype, (past_state or query).dtype],
)
def linear_attention(
    query: AnyRank,
    value: AnyRank,
    past_state: AnyRank | None,
    q_num_heads: int,
    kv_num_heads: int,
    state_window: int = 0,
) -> list[Shape]:
    """(B, T, Hq*d), (B, T, H*d), (B, T, H*e) -> (B, T, max(Hq, H)*e), state (B, H, d, e), or a window of states."""
    require(q_num_heads > 0 and kv_num_heads > 0, "numbers of heads are positive", q_num_heads, kv_num_heads)
    q, v = of_rank(query.shape, 3, "query"), of_rank(value.shape, 3, "value")
    batch, length = unify_shapes(q[:2], v[:2], "query and value")
    size = exact_quotient(q[2], q_num_heads, "the hidden size of query")
    value_size = exact_quotient(v[2], kv_num_heads, "the hidden size of value")
    state: Shape = (*((state_window,) if state_window else ()), batch, kv_num_heads, size, value_size)
    if past_state is not None and past_state.shape is not None:
        state = unify_shapes(state, past_state.shape, "present and past_state")
    return [(batch, length, max(q_num_heads, kv_num_heads) * state[-1]), state]


@contrib("LinearAttentionGate", inputs="a dt_bias decay_scale b?")
def linear_attention_gate(a: SymTensor) -> list[Shape]:
    """(B, T, H) -> the decay and the update rate, which have the same shape."""
    return [a.dims] * 2


@contrib(
    "GatedDeltaNet",
    inputs="query key? value? cu_seqlens? decay? beta? initial_state? a_log? dt_bias? capture_count? "
    "state_update_active?",
    dtype=lambda query: [query.dtype, dt.FLOAT, dt.FLOAT],
)
def gated_delta_net(
    query: SymTensor,
    value: AnyRank | None,
    cu_seqlens: AnyRank | None,
    initial_state: AnyRank | None,
    state_update_capacity: int = 0,
) -> list[Shape]:
    """Query (*tokens, Hq, d), value (*tokens, H, e) or packed -> (*tokens, H, e), state (B, H, e, d), its changes."""
    require(query.rank >= (1 if value is None else 2), "query has too few axes; its shape", query)
    if value is None:
        require(initial_state is not None, "packed query, key and value need an initial_state")
    if initial_state is not None:
        batch, heads, value_size, size = of_rank(initial_state.shape, 4, "initial_state")
    if value is None:
        *tokens, width = query.dims
        key_width = exact_quotient(width - heads * value_size, 2, "the width of query and key")
    else:
        *tokens, q_heads, q_size = query.dims
        v = of_rank(value.shape, query.rank, "value")
        key_width = q_heads * q_size
        if initial_state is None:
            heads, value_size, size = v[-2], v[-1], q_size
            require(cu_seqlens is not None, "cu_seqlens or initial_state must be given")
            batch = of_rank(None if cu_seqlens is None else cu_seqlens.shape, 1, "cu_seqlens")[0] - 1
        heads, value_size = unify(heads, v[-2], "heads of value"), unify(value_size, v[-1], "sizes of value's heads")
    changes = state_update_capacity * (heads + key_width + heads * value_size)
    return [(*tokens, heads, value_size), (batch, heads, value_size, size), (batch, changes)]


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


@contrib("EngramGate", inputs="key query value key_norm_scale query_norm_scale conv_norm_scale?")
def engram_gate(key: AnyRank) -> list[Shape]:
    """Keys (B, S, C, hidden) -> the gated values and the normalized ones, of the same shape."""
    return [of_rank(key.shape, 4, "key")] * 2


# -- hashes of n-grams -------------------------------------------------------------------------------------------------


@contrib(
    "NGramHashMapping",
    inputs="input_ids multipliers vocab_sizes past_ids? head_offsets? eos_token_id? segment_ids?",
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


# -- selection of the attended entries ---------------------------------------------------------------------------------


def _capacity(policy_mode: str, compress_ratio: int, token_budget: int | None, index_topk: int | None) -> int:
    """The number of entries that are selected for each query."""
    require(policy_mode in ("qsa", "csa"), "policy_mode is neither qsa nor csa", policy_mode)
    given = token_budget if policy_mode == "qsa" else index_topk
    require(given, "token_budget of policy_mode qsa, or index_topk of csa, must be given")
    return (given or 0) + (compress_ratio - 1 if policy_mode == "qsa" else 0)


@contrib(
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


@contrib(
    "PackedSparseAttentionIndexer",
    inputs="query key? query_norm_weight key_norm_weight cos_cache sin_cache cumulative_sequence_lengths "
    "past_sequence_lengths gate? position_bias? head_weights? position_ids? past_key_state past_kv_buffer "
    "past_gate_buffer? past_state_lengths state_update_capture_count? state_update_active?",
    dtype=lambda query: [dt.INT32, dt.INT32, query.dtype, query.dtype, query.dtype, dt.INT32, query.dtype],
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
) -> list[Shape | None]:
    """Queries (count, hidden) -> entries (count, capacity), their numbers (count), states, their changes."""
    count = of_rank(query.shape, 2, "query")[0]
    batch, _, size = of_rank(past_key_state.shape, 3, "past_key_state")
    capacity = _capacity(policy_mode, compress_ratio, token_budget, index_topk)
    gates = None if past_gate_buffer is None else past_gate_buffer.shape
    states = (past_key_state.shape, past_kv_buffer.shape, gates, past_state_lengths.shape)
    return [(count, capacity), (count,), *states, (batch, state_update_capacity, size)]
