"""Attention of onnxruntime on query, key and value, with their caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_infer.errors import Unknown
from onnx_infer.laws.sizes import confirm, confirm_shape, exact_quotient, of_rank, unify, unify_shapes
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.ops.attention import split_heads
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.ops.contrib.attention import demand_lengths, with_bias
from onnx_infer.values.tensor import SymTensor
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Shapes
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape


def _key_and_value(
    query: Shape, key: AnyRank | None, value: AnyRank | None, num_heads: int
) -> tuple[Shape, Dim, Shape, Shape]:
    """(batch, length), the hidden size of the result, and key and value as (B, heads, L, size), for all packings."""
    if len(query) == 5:
        batch, length, heads, _, size = query
        state = (batch, heads, length, size)
        return (batch, length), heads * size, state, state
    batch, length, hidden = of_rank(query, 3, "query")
    if key is None:
        hidden = exact_quotient(hidden, 3, "the packed hidden size")
        state = (batch, num_heads, length, exact_quotient(hidden, num_heads, "the hidden size"))
        return (batch, length), hidden, state, state
    if key.shape is None or (value is not None and value.shape is None):
        raise Unknown("the rank of key or value is not known")
    if value is None:
        _, others, heads, _, size = of_rank(key.shape, 5, "key, which holds the value too,")
        return (batch, length), hidden, (batch, heads, others, size), (batch, heads, others, size)
    if key.rank == value.rank == 4:
        key_sizes = unify_shapes(key.dims, value.dims, "key and value")
        size = exact_quotient(hidden, num_heads, "the hidden size")
        cross = confirm_shape((batch, num_heads, key_sizes[2], size), key_sizes, "the heads of query and key")
        return (cross[0], length), hidden, cross, cross
    # onnxruntime looks at no heads of an empty tensor
    k, v = (split_heads(x.dims, num_heads, name, x.dims[:2]) for x, name in ((key, "key"), (value, "value")))
    return (batch, length), v[1] * v[3] if value.rank == 4 else value.dims[2], k, v


def _multi_head_products(inputs: Shapes, outputs: Shapes, _: Attributes) -> Dim:
    """Multiply-adds of both products. `query` may contain keys and values (5 axes); `present_key` has all of them."""
    query: Any = inputs[0]
    key = inputs[1] if len(inputs) > 1 else None
    present = outputs[1] if len(outputs) > 1 else None
    elements = product(query if len(query) == 3 else (*query[:3], query[-1]))
    length = query[1] if key is None else key[2] if len(key) == 4 else key[1]
    whole: Any = length if present is None else present[2]
    return product((elements + product(outputs[0]), whole))  # type: ignore[arg-type]


@contrib(
    "MultiHeadAttention",
    inputs="query key? value? bias? key_padding_mask? attention_bias? past_key? past_value? past_sequence_length? "
    "cache_indirection?",
    dtype=lambda query: [query.dtype] * 3,
    cost=_multi_head_products,
)
def multi_head_attention(
    query: SymTensor,
    key: AnyRank | None,
    value: AnyRank | None,
    past_key: AnyRank | None,
    past_value: AnyRank | None,
    past_sequence_length: Dim | Unknown | None,
    num_heads: int,
    key_padding_mask: AnyRank | None = None,
    attention_bias: AnyRank | None = None,
    bias: AnyRank | None = None,
) -> list[Shape]:
    """Query (B, S, q), key (B, T, q), value (B, T, v), pasts (B, heads, P, size) -> (B, S, v), presents, scores.

    The presents have length P + T, or P if past_sequence_length indicates shared buffers. The scores are
    (B, heads, S, past + T).
    """
    apart = all(x is not None and x.shape is not None and x.rank == 3 for x in (query, key, value))
    if apart and key is not None and value is not None:
        batch = confirm(query.dims[0], key.dims[0], "batch sizes of query and key")
        batch = confirm(batch, value.dims[0], "batch sizes of key and value")
        length = confirm(key.dims[1], value.dims[1], "lengths of key and value")
        hidden = confirm(query.dims[2], key.dims[2], "hidden sizes of query and key")
        if bias is not None and bias.shape is not None:
            count = of_rank(bias.shape, 1, "bias")[0]
            confirm(2 * hidden + value.dims[2], count, "the hidden sizes of query, key and value, and the size of bias")
        query = SymTensor(query.dtype, (batch, query.dims[1], hidden))
        key = SymTensor(key.dtype, (batch, length, hidden))
        value = SymTensor(value.dtype, (batch, length, value.dims[2]))
    if past_key is not None and past_value is not None:
        keys, values = of_rank(past_key.shape, 4, "past key"), of_rank(past_value.shape, 4, "past value")
        length = unify(keys[2], values[2], "lengths of the pasts")
        size = confirm(keys[3], values[3], "sizes of a head of the pasts")
        past_key = SymTensor(past_key.dtype, (*keys[:2], length, size))
        past_value = SymTensor(past_value.dtype, (*values[:2], length, size))
    result, *presents, scores = attention_with_caches(
        query, key, value, past_key, past_value, past_sequence_length, num_heads, 1
    )
    before = scores[3]
    is_shared = past_key is not None and past_sequence_length is not None
    mask = None if key_padding_mask is None or is_shared else key_padding_mask.shape
    if mask is not None and len(mask) == 1:
        demand_lengths(mask[0], scores[0], 3 * scores[0] + 2)
    elif mask is not None and demand(len(mask) in (2, 3), "no mask has the rank", len(mask)):
        law = "the keys and the mask"
        batch, *rows, total = unify_shapes((scores[0], *scores[2 : len(mask)], before), mask, law)
        scores = (batch, scores[1], *(rows or scores[2:3]), total)
    if attention_bias is not None and attention_bias.shape is not None:
        scores = with_bias(scores, attention_bias.shape)
    batch, _, length, total = scores
    caches = [(batch, x[1], total if x[2] == before else x[2], x[3]) for x in presents]
    return [(batch, length, result[2]), *caches, scores]


@uncounted_contrib(
    "DecoderMaskedMultiHeadAttention",
    inputs="query key? value? mask_index? attention_bias? past_key? past_value? past_sequence_length? beam_width? "
    "cache_indirection? bias?",
    dtype=lambda query: [query.dtype] * 3,
)
def attention_with_caches(
    query: SymTensor,
    key: AnyRank | None,
    value: AnyRank | None,
    past_key: AnyRank | None,
    past_value: AnyRank | None,
    past_sequence_length: Dim | Unknown | None,
    num_heads: int,
    past_present_share_buffer: int = 0,
) -> list[Shape]:
    """The result, presents and scores for each packing of query, key and value; without the last two, in the last axis.

    The buffers of past and present are shared, and a length is given, if the attribute says so.
    """
    outer, hidden, k, v = _key_and_value(query.dims, key, value, num_heads)
    length = past_sequence_length if past_key is not None and past_present_share_buffer else None
    shared = length is not None
    presents = [_appended(past_key, k, shared, "key"), _appended(past_value, v, shared, "value")]
    total = presents[0][2]
    if length is not None:
        total = fresh(length.note) if isinstance(length, Unknown) else length + k[2]
    return [(*outer, hidden), *presents, (outer[0], k[1], outer[1], total)]


@uncounted_contrib(
    "PackedMultiHeadAttention", inputs="query key? value? bias? token_offset cumulative_sequence_length attention_bias?"
)
def packed_multi_head_attention(query: SymTensor, value: AnyRank | None) -> Shape:
    """Query (tokens, q), value (tokens, v) -> (tokens, v); query (tokens, heads, 3, n) -> (tokens, heads * n)."""
    if value is None:
        tokens, heads, _, size = of_rank(query.dims, 4, "query, which holds key and value too,")
        return tokens, heads * size
    return of_rank(query.dims, 2, "query")[0], of_rank(value.shape, 2, "value")[1]


@uncounted_contrib(
    "DecoderAttention",
    inputs="query key q_weight kv_weight bias key_padding_mask? key_cache? value_cache? static_kv use_past "
    "has_layer_state has_key_padding_mask",
)
def decoder_attention(
    query: AnyRank,
    key: AnyRank,
    key_cache: AnyRank | None,
    static_kv: bool | Unknown,
    use_past: bool | Unknown,
    has_layer_state: bool | Unknown,
    num_heads: int,
) -> list[Shape]:
    """Query (S, B, hidden), key (T, B, hidden), caches (B, heads, P, size) -> the query's shape and new caches.

    The caches have the length T (cross-attention) or S (self-attention); with use_past P, or P + S.
    """
    length, batch, hidden = of_rank(query.shape, 3, "query")
    flags = (static_kv, use_past, has_layer_state)
    new: Dim = fresh("whether keys and values are cached is not known")
    if not any(isinstance(flag, Unknown) for flag in flags):
        cached = key_cache is not None and use_past and has_layer_state
        old = of_rank(key_cache.shape, 4, "key_cache")[2] if key_cache is not None and cached else 0
        added = 0 if cached else of_rank(key.shape, 3, "key")[0]
        new = old + (added if static_kv else length)
    cache = (batch, num_heads, new, exact_quotient(hidden, num_heads, "the hidden size"))
    return [(length, batch, hidden), cache, cache]


def _appended(past: AnyRank | None, new: Shape, shared: bool, what: str) -> Shape:
    """(B, heads, P, size) and new (B, heads, T, size) -> (B, heads, P + T, size), or the past's shape if shared."""
    if past is None:
        return new
    old = of_rank(past.shape, 4, f"past {what}")
    if shared:
        return old
    law = f"sizes of past and new {what} at axis"
    batch, heads = (unify(old[i], new[i], f"{law} {i}") for i in (0, 1))
    # onnxruntime does not compare sizes of values
    size = unify(old[3], new[3], f"{law} 3", "required" if what == "key" else "assumed")
    return (batch, heads, old[2] + new[2], size)
