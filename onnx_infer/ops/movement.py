"""Operators that permute, repeat or clear elements: Transpose, Expand, Tile, DepthToSpace, ReverseSequence, Trilu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.arithmetic import convert
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import all_at_least, demand_one_element, known_elements, not_negative, of_length, open_sizes
from onnx_infer.laws.sizes import (
    broadcast_size,
    confirm,
    differ,
    exact_quotient,
    normalize_axis,
    of_rank,
    unknown_shape,
)
from onnx_infer.laws.statements import Kind, demand, element, fresh, reported, state
from onnx_infer.operators.registration import op
from onnx_infer.operators.rule import Reread
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, maximum, minimum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import AnyRank, Dim, FlatSizes, Ints, Shape

    Array = NDArray[Any]


def demand_equal(a: Dim, b: Dim, what: str, kind: Kind = "required", filled: Shape = ()) -> None:
    """State that two numbers of elements are equal. If they provably differ, this is reported.

    A declared size is assumed to be at least 1. But a node with an explicit 0 shows that the tensor is empty after all.
    """
    if (a != 0 and b != 0) or (isinstance(a, int) and isinstance(b, int)):
        confirm(a, b, what, kind, filled)
    else:
        state("equal", a, b, what, kind, filled)


def known_sizes(sizes: Iterable[Any]) -> tuple[int, ...]:
    """The sizes as plain ints; raises `Unknown` otherwise. Only tensors of known sizes have data.

    >>> known_sizes([2, 3])
    (2, 3)
    """
    out = tuple(sizes)
    if not all(isinstance(size, int) for size in out):
        raise Unknown("a size is not known")
    return out


def _keeps_order(inputs: Values, _: Values, attributes: Attributes) -> bool:
    """A Transpose moves nothing if the axes with more than one element stay in order."""
    shape: Any = inputs[0].shape  # type: ignore[union-attr]  # a tensor of known rank
    perm = attributes.get("perm") or range(len(shape))[::-1]
    moved = [axis for axis in perm if 0 <= axis < len(shape) and shape[axis] != 1]
    return len(perm) == len(shape) and moved == sorted(moved)


@op(
    "Transpose",
    data=lambda data, perm: np.transpose(data, perm),
    moves=True,
    total=True,
    same=_keeps_order,
    computes=lambda arrays, shape, kind, attributes: np.transpose(arrays[0], attributes.get("perm")),
)
def transpose(data: AnyRank, perm: tuple[int, ...] | None) -> Shape:
    """sizes -> sizes[perm], reversed without `perm` (Transpose-1 to 25)."""
    if perm is None:
        if data.shape is None:
            raise Unknown("the rank of data is not known")
        return data.dims[::-1]
    if data.shape is not None:
        require(data.rank == len(perm), f"rank of data is not {len(perm)}", data.rank)
    sizes = of_rank(data.shape, len(perm), "data")
    if not demand(sorted(perm) == list(range(len(perm))), "perm is not a permutation of the axes", list(perm)):
        return unknown_shape(len(perm), "the transposed tensor")
    return tuple(sizes[axis] for axis in perm)


def _expanded(size: Dim, target: Dim | None, index: int) -> Dim:
    """One size broadcast with the element of Expand's target at this index."""
    if target is None:
        if differ(size, 1):
            return size
        asked = element("shape", index)
        # as in `broadcast_size`: the target is not negative in a valid run
        value = asked if size == 1 else maximum(size, asked, 1) + minimum(size, asked, 1) - 1
        return fresh("a size of the target shape", value=value)
    # a negative target would fail, so a Range of that many elements has this size
    target = not_negative(target, "a size of the target shape")
    return size if size == maximum(target, 0) else broadcast_size(size, target)


def _broadcast(sizes: Shape, target: Ints) -> Shape:
    rank = max(len(sizes), len(target))
    first = len(target) - rank
    pairs = zip((1,) * (rank - len(sizes)) + sizes, (1,) * -first + target, range(first, len(target)), strict=True)
    return tuple(_expanded(*pair) for pair in pairs)


def _expand_data(input: Array, shape: Ints) -> Array:
    return np.broadcast_to(input, known_sizes(_broadcast(input.shape, shape)))


def expand_target(elements: Shape, shape: Shape) -> tuple[Dim, ...]:
    """The target of an Expand: 1 in place of a size that the input has at the same axis.

    >>> from symdim import Var
    >>> N, S = Var("N"), Var("S")
    >>> expand_target((N, 12, S), (N, 1, S)), expand_target((N, S), (S,)), expand_target((N, S), (1, 1))
    ((1, 12, 1), (N, 1), (N, S))
    """
    pad = len(elements) - len(shape)
    return tuple(
        1 if isinstance(e, Expr) and 0 <= i - pad < len(shape) and e == shape[i - pad] else e
        for i, e in enumerate(elements)
    )


def _rereads(inputs: Values, _: Values, __: Attributes) -> Reread | None:
    data, sizes = inputs[0], open_sizes(inputs[1])
    if sizes is None or not isinstance(data, SymTensor) or data.shape is None:
        return None
    return Reread({1: expand_target(sizes, data.shape)})


def _target_sizes(inputs: Values, _: Values, __: Attributes) -> Least | None:
    """No size of a target is negative."""
    elements = known_elements(inputs[1])
    return None if elements is None else all_at_least(0, elements)


@op(
    "Expand",
    data=_expand_data,
    moves=True,
    total=True,
    same="alike",
    computes=lambda arrays, shape, *_: np.broadcast_to(arrays[0], shape),
    demands=_target_sizes,
    rereads=_rereads,
)
def expand(input: SymTensor, shape: FlatSizes) -> Shape:
    """input, shape -> the two broadcast to each other (Expand-8, 13)."""
    return _broadcast(input.dims, shape)


