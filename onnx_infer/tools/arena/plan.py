"""A plan of one block of memory for the values of a model: for all sizes, in numbers at given sizes, and as metadata.

A second look at a plan works out what lives together anew, from what each step reads and writes.
"""

from __future__ import annotations

import json
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx import GraphProto, ModelProto, NodeProto

from onnx_infer.errors import ArgumentError, PlanError
from onnx_infer.protobuf.names import ARENA
from onnx_infer.results.guards import refuse_failing
from onnx_infer.results.inferred import Inferred, checked_sizes
from onnx_infer.tools.arena.placing import compacted, extent, live_peak, live_totals
from onnx_infer.tools.arena.sharing import Buffer, PlacedBuffer, Shared, Step, Storage, slots_of
from onnx_infer.values.text import text
from symdim import Var, ceildiv, maximum
from symdim.algebra.dims import at_least
from symdim.compile import StraightLine, tuple_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.values.tensor import Dim

VERSION = 1
"""The version of the metadata. It is increased if an entry is removed or changes its meaning."""

_LONGEST = 1_000
"""The most characters of an offset in metadata; a longer one is left out, and `below` gives it."""


class PlacedArena(NamedTuple):
    """An arena at given sizes.

    `buffers`: the values in the order of their births. `size`: the bytes of the arena. `lower_bound`: the most bytes of
    storages that are needed at one step, each rounded up to the alignment; no placement needs less.
    """

    buffers: tuple[PlacedBuffer, ...]
    size: int
    lower_bound: int

    def __repr__(self) -> str:
        return f"<PlacedArena of {self.size} bytes, {len(self.buffers)} buffers>"


