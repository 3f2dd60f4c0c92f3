"""Values that a caller gives for inputs of the graph. Their elements are then known, like those of a constant."""

from __future__ import annotations

import re
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from onnx_infer.errors import InputValueError
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor, Value, is_small
from symdim.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from onnx_infer.model.graph import Model
    from onnx_infer.model.size_texts import Size
    from onnx_infer.values.tensor import Dim

    InputValue: TypeAlias = "bool | int | float | Sequence[Any]"

_ROUNDED: dict[int, Any] = {dt.NUMBERS["f16"]: np.float16, dt.NUMBERS["f32"]: np.float32}


def put_values(model: Model, values: Mapping[str, InputValue]) -> Model:
    """The model with inputs of known elements: a number for a scalar, a list for a vector.

    Raises `InputValueError` for a name that is not an input, and for a value that does not fit its declared type.
    """
    kinds = dict(model.graph.inputs)
    for name in values:
        if name not in kinds:
            raise InputValueError(f"values: {name!r} is not an input of the graph{told_inputs(name, kinds)}")
    inputs = [(n, with_value(n, kind, values[n]) if n in values else kind) for n, kind in kinds.items()]
    return model._replace(graph=model.graph._replace(inputs=inputs))


_ELEMENT = re.compile(r"`([^`]+)`\s*\[\s*(\d+)\s*\]")


def spelled(text: str) -> str:
    """The text with elements as reasons print them: the name and the index in one pair of quotes, or in none.

    >>> spelled("`/m/total`[0] == past + seq")
    '`/m/total[0]` == past + seq'
    """
    return _ELEMENT.sub(r"`\1[\2]`", text)


def named_elements(inputs: Iterable[str], texts: Iterable[str], names: Collection[str]) -> dict[str, tuple[str, int]]:
    """The elements of inputs in texts of assumptions, unless the model has a symbol of this name: `k[0]` of `k`.

    >>> named_elements(["k", "pick"], ["pick[1] <= N", "2*k[0] == N"], ())
    {'k[0]': ('k', 0), 'pick[1]': ('pick', 1)}
    """
    said = [spelled(text) for text in texts if "[" in text and text not in names]
    elements: dict[str, tuple[str, int]] = {}
    inputs = [*inputs]
    for name in dict.fromkeys(inputs) if said else ():
        pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\[(\d+)\]")
        elements.update((m[0], (name, int(m[1]))) for text in said for m in pattern.finditer(text) if m[0] not in names)
    for text in said:
        for known in (*elements, *names):
            text = text.replace(known, "")
        if other := re.search(r"([\w.]+)\[\d+\]", text):
            raise InputValueError(f"assume: {other[1]!r} is not an input of the graph{told_inputs(other[1], inputs)}")
    return elements


def told_inputs(name: str, inputs: Iterable[str]) -> str:
    """The end of a message about a name that is not an input: the one that is meant, and all inputs.

    >>> told_inputs("imge", ["image", "ids"])
    "; do you mean 'image'? inputs are 'image', 'ids'"
    """
    inputs = list(inputs)
    meant = nearest(name, inputs)
    return f"{f'; do you mean {meant!r}?' if meant else ';'} inputs are {', '.join(map(repr, inputs)) or 'none'}"


