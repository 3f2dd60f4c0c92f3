"""An index of the graphs of a model after its inference: order, producers, consumers, bodies, and calls of functions.

A function may be called with other types each time. So each call has an index of its own, with the types of this call.
The record of a walk has these types only if there is one call; otherwise the body is inferred for the types of the
operands that the call has at the end.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from copy import copy
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from onnx_infer.engine.calls import Call, enter, find_function, resolve
from onnx_infer.engine.inner_graphs import calls_in
from onnx_infer.engine.record import Bodies, Record
from onnx_infer.engine.scope import captured, graphs_of, sort_nodes
from onnx_infer.engine.walk import run_graph
from onnx_infer.model.graph import called_key
from symdim.algebra.evaluate import parts_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Attributes, Function, FunctionKey, Graph, Node

    Walked = Mapping[int, tuple[Graph, Scope]]
    """The graphs that were walked in one body, by the id of their handle, with their values."""

MOST_INFERRED = 1 << 12
"""The most bodies that are inferred for single calls. Functions that call functions twice would double them."""


class GraphIndex:
    """A graph of a model with the types of its values, and what its nodes read, give and run. It changes nothing.

    Everything is computed when it is asked for. The main graph has one, and so has each graph that a node runs. Nodes
    are known by their number in `nodes`. Equal calls share one index, so it can be a key of results.

    `scope`: the values by name, those of the graphs around too. `is_shared`: whether several calls have this index, or
    its types come from an inference of its own. A size in it that data decide is one of the result only if it is not.
    """

    def __init__(self, graph: Graph, scope: Scope, inside: _Inside, walked: Walked | None, is_shared: bool) -> None:
        self.graph, self.scope, self.is_shared = graph, scope, is_shared
        self._inside, self._walked = inside, walked
        self._bodies: dict[int, tuple[GraphIndex | None, ...]] = {}

    @staticmethod
    def of(record: Record) -> GraphIndex:
        """The index of the main graph of a walk that has ended."""
        return GraphIndex(record.model.graph, record.scope, _Inside(record), None, False)

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """The nodes in the order of the model. They are sorted only if one reads a value before it is produced.

        Nodes that are constants are left out: their values are constants of the graph.
        """
        nodes, seen = list(self.graph.nodes()), set[str]()
        made = {name for node in nodes for name in node[3]}
        for node in nodes:
            if any(name in made and name not in seen for name in self._read_by(node) if name):
                view = self._inside.record.view
                return list(sort_nodes(self.graph._replace(nodes=lambda: nodes), self.scope, lambda _: None, view))
            seen.update(node[3])
        return nodes

    def _read_by(self, node: Node) -> Sequence[str]:
        return [*node[2], *captured(self._inside.record.view, node)]

    @cached_property
    def reads(self) -> list[tuple[str, ...]]:
        """For each node the names that it reads, each once, and those that the graphs in it read from around them."""
        return [tuple(dict.fromkeys(filter(None, self._read_by(node)))) for node in self.nodes]

    @cached_property
    def producers(self) -> dict[str, int]:
        """Value -> the number of the node that gives it."""
        return {name: number for number, node in enumerate(self.nodes) for name in node[3] if name}

    def producer(self, name: str) -> Node | None:
        """The node that gives a value; None for an input, a constant, and a name that no node gives."""
        number = self.producers.get(name)
        return None if number is None else self.nodes[number]

    @cached_property
    def consumers(self) -> dict[str, list[int]]:
        """Value -> the numbers of the nodes that read it, also in the graphs inside them."""
        consumers: dict[str, list[int]] = {}
        for number, names in enumerate(self.reads):
            for name in names:
                consumers.setdefault(name, []).append(number)
        return consumers

    def attributes(self, number: int) -> Attributes:
        """The attributes of a node, in the body of a function with those of its call in place of references."""
        return resolve(self._inside.record, self.nodes[number][4], self.scope.attributes)

    def is_call(self, number: int) -> bool:
        """Whether a node calls a function, and so what `bodies` has is the function's body."""
        node = self.nodes[number]
        return bool(self.bodies(number)) and self.scope.operators[node[1], node[0]] is None

    def bodies(self, number: int) -> tuple[GraphIndex | None, ...]:
        """The graphs that a node runs: its subgraphs, or the body of the function that it calls.

        None stands for a graph whose types are not known: it was not walked, a function calls itself, or a call gives
        graphs to a function.
        """
        bodies = self._bodies.get(number)
        if bodies is None:
            bodies = self._bodies[number] = tuple(self._run_by(self.nodes[number]))
        return bodies

    def _run_by(self, node: Node) -> Iterator[GraphIndex | None]:
        is_operator = self.scope.operators[node[1], node[0]] is not None
        if not is_operator:
            if all(self.scope.knows(name) for name in node[2] if name):
                yield from self._inside.called(node, self.scope)
        elif node[4].has_graphs:
            handles = [] if node[4].references else list(graphs_of(node))
            yield from [self._inside.graph(handle, self._walked, self.is_shared) for handle in handles] or [None]

    def outer_first(self, is_entered: Callable[[GraphIndex], bool]) -> Iterator[GraphIndex]:
        """This index, and those inside it, each once, before those inside them. Functions are entered or left out."""
        pending, seen = [self], set[GraphIndex]()
        while pending:
            index = pending.pop()
            if index in seen:
                continue
            seen.add(index)
            yield index
            inner = [
                body
                for number in range(len(index.nodes))
                for body in index.bodies(number)
                if body is not None and (not index.is_call(number) or is_entered(body))
            ]
            pending += reversed(inner)

    def inner_first(self) -> Iterator[GraphIndex]:
        """The index of each graph inside this one, each once, after those inside it; this one is the last."""
        done: set[GraphIndex] = set()
        for index, _ in parts_first(self, done, GraphIndex._inner):
            done.add(index)
            yield index

    def _inner(self) -> list[GraphIndex]:
        """The graphs that the nodes run, last first."""
        inner = [body for number in range(len(self.nodes)) for body in self.bodies(number) if body is not None]
        return inner[::-1]


