"""A plan of one block of memory for the values of a model: for all sizes, and in numbers at given sizes.

A second look at a plan works out what lives together anew, from what each step reads and writes.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from onnx_infer.errors import ArgumentError, PlanError
from onnx_infer.results.guards import refuse_failing
from onnx_infer.results.inferred import checked_sizes
from onnx_infer.tools.arena.placing import compacted, extent, live_peak
from onnx_infer.tools.arena.sharing import Buffer, PlacedBuffer, Step, Storage, slots_of
from symdim import ceildiv, maximum
from symdim.algebra.dims import at_least
from symdim.compile import StraightLine, tuple_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from onnx import ModelProto

    from onnx_infer.results.guards import Guard
    from onnx_infer.tools.arena.sharing import Place
    from onnx_infer.values.tensor import Dim
    from symdim import Var


class PlacedArena:
    """An arena at given sizes.

    `buffers`: the values in the order of their births. `size`: the bytes of the arena. `lower_bound`: the most bytes of
    storages that are needed at one step, each rounded up to the alignment; no placement needs less.
    """

    def __init__(self, buffers: tuple[PlacedBuffer, ...], roots: Mapping[str, str], size: int, bound: int) -> None:
        self.buffers, self.size, self.lower_bound = buffers, size, bound
        self._roots = roots

    def __repr__(self) -> str:
        return f"<PlacedArena of {self.size} bytes, {len(self.buffers)} buffers>"

    def root(self, value: str) -> str:
        """The value whose storage a value shares; itself if it shares none. Raises KeyError for values outside."""
        return self._roots[value]


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
        *,
        align: int,
        symbols: Sequence[Var],
        steps: tuple[Step, ...],
        outputs: tuple[str, ...],
        outside: Mapping[str, str],
        sizes: Mapping[str, Dim],
        places: Mapping[str, Place],
        outside_views: Mapping[str, Place],
        last: Mapping[str, int],
        storages: Sequence[Storage],
        layout: Sequence[int],
        guards: Collection[Guard],
        known: Mapping[str, Var],
    ) -> None:
        self.align, self.symbols, self.steps, self.outputs = align, tuple(symbols), steps, outputs
        self.outside, self.storages = dict(outside), tuple(storages)
        self._sizes, self._places, self._layout = dict(sizes), dict(places), tuple(layout)
        self._outside_views = dict(outside_views)
        self._guards, self._known = tuple(guards), dict(known)
        names = (*places, *outside)
        self._last = {name: last.get(name, -1) for name in names}
        first = {name: number for number, step in enumerate(steps) for name in step.writes}
        self._first = {name: first.get(name, -1) for name in names}

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
        found = []
        for name, (root, start, kind) in self._places.items():
            storage = self.storages[number[root]]
            below = tuple(self.storages[i].root for i in storage.below)
            offset = None if storage.offset is None else storage.offset + start
            found.append(
                Buffer(name, root, kind, self._sizes[name], offset, self._first[name], self._last[name], below)
            )
        return tuple(found)

    def root(self, value: str) -> str:
        """The value whose storage a value shares; itself if it shares none. Raises KeyError for values outside."""
        return self._places[value].root

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
        live: Dim = 0
        change: dict[int, Dim] = {}
        for storage in self.storages:
            size = ceildiv(self._sizes[storage.root], self.align) * self.align
            change[storage.first] = change.get(storage.first, 0) + size
            change[storage.last + 1] = change.get(storage.last + 1, 0) - size
        found: dict[Dim, None] = {}
        for step in sorted(change):
            live = live + change[step]
            found[live] = None
        return maximum(*found) if found else 0

    def at(self, sizes: Mapping[str, int] | None = None, /, **named: int) -> PlacedArena:
        """The plan in numbers at these sizes, by name.

        Raises UnboundName for missing sizes, UnknownSymbol for names of no symbol, BoundsError for sizes out of bounds,
        and ArgumentError for sizes at which the model does not run because a required guard fails, at which tensors may
        have other sizes because an assumed guard fails, or at which a value would have less than no bytes.
        """
        given = checked_sizes({**(sizes or {}), **named}, self.symbols, self._known, "arena")
        bound: dict[str | Var, int] = dict(given.items())
        refuse_failing(self._guards, bound, "arena", exact=True)
        counts, starts = self._function(*(given[v.name] for v in self.symbols))
        table = dict(zip(self._places, counts, strict=True))
        if negative := [name for name, count in table.items() if count < 0]:
            raise ArgumentError(f"arena: {negative[0]!r} has no size there: {table[negative[0]]} bytes")
        slots = slots_of(self.storages, table, self.align)
        offsets = compacted(self._layout, [storage.below for storage in self.storages], slots)
        where = {storage.root: offset for storage, offset in zip(self.storages, offsets, strict=True)}
        roots = {name: place.root for name, place in self._places.items()}
        buffers = tuple(
            PlacedBuffer(
                name, where[roots[name]] * self.align + start, table[name], self._first[name], self._last[name]
            )
            for name, start in zip(self._places, starts, strict=True)
        )
        spans = [(storage.first, storage.last) for storage in self.storages]
        return PlacedArena(buffers, roots, extent(offsets, slots) * self.align, live_peak(spans, slots) * self.align)

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
        docs/planning.md describes the entries. Raises ArgumentError for a model without the nodes of the plan.
        """
        from onnx_infer.tools.arena.annotating import annotate

        facts = {"align": self.align, "size": self.size}
        annotate(model, self.steps, self.storages, self.buffers, self._places, facts)
        return model

    def verify(self) -> Verified:
        """Check the plan once more, from what the steps read and write. Raises PlanError."""
        ends = [self.end(storage) for storage in self.storages]
        return verify(self.steps, self.storages, ends, self._places, self.outputs)


