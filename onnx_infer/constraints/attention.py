"""Attention and rotary embeddings; recurrent layers (RNN, GRU, LSTM)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import rank_of
from onnx_infer.errors import require
from onnx_infer.ops.recurrent import DIRECTIONS
from symdim.rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.constraints.relations import Dim, Relations
    from onnx_infer.laws.windows import IntVector

    Rows = tuple[Row | None, ...]
    Sizes = tuple[Dim, Dim, Dim, Dim]


def _heads(s: Relations, row: Row, rank: int, heads: int | None) -> Sizes | None:
    """(batch, heads, length, size), from a row of that form or of the form (batch, length, heads * size)."""
    if rank == 4:
        b, h, n, d = s.axes(row, 4)
        s.eq(h, heads, row, 1)
        return b, h, n, d
    if not heads:
        return None
    b, n, hidden = s.axes(row, 3)
    size = s.fresh()
    s.eq(hidden, size * heads, row, 2, law="stride")
    return b, heads, n, size


@form("Attention", since=23)
def attention(s: Relations, Q: Row, K: Row, V: Row, outs: Rows, past_key: Row | None, past_value: Row | None,
              q_num_heads: int | None, kv_num_heads: int | None) -> None:  # fmt: skip
    """(b, h, n, d), (b, k, t, d), (b, k, t, v) -> (b, h, n, v), where k divides h; or heads and sizes in one axis.

    Past keys (b, k, p, d) and values come before the new ones: (b, k, p + t, d). The scores are (b, h, n, p + t).
    """
    rank = rank_of(Q, K, V, outs[0]) or (3 if q_num_heads else None)
    if rank not in (3, 4):
        return
    q, k, v = (_heads(s, x, rank, heads) for x, heads in ((Q, q_num_heads), (K, kv_num_heads), (V, kv_num_heads)))
    if q is None or k is None or v is None:
        return
    b, h, n, d = q
    for row, actual, wanted in ((K, k, (b, k[1], k[2], d)), (V, v, (b, k[1], k[2], v[3]))):
        for axis, (size, other) in enumerate(zip(actual, wanted, strict=True)):
            s.eq(size, other, row, axis if rank == 4 else None)
    if isinstance(k[1], int):
        s.divisible(h, k[1], Q, 1 if rank == 4 else None)
    total = k[2]
    if past_key is not None and past_value is not None:
        past = s.axes(past_key, 4)[2]
        total = past + total
        s.be(past_key, (b, k[1], past, d))
        s.be(past_value, (b, k[1], past, v[3]))
    result = (b, h, n, v[3]) if rank == 4 else (b, n, h * v[3])
    presents = ((b, k[1], total, d), (b, k[1], total, v[3]), (b, h, n, total))
    for out, sizes in zip(outs, (result, *presents), strict=False):
        s.be(out, sizes)


def _cache(s: Relations, rows: Rows, batch: Dim, heads: int, size: Dim | None) -> None:
    """Caches (batch, heads, some length, size), if they are present."""
    for row in rows:
        if row is not None:
            s.be(row, (batch, heads, s.fresh(), s.fresh() if size is None else size))


@form("MultiHeadAttention", domain="com.microsoft")
def multi_head_attention(s: Relations, query: Row, key: Row | None, value: Row | None, past_key: Row | None,
                         past_value: Row | None, outs: Rows, num_heads: int) -> None:  # fmt: skip
    """(b, n, hidden), (b, t, hidden), (b, t, v) -> (b, n, v); packed forms state nothing.

    Caches are (b, heads, some length, hidden / heads) and (b, heads, some length, v / heads).
    """
    if key is None or value is None or query.rank not in (None, 3):
        return
    b, n, _ = s.axes(query, 3)
    if key.rank != 3 or value.rank != 3:  # they may have rank 4, split into heads
        s.be(outs[0], (b, n, s.fresh()))
        return
    length, size, value_size = s.axes(key, 3)[1], s.fresh(), s.fresh()
    s.be(query, (b, n, size * num_heads))
    s.be(key, (b, length, size * num_heads))
    s.be(value, (b, length, value_size * num_heads))
    s.be(outs[0], (b, n, value_size * num_heads))
    _cache(s, (past_key, *outs[1:2]), b, num_heads, size)
    _cache(s, (past_value, *outs[2:3]), b, num_heads, value_size)


@form("GroupQueryAttention", domain="com.microsoft")
def group_query_attention(s: Relations, query: Row, key: Row | None, past_key: Row | None, past_value: Row | None,
                          k_scale: Row | None, outs: Rows, num_heads: int, kv_num_heads: int,
                          kv_cache_bit_width: int = 0) -> None:  # fmt: skip
    """(b, n, heads * size), keys and values packed with it or (b, t, kv_heads * size) -> (b, n, heads * size).

    Caches are (b, kv_heads, some length, size); in quantized caches the size is packed.
    """
    b, n, hidden = s.axes(query, 3)
    size = s.fresh()
    s.eq(hidden, size * (num_heads if key is not None else num_heads + 2 * kv_num_heads), query, 2, law="stride")
    if key is not None:
        s.be(key, (b, s.fresh(), size * kv_num_heads))
    s.be(outs[0], (b, n, size * num_heads))
    packed = k_scale is not None or kv_cache_bit_width
    _cache(s, (past_key, past_value, *outs[1:3]), b, kv_num_heads, None if packed else size)


@form("Attention", domain="com.microsoft")
def fused_attention(s: Relations, input: Row, weights: Row, bias: Row | None, past: Row | None, outs: Rows,
                    num_heads: int, qkv_hidden_sizes: IntVector | None = None) -> None:  # fmt: skip
    """(b, n, d), (d, q + k + v), (q + k + v) -> (b, n, v); a cache is (2, b, heads, some length, v / heads)."""
    b, n, d = s.axes(input, 3)
    inner, merged = s.axes(weights, 2)
    s.eq(d, inner, input, 2)
    s.be(bias, (merged,))
    size = s.fresh()
    hidden = size * num_heads
    if qkv_hidden_sizes:
        s.eq(merged, sum(qkv_hidden_sizes), weights, 1)
        s.eq(hidden, qkv_hidden_sizes[-1], weights, 1, law="stride")
    else:
        s.eq(merged, 3 * hidden, weights, 1, law="stride")
    s.be(outs[0], (b, n, hidden))
    for row in (past, *outs[1:2]):
        s.be(row, (2, b, num_heads, s.fresh(), size))


@form("RotaryEmbedding")
def rotary_embedding(s: Relations, X: Row, position_ids: Row | None, out: Row) -> None:
    """X's shape; positions are (batch, length)."""
    s.same(X, out)
    if position_ids is not None:
        batch, length = s.axes(position_ids, 2)
        s.eq(s.size(X, 0), batch, X, 0)
        s.eq(s.size(X, 2 if X.rank == 4 else 1), length, X) if X.rank in (3, 4) else None


