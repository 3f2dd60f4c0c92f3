"""Difference constraints, u - v <= c, decided by shortest paths.

The nodes of the graph are the units of the constraints and the number 0; bounds of units refer to 0:

    v <= u + c          an arc from u to v of length c
    v <= c, v >= -c     arcs from 0 to v, and from v to 0

A cycle of negative length adds up to 0 <= -1, so its constraints contradict each other. If there is no such cycle, take
a source with an arc of length 0 to every node: the distances from it satisfy all constraints. The algorithm is Bellman
and Ford's, with Cherkassky and Goldberg's search for cycles among the predecessors. The work is about linear in the
length of a chain.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from symdim.algebra.bounds import bounds_of
from symdim.algebra.expr import Expr
from symdim.algebra.order import order
from symdim.algebra.polynomials import terms_of
from symdim.prover.hypotheses import INTERVALS, Problem, Refuted
from symdim.relations.relation import Relation

if TYPE_CHECKING:
    from symdim.prover.budget import Budget
    from symdim.prover.hypotheses import Reasons

DIFFERENCES = "u <= v + c and v <= w + d give u <= w + c + d"
_FEWEST = 3  # fewer constraints are left to linear arithmetic, which decides them at once


class Arc(NamedTuple):
    """`end <= start + length`; node 0 is the number 0."""

    start: int
    end: int
    length: int
    reasons: Reasons


def shortest(problem: Problem) -> dict[Expr, int] | None:
    """Values of units that satisfy all difference constraints; None if there are too few of them to be worth it.

    Raises `Refuted` with the reasons of a cycle of negative length, and `OutOfBudget`.
    """
    nodes: dict[Expr, int] = {}
    arcs = [arc for h in problem.hypotheses for arc in _arcs(h, nodes)]
    if len(arcs) < _FEWEST:
        return None
    for unit, node in sorted(nodes.items(), key=lambda item: order(item[0])):
        lo, hi = bounds_of(unit)
        if lo is not None:
            arcs.append(Arc(node, 0, -lo, frozenset((INTERVALS,))))
        if hi is not None:
            arcs.append(Arc(0, node, hi, frozenset((INTERVALS,))))
    distances = _distances(len(nodes) + 1, arcs, problem.budget)
    return {unit: distances[node] - distances[0] for unit, node in nodes.items()}


def _arcs(h: Relation, nodes: dict[Expr, int]) -> list[Arc]:
    """The arcs of a hypothesis about one unit, or about the difference of two units."""
    terms, const = terms_of(h.left)
    if h.kind == "unequal" or not 1 <= len(terms) <= 2:
        return []
    (u, k), *others = terms.items()
    if others and others[0][1] != -k:
        return []
    one = nodes.setdefault(u, len(nodes) + 1)
    two = nodes.setdefault(others[0][0], len(nodes) + 1) if others else 0
    larger, smaller = (one, two) if k > 0 else (two, one)
    arcs = [Arc(larger, smaller, const // abs(k), h.origins)]  # |k|*(larger - smaller) + const >= 0
    if h.kind == "equal":
        arcs.append(Arc(smaller, larger, -const // abs(k), h.origins))
    return arcs


def _distances(size: int, arcs: list[Arc], budget: Budget) -> list[int]:
    """The distances of all nodes from a source with an arc of length 0 to each of them; raises `Refuted`."""
    leaving: list[list[Arc]] = [[] for _ in range(size)]
    for arc in arcs:
        leaving[arc.start].append(arc)
    distances = [0] * size
    arrival: list[Arc | None] = [None] * size
    queue, queued = deque(range(size)), [True] * size
    changes = 0
    while queue:
        node = queue.popleft()
        queued[node] = False
        budget.work(1 + len(leaving[node]))
        for arc in leaving[node]:
            distance = distances[node] + arc.length
            if distance >= distances[arc.end]:
                continue
            distances[arc.end], arrival[arc.end] = distance, arc
            changes += 1
            if changes % size == 0:
                _refuse_cycles(arrival, budget)
            if not queued[arc.end]:
                queued[arc.end] = True
                queue.append(arc.end)
    return distances


def _refuse_cycles(arrival: list[Arc | None], budget: Budget) -> None:
    """Raise `Refuted` if the arcs of arrival, followed backwards, form a cycle: its length is negative."""
    budget.work(len(arrival))
    walk = [-1] * len(arrival)  # the start of the walk that visited each node
    for first in range(len(arrival)):
        node = first
        while walk[node] < 0:
            walk[node] = first
            arc = arrival[node]
            if arc is None:
                break
            node = arc.start
        else:
            if walk[node] == first:
                raise Refuted(frozenset((DIFFERENCES,)).union(*_cycle(arrival, node)))


def _cycle(arrival: list[Arc | None], node: int) -> list[Reasons]:
    reasons: list[Reasons] = []
    here = node
    while True:
        arc = arrival[here]
        assert arc is not None
        reasons.append(arc.reasons)
        here = arc.start
        if here == node:
            return reasons
