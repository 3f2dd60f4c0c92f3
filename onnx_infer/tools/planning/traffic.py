"""The bytes that the nodes of a model read and write, as expressions of its input sizes.

A node reads each of its operands once, weights too, and writes each of its results once. What a kernel reads again and
what stays in a cache is not counted. Operators whose result has the bytes of their operand in their order (Reshape,
Identity, ...) move none. Shape and Size read none. An operator that selects (Gather, Slice, ...) reads as many bytes of
its first operand as its first result has. The nodes of a function count in place of its call. A Loop, a Scan or a
SequenceMap moves what the nodes of its body do, once for each turn, and an If what those of its larger branch do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.ops.loop import ENDLESS
from onnx_infer.results.inferred import Inferred, checked_sizes
from onnx_infer.tools.planning.costs import costs, known_total
from onnx_infer.tools.planning.memory import ByteCounter
from onnx_infer.tools.planning.scheduled import MOST_STEPS, Schedule, ScheduledNode
from onnx_infer.values import dtype as dt
from onnx_infer.values.containers import Sequence
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim import Expr, Var, maximum, total
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.engine.graph_index import GraphIndex

    Moved = tuple[Dim | None, Dim | None]


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
        return f"Traffic({len(self.nodes)} nodes: read={self.read!r}, written={self.written!r})"

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
    """The bytes that the nodes of a model read and write. Data-dependent sizes count with upper bounds."""
    each = costs(result).nodes
    parts: list[tuple[list[Dim | None], list[Dim | None]]] = [([], []) for _ in each]
    for number, (read, written) in _Counter(result).of_model():
        parts[number][0].append(read)
        parts[number][1].append(written)
    return Traffic(
        [
            NodeTraffic(node.operator, node.node, known_total(read), known_total(written), node.multiply_adds)
            for node, (read, written) in zip(each, parts, strict=True)
        ]
    )


class _Counter:
    """Counts what the nodes of graphs move. `_of_bodies`: what all nodes of a body read and write in one turn."""

    def __init__(self, result: Inferred) -> None:
        self._sizes = ByteCounter(result, upper=True)
        self._of_bodies: dict[GraphIndex, Moved] = {}
        *bodies, self._main = result._index.inner_first()
        for body in bodies:
            moved = [of_step for _, of_step in self._of_steps(body)]
            self._of_bodies[body] = known_total(read for read, _ in moved), known_total(written for _, written in moved)

    def of_model(self) -> Iterator[tuple[int, Moved]]:
        """For each step the number of its node, and what it reads and writes."""
        return self._of_steps(self._main)

    def _of_steps(self, index: GraphIndex) -> Iterator[tuple[int, Moved]]:
        schedule = Schedule(index, MOST_STEPS if index is self._main else 0)
        sizes = self._sizes.sizes({**schedule.given, **schedule.types})
        for step in schedule.steps:
            yield step.number, self._of_turns(step) if step.bodies else _moved(step, sizes)

    def _of_turns(self, step: ScheduledNode) -> Moved:
        """What the bodies of a node read and write in all turns."""
        bodies = [(None, None) if body is None else self._of_bodies[body] for body in step.bodies]
        turns = self._turns(step)
        read, written = ([body[i] for body in bodies] for i in (0, 1))
        return _times(turns, read), _times(turns, written)

    def _turns(self, step: ScheduledNode) -> Dim | None:
        """How often a body runs, or an upper bound; None if there is none."""
        assert step.source is not None
        assert step.attributes is not None
        (op_type, domain, inputs, outputs, _, _), scope = step.source
        values = [scope[name] if name else None for name in inputs]
        if step.is_call:
            return 1
        if domain not in ("", "ai.onnx") or step.bodies[0] is None:
            return None
        if op_type == "If":
            return 1
        if op_type == "SequenceMap":
            return self._number(values[0].length if isinstance(values[0], Sequence) else None)
        if op_type == "Scan" and len(values) == len(step.bodies[0].graph.inputs):  # Scan-8 has one more, and batches
            attributes = step.attributes.values
            axes = attributes.get("scan_input_axes") or (0,)
            return self._number(_size(values[len(values) - attributes["num_scan_inputs"]], axes[0]))
        if op_type == "Loop":
            stacked = (scope[name] for name in outputs[len(inputs) - 2 :] if name)
            turns = self._number(next((_size(value, 0) for value in stacked), None))
            return self._number(_limit(values[0])) if turns is None else turns
        return None

    def _number(self, size: Dim | None) -> Dim | None:
        """The size, or its upper bound if only the data decide it."""
        return None if size is None else self._sizes.sizes({"": SymTensor(dt.UINT8, (size,))}).get("")


def _size(value: Value | None, axis: int) -> Dim | None:
    if not isinstance(value, SymTensor) or value.shape is None:
        return None
    return value.shape[axis] if -len(value.shape) <= axis < len(value.shape) else None


def _limit(value: Value | None) -> Dim | None:
    """The trip count of a Loop, if its element is known. A condition may only end it earlier."""
    data = value.data if isinstance(value, SymTensor) else None
    limit = data[0] if data else None
    if isinstance(limit, Expr):
        return maximum(limit, 0)
    return max(limit, 0) if isinstance(limit, int) and limit < ENDLESS else None


def _times(turns: Dim | None, counts: list[Dim | None]) -> Dim | None:
    """The largest of these counts, so many times."""
    known = [count for count in counts if count is not None]
    return None if turns is None or len(known) < len(counts) else turns * maximum(*known)


def _moved(step: ScheduledNode, sizes: Mapping[str, Dim]) -> Moved:
    """What one step reads and writes that has no bodies."""
    if step.source is None:  # a copy of an output of a function
        return 0, 0
    (op_type, domain, *_), scope = step.source
    traits = scope.operators.traits(op_type, domain)
    if traits.view == "whole":
        return 0, 0
    written = known_total(sizes.get(name) for name in step.writes)
    reads = list(step.reads)
    if traits.reads == "nothing":
        return 0, written
    if traits.reads == "selected" and reads and step.writes:
        reads[0] = step.writes[0]
    return known_total(sizes.get(name) for name in reads), written
