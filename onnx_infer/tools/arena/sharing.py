"""The parts of an arena plan: steps, storages, and the places of values.

Values share a storage if they are views of another value, or results in the place of an operand that ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from onnx_infer.operators.rule import NO_TRAITS, Traits
from onnx_infer.results.sources import without_computed
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from onnx_infer.tools.planning.scheduled import ScheduledNode


class Step(NamedTuple):
    """A node in the order of the plan: its operator and name, its number in the order of the file, what it reads and
    writes, and its `graph_node`: the number of the node of the main graph that it belongs to, which may be a call.
    """

    operator: str
    node: str
    number: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    graph_node: int


class Storage(NamedTuple):
    """A piece of the arena for the value `root` and those that share its storage.

    It is needed from the step `first` to the step `last`. `below`: the numbers of the storages that end below it, of
    which the highest end is its `offset`, None if that is long; `covered`: others below it, of which one of those ends
    higher at all sizes.
    """

    root: str
    first: int
    last: int
    below: tuple[int, ...] = ()
    covered: tuple[int, ...] = ()
    offset: Dim | None = 0


class Shared(NamedTuple):
    """What shares storage in one order of the nodes.

    `places`: of each value in the arena, in the order of births; `outside_views`: of views of values outside, which are
    outside, too; `last`: the last step at which each value is needed.
    """

    steps: tuple[Step, ...]
    places: dict[str, Place]
    outside_views: dict[str, Place]
    last: dict[str, int]
    storages: list[Storage]


class Buffer(NamedTuple):
    """The place of a value in the arena, for all sizes.

    `root`: the value whose storage it shares, perhaps itself; `kind`: "own", a "view" of bytes that are there, or "in
    place" of an operand. `size`: its bytes. `offset`: where it begins; None if the expression is long. `first` and
    `last`: the steps between which it is needed: an input of the model is there before step 0, at -1, and an output
    after the last step. `below`: the roots of the storages that end below its own, of which the highest end decides the
    offset.
    """

    value: str
    root: str
    kind: Kind
    size: Dim
    offset: Dim | None
    first: int
    last: int
    below: tuple[str, ...]


class PlacedBuffer(NamedTuple):
    """The place of a value at given sizes: the byte where it begins, its bytes, and the steps that need it."""

    value: str
    offset: int
    size: int
    first: int
    last: int


def slots_of(storages: Sequence[Storage], counts: Mapping[str, int], align: int) -> list[int]:
    """The size of each storage in slots of `align` bytes."""
    return [-(-counts[storage.root] // align) for storage in storages]


Kind: TypeAlias = Literal["own", "view", "in place"]


class Place(NamedTuple):
    """Where a value is stored: in the storage of `root`, so many bytes from its beginning.

    A "view" has the bytes that are there already; a value "in place" is written over those of an operand.
    """

    root: str
    start: Dim = 0
    kind: Kind = "own"


class Sharing:
    """The places of values. `places` grows node by node; values that share nothing are their own roots.

    `exact`: the values whose size is no upper bound. `fixed`: values whose storage is the caller's or a weight. Nothing
    is written over them, and an output of the model is no view of them. `last`: value -> the step of its last reader,
    or the number of steps for an output. `may_view`, `may_overwrite`: which operators may share storage in these ways.
    """

    def __init__(
        self,
        types: Mapping[str, Value],
        exact: Collection[str],
        last: Mapping[str, int],
        fixed: Collection[str],
        may_view: Callable[[str], bool],
        may_overwrite: Callable[[str], bool],
    ) -> None:
        self.types, self.exact, self.last, self.fixed = types, exact, last, fixed
        self.may_view, self.may_overwrite = may_view, may_overwrite
        self.places: dict[str, Place] = {}
        self._ends: dict[str, int] = {}  # root -> the last step that reads any of its values

    def add(self, name: str, place: Place | None = None) -> None:
        """Add a value, in the storage of another one or of its own."""
        place = self.places[name] = place or Place(name)
        self._ends[place.root] = max(self._ends.get(place.root, 0), self.last[name])

    def add_outputs(self, step: int, node: ScheduledNode, outputs: Collection[str], steps: int) -> None:
        """Add the results of a node. `outputs` are those that have a size and are not fixed."""
        traits, may_view, may_overwrite = NO_TRAITS, False, False
        if node.source is not None:
            (op_type, domain, *_), scope = node.source
            traits = scope.operators.traits(op_type, domain)
            may_view, may_overwrite = self.may_view(op_type), self.may_overwrite(op_type)
        views = self._views(node, traits) if may_view else {}
        for number, name in enumerate(node.outputs):
            if name not in outputs:
                continue
            place = views.get(number)
            if place is not None and self.last[name] == steps and place.root in self.fixed:
                place = None  # an output of the model is a copy of a weight or of the caller's input
            if place is None and number == 0 and traits.in_place and may_overwrite:
                place = self._over_operand(step, node, traits)
            self.add(name, place)

    def _views(self, node: ScheduledNode, traits: Traits) -> dict[int, Place]:
        """The results that are parts of the first operand: the number of each, and its place."""
        if traits.view is None or not node.inputs or node.inputs[0] not in self.places:
            return {}
        whole = self.places[node.inputs[0]]._replace(kind="view")
        if traits.view == "whole":
            return {0: whole}
        value = self.types[node.inputs[0]]
        bits = dt.BITS.get(value.dtype or 0, 0) if isinstance(value, SymTensor) else 0
        if not bits or bits % 8:
            return {}
        assert node.attributes is not None
        operands = [self.types.get(name) for name in node.inputs]
        made = [self.types[name] if name in self.exact else None for name in node.outputs]
        return {
            number: whole._replace(start=whole.start + without_computed(start) * (bits // 8))
            for number, start in enumerate(traits.view(operands, made, node.attributes.values))
            if start is not None and node.outputs[number] in self.exact
        }

    def _over_operand(self, step: int, node: ScheduledNode, traits: Traits) -> Place | None:
        """The place of an operand that ends here and that the first result may overwrite.

        Of operators of any number of operands it is the first one: a kernel may go through them one after the other.
        """
        assert node.source is not None
        (op_type, domain, *_), scope = node.source
        operator = scope.operators[domain, op_type]
        first_only = traits.in_place == "rows" or operator is None or any(f.variadic for f in operator.schema.inputs)
        for name in node.inputs[:1] if first_only else node.inputs:
            place = self.places.get(name)
            if place is None or place.root in self.fixed or self._ends[place.root] != step:
                continue
            others = {self.places[x].root for x in node.inputs if x != name and x in self.places}
            if place.root not in others and _same_elements(self.types[name], self.types[node.outputs[0]]):
                return place._replace(kind="in place")
        return None


def _same_elements(operand: Value, result: Value) -> bool:
    """Whether two tensors have the same sizes, and elements of as many bits."""
    if not isinstance(operand, SymTensor) or not isinstance(result, SymTensor) or operand.shape is None:
        return False
    return operand.shape == result.shape and dt.BITS.get(operand.dtype or 0) == dt.BITS.get(result.dtype or 0)
