"""Normalizations with parameters: batch, instance, group, layer and RMS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import joined
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Dim, Relations, Rows


def _per_channel(s: Relations, X: Row, *parameters: Row | None) -> Dim:
    """The number of channels: the size of the parameters, and of X at axis 1 unless X is a vector."""
    rows = [row for row in parameters if row is not None]
    sizes = [s.axes(row, 1)[0] for row in rows]
    for row, size in zip(rows[1:], sizes[1:], strict=True):
        s.eq(size, sizes[0], row, 0)
    many = any(isinstance(size, int) and size > 1 for size in sizes)
    if many or X.least_rank > 1:
        s.eq(s.size(X, 1), sizes[0], X, 1)
    return sizes[0]


@form("BatchNormalization")
def batch_normalization(s: Relations, operands: Rows, outs: Rows, spatial: int = 1) -> None:
    """(n, c, ..space..), four (c) -> the same, and statistics (c)."""
    x, *parameters = operands
    s.same(x, outs[0])
    if spatial:
        channels = _per_channel(s, x, *parameters)
        for row in outs[1:]:
            s.be(row, (channels,))


@form("InstanceNormalization")
def instance_normalization(s: Relations, input: Row, scale: Row, B: Row, out: Row) -> None:
    """(n, c, ..space..), two (c) -> the same."""
    s.same(input, out)
    _, channels = s.leading(input, 2)[0]
    s.be(scale, (channels,))
    s.be(B, (channels,))


@form("GroupNormalization")
def group_normalization(s: Relations, X: Row, scale: Row, bias: Row, out: Row, num_groups: int,
                        since_version: int = 21) -> None:  # fmt: skip
    """(n, c, ..space..), two (c), or two (num_groups) before opset 21 -> the same. All groups have the same size."""
    s.same(X, out)
    _, channels = s.leading(X, 2)[0]
    s.divisible(channels, num_groups, X, 1)
    for row in (scale, bias):
        s.be(row, (channels if since_version >= 21 else num_groups,))


def _statistics(s: Relations, X: Row, outs: Rows, axis: int) -> None:
    """Mean and deviation, with 1 in place of the normalized axes."""
    if not any(row is not None for row in outs):
        return
    if X.rank:
        kept: Row | None = Row(trail=(*X.dims[: axis % X.rank], *(1,) * (X.rank - axis % X.rank)))
    elif axis < 0:
        kept = joined(s.trailing(X, -axis)[0], (1,) * -axis)
    else:
        kept = Row(s.leading(X, axis)[0], RowVar.fresh())
    for row in outs:
        s.be(row, kept)


@form("LayerNormalization")
@form("SimplifiedLayerNormalization", "RMSNormalization")
def layer_normalization(s: Relations, operands: Rows, outs: Rows, axis: int = -1) -> None:
    """X's shape. Scale and bias broadcast to its normalized axes; the statistics have 1 in place of these.

    Scale and bias may be one vector for several axes. Relations with X are stated only if that is impossible.
    """
    x, *parameters = operands
    s.same(x, outs[0])
    normalized = -axis if axis < 0 else None if x.rank is None else x.rank - axis
    for row in parameters:
        if normalized == 1 or (normalized is not None and row.rank == normalized):
            s.bcast_to(x, row)
    _statistics(s, x, outs[1:], axis)


@form("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain="com.microsoft")
def skip_layer_normalization(s: Relations, input: Row, skip: Row, operands: Rows, outs: Rows) -> None:
    """(..outer.., hidden), a skip that broadcasts to it, vectors (hidden) -> the same, statistics, and the sum."""
    outer, (hidden,) = s.trailing(input, 1)
    s.same(input, outs[0], *outs[3:])
    s.bcast_to(input, skip)
    for vector in operands[2:]:
        s.be(vector, (hidden,))
    for row in outs[1:3]:
        s.be(row, Row(outer.lead, outer.variable, (*outer.trail, 1)))


@form("EmbedLayerNormalization", domain="com.microsoft")
def embed_layer_normalization(s: Relations, input_ids: Row, segment_ids: Row | None, word_embedding: Row, gamma: Row,
                              beta: Row, mask: Row | None, outs: Rows) -> None:  # fmt: skip
    """Tokens and segments (b, n), table (words, hidden), vectors (hidden) -> (b, n, hidden), (b), and the sum."""
    batch, length = s.axes(input_ids, 2)
    hidden = s.axes(word_embedding, 2)[1]
    for row in (segment_ids, mask):
        s.be(row, (batch, length))
    for row in (gamma, beta):
        s.be(row, (hidden,))
    for row, sizes in zip(outs, ((batch, length, hidden), (batch,), (batch, length, hidden)), strict=False):
        s.be(row, sizes)
