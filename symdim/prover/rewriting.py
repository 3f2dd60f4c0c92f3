"""Replacing units by dimensions anywhere inside expressions."""

from __future__ import annotations

from symdim.evaluate import children, postorder
from symdim.expr import Expr, FloorDiv, Max
from symdim.extremum import maximum
from symdim.floordiv import floordiv
from symdim.monomial import accumulate, powers_of, terms_of
from symdim.polynomial import power, product, sum_of
from symdim.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from symdim.expr import Dim


def replaced(dim: Dim, mapping: Mapping[Expr, Dim], values: dict[Expr, Dim]) -> Dim:
    """`dim` with every occurrence of the units in `mapping` replaced, all at once.

    `values` remembers the nodes done; pass the same dict for several dimensions. The bounds of variables are not
    checked. Raises `DivisionByZero` where a divisor becomes 0: then `dim` has no value.
    """
    if isinstance(dim, int):
        return dim
    for node in postorder(dim):
        if node not in values:
            values[node] = mapping[node] if node in mapping else _rebuilt(node, values)
    return values[dim]


def _rebuilt(node: Expr, values: dict[Expr, Dim]) -> Dim:
    if isinstance(node, Var) or all(isinstance(c, int) or values[c] is c for c in children(node)):
        return node
    if node.terms is not None:
        terms: dict[Expr, int] = {}
        const = node.const
        for unit, k in node.terms.items():
            added, offset = terms_of(values[unit])
            accumulate(terms, added, k)
            const += k * offset
        return sum_of(terms, const)
    if isinstance(node, FloorDiv):
        n, d = node.parts
        return floordiv(_value(n, values), _value(d, values))
    if isinstance(node, Max):
        return maximum(*[_value(part, values) for part in node.parts])
    return product([power(values[atom], exponent) for atom, exponent in powers_of(node).items()])


def _value(dim: Dim, values: dict[Expr, Dim]) -> Dim:
    return dim if isinstance(dim, int) else values[dim]
