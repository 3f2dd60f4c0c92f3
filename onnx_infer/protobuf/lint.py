"""What runs here and is refused elsewhere: names, bodies and files that onnx's checker or onnxruntime does not take.

A finding says nothing of the sizes. Each rule was tried against onnx and onnxruntime; `RULES` says which refuse.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_infer.protobuf.files import Source, data_files, read_model, within
from onnx_infer.protobuf.nodes import placed
from onnx_infer.protobuf.reading import OVERRIDABLE
from onnx_infer.values.text import printable, text, texts
from symdim.algebra.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx import ModelProto

RULES = {
    "shadowed-name": (
        "a value of a body has a name that is visible around the body; the specification forbids it, and onnx's "
        "checker and onnxruntime refuse it if a node gives the value",
        "rename the value in the body",
    ),
    "outer-value-returned": (
        "a body returns a value of the graph around it; onnx's checker and onnxruntime refuse the model",
        "return an Identity of the value",
    ),
    "repeated-value-info": (
        "several value_infos have one name; which of them counts differs, and where types differ onnx and onnxruntime "
        "refuse the model",
        "keep one of them",
    ),
    "repeated-node-name": ("nodes of one graph have one name; onnxruntime refuses the model", "give each its own name"),
    "initializer-not-input": (
        f"below IR version {OVERRIDABLE} each initializer is an input, too; onnx's checker refuses the model",
        f"make it an input, or raise ir_version to {OVERRIDABLE}",
    ),
    "linked-weights": (
        "a file of weights is a symbolic link, or has several hard links; onnx refuses both, and onnxruntime a link "
        "out of the model's folder",
        "copy the file itself into the model's folder",
    ),
    "outside-weights": (
        "a file of weights is not in the model's folder or below it; onnx and onnxruntime refuse it",
        "copy it there, and let the location be relative",
    ),
    "missing-weights": ("a file of weights is missing", "put it where the model says"),
}
"""Rule -> what is wrong and who refuses it, and the cure."""


class Finding(NamedTuple):
    """What a rule found: the place (a graph, or a body by the nodes around it), and the name of a value or a file."""

    rule: str
    place: str
    name: str

    @property
    def problem(self) -> str:
        """What is wrong, and which tool refuses it."""
        return RULES[self.rule][0]

    @property
    def cure(self) -> str:
        """What to do."""
        return RULES[self.rule][1]

    def __str__(self) -> str:
        return printable(f"{self.rule}: {self.place}: {self.name!r}: {self.problem}; {self.cure}")


def lint(model: Source, path: str | os.PathLike[str] | None = None) -> list[Finding]:
    """What other tools refuse in a model, in order of the model.

    The files of its weights are looked at if the model is a path, or lies at the given one.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["": 17]>
    ...     g (float[2] x, bool c) => (float[2] y) {
    ...         t = Relu (x)
    ...         y = If (c) <then_branch = a () => (float[2] t) {}, else_branch = b () => (float[2] u) { u = Neg (x) }>
    ...     }''')
    >>> for finding in lint(model):
    ...     print(finding.rule, "|", finding.place, "|", finding.name, "|", finding.cure)
    outer-value-returned | If 'y' then_branch | t | return an Identity of the value
    """
    proto = read_model(model)
    found = list(_in_graphs(proto))
    path = model if isinstance(model, (str, os.PathLike)) else path
    return found + list(_in_files(proto, path))


class _Scope(NamedTuple):
    """A graph, its place, the values in it with the number of the node that gives each, and what is around it.

    `limit` is the number of the node around: only values before it are visible.
    """

    graph: Any
    place: str
    given: dict[str, int]
    around: _Scope | None
    limit: int

    def sees(self, name: str) -> bool:
        """Whether a name is visible from around the graph."""
        scope = self
        while scope.around is not None:
            if scope.around.given.get(name, scope.limit) < scope.limit:
                return True
            scope = scope.around
        return False


def _in_graphs(model: ModelProto) -> Iterator[Finding]:
    functions = ((f, f"function {text(f.domain)}::{text(f.name)}") for f in model.functions)
    pending = [_scope(graph, place, None, 0) for graph, place in ((model.graph, "graph"), *functions)]
    if model.ir_version < OVERRIDABLE:
        inputs = {text(info.name) for info in model.graph.input}
        names = (text(tensor.name) for tensor in model.graph.initializer)
        yield from (Finding("initializer-not-input", "graph", name) for name in names if name not in inputs)
    pending.reverse()
    while pending:
        scope = pending.pop()
        yield from _in_graph(scope)
        inner = []
        for number, node in enumerate(scope.graph.node):
            if not node.attribute:
                continue
            where = f"{text(node.op_type)} '{text(node.name) or next(filter(None, texts(node.output)), '')}'"
            outer = "" if scope.place == "graph" else f"{scope.place}, "
            for i, _, graph in placed(node):
                inner.append(_scope(graph, f"{outer}{where} {text(node.attribute[i].name)}", scope, number))
        pending += reversed(inner)


def _scope(graph: Any, place: str, around: _Scope | None, limit: int) -> _Scope:
    given: dict[str, int] = {}
    for number, node in enumerate(graph.node):
        for name in filter(None, texts(node.output)):
            given.setdefault(name, number)
    given.update(dict.fromkeys(_entering(graph), -1))
    return _Scope(graph, place, given, around, limit)


def _entering(graph: Any) -> list[str]:
    """The inputs and initializers of a graph; a function names its inputs only."""
    if not hasattr(graph, "initializer"):
        return texts(graph.input)
    sparse = [tensor.values for tensor in graph.sparse_initializer]
    return [text(x.name) for x in (*graph.input, *graph.initializer, *sparse)]


def _in_graph(scope: _Scope) -> Iterator[Finding]:
    graph, place = scope.graph, scope.place
    for name in scope.given:
        if scope.sees(name):
            yield Finding("shadowed-name", place, name)
    if scope.around is not None:
        for name in (text(info.name) for info in graph.output):
            if name not in scope.given and scope.sees(name):
                yield Finding("outer-value-returned", place, name)
    infos = Counter(text(info.name) for info in graph.value_info)
    yield from (Finding("repeated-value-info", place, name) for name, count in infos.items() if count > 1)
    nodes = Counter(text(node.name) for node in graph.node if node.name)
    yield from (Finding("repeated-node-name", place, name) for name, count in nodes.items() if count > 1)


def _in_files(model: ModelProto, path: str | os.PathLike[str] | None) -> Iterator[Finding]:
    """The findings about files of weights; only about their locations if the folder of the model is not known."""
    folder = Path("." if path is None else path).parent
    for file in data_files(model, folder):
        location = text(file.entries[0].value)
        if os.path.isabs(location) or os.path.normpath(location).split(os.sep)[0] == os.pardir:
            yield Finding("outside-weights", "external data", location)
        elif path is not None and not os.path.isfile(file.path):
            yield Finding("missing-weights", "external data", location)
        elif path is not None and _is_linked(file.path, (folder, os.path.dirname(os.path.realpath(path)))):
            yield Finding("linked-weights", "external data", location)


def _is_linked(path: str, folders: Iterable[str | Path]) -> bool:
    """Whether a file is a symbolic link, has several hard links, or lies outside of these folders because of a link."""
    real = os.path.realpath(path)
    outside = all(within(real, Path(folder)) is None for folder in folders)
    return os.path.islink(path) or outside or os.stat(path).st_nlink > 1
