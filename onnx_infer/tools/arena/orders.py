"""Orders of the nodes of a model: as in the file, as the caller says, or one that needs less memory at sample sizes."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from onnx_infer.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Flow:
    """What nodes read and write: the values of each node by number, and the nodes that must come before it."""

    def __init__(self, reads: Sequence[Iterable[str]], writes: Sequence[Iterable[str]], outputs: Iterable[str]) -> None:
        maker = {name: number for number, names in enumerate(writes) for name in names}
        self.writes = [tuple(names) for names in writes]
        self.made = [tuple(dict.fromkeys(name for name in names if name in maker)) for names in reads]
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
