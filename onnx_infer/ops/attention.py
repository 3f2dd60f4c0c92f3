"""Attention with its key and value caches, and rotary position embeddings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from onnx_infer.elements.indices import demand_in_bounds
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import demand_at_least, demand_at_most
from onnx_infer.laws.sizes import (
    confirm,
    differ,
    doubtful_sizes,
    exact_quotient,
    may_be_empty,
    of_rank,
    unify,
    unify_shapes,
)
from onnx_infer.laws.statements import Kind, conflicting, demand, fresh, state
from onnx_infer.operators.registration import op
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, Shape, SymTensor
from symdim import product

if TYPE_CHECKING:
    from onnx_infer.operators.rule import Attributes, Shapes
    from onnx_infer.ops.kinds import AnyRank, Elements, Graph


def split_heads(shape: Shape, heads: int | None, what: str, filled: Shape = ()) -> Shape:
    """(batch, length, heads * size) or (batch, heads, length, size) -> (batch, heads, length, size).

    That the hidden size is a multiple of the heads is only assumed if the tensor of sizes `filled` may be empty.

    >>> from symdim import Var
    >>> split_heads((Var("B"), Var("S"), 64), 8, "query")
    (B, 8, S, 8)
    """
    if len(shape) == 4:
        return shape
    require(len(shape) == 3, f"rank of {what} is not 3 or 4", len(shape))
    batch, length, hidden = shape
    if not heads:
        law = f"the number of heads of {what} is needed where its rank is 3"
        return batch, conflicting(law), length, fresh(law)
    kind: Kind = "assumed" if may_be_empty(filled) else "required"
    law = f"the hidden size of {what}"
    return batch, heads, length, exact_quotient(hidden, heads, law, kind, doubtful_sizes(filled))


def _demand_mask(mask: Shape, scores: Shape, version: int) -> None:
    """Demand that a mask broadcasts to the scores, and that a computed length of it is theirs.

    The specification pads a shorter mask and broadcasts one of length 1; the kernels of onnxruntime do not. Version 25
    is run by its function, which crops a longer mask.
    """
    demand(mask, "attn_mask is a scalar")
    kind: Kind = "required" if version < 25 else "assumed"
    for i, (size, wanted) in enumerate(zip(reversed(mask), reversed(scores), strict=False)):
        if size in (1, wanted):
            continue
        if not isinstance(size, int) or not isinstance(wanted, int):
            state("equal" if i < 2 else "broadcast_to", size, wanted, "a size of attn_mask", kind)
        elif i or version < 25:
            least = "the length of all keys" if i == 0 else f"axis {len(scores) - 1 - i} of the scores"
            demand(i == 0 and size < wanted, f"a size of attn_mask does not fit {least}", size, wanted)


def _unify_or_leave(a: Dim, b: Dim, law: str) -> Dim:
    """The common size, which is only assumed; a fresh one where only one of the sizes is 1, for it may broadcast."""
    return fresh(f"{law} may broadcast") if (a == 1) != (b == 1) and differ(a, b) else unify(a, b, law, "assumed")


def _products(inputs: Shapes, outputs: Shapes, _: Attributes) -> Dim:
    """Multiply-adds of Q K' and of the product with V: (elements of Q + of Y) times the length of all keys."""
    query, key, *more = inputs
    length = key[2 if len(key) == 4 else 1]  # type: ignore[index, arg-type]
    past = more[2] if len(more) > 2 else None
    keys = length if past is None else length + past[2]
    return (product(query) + product(outputs[0])) * keys  # type: ignore[arg-type]


