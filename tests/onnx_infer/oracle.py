"""Claims of inference against what a run really produced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from onnx_infer import Optional, Sequence, SymTensor
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.values.tensor import Value


def contradictions(value: Value | None, actual: Any, sizes: Mapping[str, int]) -> Iterator[str]:
    """What a value claims that is not so."""
    if isinstance(value, Sequence):
        if not isinstance(actual, list):
            yield f"{value} is a {type(actual).__name__}"
            return
        for element in actual:
            yield from contradictions(value.elem, element, sizes)
    elif isinstance(value, Optional):
        if actual is not None:
            yield from contradictions(value.elem, actual, sizes)
    elif isinstance(value, SymTensor):
        if isinstance(actual, list) or actual is None:
            if value.dtype is not None or value.shape is not None:
                yield f"{value} is a {type(actual).__name__}"
            return
        yield from _tensor_contradictions(value, np.asarray(actual), sizes)


def _tensor_contradictions(value: SymTensor, actual: np.ndarray[Any, Any], sizes: Mapping[str, int]) -> Iterator[str]:
    if value.dtype is not None and actual.dtype.kind not in "OSU":
        claimed = helper.tensor_dtype_to_np_dtype(value.dtype)
        if claimed != actual.dtype:
            yield f"element type {claimed} is {actual.dtype}"
    if value.shape is None:
        return
    if len(value.shape) != actual.ndim:
        yield f"rank {len(value.shape)} is {actual.ndim}"
        return
    for axis, (dim, size) in enumerate(zip(value.shape, actual.shape, strict=True)):
        claimed_size = at(dim, sizes)
        if isinstance(claimed_size, int) and claimed_size != size:
            yield f"size {dim} at axis {axis} is {size}"
    if value.data is not None and actual.shape == tuple(at(d, sizes) for d in value.shape):
        for claimed_element, element in zip(value.data, actual.ravel().tolist(), strict=True):
            known = at(claimed_element, sizes)
            if isinstance(known, (bool, int, float)) and not _is_close(known, element):
                if isinstance(claimed_element, Expr) and _is_beyond_assumption(claimed_element, known):
                    continue
                yield f"element {claimed_element} is {element}"


def _is_beyond_assumption(claimed: Expr, known: float) -> bool:
    """Whether an element is beyond int64 because a product of sizes is beyond 2**31, against what inference assumes."""
    factor = max(map(abs, claimed.terms.values())) if claimed.terms else 1
    return abs(known) >= 1 << 63 and abs(known) >= factor << 31


def _is_close(known: float, element: Any) -> bool:
    """Whether two elements are equal, apart from rounding. NumPy cannot compare integers of more than 64 bits."""
    if isinstance(known, int) and known.bit_length() > 64:
        return bool(known == element)
    return bool(np.isclose(known, element, equal_nan=True))


def at(x: Any, sizes: Mapping[str, int]) -> Any:
    """A size or element at these sizes; an expression where symbols remain."""
    if isinstance(x, Expr):
        return x.evaluate({name: sizes[name] for name in x.free_symbols() & sizes.keys()})
    return x
