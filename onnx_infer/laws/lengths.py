"""The numbers of elements of vectors and scalars that are inputs: one for each axis, or a single one.

Where a run decides the elements, the rule gets `Unknown`. If their number is a symbol, it must still fit, so it becomes
a statement: `Tile (x, repeats)` with repeats of shape (M) and x of rank 2 runs only where M is 2.
"""

from __future__ import annotations

from typing import Any

from onnx_infer.errors import Unknown
from onnx_infer.laws.sizes import confirm
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import Expr


def number_of(vector: tuple[Any, ...] | Unknown | None) -> Dim | None:
    """The number of elements of a vector; None if it is not known, or if there is no vector."""
    if isinstance(vector, Unknown):
        return vector.count
    return None if vector is None else len(vector)


def common_number(law: str, *numbers: Dim | None) -> Dim | None:
    """The number that all numbers of elements must be; None if no number is known.

    Known ones that differ are reported; a symbol is demanded to be the common number.

    >>> from symdim import Var
    >>> common_number("starts and ends", Var("M"), None, 2)
    2
    """
    found = sorted(dict.fromkeys([n for n in numbers if n is not None]), key=lambda n: isinstance(n, Expr))
    if not found:
        return None
    common, *others = found
    for number in others:
        common = confirm(common, number, law)
    return common


def of_length(vector: tuple[Any, ...] | Unknown, count: int, law: str) -> tuple[Any, ...]:
    """The elements of a vector that must have this many. Unknown ones are None; all are if it has another number.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     of_length((2, 3), 2, "repeats"), of_length(Unknown("", Var("M")), 2, "repeats")
    ((2, 3), (None, None))
    >>> trace.statements[0][:3]
    ('equal', 2, M)
    """
    if isinstance(vector, tuple) and len(vector) == count:
        return vector
    common_number(law, number_of(vector), count)
    return (None,) * count


def demand_one_element(value: object, what: str) -> None:
    """Demand that a scalar has one element. Its shape may be () or (1,); one of (M,) demands M == 1.

    A rule gives the tensor itself, or what it got for a scalar: `Unknown` where it is not known.

    >>> from onnx_infer.laws.statements import Trace
    >>> from symdim import Var
    >>> with Trace() as trace:
    ...     demand_one_element(SymTensor(7, (Var("M"),)), "depth")
    ...     demand_one_element(Unknown("depth", 2), "depth")
    >>> trace.statements[0][:3], trace.errors
    (('equal', 1, M), ['the number of elements of depth and 1 differ: 2 != 1'])
    """
    if isinstance(value, Unknown):
        number = value.count
    else:
        number = value.size if isinstance(value, SymTensor) and value.shape is not None else None
    common_number(f"the number of elements of {what} and 1", number, 1)


def known_elements(value: Value | None) -> tuple[Dim, ...] | None:
    """The elements of a tensor, or the one that all of them have; None if one is not known."""
    if not isinstance(value, SymTensor):
        return None
    elements: tuple[Dim, ...] = (value.fill,) if value.data is None else value.data
    return None if None in elements else elements


def open_sizes(value: Value | None) -> tuple[Dim, ...] | None:
    """The elements of a vector of sizes that are all known, but not all as numbers; None of another value."""
    elements = value.data if isinstance(value, SymTensor) and value.dtype in (dt.INT64, dt.INT32) else None
    if elements is None or value.rank != 1 or None in elements:  # type: ignore[union-attr]
        return None
    return None if all(isinstance(x, int) for x in elements) else elements
