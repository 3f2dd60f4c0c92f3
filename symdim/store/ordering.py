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
    return *[_part(getattr(fact, name)) for name in _compared(type(fact))], str(fact.origin)


def _compared(kind: type[Constraint]) -> tuple[str, ...]:
    """The fields of a kind of constraint that the key compares."""
    names = _FIELDS.get(kind)
    if names is None:
        kept = tuple(field.name for field in fields(kind) if field.name not in ("origin", "parents", "law"))
        names = _FIELDS[kind] = kept
    return names


_FIELDS: dict[type[Constraint], tuple[str, ...]] = {}


def _part(value: Any) -> tuple[object, ...]:
    """The sort key of a part of a constraint; its first item distinguishes kinds of parts."""
    if isinstance(value, int | Expr):
        return dim_order(value)
    if isinstance(value, Row):
        return 4, _part(value.lead), _part(value.variable), _part(value.trail)
    if isinstance(value, tuple):
        return 5, *[_part(item) for item in value]
    if isinstance(value, RowVar):
        return 3, *row_order(value)
    return (2, value) if isinstance(value, str) else (6,)
