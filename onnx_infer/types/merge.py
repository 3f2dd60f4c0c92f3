"""Inferred and declared types: the four merge policies.

`skip` keeps the declared type and fills in the missing parts, sizes too. `override` keeps the inferred type. The other
two policies compare element type, rank and sizes:

| declared      | inferred             | refine                                  | strict                             |
|---------------|----------------------|-----------------------------------------|------------------------------------|
| element type  | another              | inferred, and an error is told          | raises                             |
| rank          | another              | inferred, and a warning is told         | raises                             |
| rank          | one of two ranks     | declared, and the guard that selects it | the same                           |
| nothing       | anything             | inferred                                | inferred                           |
| anything      | nothing              | declared; guards for sizes of inputs    | the same                           |
| 3             | 4, or N + 4          | inferred, and a warning is told         | raises                             |
| N + 2         | N                    | inferred, and a warning is told         | raises                             |
| N             | 4                    | 4, and the declared guard `N == 4`      | 4, and the guard                   |
| 4             | N, or data-dependent | 4, and the declared guard `N == 4`      | 4, and the guard                   |
| M             | N                    | N, and the declared guard `M == N`      | raises                             |
| N             | data-dependent       | inferred, and the guard `_d0 == N`      | raises                             |
| K, a new name | data-dependent       | K, a name of that size; see `claims.py` | K, a name of that size             |
| K, a new name | N                    | N                                       | N                                  |

Nothing of a type that contradicts the inferred one is used, so a wrong rank or size makes no guard of the other sizes.
M and N are symbols of inputs. With `assume_declared` a declared guard becomes an assumption: it replaces data-dependent
sizes, and `strict` does not raise for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from onnx_infer.laws.sizes import differ, is_fresh
from onnx_infer.values.containers import Map, OneOf, Optional, Sequence, Sparse
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Shape, SymTensor, Value
from symdim import Expr
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.origin import is_given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ShapeMergePolicy = Literal["skip", "override", "refine", "strict"]


class Conflict(NamedTuple):
    """A contradiction between a declared and an inferred type: of their shapes, or `of_types`.

    Runtimes use the inferred shape, whatever is declared. They refuse a wrong element type.
    """

    text: str
    of_types: bool = False


Told: TypeAlias = "Callable[[Conflict], object]"


def merge(declared: Value | None, inferred: Value, policy: ShapeMergePolicy, conflict: Told) -> Value:
    """The type of a value with a declared and an inferred type. `conflict` is called with each contradiction.

    >>> print(merge(SymTensor(1, (2, 3)), SymTensor(1, (2, 3)), "refine", print))
    f32[2, 3]
    """
    if declared is None or declared is inferred or policy == "override":
        return inferred
    inferred = selected(declared, inferred)
    if isinstance(inferred, OneOf) and inferred.shape is None and isinstance(declared, SymTensor):
        if declared.shape is not None:
            ranks = " or ".join([str(x.rank) for x in inferred.choices])
            conflict(Conflict(f"declared rank {declared.rank} but inferred rank {ranks}"))
        return inferred
    is_dense = isinstance(declared, SymTensor) and isinstance(inferred, SymTensor)
    if is_dense or (isinstance(declared, Sparse) and isinstance(inferred, Sparse)):
        return _merge_tensors(declared, inferred, policy, conflict)
    kind = Sequence if isinstance(inferred, Sequence) else Optional
    if isinstance(inferred, kind) and isinstance(declared, kind):
        if declared.elem is None or inferred.elem is None:
            return declared if inferred.elem is None else inferred
        elem = merge(declared.elem, inferred.elem, policy, conflict)
        if elem is inferred.elem:
            return inferred
        return _with_elem(inferred, elem)
    if isinstance(inferred, Map) and isinstance(declared, Map):
        return _merge_maps(declared, inferred, policy, conflict)
    if isinstance(inferred, SymTensor) and inferred.dtype is None and inferred.shape is None:
        return declared
    if isinstance(declared, SymTensor) and declared.dtype is None and declared.shape is None:
        return inferred
    if type(declared) is not type(inferred):
        conflict(Conflict(f"declared {declared} but inferred {inferred}", of_types=True))
    return inferred if policy != "skip" else declared


def selected(declared: Value, inferred: Value) -> Value:
    """The one of two tensors that a declared rank selects; any other inferred type as it is."""
    if not isinstance(inferred, OneOf) or inferred.shape is not None or not isinstance(declared, SymTensor):
        return inferred
    rank = None if declared.shape is None else len(declared.shape)
    return next((x for x in inferred.choices if x.shape is not None and len(x.shape) == rank), inferred)


def without_claims(declared: Value, inferred: Value, kept: Callable[[Dim, Dim], bool]) -> Value:
    """The declared type with inferred sizes in place of the declared ones that are not `kept` beside them."""
    if isinstance(declared, (Sequence, Optional)) and isinstance(inferred, type(declared)):
        if declared.elem is None or inferred.elem is None:
            return declared
        return _with_elem(declared, without_claims(declared.elem, inferred.elem, kept))
    if not isinstance(declared, (SymTensor, Sparse)) or not isinstance(inferred, (SymTensor, Sparse)):
        return declared
    if declared.shape is None or inferred.shape is None or len(declared.shape) != len(inferred.shape):
        return declared
    pairs = zip(declared.shape, inferred.shape, strict=True)
    return type(declared)(declared.dtype, [d if kept(d, i) else i for d, i in pairs])


def with_numbers_only(declared: Value) -> Value:
    """The declared type without the sizes that are no numbers."""
    if isinstance(declared, (Sequence, Optional)):
        return declared if declared.elem is None else _with_elem(declared, with_numbers_only(declared.elem))
    if not isinstance(declared, (SymTensor, Sparse)) or declared.shape is None:
        return declared
    return type(declared)(declared.dtype, [d if isinstance(d, int) else UNKNOWN_SIZE for d in declared.shape])


def _with_elem(declared: Sequence | Optional, elem: Value) -> Value:
    """The type of a sequence or an optional with other elements."""
    return Sequence(elem, declared.length) if isinstance(declared, Sequence) else Optional(elem, declared.full)


def size_pairs(declared: Value | None, inferred: Value | None) -> Iterator[tuple[Dim, Dim | None]]:
    """The declared and inferred sizes of a tensor (or of that in a sequence or optional), in pairs; None if missing."""
    while isinstance(declared, (Sequence, Optional)):
        inferred = inferred.elem if isinstance(inferred, type(declared)) else None
        declared = declared.elem
    if not isinstance(declared, (SymTensor, Sparse)) or declared.shape is None:
        return
    shape = inferred.shape if isinstance(inferred, (SymTensor, Sparse)) else None
    if shape is None:
        yield from ((size, None) for size in declared.shape)
    elif len(shape) == len(declared.shape):
        yield from zip(declared.shape, shape, strict=True)


def _merge_tensors(declared: Value, inferred: Value, policy: ShapeMergePolicy, conflict: Told) -> Value:
    assert isinstance(declared, (SymTensor, Sparse))
    assert isinstance(inferred, (SymTensor, Sparse))
    dtype = declared.dtype or inferred.dtype
    if declared.dtype and inferred.dtype and declared.dtype != inferred.dtype:
        conflict(Conflict(f"declared {declared} but inferred {inferred}: the element types differ", of_types=True))
        dtype = declared.dtype if policy == "skip" else inferred.dtype
    if policy == "skip":
        shape = _filled_in(declared.shape, inferred.shape)
    else:
        shape = merge_shapes(declared.shape, inferred.shape, policy, conflict)
    if isinstance(inferred, Sparse):
        return Sparse(dtype, shape)
    if shape == inferred.shape and dtype == inferred.dtype:
        return inferred
    if policy == "skip" or dtype != inferred.dtype or inferred.shape is None:
        return SymTensor(dtype, shape)
    # what is known of elements does not depend on the size that is a number or has a name now
    return SymTensor(dtype, shape, None, inferred.fill, inferred.samples, inferred.progressions)


def _merge_maps(declared: Map, inferred: Map, policy: ShapeMergePolicy, conflict: Told) -> Map:
    if declared.key != inferred.key:
        conflict(Conflict(f"declared {declared} but inferred {inferred}: the key types differ", of_types=True))
        return declared if policy == "skip" else inferred
    if declared.value is None or inferred.value is None:
        return declared if inferred.value is None else inferred
    return Map(inferred.key, merge(declared.value, inferred.value, policy, conflict))


def _filled_in(declared: Shape | None, inferred: Shape | None) -> Shape | None:
    """The declared shape, with inferred sizes for missing ones; the inferred shape if none is declared."""
    if declared is None or inferred is None or len(declared) != len(inferred):
        return inferred if declared is None else declared
    return tuple([i if d is UNKNOWN_SIZE else d for d, i in zip(declared, inferred, strict=True)])


def merge_shapes(
    declared: Shape | None, inferred: Shape | None, policy: ShapeMergePolicy, conflict: Told
) -> Shape | None:
    """The more specific dim of each axis; the inferred one if they contradict each other."""
    if declared is None or inferred is None:
        return inferred if declared is None else declared
    if len(declared) != len(inferred):
        conflict(Conflict(f"declared rank {len(declared)} but inferred rank {len(inferred)}"))
        return inferred
    pairs = enumerate(zip(declared, inferred, strict=True))
    return tuple([_merge_dims(a, b, i, policy == "strict", conflict) for i, (a, b) in pairs])


def _merge_dims(declared: Dim, inferred: Dim, axis: int, strict: bool, conflict: Told) -> Dim:
    if declared is UNKNOWN_SIZE or declared is inferred or declared == inferred:
        return inferred
    if differ(declared, inferred):
        conflict(Conflict(f"declared {declared} but inferred {inferred} at axis {axis}"))
        return inferred
    if isinstance(inferred, int):
        return inferred
    if isinstance(declared, int):
        return declared
    if is_fresh(inferred):
        return declared
    if strict and is_of_inputs(declared) and is_of_inputs(inferred):
        text = f"declared {declared} but inferred {inferred} at axis {axis}, which are not known to be equal"
        conflict(Conflict(text))
    return inferred


def is_of_inputs(size: Expr) -> bool:
    """Whether the sizes of inputs decide a size."""
    return all(is_given(v.origin) for v in size.variables())
