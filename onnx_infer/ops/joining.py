"""Operators that join, split and pad along axes: Concat, Split, Pad, CenterCropPad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.elements.arithmetic import convert
from onnx_infer.elements.progressions import consisting_of, joined
from onnx_infer.elements.samples import common_element, joined_samples
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.limits import (
    all_at_least,
    common_number,
    demand_one_element,
    demand_room_for_pads,
    known_elements,
    not_negative,
    number_of,
    of_length,
)
from onnx_infer.laws.sizes import (
    MOST_OPEN_PARTS,
    at_least,
    exact_quotient,
    has_axis,
    normalize_axes,
    of_rank,
    sizes_unless_broken,
    unify_joined,
    unknown_shape,
)
from onnx_infer.laws.statements import conflicting, demand, element, fresh, state, warn
from onnx_infer.operators.registration import op
from onnx_infer.ops.movement import demand_equal, known_sizes
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from symdim import Expr, ceildiv, maximum, product, total
from symdim.algebra.dims import at_most

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onnx_infer.operators.rule import Attributes, Least, Values
    from onnx_infer.ops.kinds import AnyRank, AnyRanks, Dim, FlatSizes, Ints, Shape

    Array = NDArray[Any]


def _concat_data(inputs: Any | Unknown, axis: int = 1) -> Array:
    arrays: Any = inputs
    return np.concatenate(arrays, axis)


def joined_sizes(inputs: AnyRanks, axis: int) -> Shape:
    """The sizes of tensors joined at an axis: the sizes there add up, all others are equal."""
    ranks = [x.rank for x in inputs if x.shape is not None]
    if not ranks:
        raise Unknown("the rank of no input is known")
    require(len(set(ranks)) == 1, "ranks of the inputs differ", *ranks)
    known = [x.dims for x in inputs if x.shape is not None]
    if not has_axis(ranks[0], axis):
        return unknown_shape(ranks[0], "the result")
    axis %= ranks[0]
    along = total(shape[axis] for shape in known)
    sizes = [along if i == axis else unify_joined(known, i) for i in range(ranks[0])]
    if len(known) < len(inputs):
        sizes[axis] = sizes[axis] + fresh(f"sizes at axis {axis} of inputs of unknown rank")
    return tuple(sizes)


@op(
    "Concat",
    data=_concat_data,
    total=True,
    same=lambda inputs, *_: len(inputs) == 1,
    computes=lambda arrays, shape, kind, attributes: np.concatenate(arrays, attributes.get("axis", 1)),
)
def concat(inputs: AnyRanks, axis: int = 1) -> SymTensor | Shape:
    """Sizes at `axis` add up, all others are equal (Concat-1, 4, 11, 13; the default axis of version 1 is 1)."""
    sizes, element, samples = joined_sizes(inputs, axis), common_element(inputs), joined_samples(inputs, axis)
    if element is not None:
        return SymTensor(None, sizes, fill=element)
    dtype = inputs[0].dtype
    parts = joined(inputs) if dtype in dt.INTEGER_RANGE and len(sizes) == 1 and isinstance(sizes[0], Expr) else None
    if parts is not None:
        return consisting_of(parts, dtype, sizes)
    return SymTensor(None, sizes, samples=samples) if samples else sizes


def _equal_parts(size: Dim, count: int, uneven: bool) -> list[Dim]:
    """The sizes of `count` equal parts. If `uneven`, the last part is the rest, which may be smaller, or empty."""
    if not uneven:
        return [exact_quotient(size, count, "the size to split")] * count
    part = ceildiv(size, count)
    return [*[part] * (count - 1), not_negative(size - part * (count - 1), "the last part")]


def _require_few_open_parts(count: int) -> None:
    """Refuse to name the sizes of so many parts: each would be a size of its own, with an origin and a bound."""
    if count > MOST_OPEN_PARTS:
        why = f"{count:,} parts have data-dependent sizes; of more than {MOST_OPEN_PARTS:,} only types are inferred"
        warn(why)
        raise Unknown(why)


def _parts_of_split(size: Dim, split: Ints | Unknown, count: int) -> list[Dim]:
    """The sizes of the parts as given. A single unknown size is the rest."""
    split = of_length(split, count, "the numbers of sizes in split and of outputs")
    parts: list[Any] = [None if x is None else not_negative(convert(x, dt.INT64), "a size of split") for x in split]
    _require_few_open_parts(parts.count(None))
    if parts.count(None) == 1:
        parts[parts.index(None)] = not_negative(size - total(p for p in parts if p is not None), "the rest of split")
    settled = [
        fresh("a size of split", at_most=size, value=element("split", i)) if part is None else part
        for i, part in enumerate(parts)
    ]
    if parts and parts[-1] is None:  # so stated, it tells the last part
        demand_equal(settled[-1], size - total(settled[:-1]), "the last part and what the others leave")
    else:
        demand_equal(total(settled), size, "the sum of split and the size to split")
    return settled


def _parts(
    size: Dim, split: Ints | Unknown | None, num_outputs: int | None, count: int, since_version: int
) -> list[Dim]:
    if since_version >= 18:
        demand(split is None or num_outputs is None, "both split and num_outputs are given")
        if not demand(split is not None or num_outputs is not None, "neither split nor num_outputs is given"):
            split = Unknown("a size of split")
    demand(num_outputs is None or num_outputs == count, "num_outputs is not the number of outputs", num_outputs, count)
    if split is None or split == ():
        return _equal_parts(size, count, uneven=since_version >= 18)
    return _parts_of_split(size, split, count)


def _split_data(
    input: Array, axis: int, output_count: int, since_version: int, split: Ints | None, num_outputs: int | None
) -> list[Array]:
    parts = known_sizes(_parts(input.shape[axis], split, num_outputs, output_count, since_version))
    return np.split(input, np.cumsum(parts)[:-1].tolist(), axis)


def _pieces(inputs: Values, outputs: Values, attributes: Attributes) -> list[Dim | None]:
    """The number of the first element of each part, if the parts lie one behind the other."""
    whole = inputs[0].shape if isinstance(inputs[0], SymTensor) else None
    axis = attributes.get("axis") or 0
    if whole is None or not -len(whole) <= axis < len(whole) or any(dim != 1 for dim in whole[: axis % len(whole)]):
        return []
    row = product(whole[axis % len(whole) + 1 :])
    start: Dim = 0
    starts: list[Dim | None] = []
    for part in outputs:
        if not isinstance(part, SymTensor) or part.shape is None:
            return starts
        starts.append(start * row)
        start = start + part.shape[axis % len(whole)]
    return starts


@op("Split", data=_split_data, view=_pieces, total=True)
def split(
    input: SymTensor,
    split: Ints | Unknown | None,
    axis: int | None,
    num_outputs: int | None,
    output_count: int,
    since_version: int,
) -> list[Shape]:
    """The parts of the size at `axis`: equal, or `split`. Since 18 the last may be smaller (Split-1 to 18)."""
    if axis is None:
        raise Unknown("Split-1 has no default axis")
    if not has_axis(input.rank, axis):
        _require_few_open_parts(output_count)
        return [unknown_shape(input.rank, "a part") for _ in range(output_count)]
    axis %= input.rank
    parts = _parts(input.dims[axis], split, num_outputs, output_count, since_version)
    return [(*input.dims[:axis], part, *input.dims[axis + 1 :]) for part in parts]


MODES = ("constant", "reflect", "edge", "wrap")
_TWO_PADS = "the number of pads and twice that of axes"


def _padded(sizes: Shape, pads: Ints | Unknown, mode: str, axes: Ints | Unknown | None) -> Shape:
    """`begin + size + end` at each of the axes. `pads` has all begins first, then all ends."""
    if isinstance(axes, Unknown) or (axes is not None and None in axes):
        number = number_of(axes)
        common_number(_TWO_PADS, number_of(pads), None if number is None else 2 * number)
        return unknown_shape(len(sizes), "the padded tensor")
    chosen = range(len(sizes)) if axes is None else normalize_axes(axes, len(sizes))
    out = list(sizes)
    values = of_length(pads, 2 * len(chosen), _TWO_PADS)
    for i, axis in enumerate(chosen):
        last = i + len(chosen)
        begin, end = [element("pads", j) if values[j] is None else values[j] for j in (i, last)]
        padded = begin + sizes[axis] + end
        if at_least(padded, 2**63):
            padded = conflicting(f"a padded size does not fit into 64 bits: {padded}")
        if None in (values[i], values[last]):
            out[axis] = fresh("the pads of an axis", value=padded)
        else:
            out[axis] = not_negative(padded, "a padded size")
            demand_room_for_pads(sizes, axis, begin, end, mode)
    return tuple(out)


def _pad_data(
    data: Array,
    pads: Ints,
    mode: str,
    output_dtype: int,
    value: float | None,
    constant_value: Dim | None,
    axes: Ints | None,
) -> Array | None:
    if mode != "constant" or not all(isinstance(pad, int) and pad >= 0 for pad in pads):
        return None
    chosen = range(data.ndim) if axes is None else normalize_axes(axes, data.ndim)
    fill: Any = next((v for v in (constant_value, value) if v is not None), "" if output_dtype == dt.STRING else 0)
    width = np.zeros((data.ndim, 2), dtype=int)
    width[list(chosen)] = np.array(pads, dtype=int).reshape(2, -1).T
    out = np.empty(np.add(data.shape, width.sum(axis=1)), dtype=object)
    out.fill(fill)
    out[tuple(slice(begin, begin + size) for (begin, _), size in zip(width, data.shape, strict=True))] = data
    return out


def _pads_nothing(inputs: Values, _: Values, attributes: Attributes) -> bool:
    pads = attributes.get("pads", attributes.get("paddings")) if len(inputs) == 1 else known_elements(inputs[1])
    return pads is not None and all(isinstance(pad, int) and pad == 0 for pad in pads)


def _kept_elements(inputs: Values, outputs: Values, attributes: Attributes) -> Least | None:
    """onnxruntime refuses a Pad of which negative pads leave no elements, if its mode copies some.

    It does not refuse it if the tensor is empty before, so no rule without assumptions states this.
    """
    if attributes.get("mode", "constant") == "constant":
        return []
    elements, made = known_elements(inputs[1]) if len(inputs) > 1 else None, outputs[0]
    sizes = made.shape if isinstance(made, SymTensor) else None
    if elements is None or sizes is None or len(inputs) > 3 or len(elements) != 2 * len(sizes):
        return None
    pairs = zip(elements[: len(sizes)], elements[len(sizes) :], strict=True)
    added = [maximum(begin, 0) + maximum(end, 0) for begin, end in pairs]
    return all_at_least(1, [size - more for size, more in zip(sizes, added, strict=True)])


@op("Pad", total=True, same=_pads_nothing, demands=_kept_elements)
def pad_by_paddings(data: AnyRank, paddings: Ints, mode: str) -> SymTensor | Shape:
    """As Pad-2; the attribute has a different name (Pad-1)."""
    return pad(data, paddings, None, mode)


@op("Pad", since=2, data=_pad_data, total=True, same=_pads_nothing, demands=_kept_elements)
def pad(
    data: AnyRank,
    pads: Ints | Unknown,
    axes: Ints | Unknown | None,
    mode: str = "constant",
    constant_value: AnyRank | None = None,
) -> SymTensor | Shape:
    """sizes, pads -> begin + sizes + end at `axes`, or at all axes; negative pads crop (Pad-2 to 25)."""
    demand_one_element(constant_value, "constant_value")
    demand(mode in MODES, f"mode is none of {', '.join(MODES)}", mode)
    if data.shape is None and (axes is not None or isinstance(pads, Unknown)):
        raise Unknown("the rank of data is not known")
    rank = data.rank if isinstance(pads, Unknown) or data.shape is not None else len(pads) // 2
    sizes = of_rank(data.shape, rank, "data")
    padded = sizes_unless_broken(rank, lambda: _padded(sizes, pads, mode, axes))
    ends = pads if isinstance(pads, tuple) and len(pads) == 2 and None not in pads else ()
    if mode != "constant" or not data.progressions or rank != 1 or not ends or not all(at_least(x, 0) for x in ends):
        return padded
    fill = SymTensor(data.dtype, (1,), fill=0) if constant_value is None else constant_value
    begin, end = [SymTensor(data.dtype, (size,), fill=common_element([fill])) for size in ends]
    parts = joined([begin, data, end])
    return padded if parts is None else consisting_of(parts, data.dtype, padded)


def _center_data(input_data: Array, shape: Ints, axes: Ints | None, output_dtype: int) -> Array:
    """The middle of each axis, or zeros around it. The smaller half of an odd rest is in front."""
    out = input_data
    for axis, size in zip(range(out.ndim) if axes is None else normalize_axes(axes, out.ndim), shape, strict=True):
        assert isinstance(size, int)  # elements are computed of a result whose sizes are numbers
        extra = size - out.shape[axis]
        start = max(-extra, 0) // 2
        out = np.take(out, range(start, start + min(size, out.shape[axis])), axis)
        if extra > 0:
            width = [(extra // 2, extra - extra // 2) if i == axis else (0, 0) for i in range(out.ndim)]
            zero: Any = "" if output_dtype == dt.STRING else 0
            out = np.pad(out, width, constant_values=zero)
    return out


@op("CenterCropPad", data=_center_data)
def center_crop_pad(input_data: AnyRank, shape: FlatSizes | Unknown, axes: Ints | None) -> Shape:
    """The sizes at `axes`, or at all axes, are those in `shape` (CenterCropPad-18)."""
    if input_data.shape is None and (axes is not None or isinstance(shape, Unknown)):
        raise Unknown("the rank of input_data is not known")
    count = 0 if isinstance(shape, Unknown) else len(shape)
    old = unknown_shape(count, "input_data") if input_data.shape is None else input_data.shape

    def cropped() -> list[Dim]:
        chosen = range(len(old)) if axes is None else normalize_axes(axes, len(old))
        law, number = "the numbers of sizes in shape and of axes", number_of(shape)
        if isinstance(number, Expr):  # the specification demands equality; onnxruntime broadcasts one size
            state("broadcast_to", number, len(chosen), law)
        target = (None,) * len(chosen) if isinstance(number, Expr) else of_length(shape, len(chosen), law)
        sizes = list(old)
        for i, (axis, size) in enumerate(zip(chosen, target, strict=True)):
            asked = fresh("a size of the target shape", value=element("shape", i)) if size is None else size
            if at_most(asked, -1):
                sizes[axis] = conflicting(f"a target size is negative: {asked}")
            else:
                sizes[axis] = maximum(asked, 0)  # the slice of the operator's function is empty then
        return sizes

    return sizes_unless_broken(len(old), cropped)
