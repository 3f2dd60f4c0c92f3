"""The order of blocks in memory. It is chosen at sample sizes; the offsets that follow from it hold for all sizes.

A block has a first and a last step and, at each sample, a size in slots. A placement gives each block an offset at one
sample. Its order by offsets is a layout: a block lies above the end of every live neighbour below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_infer.values.tensor import Dim

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

Size = TypeVar("Size", int, "Dim")

LARGEST = 1 << 45
"""A larger size counts as this one where an order is chosen, so that sums stay below 2**63."""


class Lives(NamedTuple):
    """The lives of blocks: for each the first and the last step, and the blocks that are live at one of these steps.

    >>> [list(map(int, others)) for others in lives_of([(0, 1), (1, 2), (2, 2)]).neighbours]
    [[1], [0, 2], [1]]
    """

    spans: Sequence[tuple[int, int]]
    neighbours: list[Numbers]


def lives_of(spans: Sequence[tuple[int, int]]) -> Lives:
    """The blocks that live together."""
    first, last = (np.array([span[i] for span in spans], np.int64) for i in (0, 1))
    neighbours = []
    for block, (begin, end) in enumerate(spans):
        together = (first <= end) & (last >= begin)
        together[block] = False
        neighbours.append(np.flatnonzero(together))
    return Lives(spans, neighbours)


def live_totals(spans: Sequence[tuple[int, int]], sizes: Sequence[Size]) -> Iterator[Size]:
    """What is live in all at each step at which that changes."""
    change: dict[int, Size] = {}
    for (first, last), size in zip(spans, sizes, strict=True):
        change[first] = change.get(first, 0) + size
        change[last + 1] = change.get(last + 1, 0) - size
    live: Size = 0
    for step in sorted(change):
        yield (live := live + change[step])


def live_peak(spans: Sequence[tuple[int, int]], slots: Sequence[int]) -> int:
    """The most slots that are live at one step. No placement needs less.

    >>> live_peak([(0, 1), (1, 2), (2, 2)], [4, 2, 3])
    6
    """
    return max(live_totals(spans, slots), default=0)


def placed(sequence: Iterable[int], lives: Lives, sizes: Sequence[int]) -> list[int]:
    """The offset of each block if blocks are placed in this sequence, each into the smallest gap that is large enough.

    >>> placed([0, 1, 2], lives_of([(0, 1), (1, 2), (2, 2)]), [4, 2, 3])
    [0, 4, 0]
    """
    counts = np.array([min(size, LARGEST) for size in sizes], np.int64)
    offsets = np.full(len(sizes), -1, np.int64)
    for block in sequence:
        around = lives.neighbours[block]
        lows = offsets[around]
        there = lows >= 0
        lows = lows[there]
        if not len(lows):
            offsets[block] = 0
            continue
        ends = lows + counts[around[there]]
        by_offset = np.argsort(lows, kind="stable")
        tops = np.maximum.accumulate(ends[by_offset])
        begins = np.concatenate(([0], tops[:-1]))
        gaps = lows[by_offset] - begins
        fitting = np.flatnonzero((gaps >= counts[block]) & (gaps > 0))
        offsets[block] = begins[fitting[np.argmin(gaps[fitting])]] if len(fitting) else tops[-1]
    return offsets.tolist()


def compacted(order: Iterable[int], below: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[int]:
    """The offset of each block from the blocks below it, in an order in which these come first."""
    offsets = [0] * len(sizes)
    for block in order:
        under = below[block]
        if under:
            offsets[block] = max([offsets[x] + sizes[x] for x in under])
    return offsets


def extent(offsets: Sequence[int], sizes: Sequence[int]) -> int:
    """The slots that a placement needs."""
    return max(map(int.__add__, offsets, sizes), default=0)


def blocks_below(order: Sequence[int], lives: Lives) -> list[list[int]]:
    """For each block its live neighbours below, without those that lie below another one of them.

    >>> blocks_below([0, 1, 2], lives_of([(0, 2), (0, 2), (0, 2)]))
    [[], [0], [1]]
    """
    rank = np.empty(len(order), np.int64)
    rank[np.array(order, np.int64)] = np.arange(len(order))
    reached = [0] * len(order)  # by rank: all that lies below, as bits
    below: list[list[int]] = [[] for _ in order]
    for place, block in enumerate(order):
        lower = rank[lives.neighbours[block]]
        bits = np.zeros(place, bool)
        bits[lower[lower < place]] = True
        left = int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
        while left:
            highest = left.bit_length() - 1
            below[block].append(order[highest])
            reached[place] |= reached[highest] | 1 << highest
            left &= ~reached[place]
    return below


class Layout(NamedTuple):
    """An order of blocks in memory, and for each block those directly below it."""

    order: list[int]
    below: list[list[int]]


def layout_of(order: list[int], lives: Lives) -> Layout:
    """The layout of blocks in this order."""
    return Layout(order, blocks_below(order, lives))


def order_of(offsets: Sequence[int], lives: Lives) -> list[int]:
    """The order of a placement. Blocks without size at this sample may have the offset of a neighbour."""
    return sorted(range(len(offsets)), key=lambda i: (offsets[i], lives.spans[i], i))
