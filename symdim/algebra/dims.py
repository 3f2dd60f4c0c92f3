"""Questions about dimensions, ints as well as expressions. Intervals answer them quickly.

An interval does not prove everything: `differ(a, b)` is False if it is not known. `symdim.prove` proves more.
"""

from __future__ import annotations

from symdim.algebra.bounds import bounds_of
from symdim.algebra.expr import Expr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var


def variables_of(dims: Iterable[object]) -> tuple[Var, ...]:
    """The variables of dimensions, each once, in the order of first occurrence. Other objects have none.

    >>> from symdim import Var
    >>> N, M = Var("N"), Var("M")
    >>> variables_of([3, M + 1, N * M])
    (M, N)
    """
    return tuple(dict.fromkeys([v for dim in dims if isinstance(dim, Expr) for v in dim.variables()]))


def substituted(dim: Dim, values: Mapping[Any, Dim]) -> Dim:
    """The dimension with values for some of its variables, which are in `values` by themselves or by name."""
    return dim.substitute(values) if isinstance(dim, Expr) else dim


def at_least(dim: Dim, low: int) -> bool:
    """Whether the interval proves `dim >= low`."""
    if isinstance(dim, int):
        return dim >= low
    lo = bounds_of(dim)[0]
    return lo is not None and lo >= low


def at_most(dim: Dim, high: int) -> bool:
    """Whether the interval proves `dim <= high`."""
    if isinstance(dim, int):
        return dim <= high
    hi = bounds_of(dim)[1]
    return hi is not None and hi <= high


def sign(dim: Dim) -> int:
    """1 where the interval proves `dim >= 0`, -1 where it proves `dim < 0`, 0 if neither is proved."""
    return 1 if at_least(dim, 0) else -1 if at_most(dim, -1) else 0


def excludes(dim: Dim, value: int) -> bool:
    """Whether the interval proves `dim != value`."""
    return at_least(dim, value + 1) or at_most(dim, value - 1)


def differ(a: Dim, b: Dim) -> bool:
    """Whether the interval of the difference proves `a != b`.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> differ(N, N + 1), differ(N, 0), differ(N, 3)
    (True, True, False)
    """
    if isinstance(b, int):
        return a != b if isinstance(a, int) else excludes(a, b)
    return excludes(b, a) if isinstance(a, int) else excludes(a - b, 0)


__all__ = ["at_least", "at_most", "bounds_of", "differ", "excludes", "sign", "substituted", "variables_of"]
