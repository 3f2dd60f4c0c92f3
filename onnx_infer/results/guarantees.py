"""Guarantees for the sizes of an inference: exact, at most an expression of the input sizes, or unknown.

Nothing is stored: guarantees follow from the sizes themselves (`symdim.guarantee`). docs/verdicts.md lists the needs
of consumers.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

from onnx_infer.results.sources import without_computed
from symdim import Expr, Var
from symdim.algebra.dims import substituted, variables_of
from symdim.algebra.origin import Computed, ValueOf
from symdim.guarantee import Guarantee, UpperBounds, guarantee_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.values.tensor import Dim, Shape


def guarantees(result: Inferred, available: Collection[str] = ()) -> dict[str, tuple[Guarantee, ...]]:
    """The guarantee of each size of each tensor of known rank, by value name.

    `available` names tensors whose elements are known when the sizes are needed, such as inputs on the host. A size
    that is computed from these alone is exact.
    """
    known: dict[Dim, Guarantee] = {}
    bounds = UpperBounds(available)
    rows: dict[str, tuple[Guarantee, ...]] = {}
    for name, shape in result.shapes.items():
        for size in shape:
            if size not in known:
                known[size] = guarantee_of(size, available, bounds)
        rows[name] = tuple([known[size] for size in shape])
    return rows


def upper_bounds(result: Inferred, available: Collection[str] = ()) -> dict[str, Shape]:
    """The shapes with upper bounds in place of sizes, for the values whose sizes are all exact or bounded."""
    bounds = {name: [g.size for g in row] for name, row in guarantees(result, available).items()}
    return {name: tuple(size for size in row if size is not None) for name, row in bounds.items() if None not in row}


def with_values(dim: Dim, values: Mapping[str, Sequence[Dim] | Dim]) -> Dim:
    """A size with known elements of tensors put in. `values` has the elements by tensor name, in row-major order.

    Raises BoundsError for elements that no run has, such as a K of TopK that is negative or larger than its axis.

    >>> from symdim import minimum
    >>> end = Var.fresh("end[0]", origin=ValueOf("end", 0))
    >>> rows = Var.fresh("_d0", at_most=Var("N"), origin=Computed(minimum(end, Var("N")), "a bound of the slice"))
    >>> with_values(2 * rows, {"end": 7})
    2*min(N, 7)
    """

    def put(size: Dim) -> Dim:
        elements: dict[Var, Dim] = {}
        for v in variables_of([size]):
            if isinstance(v.origin, ValueOf) and v.origin.tensor in values:
                known = values[v.origin.tensor]
                element = known if isinstance(known, (int, Expr)) else known[v.origin.index]
                elements[v] = element if isinstance(element, Expr) else index(element)
        return substituted(size, elements)

    computed = {v: put(without_computed(v)) for v in variables_of([dim]) if isinstance(v.origin, Computed)}
    settled = {
        v: size for v, size in computed.items() if not any(isinstance(w.origin, ValueOf) for w in variables_of([size]))
    }
    return put(substituted(dim, settled))
