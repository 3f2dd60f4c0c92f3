"""Recurrent layers (RNN, GRU and LSTM differ in the number of their gates) and causal state updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.sizes import confirm, confirm_shape, differ, exact_quotient, is_fresh, of_rank, unify, unify_shapes
from onnx_infer.laws.statements import demand
from onnx_infer.operators.registration import op
from symdim import product

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.operators.rule import Attributes, Shapes
    from onnx_infer.ops.kinds import AnyRank
    from onnx_infer.values.tensor import Dim, Shape

# GRU-1 misspells its own default
DIRECTIONS = {"forward": 1, "foward": 1, "reverse": 1, "bidirectional": 2}


def _hidden(gates: int, weights: Shape, recurrence: Shape, state: Shape | None, biases: Shape | None) -> Dim:
    """The hidden size: that of the attribute, else that of the operands, preferably a number."""
    told = [recurrence[2]] if state is None else [recurrence[2], state[2]]
    parts = [(recurrence[1], gates), (weights[1], gates)] + ([] if biases is None else [(biases[1], 2 * gates)])
    told += [size // count for size, count in parts if isinstance(size, int) and size % count == 0]
    known = sorted((size for size in told if not is_fresh(size)), key=lambda size: not isinstance(size, int))
    return known[0] if known else exact_quotient(weights[1], gates, "the size of all gates")


def recurrent(gates: int) -> Callable[..., list[Shape]]:
    """The rule of a recurrent layer whose weights have this many gates.

    X (length, batch, input), W (directions, gates*hidden, input), R (directions, gates*hidden, hidden)
    -> Y (length, directions, batch, hidden), Y_h and Y_c (directions, batch, hidden). With `layout` 1 the batch comes
    first in X and in all outputs (RNN, GRU, LSTM: 1 to 22).
    """

    def rule(
        X: AnyRank,
        W: AnyRank,
        R: AnyRank,
        B: AnyRank | None,
        sequence_lens: AnyRank | None,
        initial_h: AnyRank | None,
        direction: str,
        hidden_size: int | None,
        layout: int = 0,
    ) -> list[Shape]:
        demand(direction in DIRECTIONS, "no such direction", direction)
        first, second, inputs = of_rank(X.shape, 3, "X")
        batch, length = (first, second) if layout else (second, first)
        weights, recurrence = of_rank(W.shape, 3, "W"), of_rank(R.shape, 3, "R")
        state = None if initial_h is None or initial_h.shape is None else of_rank(initial_h.shape, 3, "initial_h")
        biases = None if B is None or B.shape is None else of_rank(B.shape, 2, "B")
        if hidden_size is None:
            hidden = _hidden(gates, weights, recurrence, state, biases)
        else:
            hidden = confirm(hidden_size, recurrence[2], "hidden sizes")
        directions = DIRECTIONS.get(direction, weights[0])
        confirm_shape(weights, (directions, gates * hidden, inputs), "W")
        confirm_shape(recurrence, (directions, gates * hidden, hidden), "R")
        if biases is not None:
            confirm_shape(biases, (directions, 2 * gates * hidden), "B")
        if sequence_lens is not None and sequence_lens.shape is not None:
            (count,) = of_rank(sequence_lens.shape, 1, "sequence_lens")
            batch = unify(batch, count, "batch size of X and number of sequence_lens")
        if state is not None:
            batch = unify(batch, state[0 if layout else 1], "batch sizes of X and initial_h")
            hidden = confirm(hidden, state[2], "hidden sizes")
        last = (batch, directions, hidden) if layout else (directions, batch, hidden)
        whole = (batch, length, directions, hidden) if layout else (length, directions, batch, hidden)
        return [whole, last, last]

    return rule


def recurrence(inputs: Shapes, _: Shapes, __: Attributes) -> Dim:
    """Multiply-adds: the weights W and R are used once at each step of each sequence of the batch."""
    x, w, r = inputs[:3]
    return product(x[:2]) * (product(w) + product(r))  # type: ignore[index, arg-type]


op("RNN", cost=recurrence, packs=True)(recurrent(1))
op("GRU", cost=recurrence, packs=True)(recurrent(3))
_of_four_gates = recurrent(4)


@op("LSTM", cost=recurrence, packs=True)
def lstm(
    X: AnyRank,
    W: AnyRank,
    R: AnyRank,
    B: AnyRank | None,
    sequence_lens: AnyRank | None,
    initial_h: AnyRank | None,
    initial_c: AnyRank | None,
    P: AnyRank | None,
    direction: str,
    hidden_size: int | None,
    layout: int = 0,
) -> list[Shape]:
    """As `recurrent`, with a second state of the shape of the first one (LSTM-1, 7, 14, 22).

    The peepholes P are (directions, 3*hidden).
    """
    whole, last, _ = _of_four_gates(X, W, R, B, sequence_lens, initial_h, direction, hidden_size, layout)
    if initial_c is not None:
        last = confirm_shape(last, initial_c.shape, "initial_c")
        whole = (last[0], whole[1], *last[1:]) if layout else (whole[0], *last)
    if P is not None and P.shape is not None:
        confirm(3 * last[2], of_rank(P.shape, 2, "P")[1], "P at axis 1 and 3 times the hidden size")
    return [whole, last, last]


@op("CausalConvWithState")
def causal_conv_with_state(
    input: AnyRank, weight: AnyRank, bias: AnyRank | None, past_state: AnyRank | None, activation: str = "none"
) -> list[Shape]:
    """(N, C, length), (C, 1, k) -> (N, C, length) and the last inputs (N, C, k - 1) (CausalConvWithState-27)."""
    demand(activation in ("none", "silu", "swish"), "no such activation", activation)
    batch, channels, length = of_rank(input.shape, 3, "input")
    kernel = of_rank(weight.shape, 3, "weight")
    channels = unify(channels, kernel[0], "channels of input and weight")
    unify(kernel[1], 1, "the middle size of weight")
    if bias is not None and bias.shape is not None:
        channels = confirm_shape((channels,), bias.shape, "bias")[0]
    state: Shape = (batch, channels, kernel[2] - 1)
    if past_state is not None:
        state = confirm_shape(state, past_state.shape, "past_state")
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
    demand(update_rule in _UPDATE_RULES, "no such update_rule", update_rule)
    for name, operand in (("decay", decay), ("beta", beta)):
        required = name in _UPDATE_RULES.get(update_rule, ())
        demand(not required or operand is not None, f"update_rule {update_rule} needs {name}")
    require(q_num_heads > 0 and kv_num_heads > 0, "numbers of heads are positive", q_num_heads, kv_num_heads, sign=",")
    demand(
        q_num_heads % kv_num_heads == 0, "kv_num_heads does not divide q_num_heads", kv_num_heads, q_num_heads, sign=","
    )
    q, k, v = (of_rank(x.shape, 3, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
    batch, length = unify_shapes(unify_shapes(q[:2], k[:2], "query and key"), v[:2], "key and value")
    for name, operand, widths in (("decay", decay, (k[2], kv_num_heads)), ("beta", beta, (kv_num_heads, 1))):
        if operand is not None:
            *outer, width = of_rank(operand.shape, 3, name)
            batch, length = unify_shapes((batch, length), tuple(outer), f"query and {name}")
            demand(not all(differ(width, x) for x in widths), f"the last size of {name} is none of", *widths, width)
    key_size = unify(
        exact_quotient(q[2], q_num_heads, "the hidden size of query"),
        exact_quotient(k[2], kv_num_heads, "the hidden size of key"),
        "head sizes of query and key",
    )
    value_size = exact_quotient(v[2], kv_num_heads, "the hidden size of value")
    state: Shape = (batch, kv_num_heads, key_size, value_size)
    if past_state is not None:
        state = confirm_shape(state, past_state.shape, "past_state")
    return [(state[0], length, q_num_heads * state[3]), state]
