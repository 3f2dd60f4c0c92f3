"""Cycles of refinements: sizes, or rows, that refine each other are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symdim.algebra.variable import Var
from symdim.rows import Row, RowVar
from symdim.store.constraints import RowEqual, SizeEqual

if TYPE_CHECKING:
    from typing import TypeAlias

    from symdim.store.constraints import Constraint
    from symdim.store.propagation import Propagation

    Node: TypeAlias = Var | RowVar


def add_edge(p: Propagation, high: Node, low: Node, fact: Constraint) -> None:
    """Record that size `low` is 1 or `high`, or that row `low` broadcasts to row `high`."""
    below = p.edges.setdefault(high, {})
    if low not in below:
        below[low] = fact
        p.new_edges.append(high)


def cycles_are_equal(p: Propagation) -> bool:
    """Equate the nodes of each cycle through an edge that is new since the last call; return whether there was one.

    a in (1, b), b in (1, c) and c in (1, a) together imply a == b == c.
    """
    starts, p.new_edges = p.new_edges, []
    cycles = _cycles(p, starts)
    for cycle in cycles:
        first, members = cycle[0], set(cycle)
        facts = tuple(fact for high in cycle for low, fact in p.edges[high].items() if low in members)
        for other in cycle[1:]:
            if isinstance(first, Var) and isinstance(other, Var):
                p.push(SizeEqual(facts[0].origin, facts, "size", first, other))
            else:  # all nodes of a cycle are of one kind
                assert isinstance(first, RowVar)
                assert isinstance(other, RowVar)
                p.push(RowEqual(facts[0].origin, facts, "size", Row((), first), Row((), other)))
    return bool(cycles)


def _cycles(p: Propagation, starts: list[Node]) -> list[list[Node]]:
    """The reachable strongly connected components of more than one node (Tarjan's algorithm without recursion)."""
    number: dict[Node, int] = {}
    low: dict[Node, int] = {}
    on_path: dict[Node, None] = {}
    cycles: list[list[Node]] = []
    for start in starts:
        if start in number:
            continue
        walk = [(start, iter(_below(p, start)))]
        number[start] = low[start] = len(number)
        on_path[start] = None
        while walk:
            node, rest = walk[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    on_path[other] = None
                    walk.append((other, iter(_below(p, other))))
                    break
                if other in on_path:
                    low[node] = min(low[node], number[other])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
                if low[node] == number[node]:
                    members = []
                    while True:
                        member, _ = on_path.popitem()
                        members.append(member)
                        if member == node:
                            break
                    if len(members) > 1:
                        cycles.append(members[::-1])
    return cycles


def _below(p: Propagation, node: Node) -> list[Node]:
    """The nodes below a node. Variables with a value are left out: constraints on the value add their own edges."""
    if not _is_node(p, node):
        return []
    return [low for low in p.edges.get(node, ()) if _is_node(p, low)]


def _is_node(p: Propagation, node: Node) -> bool:
    return p.holder(node) is node if isinstance(node, Var) else node not in p.rows
