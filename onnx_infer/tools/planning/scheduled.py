"""The steps of a run in the order of the schedule, with the bodies of functions in place of their calls.

The bodies of If, Loop, Scan and SequenceMap cannot be put in place: a step stands for such a node, and its bodies count
as one block of memory at this step (`memory.py`).
"""

from __future__ import annotations

from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.engine.calls import find_function
from onnx_infer.model.graph import Node, label_of, title_of
from onnx_infer.results.inferred import Inferred, reads_of, schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_infer.engine.record import Record
    from onnx_infer.engine.scope import Scope
    from onnx_infer.model.graph import Graph
    from onnx_infer.values.tensor import Value


class ScheduledNode(NamedTuple):
    """A node that runs: its operator and name, the number of the node of the main graph that it belongs to, the values
    that it reads and writes, and the graphs that it runs.

    Values and nodes inside of functions have the name of the call before theirs. `inputs` and `outputs` are those of
    the operator, with "" for an absent one. `source` is the node as it is written, and the values around it; None for a
    copy of an output. `gives_states`: values go to its bodies and come from them turn by turn (Loop, Scan,
    SequenceMap).
    """

    operator: str
    node: str
    number: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    source: tuple[Node, Scope] | None = None
    bodies: tuple[int, ...] = ()
    gives_states: bool = False


class Bodies:
    """The graphs inside a model (bodies of functions, and subgraphs), by the id of their message."""

    def __init__(self, engine: Record) -> None:
        self._record = engine
        self.graphs: dict[int, tuple[Graph, Scope]] = {
            id(graph.handle): (graph, scope) for graph, scope in engine.inner
        }
        self.nodes = {key: list(graph.nodes()) for key, (graph, _) in self.graphs.items()}

    def called(self, node: Node, scope: Scope) -> list[int]:
        """The graphs that a node runs: its subgraphs, or the body of the function that it calls."""
        if node[4].has_graphs:
            values = (x for v in node[4].values.values() for x in (v if isinstance(v, tuple) else (v,)))
            return [id(x) for x in values if id(x) in self.graphs]
        if scope.operators[node[1], node[0]] is not None:
            return []
        function = find_function(self._record, node, scope)
        return [] if function is None else [id(function.body.handle)]

    def inner_first(self) -> Iterator[int]:
        """The graphs, each after those that its nodes run. Functions that call themselves, and their callers, are left
        out.
        """
        calls = {key: [k for n in self.nodes[key] for k in self.called(n, s)] for key, (_, s) in self.graphs.items()}
        sorter = TopologicalSorter(calls)
        with suppress(CycleError):
            sorter.prepare()
        while ready := sorter.get_ready():
            yield from (key for key in ready if key in self.graphs)
            sorter.done(*ready)


class _Frame(NamedTuple):
    """A graph whose nodes are steps: the names of its values in the plan, and what its outputs copy at its end."""

    nodes: Iterator[Node]
    scope: Scope
    names: Mapping[str, str]
    prefix: str
    copies: Sequence[tuple[str, str]] = ()

    def name(self, inner: str) -> str:
        return self.names.get(inner, self.prefix + inner)


class Steps:
    """The steps of the graphs of a model. With `inline`, the nodes of a function's body stand in place of its call."""

    def __init__(self, result: Inferred, bodies: Bodies, inline: bool) -> None:
        self._result, self._bodies = result, bodies
        self._inlined = frozenset(bodies.inner_first()) if inline else frozenset()

    def of_model(self) -> tuple[list[ScheduledNode], dict[str, Value]]:
        """The steps of the main graph, and the types of what they write."""
        return self._walked(schedule(self._result), self._result._record.scope)

    def of_body(self, key: int) -> tuple[list[ScheduledNode], dict[str, Value]]:
        """The steps of a body, and the types of what they write."""
        return self._walked(self._bodies.nodes[key], self._bodies.graphs[key][1])

    def _walked(self, nodes: Iterable[Node], scope: Scope) -> tuple[list[ScheduledNode], dict[str, Value]]:
        steps: list[ScheduledNode] = []
        types: dict[str, Value] = {}
        number = -1
        frames = [_Frame(iter(nodes), scope, {}, "")]
        while frames:
            frame = frames[-1]
            node = next(frame.nodes, None)
            if node is None:
                frames.pop()
                steps += [_copy(frame.prefix[:-1], number, pair) for pair in frame.copies]
                continue
            number += len(frames) == 1
            types.update((frame.name(name), frame.scope[name]) for name in node[3] if name)
            called = self._bodies.called(node, frame.scope)
            if called and not node[4].has_graphs and called[0] in self._inlined:
                frames.append(self._call(node, called[0], frame))
                continue
            inputs, outputs = (tuple(frame.name(name) if name else "" for name in names) for names in node[2:4])
            captured = (frame.name(name) for name in reads_of(self._result, node) if name)
            steps.append(
                ScheduledNode(
                    title_of(node), frame.prefix + label_of(node), number,
                    tuple(dict.fromkeys(captured)), tuple(filter(None, outputs)), inputs, outputs,
                    (node, frame.scope), tuple(called), node[4].has_graphs and node[0] != "If",
                )
            )  # fmt: skip
        return steps, types

    def _call(self, node: Node, key: int, caller: _Frame) -> _Frame:
        """The body of a function. Its inputs and outputs are values of the caller."""
        graph, scope = self._bodies.graphs[key]
        pairs = zip((name for name, _ in graph.inputs), node[2], strict=False)
        names = {formal: caller.name(name) for formal, name in pairs if name}
        copies = []
        for formal, name in zip(graph.outputs, node[3], strict=False):
            if name and formal in names:  # it is an input, or another output, too
                copies.append((names[formal], caller.name(name)))
            elif name:
                names[formal] = caller.name(name)
        return _Frame(iter(self._bodies.nodes[key]), scope, names, f"{caller.prefix}{label_of(node)}/", copies)


def _copy(call: str, number: int, pair: tuple[str, str]) -> ScheduledNode:
    """An output of a function that is one of its inputs, or another output, too."""
    value, copy = pair
    return ScheduledNode("Identity", call, number, (value,), (copy,), (value,), (copy,))