def put_elements(model: Model, elements: Mapping[str, tuple[str, int]], size: Callable[[str], Dim]) -> Model:
    """The model whose inputs have these elements; `size` gives what is known of each by its name.

    Raises `InputValueError` for an element that an input cannot have.
    """
    data: dict[str, list[Any]] = {}
    kinds = dict(model.graph.inputs)
    for text, (name, index) in elements.items():
        kind = kinds.get(name)
        if not isinstance(kind, SymTensor) or kind.dtype not in dt.INTEGER_RANGE or not is_small(kind):
            raise InputValueError(
                f"assume: {text} is not an element: {name!r} is {kind}, not some integers of known number"
            )
        count = prod(size for size in kind.shape or () if isinstance(size, int))  # those of small tensors are numbers
        if index >= count:
            raise InputValueError(
                f"assume: {text} is not an element: {name!r} is {kind}, so its last is {name}[{count - 1}]"
            )
        data.setdefault(name, [None] * count)[index] = size(text)

    def with_data(name: str, kind: Value | None) -> Value | None:
        return SymTensor(kind.dtype, kind.shape, data[name]) if name in data and isinstance(kind, SymTensor) else kind

    inputs = [(name, with_data(name, kind)) for name, kind in model.graph.inputs]
    return model._replace(graph=model.graph._replace(inputs=inputs))


def given_sizes(
    inputs: Iterable[tuple[str, Sequence[Size]]], values: Mapping[str, InputValue]
) -> dict[str, tuple[int, int | None]]:
    """The symbols that the lengths of the values determine, as bounds."""
    bounds: dict[str, tuple[int, int | None]] = {}
    for name, sizes in inputs:
        shape = np.shape(values[name]) if name in values else ()
        if len(shape) == len(sizes):
            bounds.update((s, (n, n)) for s, n in zip(sizes, shape, strict=True) if isinstance(s, str))
    return bounds


def given_elements(
    elements: Mapping[str, tuple[str, int]], values: Mapping[str, InputValue]
) -> dict[str, tuple[int, int | None]]:
    """The elements that the values determine, as bounds."""
    flat = {name: np.ravel(values[name]) for name, _ in elements.values() if name in values}
    known = ((text, flat[name], i) for text, (name, i) in elements.items() if name in flat)
    return {text: (int(x[i]), int(x[i])) for text, x, i in known if i < len(x) and x.dtype.kind == "i"}


def with_value(name: str, kind: Value | None, given: InputValue) -> SymTensor:
    """The type of an input with the given elements.

    >>> with_value("sr", SymTensor(dt.INT64, ()), 16000)
    i64[]={16000}
    """
    if not isinstance(kind, SymTensor) or kind.dtype is None:
        raise InputValueError(f"values: the input {name!r} is not declared as a tensor of an element type")
    array, shape = _array(name, given), kind.shape
    if not array.size and shape and 0 in shape and all(isinstance(d, int) for d in shape):
        array = array.reshape(shape)  # nested lists without elements do not show their shape
    fits = shape is None or (
        len(shape) == array.ndim
        and all(d == n or not isinstance(d, int) for d, n in zip(shape, array.shape, strict=True))
    )
    if not fits:
        raise InputValueError(f"values: {given!r}: the shape for {name!r} does not match the declared {kind}")
    data = [_element(name, kind.dtype, x) for x in array.ravel().tolist()]
    bare = SymTensor(kind.dtype, array.shape)
    return SymTensor(kind.dtype, array.shape, data) if is_small(bare) else bare


def _array(name: str, given: InputValue) -> np.ndarray[Any, Any]:
    with suppress(ValueError):  # NumPy's error for lists that differ in length
        array = np.asarray(given)
        if array.dtype != object:
            return array
    raise InputValueError(f"values: {given!r} for {name!r} is neither a number nor a list of numbers")


def _element(name: str, dtype: int, x: object) -> bool | int | float:
    """One element in the element type of the input."""
    low_high = dt.INTEGER_RANGE.get(dtype)
    if isinstance(x, bool) and dtype == dt.BOOL:
        return x
    if isinstance(x, int) and not isinstance(x, bool) and low_high is not None and low_high[0] <= x <= low_high[1]:
        return x
    if isinstance(x, (int, float)) and not isinstance(x, bool) and dtype in dt.FLOATS:
        rounded: float = _ROUNDED.get(dtype, np.float64)(x).item()
        return rounded
    raise InputValueError(f"values: {x!r} for {name!r} is not an element of {dt.text(dtype)}")