class ArenaPlan:
    """Offsets for the values of a model in one block of memory. They are valid for all sizes by construction.

    A storage lies above the end of every storage below it that is needed at the same time, and of two such storages one
    is below the other. So no sizes can make them overlap.

    `align`: every storage begins at a multiple of so many bytes. `symbols`: those that decide the plan. `steps`: the
    nodes in their order. `outside`: the values without a place in the arena, each with the reason. `storages`: the
    pieces of the arena. A plan needs no model any more, and can be pickled.
    """

    def __init__(
        self,
        shared: Shared,
        layout: Sequence[int],
        *,
        align: int,
        symbols: tuple[Var, ...],
        sizes: dict[str, Dim],
        outside: dict[str, str],
        result: Inferred,
    ) -> None:
        self.align, self.symbols, self.steps, self.outputs = align, symbols, shared.steps, tuple(result.outputs)
        self.outside, self.storages = outside, tuple(shared.storages)
        self._sizes, self._places, self._layout = sizes, shared.places, tuple(layout)
        self._outside_views = shared.outside_views
        self._guards, self._known = (*result.guards, *result.data_guards), result._nameable
        first = {name: number for number, step in enumerate(self.steps) for name in step.writes}
        self._first, self._last = (
            {name: of.get(name, -1) for name in (*self._places, *outside)} for of in (first, shared.last)
        )

    def __repr__(self) -> str:
        return f"ArenaPlan({len(self._places)} values in {len(self.storages)} storages, {len(self.outside)} outside)"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_function"}

    @property
    def order(self) -> tuple[int, ...]:
        """The numbers of the nodes in the order of the plan, as `arena(order=...)` takes them.

        Nodes that are constants have no number; those of functions have one each, in place of their calls.
        """
        return tuple(step.number for step in self.steps)

    @property
    def layout(self) -> tuple[int, ...]:
        """The numbers of the storages, each after those below it: the order in which offsets can be computed."""
        return self._layout

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """The places of all values in the arena, in the order of their births."""
        number = {storage.root: i for i, storage in enumerate(self.storages)}
        buffers = []
        for name, (root, start, kind) in self._places.items():
            storage = self.storages[number[root]]
            below = tuple(self.storages[i].root for i in storage.below)
            offset = None if storage.offset is None else storage.offset + start
            buffers.append(
                Buffer(name, root, kind, self._sizes[name], offset, self._first[name], self._last[name], below)
            )
        return tuple(buffers)

    @cached_property
    def size(self) -> Dim | None:
        """The bytes of the arena, as an expression; None if that is long. `at` and emitted code have the number."""
        ends = dict.fromkeys(map(self.end, self.storages))
        known = [end for end in ends if end is not None]
        return None if len(known) < len(ends) else maximum(*known) if known else 0

    def end(self, storage: Storage) -> Dim | None:
        """Where a storage ends: its offset and its bytes, rounded up to the alignment. None if its offset is long."""
        if storage.offset is None:
            return None
        return storage.offset + ceildiv(self._sizes[storage.root], self.align) * self.align

    @cached_property
    def lower_bound(self) -> Dim:
        """The most bytes of storages that are needed at one step. No placement of these storages needs less."""
        sizes = [ceildiv(self._sizes[storage.root], self.align) * self.align for storage in self.storages]
        totals = dict.fromkeys(live_totals(self._spans, sizes))
        return maximum(*totals) if totals else 0

    @property
    def _spans(self) -> list[tuple[int, int]]:
        return [(storage.first, storage.last) for storage in self.storages]

    def at(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> PlacedArena:
        """The plan in numbers at these sizes, by name.

        Raises UnboundName for missing sizes, UnknownSymbol for names of no symbol, BoundsError for sizes out of bounds,
        and ArgumentError for sizes at which the model does not run because a required guard fails, at which tensors may
        have other sizes because an assumed guard fails, or at which a value would have less than no bytes.
        """
        given = checked_sizes({**(sizes or {}), **named}, self.symbols, self._known, "arena")
        refuse_failing(self._guards, dict(given.items()), "arena", exact=True)
        counts, starts = self._function(*(given[v.name] for v in self.symbols))
        table = dict(zip(self._places, counts, strict=True))
        if negative := [name for name, count in table.items() if count < 0]:
            raise ArgumentError(f"arena: {negative[0]!r} has no size there: {table[negative[0]]} bytes")
        slots = slots_of(self.storages, table, self.align)
        offsets = compacted(self._layout, [storage.below for storage in self.storages], slots)
        where = {storage.root: offset for storage, offset in zip(self.storages, offsets, strict=True)}
        buffers = tuple(
            PlacedBuffer(name, where[root] * self.align + start, table[name], self._first[name], self._last[name])
            for (name, (root, _, _)), start in zip(self._places.items(), starts, strict=True)
        )
        bound = live_peak(self._spans, slots) * self.align
        return PlacedArena(buffers, extent(offsets, slots) * self.align, bound)

    @cached_property
    def _function(self) -> Callable[..., tuple[tuple[int, ...], tuple[int, ...]]]:
        """The bytes of each value, and where it begins in its storage."""
        code = StraightLine(self.symbols)
        counts = tuple_text([code.operand(self._sizes[name]) for name in self._places])
        starts = tuple_text([code.operand(place.start) for place in self._places.values()])
        return code.function(f"{counts}, {starts}")

    def annotate(self, model: ModelProto) -> ModelProto:
        """Write the plan into the metadata of the model it is of; its nodes get the order of the plan. Return it.

        Write the types first (`result.apply`): values without a value info are listed in the metadata of the model.
        docs/planning.md describes the entries. Raises ArgumentError for a model without the nodes of the plan, and if
        steps of a function's body stand between other steps: then no order of the calls is that of the plan.
        """
        graph = model.graph
        numbers = _reordered(self.steps, graph)
        infos = {text(info.name): info for infos in (graph.value_info, graph.output, graph.input) for info in infos}
        without: dict[str, Mapping[str, str]] = {}
        for info in infos.values():
            _write(info.metadata_props, {})  # entries of an earlier plan
        for name, entries in _entries(self).items():
            if name in infos:
                _write(infos[name].metadata_props, entries)
            else:
                without[name] = entries
        facts = {"version": VERSION, "align": self.align, "size": self.size, "steps": " ".join(map(str, numbers))}
        facts["values"] = json.dumps(without) if without else None
        _write(model.metadata_props, {name: str(fact) for name, fact in facts.items() if fact is not None})
        return model

    # -- the second look ----------------------------------------------------------------------------------------------

    def verify(self) -> Verified:
        """Check that of two storages that are needed at one step, one lies below the other, and none is overwritten.

        Raises PlanError with the step and the two values. The lives of values are worked out from what the steps read
        and write and from the outputs of the model; those that the plan was made of are not used.
        """
        places, storages = self._places, self.storages
        number = {storage.root: i for i, storage in enumerate(storages)}
        below = self._all_below()
        needed = self._needed_after()
        seen: set[tuple[int, int]] = set()
        made = {name for step in self.steps for name in step.writes}
        present = {name for name in places if name not in made}  # inputs of the model
        for step, later in zip(self.steps, needed, strict=True):
            where = f"{step.operator} {step.node!r}"
            written = [name for name in step.writes if name in places]
            for name in written:
                if places[name].kind != "in place":
                    continue
                for other in sorted(later & present):
                    if places[other].root == places[name].root:
                        raise PlanError(f"{where}: {name!r} is written over {other!r}, which is read later")
            present.update(written)
            live = sorted({number[places[name].root] for name in present})
            for a, b in combinations(live, 2):
                if (a, b) not in seen:
                    seen.add((a, b))
                    if not (below[a] >> b & 1 or below[b] >> a & 1):
                        raise PlanError(f"{where}: {storages[a].root!r} and {storages[b].root!r} may overlap")
            present &= later
        return Verified(len(self.steps), len(seen), sum(len(storage.covered) for storage in storages))

    def _all_below(self) -> list[int]:
        """For each storage all that lie below it, directly or through others, as bits. PlanError if one does not."""
        storages, ends = self.storages, [self.end(storage) for storage in self.storages]
        lower: dict[int, int] = {}
        for start in range(len(storages)):
            path = [start]
            while path:
                block = path[-1]
                storage = storages[block]
                under = (*storage.below, *storage.covered)
                missing = next((x for x in under if x not in lower), None)
                if missing is not None:
                    if missing in path:
                        raise PlanError(f"{storage.root!r} lies below itself")
                    path.append(missing)
                    continue
                path.pop()
                lower[block] = 0
                for x in under:
                    lower[block] |= lower[x] | 1 << x
                for x in storage.covered:
                    if not any(_is_higher(ends[y], ends[x]) for y in storage.below):
                        raise PlanError(f"the end of {storages[x].root!r} may be above the offset of {storage.root!r}")
        return [lower[i] for i in range(len(storages))]

    def _needed_after(self) -> list[set[str]]:
        """For each step the values in the arena that a later step reads, or that are outputs of the model."""
        needed, needed_after = self._places.keys() & self.outputs, list[set[str]]()
        for step in reversed(self.steps):
            needed_after.append(set(needed))
            needed |= self._places.keys() & step.reads
        return needed_after[::-1]


class Verified(NamedTuple):
    """What was checked: the steps, the pairs of storages that are needed at one step, and the storages that
    do not decide an offset because another end is proved to be higher at all sizes.
    """

    steps: int
    pairs: int
    by_proof: int


def _is_higher(end: Dim | None, other: Dim | None) -> bool:
    return end is not None and other is not None and at_least(end - other, 0)


# -- metadata ----------------------------------------------------------------------------------------------------------


def _entries(plan: ArenaPlan) -> dict[str, dict[str, str]]:
    """The entries of each value in the arena. Only the root of a buffer says what lies below."""
    numbers = {storage.root: number for number, storage in enumerate(plan.storages)}
    entries_of = {}
    for buffer in plan.buffers:
        number = numbers[buffer.root]
        facts = {
            "buffer": number, "kind": buffer.kind, "start": plan._places[buffer.value].start, "bytes": buffer.size,
            "first": buffer.first, "last": buffer.last,
        }  # fmt: skip
        entries = {name: str(fact) for name, fact in facts.items()}
        if buffer.offset is not None and len(offset := str(buffer.offset)) <= _LONGEST:
            entries["offset"] = offset
        if buffer.root == buffer.value:
            entries["below"] = " ".join(map(str, plan.storages[number].below))
        entries_of[buffer.value] = entries
    return entries_of


def _write(properties: Any, entries: Mapping[str, str]) -> None:
    """Let these be the entries of a plan in a list of properties."""
    others = [(entry.key, entry.value) for entry in properties if not entry.key.startswith(ARENA)]
    del properties[:]
    for key, value in [*others, *((f"{ARENA}{name}", value) for name, value in entries.items())]:
        properties.add(key=key, value=value)


def _reordered(steps: Sequence[Step], graph: GraphProto) -> list[int]:
    """Put the nodes into the order of the plan, constants first. For each step the number of its node afterwards."""
    order = [
        step.graph_node
        for place, step in enumerate(steps)
        if not place or steps[place - 1].graph_node != step.graph_node
    ]
    if len(order) != len(set(order)):
        raise ArgumentError("annotate: nodes of a function stand between others; inline the function first")
    places = _places(steps, graph)
    if missing := next((step for step in steps if step.graph_node not in places), None):
        raise ArgumentError(f"annotate: the model has no node {missing.operator} {missing.node!r}")
    if sorted(order, key=places.__getitem__) != order:
        _permute(graph, order, places)
        places = _places(steps, graph)
    return [places[step.graph_node] for step in steps]


def _places(steps: Iterable[Step], graph: GraphProto) -> dict[int, int]:
    """The number of a node in the plan -> its place in a graph, by what it writes."""
    maker = {text(name): place for place, node in enumerate(graph.node) for name in node.output if name}
    return {step.graph_node: maker[name] for step in steps for name in step.writes if name in maker}


def _permute(graph: GraphProto, order: Sequence[int], places: Mapping[int, int]) -> None:
    """Nodes that are constants, which read nothing, come first; then the others in this order."""
    ordered = [places[number] for number in order]
    others = sorted(set(range(len(graph.node))) - set(ordered))
    nodes = [NodeProto.FromString(graph.node[place].SerializeToString()) for place in (*others, *ordered)]
    del graph.node[:]
    graph.node.extend(nodes)
