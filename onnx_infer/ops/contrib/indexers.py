"""Indexers of onnxruntime: which entries of a cache a sparse attention attends to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.laws.limits import demand_at_most
from onnx_infer.laws.sizes import of_rank, unify
from onnx_infer.laws.statements import demand, fresh
from onnx_infer.ops.contrib import contrib, uncounted_contrib
from onnx_infer.values import dtype as dt

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Dim, Shape


def _capacity(policy_mode: str, compress_ratio: int, token_budget: int | None, index_topk: int | None) -> int:
    """The number of entries that are selected for each query."""
    require(policy_mode in ("qsa", "csa"), "policy_mode is neither qsa nor csa", policy_mode)
    number = token_budget if policy_mode == "qsa" else index_topk
    require(number, "token_budget of policy_mode qsa, or index_topk of csa, must be given")
    return (number or 0) + (compress_ratio - 1 if policy_mode == "qsa" else 0)


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
    for entries, rank in ((range_starts, 1), (range_ends, 1), (additional_indices, 2), (additional_counts, 1)):
        if entries is not None and entries.shape is not None:
            count = unify(count, of_rank(entries.shape, rank, "the added entries")[0], "the numbers of queries")
    return [(count, max_output_entries), (count,), (count,)]
