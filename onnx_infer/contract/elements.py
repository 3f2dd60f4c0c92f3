"""Guards at elements of arrays that are no integers: 2.5, infinity, NaN. Each is judged by its value, never rounded."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from onnx_infer.model.contract import ELEMENT
from onnx_infer.results.sources import linear_in
from symdim import Expr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.results.guards import Guard
    from symdim import Dim
    from symdim.relations.relation import Relation

Number: TypeAlias = "int | Fraction | float"
"""A value of a side of a guard. A float is infinite, or NaN."""


class Elements(NamedTuple):
    """The elements of arrays by name, such as `k[0]`: integers, and floats that are none."""

    whole: dict[str, int]
    floats: dict[str, float]


def elements(guards: Iterable[Guard], arrays: Mapping[str, Any]) -> Elements:
    """The elements of arrays that guards speak of. Those that are no numbers are left out.

    >>> import numpy as np
    >>> from symdim import Var
    >>> from symdim.relations.relation import Relation
    >>> from onnx_infer.results.guards import Guard
    >>> guard = Guard(Relation("at_most", Var.fresh("k[0]"), Var.fresh("k[1]")), "a law")
    >>> elements([guard], {"k": np.array([2.0, 2.5])})
    Elements(whole={'k[0]': 2}, floats={'k[1]': 2.5})
    """
    found = Elements({}, {})
    flat: dict[str, Any] = {}
    for name in dict.fromkeys(v.name for guard in guards for v in guard.variables()):
        element = ELEMENT.fullmatch(name)
        if element is None or element[1] not in arrays:
            continue
        if element[1] not in flat:
            flat[element[1]] = arrays[element[1]].reshape(-1)
        row, index = flat[element[1]], int(element[2])
        if index < len(row):
            value = row[index]
            value = value.item() if hasattr(value, "item") else value
            if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
                found.whole[name] = int(value)
            elif isinstance(value, float):
                found.floats[name] = value
    return found


def sides(condition: Relation, known: Mapping[Any, int], floats: Mapping[str, float]) -> tuple[Number, Number] | None:
    """The exact values of both sides; None if one cannot be computed, such as a quotient of a float.

    >>> from symdim import Var
    >>> from symdim.relations.relation import Relation
    >>> N, k = Var("N"), Var.fresh("k[0]")
    >>> sides(Relation("at_least", N, 2 * k), {"N": 5}, {"k[0]": 2.5})
    (5, Fraction(5, 1))
    >>> sides(Relation("at_least", N, -k), {"N": 5}, {"k[0]": float("inf")})
    (5, -inf)
    >>> print(sides(Relation("at_least", N, k // 2), {"N": 5}, {"k[0]": 2.5}))
    None
    """
    left, right = (_value(side, known, floats) for side in (condition.left, condition.right))
    return None if left is None or right is None else (left, right)


def shown(number: Number) -> Any:
    """A value as messages have it."""
    return float(number) if isinstance(number, Fraction) and abs(number) < 2**53 else number


def _value(side: Dim, known: Mapping[Any, int], floats: Mapping[str, float]) -> Number | None:
    if isinstance(side, Expr):
        side = side.substitute({v: known[v.name] for v in side.variables() if v.name in known})
    if isinstance(side, int):
        return side
    variables = side.variables()
    parts = linear_in(side, variables[0]) if len(variables) == 1 and variables[0].name in floats else None
    if parts is None:
        return None
    factor, rest = parts
    assert isinstance(factor, int)  # there is no other variable
    assert isinstance(rest, int)
    value = floats[variables[0].name]
    return factor * (Fraction(value) if isfinite(value) else value) + rest
