"""The order of blocks in memory. It is chosen at sample sizes; the offsets that follow from it hold for all sizes.

A block has a first and a last step and, at each sample, a size in slots. A placement gives each block an offset at one
sample. Its order by offsets is a layout: a block lies above the end of every live neighbour below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

_MOST_VISITED = 200_000_000
"""The most visits of neighbours in the search of a layout: a few seconds, for models of thousands of values."""

_LARGEST = 1 << 45
"""A larger size counts as this one where an order is chosen, so that sums stay below 2**63."""

_CLOSE = 1.02
"""A layout within this ratio of the live peak at every sample is good enough."""


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


def live_peak(spans: Sequence[tuple[int, int]], sizes: Sequence[int]) -> int:
    """The most slots that are live at one step. No placement needs less.

    >>> live_peak([(0, 1), (1, 2), (2, 2)], [4, 2, 3])
    6
    """
    change: dict[int, int] = {}
    for (first, last), size in zip(spans, sizes, strict=True):
        change[first] = change.get(first, 0) + size
        change[last + 1] = change.get(last + 1, 0) - size
    live = most = 0
    for step in sorted(change):
        live += change[step]
        most = max(most, live)
    return most


def placed(sequence: Iterable[int], lives: Lives, sizes: Sequence[int]) -> list[int]:
    """The offset of each block if blocks are placed in this sequence, each into the smallest gap that is large enough.

    >>> placed([0, 1, 2], lives_of([(0, 1), (1, 2), (2, 2)]), [4, 2, 3])
    [0, 4, 0]
    """
    counts = np.array([min(size, _LARGEST) for size in sizes], np.int64)
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


def layout_of(offsets: Sequence[int], lives: Lives) -> Layout:
    """The layout of a placement. Blocks without size at this sample may have the offset of a neighbour."""
    order = sorted(range(len(offsets)), key=lambda i: (offsets[i], lives.spans[i], i))
    return Layout(order, blocks_below(order, lives))


def best_layout(spans: Sequence[tuple[int, int]], samples: Sequence[Sequence[int]], effort: int) -> Layout:
    """The layout that loses least over the samples, each a size in slots for every block.

    Candidates are placements at each sample in sequences by size, by size and life, and by life. The worst ratio to the
    live peak of a sample counts first, then the mean. While the winner is above the peak, up to `effort` placements are
    tried in which a block that ends at the top comes earlier. A layout close to all peaks ends the search, and so do
    `_MOST_VISITED` visits of neighbours.
    """
    lives = lives_of(spans)
    peaks = [max(live_peak(spans, sizes), 1) for sizes in samples]
    if not samples:
        return layout_of([0] * len(spans), lives)

    def loss(layout: Layout) -> tuple[float, float]:
        ratios = [
            extent(compacted(layout.order, layout.below, sizes), sizes) / peak
            for sizes, peak in zip(samples, peaks, strict=True)
        ]
        return max(ratios), sum(ratios)

    best: tuple[tuple[float, float], Layout, list[int]] | None = None
    price = sum(map(len, lives.neighbours)) + 1
    attempts = _MOST_VISITED // (price * (1 + len(samples)))
    for key in _SEQUENCES:
        for sizes in samples:
            attempts -= 1
            if best is not None and attempts < 0:
                break
            sequence = sorted(range(len(spans)), key=lambda i: (key(sizes[i], spans[i]), i))
            layout = layout_of(placed(sequence, lives, sizes), lives)
            found = loss(layout), layout, sequence
            if best is None or found[0] < best[0]:
                best = found
            if best[0][0] <= _CLOSE:
                return best[1]
    assert best is not None
    effort = min(effort, max(attempts, 0))
    by_order = _by_order(best[:2], lives, samples, peaks, loss, effort - effort // 2)
    if by_order[0][0] <= _CLOSE:
        return by_order[1]
    return min(by_order, _by_sequence(best, lives, samples, loss, effort // 2), key=lambda found: found[0])[1]


_SEQUENCES: tuple[Callable[[int, tuple[int, int]], object], ...] = (
    lambda size, span: -size,
    lambda size, span: -size * (span[1] - span[0] + 1),
    lambda size, span: (span[0] - span[1], -size),
)
"""Keys of sequences in which blocks are placed: the largest first, the largest area first, the longest life first."""


def _by_sequence(
    best: tuple[tuple[float, float], Layout, list[int]],
    lives: Lives,
    samples: Sequence[Sequence[int]],
    loss: Callable[[Layout], tuple[float, float]],
    effort: int,
) -> tuple[tuple[float, float], Layout]:
    """A better layout by small changes of the sequence in which blocks are placed: one at the top comes earlier."""
    least, layout, sequence = best
    worst = len(samples)
    for attempt in range(effort):
        if least[0] <= _CLOSE:
            break
        sizes = samples[attempt % worst]
        offsets = placed(sequence, lives, sizes)
        top = extent(offsets, sizes)
        tops = [i for i in range(len(sizes)) if offsets[i] + sizes[i] == top]
        place = {block: i for i, block in enumerate(sequence)}
        moved = tops[attempt // worst % len(tops)]
        earlier = [place[x] for x in lives.neighbours[moved].tolist() if place[x] < place[moved]]
        if not earlier:
            continue
        target = sorted(earlier)[attempt * 7919 % len(earlier)]
        tried = [x for x in sequence if x != moved]
        tried.insert(target, moved)
        offsets = placed(tried, lives, sizes)
        if extent(offsets, sizes) > top:
            continue
        found = layout_of(offsets, lives)
        cost = loss(found)
        if cost <= least:
            least, layout, sequence = cost, found, tried
    return least, layout


def _by_order(
    best: tuple[tuple[float, float], Layout],
    lives: Lives,
    samples: Sequence[Sequence[int]],
    peaks: Sequence[int],
    loss: Callable[[Layout], tuple[float, float]],
    effort: int,
) -> tuple[tuple[float, float], Layout]:
    """A better layout by small changes of its order.

    At the sample that loses most, a block of the chain that reaches the top goes below one of the blocks under it.
    """
    least, layout = best
    for attempt in range(effort):
        if least[0] <= _CLOSE:
            break
        at = [compacted(layout.order, layout.below, sizes) for sizes in samples]
        ratios = [extent(offsets, sizes) / peak for offsets, sizes, peak in zip(at, samples, peaks, strict=True)]
        worst = max(range(len(samples)), key=ratios.__getitem__)
        chain = _chain(layout, at[worst], samples[worst])
        moved = chain[attempt % len(chain)]
        rank = {block: i for i, block in enumerate(layout.order)}
        lower = sorted((x for x in lives.neighbours[moved].tolist() if rank[x] < rank[moved]), key=rank.__getitem__)
        if not lower:
            continue
        target = lower[attempt * 7919 % len(lower)]
        order = [x for x in layout.order if x != moved]
        order.insert(rank[target], moved)
        found = Layout(order, blocks_below(order, lives))
        cost = loss(found)
        if cost <= least:
            least, layout = cost, found
    return least, layout


def _chain(layout: Layout, offsets: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """The blocks that lie one on the other up to the top, the highest first."""
    chain = [max(range(len(sizes)), key=lambda i: offsets[i] + sizes[i])]
    while offsets[chain[-1]]:
        chain.append(next(x for x in layout.below[chain[-1]] if offsets[x] + sizes[x] == offsets[chain[-1]]))
    return chain
