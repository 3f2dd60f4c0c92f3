"""The memory of the values of a model over a schedule: sizes in bytes, live ranges, and the peak.

A value is live from the node that gives it to the last node that reads it. An output of the graph stays live to the
end. A value without a reader is live during its own node. The inputs and outputs of a node are live together: nothing
is computed in place, and values do not share memory. Constants are no values; `initializers` counts them.

The nodes of a function's body stand in place of its call. The bodies of If, Loop, Scan and SequenceMap count at their
node, as one block: the largest peak of one body. The outputs of a branch are those of the If. What a Loop, a Scan or a
SequenceMap gives to a body (states, slices) and gets from it is live during the whole body, beside the outputs of the
node.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.errors import UndecidedSize, UnknownSymbol
from onnx_infer.results.guards import refuse_failing
from onnx_infer.results.inferred import Inferred, checked_sizes
from onnx_infer.results.sources import element_of, without_computed
from onnx_infer.tools.planning.envelope import ZERO, Envelope, Polynomial, envelope
from onnx_infer.tools.planning.planner import byte_size, compiled
from onnx_infer.tools.planning.scheduled import MOST_STEPS, Schedule, ScheduledNode
from onnx_infer.values.containers import OneOf
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, Value
from onnx_infer.values.text import text
from symdim import UnboundName, Var, maximum
from symdim.algebra.dims import variables_of
from symdim.errors import printable
from symdim.guarantee import UpperBounds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from onnx_infer.engine.graph_index import GraphIndex


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
        sizes = {}
        for name, value in types.items():
            size = self._bytes(prefix + name, value, is_inner=bool(prefix) or name in shared)
            if size is not None:
                sizes[name] = size
        return sizes

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
        blocks = self._of(steps)
        self._counter.bounded.update((name, None) for name, block in blocks.items() if not block.exact)
        return {name: block.size for name, block in blocks.items() if block.size != 0 or not block.exact}

    def _of(self, steps: Iterable[ScheduledNode]) -> dict[str, Envelope]:
        blocks = {step.block: self._block(step) for step in steps if step.bodies}
        self._counter.unknown.update((name, None) for name, block in blocks.items() if block is None)
        return {name: block for name, block in blocks.items() if block is not None}

    def _block(self, step: ScheduledNode) -> Envelope | None:
        known = [body for body in step.bodies if body is not None]
        if len(known) < len(step.bodies):
            return None
        for body in known:
            if (body, step.gives_states) not in self._peaks:
                for inner in body.inner_first():
                    self._enter(inner)
        peaks = [self._peaks[body, step.gives_states] for body in known]
        joined = envelope(ZERO.plus([size]) for one in peaks for size in one.sizes)
        return joined._replace(exact=joined.exact and all(one.exact for one in peaks))

    def _enter(self, body: GraphIndex) -> None:
        """Enter the peaks of a body, after those of the graphs inside it."""
        if (body, False) in self._peaks:
            return
        graph, schedule = body.graph, Schedule(body, self._most)
        self._most -= schedule.inlined
        name = f"{text(graph.name)}/"
        sizes = self._counter.sizes(schedule.types, prefix=name)
        formals = () if body.scope.parent is None else graph.inputs  # those of a function are the values of its call
        states = self._counter.sizes({formal: body.scope[formal] for formal, _ in formals}, prefix=name)
        blocks = self._of(schedule.steps)
        sizes.update((block, peak.size) for block, peak in blocks.items())
        for gives_states in (False, True):
            counted = (
                {**states, **sizes} if gives_states else {n: x for n, x in sizes.items() if n not in graph.outputs}
            )
            steps = steps_of(schedule.steps, graph.outputs if gives_states else (), counted)
            kept = states if gives_states else ()
            sums = envelope(live_sums(steps, counted, kept, range(len(steps))))
            exact = sums.exact and all(block.exact for block in blocks.values())
            self._peaks[body, gives_states] = sums._replace(exact=exact)


class Peak(NamedTuple):
    """The most bytes that are live at once, the first step with this number, and the live values there.

    It is not `exact` if the bytes of a value are not known, or if a value counts with an upper bound.
    """

    bytes: int
    step: Step
    live: tuple[str, ...]
    exact: bool = True

    def __repr__(self) -> str:
        about = "" if self.exact else "about "
        node = printable(f"{self.step.operator} '{self.step.node}'")
        return f"<Peak {about}{self.bytes} bytes at {node}, {len(self.live)} live values>"


class MemoryPlan:
    """The bytes of a model's values over the schedule of its nodes.

    `sizes`: the bytes of each counted value, as expressions. `unknown`: the values whose bytes are not known (strings,
    sequences, unknown ranks or element types, sizes in bodies that change from turn to turn); they are not counted.
    `bounded`: the values that count with an upper bound. `steps`: the schedule. A plan needs no model any more, and can
    be pickled.
    """

    def __init__(
        self,
        result: Inferred,
        *,
        inputs: bool = False,
        initializers: bool = False,
        upper: bool = False,
        inline: bool = True,
    ) -> None:
        model = result._record.model
        self._known, self._guards = result._nameable, (*result.guards, *result.data_guards)
        schedule = Schedule(result._index, MOST_STEPS if inline else 0)
        counter = ByteCounter(result, upper)
        kept = [*(result.inputs if inputs else ()), *(model.graph.constants if initializers else ())]
        types = {**{name: result.types[name] for name in kept}, **schedule.types}
        self.sizes = counter.sizes(types, schedule.shared) | Blocks(
            counter, MOST_STEPS - schedule.inlined if inline else 0
        ).sizes(schedule.steps)
        self.unknown, self.bounded = tuple(counter.unknown), tuple(counter.bounded)
        self._undecided = frozenset(v.name for v in self.symbols if not counter.is_given(v))
        self.kept = tuple(name for name in kept if name in self.sizes)
        self.steps = steps_of(schedule.steps, result.outputs, self.sizes)

    def __repr__(self) -> str:
        left_out = f", {len(self.unknown)} left out" if self.unknown else ""
        return f"MemoryPlan({len(self.steps)} steps, {len(self.sizes)} values{left_out})"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_byte_counts"}

    @property
    def is_exact(self) -> bool:
        """Whether the bytes of all values are known, and none counts with an upper bound."""
        return not self.unknown and not self.bounded

    @property
    def peak(self) -> Envelope:
        """The most bytes live at once: the maximum over the steps, as an expression.

        With many incomparable steps it is only an upper bound, and not exact; `peak_at` counts every step. The place of
        each of its sizes is the number of a step; -1 is the time before the first one.
        """
        return self._largest_sums._replace(exact=self._largest_sums.exact and self.is_exact)

    @property
    def is_bound(self) -> bool:
        """Whether the peak is an upper bound: all values have bytes or upper bounds of these, and it is not exact."""
        return not self.unknown and not self.peak.exact

    @cached_property
    def _largest_sums(self) -> Envelope:
        counted = [i for i, step in enumerate(self.steps) if step.born]
        sums = envelope(live_sums(self.steps, self.sizes, self.kept, counted))
        return sums._replace(places=tuple([-1, *counted][place] for place in sums.places))

    @property
    def live_sums(self) -> list[Polynomial]:
        """The bytes alive at each step."""
        return list(live_sums(self.steps, self.sizes, self.kept, range(len(self.steps))))[1:]

    @cached_property
    def symbols(self) -> tuple[Var, ...]:
        """The symbols in the sizes, in the order of their first occurrence."""
        return variables_of(self.sizes.values())

    @cached_property
    def _byte_counts(self) -> Callable[..., tuple[int, ...]]:
        return compiled(self.symbols, self.sizes.values())

    def bytes_at(self, bindings: Mapping[str | Var, int] | None = None, /, **sizes: int) -> dict[str, int]:
        """The bytes of each value at these sizes.

        Raises UnboundName for symbols without a size (`memory(upper=True)` needs no data-dependent ones),
        UnknownSymbol for names of no symbol, BoundsError for sizes out of bounds, and TypeError for what is not an int.
        """
        given = self._checked({**(bindings or {}), **dict(sizes.items())})
        counts = self._byte_counts(*(given[v.name] for v in self.symbols))
        return dict(zip(self.sizes, counts, strict=True))

    def _checked(self, given: Mapping[str | Var, int]) -> dict[str | Var, int]:
        named: dict[str, int] = {key.name if isinstance(key, Var) else key: size for key, size in given.items()}
        try:
            return dict(checked_sizes(named, self.symbols, self._known, "memory").items())
        except UnboundName as missing:
            if isinstance(missing, UnknownSymbol) or not self._undecided.issuperset(missing.names):
                raise
            raise UndecidedSize(missing.names, "memory(upper=True) counts with upper bounds") from None

    def live_bytes(self, counts: Mapping[str, int]) -> Iterator[int]:
        """The bytes that are live before all steps, then at each step, if the values have these numbers of bytes."""
        live = sum(counts[name] for name in self.kept)
        yield live
        for step in self.steps:
            live += sum(counts[name] for name in step.born)
            yield live
            live -= sum(counts[name] for name in step.dead)

    def peak_at(self, bindings: Mapping[str | Var, int] | None = None, /, **sizes: int) -> Peak:
        """The peak at these sizes. Raises as `bytes_at`, and ArgumentError if a required guard fails."""
        counts = self.bytes_at(bindings, **sizes)
        refuse_failing(self._guards, {**(bindings or {}), **dict(sizes.items())}, "memory")
        return self.peak_of(counts)

    def peak_of(self, counts: Mapping[str, int]) -> Peak:
        """The peak if the values have these numbers of bytes."""
        base, *sums = self.live_bytes(counts)
        if not sums:
            return Peak(base, Step("", "", (), ()), self.kept, self.is_exact)
        most = max(sums)
        at = sums.index(most)
        live = dict.fromkeys(self.kept)
        for step in self.steps[:at]:
            live.update(dict.fromkeys(step.born))
            for name in step.dead:
                del live[name]
        return Peak(most, self.steps[at], (*live, *self.steps[at].born), self.is_exact)
