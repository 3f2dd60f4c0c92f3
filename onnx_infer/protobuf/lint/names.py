"""Names and types of values: each name once, given before it is read, and a type where one is needed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx import ModelProto, TensorProto

from onnx_infer.protobuf.lint.findings import Finding
from onnx_infer.protobuf.lint.scopes import Scope, entering, initializers, node_label
from onnx_infer.protobuf.reading import OVERRIDABLE
from onnx_infer.values.text import text, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def name_findings(scope: Scope) -> Iterator[Finding]:
    """The findings about the names of one graph."""
    graph, place = scope.graph, scope.place
    if scope.is_function:
        outputs = texts(graph.output)
    else:
        outputs = [text(info.name) for info in graph.output]
        yield from _unnamed(scope, outputs)
    yield from (Finding("repeated-name", place, name) for name in _repeated(_made(scope)))
    for name in scope.given:
        if scope.sees(name):
            yield Finding("shadowed-name", place, name)
    yield from _not_given(scope)
    for name in dict.fromkeys(outputs) if not scope.is_function else ():
        if name and name not in scope.given:
            is_outer = scope.sees(name)
            yield Finding("outer-value-returned" if is_outer else "value-not-given", place, name)
    infos = _repeated(text(info.name) for info in graph.value_info)
    yield from (Finding("repeated-value-info", place, name) for name in infos)
    nodes = _repeated(text(node.name) for node in graph.node if node.name)
    yield from (Finding("repeated-node-name", place, name) for name in nodes)
    if isinstance(scope.root, ModelProto) and scope.around is None:
        yield from _of_main_graph(scope.root)


def _made(scope: Scope) -> Iterator[str]:
    """Each name as often as something gives it. An initializer may have the name of an input."""
    if scope.is_function:
        yield from texts(scope.graph.input)
    else:
        inputs = [text(info.name) for info in scope.graph.input]
        yield from inputs
        weights = initializers(scope.graph)
        yield from set(weights).difference(inputs)
        yield from _repeated(weights)
    yield from (name for node in scope.graph.node for name in texts(node.output))


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(filter(None, names)).items() if count > 1]


def _unnamed(scope: Scope, outputs: list[str]) -> Iterator[Finding]:
    graph, place = scope.graph, scope.place
    if not graph.name:
        yield Finding("unnamed", place, "", "the graph" if scope.around is None else "the body")
    for what, names in (("input or initializer", entering(graph, False)), ("output", outputs)):
        if "" in names:
            yield Finding("unnamed", place, "", f"an {what}")


def _not_given(scope: Scope) -> Iterator[Finding]:
    told: set[str] = set()
    for number, node in enumerate(scope.graph.node):
        for name in filter(None, texts(node.input)):
            if scope.given.get(name, number) < number or name in told or scope.sees(name):
                continue
            told.add(name)
            later = ", which stands before what gives it" if name in scope.given else ""
            yield Finding("value-not-given", scope.place, name, f"{node_label(node)} reads it{later}")


def _of_main_graph(model: ModelProto) -> Iterator[Finding]:
    graph = model.graph
    if model.ir_version < OVERRIDABLE:
        inputs = {text(info.name) for info in graph.input}
        yield from (
            Finding("initializer-not-input", "graph", name) for name in initializers(graph) if name not in inputs
        )
    for infos in (graph.input, graph.output):
        for info in infos:
            if missing := _missing(info):
                yield Finding("untyped-value", "graph", text(info.name), missing)


def _missing(info: Any) -> str:
    """What the type of a value lacks; empty if it is complete."""
    kind = info.type.WhichOneof("value")
    if kind is None:
        return "it has no type"
    inner = getattr(info.type, kind)
    if kind in ("tensor_type", "sparse_tensor_type"):
        if inner.elem_type not in TensorProto.DataType.values() or not inner.elem_type:
            return f"it has the element type {inner.elem_type}" if inner.elem_type else "it has no element type"
        return "" if inner.HasField("shape") else "it has no shape"
    if kind == "map_type":
        return "" if inner.key_type and inner.HasField("value_type") else "the map has no type of keys or values"
    if kind == "opaque_type":
        return "" if inner.name else "the opaque type has no name"
    return "" if inner.HasField("elem_type") else "it has no type of elements"
