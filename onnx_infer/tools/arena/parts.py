"""The parts of an arena plan: steps, storages, and the places of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.tools.arena.sharing import Kind
    from onnx_infer.values.tensor import Dim


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