@op("Attention", cost=_products)
def attention(
    Q: AnyRank,
    K: AnyRank,
    V: AnyRank,
    past_key: AnyRank | None,
    past_value: AnyRank | None,
    q_num_heads: int | None,
    kv_num_heads: int | None,
    output_count: int,
    since_version: int,
    attn_mask: AnyRank | None = None,
    nonpad_kv_seqlen: AnyRank | None = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> list[Shape]:
    """Q (B, Hq, S, d), K (B, H, T, d), V (B, H, T, e), pasts of length P; or heads and sizes in one axis of rank 3.

    Y (B, Hq, S, e) in the form of Q, present_key (B, H, P + T, d), present_value (B, H, P + T, e) and the product of
    queries and keys (B, Hq, S, P + T) (Attention-23 to 25).
    """
    rank = next((x.rank for x in (Q, K, V) if x.shape is not None), 3 if q_num_heads else None)
    if rank is None:
        raise Unknown("the rank of Q is not known")
    demand((past_key is None) == (past_value is None), "past_key and past_value go together")
    if since_version >= 25:
        demand(output_count != 2, "present_key and present_value go together")
        demand(rank == 3 or (q_num_heads, kv_num_heads) == (None, None), "numbers of heads where Q's rank is not 3")
        # of four outputs the middle ones may be left out
        cached = past_key is not None or output_count in (2, 3)
        demand(nonpad_kv_seqlen is None or not cached, "nonpad_kv_seqlen excludes past and present keys and values")
    for name, window in (("left_window_size", left_window_size), ("right_window_size", right_window_size)):
        demand(window >= -1, f"{name} is neither -1 nor a size", window)
    batch, q_heads, q_length, size = split_heads(of_rank(Q.shape, rank, "Q"), q_num_heads, "Q")
    k = split_heads(of_rank(K.shape, rank, "K"), kv_num_heads, "K")
    v = split_heads(of_rank(V.shape, rank, "V"), kv_num_heads, "V")
    # Version 25 is run by its function, too, where some sizes broadcast.
    kind: Kind = "required" if since_version < 25 else "assumed"
    equal = partial(unify, kind=kind) if since_version < 25 else _unify_or_leave
    batch = equal(equal(batch, k[0], "batch sizes of Q and K"), v[0], "batch sizes of Q and V")
    heads, total = equal(k[1], v[1], "heads of K and V"), equal(k[2], v[2], "lengths of K and V")
    size, v_size = equal(size, k[3], "head sizes of Q and K"), v[3]
    if isinstance(q_heads, int) and isinstance(heads, int):
        demand(heads > 0 and q_heads % heads == 0, "heads of K do not divide those of Q", heads, q_heads, sign=",")
    elif q_heads != heads:
        exact_quotient(q_heads, heads, "the number of heads of Q")
    if past_key is not None and past_value is not None:
        pk, pv = of_rank(past_key.shape, 4, "past_key"), of_rank(past_value.shape, 4, "past_value")
        batch = equal(equal(batch, pk[0], "batch sizes of Q and past_key"), pv[0], "batch sizes of Q and past_value")
        heads = equal(equal(heads, pk[1], "heads of K and past_key"), pv[1], "heads of V and past_value")
        total = equal(pk[2], pv[2], "lengths of past_key and past_value") + total
        size = equal(size, pk[3], "head sizes of K and past_key")
        v_size = equal(v_size, pv[3], "head sizes of V and past_value")
    if attn_mask is not None and attn_mask.shape is not None:
        _demand_mask(attn_mask.shape, (batch, q_heads, q_length, total), since_version)
    if nonpad_kv_seqlen is not None and nonpad_kv_seqlen.shape is not None:
        lengths = nonpad_kv_seqlen.shape
        may_differ = len(lengths) != 1 or (since_version >= 25 and lengths == (1,))
        if demand(lengths, "nonpad_kv_seqlen is a scalar") and not may_differ:
            batch = confirm(batch, lengths[0], "batch sizes of Q and nonpad_kv_seqlen", kind)
    whole = (batch, q_heads, q_length, v_size)
    Y = whole if rank == 4 else (batch, q_length, q_heads * v_size)
    # what broadcasts in the products is cached as it is
    outer = [tuple(own if differ(own, n) else n for own, n in zip(x[:2], (batch, heads), strict=True)) for x in (k, v)]
    return [Y, (*outer[0], total, size), (*outer[1], total, v_size), (batch, q_heads, q_length, total)]


@op("FlexAttention", domain="ai.onnx.preview")
def flex_attention(
    Q: AnyRank, K: AnyRank, V: AnyRank, score_mod: Graph | None, prob_mod: Graph | None, softmax_precision: int | None
) -> Shape:
    """Q (B, Hq, S, d), K (B, H, T, d), V (B, H, T, e) -> (B, Hq, S, e) (FlexAttention-1).

    The subgraphs change scores and probabilities (B, Hq, S, T) but keep their shape.
    """
    batch, q_heads, q_length, size = of_rank(Q.shape, 4, "Q")
    k, v = of_rank(K.shape, 4, "K"), of_rank(V.shape, 4, "V")
    batch = unify(unify(batch, k[0], "batch sizes of Q and K"), v[0], "batch sizes of Q and V")
    exact_quotient(q_heads, unify(k[1], v[1], "heads of K and V"), "the number of heads of Q")
    unify(size, k[3], "head sizes of Q and K")
    floats = (None, dt.FLOAT, dt.FLOAT16, dt.DOUBLE, dt.BFLOAT16)
    demand(softmax_precision in floats, "softmax_precision is not an element type of floats", softmax_precision)
    precision = softmax_precision or (dt.DOUBLE if Q.dtype == dt.DOUBLE else dt.FLOAT)
    scores = SymTensor(precision, (batch, q_heads, q_length, unify(k[2], v[2], "lengths of K and V")))
    for modify in (score_mod, prob_mod):
        if modify is not None:
            modify(scores)
    return (batch, q_heads, q_length, v[3])


@op("RotaryEmbedding", indices=(3,))
def rotary_embedding(
    X: SymTensor,
    cos_cache: AnyRank,
    sin_cache: AnyRank,
    position_ids: Elements | None,
    num_heads: int | None,
    rotary_embedding_dim: int = 0,
) -> Shape:
    """X (batch, heads, length, size) or (batch, length, heads * size) -> the same shape (RotaryEmbedding-23).

    The caches (positions, rotated/2), or (batch, length, rotated/2) without position_ids, rotate the whole size or
    `rotary_embedding_dim` of it.
    """
    batch, _, length, size = split_heads(X.dims, num_heads, "X")
    if rotary_embedding_dim:
        demand_at_least(size, rotary_embedding_dim, "the size of a head")
    for name, cache in (("cos_cache", cos_cache), ("sin_cache", sin_cache)):
        if cache.shape is not None:
            sizes = of_rank(cache.shape, 3 if position_ids is None else 2, name)
            unify(
                sizes[-1], (rotary_embedding_dim or size) // 2, f"the last size of {name} and half of what is rotated"
            )
            if position_ids is None:
                batch = unify(batch, sizes[0], f"batch sizes of X and {name}")
                length = unify(length, sizes[1], f"lengths of X and {name}")
    if position_ids is not None and cos_cache.shape is not None and sin_cache.shape is not None:
        unify_shapes(cos_cache.shape, sin_cache.shape, "cos_cache and sin_cache")
        positions = of_rank(cos_cache.shape, 2, "cos_cache")[0]
        demand_at_most(length, positions, "the length of X")
        demand_in_bounds(position_ids, positions)
    if position_ids is not None and position_ids.shape is not None:
        ids = of_rank(position_ids.shape, 2, "position_ids")
        batch = unify(batch, ids[0], "batch sizes of X and position_ids")
        length = unify(length, ids[1], "lengths of X and position_ids")
    return (batch, *X.dims[1:2], length, X.dims[3]) if X.rank == 4 else (batch, length, X.dims[2])
