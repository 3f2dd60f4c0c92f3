"""Recurrent layers: RNN, GRU and LSTM, which differ in the number of their gates, and causal state updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import exact_quotient, of_rank, unify, unify_shapes
from onnx_infer.operators.registration import op

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.ops.kinds import AnyRank, SymTensor
    from onnx_infer.values.tensor import Shape

# GRU-1 misspells its own default
DIRECTIONS = {"forward": 1, "foward": 1, "reverse": 1, "bidirectional": 2}


def recurrent(gates: int) -> Callable[..., list[Shape]]:
    """The rule of a recurrent layer whose weights hold this many gates.

    X (length, batch, input), W (directions, gates*hidden, input), R (directions, gates*hidden, hidden)
    -> Y (length, directions, batch, hidden), Y_h and Y_c (directions, batch, hidden); with `layout` 1 the batch is
    first in X and in all outputs (RNN, GRU, LSTM: 1 to 22).
    """

    def rule(
        X: SymTensor,
        W: AnyRank,
        R: AnyRank,
        initial_h: AnyRank | None,
        direction: str,
        hidden_size: int | None,
        layout: int = 0,
    ) -> list[Shape]:
        require(direction in DIRECTIONS, "no such direction", direction)
        first, second, inputs = of_rank(X.dims, 3, "X")
        batch, length = (first, second) if layout else (second, first)
        weights, recurrence = of_rank(W.shape, 3, "W"), of_rank(R.shape, 3, "R")
        hidden = recurrence[2] if hidden_size is None else unify(recurrence[2], hidden_size, "hidden sizes")
        if R.shape is None and hidden_size is None:
            hidden = exact_quotient(weights[1], gates, "the size of all gates")
        directions = DIRECTIONS[direction]
        unify_shapes(weights, (directions, gates * hidden, inputs), "W")
        unify_shapes(recurrence, (directions, gates * hidden, hidden), "R")
        if initial_h is not None and initial_h.shape is not None:
            state = of_rank(initial_h.shape, 3, "initial_h")
            batch = unify(batch, state[0 if layout else 1], "batch sizes of X and initial_h")
        last = (batch, directions, hidden) if layout else (directions, batch, hidden)
        whole = (batch, length, directions, hidden) if layout else (length, directions, batch, hidden)
        return [whole, last, last]

    return rule


op("RNN")(recurrent(1))
op("GRU")(recurrent(3))
op("LSTM")(recurrent(4))


@op("CausalConvWithState")
def causal_conv_with_state(
    input: AnyRank, weight: AnyRank, bias: AnyRank | None, past_state: AnyRank | None, activation: str = "none"
) -> list[Shape]:
    """(N, C, length), (C, 1, k) -> (N, C, length) and the last inputs (N, C, k - 1) (CausalConvWithState-27)."""
    require(activation in ("none", "silu", "swish"), "no such activation", activation)
    batch, channels, length = of_rank(input.shape, 3, "input")
    kernel = of_rank(weight.shape, 3, "weight")
    channels = unify(channels, kernel[0], "channels of input and weight")
    unify(kernel[1], 1, "the middle size of weight")
    if bias is not None and bias.shape is not None:
        channels = unify_shapes((channels,), bias.shape, "bias")[0]
    state: Shape = (batch, channels, kernel[2] - 1)
    if past_state is not None and past_state.shape is not None:
        state = unify_shapes(state, past_state.shape, "past_state")
    return [(state[0], state[1], length), state]


_UPDATE_RULES = {"linear": (), "gated": ("decay",), "delta": ("beta",), "gated_delta": ("decay", "beta")}
"""update_rule -> the operands that it needs."""


@op("LinearAttention", dtype=lambda query, past_state: [None, (past_state or query).dtype])
def linear_attention(
    query: AnyRank,
    key: AnyRank,
    value: AnyRank,
    past_state: AnyRank | None,
    decay: AnyRank | None,
    beta: AnyRank | None,
    q_num_heads: int,
    kv_num_heads: int,
    update_rule: str,
) -> list[Shape]:
    """(B, T, Hq*d_k), (B, T, H*d_k), (B, T, H*d_v) -> (B, T, Hq*d_v), state (B, H, d_k, d_v) (LinearAttention-27)."""
    require(update_rule in _UPDATE_RULES, "no such update_rule", update_rule)
    for name, given in (("decay", decay), ("beta", beta)):
        required = name in _UPDATE_RULES[update_rule]
        require(not required or given is not None, f"update_rule {update_rule} needs {name}")
    require(q_num_heads > 0 and kv_num_heads > 0, "numbers of heads are positive", q_num_heads, kv_num_heads)
    require(q_num_heads % kv_num_heads == 0, "kv_num_heads does not divide q_num_heads", kv_num_heads, q_num_heads)
    q, k, v = (of_rank(x.shape, 3, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    batch, length = unify_shapes(unify_shapes(q[:2], k[:2], "query and key"), v[:2], "key and value")
    key_size = unify(
        exact_quotient(q[2], q_num_heads, "the hidden size of query"),
        exact_quotient(k[2], kv_num_heads, "the hidden size of key"),
        "head sizes of query and key",
    )
    value_size = exact_quotient(v[2], kv_num_heads, "the hidden size of value")
    state: Shape = (batch, kv_num_heads, key_size, value_size)
    if past_state is not None and past_state.shape is not None:
        state = unify_shapes(state, past_state.shape, "past_state")
    return [(state[0], length, q_num_heads * state[3]), state]
