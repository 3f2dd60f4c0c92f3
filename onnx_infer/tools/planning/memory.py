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
from onnx_infer.results.inferred import Inferred, checked_sizes, nameable
from onnx_infer.tools.planning.envelope import Envelope, Polynomial, envelope
from onnx_infer.tools.planning.live import Blocks, ByteCounter, Step, live_sums, steps_of
from onnx_infer.tools.planning.scheduled import MOST_STEPS, Schedule
from symdim import UnboundName, Var
from symdim.algebra.dims import variables_of
from symdim.compile import StraightLine, tuple_text
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


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
        self._known, self._guards = nameable(result), (*result.guards, *result.data_guards)
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
        found = envelope(live_sums(self.steps, self.sizes, self.kept, counted))
        return found._replace(places=tuple([-1, *counted][place] for place in found.places))

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
        code = StraightLine(self.symbols)
        return code.function(tuple_text([code.operand(size) for size in self.sizes.values()]))

    def bytes_at(self, bindings: Mapping[str | Var, int] | None = None, /, **sizes: int) -> dict[str, int]:
        """The bytes of each value at these sizes.

        Raises UnboundName for symbols without a size (`memory(upper=True)` needs no data-dependent ones),
        UnknownSymbol for names of no symbol, BoundsError for sizes out of bounds, and TypeError for what is not an int.
        """
        given = self._checked(_joined(bindings, sizes))
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
        refuse_failing(self._guards, _joined(bindings, sizes), "memory")
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


def _joined(bindings: Mapping[str | Var, int] | None, sizes: Mapping[str, int]) -> dict[str | Var, int]:
    joined: dict[str | Var, int] = dict(bindings or {})
    joined.update(sizes)
    return joined
