"""Guarantees for the sizes of an inference: exact, at most an expression of the input sizes, or unknown.

Nothing is stored: guarantees follow from the sizes themselves (`symdim.guarantee`). docs/verdicts.md lists the needs
of consumers.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

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
    found: dict[str, tuple[Guarantee, ...]] = {}
    for name, shape in result.shapes.items():
        for size in shape:
            if size not in known:
                known[size] = guarantee_of(size, available, bounds)
        found[name] = tuple([known[size] for size in shape])
    return found


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
    found: dict[Var, Dim] = {}
    stack = _run_time(dim)
    while stack:
        variable = stack[-1]
        origin = variable.origin
        missing = [v for v in _run_time(origin.size) if v not in found] if isinstance(origin, Computed) else []
        if missing:
            stack += missing
            continue
        stack.pop()
        if isinstance(origin, Computed):
            size = substituted(origin.size, found)
            settled = not any(isinstance(v.origin, ValueOf) for v in _run_time(size))
            found[variable] = size if settled else variable
        elif isinstance(origin, ValueOf):
            known = values.get(origin.tensor, variable)
            found[variable] = known if isinstance(known, (int, Expr)) else _element(known[origin.index])
    return substituted(dim, found)


def _element(x: Dim) -> Dim:
    return x if isinstance(x, Expr) else index(x)


def _run_time(dim: Dim) -> list[Var]:
    """The variables in a size that stand for elements of tensors or are computed from them."""
    variables = variables_of([dim])
    return [v for v in variables if isinstance(v.origin, (ValueOf, Computed))]
