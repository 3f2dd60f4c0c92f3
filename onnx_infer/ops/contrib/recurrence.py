"""Operators of onnxruntime that carry a state along a sequence: LSTM, causal convolution, linear attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.limits import demand_at_least, demand_at_most
from onnx_infer.laws.sizes import confirm, confirm_shape, exact_quotient, of_rank, unify, unify_shapes
from onnx_infer.laws.statements import conflicting, demand, fresh
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.ops.contrib.linear import transposed
from onnx_infer.ops.recurrent import DIRECTIONS, lstm, recurrence
from onnx_infer.ops.window import convolution
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_infer.ops.kinds import AnyRank, Dim, Scales, Shape

# -- LSTM --------------------------------------------------------------------------------------------------------------


@uncounted_contrib(
    "AttnLSTM", inputs="X W R B? sequence_lens? initial_h? initial_c? P? QW? MW? V? M? memory_seq_lens? AW?"
)
def attention_lstm(X: AnyRank, R: AnyRank, hidden_size: int | None, direction: str = "forward") -> list[Shape]:
    """X (S, B, input), R (directions, 4*hidden, hidden) -> (S, directions, B, hidden), twice without S."""
    require(direction in DIRECTIONS, "no such direction", direction)
    (length, batch, _), (directions, _, hidden) = of_rank(X.shape, 3, "X"), of_rank(R.shape, 3, "R")
    directions = unify(DIRECTIONS[direction], directions, "the number of directions")
    last = (directions, batch, hidden if hidden_size is None else unify(hidden, hidden_size, "hidden sizes"))
    return [(length, directions, *last[1:]), last, last]


@contrib(
    "DynamicQuantizeLSTM",
    inputs="X W R B? sequence_lens? initial_h? initial_c? P? W_scale W_zero_point R_scale R_zero_point",
    cost=recurrence,
)
def quantized_lstm(
    X: AnyRank,
    W: AnyRank,
    R: AnyRank,
    B: AnyRank | None,
    sequence_lens: AnyRank | None,
    initial_h: AnyRank | None,
    initial_c: AnyRank | None,
    P: AnyRank | None,
    scales: Scales,
    hidden_size: int | None,
    direction: str = "forward",
) -> list[Shape]:
    """As LSTM, with W (directions, input, 4*hidden), R (directions, hidden, 4*hidden), each quantized.

    A scale or a zero point has one element for each direction, or one for each direction and column of the weight.
    """
    by_columns, recurrent = (
        SymTensor(w.dtype, transposed(of_rank(w.shape, 3, name), 1, 0)) for w, name in ((W, "W"), (R, "R"))
    )
    for name, scale in scales.items():
        if scale.shape is not None and demand(len(scale.shape) in (1, 2), f"rank of {name} is neither 1 nor 2", scale):
            columns = (DIRECTIONS.get(direction, recurrent.dims[0]), recurrent.dims[1])
            confirm_shape(columns[: len(scale.shape)], scale.shape, name)
    hidden = recurrent.dims[2]
    hidden = hidden if hidden_size is None else unify(hidden, hidden_size, "hidden sizes")
    out: list[Shape] = lstm(X, by_columns, recurrent, B, sequence_lens, initial_h, initial_c, P, direction, None)
    if initial_h is not None:
        confirm_shape(out[1], initial_h.shape, "initial_h")
    return [(*shape[:-1], hidden) for shape in out]


# -- causal convolution ------------------------------------------------------------------------------------------------


@contrib("CausalConvWithState", inputs="input weight bias? past_state?", cost=convolution(1))
def causal_conv_with_state(
    input: SymTensor,
    weight: AnyRank,
    past_state: AnyRank | None,
    ndim: int = 1,
    dilation: int = 1,
    channels_last: int = 0,
    state_window: int = 0,
    state_length: int = 0,
    state_channels_last: int = -1,
    input_channels: int = 0,
    input_channel_offset: int = 0,
    state_update_capacity: int = 0,
) -> list[Shape | None]:
    """(B, C, length), (C, 1, k) -> (B, C, length), state (B, C, (k - 1)*dilation); W states of a window come first.

    With channels last: (B, length, *channels) and (B, (k - 1)*dilation, *channels). With 2 or 3 spatial axes the state
    has the shape of the past state. Of one axis of channels, last, a slice may be taken, and the state may be longer,
    have its channels first, and come with its changes (B, capacity, C).
    """
    past = None if past_state is None else past_state.shape
    extended = state_length or state_channels_last != -1 or input_channels or input_channel_offset
    if extended or state_update_capacity:
        plain = ndim == 1 and channels_last and not state_window
        require(plain, "a slice, or a state of another form, needs one axis, channels last and no window")
        of_rank(input.dims, 3, "the input with a slice, or a state of another form,")
    elif ndim != 1:
        return [input.dims, past]
    require(input.rank >= 3, "rank of the input is less than 3", input.rank)
    batch, *rest = input.dims
    filters, _, kernel = of_rank(weight.shape, 3, "weight")
    if input_channels or input_channel_offset:
        demand_at_most(input_channel_offset + (input_channels or rest[1]), rest[1], "the end of the slice")
        rest = [rest[0], input_channels or rest[1]]
    confirm(filters, product(rest[1:]) if channels_last else rest[0], "channels of the weight and of the input")
    length = (kernel - 1) * dilation
    if state_length:
        demand_at_most(length, state_length, "the length that the kernel reads")
        length = state_length
    is_last = channels_last if state_channels_last == -1 else state_channels_last
    channels = rest[1:] if channels_last else rest[:1]
    state: Shape = (batch, length, *channels) if is_last else (batch, *channels, length)
    state = (state_window, *state) if state_window else state
    state = state if past is None else unify_shapes(state, past, "present and past_state")
    return [(batch, *rest), state, (batch, state_update_capacity, *channels)]


@uncounted_contrib(
    "VarlenCausalConvWithState",
    inputs="input weight cumulative_sequence_length bias? initial_state capture_count? kernel_delta? previous_mask?",
)
def packed_causal_conv(
    input: AnyRank,
    initial_state: AnyRank,
    kernel_delta: AnyRank | None,
    previous_mask: AnyRank | None,
    state_update_capacity: int = 0,
) -> list[Shape]:
    """Tokens (count, C), state (B, C, length) -> both, and the changes of the state (B, capacity, C).

    The changes of the kernel (count, taps, groups) and the mask (count, 1) have an element for each token.
    """
    count, channels = of_rank(input.shape, 2, "input")
    for name, operand, rank in (("kernel_delta", kernel_delta, 3), ("previous_mask", previous_mask, 2)):
        if operand is not None and operand.shape is not None:
            count = unify(
                count, of_rank(operand.shape, rank, name)[0], f"the numbers of tokens of the input and {name}"
            )
    batch, depth, length = of_rank(initial_state.shape, 3, "initial_state")
    channels = unify(channels, depth, "channels of input and initial_state")
    return [(count, channels), (batch, channels, length), (batch, state_update_capacity, channels)]


# -- linear attention --------------------------------------------------------------------------------------------------


@uncounted_contrib(
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
    require(q_num_heads > 0 and kv_num_heads > 0, "numbers of heads are positive", q_num_heads, kv_num_heads, sign=",")
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


@uncounted_contrib(
    "GatedDeltaNet",
    inputs="query key? value? cu_seqlens? decay? beta? initial_state? a_log? dt_bias? capture_count? "
    "state_update_active?",
    dtype=lambda query: [query.dtype, dt.FLOAT, dt.FLOAT],
)
def gated_delta_net(
    query: SymTensor,
    value: AnyRank | None,
    cu_seqlens: AnyRank | None,
    decay: AnyRank | None,
    beta: AnyRank | None,
    initial_state: AnyRank | None,
    state_update_capacity: int = 0,
) -> list[Shape]:
    """Query (*tokens, Hq, d), value (*tokens, H, e) or packed -> (*tokens, H, e), state (B, H, e, d), its changes.

    The changes hold the decay, (*tokens, H) or (*tokens, H, d), the key and the value of each token.
    """
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
        if initial_state is None:
            heads, value_size, size = v[-2], v[-1], q_size
            require(cu_seqlens is not None, "cu_seqlens or initial_state must be given")
            batch = of_rank(None if cu_seqlens is None else cu_seqlens.shape, 1, "cu_seqlens")[0] - 1
        tokens = list(confirm_shape(tuple(tokens), v[:-2], "the tokens of query and value"))
        heads, value_size = unify(heads, v[-2], "heads of value"), unify(value_size, v[-1], "sizes of value's heads")
        size = unify(size, q_size, "sizes of a head of query and of the state")
        exact_quotient(heads, q_heads, "the number of heads of value")
        key_width = q_heads * size
    batch = _sequences(batch, tokens, cu_seqlens)
    if beta is not None:
        confirm_shape((*tokens, heads), beta.shape, "the tokens and their heads, and beta")
    changes = state_update_capacity * (_decay_width(decay, (*tokens, heads, size)) + key_width + heads * value_size)
    return [(*tokens, heads, value_size), (batch, heads, value_size, size), (batch, changes)]


def _sequences(batch: Dim, tokens: Sequence[Dim], cu_seqlens: AnyRank | None) -> Dim:
    """The number of sequences: of their ends, of the first axis of two, or a divisor of the number of tokens."""
    if cu_seqlens is not None:
        return confirm(batch, of_rank(cu_seqlens.shape, 1, "cu_seqlens")[0] - 1, "the numbers of states and sequences")
    if len(tokens) > 1:
        return unify(batch, tokens[0], "the numbers of states and sequences")
    exact_quotient(product(tokens), batch, "the number of tokens")
    return batch


def _decay_width(decay: AnyRank | None, keys: Shape) -> Dim:
    """The number of decays of a token with keys (*tokens, H, d): one for each head, or for each element of its key."""
    *_, heads, size = keys
    if decay is None:
        return heads
    if decay.shape is None:
        return fresh("the rank of decay is not known", at_most=heads * size)
    rank = len(decay.shape)
    if not len(keys) - 1 <= rank <= len(keys):
        return conflicting(f"rank of decay does not fit: {rank}")
    confirm_shape(keys[:rank], decay.shape, "the tokens and their heads, and decay")
    return heads if rank < len(keys) else heads * size


@uncounted_contrib(
    "Mamba2Verify",
    inputs="projection conv_state ssm_state conv_weight conv_bias dt_bias A_negative D norm_weight state_row",
    dtype=lambda projection: [*[projection.dtype] * 2, dt.FLOAT, projection.dtype, dt.FLOAT],
)
def verify_mamba2(
    projection: AnyRank,
    conv_state: AnyRank,
    ssm_state: AnyRank,
    heads: int,
    n_groups: int,
    head_dim: int = 64,
    d_state: int = 128,
) -> list[Shape]:
    """Tokens (R, 2*D + 2*groups*d + heads) -> (R, D), the states, (R, D + 2*groups*d), (R, D), with D = heads*size.

    The states of the convolution are (slots, D + 2*groups*d, 3), those of the recurrence (slots, heads, d, size).
    """
    positive = heads > 0 and n_groups > 0 and heads % n_groups == 0
    require(positive, "heads is not a positive multiple of n_groups", heads, n_groups, sign=",")
    inner = heads * head_dim
    channels = inner + 2 * n_groups * d_state
    rows, width = of_rank(projection.shape, 2, "projection")
    confirm(inner + channels + heads, width, "the width of gate, channels and steps, and of projection")
    demand_at_least(rows, 1, "the number of tokens")
    conv, ssm = of_rank(conv_state.shape, 3, "conv_state"), of_rank(ssm_state.shape, 4, "ssm_state")
    slots = unify(conv[0], ssm[0], "slots of conv_state and ssm_state")
    demand_at_least(slots, 1, "the number of slots")
    conv = confirm_shape((slots, channels, 3), conv, "the sizes of the channels and of conv_state")
    ssm = confirm_shape((slots, heads, d_state, head_dim), ssm, "the sizes of the heads and of ssm_state")
    return [(rows, inner), conv, ssm, (rows, channels), (rows, inner)]


@contrib("ConvStateReplay", inputs="source_backing capture_backing destination_backing metadata",
         dtype=lambda destination_backing: destination_backing.dtype)  # fmt: skip
@contrib("GatedDeltaNetStateReplay", inputs="source_backing capsule_backing destination_backing metadata")
def replay(destination_backing: AnyRank) -> Shape:
    """The destination, a vector that is changed in place."""
    return of_rank(destination_backing.shape, 1, "destination_backing")
