"""Ranks as a graph of differences: rank(high) >= rank(low) + by.

The least ranks are the longest paths from a row without axes. They exist exactly if no cycle gains axes. So a rank
cycle is found when its last edge is added, before any row grows.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from symdim.store.constraints import LONGEST_CHAIN, Contradiction

if TYPE_CHECKING:
    from typing import TypeAlias

    from symdim.rows import RowVar
    from symdim.store.constraints import Constraint

    Node: TypeAlias = RowVar | None  # None: a row without axes
    Edge: TypeAlias = tuple[RowVar | None, int, Constraint]


class RankGraph:
    """The least and greatest ranks of row variables. `changed` holds the variables whose ranks changed."""

    def __init__(self) -> None:
        self.least: dict[Node, int] = {None: 0}
        self.most: dict[Node, int] = {None: 0}  # the greatest rank; a missing entry is no bound
        self.above: dict[Node, list[Edge]] = {}  # low -> (high, by, fact)
        self.below: dict[Node, list[Edge]] = {}  # high -> (low, by, fact)
        self.changed: dict[RowVar, None] = {}

    def add(self, high: Node, low: Node, by: int, fact: Constraint) -> None:
        """Add rank(high) >= rank(low) + by. Raises Contradiction with the constraints of a cycle that gains axes.

        The time is linear in the part of the graph that changes: only ranks that the new edge raises are raised. In a
        cycle that gains axes, this comes back to the low end.
        """
        for node in (high, low):
            self.least.setdefault(node, 0)
        self.above.setdefault(low, []).append((high, by, fact))
        self.below.setdefault(high, []).append((low, by, fact))
        self._raise(high, low, by, fact)
        self._lower(high, low, by)

    def _raise(self, high: Node, low: Node, by: int, fact: Constraint) -> None:
        came: dict[Node, tuple[Node, Constraint]] = {}
        queue: deque[tuple[Node, Node, int, Constraint]] = deque([(high, low, by, fact)])
        while queue:
            node, source, gain, edge = queue.popleft()
            if self.least[node] >= self.least[source] + gain:
                continue
            came[node] = source, edge
            if node is None or node == low:
                raise self._contradiction(node, came)
            self.least[node] = self.least[source] + gain
            self.changed[node] = None
            queue += [(top, node, k, f) for top, k, f in self.above.get(node, ())]

    def _contradiction(self, node: Node, came: dict[Node, tuple[Node, Constraint]]) -> Contradiction:
        facts: dict[Constraint, None] = {}
        at = node
        while at in came:
            at, fact = came.pop(at)
            facts[fact] = None
        stated: dict[Constraint, None] = {}
        queue = list(facts)
        for one in queue:
            queue += one.parents
            if not one.parents:
                stated[one] = None
        chain = tuple(stated)[:LONGEST_CHAIN]
        if node is None:
            return Contradiction("rank_mismatch", "a row would need more axes than it can have", chain)
        return Contradiction("rank_cycle", f"the row {node} would need more axes than itself", chain)

    def _lower(self, high: Node, low: Node, by: int) -> None:
        queue: deque[tuple[Node, Node, int]] = deque([(high, low, by)])
        while queue:
            source, node, gain = queue.popleft()
            limit = self.most.get(source)
            known = self.most.get(node)
            if limit is None or node is None or (known is not None and known <= limit - gain):
                continue
            self.most[node] = limit - gain
            self.changed[node] = None
            queue += [(node, under, k) for under, k, _ in self.below.get(node, ())]

    def bounds(self, node: Node) -> tuple[int, int | None]:
        """The interval of a rank."""
        return self.least.get(node, 0), self.most.get(node)
