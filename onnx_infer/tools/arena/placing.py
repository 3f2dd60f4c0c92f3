"""The order of blocks in memory. It is chosen at sample sizes; the offsets that follow from it hold for all sizes.

A block has a first and a last step and, at each sample, a size in slots. A placement gives each block an offset at one
sample. Its order by offsets is a layout: a block lies above the end of every live neighbour below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_CLOSE = 1.02
"""A layout within this ratio of the live peak at every sample is good enough."""


class Lives(NamedTuple):
    """The lives of blocks: for each the first and the last step, and the blocks that are live at one of these steps.

    >>> lives_of([(0, 1), (1, 2), (2, 2)]).neighbours
    [[1], [0, 2], [1]]
    """

    spans: Sequence[tuple[int, int]]
    neighbours: list[list[int]]


def lives_of(spans: Sequence[tuple[int, int]]) -> Lives:
    """The blocks that live together, found in one sweep over the steps."""
    neighbours: list[list[int]] = [[] for _ in spans]
    live: list[int] = []
    for block in sorted(range(len(spans)), key=lambda i: spans[i]):
        first = spans[block][0]
        live = [other for other in live if spans[other][1] >= first]
        for other in live:
            neighbours[block].append(other)
            neighbours[other].append(block)
        live.append(block)
    return Lives(spans, [sorted(others) for others in neighbours])


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
    offsets = [-1] * len(sizes)
    for block in sequence:
        size = sizes[block]
        top, best, gap = 0, -1, -1
        for low, end in sorted((offsets[x], offsets[x] + sizes[x]) for x in lives.neighbours[block] if offsets[x] >= 0):
            if low > top and low - top >= size and (gap < 0 or low - top < gap):
                best, gap = top, low - top
            top = max(top, end)
        offsets[block] = top if best < 0 else best
    return offsets


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
    rank = [0] * len(order)
    for place, block in enumerate(order):
        rank[block] = place
    reached = [0] * len(order)  # by rank: all that lies below, as bits
    below: list[list[int]] = [[] for _ in order]
    for place, block in enumerate(order):
        covered = 0
        for other in sorted((rank[x] for x in lives.neighbours[block]), reverse=True):
            if other < place and not covered >> other & 1:
                below[block].append(order[other])
                covered |= reached[other] | 1 << other
        reached[place] = covered
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
    tried in which a block that ends at the top comes earlier. A layout close to all peaks ends the search.
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

    best: tuple[tuple[float, float], Layout, list[int], int] | None = None
    for number, sizes in enumerate(samples):
        for key in _SEQUENCES:
            sequence = sorted(range(len(spans)), key=lambda i: (key(sizes[i], spans[i]), i))
            layout = layout_of(placed(sequence, lives, sizes), lives)
            found = loss(layout), layout, sequence, number
            if best is None or found[0] < best[0]:
                best = found
            if best[0][0] <= _CLOSE:
                return best[1]
    assert best is not None
    return _climbed(best, lives, samples, loss, effort)


_SEQUENCES: tuple[Callable[[int, tuple[int, int]], object], ...] = (
    lambda size, span: -size,
    lambda size, span: -size * (span[1] - span[0] + 1),
    lambda size, span: (span[0] - span[1], -size),
)
"""Keys of sequences in which blocks are placed: the largest first, the largest area first, the longest life first."""


def _climbed(
    best: tuple[tuple[float, float], Layout, list[int], int],
    lives: Lives,
    samples: Sequence[Sequence[int]],
    loss: Callable[[Layout], tuple[float, float]],
    effort: int,
) -> Layout:
    """A better layout by small changes of the sequence: a block at the top, or a neighbour of it, is placed earlier."""
    least, layout, sequence, _ = best
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
        earlier = [place[x] for x in lives.neighbours[moved] if place[x] < place[moved]]
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
    return layout
