"""Claims of inference against what a run really produced."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper

from onnx_infer import Optional, Sequence, SymTensor
from onnx_infer.elements.conditions import Positive
from onnx_infer.elements.ratio import Near, Product, Ratio, Rounded
from symdim import DivisionByZero, Expr

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
    if value.dtype is not None:
        claimed = helper.tensor_dtype_to_np_dtype(value.dtype)
        if claimed != actual.dtype and not (claimed.kind == "O" and actual.dtype.kind in "SU"):
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
            if _differs(claimed_element, element, actual.dtype, sizes):
                yield f"element {claimed_element} is {element}"
    yield from _contradictions_of_all(value, actual, sizes)


def _contradictions_of_all(value: SymTensor, actual: np.ndarray[Any, Any], sizes: Mapping[str, int]) -> Iterator[str]:
    """What is claimed of all elements, or of some, and is not so."""
    if value.fill is not None:
        for element in actual.ravel().tolist():
            if _differs(value.fill, element, actual.dtype, sizes):
                yield f"an element is {element}, and not {value.fill} as all"
    parts = [actual.ravel()] if len(value.samples) == 1 else np.moveaxis(actual, -1, 0) if value.samples else []
    for samples, part in zip(value.samples, parts, strict=False):
        for sample in samples if actual.size else ():
            if all(_differs(sample, element, actual.dtype, sizes) for element in part.ravel().tolist()):
                yield f"no element is {sample}"
    parts = [[at(x, sizes) for x in part] for part in value.progressions]
    if parts and all(isinstance(x, int) for part in parts for x in part):
        claimed = [start + i * step for start, step, length in parts for i in range(length)]
        found = actual.ravel().tolist()
        if len(claimed) < len(found):
            claimed, found = sorted(claimed * (len(found) // len(claimed) if claimed else 0)), sorted(found)
        if claimed != found and (actual.size or len(claimed) == actual.size):
            yield f"the elements are {found}, not {claimed}"


def _differs(claimed: Any, element: Any, dtype: np.dtype[Any], sizes: Mapping[str, int]) -> bool:
    """Whether an element is not what is claimed. Integers and truth values are exact; floats are rounded to the type.

    False where the sizes do not decide the claim, and where it is beyond what inference assumes.
    """
    if isinstance(claimed, Near):
        return not claimed.low <= element <= claimed.high
    known = _known(claimed, sizes)
    if isinstance(known, Product):  # of this no more is known
        return isinstance(known.num, int) and math.floor(element) != known.num // known.den
    if isinstance(known, Ratio):
        if isinstance(known.num, int) and isinstance(known.den, int):
            return not math.isclose(known.num / known.den, element, rel_tol=2**-22)
        return False
    if not isinstance(known, (bool, int, float)) or (isinstance(claimed, Expr) and _is_beyond_limit(claimed, known)):
        return False
    if dtype.kind not in "fV":
        return bool(known != element)
    rounded = np.asarray(known, dtype).tolist()
    return bool(rounded != element) and not (math.isnan(rounded) and math.isnan(element))


def _known(claimed: Any, sizes: Mapping[str, int]) -> Any:
    """A claimed element at these sizes."""
    if isinstance(claimed, Positive):
        size = at(claimed.size, sizes)
        return size > 0 if isinstance(size, int) and not _is_beyond_limit(claimed.size, size) else None
    if isinstance(claimed, Product):
        return Product(at(claimed.num, sizes), claimed.den, whole=claimed.whole, factors=claimed.factors)
    if isinstance(claimed, Rounded):
        try:
            return at(claimed.num, sizes)
        except DivisionByZero:  # the float is infinite or no number, of which nothing is claimed
            return None
    if isinstance(claimed, Ratio):
        return Ratio(at(claimed.num, sizes), at(claimed.den, sizes))
    return at(claimed, sizes)


def _is_beyond_limit(claimed: Expr, known: float) -> bool:
    """Whether an element is beyond int64 because a product of sizes is beyond 2**31, against what inference assumes."""
    factor = max(map(abs, claimed._terms.values())) if claimed._terms else 1
    return abs(known) >= 1 << 63 and abs(known) >= factor << 31


def at(x: Any, sizes: Mapping[str, int]) -> Any:
    """A size or element at these sizes; an expression where symbols remain."""
    if isinstance(x, Expr):
        return x.evaluate({name: sizes[name] for name in x.free_symbols() & sizes.keys()})
    return x
