"""Grouped-query attention on caches (whole, sparse or in pages); positions of tokens and their packing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.indices import demand_in_bounds
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import demand_at_least, demand_at_most, demand_one_element, known_elements
from onnx_infer.laws.sizes import confirm_shape, exact_quotient, of_rank, unify, unify_shapes
from onnx_infer.laws.statements import demand, element, fresh, state
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import maximum, product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_infer.operators.rule import Attributes, Shapes
    from onnx_infer.ops.kinds import AnyRank, Dim, Elements, Shape


def _hidden(
    query: AnyRank, key: AnyRank | None, num_heads: int, kv_num_heads: int, rank: int
) -> tuple[Shape, Dim, Dim]:
    """(batch, length) or (tokens) of the query, its hidden size, and the size of a head.

    Without key, queries, keys and values are packed in the last axis.
    """
    require(num_heads > 0 and kv_num_heads > 0, "numbers of heads are positive", num_heads, kv_num_heads, sign=",")
    *outer, hidden = of_rank(query.shape, rank, "query")
    size = exact_quotient(hidden, num_heads + (2 * kv_num_heads if key is None else 0), "the hidden size of query")
    return tuple(outer), num_heads * size if key is None else hidden, size


def _past_shape(pasts: Sequence[AnyRank], heads: int) -> Shape:
    """The one shape (B, heads, P, size) of the pasts of keys and values. The size may be packed."""
    known = [past.shape for past in pasts if past.shape is not None]
    if not known:
        return of_rank(None, 4, "the past")
    shape = confirm_shape(of_rank(known[0], 4, "the past"), known[-1], "the pasts")
    unify(shape[1], heads, "heads of the past and kv_num_heads")
    return shape


def _cache_types(query: AnyRank, past_key: AnyRank | None, past_value: AnyRank | None) -> list[int | None]:
    return [query.dtype, (past_key or query).dtype, (past_value or query).dtype, query.dtype]


def _dynamic_types(
    query: AnyRank, past_key: AnyRank | None, past_value: AnyRank | None, output_bf16: int = 0
) -> list[int | None]:
    return [dt.BFLOAT16 if output_bf16 else query.dtype, *_cache_types(query, past_key, past_value)[1:3], dt.INT32]


def _demand_room(past: Dim, batch: Dim, length: Dim, total: Dim) -> None:
    """Demand that the past has room for the total length, or lacks exactly the new tokens.

    Several new tokens on a used past are allowed for one sequence only. onnxruntime refuses all other cases.
    """
    state("broadcast_to", maximum(total - past, 0) + 1, length + 1, "1 more than what the past lacks and the length")
    demand_at_least(total, length, "the total length")
    state("equal", (batch - 1) * (length - 1) * (total - length), 0, "one sequence or token, or no past in use")


def _demand_rotary(cos: AnyRank | None, sin: AnyRank | None, size: Dim, total: Dim | None) -> None:
    """Demand caches (positions, rotated/2) for all positions, whether they are used or not; heads rotate in 16s."""
    if cos is None or sin is None or cos.shape is None or sin.shape is None:
        return
    positions, half = unify_shapes(of_rank(cos.shape, 2, "cos_cache"), of_rank(sin.shape, 2, "sin_cache"), "the caches")
    exact_quotient(size, 16, "the size of a head")
    exact_quotient(half, 8, "the last size of cos_cache")
    demand_at_most(half, size // 2, "the last size of cos_cache")
    if total is not None:
        demand_at_most(total, positions, "the total length")


def _products(_: Shapes, outputs: Shapes, __: Attributes) -> Dim:
    """Multiply-adds of two products, each the elements of Y times the length of the keys, which `present_key` has."""
    return product((2, *outputs[0], outputs[1][2]))  # type: ignore[misc, index]


@contrib(
    "GroupQueryAttention",
    inputs="query key? value? past_key? past_value? seqlens_k total_sequence_length cos_cache? sin_cache? "
    "position_ids? attention_bias? head_sink? k_scale? v_scale? q_norm_weight? k_norm_weight? query_seqlens?",
    dtype=_cache_types,
    cost=_products,
    indices=(5,),
)
def group_query_attention(
    query: AnyRank,
    key: AnyRank | None,
    past_key: AnyRank | None,
    past_value: AnyRank | None,
    seqlens_k: AnyRank,
    total_sequence_length: Dim | Unknown,
    num_heads: int,
    kv_num_heads: int,
    sliding_window_cache: int = 0,
    kv_cache_bit_width: int = 0,
    value: AnyRank | None = None,
    cos_cache: AnyRank | None = None,
    sin_cache: AnyRank | None = None,
    query_seqlens: AnyRank | None = None,
) -> list[Shape]:
    """Query (B, S, heads * size), pasts (B, kv_heads, P, size) -> the query's shape, presents, scores.

    The presents have the length max(P, total): a past buffer that is long enough is shared, others grow. A window of
    the cache keeps P. The scores are (B, heads, S, total). With query_seqlens (B), the numbers of queries that are no
    padding, the total is an upper bound.
    """
    (batch, length), hidden, size = _hidden(query, key, num_heads, kv_num_heads, 3)
    for name, lengths in (("seqlens_k", seqlens_k), ("query_seqlens", query_seqlens)):
        if lengths is None or lengths.shape is None:
            continue
        if demand(lengths.shape, f"{name} is a scalar") and lengths.rank == 1:
            batch = unify(batch, lengths.dims[0], f"batch sizes of query and {name}")
    if key is not None and value is not None and key.shape is not None and value.shape is not None:
        new = unify_shapes(of_rank(key.shape, 3, "key"), of_rank(value.shape, 3, "value"), "key and value")
        batch = unify(batch, new[0], "batch sizes of query and key")
        width = unify(new[2], kv_num_heads * size, "the hidden size of key and the sizes of its heads")
        size = exact_quotient(width, kv_num_heads, "the hidden size of key")
    pasts = [x for x in (past_key, past_value) if x is not None]
    past = _past_shape(pasts, kv_num_heads) if pasts else None
    if past is not None:
        batch = unify(batch, past[0], "batch sizes of query and the past")
    total, room = total_sequence_length, None
    demand_one_element(total, "total_sequence_length")
    if past is not None and past_key is not None and past_key.shape is not None and not sliding_window_cache:
        room = past[2]
    if isinstance(total, Unknown):
        most = None if room is None or query_seqlens is not None else room + length
        total = fresh(total.note, at_most=most, value=element("total_sequence_length"))
    elif room is not None and query_seqlens is None:
        _demand_room(room, batch, length, total)
    elif room is not None:
        demand_at_least(total, length, "the total length")
    needed = 0 if sliding_window_cache else total
    is_counted = not sliding_window_cache and not isinstance(total_sequence_length, Unknown)
    _demand_rotary(cos_cache, sin_cache, size, total if is_counted else None)
    if past is not None:
        needed = maximum(past[2], needed)
        size = past[3] if kv_cache_bit_width else unify(past[3], size, "sizes of a head of query and the past")
    present = (batch, kv_num_heads, needed, size)
    return [(batch, length, hidden), present, present, (batch, num_heads, length, total)]


@uncounted_contrib(
    "SparseAttention",
    inputs="query key? value? past_key past_value block_row_indices block_col_indices total_sequence_length "
    "key_total_sequence_lengths cos_cache? sin_cache?",
    dtype=_cache_types,
)
def sparse_attention(
    query: AnyRank, key: AnyRank | None, past_key: AnyRank, past_value: AnyRank, num_heads: int, kv_num_heads: int
) -> list[Shape]:
    """As GroupQueryAttention. The presents have the shapes of the pasts, which must have room for them."""
    (batch, length), hidden, size = _hidden(query, key, num_heads, kv_num_heads, 3)
    past = _past_shape((past_key, past_value), kv_num_heads)
    batch = unify(batch, past[0], "batch sizes of query and the past")
    present = (batch, kv_num_heads, past[2], unify(past[3], size, "sizes of a head of query and the past"))
    return [(batch, length, hidden), present, present]


@uncounted_contrib(
    "DynamicSparseAttention",
    inputs="query key? value? past_key? past_value? auxiliary_key? auxiliary_value? selected_indices selected_counts "
    "seqlens_k total_sequence_length cos_cache? sin_cache? position_ids? q_norm_weight? k_norm_weight? head_sink? "
    "committed_length? key_scale? value_scale?",
    dtype=_dynamic_types,
)
def dynamic_sparse_attention(
    query: AnyRank,
    key: AnyRank | None,
    past_key: AnyRank | None,
    past_value: AnyRank | None,
    num_heads: int,
    kv_num_heads: int,
) -> list[Shape | None]:
    """As GroupQueryAttention, with a status (1). The presents have the shapes of the pasts, which are buffers.

    Without pasts the schema does not define how long they are.
    """
    (batch, length), hidden, size = _hidden(query, key, num_heads, kv_num_heads, 3)
    state = (batch, kv_num_heads, fresh("the schema does not say how long the present is"), size)
    presents = [state if past is None else past.shape for past in (past_key, past_value)]
    return [(batch, length, hidden), *presents, (1,)]


# -- in pages ----------------------------------------------------------------------------------------------------------


@uncounted_contrib(
    "SparsePagedAttention",
    inputs="query key? value? key_cache value_cache cumulative_sequence_length past_seqlens block_table slot_mapping? "
    "selected_indices selected_counts auxiliary_key? auxiliary_value? auxiliary_lengths? cos_cache? sin_cache? "
    "head_sink? q_norm_weight? k_norm_weight? k_scale? v_scale? attention_metadata?",
    dtype=lambda query, key_cache, value_cache: [query.dtype, key_cache.dtype, value_cache.dtype],
)
@uncounted_contrib(
    "PagedAttention",
    inputs="query key? value? key_cache value_cache? cumulative_sequence_length past_seqlens block_table cos_cache? "
    "sin_cache? slot_mapping? head_sink? q_norm_weight? k_norm_weight? k_scale? v_scale? attention_metadata?",
    dtype=lambda query, key_cache, value_cache: [query.dtype, key_cache.dtype, (value_cache or key_cache).dtype],
)
def paged_attention(
    query: AnyRank,
    key: AnyRank | None,
    key_cache: AnyRank,
    value_cache: AnyRank | None,
    num_heads: int,
    kv_num_heads: int,
    v_head_size: int = 0,
) -> list[Shape | None]:
    """Query (tokens, heads * size) -> (tokens, heads * (v_head_size or size)), and the caches, changed in place."""
    outer, hidden, _ = _hidden(query, key, num_heads, kv_num_heads, 2)
    caches = [cache.shape if cache is not None else None for cache in (key_cache, value_cache)]
    return [(*outer, num_heads * v_head_size if v_head_size else hidden), *caches]


# -- positions ---------------------------------------------------------------------------------------------------------


@contrib("MRotaryEmbedding", inputs="input position_ids cos_cache sin_cache")
def multi_rotary_embedding(input: SymTensor) -> Shape:
    """(B, S, hidden) or (B, heads, S, size) -> the same."""
    require(input.rank in (3, 4), "rank of the input is neither 3 nor 4", input.rank)
    return input.dims


@contrib("RotaryEmbedding", inputs="input position_ids cos_cache sin_cache", indices=(1,))
def rotary_embedding(
    input: SymTensor,
    position_ids: Elements,
    cos_cache: AnyRank,
    sin_cache: AnyRank,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    is_packed_batching: int = 0,
) -> Shape:
    """(B, S, hidden) or (B, heads, S, size), positions (B, S) or the first one, () or (1,) -> the same.

    The caches (positions, rotated/2) rotate the whole size or `rotary_embedding_dim` of it.
    """
    require(input.rank in (3, 4), "rank of the input is neither 3 nor 4", input.rank)
    batch, length = input.dims[0], input.dims[-2]
    indices: SymTensor = position_ids
    if position_ids.shape is not None and len(position_ids.shape) == 2:
        batch, length = confirm_shape((batch, length), position_ids.shape, "sizes of the input and position_ids")
    elif position_ids.shape is not None and demand(
        len(position_ids.shape) < 2, "rank of position_ids is more than 2", len(position_ids.shape)
    ):
        demand_one_element(position_ids, "position_ids of less than 2 axes")
        ends = [(first, first + length - 1) for first in known_elements(position_ids) or ()]
        indices = SymTensor(position_ids.dtype, (batch, length), samples=tuple(ends))
    if cos_cache.shape is not None and sin_cache.shape is not None:
        unify_shapes(cos_cache.shape, sin_cache.shape, "cos_cache and sin_cache")
    if cos_cache.shape is not None and not is_packed_batching:
        positions, half = of_rank(cos_cache.shape, 2, "cos_cache")
        demand_at_most(length, positions, "the length of the input")
        demand_in_bounds(indices, positions, negative=False)
        if rotary_embedding_dim:
            unify(half, rotary_embedding_dim // 2, "half of what is rotated and the last size of the caches")
        elif input.rank == 4:
            unify(half, input.dims[3] // 2, "half of the size and the last size of the caches")
        elif num_heads:
            size = exact_quotient(input.dims[2], num_heads, "the hidden size")
            unify(half, size // 2, "half of the size of a head and the last size of the caches")
    return (batch, *input.dims[1:-2], length, input.dims[-1])


@contrib("GemmaRotaryEmbedding", inputs="emb q q_rot k k_rot", dtype=lambda q, k: [q.dtype, k.dtype])
def gemma_rotary_embedding(q: AnyRank, k: AnyRank) -> list[Shape]:
    """q and k (B, heads, S, size) -> the same."""
    return [of_rank(q.shape, 4, "q"), of_rank(k.shape, 4, "k")]


@contrib("RelativePositionBias", inputs="bias_table query_length key_length")
def relative_position_bias(bias_table: AnyRank, query_length: Dim | Unknown, key_length: Dim | Unknown) -> Shape:
    """Table (buckets, heads) and two lengths -> (1, heads, query_length, key_length)."""
    lengths = (fresh("a length is not known") if isinstance(n, Unknown) else n for n in (query_length, key_length))
    return (1, of_rank(bias_table.shape, 2, "bias_table")[1], *lengths)


@uncounted_contrib("GatedRelativePositionBias", inputs="query_layer query_bias rel_pos weight bias eco_a token_offset?")
def gated_relative_position_bias(
    query_layer: SymTensor, rel_pos: AnyRank, token_offset: AnyRank | None, num_heads: int
) -> Shape:
    """Query (B, S, hidden), or (tokens, hidden) with offsets (B, S) -> (B, heads, S, S)."""
    offsets = token_offset if token_offset is not None else query_layer
    batch, length = of_rank(offsets.shape, 2 if token_offset is not None else 3, "query_layer or token_offset")[:2]
    length = unify(length, of_rank(rel_pos.shape, 4, "rel_pos")[2], "lengths of the query and rel_pos")
    return (batch, num_heads, length, length)


# -- packing of tokens -------------------------------------------------------------------------------------------------


@contrib(
    "RemovePadding",
    inputs="input sequence_token_count",
    dtype=lambda input, sequence_token_count: [input.dtype, *[sequence_token_count.dtype] * 3],
)
def remove_padding(input: AnyRank) -> list[Shape]:
    """(B, S, hidden) -> the tokens (count, hidden), their offsets (B, S), cumulated lengths (B + 1), the most (1)."""
    batch, length, hidden = of_rank(input.shape, 3, "input")
    count = fresh("the number of tokens without padding", at_most=batch * length)
    return [(count, hidden), (batch, length), (batch + 1,), (1,)]


@contrib("RestorePadding", inputs="input token_offset")
def restore_padding(input: AnyRank, token_offset: AnyRank) -> Shape:
    """Tokens (count, hidden), offsets (B, S) -> (B, S, hidden)."""
    return (*of_rank(token_offset.shape, 2, "token_offset"), of_rank(input.shape, 2, "input")[1])
