"""The steps of a run in order, with the bodies of functions in place of their calls.

The bodies of If, Loop, Scan and SequenceMap cannot be put in place: a step stands for such a node, and its bodies count
as one block of memory at this step (`memory.py`). So does the body of a function after `MOST_STEPS`, or if nothing is
known of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from onnx_infer.model.graph import Attributes, Node, label_of, title_of
from onnx_infer.types.join import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_infer.engine.graph_index import GraphIndex
    from onnx_infer.engine.scope import Scope
    from onnx_infer.values.tensor import Value

MOST_STEPS = 1 << 16
"""The most steps of functions in a plan; then a call is one step. Functions that call functions twice double them."""


class ScheduledNode(NamedTuple):
    """A node that runs: its operator and name, the number of the node of the main graph that it belongs to, the values
    that it reads and writes, and the graphs that it runs.

    The names of nodes inside of functions have the name of the call before theirs, and so have those of values, with a
    number if there is another value of this name. `inputs` and `outputs` are those of the operator, with "" for an
    absent one. `source` is the node as it is written, and the values around it; None for a copy of an output.
    `attributes`: with those of a call in place of references. `bodies`: the graphs that it runs, None for one of which
    nothing is known, and `block` the name of their memory. `is_call`: it calls a function. `gives_states`: values go to
    its bodies and come from them turn by turn (Loop, Scan, SequenceMap).
    """

    operator: str
    node: str
    number: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    source: tuple[Node, Scope] | None = None
    attributes: Attributes | None = None
    bodies: tuple[GraphIndex | None, ...] = ()
    block: str = ""
    is_call: bool = False

    @property
    def gives_states(self) -> bool:
        return bool(self.bodies) and not self.is_call and self.source is not None and self.source[0][0] != "If"


class Schedule:
    """The steps of a graph. The nodes of a function's body stand in place of its call, up to `most` of such steps.

    `inlined`: the number of these. `types`: those of what the steps write, by its name in the schedule; `given`: those
    of what else they read. `shared`: the values whose sizes, where data decide them, no caller can give, because they
    have these in other calls too.
    """

    def __init__(self, index: GraphIndex, most: int = MOST_STEPS) -> None:
        self.steps: list[ScheduledNode] = []
        self.types: dict[str, Value] = {}
        self.given: dict[str, Value] = {}
        self.shared: set[str] = set()
        self._used: dict[str, int] = {}
        self.inlined, self._most = 0, most
        main = _Frame(index, "")
        for name in (*index.scope, *index.graph.constants, *index.graph.outputs):
            self._used[name] = 0
            main.names[name] = name
        self._walk(main)

    def _walk(self, main: _Frame) -> None:
        number = -1
        frames = [main]
        while frames:
            frame = frames[-1]
            place = frame.next
            if place == len(frame.index.nodes):
                frames.pop()
                for value, copy in frame.copies:  # an output that is an input of the function, or another output, too
                    ends = (value,), (copy,)
                    self.steps.append(ScheduledNode("Identity", frame.prefix[:-1], number, *ends, *ends))
                continue
            frame.next += 1
            number += len(frames) == 1
            index, node = frame.index, frame.index.nodes[place]
            inputs, outputs = (tuple([name and self._name(frame, name) for name in names]) for names in node[2:4])
            for name, inner in zip(outputs, node[3], strict=True):
                if name and name not in self.types:  # what a call gives has the type that its caller knows
                    self.types[name] = index.scope[inner]
                    self.shared.update((name,) if index.is_shared else ())
            reads = tuple(self._reads(frame, place))
            bodies, is_call = index.bodies(place), index.is_call(place)
            if is_call and self.inlined < self._most and bodies[0] is not None:
                frames.append(self._call(node, bodies[0], frame))
                continue
            self.inlined += len(frames) > 1
            label = frame.prefix + label_of(node)
            self.steps.append(
                ScheduledNode(
                    title_of(node), label, number, reads, tuple(filter(None, outputs)), inputs, outputs,
                    (node, index.scope), index.attributes(place), bodies,
                    self._new(f"bodies of {label}") if bodies else "", is_call,
                )
            )  # fmt: skip

    def _name(self, frame: _Frame, inner: str) -> str:
        """The name of a value of a frame in the schedule."""
        name = frame.names.get(inner)
        if name is None:
            name = frame.names[inner] = self._new(frame.prefix + inner)
        return name

    def _reads(self, frame: _Frame, place: int) -> Iterator[str]:
        """The values that a node reads, without the inputs of a function that its call leaves out."""
        scope = frame.index.scope
        for inner in frame.index.reads[place]:
            value = scope[inner] if scope.knows(inner) else NOTHING
            if value is not None:
                name = self._name(frame, inner)
                if name not in self.types:
                    self.given.setdefault(name, value)
                yield name

    def _new(self, base: str) -> str:
        """The base, or the base with a number if it is used already."""
        name, count = base, self._used.get(base, 0)
        while name in self._used:
            count += 1
            name = f"{base}_{count}"
        self._used[base] = count
        self._used.setdefault(name, 0)
        return name

    def _call(self, node: Node, body: GraphIndex, caller: _Frame) -> _Frame:
        """The body of a function. Its inputs and outputs are values of the caller."""
        frame = _Frame(body, f"{caller.prefix}{label_of(node)}/")
        pairs = zip((name for name, _ in body.graph.inputs), node[2], strict=False)
        frame.names.update((formal, self._name(caller, name)) for formal, name in pairs if name)
        for formal, name in zip(body.graph.outputs, node[3], strict=False):
            if name and formal in frame.names:  # it is an input, or another output, too
                frame.copies.append((frame.names[formal], self._name(caller, name)))
            elif name:
                frame.names[formal] = self._name(caller, name)
        return frame


class _Frame:
    """A graph whose nodes are steps: the names of its values in the schedule, and what its outputs copy at its end."""

    __slots__ = ("copies", "index", "names", "next", "prefix")

    def __init__(self, index: GraphIndex, prefix: str) -> None:
        self.index, self.prefix, self.next = index, prefix, 0
        self.names: dict[str, str] = {}
        self.copies: list[tuple[str, str]] = []
