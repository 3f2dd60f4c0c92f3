"""ReduceX, ArgMax, TopK, OneHot, NonZero, Compress; batch, instance, group and layer normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.constraints.registration import form
from onnx_infer.constraints.relations import joined, known
from onnx_infer.constraints.reshaping import same_rank, without_axes
from onnx_infer.errors import Unknown
from symdim import Expr
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
    from onnx_infer.constraints.relations import Dim, Relations, Rows
    from onnx_infer.ops.kinds import Ints


_REDUCTIONS = tuple(
    f"Reduce{name}" for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
)


@form(*_REDUCTIONS)
def reduce(s: Relations, data: Row, out: Row, axes: Ints | Unknown | None, keepdims: int = 1,
           noop_with_empty_axes: int = 0) -> None:  # fmt: skip
    """The named axes, or all, become 1 or are left out."""
    places = () if axes is None else known(axes)
    if places is None:
        if keepdims:
            same_rank(s, data, out)
    elif places:
        _reduce(s, data, out, places, keepdims)
    elif noop_with_empty_axes:
        s.same(data, out)
    elif not keepdims:
        s.be(out, ())
    elif (rank := same_rank(s, data, out)) is not None:
        s.be(out, (1,) * rank)


def _reduce(s: Relations, data: Row, out: Row, axes: tuple[int, ...], keepdims: int) -> None:
    if data.rank is None and axes in ((0,), (-1,)) and not out.rank:  # some runtimes allow axis 0 or -1 for a scalar
        if keepdims:
            same_rank(s, data, out)
    elif not without_axes(s, data, out, axes, ones=False, keepdims=bool(keepdims)) and data.rank:
        s.size(data, max(axes, key=abs))  # some runtimes allow any axis for a scalar


@form("ArgMax", "ArgMin")
def arg_reduce(s: Relations, data: Row, out: Row, axis: int = 0, keepdims: int = 1) -> None:
    """The axis becomes 1 or is left out."""
    _reduce(s, data, out, (axis,), keepdims)


@form("TopK")
def top_k(s: Relations, X: Row, outs: Rows, K: Ints | Unknown | None, k: int | None = None, axis: int = -1) -> None:
    """Both results are as X with k elements at the axis; X has at least k elements there."""
    s.same(*outs)
    out = next(row for row in outs if row is not None)
    sizes = s.apart_from((axis,), X, out)
    if sizes is not None:
        count = k if K is None else K[0] if isinstance(K, tuple) and len(K) == 1 else None
        ((size,), (kept,)) = sizes
        s.eq(kept, count, out, axis)
        s.at_least(size - kept, 0, X, axis)


@form("OneHot")
def one_hot(s: Relations, indices: Row, depth: Ints | Unknown, values: Row, out: Row, axis: int = -1) -> None:
    """(..p.., ..q..), two values -> (..p.., depth, ..q..)."""
    s.be(values, (2,))
    number = depth[0] if isinstance(depth, tuple) and len(depth) == 1 else None
    size = number if isinstance(number, int | Expr) else s.fresh()
    if axis >= 0:
        head, rest = s.leading(indices, axis)
        s.be(out, joined(head, (size,), rest))
    else:
        rest, tail = s.trailing(indices, -axis - 1)
        s.be(out, joined(rest, (size,), tail))


@form("NonZero")
def non_zero(s: Relations, X: Row, out: Row) -> None:
    """(rank, number of non-zero elements); runtimes differ for scalars."""
    (count, _) = s.axes(out, 2)
    if X.rank is not None and X.rank > 0:
        s.eq(count, X.rank, out, 0)
    elif X.rank is None and isinstance(count, int) and count > 1:
        s.axes(X, count)


@form("Compress")
def compress(s: Relations, input: Row, condition: Row, out: Row, axis: int | None = None) -> None:
    """Some slices along an axis, or some of all elements."""
    s.axes(condition, 1)
    if axis is None:
        s.axes(out, 1)
    else:
        s.apart_from((axis,), input, out)


@form("Unique")
def unique(s: Relations, X: Row, outs: Rows, axis: int | None = None) -> None:
    """Some slices along an axis, or a vector of elements; and three vectors."""
    if axis is not None and outs[0] is not None:
        s.apart_from((axis,), X, outs[0])
    for row in outs[1:] if axis is not None else outs:
        if row is not None:
            s.axes(row, 1)


@form("NonMaxSuppression")
def non_max_suppression(s: Relations, boxes: Row, scores: Row, out: Row) -> None:
    """(n, boxes, 4), (n, classes, boxes) -> (selected, 3)."""
    n, count, coordinates = s.axes(boxes, 3)
    s.eq(coordinates, 4, boxes, 2)
    batch, _, scored = s.axes(scores, 3)
    s.eq(batch, n, scores, 0)
    s.eq(scored, count, scores, 2)
    s.eq(s.axes(out, 2)[1], 3, out, 1)


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
