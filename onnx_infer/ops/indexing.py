"""Indexing operators (Gather, Scatter and similar ones): reading and writing elements at given positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.arithmetic import ADD, LARGER, MULTIPLY, SMALLER
from onnx_infer.elements.indices import demand_all_in_bounds, demand_in_bounds
from onnx_infer.elements.samples import taken
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import demand_at_most
from onnx_infer.laws.sizes import (
    confirm,
    confirm_shape,
    doubtful_sizes,
    exact_quotient,
    has_axis,
    normalize_axis,
    of_rank,
    unify,
    unify_shapes,
    unknown_shape,
)
from onnx_infer.laws.statements import Kind, fresh, is_contradicted, reported
from onnx_infer.operators.registration import op
from onnx_infer.values.tensor import Shape, SymTensor
from symdim import product

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_infer.operators.rule import Attributes
    from onnx_infer.ops.kinds import AnyRank, Elements

    Array = np.ndarray[Any, Any]


def positions(indices: Array, size: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """The indices into an axis as machine integers; raises `Unknown` if one is not known or out of range."""
    for i in indices.flat:
        if not isinstance(i, int) or not -size <= i < size:
            raise Unknown(f"index {i} into an axis of size {size}")
    return indices.astype(np.intp)


# -- Gather -----------------------------------------------------------------------------------------------------------


def _taken(arrays: list[Array], shape: Shape, kind: Any, attributes: Attributes) -> Array | None:
    (data, indices), axis = arrays, attributes.get("axis", 0)
    if indices.size and not (-data.shape[axis] <= indices.min() and indices.max() < data.shape[axis]):
        return None
    return np.take(data, indices, axis)


@op(
    "Gather",
    data=lambda data, indices, axis: data.take(positions(indices, data.shape[axis]), axis),
    indices=(1,),
    total=True,
    computes=_taken,
    reads="selected",
)
def gather(data: SymTensor, indices: Elements, axis: int) -> SymTensor | Shape:
    """(before, size, after), indices -> (before, *indices, after) (Gather-1 to 13)."""
    if indices.shape is None:
        raise Unknown("the rank of indices is not known")
    if not has_axis(data.rank, axis):
        return unknown_shape(max(data.rank - 1, 0) + indices.rank, "the result")
    axis %= data.rank
    demand_in_bounds(indices, data.dims[axis])
    return taken(data, indices, SymTensor(data.dtype, (*data.dims[:axis], *indices.dims, *data.dims[axis + 1 :])))


def _within(indices: Shape, data: Shape, axis: int) -> None:
    """Demand indices that are no longer than the data along another axis (GatherElements, ScatterElements)."""
    require(len(indices) == len(data), "ranks of indices and data differ", len(indices), len(data))
    for i, (indexed, size) in enumerate(zip(indices, data, strict=True)):
        if i != axis:
            demand_at_most(indexed, size, f"the size of indices at axis {i}")


def _gather_elements(data: Array, indices: Array, axis: int) -> Array:
    axis %= data.ndim
    part = tuple(slice(None if i == axis else n) for i, n in enumerate(indices.shape))
    return np.take_along_axis(data[part], positions(indices, data.shape[axis]), axis)


@op("GatherElements", data=_gather_elements, indices=(1,), reads="selected")
def gather_elements(data: AnyRank, indices: Elements, axis: int) -> Shape:
    """Data, indices of the same rank -> the shape of the indices (GatherElements-11, 13).

    Indices may be longer than the data only along the axis.
    """
    if indices.shape is None:
        if data.shape is None:
            raise Unknown("the rank of indices is not known")
        along = axis % data.rank if has_axis(data.rank, axis) else None
        return tuple(fresh("a size of indices", at_most=None if i == along else d) for i, d in enumerate(data.dims))
    with reported:
        axis = normalize_axis(axis, indices.rank)
        if data.shape is not None:
            _within(indices.dims, data.shape, axis)
            demand_in_bounds(indices, data.dims[axis])
    return indices.dims


def _gather_nd(data: Array, indices: Array, batch_dims: int = 0) -> Array:
    outer, depth = indices.shape[:-1], indices.shape[-1]
    columns = [positions(indices[..., k], data.shape[batch_dims + k]) for k in range(depth)]
    out = data[(*np.indices(outer)[:batch_dims], *columns)]
    return np.broadcast_to(np.asarray(out, dtype=object), (*outer, *data.shape[batch_dims + depth :]))


@op("GatherND", data=_gather_nd, indices=(1,), reads="selected")
def gather_nd(data: SymTensor, indices: Elements, batch_dims: int = 0) -> Shape:
    """(*batch, *data), (*batch, *outer, depth) -> (*batch, *outer, *data[depth:]) (GatherND-11 to 13)."""
    if indices.shape is None:
        raise Unknown("the rank of indices is not known")
    require(data.rank > 0 and indices.rank > 0, "data and indices need an axis", data.rank, indices.rank, sign=",")
    require(0 <= batch_dims < min(data.rank, indices.rank), "batch_dims is out of range", batch_dims)
    outer, of_indices = data.dims[:batch_dims], indices.dims[:batch_dims]
    batch = unify_shapes(outer, of_indices, "batch sizes", "assumed")
    depth = _depth(indices.dims, data.rank - batch_dims)
    slices = data.dims[batch_dims + depth :]
    if not is_contradicted():
        # all that onnxruntime demands, and only of a result that is not empty
        filled = doubtful_sizes(indices.dims[:-1], slices)
        number = product(indices.dims[:-1])
        kind: Kind = "assumed" if filled else "required"
        exact_quotient(number, product(outer), "the number of index tuples", kind, filled)
    demand_all_in_bounds(indices, data.dims[batch_dims : batch_dims + depth], slices)
    return (*batch, *indices.dims[batch_dims:-1], *slices)


def _depth(indices: Shape, limit: int) -> int:
    """The number of axes that one index tuple (the last axis of `indices`) addresses."""
    depth = indices[-1]
    if not isinstance(depth, int):
        demand_at_most(depth, limit, "the length of an index")
        raise Unknown("the last size of indices is not known")
    require(depth <= limit, f"an index has {depth} elements, the data {limit} axes to index")
    return depth


# -- Scatter ----------------------------------------------------------------------------------------------------------

_COMBINE = {"add": ADD, "mul": MULTIPLY, "max": LARGER, "min": SMALLER}


def _scattered(data: Array, places: Iterator[tuple[int, ...]], updates: Iterable[Any], reduction: str) -> Array:
    """A copy of the data with the updates written, or combined, at their places.

    onnxruntime treats an unknown reduction as none.
    """
    if reduction != "none" and reduction not in _COMBINE:
        raise Unknown(f"no such reduction: {reduction}")
    out, written = data.copy(), set()
    for place, update in zip(places, updates, strict=True):
        if reduction == "none" and place in written:
            raise Unknown("which of two updates of one element wins is undefined")
        written.add(place)
        out[place] = update if reduction == "none" else _COMBINE[reduction](out[place], update)
    return out


def _scatter_elements(data: Array, indices: Array, updates: Array, axis: int, reduction: str = "none") -> Array:
    axis %= data.ndim
    along = positions(indices, data.shape[axis]) % data.shape[axis]
    places = ((*at[:axis], int(along[at]), *at[axis + 1 :]) for at in np.ndindex(indices.shape))
    return _scattered(data, places, updates.flat, reduction)


@op("Scatter", "ScatterElements", data=_scatter_elements, indices=(1,))
def scatter_elements(data: SymTensor, indices: Elements, updates: AnyRank, axis: int) -> Shape:
    """Data, indices and updates of one shape -> the shape of the data (Scatter-9, ScatterElements-11 to 18)."""
    with reported:
        axis = normalize_axis(axis, data.rank)
        for shape in (indices.shape, updates.shape):
            if shape is not None:
                _within(shape, data.dims, axis)
        if indices.shape is not None and updates.shape is not None:
            unify_shapes(indices.shape, updates.shape, "shapes of indices and updates")
        demand_in_bounds(indices, data.dims[axis])
    return data.dims


def _scatter_nd(data: Array, indices: Array, updates: Array, reduction: str = "none") -> Array:
    outer = indices.shape[:-1]
    columns = [positions(indices[..., k], data.shape[k]) % data.shape[k] for k in range(indices.shape[-1])]
    inner = data.shape[indices.shape[-1] :]
    places = ((*(int(c[at]) for c in columns), *rest) for at in np.ndindex(outer) for rest in np.ndindex(inner))
    return _scattered(data, places, updates.flat, reduction)


@op("ScatterND", data=_scatter_nd, indices=(1,))
def scatter_nd(data: SymTensor, indices: Elements, updates: AnyRank) -> Shape:
    """Data, (*outer, depth), (*outer, *data[depth:]) -> the shape of the data (ScatterND-11 to 18)."""
    with reported:
        require(data.rank > 0 and indices.shape != (), "data and indices need an axis")
        if indices.shape is None:
            return data.dims
        *outer, depth = indices.shape
        if not isinstance(depth, int) and updates.shape is not None:
            kept = len(updates.shape) - len(outer)  # axes of the data that an index does not tell
            require(0 <= kept <= data.rank, "the rank of updates does not fit", len(updates.shape))
            depth = unify(data.rank - kept, depth, "the length of an index and the axes that updates leave")
        if isinstance(depth, int):
            depth = _depth((*outer, depth), data.rank)
            demand_all_in_bounds(indices, data.dims[:depth])
            if updates.shape is not None:
                told = confirm_shape((*outer, *data.dims[depth:]), updates.shape, "updates")
                return (*data.dims[:depth], *told[len(outer) :])
    return data.dims


@op("TensorScatter", indices=(2,))
def tensor_scatter(
    past_cache: SymTensor, update: AnyRank, write_indices: AnyRank | None, axis: int, mode: str
) -> Shape:
    """(batch, ..., max_length, ...), (batch, ..., length, ...) -> the shape of the cache (TensorScatter-24)."""
    dims = list(past_cache.dims)
    with reported:
        axis = normalize_axis(axis, past_cache.rank)
        require(axis != 0, "the batch axis cannot be the axis to write along")
        require(mode in ("linear", "circular"), "no such mode", mode)
        if update.shape is not None:
            require(len(update.shape) == len(dims), "ranks of cache and update differ", len(dims), len(update.shape))
            for i, size in enumerate(update.shape):
                dims[i] = dims[i] if i == axis else confirm(dims[i], size, f"sizes of cache and update at axis {i}")
            demand_at_most(update.shape[axis], dims[axis], "the length of the update")
        if write_indices is not None and write_indices.shape is not None:
            dims[0] = confirm(dims[0], of_rank(write_indices.shape, 1, "write_indices")[0], "sizes of write_indices")
    return tuple(dims)
