"""The content of an emitted function, as data: symbols, distinct sizes, values by their sizes, guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.results.sources import without_computed
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor
from symdim.algebra.dims import variables_of
from symdim.algebra.texts.printing import disambiguated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_infer.results.inferred import Inferred
    from onnx_infer.tools.arena.plan import ArenaPlan
    from onnx_infer.tools.emission.arena_content import ArenaContent
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
        found = list(self._given | dict.fromkeys((*variables_of(self._places), *others)))
        return [Symbol(v, str(t), v not in self._given) for v, t in zip(found, disambiguated(found), strict=True)]


def content_of(result: Inferred, *, values: bool = True, arena: ArenaPlan | None = None) -> Content:
    """The guards of a result and, with `values`, its tensors of known rank. The sizes of the inputs must be given.

    Raises ArgumentError for an `arena` of another result.
    """
    given = variables_of(dim for _, dim in result.sources.axes)
    content = Content(given)
    if arena is not None:
        from onnx_infer.tools.emission.arena_content import arena_content

        content.arena = arena_content(result, arena, given)
    for name, value in result.types.items() if values else ():
        if isinstance(value, SymTensor) and value.shape is not None and UNKNOWN_SIZE not in value.shape:
            content.values.append(ValueEntry(name, dt.text(value.dtype), tuple(map(content.place, value.shape))))
    for guard in (*result.guards, *result.data_guards):
        sides = content.place(guard.lhs), content.place(guard.rhs)
        content.guards.append(GuardEntry(str(guard), guard.law, guard.kind, guard.node, guard.relation, *sides))
    return content
