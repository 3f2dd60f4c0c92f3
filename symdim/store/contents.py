"""What is in constraints: their sizes, rows and variables, and a fixed order of them.

The store looks at a constraint again when it learns more about one of its variables. The order in which constraints
take effect does not depend on the order in which they were stated. It compares kinds of constraints, then laws,
contents and origins. Sizes are compared by their structural order, row variables by their names. Constraints that
compare equal say the same about the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.expr import Expr
from symdim.algebra.order import dim_order
from symdim.algebra.variable import Var
from symdim.rows import Row, RowVar
from symdim.store.constraints import Constraint, RankEdge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from symdim.algebra.expr import Dim


def checked_fact(fact: Constraint) -> Constraint:
    """The constraint with ints for integers of other types. Raises `TypeError` unless its parts are sizes and rows."""
    for name in (*fact.SIZES, *fact.NUMBERS):
        size = getattr(fact, name)
        if isinstance(size, tuple):
            object.__setattr__(fact, name, tuple(map(checked, size)))
        elif size is not None:
            object.__setattr__(fact, name, checked(size))
    for name in fact.ROWS:
        rows = getattr(fact, name)
        for row in rows if isinstance(rows, tuple) else (rows,):
            checked_row(row)
    return fact


def checked_row(row: Row) -> Row:
    """The row. Raises `TypeError` for anything else."""
    if not isinstance(row, Row):
        cure = f"Row.parse({row!r:.60})" if isinstance(row, str) else "Row.of(...)"
        raise TypeError(f"a row of a constraint is a Row, not {row!r:.60}: write {cure}")
    return row


def dims_of(fact: Constraint) -> tuple[Dim, ...]:
    """The sizes in a constraint, outside of rows."""
    return _contents(fact, fact.SIZES)


def _contents(fact: Constraint, names: tuple[str, ...]) -> tuple[Any, ...]:
    parts: list[Any] = []
    for name in names:
        content = getattr(fact, name)
        parts += content if isinstance(content, tuple) else (content,)
    return tuple(parts)


def is_linear(dim: Dim) -> bool:
    """Whether a dimension is a sum of multiples of variables."""
    if isinstance(dim, int | Var):
        return True
    return dim._terms is not None and not dim._height and all(isinstance(monomial, Var) for monomial in dim._terms)


def variables_in(dim: Dim) -> tuple[Var, ...]:
    """All variables of a dimension; a sum of variables needs no walk."""
    if isinstance(dim, int):
        return ()
    if isinstance(dim, Var):
        return (dim,)
    return tuple(dim._terms) if is_linear(dim) else dim.variables()  # type: ignore[arg-type]


def mentioned_in(fact: Constraint) -> tuple[Var | RowVar, ...]:
    """All size and row variables in a constraint."""
    rows: tuple[Row, ...] = _contents(fact, fact.ROWS)
    variables: dict[Var | RowVar, None] = dict.fromkeys(_variables(dims_of(fact)))
    variables.update(dict.fromkeys(v for row in rows for v in _variables(row.dims)))
    variables.update(dict.fromkeys(row.variable for row in rows if row.variable is not None))
    if isinstance(fact, RankEdge):
        variables.update(dict.fromkeys(v for v in (fact.high, fact.low) if v is not None))
    return tuple(variables)


def _variables(dims: Iterable[Dim]) -> Iterable[Var]:
    return (v for dim in dims for v in variables_in(dim))


def in_order(facts: Iterable[Constraint]) -> list[Constraint]:
    """The constraints in an order that does not depend on the given order."""
    return sorted(facts, key=_key)


def row_order(v: RowVar) -> tuple[str, int]:
    """The sort key of a row variable."""
    return v.name, v.serial


def _key(fact: Constraint) -> tuple[object, ...]:
    kind = type(fact)  # its slots are the fields beside those of all constraints
    return kind.__name__, fact.law, *[_part(getattr(fact, name)) for name in kind.__slots__], str(fact.origin)


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


_SHOWN = 10


def listed(facts: Sequence[Constraint]) -> str:
    """The first constraints as one line, and the number of the others."""
    more = [f"... and {len(facts) - _SHOWN} more"] if len(facts) > _SHOWN else []
    return "; ".join([*map(str, facts[:_SHOWN]), *more])
