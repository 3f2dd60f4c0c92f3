"""Sequences (construction, access, splitting and joining; known elements and lengths are kept) and optional values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_infer.errors import Unknown, require
from onnx_infer.laws.bounds import holds
from onnx_infer.laws.limits import demand_at_least, demand_at_most, not_negative
from onnx_infer.laws.sizes import at_least, differ, normalize_axis, unify_joined
from onnx_infer.laws.statements import call_mode, demand, elements_of, fresh
from onnx_infer.operators.registration import op
from onnx_infer.ops.movement import demand_equal
from onnx_infer.types.join import NOTHING, elements, join, of_elements, opened, sequence_of
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import CHUNK, Optional, Parts, Sequence
from onnx_infer.values.tensor import MAX_DATA, UNKNOWN_SIZE, SymTensor
from symdim import Expr, ceildiv, minimum, total

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import Dim, Elements, Shape, Value, Values


MAX_ITEMS = 64
"""The most elements of a sequence that are stored one by one."""


def the_sequence(value: Value) -> Sequence:
    """The value as a sequence. An unknown value is a sequence of unknown elements."""
    require(isinstance(value, Sequence) or value is NOTHING, "the input is not a sequence", value)
    return value if isinstance(value, Sequence) else Sequence()


def check_element_type(sequence: Sequence, value: Value) -> None:
    """Check that a value has the element type of the sequence."""
    wanted, actual = getattr(sequence.elem, "dtype", None), getattr(value, "dtype", None)
    if wanted is not None and actual is not None:
        require(wanted == actual, "the element types differ", dt.text(wanted), dt.text(actual))


def position_in(sequence: Sequence, position: Dim | Unknown, end: int = 0) -> int | None:
    """A position in [-n, n + end), counted from the front; None if it or n is not known."""
    length = sequence.length
    if (
        length is not None
        and not isinstance(position, Unknown)
        and (isinstance(length, Expr) or isinstance(position, Expr))
    ):
        if at_least(position, 0):
            demand_at_least(length, position + 1 - end, "the number of elements")
        elif at_least(-position, 1):
            demand_at_least(length, -position, "the number of elements")
    if not isinstance(position, int) or not isinstance(length, int):
        return None
    require(-length <= position < length + end, f"position {position} is out of range for {length} elements")
    return position + length if position < 0 else position


@op("SequenceEmpty", dtype=lambda dtype: dtype)
def sequence_empty(dtype: int | None) -> Value:
    """() -> an empty sequence of tensors, f32 by default (SequenceEmpty-11)."""
    return Sequence(SymTensor(dt.FLOAT if dtype is None else dtype), 0)


@op("SequenceConstruct")
def sequence_construct(inputs: Values) -> Value:
    """n tensors of one element type -> the sequence of them (SequenceConstruct-11)."""
    for x in inputs:
        check_element_type(Sequence(inputs[0]), x)
    return sequence_of(list(inputs))


def dtype_of_elements(input_sequence: Value) -> int | None:
    """The element type of the tensors of a sequence."""
    return getattr(getattr(input_sequence, "elem", None), "dtype", None)


@op("SequenceAt", dtype=dtype_of_elements)
def sequence_at(input_sequence: Value, position: Dim | Unknown) -> Value:
    """The element at a position in [-n, n - 1] (SequenceAt-11)."""
    sequence = the_sequence(input_sequence)
    at = position_in(sequence, position)
    if at is None and sequence.parts is not None and sequence.length is not None and not isinstance(position, Unknown):
        place = position + sequence.length if at_least(-position, 1) else position
        return opened(sequence.parts.at(place) if at_least(place, 0) or place is not position else sequence.elem)
    return opened(sequence.elem if at is None else elements(sequence)[at])


@op("SequenceLength")
def sequence_length(input_sequence: Value) -> Value:
    """The number of elements, a scalar (SequenceLength-11)."""
    length = the_sequence(input_sequence).length
    return SymTensor(dt.INT64, (), None if length is None else (length,))


@op("SequenceInsert")
def sequence_insert(input_sequence: Value, tensor: Elements, position: Dim | Unknown | None) -> Value:
    """n elements and one more; the position is in [-n, n], at the end by default (SequenceInsert-11)."""
    sequence = the_sequence(input_sequence)
    check_element_type(sequence, tensor)
    length = None if sequence.length is None else sequence.length + 1
    end = sequence.length if isinstance(sequence.length, int) else 0
    at = position_in(sequence, end if position is None else position, 1)
    if at is not None and end < MAX_ITEMS:
        items = elements(sequence)
        return sequence_of([*items[:at], tensor, *items[at:]])
    if sequence.length == 0:
        return Sequence(tensor, 1)
    return Sequence(None if sequence.elem is None else join(sequence.elem, tensor, of_elements), length)


@op("SequenceErase")
def sequence_erase(input_sequence: Value, position: Dim | Unknown | None) -> Value:
    """n elements -> n - 1; the position is in [-n, n - 1], the last by default (SequenceErase-11)."""
    sequence = the_sequence(input_sequence)
    require(sequence.length != 0, "the sequence is empty")
    at = position_in(sequence, -1 if position is None else position)
    if sequence.parts is not None and sequence.length is not None:
        if position in (None, -1):  # the others are whole
            return Sequence(sequence.parts.each_of(sequence.parts.chunk), sequence.length - 1)
        if position == 0:
            rest = sequence.parts._replace(size=sequence.parts.size - sequence.parts.chunk)
            return Sequence(sequence.elem, sequence.length - 1, parts=rest)
    if at is None or sequence.items is None:
        return Sequence(sequence.elem, None if sequence.length is None else sequence.length - 1)
    return sequence_of([*sequence.items[:at], *sequence.items[at + 1 :]], sequence.elem)


@op("SplitToSequence", dtype=lambda input: input.dtype)
def split_to_sequence(input: SymTensor, split: Elements | None, axis: int, keepdims: int) -> Value:
    """(..., d, ...) -> the parts along an axis: of given sizes, of one size, or single (SplitToSequence-11, 24).

    A scalar `split` gives ceil(d / split) parts; the last may be smaller. Without `split` the parts have size 1; if
    `keepdims` is 0, they do not have the axis. The specification ignores `keepdims` where `split` is given, but
    onnxruntime does so only for a vector: it takes the axis of scalar parts away too, and refuses parts of two or more.
    Its parts are assumed then.
    """
    axis = normalize_axis(axis, input.rank)
    size = input.dims[axis]

    def part(*length: Dim) -> SymTensor:
        return SymTensor(input.dtype, (*input.dims[:axis], *length, *input.dims[axis + 1 :]))

    if not keepdims and split is not None and split.shape == ():
        only = split.data[0] if split.data is not None else None
        if call_mode().is_cautious:
            return Sequence(SymTensor(input.dtype))
        if only is not None:
            demand_at_most(minimum(only, size), 1, "the size of parts without the axis", "assumed")
        return Sequence(part(), size)
    if split is None:
        return Sequence(part(1) if keepdims else part(), size)
    each = split.fill if split.shape is not None and split.rank == 1 and split.data is None else None
    if isinstance(each, (int, Expr)) and not elements_of(each):  # many parts of one size
        each = not_negative(each, "a size in split")
        demand_equal(each * split.size, size, "the sum of split and the size")
        return Sequence(part(each), split.size)
    if split.shape is None or split.data is None or (split.shape == () and split.data[0] is None):
        return Sequence(part(UNKNOWN_SIZE), split.dims[0] if split.shape is not None and split.rank == 1 else None)
    if split.rank == 1:
        lengths = [fresh("the value of split is not known", at_most=size) if x is None else x for x in split.data]
        require(not any(differ(x, 0) and at_least(-x, 0) for x in lengths), "a size in split is negative", lengths)
        demand(lengths, "split is empty")
        demand_equal(total(lengths), size, "the sum of split and the size")
        return sequence_of([part(x) for x in lengths], part(UNKNOWN_SIZE))
    return chunks(input, axis, split.data[0])


def chunks(whole: SymTensor, axis: int, chunk: Dim) -> Sequence:
    """The parts of a tensor that is cut into parts of one size. The last one may be smaller."""
    require(not at_least(-chunk, 0), "split is not positive", chunk)
    size = whole.dims[axis]
    count = ceildiv(size, chunk)

    def part(length: Dim) -> SymTensor:
        return SymTensor(whole.dtype, (*whole.dims[:axis], length, *whole.dims[axis + 1 :]))

    if size % chunk == 0 or holds(size % chunk, "==", 0):
        return Sequence(part(chunk), size // chunk)
    if isinstance(count, int) and count <= MAX_ITEMS:
        return sequence_of([part(minimum(chunk, size - i * chunk)) for i in range(count)])
    return Sequence(part(UNKNOWN_SIZE), count, parts=Parts(size, chunk, part(CHUNK)))


@op("ConcatFromSequence", dtype=dtype_of_elements)
def concat_from_sequence(input_sequence: Value, axis: int, new_axis: int) -> Value:
    """n tensors -> one tensor, joined along an axis or stacked along a new one (ConcatFromSequence-11)."""
    require(new_axis in (0, 1), "new_axis is neither 0 nor 1", new_axis)
    sequence = the_sequence(input_sequence)
    require(sequence.length != 0, "the sequence is empty")
    if sequence.length is not None:
        demand_at_least(sequence.length, 1, "the number of tensors to join")
    if not isinstance(sequence.elem, SymTensor) or sequence.elem.shape is None:
        raise Unknown("the shape of the elements of the sequence is not known")
    rank = sequence.elem.rank
    axis = normalize_axis(axis, rank + 1 if new_axis else rank)
    parts = sequence.items or (sequence.elem,)
    shapes = [x.dims for x in parts if isinstance(x, SymTensor)]
    dims = [one_size(shapes, i) for i in range(rank) if new_axis or i != axis]
    if new_axis:
        joined = unknown_length(sequence) if sequence.length is None else sequence.length
    elif sequence.items is not None:
        joined = total(x.dims[axis] for x in sequence.items if isinstance(x, SymTensor))
    elif sequence.parts is not None and sequence.length is not None:
        whole, last = sequence.parts.each_of(sequence.parts.chunk), sequence.parts.last(sequence.length)
        joined = (sequence.length - 1) * whole.dims[axis] + last.dims[axis]
    elif sequence.length is None or sequence.elem.dims[axis] is UNKNOWN_SIZE:
        joined = unknown_length(sequence)
    else:
        joined = sequence.length * sequence.elem.dims[axis]
    shape = (*dims[:axis], joined, *dims[axis:])
    return SymTensor(sequence.elem.dtype, shape, joined_data(sequence, axis, bool(new_axis)))


def one_size(shapes: list[Shape], axis: int) -> Dim:
    """The common size of all elements of a sequence along an axis."""
    known = [shape for shape in shapes if shape[axis] is not UNKNOWN_SIZE]
    if not known:
        return fresh("the sizes of the elements of the sequence are not known")
    return unify_joined(known, axis, "sizes of the elements")


def unknown_length(sequence: Sequence) -> Dim:
    """A fresh size for the joined axis if the number of elements, or their sizes, are not known."""
    what = "number of elements" if sequence.length is None else "size of each element"
    return fresh(f"the {what} of the sequence is not known")


def joined_data(sequence: Sequence, axis: int, new_axis: bool) -> list[Any] | None:
    """The joined elements of all tensors of a short sequence, if all are known."""
    if not isinstance(sequence.length, int) or sequence.length > MAX_DATA:
        return None
    arrays = [x.array if isinstance(x, SymTensor) else None for x in elements(sequence)]
    known = [x for x in arrays if x is not None]
    if len(known) < len(arrays) or sum(x.size for x in known) > MAX_DATA:
        return None
    return list((np.stack if new_axis else np.concatenate)(known, axis).ravel())


@op("Optional")
def optional(input: Value | None, type: Value | None) -> Value:
    """A value -> an optional with this value; no input -> an empty one of the attribute's type (Optional-15)."""
    require(input is not None or type is not None, "neither an input nor a type is given")
    if input is None:
        return Optional(type, False)
    require(not isinstance(input, Optional), "the input is optional itself", input)
    return Optional(None if input is NOTHING else input, True)


@op("OptionalHasElement")
def optional_has_element(input: Value | None) -> Value:
    """-> a scalar: true for an optional with an element, a tensor or a sequence (OptionalHasElement-15, 18)."""
    full = input is not None
    if input is NOTHING:
        return SymTensor(dt.BOOL, ())
    if isinstance(input, Optional):
        return SymTensor(dt.BOOL, (), None if input.full is None else (input.full,))
    return SymTensor(dt.BOOL, (), (full,))


@op("OptionalGetElement")
def optional_get_element(input: Value) -> Value:
    """An optional -> its element; a tensor or a sequence -> itself (OptionalGetElement-15, 18)."""
    if isinstance(input, Optional):
        require(input.full is not False, "the optional is empty", input)
        return opened(input.elem)
    require(isinstance(input, (SymTensor, Sequence)), "the input is not an optional, tensor or sequence", input)
    return input