class _Inside:
    """The graphs inside a model. Those of `once` are walked for one call only."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._indexes: dict[int, tuple[GraphIndex, object]] = {}  # by the id of a scope, with what keeps it
        self._inferred = 0

    @cached_property
    def once(self) -> Walked:
        """The graphs with one walk that counts: those of the main graph and of functions that are called once."""
        walked, calls = calls_in(self.record.nesting.seen)
        walks = Counter(key for bodies in walked.values() for key in bodies.graphs)
        once: dict[int, tuple[Graph, Scope]] = {}
        pending = [self.record.nesting.seen]
        while pending:
            bodies = pending.pop()
            once.update({key: walked for key, walked in bodies.graphs.items() if walks[key] == 1})
            pending += [inner for inner in bodies.calls if calls[id(inner)] == 1]
        return once

    def graph(self, handle: object, walked: Walked | None, is_shared: bool) -> GraphIndex | None:
        """The index of a graph, with the types of the walk in which it was met."""
        return self._index(self.once if walked is None else walked, id(handle), walked, is_shared)

    def called(self, node: Node, scope: Scope) -> list[GraphIndex | None]:
        """The index of the body that a node calls; nothing for an unknown operator."""
        function = find_function(self.record, node, scope)
        if function is None:
            return []
        if function.key in self._circular or node[4].has_graphs:
            return [None]
        key = id(function.body.handle)
        if key in self.once:
            return [self._index(self.once, key, None, False)]
        bodies = self._infer(function, node, scope)
        return [None if bodies is None else self._index(bodies.graphs, key, bodies.graphs, True)]

    def _index(self, graphs: Walked, key: int, walked: Walked | None, is_shared: bool) -> GraphIndex | None:
        if key not in graphs:
            return None
        graph, scope = graphs[key]
        if id(scope) not in self._indexes:
            self._indexes[id(scope)] = GraphIndex(graph, scope, self, walked, is_shared), scope
        return self._indexes[id(scope)][0]

    @cached_property
    def _second(self) -> Record:
        """The record in which bodies are inferred for single calls. It remembers equal calls."""
        second = Record(self.record.model, copy(self.record.symbols), self.record.setting._replace(ends_early=False))
        second.calls.functions.update(self.record.calls.functions)
        return second

    def _infer(self, function: Function, node: Node, scope: Scope) -> Bodies | None:
        """What is inferred in the body of a function for the operands of one call."""
        second = self._second
        if self._inferred >= MOST_INFERRED:
            return None
        attributes = resolve(self.record, node[4], scope.attributes)
        entered = enter(second, function, node, scope, attributes)
        if isinstance(entered, Call):
            self._inferred += 1
            try:
                run_graph(second, function.body._replace(inputs=[], outputs=[]), entered.scope)
            finally:
                entered.leave(second)
            entered.finish(second)
        return second.nesting.seen.calls.pop() if second.nesting.seen.calls else None

    @cached_property
    def _circular(self) -> frozenset[FunctionKey]:
        """The functions that call themselves, and those that call one of these."""
        functions = {function.key: function for function in self.record.calls.functions.values()}
        called = {key: self._keys_called(function) & functions.keys() for key, function in functions.items()}
        sorter = TopologicalSorter(called)
        ended: set[FunctionKey] = set()
        with suppress(CycleError):
            sorter.prepare()
        while ready := sorter.get_ready():
            ended.update(ready)
            sorter.done(*ready)
        return frozenset(functions.keys() - ended)

    def _keys_called(self, function: Function) -> set[FunctionKey]:
        called, pending = set(), [function.body]
        while pending:
            for node in pending.pop().nodes():
                called.add(called_key(node))
                pending += map(self.record.view, graphs_of(node))
        return called
