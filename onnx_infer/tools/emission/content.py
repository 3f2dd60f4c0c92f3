"""The content of an emitted function, as data: symbols, distinct sizes, values by their sizes, guards.

That of the emitted arena: places of values and the order in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.errors import ArgumentError
from onnx_infer.results.sources import without_computed
from onnx_infer.tools.arena.placing import compacted, extent
from onnx_infer.tools.arena.sharing import Storage, slots_of
from onnx_infer.tools.planning.memory import ByteCounter
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor
from symdim.algebra.dims import variables_of
from symdim.algebra.texts.printing import disambiguated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.arena.plan import ArenaPlan
    from symdim import Var
    from symdim.relations.relation import RelationKind


class Symbol(NamedTuple):
    """A symbol under a name that no other has. An `optional` one is known only in a run, if at all."""

    variable: Var
    name: str
    optional: bool


class ValueEntry(NamedTuple):
    """A value: its name, element type, and the places of its sizes among the distinct sizes."""

    name: str
    dtype: str
    axes: tuple[int, ...]


class GuardEntry(NamedTuple):
    """A guard: its texts, and the places of its two sides among the distinct sizes."""

    text: str
    law: str
    kind: str
    node: str
    relation: RelationKind
    lhs: int
    rhs: int


class Content:
    """The sizes, values and guards of a function, and the symbols that they need.

    `sizes`: the distinct sizes, numbers too; `place` adds one. `values`: the tensors of known rank. The symbols `given`
    must be known for a call. `arena`: the memory of the values, if the code is to plan it.
    """

    def __init__(self, given: Sequence[Var]) -> None:
        self._given = dict.fromkeys(given)
        self.arena: ArenaContent | None = None
        self._places: dict[Dim, int] = {}
        self.values: list[ValueEntry] = []
        self.guards: list[GuardEntry] = []

    def place(self, dim: Dim) -> int:
        """The place of a size among the distinct ones."""
        return self._places.setdefault(without_computed(dim), len(self._places))

    @property
    def sizes(self) -> list[Dim]:
        """The distinct sizes."""
        return list(self._places)

    @property
    def symbols(self) -> list[Symbol]:
        """The symbols of the input sizes, then the optional ones: sizes and elements that only a run knows."""
        others = () if self.arena is None else self.arena.variables()
        known = list(self._given | dict.fromkeys((*variables_of(self._places), *others)))
        return [Symbol(v, str(t), v not in self._given) for v, t in zip(known, disambiguated(known), strict=True)]


def content_of(result: Inferred, *, values: bool = True, arena: ArenaPlan | None = None) -> Content:
    """The guards of a result and, with `values`, its tensors of known rank. The sizes of the inputs must be given.

    Raises ArgumentError for an `arena` of another result.
    """
    given = variables_of(dim for _, dim in result.sources.axes)
    content = Content(given)
    if arena is not None:
        content.arena = arena_content(result, arena)
    for name, value in result.types.items() if values else ():
        if isinstance(value, SymTensor) and value.shape is not None and UNKNOWN_SIZE not in value.shape:
            content.values.append(ValueEntry(name, dt.text(value.dtype), tuple(map(content.place, value.shape))))
    for guard in (*result.guards, *result.data_guards):
        sides = content.place(guard.lhs), content.place(guard.rhs)
        content.guards.append(GuardEntry(str(guard), guard.law, guard.kind, guard.node, guard.relation, *sides))
    return content


class PlaceEntry(NamedTuple):
    """A value: its name, how it is stored, the number of the value whose storage it has, and the steps that need it.

    `kind`: "arena" for a storage of its own, "view", "in place", "caller", "constant", or "outside" if its bytes are
    not known.
    """

    name: str
    kind: str
    root: int
    first: int
    last: int


class ArenaContent(NamedTuple):
    """An arena: its alignment, places, the order of the nodes, its storages from the lowest to the highest.

    The first `placed` of the `places` lie in the arena. `layout`: the number of each storage's value, and those of the
    values whose storages end below it. `changes`: the births and deaths of storages in the order of the steps: the
    number of a value, and `~number` when its storage ends. `bytes`: those of all places, None if they are not known.
    `starts`: where views begin in their storages, if not at the first byte. `at_most`: bytes that are enough for all
    sizes within the bounds of the symbols, or None.
    """

    align: int
    order: tuple[int, ...]
    places: list[PlaceEntry]
    placed: int
    layout: list[tuple[int, list[int]]]
    changes: list[int]
    bytes: list[Dim | None]
    starts: dict[int, Dim]
    at_most: int | None

    def variables(self) -> tuple[Var, ...]:
        """The symbols in its sizes."""
        return variables_of(size for size in (*self.bytes, *self.starts.values()) if size is not None)


def arena_content(result: Inferred, plan: ArenaPlan) -> ArenaContent:
    """The content of the arena of a plan.

    Raises ArgumentError for a plan of another result, and for an alignment that is no `int` of C.
    """
    if plan.align >= 1 << 31:
        raise ArgumentError(f"emit: an alignment to {plan.align} bytes is too large")
    guards = (*result.guards, *result.data_guards)
    inputs = ByteCounter(result, upper=False).sizes({name: result.types[name] for name in result.inputs})
    numbers = {name: number for number, name in enumerate(plan._first)}
    known = inputs.items() <= plan._sizes.items() and numbers.keys() >= {*result.inputs, *result.outputs}
    if guards != plan._guards or not known:
        raise ArgumentError("emit: the arena is one of another result")
    graph = result._record.model.graph
    callers = {*result.inputs, *result.outputs}
    everywhere = {**plan._places, **plan._outside_views}
    places, starts = [], {}
    for name, number in numbers.items():
        place = everywhere.get(name)
        if place is not None:
            kind: str = "arena" if place.kind == "own" else place.kind
            if place.start != 0:
                starts[number] = without_computed(place.start)
        else:
            kind = "constant" if name in graph.constants else "caller" if name in callers else "outside"
        root = numbers[place.root] if place is not None else number
        places.append(PlaceEntry(name, kind, root, plan._first[name], plan._last[name]))
    roots = [numbers[storage.root] for storage in plan.storages]
    layout = [(roots[i], [roots[x] for x in plan.storages[i].below]) for i in plan._layout]
    sizes = {name: without_computed(size) for name, size in plan._sizes.items()}
    return ArenaContent(
        plan.align, plan.order, places, len(plan._places), layout, _changes(plan.storages, roots),
        [sizes.get(name) for name in numbers], starts, _at_most(plan, sizes),
    )  # fmt: skip


def _changes(storages: Sequence[Storage], roots: Sequence[int]) -> list[int]:
    """The births and deaths of storages. At a step, those that ended before it come first."""
    deaths = [(storage.last + 1, 0, ~root) for storage, root in zip(storages, roots, strict=True)]
    births = [(storage.first, 1, root) for storage, root in zip(storages, roots, strict=True)]
    return [change for *_, change in sorted(deaths + births)]


def _at_most(plan: ArenaPlan, sizes: Mapping[str, Dim]) -> int | None:
    """The size of the arena if each storage has its largest size: offsets grow with the sizes below them."""
    largest: dict[str, int] = {}
    for storage in plan.storages:
        size = sizes[storage.root]
        high = size if isinstance(size, int) else size.bounds()[1]
        if high is None:
            return None
        largest[storage.root] = high
    slots = slots_of(plan.storages, largest, plan.align)
    return extent(compacted(plan._layout, [storage.below for storage in plan.storages], slots), slots) * plan.align
