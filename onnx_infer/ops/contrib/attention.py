"""Attention operators of onnxruntime that project their input, with their key and value caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.granularity import demand_single, demand_vector
from onnx_infer.laws.limits import demand_at_least
from onnx_infer.laws.sizes import (
    broadcast_to,
    confirm,
    confirm_shape,
    differ,
    exact_quotient,
    of_rank,
    unify,
    unify_shapes,
)
from onnx_infer.laws.statements import demand
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Cost, Shapes
    from onnx_infer.ops.kinds import AnyRank, Dim, Scales, Shape

# -- with the projection of the input ----------------------------------------------------------------------------------


def _with_state(past: AnyRank | None, state: Shape, shared: int) -> Shape:
    """The present (2, B, heads, P + L, size): the past has the length P; L = state[3] is added unless it is shared."""
    if past is None:
        return state
    old = of_rank(past.shape, 5, "past")
    if shared:
        return old
    unify(old[0], 2, "the first size of past")
    batch, heads, size = (unify(old[i], state[i], f"sizes of past and present at axis {i}") for i in (1, 2, 4))
    return (2, batch, heads, old[3] + state[3], size)


def _parts(merged: Dim, hidden_sizes: tuple[int, ...]) -> tuple[Dim, ...]:
    """The hidden sizes of query, key and value in the merged weights; one third each by default."""
    if not hidden_sizes:
        return (exact_quotient(merged, 3, "the merged hidden sizes"),) * 3
    require(len(hidden_sizes) == 3, "qkv_hidden_sizes must have 3 elements", list(hidden_sizes))
    demand(hidden_sizes[0] == hidden_sizes[1], "the hidden sizes of query and key differ", *hidden_sizes[:2])
    unify(merged, sum(hidden_sizes), "the merged hidden sizes")
    return hidden_sizes


def _products(past: int) -> Cost:
    """Multiply-adds of the projection to queries, keys and values, then of attention. `past` is an input."""

    def cost(inputs: Shapes, outputs: Shapes, attributes: Attributes) -> Dim:
        (batch, length, _), (inner, merged) = inputs[:2]  # type: ignore[misc]
        before = inputs[past] if past < len(inputs) else None
        sizes = attributes.get("qkv_hidden_sizes")
        query = sizes[0] if sizes else merged // 3
        keys = length if before is None else length + before[3]
        return batch * length * (inner * merged + keys * (query + outputs[0][2]))  # type: ignore[index]

    return cost


@contrib(
    "Attention", inputs="input weights bias? mask_index? past? attention_bias? past_sequence_length?", cost=_products(4)
)
@uncounted_contrib(
    "DecoderMaskedSelfAttention",
    inputs="input weights bias mask_index? past attention_bias? past_sequence_length beam_width? cache_indirection?",
)
def attention(
    input: AnyRank,
    weights: AnyRank,
    past: AnyRank | None,
    num_heads: int,
    qkv_hidden_sizes: tuple[int, ...] = (),
    past_present_share_buffer: int = 0,
    bias: AnyRank | None = None,
    mask_index: AnyRank | None = None,
    attention_bias: AnyRank | None = None,
) -> list[Shape]:
    """Input (B, L, D), weights (D, q + k + v) -> (B, L, v), present (2, B, heads, P + L, v / heads)."""
    (batch, length, size), (inner, merged) = of_rank(input.shape, 3, "input"), of_rank(weights.shape, 2, "weights")
    size = confirm(size, inner, "the last size of the input and the first one of the weights")
    if bias is not None and bias.shape is not None:
        merged = confirm(merged, of_rank(bias.shape, 1, "bias")[0], "the merged hidden sizes of weights and bias")
    mask = None if mask_index is None or past_present_share_buffer else mask_index.shape
    if mask is not None and len(mask) == 2:  # a value for each key, or a length
        batch = confirm(batch, mask[0], "batch sizes of input and mask")
    parts = _parts(merged, qkv_hidden_sizes)
    state = (2, batch, num_heads, length, exact_quotient(parts[2], num_heads, "the hidden size"))
    present = _with_state(past, state, past_present_share_buffer)
    result = (batch if past_present_share_buffer else present[1], length, parts[2])
    if qkv_hidden_sizes:
        exact_quotient(parts[0], num_heads, "the hidden size of query")
    if mask is not None and len(mask) == 2:
        (total,) = broadcast_to(present[3:4], mask[1:], "the mask")
        present = (*present[:3], total, present[4])
    elif mask is not None:
        _demand_mask(mask, batch, length, present[3])
    if attention_bias is not None and attention_bias.shape is not None and not past_present_share_buffer:
        demand(past is None, "past and attention_bias exclude each other")
        with_bias((batch, num_heads, length, present[3]), attention_bias.shape)
    return [result, present]


def _demand_mask(mask: Shape, batch: Dim, length: Dim, total: Dim) -> None:
    """Demand one of the forms of a mask that is no matrix.

    They are lengths (B) or (2*B), starts and ends (3*B + 2), (B, S, total), and a buffer (B, 1, M, M) that is longer.
    """
    if not demand(1 <= len(mask) <= 4, "no mask has the rank", len(mask)):
        return
    if len(mask) == 1:
        demand_lengths(mask[0], batch, 2 * batch, 3 * batch + 2)
    elif len(mask) == 3:
        confirm_shape((batch, length, total), mask, "the mask")
    else:
        confirm_shape((batch, 1, mask[2], mask[2]), mask, "the mask")
        demand_at_least(mask[2], total, "the longest sequence of the mask")


def demand_lengths(number: Dim, batch: Dim, *others: Dim) -> None:
    """Demand a number of elements of a mask: that of the batch, or one of the others."""
    law = "the number of elements of the mask is none of those of lengths for the batch"
    demand(not all(differ(number, n) for n in (batch, *others)), law, number, batch, sign=",")


def with_bias(scores: Shape, bias: Shape) -> Shape:
    """The scores (B, heads, S, total), to which a bias is added that may have 1 for the first two sizes."""
    bias = of_rank(bias, 4, "attention_bias")
    outer = broadcast_to(scores[:2], bias[:2], "attention_bias")
    return (*outer, *unify_shapes(scores[2:], bias[2:], "the scores and attention_bias"))


@contrib(
    "QAttention",
    inputs="input weight bias input_scale weight_scale mask_index? input_zero_point? weight_zero_point? past?",
    dtype=lambda bias: [bias.dtype] * 2,
    cost=_products(8),
)
def quantized_attention(
    input: AnyRank,
    weight: AnyRank,
    bias: AnyRank,
    mask_index: AnyRank | None,
    past: AnyRank | None,
    scales: Scales,
    num_heads: int,
    past_present_share_buffer: int = 0,
) -> list[Shape]:
    """As Attention, with thirds of the weight."""
    demand_single(scales, "input_scale", "input_zero_point")
    if weight.shape:
        demand_vector(weight.shape[-1], scales, "weight_scale", "weight_zero_point")
    return attention(input, weight, past, num_heads, (), past_present_share_buffer, bias, mask_index)


@uncounted_contrib(
    "QOrderedAttention",
    inputs="input scale_input scale_Q_gemm scale_K_gemm scale_V_gemm Q_weight K_weight V_weight scale_Q_weight "
    "scale_K_weight scale_V_weight Q_bias K_bias V_bias scale_QKT_gemm? scale_QKT_softmax? scale_values_gemm "
    "mask_index? past? attention_bias?",
)
def ordered_attention(input: AnyRank, V_weight: AnyRank) -> Shape:
    """Input (B, L, D), V_weight (D, v) -> (B, L, v)."""
    shape, weight = of_rank(input.shape, 3, "input"), of_rank(V_weight.shape, 2, "V_weight")
    unify(shape[2], weight[0], "the last size of the input and the first one of V_weight")
    return (*shape[:2], weight[1])


@uncounted_contrib(
    "PackedAttention", inputs="input weights bias token_offset cumulative_sequence_length attention_bias?"
)
def packed_attention(input: AnyRank, weights: AnyRank, qkv_hidden_sizes: tuple[int, ...] = ()) -> Shape:
    """Input (tokens, D), weights (D, q + k + v) -> (tokens, v)."""
    tokens, size = of_rank(input.shape, 2, "input")
    inner, merged = of_rank(weights.shape, 2, "weights")
    unify(size, inner, "the last size of the input and the first one of the weights")
    return tokens, _parts(merged, qkv_hidden_sizes)[2]


@uncounted_contrib("LongformerAttention", inputs="input weight bias mask global_weight global_bias global")
@uncounted_contrib(
    "QOrderedLongformerAttention",
    inputs="input scale_input weight scale_weight bias scale_bias scale_qkv_gemm mask global_weight "
    "scale_global_weight global_bias scale_global_gemm global scale_output",
)
def longformer_attention(input: SymTensor) -> Shape:
    """(B, L, hidden) -> the same."""
    return of_rank(input.dims, 3, "input")
