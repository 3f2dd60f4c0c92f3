"""What is live at each step: the bytes of values, and those of bodies that count as one block at their node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.results.sources import element_of, without_computed
from onnx_infer.tools.planning.envelope import ZERO, Envelope, Polynomial, envelope
from onnx_infer.tools.planning.planner import byte_size
from onnx_infer.values.tensor import UNKNOWN_SIZE, OneOf
from onnx_infer.values.text import text
from symdim import Var, maximum
from symdim.algebra.dims import variables_of
from symdim.guarantee import UpperBounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.planning.scheduled import Bodies, ScheduledNode, Steps
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
        block = (block_name(node),) if node.bodies and block_name(node) in sizes else ()
        made = tuple(name for name in node.writes if name in sizes)
        steps.append(Step(node.operator, node.node, (*made, *block), (*dying, *block), node.number))
    return steps


class ByteCounter:
    """Counts bytes of values. `unknown`: those without; `bounded`: those that count with an upper bound."""

    def __init__(self, result: Inferred, upper: bool) -> None:
        self._symbols, self._inputs = result.sources.symbols, frozenset(result.inputs)
        self._bounds = UpperBounds()
        self._upper = upper
        self.unknown: dict[str, None] = {}
        self.bounded: dict[str, None] = {}

    def is_given(self, variable: Var) -> bool:
        """Whether sizes or elements of inputs decide a symbol."""
        return variable in self._symbols or element_of(variable, self._inputs)

    def sizes(self, types: Mapping[str, Value], prefix: str = "") -> dict[str, Dim]:
        """The bytes of values of the main graph, or of a body, whose name is the prefix."""
        found = {}
        for name, value in types.items():
            size = self._bytes(prefix + name, value, is_inner=bool(prefix))
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
        """The bytes of a tensor, and whether they are only an upper bound.

        No caller can give a size to a symbol that only a turn of a body has.
        """
        size = byte_size(value)
        if size is None or all(map(self.is_given, variables_of([without_computed(size)]))):
            return None if size is None else without_computed(size), False
        if not self._upper and not is_inner:
            return (None if UNKNOWN_SIZE in variables_of([size]) else without_computed(size)), False
        bound = byte_size(value, self._bounds)
        assert bound is not None
        bound = without_computed(bound)
        return (bound, True) if all(map(self.is_given, variables_of([bound]))) else (None, True)


def body_blocks(
    schedule: Steps, bodies: Bodies, counter: ByteCounter, nodes: Sequence[ScheduledNode]
) -> dict[int, tuple[str, Envelope]]:
    """Number of a step that runs bodies -> the name of their block, and the largest of their peaks."""
    peaks: dict[tuple[int, bool], Envelope] = {}  # by graph, and whether it is given states

    def block_of(node: ScheduledNode) -> Envelope:
        found = [peaks[key, node.gives_states] for key in node.bodies if (key, node.gives_states) in peaks]
        joined = envelope(ZERO.plus([size]) for one in found for size in one.sizes)
        is_exact = len(found) == len(node.bodies) and all(one.exact for one in found)
        return joined._replace(exact=joined.exact and is_exact)

    for key in bodies.inner_first():
        graph, scope = bodies.graphs[key]
        inner, types = schedule.of_body(key)
        name = f"{text(graph.name)}/"
        sizes = counter.sizes(types, name)
        states = counter.sizes({formal: scope[formal] for formal, _ in graph.inputs}, name)
        blocks = {place: block_of(node) for place, node in enumerate(inner) if node.bodies}
        sizes.update((block_name(inner[place]), block.size) for place, block in blocks.items())
        for gives_states in (False, True):
            counted = (
                {**states, **sizes} if gives_states else {n: x for n, x in sizes.items() if n not in graph.outputs}
            )
            steps = steps_of(inner, graph.outputs if gives_states else (), counted)
            kept = states if gives_states else ()
            found = envelope(live_sums(steps, counted, kept, range(len(steps))))
            peaks[key, gives_states] = found._replace(exact=found.exact and all(b.exact for b in blocks.values()))
    named = {place: (block_name(node), block_of(node)) for place, node in enumerate(nodes) if node.bodies}
    return {place: (name, block) for place, (name, block) in named.items() if block.size != 0 or not block.exact}


def block_name(node: ScheduledNode) -> str:
    """The name of the memory that the bodies of a node need."""
    return f"bodies of {node.node}"
