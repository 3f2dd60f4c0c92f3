"""The bytes that the nodes of a model read and write, as expressions of its input sizes.

A node reads each of its operands once, weights too, and writes each of its results once. What a kernel reads again and
what stays in a cache is not counted. Operators whose result has the bytes of their operand in their order (Reshape,
Identity, ...) move none. Shape and Size read none. An operator that selects (Gather, Slice, ...) reads as many bytes of
its first operand as its first result has. The nodes of a function count in place of its call. What the bodies of If,
Loop and Scan move is not known: it depends on the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.results.inferred import checked_sizes
from onnx_infer.tools.planning.costs import costs
from onnx_infer.tools.planning.live import ByteCounter
from onnx_infer.tools.planning.scheduled import Bodies, Steps
from symdim import Expr, Var, total
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.planning.scheduled import ScheduledNode
    from onnx_infer.values.tensor import Dim


class NodeTraffic(NamedTuple):
    """The bytes that one node reads and writes, None if they are not known, and its multiply-adds."""

    operator: str
    node: str
    read: Dim | None
    written: Dim | None
    multiply_adds: Dim | None

    @property
    def moved(self) -> Dim | None:
        """The bytes that it reads and writes; None if they are not known."""
        return None if self.read is None or self.written is None else self.read + self.written


class Traffic(NamedTuple):
    """The traffic of all nodes of the main graph, in the order of the schedule."""

    nodes: list[NodeTraffic]

    def __repr__(self) -> str:
        return f"Traffic({len(self.nodes)} nodes: read={self.read}, written={self.written})"

    @property
    def read(self) -> Dim:
        """The bytes that all nodes read for which they are known."""
        return total(node.read for node in self.nodes if node.read is not None)

    @property
    def written(self) -> Dim:
        """The bytes that all nodes write for which they are known."""
        return total(node.written for node in self.nodes if node.written is not None)

    @property
    def unknown(self) -> list[NodeTraffic]:
        """The nodes whose traffic is not known."""
        return [node for node in self.nodes if node.moved is None]

    def multiply_adds_per_byte(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> float | None:
        """The multiply-adds for each byte that is read or written, at these sizes, by name; None without any byte.

        Only nodes count of which both are known. Raises UnboundName for missing sizes, UnknownSymbol for names of no
        symbol, and BoundsError for sizes out of bounds.
        """
        both = [
            (node.multiply_adds, node.moved)
            for node in self.nodes
            if node.multiply_adds is not None and node.moved is not None
        ]
        adds, moved = total(adds for adds, _ in both), total(moved for _, moved in both)
        given = checked_sizes({**(sizes or {}), **named}, variables_of([adds, moved]), option="traffic")
        bound: dict[str | Var, int] = dict(given.items())
        count = moved.to_int(bound) if isinstance(moved, Expr) else moved
        if not count:
            return None
        return (adds.to_int(bound) if isinstance(adds, Expr) else adds) / count


def traffic(result: Inferred) -> Traffic:
    """The bytes that the nodes of a model read and write. Sizes that only the data decide count with upper bounds."""
    schedule = Steps(result, Bodies(result._engine), inline=True)
    steps, made = schedule.of_model()
    outer = {name: result.types[name] for name in (*result._engine.model.graph.constants, *result.inputs)}
    sizes = ByteCounter(result, upper=True).sizes({**outer, **made})
    each = costs(result).nodes
    found: list[tuple[list[Dim | None], list[Dim | None]]] = [([], []) for _ in each]
    for step in steps:
        read, written = _moved(step, sizes)
        found[step.number][0].append(read)
        found[step.number][1].append(written)
    return Traffic(
        [
            NodeTraffic(node.operator, node.node, _sum(read), _sum(written), node.multiply_adds)
            for node, (read, written) in zip(each, found, strict=True)
        ]
    )


def _moved(step: ScheduledNode, sizes: Mapping[str, Dim]) -> tuple[Dim | None, Dim | None]:
    """What one step reads and writes."""
    if step.source is None:  # a copy of an output of a function
        return 0, 0
    (op_type, domain, *_, attributes, _), scope = step.source
    if attributes.has_graphs:
        return None, None
    facets = scope.operators.facets(op_type, domain)
    if facets.view == "whole":
        return 0, 0
    written = _sum(sizes.get(name) for name in step.writes)
    reads = list(step.reads)
    if facets.reads == "nothing":
        return 0, written
    if facets.reads == "selected" and reads and step.writes:
        reads[0] = step.writes[0]
    return _sum(sizes.get(name) for name in reads), written


def _sum(counts: Iterable[Dim | None]) -> Dim | None:
    """The sum; None if one of them is not known."""
    known = list(counts)
    return None if None in known else total(count for count in known if count is not None)
