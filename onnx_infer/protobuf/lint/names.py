"""Names and types of values: each name once, given before it is read, and a type where one is needed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx import TensorProto

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
        yield from _untyped(scope)
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
    nodes = _repeated(text(node.name) for node in graph.node if node.op_type != "Constant")  # which become initializers
    yield from (Finding("repeated-node-name", place, name) for name in nodes)
    if scope.place == "graph" and scope.root.ir_version < OVERRIDABLE:
        known = {text(info.name) for info in graph.input}
        yield from (Finding("initializer-not-input", place, name) for name in initializers(graph) if name not in known)


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
