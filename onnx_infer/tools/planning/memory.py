"""The memory of the values of a model over a schedule: sizes in bytes, live ranges, and the peak.

A value is live from the node that gives it to the last node that reads it. An output of the graph stays live to the
end. A value without a reader is live during its own node. The inputs and outputs of a node are live together: nothing
is computed in place, and values do not share memory. Values inside subgraphs and functions are not counted.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.graph import Node, label_of, title_of
from onnx_infer.results.inferred import Inferred, reads_of, schedule
from onnx_infer.results.sources import without_computed
from onnx_infer.tools.planning.envelope import ZERO, Envelope, Polynomial, envelope
from onnx_infer.tools.planning.planner import byte_size
from symdim import UnboundName, Var
from symdim.algebra.dims import variables_of
from symdim.compile import StraightLine, function_of, tuple_text
from symdim.guarantee import UpperBounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from onnx_infer.values.tensor import Dim


class Step(NamedTuple):
    """A node of the schedule, the values that become live at it, and the values that it is the last to read."""

    operator: str
    node: str
    born: tuple[str, ...]
    dead: tuple[str, ...]


class Peak(NamedTuple):
    """The most bytes that are live at once, the first step with this number, and the live values there."""

    bytes: int
    step: Step
    live: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Peak {self.bytes} bytes at {self.step.operator} '{self.step.node}', {len(self.live)} live values>"


class MemoryPlan:
    """The bytes of a model's values over the schedule of its nodes.

    `sizes`: the bytes of each counted value, as expressions. `unknown`: the values whose bytes are not known (strings,
    sequences, unknown ranks or element types); they are not counted. `steps`: the schedule.
    """

    def __init__(
        self, result: Inferred, *, inputs: bool = False, initializers: bool = False, upper: bool = False
    ) -> None:
        types, model = result.types, result._engine.model
        nodes = schedule(result)
        outputs = [name for node in nodes for name in node[3] if name]
        constants = model.graph.constants
        kept = [*(result.inputs if inputs else ()), *(constants if initializers else ())]
        self.bounds = UpperBounds() if upper else None
        self.sizes: dict[str, Dim] = {}
        unknown = []
        for name in dict.fromkeys((*kept, *outputs)):
            size = byte_size(types[name], self.bounds)
            if size is None:
                unknown.append(name)
            else:
                self.sizes[name] = without_computed(size)
        self.unknown = tuple(unknown)
        self.kept = tuple(name for name in kept if name in self.sizes)
        reads = [reads_of(result, node) for node in nodes]
        self.steps = _steps(nodes, reads, result.outputs, self.sizes)

    def __repr__(self) -> str:
        left_out = f", {len(self.unknown)} left out" if self.unknown else ""
        return f"MemoryPlan({len(self.steps)} steps, {len(self.sizes)} values{left_out})"

    @cached_property
    def peak(self) -> Envelope:
        """The most bytes live at once: the maximum over the steps, as an expression.

        With many incomparable steps it is only an upper bound; `peak_at` is always exact. The place of each of its
        sizes is the number of a step; -1 is the time before the first one.
        """
        counted = [i for i, step in enumerate(self.steps) if step.born]
        found = envelope(self._sums(counted))
        return found._replace(places=tuple([-1, *counted][place] for place in found.places))

    @property
    def live_sums(self) -> list[Polynomial]:
        """The bytes alive at each step."""
        return list(self._sums(range(len(self.steps))))[1:]

    def _sums(self, places: Iterable[int]) -> Iterator[Polynomial]:
        """The bytes alive before all steps, then at the steps with these numbers, one after the other."""
        yield (alive := ZERO.plus(self.sizes[name] for name in self.kept))
        shown = set(places)
        for i, step in enumerate(self.steps):
            if step.born:
                alive = alive.plus(self.sizes[name] for name in step.born)
            if i in shown:
                yield alive
            if step.dead:
                alive = alive.plus((self.sizes[name] for name in step.dead), -1)

    @cached_property
    def symbols(self) -> tuple[Var, ...]:
        """The symbols in the sizes, in the order of their first occurrence."""
        return variables_of(self.sizes.values())

    @cached_property
    def _byte_counts(self) -> Callable[..., tuple[int, ...]]:
        code = StraightLine(self.symbols)
        return function_of(code.source(tuple_text([code.operand(size) for size in self.sizes.values()])))

    def bytes_at(self, bindings: Mapping[str | Var, int] | None = None, /, **sizes: int) -> dict[str, int]:
        """The bytes of each value at these sizes; raises UnboundName for symbols without one."""
        given: dict[str | Var, int] = dict(bindings or {})
        given.update(sizes)
        if missing := tuple(v.name for v in self.symbols if v not in given and v.name not in given):
            raise UnboundName(missing)
        counts = self._byte_counts(*(given[v.name] if v.name in given else given[v] for v in self.symbols))
        return dict(zip(self.sizes, counts, strict=True))

    def live_bytes(self, counts: Mapping[str, int]) -> Iterator[int]:
        """The bytes that are live before all steps, then at each step, if the values have these numbers of bytes."""
        live = sum(counts[name] for name in self.kept)
        yield live
        for step in self.steps:
            live += sum(counts[name] for name in step.born)
            yield live
            live -= sum(counts[name] for name in step.dead)

    def peak_at(self, bindings: Mapping[str | Var, int] | None = None, /, **sizes: int) -> Peak:
        """The peak at these sizes; raises UnboundName for symbols without one."""
        counts = self.bytes_at(bindings, **sizes)
        base, *sums = self.live_bytes(counts)
        if not sums:
            return Peak(base, Step("", "", (), ()), self.kept)
        most = max(sums)
        at = sums.index(most)
        live = dict.fromkeys(self.kept)
        for step in self.steps[:at]:
            live.update(dict.fromkeys(step.born))
            for name in step.dead:
                del live[name]
        return Peak(most, self.steps[at], (*live, *self.steps[at].born))


def _steps(
    nodes: Sequence[Node], reads: Sequence[Sequence[str]], outputs: Iterable[str], sizes: Mapping[str, Dim]
) -> list[Step]:
    last = {name: i for i, node in enumerate(nodes) for name in node[3]}
    born = frozenset(last)
    last.update((name, i) for i, names in enumerate(reads) for name in names if name in born)
    last.update((name, len(nodes)) for name in outputs if name in born)
    dead: list[list[str]] = [[] for _ in range(len(nodes) + 1)]
    for name, i in last.items():
        if name in sizes:
            dead[i].append(name)
    return [
        Step(title_of(node), label_of(node), tuple(name for name in node[3] if name in sizes), tuple(dying))
        for node, dying in zip(nodes, dead, strict=False)
    ]
