"""Inferred against declared types: the four merge policies.

| policy   | declared and inferred                                                                          |
|----------|------------------------------------------------------------------------------------------------|
| skip     | the declared type stays where there is one; only what is absent is filled in                   |
| override | the inferred type replaces the declared one                                                    |
| refine   | per dim the more specific one: an int beats a name, a name beats nothing; else the declared one |
| strict   | as refine, and any contradiction raises                                                        |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from onnx_infer.laws.sizes import differ, is_fresh
from onnx_infer.values.tensor import VARIES, Optional, Sequence, Sparse, SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.values.tensor import Dim, Shape, Value

ShapeMergePolicy = Literal["skip", "override", "refine", "strict"]
POLICIES: tuple[ShapeMergePolicy, ...] = ("skip", "override", "refine", "strict")


def merge(declared: Value | None, inferred: Value, policy: ShapeMergePolicy, conflict: Callable[[str], None]) -> Value:
    """The type of a value that is declared and inferred; `conflict` is told of contradictions.

    >>> print(merge(SymTensor(1, (2, 3)), SymTensor(1, (2, 3)), "refine", print))
    f32[2, 3]
    """
    if declared is None or declared is inferred or policy == "override":
        return inferred
    if isinstance(declared, (SymTensor, Sparse)) and type(declared) is type(inferred):
        return _merge_tensors(declared, inferred, policy, conflict)
    if isinstance(inferred, (Sequence, Optional)) and isinstance(declared, type(inferred)):
        if declared.elem is None or inferred.elem is None:
            return declared if inferred.elem is None else inferred
        elem = merge(declared.elem, inferred.elem, policy, conflict)
        if elem is inferred.elem:
            return inferred
        return Sequence(elem, inferred.length) if isinstance(inferred, Sequence) else Optional(elem, inferred.full)
    if isinstance(inferred, SymTensor) and inferred.dtype is None and inferred.shape is None:
        return declared
    if isinstance(declared, SymTensor) and declared.dtype is None and declared.shape is None:
        return inferred
    if type(declared) is not type(inferred):
        conflict(f"declared {declared} but inferred {inferred}")
    return inferred if policy != "skip" else declared


def without_names(declared: Value, inferred: Value) -> Value:
    """The declared type with the fresh sizes that were inferred in place of the names it has for them."""
    if not isinstance(declared, SymTensor) or not isinstance(inferred, SymTensor):
        return declared
    if declared.shape is None or inferred.shape is None or len(declared.shape) != len(inferred.shape):
        return declared
    pairs = zip(declared.shape, inferred.shape, strict=True)
    return SymTensor(declared.dtype, [i if is_fresh(i) and not isinstance(d, int) else d for d, i in pairs])


def _merge_tensors(
    declared: SymTensor | Sparse, inferred: Value, policy: ShapeMergePolicy, conflict: Callable[[str], None]
) -> Value:
    assert isinstance(inferred, (SymTensor, Sparse))
    dtype = declared.dtype or inferred.dtype
    if declared.dtype and inferred.dtype and declared.dtype != inferred.dtype:
        conflict(f"declared {declared} but inferred {inferred}: the element types differ")
        dtype = declared.dtype if policy == "skip" else inferred.dtype
    if policy == "skip":
        shape = declared.shape if declared.shape is not None else inferred.shape
    else:
        shape = merge_shapes(declared.shape, inferred.shape, conflict)
    if isinstance(inferred, SymTensor):
        keeps = inferred.data is not None and shape == inferred.shape and dtype == inferred.dtype
        return SymTensor(dtype, shape, inferred.data if keeps else None)
    return Sparse(dtype, shape)


def merge_shapes(declared: Shape | None, inferred: Shape | None, conflict: Callable[[str], None]) -> Shape | None:
    """The more specific dim of each axis; of two that contradict each other the inferred one."""
    if declared is None or inferred is None:
        return inferred if declared is None else declared
    if len(declared) != len(inferred):
        conflict(f"declared rank {len(declared)} but inferred rank {len(inferred)}")
        return inferred
    return tuple(_merge_dims(a, b, i, conflict) for i, (a, b) in enumerate(zip(declared, inferred, strict=True)))


def _merge_dims(declared: Dim, inferred: Dim, axis: int, conflict: Callable[[str], None]) -> Dim:
    if declared is VARIES or declared is inferred or declared == inferred:
        return inferred
    if differ(declared, inferred):
        conflict(f"declared {declared} but inferred {inferred} at axis {axis}")
        return inferred
    if isinstance(inferred, int):
        return inferred
    if isinstance(declared, int):
        return declared
    return declared if is_fresh(inferred) else inferred
