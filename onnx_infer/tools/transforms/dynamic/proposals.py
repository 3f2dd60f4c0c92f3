"""Which axes of other inputs a person can free, so that they pin no free size.

A node may want the free size itself at an axis of an input: `mask:1=S`. Or it wants a size that is computed from it,
`state:2=128*batch`, and no axis can be freed so. Then another axis may be meant: of a state `[2, 1, 128]` the 1 is the
batch. Such axes are tried, and the one that leaves the fewest pins comes first. If none helps, the input is tied to the
size.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.tools.transforms.dynamic.pinned import Pin
from symdim import Var
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from onnx_infer.tools.transforms.dynamic.pinned import Wanted
    from onnx_infer.values.tensor import Dim, Shape


MOST_TRIALS = 16
"""The most axes of inputs that are tried for one model. Each costs the walks over it."""


class Axis(NamedTuple):
    """An axis of an input, and the symbol that it would get."""

    name: str
    at: int
    symbol: str

    def __str__(self) -> str:
        return f"{self.name}:{self.at}={self.symbol}"


class Left(NamedTuple):
    """What still pins a size if one more axis is free: axes of inputs, and the number of all pins."""

    wanted: Wanted
    number: int


class Proposals:
    """The pins of inputs. `shape` gives their traced shapes, `walked` tells what is left if one more axis is free."""

    def __init__(
        self, traced: Mapping[str, int], shape: Callable[[str], Shape], walked: Callable[[Axis], Left]
    ) -> None:
        self._traced, self._shape, self._walked = traced, shape, walked
        self._trials = 0

    def pins(self, wanted: Wanted) -> Iterator[Pin]:
        """What a person can do about the inputs at which nodes want other sizes."""
        for name in dict.fromkeys(name for name, _ in wanted):
            yield from self._of_input(name, {at: sizes for (other, at), sizes in wanted.items() if other == name})

    def _of_input(self, name: str, wanted: Mapping[int, Collection[Dim]]) -> Iterator[Pin]:
        """The pins of an input, for its axes and the sizes that nodes want there."""
        asked = [(at, size) for at, sizes in wanted.items() for size in sizes]
        named = [axis for at, size in asked for axis in self._named(name, at, size)]
        if len({axis.symbol for axis in named}) == len(asked) == len(wanted):  # each axis has a symbol of its own
            yield from map(self._pin, named)
            return
        meant = (
            axis
            for _, size in asked
            for v in variables_of([size])
            for at in range(len(self._shape(name)))
            for axis in self._named(name, at, v)
        )
        open_axes = dict.fromkeys(wanted)
        for axis, left in self._tried(named, meant):
            still = [at for at in open_axes if (name, at) in left.wanted]
            if len(still) < len(open_axes):
                open_axes = dict.fromkeys(still)
                yield self._pin(axis)
        for at in open_axes:
            size = next(iter(wanted[at]))
            cure = f"it should be {size}: the input is tied to this size and cannot be freed"
            yield Pin("", "", f"input '{name}' has {self._size(name, at)} at axis {at}", cure)

    def _pin(self, axis: Axis) -> Pin:
        why = f"input '{axis.name}' has {self._traced[axis.symbol]} at axis {axis.at}"
        return Pin("", "", why, f"free it too: {axis}")

    def _named(self, name: str, at: int, size: Dim) -> Iterator[Axis]:
        """The axis with the name of a size, if it had the traced size of this name."""
        if isinstance(size, Var) and size.name in self._traced and self._size(name, at) == self._traced[size.name]:
            yield Axis(name, at, size.name)

    def _size(self, name: str, at: int) -> Dim | None:
        shape = self._shape(name)
        return shape[at] if at < len(shape) else None

    def _tried(self, named: Collection[Axis], meant: Iterable[Axis]) -> list[tuple[Axis, Left]]:
        """The axes that can be freed, those that leave the fewest pins first."""
        found = []
        for axis in dict.fromkeys([*named, *meant]):
            if self._trials < MOST_TRIALS:
                self._trials += 1
                found.append((axis, self._walked(axis)))
            elif axis in named:  # this much is sure
                rest: Wanted = {(each.name, each.at): {} for each in named if each.at != axis.at}
                found.append((axis, Left(rest, sys.maxsize)))
        return sorted(found, key=lambda trial: trial[1].number)
