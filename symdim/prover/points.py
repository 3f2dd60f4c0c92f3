"""Values of expressions at a few points: a statement that is false at one of them needs no search for a proof."""

from __future__ import annotations

from contextlib import suppress

from symdim.algebra.evaluate import evaluate
from symdim.errors import DivisionByZero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var

_TRIED = (*range(32), 63, 100, 255, 1_000)  # how far from its end a variable lies where a difference is evaluated


def is_negative_somewhere(dim: Dim) -> bool:
    """Whether a dimension is negative at one of a few points.

    >>> from symdim import Var
    >>> n = Var("n")
    >>> is_negative_somewhere(n // 2 - n // 3), is_negative_somewhere(n % 5 - n % 7), is_negative_somewhere(-1)
    (False, True, True)
    """
    if isinstance(dim, int):
        return dim < 0
    for far in _TRIED:
        with suppress(DivisionByZero):
            value = evaluate(dim, point_at(dim.variables(), far))
            if isinstance(value, int) and value < 0:
                return True
    return False


def point_at(variables: Iterable[Var], far: int) -> dict[str | Var, int]:
    """Values of variables: the first by name lies so far from its end, and each other one a little further.

    >>> from symdim import Var
    >>> point_at([Var("n"), Var.fresh("m", 4, 5)], 3)
    {m: 5, n: 5}
    """
    point: dict[str | Var, int] = {}
    for i, v in enumerate(sorted(dict.fromkeys(variables), key=lambda v: v.name), far):
        low, high = v.bounds()
        if low is None:
            point[v] = i if high is None else high - i
        else:
            point[v] = low + i if high is None else min(low + i, high)
    return point
