"""What is live at each step: the bytes of values, and those of bodies that count as one block at their node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.results.sources import element_of, without_computed
from onnx_infer.tools.planning.envelope import ZERO, Envelope, Polynomial, envelope
from onnx_infer.tools.planning.planner import byte_size
from onnx_infer.tools.planning.scheduled import Schedule
from onnx_infer.values.tensor import UNKNOWN_SIZE, OneOf
from onnx_infer.values.text import text
from symdim import Var, maximum
from symdim.algebra.dims import variables_of
from symdim.guarantee import UpperBounds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from onnx_infer.engine.graph_index import GraphIndex
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.planning.scheduled import ScheduledNode
    from onnx_infer.values.tensor import Dim, Value


class Step(NamedTuple):
    """A node of the schedule, the values that become live at it, and the values that it is the last to read.

    `number`: that of the node in the main graph, without nodes that are constants.
    """

    operator: str
    node: str
    born: tuple[str, ...]
    dead: tuple[str, ...]
    number: int = -1


def live_sums(
    steps: Sequence[Step], sizes: Mapping[str, Dim], kept: Iterable[str], places: Iterable[int]
) -> Iterator[Polynomial]:
    """The bytes alive before all steps, then at the steps with these numbers, one after the other."""
    yield (alive := ZERO.plus(sizes[name] for name in kept))
    shown = set(places)
    for i, step in enumerate(steps):
        if step.born:
            alive = alive.plus(sizes[name] for name in step.born)
        if i in shown:
            yield alive
        if step.dead:
            alive = alive.plus((sizes[name] for name in step.dead), -1)


def steps_of(nodes: Sequence[ScheduledNode], outputs: Iterable[str], sizes: Mapping[str, Dim]) -> list[Step]:
    last = {name: i for i, node in enumerate(nodes) for name in node.writes}
    born = frozenset(last)
    last.update((name, i) for i, node in enumerate(nodes) for name in node.reads if name in born)
    last.update((name, len(nodes)) for name in outputs if name in born)
    dead: list[list[str]] = [[] for _ in range(len(nodes) + 1)]
    for name, i in last.items():
        if name in sizes:
            dead[i].append(name)
    steps = []
    for node, dying in zip(nodes, dead, strict=False):
        block = (node.block,) if node.block in sizes else ()
        made = tuple(name for name in node.writes if name in sizes)
        steps.append(Step(node.operator, node.node, (*made, *block), (*dying, *block), node.number))
    return steps


class ByteCounter:
    """Counts bytes of values. `unknown`: those without; `bounded`: those that count with an upper bound."""

    def __init__(self, result: Inferred, upper: bool) -> None:
        self._given, self._inputs = frozenset(result._input_symbols), frozenset(result.inputs)
        self._bounds = UpperBounds()
        self._upper = upper
        self.unknown: dict[str, None] = {}
        self.bounded: dict[str, None] = {}

    def is_given(self, variable: Var) -> bool:
        """Whether sizes or elements of inputs decide a symbol."""
        return variable in self._given or element_of(variable, self._inputs)

    def sizes(self, types: Mapping[str, Value], shared: Collection[str] = (), prefix: str = "") -> dict[str, Dim]:
        """The bytes of values of the main graph, or of a body, whose name is the prefix.

        No caller can give a size to what only a turn of a body has, or that is `shared` by several calls.
        """
        found = {}
        for name, value in types.items():
            size = self._bytes(prefix + name, value, is_inner=bool(prefix) or name in shared)
            if size is not None:
                found[name] = size
        return found

    def _bytes(self, name: str, value: Value, is_inner: bool) -> Dim | None:
        if isinstance(value, OneOf):  # the larger one: which of them it is may depend on the run
            sizes = [self._of_tensor(choice, is_inner)[0] for choice in value.choices]
            known = [size for size in sizes if size is not None]
            size, is_bound = (maximum(*known) if len(known) == len(sizes) else None), True
        else:
            size, is_bound = self._of_tensor(value, is_inner)
        if size is None:
            self.unknown[name] = None
        elif is_bound:
            self.bounded[name] = None
        return size

    def _of_tensor(self, value: Value, is_inner: bool) -> tuple[Dim | None, bool]:
        """The bytes of a tensor, and whether they are only an upper bound."""
        size = byte_size(value)
        if size is None or all(map(self.is_given, variables_of([without_computed(size)]))):
            return None if size is None else without_computed(size), False
        if not self._upper and not is_inner:
            return (None if UNKNOWN_SIZE in variables_of([size]) else without_computed(size)), False
        bound = byte_size(value, self._bounds)
        assert bound is not None
        bound = without_computed(bound)
        return (bound, True) if all(map(self.is_given, variables_of([bound]))) else (None, True)


class Blocks:
    """The memory of the bodies that steps run: for each step the largest of their peaks.

    At most so many steps of functions stand in place of calls. A block of which a body is not known has no bytes: it is
    `unknown` of the counter. So is what a body does not count.
    """

    def __init__(self, counter: ByteCounter, most: int) -> None:
        self._counter, self._most = counter, most
        self._peaks: dict[tuple[GraphIndex, bool], Envelope] = {}  # by graph, and whether it is given states

    def sizes(self, steps: Iterable[ScheduledNode]) -> dict[str, Dim]:
        """The bytes of the blocks of steps, by name. Those with an upper bound are `bounded` of the counter."""
        found = self._of(steps)
        self._counter.bounded.update((name, None) for name, block in found.items() if not block.exact)
        return {name: block.size for name, block in found.items() if block.size != 0 or not block.exact}

    def _of(self, steps: Iterable[ScheduledNode]) -> dict[str, Envelope]:
        found = {step.block: self._block(step) for step in steps if step.bodies}
        self._counter.unknown.update((name, None) for name, block in found.items() if block is None)
        return {name: block for name, block in found.items() if block is not None}

    def _block(self, step: ScheduledNode) -> Envelope | None:
        known = [body for body in step.bodies if body is not None]
        if len(known) < len(step.bodies):
            return None
        for body in known:
            if (body, step.gives_states) not in self._peaks:
                for inner in body.inner_first():
                    self._enter(inner)
        found = [self._peaks[body, step.gives_states] for body in known]
        joined = envelope(ZERO.plus([size]) for one in found for size in one.sizes)
        return joined._replace(exact=joined.exact and all(one.exact for one in found))

    def _enter(self, body: GraphIndex) -> None:
        """Enter the peaks of a body, after those of the graphs inside it."""
        if (body, False) in self._peaks:
            return
        graph, schedule = body.graph, Schedule(body, self._most)
        self._most -= schedule.inlined
        name = f"{text(graph.name)}/"
        sizes = self._counter.sizes(schedule.types, prefix=name)
        given = () if body.scope.parent is None else graph.inputs  # those of a function are the values of its call
        states = self._counter.sizes({formal: body.scope[formal] for formal, _ in given}, prefix=name)
        blocks = self._of(schedule.steps)
        sizes.update((block, peak.size) for block, peak in blocks.items())
        for gives_states in (False, True):
            counted = (
                {**states, **sizes} if gives_states else {n: x for n, x in sizes.items() if n not in graph.outputs}
            )
            steps = steps_of(schedule.steps, graph.outputs if gives_states else (), counted)
            kept = states if gives_states else ()
            found = envelope(live_sums(steps, counted, kept, range(len(steps))))
            exact = found.exact and all(block.exact for block in blocks.values())
            self._peaks[body, gives_states] = found._replace(exact=exact)
