"""How large an expression is when written out."""

from __future__ import annotations

from symdim.algebra.expr import Expr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from symdim.algebra.expr import Dim


def leaf_count(dim: Dim) -> int:
    """The number of variables in an expression that is written out. Shared parts count each time.

    The time is linear in the number of different parts; the text may be exponentially longer.

    >>> from symdim import Var, maximum
    >>> N = Var("N")
    >>> leaf_count(3), leaf_count(2 * N + 1), leaf_count(maximum(N // 2, 3) * N)
    (0, 1, 2)
    """
    if not isinstance(dim, Expr):
        return 0
    counts: dict[Expr, int] = {}
    for node, parts in parts_first(dim, counts, parts_of):
        counts[node] = max(1, sum([counts[p] for p in parts]))
    return counts[dim]


def parts_first(
    dim: Expr, known: Container[Expr], parts_of: Callable[[Expr], list[Expr]]
) -> Iterator[tuple[Expr, list[Expr]]]:
    """An expression and its parts at all depths, except those in `known`: each one after its own parts, and with them.

    The caller must add each expression to `known` before it takes the next one.
    """
    pending = [dim]
    while pending:
        node = pending[-1]
        if node not in known:
            parts = parts_of(node)
            missing = [p for p in parts if p not in known]
            if missing:
                pending += missing
                continue
            yield node, parts
        pending.pop()


def parts_of(node: Expr) -> list[Expr]:
    """The parts of a node that are expressions."""
    if node.terms is not None:
        return list(node.terms)
    parts: Iterable[object] = node.parts or ()  # type: ignore[assignment]
    return [p for p in parts if isinstance(p, Expr)]