class Verified(NamedTuple):
    """What was checked: the steps, the pairs of storages that are needed at one step, and the storages that
    do not decide an offset because another end is proved to be higher at all sizes.
    """

    steps: int
    pairs: int
    by_proof: int


def verify(
    steps: Sequence[Step],
    storages: Sequence[Storage],
    ends: Sequence[Dim | None],
    places: Mapping[str, Place],
    outputs: Iterable[str],
) -> Verified:
    """Check that of two storages that are needed at one step, one lies below the other, and that none is overwritten.

    Raises PlanError with the step and the two values. The lives of values are worked out from the steps and the outputs
    of the model; those that the plan was made of are not used. `ends`: where each storage ends.
    """
    number = {storage.root: i for i, storage in enumerate(storages)}
    below = _all_below(storages, ends)
    needed = _needed_after(steps, {name for name in outputs if name in places}, places)
    seen: set[tuple[int, int]] = set()
    made = {name for step in steps for name in step.writes}
    present = {name for name in places if name not in made}  # inputs of the model
    for i, step in enumerate(steps):
        written = [name for name in step.writes if name in places]
        for name in written:
            if places[name].kind != "in place":
                continue
            for other in sorted(needed[i] & present):
                if places[other].root == places[name].root:
                    raise PlanError(f"{_where(step)}: {name!r} is written over {other!r}, which is read later")
        present.update(written)
        live = sorted({number[places[name].root] for name in present})
        for a, b in combinations(live, 2):
            if (a, b) not in seen:
                seen.add((a, b))
                if not (below[a] >> b & 1 or below[b] >> a & 1):
                    raise PlanError(f"{_where(step)}: {storages[a].root!r} and {storages[b].root!r} may overlap")
        present &= needed[i]
    return Verified(len(steps), len(seen), sum(len(storage.covered) for storage in storages))


def _where(step: Step) -> str:
    return f"{step.operator} {step.node!r}"


def _all_below(storages: Sequence[Storage], ends: Sequence[Dim | None]) -> list[int]:
    """For each storage all that lie below it, directly or through others, as bits. Raises PlanError if one does not."""
    found: dict[int, int] = {}
    for start in range(len(storages)):
        path = [start]
        while path:
            block = path[-1]
            storage = storages[block]
            under = (*storage.below, *storage.covered)
            missing = next((x for x in under if x not in found), None)
            if missing is not None:
                if missing in path:
                    raise PlanError(f"{storage.root!r} lies below itself")
                path.append(missing)
                continue
            path.pop()
            found[block] = 0
            for x in under:
                found[block] |= found[x] | 1 << x
            for x in storage.covered:
                if not any(_is_higher(ends[y], ends[x]) for y in storage.below):
                    raise PlanError(f"the end of {storages[x].root!r} may be above the offset of {storage.root!r}")
    return [found[i] for i in range(len(storages))]


def _is_higher(end: Dim | None, other: Dim | None) -> bool:
    return end is not None and other is not None and at_least(end - other, 0)


def _needed_after(steps: Sequence[Step], outputs: set[str], places: Mapping[str, Place]) -> list[set[str]]:
    """For each step the values in the arena that a later step reads, or that are outputs of the model."""
    needed, found = set(outputs), list[set[str]]()
    for step in reversed(steps):
        found.append(set(needed))
        needed |= {name for name in step.reads if name in places}
    return found[::-1]
