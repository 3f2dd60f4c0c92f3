"""Normalizations of onnxruntime, most of them fused with a residual connection or with embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.elements.indices import demand_in_bounds
from onnx_infer.errors import require
from onnx_infer.laws.limits import demand_at_least, demand_at_most
from onnx_infer.laws.sizes import (
    broadcast_to,
    confirm,
    exact_quotient,
    normalize_axis,
    of_rank,
    unify,
    unify_shapes,
)
from onnx_infer.laws.statements import demand
from onnx_infer.operators.registration import op
from onnx_infer.ops.contrib import contrib
from onnx_infer.ops.normalization import layer_normalization
from onnx_infer.ops.unary import same_shape
from onnx_infer.values import dtype as dt

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Elements, Shape, SymTensor


def with_vectors(shape: Shape, axis: int, **vectors: SymTensor | None) -> Shape:
    """The shape. Its size at an axis must be the size of each of these vectors.

    >>> from onnx_infer.values.tensor import SymTensor
    >>> from symdim import Var
    >>> with_vectors((2, Var("C")), -1, gamma=SymTensor(1, (8,)))
    (2, 8)
    """
    axis = normalize_axis(axis, len(shape))
    out = list(shape)
    for name, vector in vectors.items():
        if vector is not None and vector.shape is not None:
            (size,) = of_rank(vector.shape, 1, name)
            out[axis] = unify(out[axis], size, f"sizes of the input at axis {axis} and of {name}")
    return tuple(out)


# -- over the last axes ------------------------------------------------------------------------------------------------


@op("SimplifiedLayerNormalization", inputs="X scale", dtype=lambda scale, stash_type=1: [scale.dtype, stash_type])
def simplified_layer_normalization(X: SymTensor, scale: AnyRank, axis: int = -1) -> list[Shape]:
    """As LayerNormalization without mean and bias. onnxruntime has it in the default domain."""
    return layer_normalization(X, scale, None, axis)


def _with_float_statistics(input: AnyRank) -> list[int | None]:
    return [input.dtype, dt.FLOAT, dt.FLOAT, input.dtype]


@contrib("SkipLayerNormalization", inputs="input skip gamma beta? bias?", dtype=_with_float_statistics)
@contrib("SkipSimplifiedLayerNormalization", inputs="input skip gamma bias?", dtype=_with_float_statistics)
def skip_layer_normalization(
    input: SymTensor, skip: AnyRank, gamma: AnyRank, beta: AnyRank | None = None, bias: AnyRank | None = None
) -> list[Shape]:
    """(B, S, hidden), a skip (B, S, hidden), (1, S, hidden) or (S, hidden) -> the same, twice (B, S, 1), and the sum.

    onnxruntime does not compare batch sizes, and repeats the skip.
    """
    shape = input.dims
    if skip.shape is not None:
        require(2 <= len(skip.shape) <= len(shape), "the rank of skip does not fit", len(skip.shape))
        outer = broadcast_to(shape[:-2], skip.shape[:-2], "skip", "assumed")
        shape = (*outer, *unify_shapes(shape[-2:], skip.shape[-2:], "the last sizes of input and skip"))
    shape = with_vectors(shape, -1, gamma=gamma, beta=beta, bias=bias)
    return [shape, *[(*shape[:-1], 1)] * 2, shape]


@contrib("QOrderedLayerNormalization", inputs="X scale_X scale B? scale_Y")
def ordered_layer_normalization(X: SymTensor, scale: AnyRank, B: AnyRank | None) -> Shape:
    """X's shape."""
    return with_vectors(X.dims, -1, scale=scale, B=B)


contrib("BranchwiseRMSNorm", inputs="X scale?")(same_shape)  # (..., C, H) or (..., C * H)


@contrib("GatedRMSNorm", inputs="X scale gate")
def gated_rms_norm(X: SymTensor, gate: AnyRank) -> Shape:
    """X's shape; the gate has the same shape."""
    return X.dims if gate.shape is None else unify_shapes(X.dims, gate.shape, "X and gate")


