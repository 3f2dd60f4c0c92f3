"""Operators on optional values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.errors import require
from onnx_infer.operators.registration import op
from onnx_infer.types.join import NOTHING, opened
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Optional, Sequence, SymTensor

if TYPE_CHECKING:
    from onnx_infer.ops.kinds import Value


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