@op("Tile", total=True, same="alike")
def tile_along_axis(input: SymTensor, tiles: Dim | Unknown, axis: Dim) -> Shape:
    """The size at `axis` times `tiles`, both given as floats (Tile-1)."""
    along = normalize_axis(convert(axis, dt.INT64), input.rank)
    times = None if isinstance(tiles, Unknown) else convert(tiles, dt.INT64)
    return tuple(_repeated(size, times) if i == along else size for i, size in enumerate(input.dims))


def _repeated(size: Dim, times: Dim | None, value: Dim | None = None) -> Dim:
    if times is None:
        return 0 if size == 0 else fresh("a number of repeats", value=value)
    return size * not_negative(times, "a number of repeats")


def _tile_data(input: Array, repeats: Ints) -> Array:
    return np.tile(input, known_sizes(repeats))


@op("Tile", since=6, data=_tile_data, moves=True, total=True, same="alike")
def tile(input: AnyRank, repeats: Ints | Unknown) -> Shape:
    """sizes, repeats -> sizes * repeats (Tile-6, 13)."""
    if input.shape is None and isinstance(repeats, Unknown):
        raise repeats
    sizes = unknown_shape(len(repeats), "the input") if input.shape is None else input.shape  # type: ignore[arg-type]
    counts = of_length(repeats, len(sizes), "the numbers of repeats and axes")
    return tuple(
        _repeated(size, times, size * element("repeats", i) if times is None else None)
        for i, (size, times) in enumerate(zip(sizes, counts, strict=True))
    )


def _blocks_to_space(input: Array, blocksize: int, mode: str = "DCR") -> Array:
    n, c, h, w = input.shape
    deep = c // blocksize**2
    if mode == "DCR":
        parts = input.reshape(n, blocksize, blocksize, deep, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = input.reshape(n, deep, blocksize, blocksize, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(n, deep, h * blocksize, w * blocksize)


@op("DepthToSpace", data=_blocks_to_space, moves=True)
def depth_to_space(input: AnyRank, blocksize: int, mode: str = "DCR") -> Shape:
    """(N, C, H, W) -> (N, C / b^2, H * b, W * b) (DepthToSpace-1 to 28; the mode since 11 orders the elements)."""
    _check_blocks(blocksize, mode)
    n, c, h, w = of_rank(input.shape, 4, "input")
    return n, exact_quotient(c, blocksize**2, "the depth"), h * blocksize, w * blocksize


def _space_to_blocks(input: Array, blocksize: int, mode: str = "DCR") -> Array:
    n, c, h, w = input.shape
    parts = input.reshape(n, c, h // blocksize, blocksize, w // blocksize, blocksize)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return parts.transpose(order).reshape(n, c * blocksize**2, h // blocksize, w // blocksize)


@op("SpaceToDepth", data=_space_to_blocks, moves=True)
def space_to_depth(input: AnyRank, blocksize: int, mode: str = "DCR") -> Shape:
    """(N, C, H, W) -> (N, C * b^2, H / b, W / b) (SpaceToDepth-1, 13, 28)."""
    _check_blocks(blocksize, mode)
    n, c, h, w = of_rank(input.shape, 4, "input")
    return n, c * blocksize**2, exact_quotient(h, blocksize, "the height"), exact_quotient(w, blocksize, "the width")


def _check_blocks(blocksize: int, mode: str) -> None:
    require(blocksize >= 1, "blocksize is not positive", blocksize)
    demand(mode in ("DCR", "CRD"), "mode is neither DCR nor CRD", mode)


def _reverse_data(input: Array, sequence_lens: Ints, batch_axis: int = 1, time_axis: int = 0) -> Array:
    batch_axis, time_axis = batch_axis % input.ndim, time_axis % input.ndim
    if not all(isinstance(n, int) and 0 <= n <= input.shape[time_axis] for n in sequence_lens):
        raise Unknown("a sequence length is not known")
    out = input.copy()
    rows, source = (np.moveaxis(a, (batch_axis, time_axis), (0, 1)) for a in (out, input))
    for row, original, length in zip(rows, source, sequence_lens, strict=True):
        row[:length] = original[:length][::-1]
    return out


@op("ReverseSequence", data=_reverse_data, moves=True)
def reverse_sequence(input: SymTensor, sequence_lens: AnyRank, batch_axis: int = 1, time_axis: int = 0) -> Shape:
    """The shape of the input; the lengths are one per batch entry (ReverseSequence-10, 28)."""
    (count,) = of_rank(sequence_lens.shape, 1, "sequence_lens")
    sizes = list(input.dims)
    with reported:
        require(input.rank >= 2, "the rank is below 2", input.rank)
        batch_axis, time_axis = (normalize_axis(axis, input.rank) for axis in (batch_axis, time_axis))
        require(
            {batch_axis, time_axis} == {0, 1},
            "batch_axis and time_axis are not 0 and 1",
            batch_axis,
            time_axis,
            sign=",",
        )
        sizes[batch_axis] = confirm(sizes[batch_axis], count, "batch size and number of sequence lengths")
    return tuple(sizes)


def _trilu_data(input: Array, k: int | None, upper: int) -> Array:
    if isinstance(k, Expr):
        raise Unknown("the diagonal is not known")
    return (np.triu if upper else np.tril)(input, k or 0)


@op("Trilu", data=_trilu_data, total=True)
def trilu(input: SymTensor, k: AnyRank | None) -> Shape:
    """(*batch, N, M) -> (*batch, N, M), one triangle kept (Trilu-14)."""
    demand_one_element(k, "k")
    demand(input.rank >= 2, "the rank is below 2", input.rank)
    return input.dims
