"""How large an expression is when written out."""

from __future__ import annotations

from symdim.algebra.expr import Expr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim.algebra.expr import Dim


def leaf_count(dim: Dim) -> int:
    """The number of variables in an expression written out; shared parts count each time they occur.

    It takes time in the number of different parts, although the text may be exponentially longer.

    >>> from symdim import Var, maximum
    >>> N = Var("N")
    >>> leaf_count(3), leaf_count(2 * N + 1), leaf_count(maximum(N // 2, 3) * N)
    (0, 1, 2)
    """
    if not isinstance(dim, Expr):
        return 0
    counts: dict[Expr, int] = {}
    pending = [dim]
    while pending:
        node = pending[-1]
        if node in counts:
            pending.pop()
            continue
        parts = _parts(node)
        missing = [p for p in parts if p not in counts]
        if missing:
            pending += missing
            continue
        counts[node] = max(1, sum(counts[p] for p in parts))
        pending.pop()
    return counts[dim]


def _parts(node: Expr) -> list[Expr]:
    """The expressions that a node is made of."""
    if node.terms is not None:
        return list(node.terms)
    parts: Iterable[object] = node.parts or ()  # type: ignore[assignment]
    return [p for p in parts if isinstance(p, Expr)]
