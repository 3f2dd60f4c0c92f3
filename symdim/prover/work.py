"""The work to build expressions, so that budgets count what the constructors do.

It is measured in microseconds of a usual machine, but computed from the expression alone. So a budget ends at the same
place on every machine, whatever the caches hold.

Nearly all of it goes into nests: maxima, minima and divisions of each other. The constructors compare each pair of
their leaves, so a nest of 16 leaves takes some 30 milliseconds. Longer nests stay as they are written (lattice.py).
"""

from __future__ import annotations

from symdim.algebra.evaluate import parts_first, parts_of
from symdim.algebra.expr import Expr, Extremum, FloorDiv
from symdim.algebra.polynomials import NESTED, SPLIT, terms_of
from symdim.algebra.texts.written import is_nest, steps_of

_PAIR = 192  # for a pair of leaves
_LEAVES = 16  # the most leaves that count
_SUM = 512  # for a sum with a nest beside other terms, and a numerator with one: intervals see what terms share
_DIVISION = 64  # for each term of a numerator and each term of the divisor: one is taken out of the other
_ATOM = 16  # for each step of an atom that is no nest: its interval, and attempts to take it apart


def work_of(node: Expr, nests: dict[Expr, int]) -> int:
    """The work to make a node from its parts. `nests` remembers the leaves of nests.

    >>> from symdim import Var, maximum, minimum
    >>> N, M = Var("N"), Var("M")
    >>> [work_of(e, {}) for e in (N + M, N // 2, maximum(N, M), minimum(maximum(N, 3), 9))]
    [2, 16, 128, 1728]
    """
    if node._terms is None and isinstance(node, FloorDiv | Extremum):
        if is_nest(node):
            return _PAIR * _leaves_of(node, nests) ** 2
        return _apart(node) + _SUM * len(_nested_in(node))
    return steps_of(node) + (_SUM if node._terms and len(node._terms) > 1 and _nested_in(node) else 0)


def _apart(atom: FloorDiv | Extremum) -> int:
    """The work to make an atom that is no nest."""
    n, d, *_ = [1 + len(terms_of(part)[0]) for part in atom._parts]
    by_sum = isinstance(atom, FloorDiv) and isinstance(atom._parts[1], Expr)
    return _DIVISION * n * d if by_sum else _ATOM * steps_of(atom)


def _leaves_of(nest: Expr, known: dict[Expr, int]) -> int:
    """The number of sums and numbers in a nest, at most `_LEAVES`."""
    for node, inner in parts_first(nest, known, _nested_in):
        alone = len(node._parts) - len(inner) if isinstance(node, FloorDiv | Extremum) and node._terms is None else 0
        known[node] = min(max(1, alone + sum([known[part] for part in inner])), _LEAVES)
    return known[nest]


def _nested_in(node: Expr) -> list[Expr]:
    """The parts of a node that are nests, or sums and products with nests in them."""
    return [
        p for p in parts_of(node) if any(u._flags & (SPLIT | NESTED) for u in ([p] if p._terms is None else p._terms))
    ]
