"""Operators that select elements. Their number depends on the data (NonZero, Unique) or on an input (TopK)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.arithmetic import convert
from onnx_infer.elements.progressions import consisting_of
from onnx_infer.errors import Unknown
from onnx_infer.laws.limits import demand_at_least, demand_one_element, not_negative, of_length
from onnx_infer.laws.sizes import at_least, has_axis, of_rank, unify, unknown_shape
from onnx_infer.laws.statements import demand, element, fresh, state
from onnx_infer.operators.registration import op
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, Progression, Shape, SymTensor
from symdim import maximum, minimum, product, total

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import AnyRank, Elements, Sizes

    Array = np.ndarray[Any, Any]


def _truth(elements: Any) -> list[bool | None]:
    """Whether each element is not 0; None if that is not known."""
    return [convert(x, dt.BOOL) for x in elements]


def _plain(elements: Any) -> bool:
    """Whether all elements are known numbers or strings, which Python can sort."""
    return all(isinstance(x, (int, float, str)) for x in elements)


# -- NonZero, Compress ------------------------------------------------------------------------------------------------


@op("NonZero", data=lambda X: np.array(np.nonzero(np.array(_truth(X.flat)).reshape(X.shape))), bounded=True)
def nonzero(X: AnyRank) -> SymTensor | Shape:
    """X of rank r -> (r, the number of non-zero elements) (NonZero-9, 13)."""
    if X.shape is None:
        return fresh("the rank of X is not known"), fresh("the number of non-zero elements")
    if X.rank == 0:
        # the specification says (0, n), onnxruntime gives (1, n)
        (taken,) = _truth([X.fill if X.data is None else X.data[0]])
        rank = fresh("the rank of a scalar's indices", at_most=1)
        return rank, int(taken) if isinstance(taken, bool) else fresh("whether the scalar is 0", at_most=1)
    (filled,) = _truth([X.fill])
    if filled is False:
        return X.rank, 0
    if filled is True:
        # all positions, row by row; with one axis these are 0, 1, ...
        sizes = X.rank, X.size
        return consisting_of([Progression(0, 1, X.size)], dt.INT64, sizes) if X.rank == 1 else sizes
    if X.data is None:
        return X.rank, fresh("the number of non-zero elements", at_most=X.size)
    truth = _truth(X.data)
    sure, most = truth.count(True), len(truth) - truth.count(False)
    return X.rank, sure if sure == most else fresh("the number of non-zero elements", at_most=most, at_least=sure)


def _compress(input: Array, condition: Array, axis: int | None = None) -> Array:
    length = input.size if axis is None else input.shape[axis]
    return np.compress(condition.astype(bool)[:length], input, axis)


@op("Compress", data=_compress)
def compress(input: AnyRank, condition: Elements, axis: int | None) -> Shape:
    """The slices along the axis, or the elements, for which the condition is true (Compress-9, 11, 28)."""
    if input.shape is None:
        if axis is None:
            return (_kept(condition, None),)
        raise Unknown("the rank of the input is not known")
    demand(input.rank > 0, "the input is a scalar")
    if axis is not None and not has_axis(input.rank, axis):
        return unknown_shape(input.rank, "the result")
    at = None if axis is None else axis % input.rank
    size = input.size if at is None else input.dims[at]
    kept = _kept(condition, size)
    return (kept,) if at is None else (*input.dims[:at], kept, *input.dims[at + 1 :])


def _kept(condition: SymTensor, size: Dim | None) -> Dim:
    """The number of true elements among the first `size` elements of the condition; of all if the size is not known."""
    count = None if condition.shape is None else condition.size
    most = size if count is None else count if size is None else minimum(size, count)
    if condition.data is None:
        if isinstance(condition.fill, bool) and most is not None and count is not None:
            return most if condition.fill else 0
        return fresh("the number of true conditions", at_most=most)
    maybe = [i for i, x in enumerate(condition.data) if x is not False]
    if size is None:
        return fresh("the number of true conditions", at_most=len(maybe))
    # [i < size] is min(max(size - i, 0), 1)
    within = [minimum(maximum(size - i, 0), 1) for i in maybe]
    if all(condition.data[i] is True for i in maybe) and sum(not isinstance(x, int) for x in within) <= 8:
        return total(within)
    return fresh("the number of true conditions", at_most=minimum(size, len(maybe)))


# -- Unique -----------------------------------------------------------------------------------------------------------


def _unique(X: Array, axis: int | None, sorted: int, output_count: int = 4) -> list[Array]:
    """The four outputs: the distinct subtensors, their first positions, the inverse map, and their counts."""
    if not _plain(X.flat):
        raise Unknown("which elements are equal is not known")
    whole = X.ravel() if axis is None else np.moveaxis(X, axis, 0)
    rows = [tuple(whole[i : i + 1].flat) for i in range(len(whole))]
    first: dict[tuple[Any, ...], int] = {}
    for i, row in enumerate(rows):
        first.setdefault(row, i)
    keys = list(first)
    if sorted:
        keys.sort()
    rank = {key: i for i, key in enumerate(keys)}
    indices = np.array([first[key] for key in keys], dtype=np.intp)
    inverse = [rank[row] for row in rows]
    counts = np.bincount(np.array(inverse, dtype=np.intp))
    out = [np.take(X, indices, axis), indices, np.array(inverse), counts]
    return out[:output_count]


@op("Unique", data=_unique, bounded=True)
def unique(X: AnyRank, axis: int | None, sorted: int) -> list[Shape | None]:
    """n distinct subtensors along the axis, or elements -> Y, (n), (size of the axis), (n) (Unique-11, 28)."""
    if X.shape is None:
        number, whole = (fresh("the number of distinct elements"),), (fresh("the number of elements"),)
        return [number if axis is None else None, number, whole, number]
    if axis is not None and not has_axis(X.rank, axis):
        return [unknown_shape(rank, "the result") for rank in (X.rank, 1, 1, 1)]
    at = None if axis is None else axis % X.rank
    size = X.size if at is None else X.dims[at]
    count: Dim
    if X.data is not None and _plain(X.data):
        assert X.array is not None
        count = len(_unique(X.array, axis, sorted)[1])
    elif size == 1:
        count = 1
    else:
        count = fresh("the number of distinct elements", at_most=size, at_least=int(at_least(size, 1)))
    Y = (count,) if at is None else (*X.dims[:at], count, *X.dims[at + 1 :])
    return [Y, (count,), (size,), (count,)]


# -- TopK, OneHot, NonMaxSuppression ----------------------------------------------------------------------------------


def _topk(X: Array, axis: int, K: Array | None = None, k: int = 0, largest: int = 1, sorted: int = 1) -> list[Array]:
    if not sorted or not _plain(X.flat):
        raise Unknown("the order of the elements is not known")
    count = k if K is None else int(K.flat[0])
    order = np.take(np.argsort(-X if largest else X, axis=axis, kind="stable"), range(count), axis)
    return [np.take_along_axis(X, order, axis), order]


@op("TopK", data=_topk, bounded=True)
def topk(
    X: SymTensor, axis: int, K: Sizes | Unknown | None = None, k: int | None = None, largest: int = 1, sorted: int = 1
) -> list[Shape | SymTensor]:
    """(before, size, after), k <= size -> values and indices (before, k, after) (TopK-1, 10, 11, 24)."""
    if not has_axis(X.rank, axis):
        return [unknown_shape(X.rank, "the result")] * 2
    at = axis % X.rank
    demand(k is None or k >= 1, "k is not positive", k)
    size = X.dims[at]
    wanted: Dim | None = k
    if K is not None:
        (wanted,) = of_length(K, 1, "the number of elements of K and 1")
    if wanted is None:
        wanted = fresh("the value of K is not known", at_most=size, value=element("K"))
    wanted = not_negative(wanted, "K")
    if isinstance(wanted, int) and isinstance(size, int):
        demand(wanted <= size, f"K is {wanted}, the size of the axis {size}")
    elif not at_least(size - wanted, 0):
        state("at_least", size, wanted, "the size of the axis and K")
    shape = (*X.dims[:at], wanted, *X.dims[at + 1 :])
    return [shape, shape]


def _one_hot(indices: Array, depth: Array, values: Array, axis: int) -> Array:
    off, on = values.flat
    count = convert(depth.flat[0], dt.INT64)
    out = np.full((*indices.shape, count), None, dtype=object)
    out[...] = off
    for at in np.ndindex(indices.shape):
        index = convert(indices[at], dt.INT64)
        if not isinstance(index, int):
            raise Unknown("an index is not known")
        if -count <= index < count:
            out[(*at, index)] = on
    return np.moveaxis(out, -1, axis)


@op("OneHot", data=_one_hot)
def one_hot(indices: AnyRank, depth: Elements, values: AnyRank, axis: int) -> Shape:
    """Indices of any shape -> the same shape with an axis of size `depth` inserted (OneHot-9, 11, 28)."""
    if values.shape is not None:
        unify(of_rank(values.shape, 1, "values")[0], 2, "size of values")
    demand(depth.shape is None or len(depth.shape) <= 1, "depth is not a scalar", depth)
    demand_one_element(depth, "depth")
    if indices.shape is None:
        raise Unknown("the rank of indices is not known")
    demand(indices.rank >= 1, "indices are a scalar")
    if not has_axis(indices.rank + 1, axis):
        return unknown_shape(indices.rank + 1, "the result")
    axis %= indices.rank + 1
    count = convert(depth.data[0], dt.INT64) if depth.data else None
    if count is None:
        count = fresh("the value of depth is not known", value=element("depth"))
    else:
        demand_at_least(count, 1, "depth")
    return (*indices.dims[:axis], count, *indices.dims[axis:])


@op("NonMaxSuppression", bounded=True)
def non_max_suppression(
    boxes: AnyRank, scores: AnyRank, max_output_boxes_per_class: Dim | Unknown | None = None
) -> Shape:
    """(B, N, 4), (B, C, N) -> (selected, 3), at most `max_output_boxes_per_class` of each class (10, 11)."""
    rows, scored = of_rank(boxes.shape, 3, "boxes"), of_rank(scores.shape, 3, "scores")
    unify(rows[2], 4, "the last size of boxes")
    batch = unify(rows[0], scored[0], "batch sizes of boxes and scores")
    most = count = unify(rows[1], scored[2], "numbers of boxes and scores")
    limit = 0 if max_output_boxes_per_class is None else max_output_boxes_per_class
    if not isinstance(limit, Unknown):
        most = minimum(count, maximum(limit, 0))
    most = product((batch, scored[1], most))
    return (0 if most == 0 else fresh("the number of boxes selected", at_most=most), 3)
