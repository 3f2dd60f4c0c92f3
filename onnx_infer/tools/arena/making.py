"""From the result of an inference to an arena plan: sizes, order of the nodes, sharing, layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from onnx_infer.errors import ArgumentError
from onnx_infer.operators.registration import registry
from onnx_infer.results.inferred import Inferred, checked_sizes
from onnx_infer.tools.arena.placing import Layout, live_peak
from onnx_infer.tools.arena.plan import ArenaPlan
from onnx_infer.tools.arena.searching import MOST_STARTS, Flow, best_layout, chosen_order
from onnx_infer.tools.arena.sharing import Place, Shared, Sharing, Step, Storage, slots_of
from onnx_infer.tools.planning.envelope import ZERO, Polynomial
from onnx_infer.tools.planning.memory import Blocks, ByteCounter
from onnx_infer.tools.planning.planner import compiled
from onnx_infer.tools.planning.samples import mixed_sizes, sample_sizes
from onnx_infer.tools.planning.scheduled import MOST_STEPS, Schedule, ScheduledNode
from symdim import ceildiv, maximum
from symdim.algebra.dims import variables_of
from symdim.algebra.texts.written import leaf_count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from onnx_infer.values.tensor import Dim, Value

Owner: TypeAlias = Literal["arena", "caller"]

LONGEST_OFFSET = 200
"""The most names in the ends of which an offset is the highest, written out."""

_MOST_COMPARED = 100_000
"""The most comparisons of two ends that shorten the offsets of a plan."""


class Options(NamedTuple):
    """The options of `InferenceResult.arena`, which has their meaning."""

    align: int = 64
    inputs: Owner = "caller"
    outputs: Owner = "arena"
    views: bool | Collection[str] = True
    in_place: bool | Collection[str] = True
    order: str | Sequence[int] = "file"
    upper: bool = True
    at: Sequence[Mapping[str, int]] | None = None
    effort: int = 300

    def check(self) -> None:
        """Raise ArgumentError for what no option can be."""
        if self.align < 1:
            raise ArgumentError(f"arena: align={self.align}: must be >= 1")
        if self.effort < 0:
            raise ArgumentError(f"arena: effort={self.effort}: must be >= 0")
        for name, owner in (("inputs", self.inputs), ("outputs", self.outputs)):
            if owner not in ("arena", "caller"):
                raise ArgumentError(f"arena: {name}={owner!r} is not an owner; write 'arena' or 'caller'")


class Work(NamedTuple):
    """What an arena is planned for: the nodes in the order of the file, the types and the bytes of their values.

    `exact`: the values whose bytes are no upper bounds. `outside`: name -> the reason. `outputs`: those of the model.
    """

    nodes: list[ScheduledNode]
    types: Mapping[str, Value]
    sizes: dict[str, Dim]
    exact: set[str]
    outside: dict[str, str]
    outputs: list[str]


def arena_plan(result: Inferred, options: Options) -> ArenaPlan:
    """The plan of one block of memory for the values of a model; see `InferenceResult.arena`."""
    options.check()
    views, in_place = _chosen(options.views, "views"), _chosen(options.in_place, "in_place")
    work = _work(result, options)
    symbols = variables_of(work.sizes.values())
    if options.at is None:
        samples = [*sample_sizes(result, symbols), *mixed_sizes(result, symbols)]
    else:
        given = [checked_sizes(sizes, symbols, result._nameable, "arena: at") for sizes in options.at]
        samples = [{v: sizes[v.name] for v in symbols} for sizes in given]
    function = compiled(symbols, work.sizes.values())
    tables = [dict(zip(work.sizes, function(*(s[v] for v in symbols)), strict=True)) for s in samples]

    def peaks(order: Sequence[int]) -> list[int]:
        storages = _shared(work, order, views, in_place).storages
        spans = [(storage.first, storage.last) for storage in storages]
        return [live_peak(spans, slots_of(storages, table, options.align)) for table in tables[:MOST_STARTS]]

    order = chosen_order(options.order, Flow(work.nodes, result.outputs), tables[:MOST_STARTS], peaks)
    shared = _shared(work, order, views, in_place)
    slots = list(dict.fromkeys(tuple(slots_of(shared.storages, table, options.align)) for table in tables))
    layout = best_layout([(s.first, s.last) for s in shared.storages], slots, options.effort)
    storages = _offsets(layout, shared.storages, work.sizes, options.align)
    of_views = {name: f"it is a view of {place.root!r}" for name, place in shared.outside_views.items()}
    outside = {**work.outside, **of_views}
    return ArenaPlan(
        shared._replace(storages=storages), layout.order,
        align=options.align, symbols=symbols, sizes=work.sizes, outside=outside, result=result,
    )  # fmt: skip


def storages_of(result: Inferred) -> list[Storage]:
    """The storages of a plan in which all that may share storage does, in the order of the file."""
    work = _work(result, Options(inputs="arena"))
    return _shared(work, range(len(work.nodes)), lambda op_type: True, lambda op_type: True).storages


def _work(result: Inferred, options: Options) -> Work:
    """The nodes with the bodies of functions in place of their calls, and the bytes of all values.

    The bodies of other nodes are one value each, which the node writes.
    """
    schedule = Schedule(result._index)
    constants = result._record.model.graph.constants
    types = {**{name: result.types[name] for name in (*constants, *result.inputs)}, **schedule.types}
    counter = ByteCounter(result, options.upper)
    sizes = counter.sizes(types, schedule.shared)
    outside = dict.fromkeys(constants, "it is a weight")
    if options.inputs == "caller":
        outside.update(dict.fromkeys(result.inputs, "it is the caller's input"))
    if options.outputs == "caller":
        for name in result.outputs:
            outside.setdefault(name, "it is the caller's output")
    for name in types:
        if name not in sizes:
            outside.setdefault(name, f"its bytes are not known: {types[name]}")
    sizes |= Blocks(counter, MOST_STEPS - schedule.inlined).sizes(schedule.steps)
    for step in schedule.steps:
        if step.block in counter.unknown:
            outside[step.block] = "its bytes are not known"
    return Work(schedule.steps, types, sizes, set(sizes) - set(counter.bounded), outside, result.outputs)


def _chosen(choice: bool | Collection[str], option: str) -> Callable[[str], bool]:
    """Whether an operator may share storage: all, none, or those that the caller names."""
    if isinstance(choice, bool):
        return lambda op_type: choice
    known = {name for _, name, _ in registry.supported()}
    if isinstance(choice, str) or not known.issuperset(choice):
        named = choice if isinstance(choice, str) else ", ".join(sorted(set(choice) - known))
        raise ArgumentError(f"arena: {option} must be True, False or a list of names of operators; not {named}")
    return frozenset(choice).__contains__


def _shared(work: Work, order: Sequence[int], views: Callable[[str], bool], in_place: Callable[[str], bool]) -> Shared:
    """What shares storage if the nodes run in this order."""
    sizes, outside = work.sizes, work.outside
    nodes = [work.nodes[number] for number in order]
    blocks = [(node.block,) if node.block in sizes else () for node in nodes]
    steps = tuple(
        Step(node.operator, node.node, number, node.reads, (*node.writes, *block), node.number)
        for node, number, block in zip(nodes, order, blocks, strict=True)
    )
    last = dict.fromkeys(sizes, -1)
    for number, step in enumerate(steps):
        last.update(dict.fromkeys((*step.writes, *step.reads), number))
    last.update(dict.fromkeys(work.outputs, len(steps)))
    sharing = Sharing(work.types, work.exact, last, frozenset(outside), views, in_place)
    made = {name for step in steps for name in step.writes}
    for name in sizes:
        if name not in made:
            sharing.add(name)
    for number, (step, node) in enumerate(zip(steps, nodes, strict=True)):
        for name in step.writes:
            if name in sizes and (name in outside or name not in node.writes):
                sharing.add(name)
        free = {name for name in node.writes if name in sizes and name not in outside}
        sharing.add_outputs(number, node, free, len(steps))
    places, outside_views = {}, {}
    for name, place in sharing.places.items():
        if place.root not in outside:
            places[name] = place
        elif name not in outside:
            outside_views[name] = place
    return Shared(steps, places, outside_views, last, _storages(places, steps, last))


def _storages(places: Mapping[str, Place], steps: Sequence[Step], last: Mapping[str, int]) -> list[Storage]:
    """The storages in the order of their births, each from the first to the last step that needs a value in it."""
    first = {name: number for number, step in enumerate(steps) for name in step.writes}
    spans: dict[str, tuple[int, int]] = {}
    for name, place in places.items():
        begin, end = spans.get(place.root, (first.get(name, -1), -1))
        spans[place.root] = min(begin, first.get(name, -1)), max(end, last[name])
    return [Storage(root, begin, end) for root, (begin, end) in spans.items()]


def _offsets(layout: Layout, storages: Sequence[Storage], sizes: Mapping[str, Dim], align: int) -> list[Storage]:
    """The storages with those that decide their offsets, without ends that another end is proved to cover.

    What is left out changes no offset at any size. After `_MOST_COMPARED` comparisons the rest stays as it is. An
    offset is None if it or one that it depends on has more than `LONGEST_OFFSET` names.
    """
    placed = list(storages)
    ends: dict[int, Polynomial] = {}  # of the storages that have an offset
    compared = 0
    for block in layout.order:
        kept: list[int] = []
        for x in layout.below[block]:
            compared += len(kept)
            if compared < _MOST_COMPARED and (end := ends.get(x)) is not None:
                if any(y in ends and ends[y].covers(end) for y in kept):
                    continue
                kept = [y for y in kept if y not in ends or not end.covers(ends[y])]
            kept.append(x)
        offset = _highest([ends.get(x) for x in kept])
        covered = tuple(x for x in layout.below[block] if x not in kept)
        placed[block] = storages[block]._replace(below=tuple(kept), covered=covered, offset=offset)
        if offset is not None:
            ends[block] = ZERO.plus([offset, ceildiv(sizes[storages[block].root], align) * align])
    return placed


def _highest(ends: Sequence[Polynomial | None]) -> Dim | None:
    """The highest of some ends as an expression; None for a long one."""
    sizes = [end.size for end in ends if end is not None]
    if len(sizes) < len(ends) or sum(map(leaf_count, sizes)) > LONGEST_OFFSET:
        return None
    return maximum(*sizes) if sizes else 0
