"""Orders of the nodes of a model: as in the file, as the caller says, or one that needs less memory at sample sizes."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from onnx_infer.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


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

    def peak(self, order: Iterable[int], sizes: Mapping[str, int]) -> int:
        """The most bytes that live at once in this order, if nothing shares storage."""
        left = dict(self.readers)
        live = most = 0
        for number in order:
            live += sum(sizes.get(name, 0) for name in self.writes[number])
            most = max(most, live)
            for name in self.made[number]:
                left[name] -= 1
            ended = [*self.made[number], *(n for n in self.writes[number] if not self.readers[n])]
            live -= sum(sizes.get(name, 0) for name in ended if not left[name] and name not in self.outputs)
        return most

    def by_net_bytes(self, sizes: Mapping[str, int]) -> list[int]:
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
        return order

    def late(self) -> list[int]:
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
        return order


def chosen_order(order: str | Sequence[int], flow: Flow, samples: Sequence[Mapping[str, int]]) -> list[int]:
    """The numbers of the nodes in the order of the plan; `samples` are bytes of the values at sample sizes.

    "file": as they are. "least": the one of several orders whose peak, relative to that of the file, is least over the
    samples. Numbers are taken as they are; raises ArgumentError if a node would come before one that it reads.
    """
    file = list(range(len(flow.before)))
    if order == "file":
        return file
    if order == "least":
        tried = [file, flow.late(), *(flow.by_net_bytes(sizes) for sizes in samples)]
        peaks = [[flow.peak(numbers, sizes) for sizes in samples] for numbers in tried]
        losses = [[x / max(first, 1) for x, first in zip(row, peaks[0], strict=True)] for row in peaks]
        return tried[min(range(len(tried)), key=lambda i: (max(losses[i], default=0), sum(losses[i]), i))]
    if isinstance(order, str) or sorted(order) != file:
        raise ArgumentError(f"arena: order must be 'file', 'least' or each number from 0 to {len(file) - 1} once")
    place = {number: i for i, number in enumerate(order)}
    for number in order:
        late = [other for other in flow.before[number] if place[other] > place[number]]
        if late:
            raise ArgumentError(f"arena: order has node {number} before node {late[0]}, whose result it reads")
    return list(order)
