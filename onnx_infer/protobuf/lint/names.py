"""The graphs of a model, functions and bodies too, and their names: each once, given before it is read, and typed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from onnx import TensorProto

from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.nodes import placed
from onnx_infer.protobuf.reading import OVERRIDABLE
from onnx_infer.values.text import text, texts
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx import ModelProto, NodeProto

Name = TypeVar("Name", str, "tuple[str, str, str]")


class Scope(NamedTuple):
    """A graph or function, its place, the names of its inputs, initializers (sparse ones last) and outputs, and what is
    around it.

    `given` are the values in it with the number of the node that gives each, -1 for inputs and initializers. `limit` is
    the number of the node around: only values before it are visible. The `root` is the model, or the function: its
    opsets are those of the nodes.
    """

    graph: Any
    place: str
    inputs: list[str]
    constants: list[str]
    outputs: list[str]
    given: dict[str, int]
    around: Scope | None
    limit: int
    root: Any

    def sees(self, name: str) -> bool:
        """Whether a name is visible from around the graph."""
        scope = self
        while scope.around is not None:
            if scope.around.given.get(name, scope.limit) < scope.limit:
                return True
            scope = scope.around
        return False

    def read(self) -> Iterator[str]:
        """The names that the graph returns and its nodes read."""
        yield from self.outputs
        yield from (name for node in self.graph.node for name in texts(node.input))

    @property
    def is_function(self) -> bool:
        """Whether it is a function itself, which names its inputs and outputs only."""
        return self.graph is self.root


def function_place(function: Any) -> str:
    """The place of what is found in a function."""
    return f"function {text(function.domain)}::{text(function.name)}"


def node_label(node: NodeProto) -> str:
    """A node by its operator and name, or its first output."""
    return f"{text(node.op_type)} '{text(node.name) or next(filter(None, texts(node.output)), '')}'"


def scopes(model: ModelProto) -> Iterator[Scope]:
    """All graphs, outer ones first."""
    functions = [_scope(f, function_place(f), None, 0, f) for f in reversed(model.functions)]
    pending = [*functions, _scope(model.graph, "graph", None, 0, model)]
    while pending:
        scope = pending.pop()
        yield scope
        inner = []
        for number, node in enumerate(scope.graph.node):
            if node.attribute:
                outer = "" if scope.place == "graph" else f"{scope.place}, "
                for i, _, graph in placed(node):
                    place = f"{outer}{node_label(node)} {text(node.attribute[i].name)}"
                    inner.append(_scope(graph, place, scope, number, scope.root))
        pending += reversed(inner)


def _scope(graph: Any, place: str, around: Scope | None, limit: int, root: Any) -> Scope:
    if graph is root:
        inputs, constants, outputs = texts(graph.input), [], texts(graph.output)
    else:
        tensors = (*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer))
        inputs, constants, outputs = ([text(x.name) for x in part] for part in (graph.input, tensors, graph.output))
    given: dict[str, int] = {}
    for number, node in enumerate(graph.node):
        for name in filter(None, texts(node.output)):
            given.setdefault(name, number)
    given.update(dict.fromkeys((*inputs, *constants), -1))
    return Scope(graph, place, inputs, constants, outputs, given, around, limit, root)


def name_findings(scope: Scope) -> Iterator[Finding]:
    """The findings about the names of one graph."""
    graph, place = scope.graph, scope.place
    if not scope.is_function:
        yield from _unnamed(scope)
        yield from _untyped(scope)
    yield from (Finding("repeated-name", place, name) for name in repeated(_made(scope)))
    for name in scope.given:
        if scope.sees(name):
            yield Finding("shadowed-name", place, name)
    yield from _not_given(scope)
    for name in dict.fromkeys(scope.outputs) if not scope.is_function else ():
        if name and name not in scope.given:
            is_outer = scope.sees(name)
            yield Finding("outer-value-returned" if is_outer else "value-not-given", place, name)
    infos = repeated(text(info.name) for info in graph.value_info)
    yield from (Finding("repeated-value-info", place, name) for name in infos)
    nodes = repeated(text(node.name) for node in graph.node if node.op_type != "Constant")  # which become initializers
    yield from (Finding("repeated-node-name", place, name) for name in nodes)
    if scope.place == "graph" and scope.root.ir_version < OVERRIDABLE:
        known = set(scope.inputs)
        yield from (Finding("initializer-not-input", place, name) for name in scope.constants if name not in known)


def _made(scope: Scope) -> Iterator[str]:
    """Each name as often as something gives it. An initializer may have the name of an input."""
    yield from scope.inputs
    yield from set(scope.constants).difference(scope.inputs)
    yield from repeated(scope.constants)
    yield from (name for node in scope.graph.node for name in texts(node.output))


def repeated(names: Iterable[Name]) -> list[Name]:
    """The names that occur several times."""
    return [name for name, count in Counter(filter(None, names)).items() if count > 1]


def _unnamed(scope: Scope) -> Iterator[Finding]:
    if not scope.graph.name:
        yield Finding("unnamed", scope.place, "", "the graph" if scope.around is None else "the body")
    for what, names in (("input or initializer", (*scope.inputs, *scope.constants)), ("output", scope.outputs)):
        if "" in names:
            yield Finding("unnamed", scope.place, "", f"an {what}")


def _not_given(scope: Scope) -> Iterator[Finding]:
    told: set[str] = set()
    for number, node in enumerate(scope.graph.node):
        for name in filter(None, texts(node.input)):
            if scope.given.get(name, number) < number or name in told or scope.sees(name):
                continue
            told.add(name)
            later = ", which stands before what gives it" if name in scope.given else ""
            yield Finding("value-not-given", scope.place, name, f"{node_label(node)} reads it{later}")


def _untyped(scope: Scope) -> Iterator[Finding]:
    """The values without a type that is needed. Those of bodies, and value_infos, may have none, but no broken one.

    Value_infos of initializers and constants are not read.
    """
    graph, is_main = scope.graph, scope.around is None
    makers = {text(info.name): scope.given.get(text(info.name), -1) for info in graph.value_info}
    made = {name for name, number in makers.items() if number >= 0 and graph.node[number].op_type != "Constant"}
    infos = [info for info in graph.value_info if text(info.name) in made]
    for values, needs_type in (((*graph.input, *graph.output), is_main), (infos, False)):
        for info in values:
            if missing := _missing(info.type, needs_type):
                yield Finding("untyped-value", scope.place, text(info.name), missing)


def _missing(kind: Any, needs_type: bool) -> str:
    """What a type lacks; empty if it is complete. One that `needs_type` has a shape, too."""
    form = kind.WhichOneof("value")
    if form is None:
        return "it has no type" if needs_type else ""
    while form in ("sequence_type", "optional_type", "map_type"):
        outer, needs_type = getattr(kind, form), False
        if form == "map_type" and not outer.key_type:
            return "it has a map without a type of keys"
        kind = outer.value_type if form == "map_type" else outer.elem_type
        form = kind.WhichOneof("value")
        if form is None:
            return "it has a sequence, optional or map without a type of elements"
    inner = getattr(kind, form)
    if form == "opaque_type":
        return "" if inner.name else "it has an opaque type without a name"
    if not inner.elem_type or inner.elem_type not in TensorProto.DataType.values():
        return f"it has the element type {inner.elem_type}" if inner.elem_type else "it has no element type"
    return "it has no shape" if needs_type and not inner.HasField("shape") else ""
