"""The graphs inside a model after a walk, each once, with values that hold in all calls of functions."""

from __future__ import annotations

from collections import Counter
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from onnx_infer.engine.fresh import OwnSizes
from onnx_infer.engine.scope import Scope
from onnx_infer.model.graph import NO_ATTRIBUTES
from onnx_infer.types.join import NOTHING, join, variables_in, varying
from symdim.algebra.origin import is_data_dependent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.engine.record import Bodies
    from onnx_infer.model.graph import Graph
    from onnx_infer.values.tensor import Value


def inner_graphs(root: Bodies) -> Iterator[tuple[Graph, Scope]]:
    """The inner graphs of a model, each once, with values that hold in all walks that count."""
    joined: dict[int, tuple[Graph, Scope]] = {}
    walked: set[int] = set()
    sizes = _sizes_of_any_call(root)
    known: dict[tuple[Value, Value], Value] = {}  # pairs of values -> their join
    pending = [root]
    while pending:
        bodies = pending.pop()
        if id(bodies) in walked:
            continue
        walked.add(id(bodies))
        pending += reversed(bodies.calls)
        graphs = _with_sizes(bodies.graphs, sizes[id(bodies)]) if id(bodies) in sizes else bodies.graphs
        for key, (graph, scope) in graphs.items():
            joined[key] = (graph, _joined(joined[key][1], scope, known) if key in joined else scope)
    return iter(joined.values())


def _sizes_of_any_call(root: Bodies) -> dict[int, OwnSizes]:
    """For bodies that several calls share, by id: variables for the sizes that data decide in them.

    The walk has those of the first call, and a node after it may say what these are. What the operands have is the same
    in all these calls, unless a caller that is shared itself has made it.
    """
    bodies, counts = calls_in(root)
    shared = {key for key, count in counts.items() if count > 1}
    sizes: dict[int, OwnSizes] = {}
    calls = {key: map(id, one.calls) for key, one in bodies.items()} if shared else {}
    for key in reversed(list(TopologicalSorter(calls).static_order())):
        if key not in shared:
            continue
        one, own = bodies[key], sizes.setdefault(key, OwnSizes())
        scopes = [scope for _, scope in one.graphs.values()]
        operands = [
            scope.get(name) for graph, scope in one.graphs.values() if scope.parent is None for name, _ in graph.inputs
        ]
        kept = {v for value in operands for v in variables_in(value)}
        held = {v for scope in scopes for value in scope.values() for v in variables_in(value)}
        kept |= {v for v in held if not is_data_dependent(v.origin)}
        own.of = {v: v for v in kept} | own.of
        shared.update(map(id, one.calls))
        for inner in one.calls:
            sizes.setdefault(id(inner), OwnSizes()).of.update(own.of)
    return sizes


def calls_in(root: Bodies) -> tuple[dict[int, Bodies], Counter[int]]:
    """The bodies that were walked, and how many calls each one is for, by id."""
    bodies, pending = {id(root): root}, [root]
    counts: Counter[int] = Counter()
    while pending:
        calls = pending.pop().calls
        counts.update(map(id, calls))
        new = {id(one): one for one in calls if id(one) not in bodies}
        bodies |= new
        pending += new.values()
    return bodies, counts


def _with_sizes(graphs: Mapping[int, tuple[Graph, Scope]], sizes: OwnSizes) -> dict[int, tuple[Graph, Scope]]:
    """The graphs of a body, with values that have other variables for sizes."""
    renamed: dict[int, tuple[Graph, Scope]] = {}
    copies: dict[int, Scope] = {}
    for key, (graph, scope) in graphs.items():
        other = copies[id(scope)] = Scope(scope.model, scope.constants, scope.operators, scope.parent, scope.attributes)
        other.update((name, value and sizes.put(value)) for name, value in scope.items())
        renamed[key] = graph, other
    for other in copies.values():
        other.parent = copies.get(id(other.parent), other.parent)
    return renamed


def _joined(a: Scope, b: Scope, known: dict[tuple[Value, Value], Value]) -> Scope:
    """The joined values of a graph from two walks. A size that differs has no name."""
    both = Scope(a.model, a.constants, a.operators, a.parent, NO_ATTRIBUTES)
    for name, value in a.items():
        other = b.get(name)
        if value is None or other is None:
            both[name] = NOTHING
        elif value is other:
            both[name] = value
        else:
            joint = known.get((value, other))
            both[name] = known[value, other] = join(value, other, varying) if joint is None else joint
    return both