@contrib(
    "RMSNormRotary",
    inputs="X scale position_ids cosine sine prefill_numerics?",
    dtype=lambda output_fp16=0: [dt.FLOAT16 if output_fp16 else dt.BFLOAT16, dt.FLOAT],
)
def rms_norm_rotary(
    X: AnyRank,
    scale: AnyRank,
    rotary_embedding_dim: int,
    input_start: int = 0,
    input_width: int = 0,
    flatten_batch: int = 0,
) -> list[Shape]:
    """(B, S, heads, stride), scale (width) -> (B, S, heads*width), or (1, B*S, ...); normalized (B, S, heads, width).

    The width is that of a slice of the last axis, or of all of it.
    """
    batch, length, heads, stride = of_rank(X.shape, 4, "X")
    width = input_width or stride
    demand(input_start >= 0 and input_width >= 0, "the slice is negative", input_start, input_width, sign=",")
    demand_at_most(input_start + width, stride, "the end of the slice")
    if scale.shape is not None:
        width = unify(width, of_rank(scale.shape, 1, "scale")[0], "the width and the size of scale")
    even = rotary_embedding_dim > 0 and rotary_embedding_dim % 2 == 0
    demand(even, "rotary_embedding_dim must be positive and even", rotary_embedding_dim)
    demand_at_least(width, rotary_embedding_dim, "the width")
    outer = (1, batch * length) if flatten_batch else (batch, length)
    return [(*outer, heads * width), (batch, length, heads, width)]


# -- of groups of channels ---------------------------------------------------------------------------------------------


@contrib("GroupNorm", inputs="X gamma beta")
def group_norm(X: SymTensor, gamma: AnyRank, beta: AnyRank, groups: int, channels_last: int = 1) -> Shape:
    """(N, *spatial, C) or (N, C, *spatial) -> the same."""
    axis = -1 if channels_last else 1
    shape = with_vectors(X.dims, axis, gamma=gamma, beta=beta)
    exact_quotient(shape[axis], groups, "the number of channels")
    return shape


@contrib("SkipGroupNorm", inputs="X gamma beta skip bias?")
def skip_group_norm(
    X: SymTensor, gamma: AnyRank, beta: AnyRank, bias: AnyRank | None, groups: int, channels_last: int = 1
) -> list[Shape]:
    """As GroupNorm; the sum with skip and bias has the same shape."""
    shape = group_norm(X, gamma, beta, groups, channels_last)
    return [with_vectors(shape, -1 if channels_last else 1, bias=bias)] * 2


# -- of embeddings -----------------------------------------------------------------------------------------------------


def _with_positions(ids: Shape, positions: SymTensor | None, table: SymTensor) -> Shape:
    """The ids (B, S) with positions (B or 1, S), which must be in the table. By default they are 0, ..., S - 1."""
    rows = of_rank(table.shape, 2, "position_embedding")[0]
    if positions is None:
        demand_at_least(rows, ids[1], "the number of position embeddings", filled=ids[:1])
    elif positions.shape is not None:
        batch, length = of_rank(positions.shape, 2, "position_ids")
        total = confirm(ids[1], length, "lengths of input_ids and position_ids")
        ids = broadcast_to((ids[0], total), (batch, 1), "position_ids")
        demand_in_bounds(positions, rows)
    return ids


@contrib(
    "EmbedLayerNormalization",
    inputs="input_ids segment_ids? word_embedding position_embedding segment_embedding? gamma beta mask? position_ids?",
    dtype=lambda input_ids, word_embedding: [word_embedding.dtype, input_ids.dtype, word_embedding.dtype],
    indices=(0, 1, 7),
)
def embed_layer_normalization(
    input_ids: AnyRank,
    segment_ids: AnyRank | None,
    word_embedding: AnyRank,
    position_embedding: AnyRank,
    gamma: AnyRank,
    beta: AnyRank,
    mask: AnyRank | None,
    position_ids: Elements | None,
) -> list[Shape]:
    """Ids (B, S), embeddings (words, hidden) -> (B, S, hidden), the number of words of each mask (B), and the sum."""
    ids = of_rank(input_ids.shape, 2, "input_ids")
    for name, other in (("segment_ids", segment_ids), ("mask", mask)):
        if other is not None and other.shape is not None:
            ids = unify_shapes(ids, other.shape, f"input_ids and {name}")
    ids = _with_positions(ids, position_ids, position_embedding)
    hidden = of_rank(word_embedding.shape, 2, "word_embedding")[1]
    out = with_vectors((*ids, hidden), -1, gamma=gamma, beta=beta)
    return [out, ids[:1], out]


contrib(
    "QEmbedLayerNormalization",
    inputs="input_ids segment_ids? word_embedding_quant=word_embedding position_embedding_quant=position_embedding "
    "segment_embedding? gamma_quant=gamma beta_quant=beta mask? word_embedding_scale position_embedding_scale "
    "segment_embedding_scale? gamma_scale beta_scale "
    "word_embedding_zero_point position_embedding_zero_point segment_embedding_zero_point? gamma_zero_point "
    "beta_zero_point",
    dtype=lambda input_ids, word_embedding_scale: [word_embedding_scale.dtype, input_ids.dtype],
)(embed_layer_normalization)
