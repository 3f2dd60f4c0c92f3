"""The variables in a constraint. The store looks at it again when it learns more about one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symdim.algebra.variable import Var
from symdim.store.constraints import Constraint, RankEdge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim.algebra.expr import Dim
    from symdim.rows import Row, RowVar


def dims_of(fact: Constraint) -> tuple[Dim, ...]:
    """The sizes in a constraint, outside of rows."""
    return _contents(fact, fact.SIZES)


def rows_of(fact: Constraint) -> tuple[Row, ...]:
    """The rows in a constraint."""
    return _contents(fact, fact.ROWS)


def _contents(fact: Constraint, names: tuple[str, ...]) -> tuple[Any, ...]:
    found: list[Any] = []
    for name in names:
        content = getattr(fact, name)
        found += content if isinstance(content, tuple) else (content,)
    return tuple(found)


def is_linear(dim: Dim) -> bool:
    """Whether a dimension is a sum of multiples of variables."""
    if isinstance(dim, int | Var):
        return True
    return dim._terms is not None and not dim._height and all(isinstance(unit, Var) for unit in dim._terms)


def variables_in(dim: Dim) -> tuple[Var, ...]:
    """All variables of a dimension; a sum of variables needs no walk."""
    if isinstance(dim, int):
        return ()
    if isinstance(dim, Var):
        return (dim,)
    return tuple(dim._terms) if is_linear(dim) else dim.variables()  # type: ignore[arg-type]


def mentioned_in(fact: Constraint) -> tuple[Var | RowVar, ...]:
    """All size and row variables in a constraint."""
    rows = rows_of(fact)
    found: dict[Var | RowVar, None] = dict.fromkeys(_variables(dims_of(fact)))
    found.update(dict.fromkeys(v for row in rows for v in _variables(row.dims)))
    found.update(dict.fromkeys(row.variable for row in rows if row.variable is not None))
    if isinstance(fact, RankEdge):
        found.update(dict.fromkeys(v for v in (fact.high, fact.low) if v is not None))
    return tuple(found)


def _variables(dims: Iterable[Dim]) -> Iterable[Var]:
    return (v for dim in dims for v in variables_in(dim))
