"""The order of the nodes of a model, and the search of one order of blocks in memory that is good at all samples.

The nodes stay as in the file, or are ordered as the caller says, or so that they need less memory at sample sizes.

The search of blocks begins with the orders of best-fit placements at some samples. Then, again and again, a block of
the chain that reaches the top at the worst sample goes to the place among its neighbours that is best over all samples.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onnx_infer.errors import ArgumentError
from onnx_infer.tools.arena.placing import LARGEST, Layout, Lives, layout_of, live_peak, lives_of, order_of, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.tools.planning.scheduled import ScheduledNode

    Integers = np.ndarray[Any, np.dtype[np.int64]]

    Reals = np.ndarray[Any, np.dtype[np.float64]]


_MOST_WORK = 16_000_000
"""The most work of a search, in visits of a neighbour: about half a second."""

_MORE_WORK = 20_000
"""So much more for each block: half a second for a thousand."""

_PER_BLOCK = 100
"""The work to lay one block without neighbours."""

_PER_START, _PER_MOVE = 5, 4
"""The work of a placement and of a move, in layings of all blocks."""

MOST_STARTS = 14
"""The search begins with placements at so many samples, the first ones."""

_CLOSE = 1.02
"""A layout within this ratio of the least that is known at every sample is good enough."""

_DETOUR = 1.03
"""A move may make the worst ratio so many times that of the best order so far."""

_PATIENCE = 25
"""So many moves without a better order end the search from one start."""

_SEQUENCES: tuple[Callable[[int, tuple[int, int]], int], ...] = (
    lambda size, span: -size,
    lambda size, span: -size * (span[1] - span[0] + 1),
)
"""Keys of sequences in which blocks are placed: the largest first, and the largest area first."""


class Order(NamedTuple):
    """An order of blocks, and what it loses: the worst ratio over the samples to the least that is known there, and
    the sum of these ratios.
    """

    loss: tuple[float, float]
    blocks: list[int]


def best_layout(spans: Sequence[tuple[int, int]], samples: Sequence[Sequence[int]], effort: int) -> Layout:
    """The layout that loses least over the samples, each a size in slots for every block.

    Up to `effort` moves are tried. A layout close to what is known to be possible ends the search, and so does
    `_MOST_WORK`, which grows with the blocks.
    """
    lives = lives_of(spans)
    if not spans or not samples:
        return layout_of(list(range(len(spans))), lives)
    stacks = Stacks(spans, samples)
    peaks = np.array([max(live_peak(spans, sizes), 1) for sizes in samples], np.float64)
    left = (_MOST_WORK + _MORE_WORK * len(spans)) // (sum(map(len, lives.neighbours)) + _PER_BLOCK * len(spans))
    starts: list[tuple[list[int], Integers]] = []
    for sizes in samples[:MOST_STARTS]:
        for key in _SEQUENCES:
            left -= _PER_START
            if starts and left < 0:
                break
            sequence = sorted(range(len(spans)), key=lambda i: (key(sizes[i], spans[i]), i))
            order = order_of(placed(sequence, lives, sizes), lives)
            tops = stacks.laid(order)[1]
            if (tops <= _CLOSE * peaks).all():
                return layout_of(order, lives)
            starts.append((order, tops))
    possible = np.maximum(np.minimum.reduce([tops for _, tops in starts]), peaks)
    search = _Search(stacks, lives, possible, _CLOSE * float((peaks / possible).min()))
    effort = min(effort, max(left, 0) // _PER_MOVE)
    ordered = sorted((Order(search.loss(tops), order) for order, tops in starts), key=lambda start: start.loss)
    best = ordered[0]
    for start in ordered:
        improved, used = search.improved(start, effort)
        best = min(best, improved, key=lambda order: order.loss)
        effort -= used
        if effort <= 0 or best.loss[0] <= _CLOSE:
            break
    return layout_of(best.blocks, lives)


class Stacks:
    """Blocks laid one on the other in an order, at all samples at once.

    Each block begins at the highest end of those laid before that are live at one of its steps. Only steps at which a
    block begins count: two blocks that live together are both live at one of these. `sizes`: blocks by samples.
    """

    def __init__(self, spans: Sequence[tuple[int, int]], samples: Sequence[Sequence[int]]) -> None:
        steps = np.array(sorted({first for first, _ in spans}), np.int64)
        self.begins = np.searchsorted(steps, [first for first, _ in spans]).tolist()
        self.ends = np.searchsorted(steps, [last for _, last in spans], side="right").tolist()
        self.sizes = np.array([[min(size, LARGEST) for size in sizes] for sizes in samples], np.int64).T.copy()
        self.steps = len(steps)

    def laid(self, order: Iterable[int]) -> tuple[Integers, Integers]:
        """The offset of each block at each sample, and the height of all at each sample."""
        begins, ends, sizes = self.begins, self.ends, self.sizes
        offsets = np.zeros_like(sizes)
        heights = np.zeros((self.steps, sizes.shape[1]), np.int64)
        for block in order:
            under = heights[begins[block] : ends[block]]
            offset = offsets[block] = under.max(axis=0)
            under[:] = offset + sizes[block]
        return offsets, heights.max(axis=0)


class _Search:
    """Moves of single blocks. `least`: what is known to be possible at each sample; `enough`: a ratio that is close to
    the live peak at every sample.
    """

    def __init__(self, stacks: Stacks, lives: Lives, least: Reals, enough: float) -> None:
        self.stacks, self.lives, self.least, self.enough = stacks, lives, least, enough

    def loss(self, tops: Integers) -> tuple[float, float]:
        ratios = tops / self.least
        return float(ratios.max()), float(ratios.sum())

    def improved(self, start: Order, effort: int) -> tuple[Order, int]:
        """A better order by at most `effort` moves, and the number of those that were tried.

        A block that moves goes to another place, even if that is a little worse. So the search leaves a valley.
        """
        best = start
        blocks = start.blocks
        offsets, tops = self.stacks.laid(blocks)
        moved: dict[int, int] = {}
        idle = 0
        for attempt in range(effort):
            if idle > _PATIENCE or best.loss[0] <= self.enough:
                return best, attempt
            worst = int((tops / self.least).argmax())
            blocks, rank = self._by_offset(blocks, offsets[:, worst])
            chain = self._chain(offsets[:, worst], self.stacks.sizes[:, worst], rank)
            block = min(chain, key=lambda x: (moved.get(x, -1), -self.stacks.sizes[x, worst]))
            moved[block] = attempt
            other = self._elsewhere(block, blocks, rank)
            idle += 1
            if other is None or other.loss[0] > max(_DETOUR * best.loss[0], self.loss(tops)[0]):
                continue
            blocks = other.blocks
            offsets, tops = self.stacks.laid(blocks)
            if other.loss < best.loss:
                best, idle = other, 0
        return best, effort

    def _by_offset(self, blocks: Sequence[int], offsets: Integers) -> tuple[list[int], Integers]:
        """The blocks in the order of their offsets at one sample, which lays them as before; and the rank of each."""
        earlier = np.empty(len(blocks), np.int64)
        earlier[blocks] = np.arange(len(blocks))
        ordered = np.lexsort((earlier, offsets))
        rank = np.empty(len(blocks), np.int64)
        rank[ordered] = np.arange(len(blocks))
        return ordered.tolist(), rank

    def _chain(self, offsets: Integers, sizes: Integers, rank: Integers) -> list[int]:
        """The blocks that lie one on the other up to the top at one sample, the highest first."""
        ends = offsets + sizes
        chain = [int(ends.argmax())]
        while offset := offsets[chain[-1]]:
            around = self.lives.neighbours[chain[-1]]
            under = around[(ends[around] == offset) & (rank[around] < rank[chain[-1]])]
            chain.append(int(under[0]))
        return chain

    def _elsewhere(self, block: int, blocks: Sequence[int], rank: Integers) -> Order | None:
        """The order with this block at another place among its neighbours, the best one; None without neighbours.

        At each place it rises to the highest end below it, and carries the highest stack above it.
        """
        around = self.lives.neighbours[block]
        if not len(around):
            return None
        around = around[np.argsort(rank[around])]
        others = [x for x in blocks if x != block]
        sizes = self.stacks.sizes
        from_below, tops = self.stacks.laid(others)
        from_above, _ = self.stacks.laid(others[::-1])
        below, above = (np.zeros((len(around) + 1, sizes.shape[1]), np.int64) for _ in range(2))
        np.maximum.accumulate((from_below + sizes)[around], axis=0, out=below[1:])
        above[:-1] = np.maximum.accumulate((from_above + sizes)[around[::-1]], axis=0)[::-1]
        ratios = np.maximum(below + sizes[block] + above, tops) / self.least
        worst, total = ratios.max(axis=1), ratios.sum(axis=1)
        worst[np.searchsorted(rank[around], rank[block])] = np.inf  # where it is
        place = int(np.lexsort((total, worst))[0])
        before = around[place] if place < len(around) else None
        others.insert(len(others) if before is None else others.index(before), block)
        return Order((float(worst[place]), float(total[place])), others)


class Flow:
    """What nodes read and write: the values of each node by number, and the nodes that must come before it."""

    def __init__(self, nodes: Sequence[ScheduledNode], outputs: Iterable[str]) -> None:
        self.writes = [node.writes for node in nodes]
        maker = {name: number for number, names in enumerate(self.writes) for name in names}
        self.made = [tuple(dict.fromkeys(name for name in node.reads if name in maker)) for node in nodes]
        self.before = [tuple(dict.fromkeys(maker[name] for name in names)) for names in self.made]
        self.outputs = frozenset(outputs)
        self.readers: dict[str, int] = dict.fromkeys(maker, 0)
        for names in self.made:
            for name in names:
                self.readers[name] += 1

    def by_net_bytes(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """An order in which the node comes next that frees most, or adds least, among those that can run."""
        left, waiting = dict(self.readers), [len(names) for names in self.before]
        after: list[list[int]] = [[] for _ in self.before]
        for number, names in enumerate(self.before):
            for other in names:
                after[other].append(number)

        def added(number: int) -> int:
            freed = sum(sizes.get(n, 0) for n in self.made[number] if left[n] == 1 and n not in self.outputs)
            return sum(sizes.get(n, 0) for n in self.writes[number] if self.readers[n] or n in self.outputs) - freed

        ready = [(added(number), number) for number, count in enumerate(waiting) if not count]
        heapify(ready)
        order: list[int] = []
        while ready:
            cost, number = heappop(ready)
            now = added(number)
            if now < cost:  # another reader of an operand ran meanwhile
                heappush(ready, (now, number))
                continue
            order.append(number)
            for name in self.made[number]:
                left[name] -= 1
            for other in after[number]:
                waiting[other] -= 1
                if not waiting[other]:
                    heappush(ready, (added(other), other))
        return tuple(order)

    def late(self) -> tuple[int, ...]:
        """An order in which each node comes as late as its first reader allows: depth first, from the last node on."""
        order: list[int] = []
        done: set[int] = set()
        for last in range(len(self.before)):
            if any(self.readers[name] for name in self.writes[last]) and not self.outputs & set(self.writes[last]):
                continue
            path = [(last, iter(sorted(self.before[last])))]
            while path:
                number, rest = path[-1]
                nearest = next((x for x in rest if x not in done), None)
                if nearest is not None:
                    path.append((nearest, iter(sorted(self.before[nearest]))))
                    continue
                path.pop()
                if number not in done:
                    done.add(number)
                    order.append(number)
        return tuple(order)


def chosen_order(
    order: str | Sequence[int],
    flow: Flow,
    samples: Sequence[Mapping[str, int]],
    peaks: Callable[[Sequence[int]], Sequence[int]],
) -> Sequence[int]:
    """The numbers of the nodes in the order of the plan.

    `samples`: bytes of the values at sample sizes; `peaks`: from an order to the bytes that it needs there. "file": as
    they are. "least": the one of several orders that needs least on average, relative to the file. Numbers are taken as
    they are; raises ArgumentError if a node would come before one that it reads.
    """
    file = tuple(range(len(flow.before)))
    if order == "file":
        return file
    if order == "least":
        tried = dict.fromkeys((file, flow.late(), *map(flow.by_net_bytes, samples)))
        of_file = peaks(file)
        losses = {
            numbers: sum(x / max(first, 1) for x, first in zip(peaks(numbers), of_file, strict=True))
            for numbers in tried
        }
        return min(tried, key=losses.__getitem__)
    if isinstance(order, str) or sorted(order) != list(file):
        raise ArgumentError(f"arena: order must be 'file', 'least' or each number from 0 to {len(file) - 1} once")
    place = {number: i for i, number in enumerate(order)}
    for number in order:
        late = [other for other in flow.before[number] if place[other] > place[number]]
        if late:
            raise ArgumentError(f"arena: order has node {number} before node {late[0]}, whose result it reads")
    return order
