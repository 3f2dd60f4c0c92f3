"""Attention and rotary embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.statement import rank_of
from symdim.rows import Row

if TYPE_CHECKING:
    from onnx_infer.constraints.statement import Dim, Statement
    from symdim.rows import Row as _Row

    Rows = tuple[_Row | None, ...]
    Sizes = tuple[Dim, Dim, Dim, Dim]


def _heads(s: Statement, row: Row, rank: int, heads: int | None) -> Sizes | None:
    """(batch, heads, length, size) of a row of that form, or of (batch, length, heads * size)."""
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
def attention(s: Statement, Q: Row, K: Row, V: Row, outs: Rows, past_key: Row | None, past_value: Row | None,
              q_num_heads: int | None, kv_num_heads: int | None) -> None:  # fmt: skip
    """(b, h, n, d), (b, k, t, d), (b, k, t, v) -> (b, h, n, v), with k dividing h; or heads and sizes in one axis.

    Past keys (b, k, p, d) and values come before the present ones, (b, k, p + t, d); the scores are (b, h, n, p + t).
    """
    rank = rank_of(Q, K, V, outs[0]) or (3 if q_num_heads else None)
    if rank not in (3, 4):
        return
    q, k, v = (_heads(s, x, rank, heads) for x, heads in ((Q, q_num_heads), (K, kv_num_heads), (V, kv_num_heads)))
    if q is None or k is None or v is None:
        return
    b, h, n, d = q
    for row, found, wanted in ((K, k, (b, k[1], k[2], d)), (V, v, (b, k[1], k[2], v[3]))):
        for axis, (size, other) in enumerate(zip(found, wanted, strict=True)):
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


@form("MultiHeadAttention", domain="com.microsoft")
def multi_head_attention(s: Statement, query: Row, key: Row | None, value: Row | None, outs: Rows,
                         num_heads: int) -> None:  # fmt: skip
    """(b, n, hidden), (b, t, hidden), (b, t, v) -> (b, n, v); packed forms state nothing."""
    if key is None or value is None or any(row.rank not in (None, 3) for row in (query, key, value)):
        return
    if key.rank != 3 or value.rank != 3:  # they may be past ones, of rank 4
        return
    b, n, hidden = s.axes(query, 3)
    length, size = s.axes(key, 3)[1], s.axes(value, 3)[2]
    s.be(key, (b, length, hidden))
    s.be(value, (b, length, size))
    s.divisible(hidden, num_heads, query, 2)
    s.be(outs[0], (b, n, size))


@form("RotaryEmbedding")
def rotary_embedding(s: Statement, X: Row, position_ids: Row | None, out: Row) -> None:
    """X's shape; positions are (batch, length)."""
    s.same(X, out)
    if position_ids is not None:
        batch, length = s.axes(position_ids, 2)
        s.eq(s.size(X, 0), batch, X, 0)
        s.eq(s.size(X, 2 if X.rank == 4 else 1), length, X) if X.rank in (3, 4) else None


@form("RotaryEmbedding", domain="com.microsoft")
def fused_rotary_embedding(s: Statement, input: Row, out: Row) -> None:
    """The input's shape."""
    s.same(input, out)