def recurrent(gates: int) -> Callable[..., None]:
    """The form of a recurrent layer whose weights have this many gates.

    (length, n, i), (D, gates*h, i), (D, gates*h, h), (D, 2*gates*h) -> (length, D, n, h), states (D, n, h).
    """

    def form_of(s: Relations, X: Row, W: Row, R: Row, B: Row | None, initial_h: Row | None, outs: Rows,
                direction: str = "forward", hidden_size: int | None = None, layout: int = 0,
                initial_c: Row | None = None) -> None:  # fmt: skip
        require(direction in DIRECTIONS, "no such direction", direction)
        first, second, inputs = s.axes(X, 3)
        batch, length = (first, second) if layout else (second, first)
        count, hidden = DIRECTIONS[direction], s.axes(R, 3)[2]
        s.eq(hidden, hidden_size, R, 2)
        s.be(W, (count, hidden * gates, inputs))
        s.be(R, (count, hidden * gates, hidden))
        s.be(B, (count, hidden * 2 * gates))
        last = (batch, count, hidden) if layout else (count, batch, hidden)
        for row in (initial_h, initial_c, *outs[1:]):
            s.be(row, last)
        if outs:
            s.be(outs[0], (batch, length, count, hidden) if layout else (length, count, batch, hidden))

    return form_of


form("RNN")(recurrent(1))
form("GRU")(recurrent(3))
form("LSTM")(recurrent(4))
