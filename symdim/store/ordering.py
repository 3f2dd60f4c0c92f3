"""The order in which constraints take effect. It does not depend on the order in which they were stated.

It compares kinds of constraints, then laws, contents and origins. Sizes are compared by their structural order, row
variables by their names. Constraints that compare equal say the same about the same place.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from symdim.algebra.expr import Expr
from symdim.algebra.order import dim_order
from symdim.rows import Row, RowVar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from symdim.store.constraints import Constraint


def in_order(facts: Iterable[Constraint]) -> list[Constraint]:
    """The constraints in an order that does not depend on the given order.

    Their contents are read only where kind and law do not tell them apart.
    """
    alike: dict[tuple[str, str], list[Constraint]] = {}
    for fact in facts:
        alike.setdefault((type(fact).__name__, fact.law), []).append(fact)
    return [f for head in sorted(alike) for f in (sorted(alike[head], key=_key) if alike[head][1:] else alike[head])]


def row_order(v: RowVar) -> tuple[str, int]:
    """The sort key of a row variable."""
    return v.name, v.serial


def _key(fact: Constraint) -> tuple[object, ...]:
    content = (getattr(fact, field.name) for field in fields(fact) if field.name not in ("origin", "parents", "law"))
    return *map(_part, content), str(fact.origin)


def _part(value: Any) -> tuple[object, ...]:
    """The sort key of a part of a constraint; its first item distinguishes kinds of parts."""
    match value:
        case int() | Expr():
            return dim_order(value)
        case str():
            return 2, value
        case RowVar():
            return 3, *row_order(value)
        case Row(lead=lead, variable=variable, trail=trail):
            return 4, _part(lead), _part(variable), _part(trail)
        case tuple():
            return 5, *map(_part, value)
        case _:
            return (6,)
