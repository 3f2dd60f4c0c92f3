"""Inference of single nodes of onnx_ir, with the types and the known elements that their values have.

>>> import onnx_ir as ir
>>> model = ir.from_onnx_text('''
... <ir_version: 10, opset_import: ["": 20]>
... g (float[N, 8] x, float[M, 8] y, float[1, 8] b) => (z) {
...     xy = Concat <axis: int = 0> (x, y)  s = Shape (xy)  z = Expand (b, s) }''')
>>> inference = NodeInference(model.graph)
>>> for node in model.graph:
...     inference.update(node)
>>> model.graph[1].outputs[0].meta["symbolic_value"], model.graph.outputs[0].shape
([SymbolicDim('M + N'), 8], Shape([SymbolicDim('M + N'), 8]))
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import onnx_ir as ir

from onnx_infer.errors import ShapeInferenceError
from onnx_infer.integrations.onnx_ir import ir_elements, ir_sizes, ir_type
from onnx_infer.integrations.onnx_ir_names import ValueNames, given_values, subgraphs
from onnx_infer.integrations.onnx_ir_reader import (
    Reader,
    declared_sizes,
    load,
    message,
    nodes,
    typed,
    written_sizes,
)
from onnx_infer.model.graph import Graph, Model, normal_domain
from onnx_infer.model.size_texts import generated
from onnx_infer.node import Known, NodeByNode
from onnx_infer.protobuf.reading import OVERRIDABLE, schema_body, schema_function
from onnx_infer.values.tensor import SymTensor, Value
from onnx_infer.values.text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_infer.model.symbols import Symbols


class Inferred(NamedTuple):
    """What inference finds of an output. `elements` are all elements of a tensor of sizes. None: it is not known."""

    type: ir.TypeProtocol | None
    shape: ir.Shape | None
    elements: list[int | ir.SymbolicDim] | None


def infer_node_outputs(
    node: ir.Node, model: ir.Model | None = None, *, opset_imports: Mapping[str, int] | None = None
) -> list[Inferred]:
    """The types, shapes and known elements of a node's outputs, in order. Nothing is changed.

    The types and shapes of the inputs are those of the values. Their known elements are the constant `const_value`, but
    not of a graph's input, which a caller may give; else `meta["symbolic_value"]`, ints and `SymbolicDim`s. Subgraphs
    may read values around them. The operators' versions are those of `opset_imports`, else of the node's graph, else of
    the model, else of the node. Functions are those of the `model`. The names in the types of its inputs are symbols of
    at least 1, those that only other values have are sizes of at least 0; without a model all are symbols.

    A data-dependent size is None, as is one that depends on a size without a name. What the node demands of
    its inputs, and what is assumed of them, are guards of the whole model. Raises `OpUsageError` if there is no rule,
    and `ShapeInferenceError`, which is also onnx's `InferenceError`, for a wrong node.

    >>> x, shape = ir.val("x", ir.DataType.FLOAT, ["N", 6]), ir.val("shape", ir.DataType.INT64, [3])
    >>> shape.meta["symbolic_value"] = [ir.SymbolicDim("N"), 2, -1]
    >>> infer_node_outputs(ir.node("Reshape", [x, shape]), opset_imports={"": 20})[0].shape
    Shape([SymbolicDim('N'), 2, 3])
    """
    if model is None:
        inference = NodeInference(opset_imports=opset_imports)
        inference.declare(v for v in node.inputs if v is not None)
    else:
        inference = NodeInference.of(model, opset_imports=opset_imports)
    return [_without_made(inferred) for inferred in inference.infer(node)]


def _without_made(inferred: Inferred) -> Inferred:
    """The same without the names that inference gives: another call gives them again."""
    kind, shape, elements = inferred
    if shape is not None:
        shape = ir.Shape([d if isinstance(d, int) or not generated(d.value or "") else None for d in shape])
    if elements is not None and any(not isinstance(x, int) and generated(x.value or "") for x in elements):
        elements = None
    return Inferred(kind, shape, elements)


class NodeInference:
    """Inference of the nodes of a graph one by one, for a builder or a folder: each as `infer_node_outputs` infers it.

    It keeps more of the values than onnx_ir can: unknown elements and booleans among others. Sizes that only the data
    decide get names, `_d0`, and no two get the same. If the type or the shape of a value was changed, that counts.

    Args:
        graph: The main graph, whose inputs declare symbols. It may still grow.
        functions: Those that nodes may call, by identifier. They may still become more.
        opset_imports: domain -> version, if they are not to be read from the graphs of the nodes.
        overridable: Whether a caller of the model may give initializers that are inputs, too: from IR version 4 on.
        assumes: Whether sizes may rest on what inference of the whole model states as assumed guards. False for a
            transformation that must be right in all runs.
    """

    def __init__(
        self,
        graph: ir.Graph | None = None,
        functions: Mapping[Any, ir.Function] | None = None,
        *,
        opset_imports: Mapping[str, int] | None = None,
        overridable: bool = True,
        assumes: bool = True,
    ) -> None:
        self._graph, self._functions, self._opsets = graph, {} if functions is None else functions, opset_imports
        self._overridable = overridable
        self._nodes = NodeByNode(assumes)
        self._known: WeakKeyDictionary[ir.Value, Known] = WeakKeyDictionary()
        self._declared = 0  # how many inputs of the graph have declared their symbols

    @classmethod
    def of(
        cls, model: ir.Model, *, opset_imports: Mapping[str, int] | None = None, assumes: bool = True
    ) -> NodeInference:
        """That of a model's graph, with its functions."""
        overridable = model.ir_version >= OVERRIDABLE
        options: Any = {"opset_imports": opset_imports, "overridable": overridable, "assumes": assumes}
        return cls(model.graph, model.functions, **options)

    def declare(self, values: Iterable[ir.Value]) -> None:
        """Let the names in the shapes of these values be symbols, as those of the graph's inputs."""
        self._nodes.declare(size for value in values for size in declared_sizes(value))

    def infer(self, node: ir.Node) -> list[Inferred]:
        """What is known of the node's outputs. Raises `ShapeInferenceError`; nothing is changed in the graph."""
        if self._graph is not None and len(self._graph.inputs) > self._declared:
            self.declare(self._graph.inputs[self._declared :])
            self._declared = len(self._graph.inputs)
        inner, functions = list(subgraphs(node)), self._called_in(node)
        read: Iterable[ir.Value] = (v for v in node.inputs if v is not None)
        known = {value: self._entered(value) for value in (chain(read, _captured(inner)) if inner else read)}
        names = {value: name for value, (name, _, _) in known.items()}
        for i, output in enumerate(node.outputs):
            is_left_out = output.name == "" and not output.uses() and not output.is_graph_output()
            names[output] = "" if is_left_out else self._nodes.name(output.name or f"output {i}")
        if inner or functions:
            names = ValueNames((*inner, *(f.graph for f in functions)), names)
        results = self._results(node, known, names, functions)
        told = []
        for output in node.outputs:
            name = names[output]
            value = results.get(name) if name else None
            self._known[output] = self._nodes.known(name, value, ())
            told.append(Inferred(ir_type(value), _shape(value), ir_elements(value)))
        return told

    def update(self, node: ir.Node) -> None:
        """Write what is known into the node's outputs; a number, or a name, that a shape has already stays.

        Raises `ShapeInferenceError`, also where a shape contradicts the inferred one.
        """
        for output, (kind, shape, elements) in zip(node.outputs, self.infer(node), strict=True):
            if output.shape is None:
                output.shape = shape
            else:
                try:
                    output.merge_shapes(shape)
                except ValueError as error:
                    raise ShapeInferenceError(str(error)) from None
            if kind is not None:
                output.type = kind
            if elements is not None:
                output.meta["symbolic_value"] = elements

    def _results(
        self,
        node: ir.Node,
        known: Mapping[ir.Value, Known],
        names: Mapping[ir.Value, str],
        functions: list[ir.Function],
    ) -> Mapping[str, Value]:
        """Values by name, among them those of the node's outputs, as far as they are known."""
        constants: dict[str, Any] = {}
        literals: list[str] = []
        view = list(nodes([node], names, constants, literals))
        if literals:
            return {name: load(constants[name].value) for name in literals}
        opsets, values = self._opsets_of(node), tuple([None if v is None else known[v].value for v in node.inputs])
        outputs = self._nodes.remembered(view[0], opsets, values)
        if outputs is not None:
            return dict(zip(view[0][3], outputs, strict=False))

        def model(symbols: Symbols) -> Model:
            reader = Reader(symbols, False, names, {})
            inputs: list[tuple[str, Value | None]] = [(name, value) for name, value, _ in known.values()]
            graph = Graph("", inputs, {}, lambda: view, [], [names[v] for v in node.outputs], {})
            bodies = partial(schema_function, schema_body, message)
            called = {(f.domain, f.name, f.overload): f for f in map(reader.function, functions)}
            return Model(graph, called, opsets, reader.header, reader.load, reader.subgraph, bodies, names.values)

        return self._nodes.walk(model).scope

    def _entered(self, value: ir.Value) -> Known:
        """What is known of an input."""
        tensor = value.const_value
        if tensor is not None and self._overridable and value.is_graph_input():
            tensor = None  # the caller may give another one
        seen = (tensor,) if tensor is not None else (None, value.type, *(() if value.shape is None else value.shape))
        known = self._known.get(value)
        if known is not None:
            if len(known.seen) == len(seen) and all(map(is_, known.seen, seen)):
                return known
            if tensor is None and _agrees(value, known.value):
                known = self._known[value] = known._replace(seen=seen)
                return known
        name = self._nodes.name(value.name or "value")
        described = self._read(value) if tensor is None else load(tensor, long=True)
        known = self._known[value] = self._nodes.known(name, described, seen)
        return known

    def _read(self, value: ir.Value) -> Value | None:
        """The value that the type, the shape and the kept elements of an `ir.Value` describe."""
        is_input = self._graph is None or (value.is_graph_input() and value.graph is self._graph)
        read = partial(self._nodes.size, low=int(is_input))
        tensor = typed(value.type, None if value.shape is None else declared_sizes(value), read)
        elements = value.meta.get("symbolic_value")
        if isinstance(elements, list) and isinstance(tensor, SymTensor) and tensor.shape in ((), (len(elements),)):
            data = [x if isinstance(x, int) else self._nodes.element(getattr(x, "value", None)) for x in elements]
            return SymTensor(tensor.dtype, tensor.shape, data)
        return tensor

    def _opsets_of(self, node: ir.Node) -> dict[str, int]:
        """domain -> version. A graph inside of another one need not have imports."""
        holders = (node.graph, self._graph)
        imports = self._opsets or next((h.opset_imports for h in holders if h is not None and h.opset_imports), {})
        opsets = {normal_domain(text(domain)): version for domain, version in imports.items() if version is not None}
        if node.version is not None:
            opsets.setdefault(normal_domain(text(node.domain)), node.version)
        return opsets

    def _called_in(self, node: ir.Node) -> list[ir.Function]:
        """The functions that a node may call, with those called in their bodies and in subgraphs."""
        if not self._functions:
            return []
        called: dict[Any, ir.Function] = {}
        pending = [node]
        while pending:
            node = pending.pop()
            for graph in subgraphs(node):
                pending += graph
            key = node.op_identifier()
            function = self._functions.get(key)
            if function is not None and key not in called:
                called[key] = function
                pending += function
        return list(called.values())


def _shape(value: Value | None) -> ir.Shape | None:
    sizes = ir_sizes(value)
    return None if sizes is None else ir.Shape(sizes)


def _captured(graphs: list[ir.Graph]) -> list[ir.Value]:
    """The values that graphs inside of a node read from around it."""
    own: set[ir.Value] = set()
    used: dict[ir.Value, None] = {}
    pending = list(graphs)
    while pending:
        graph = pending.pop()
        own.update(chain(graph.inputs, graph.initializers.values(), given_values(graph)))
        used.update((v, None) for v in chain(*(node.inputs for node in graph), graph.outputs) if v is not None)
        pending += [inner for node in graph for inner in subgraphs(node)]
    return [value for value in used if value not in own]


def _agrees(value: ir.Value, known: Value) -> bool:
    """Whether the type and the shape of a value say no more than what is known."""
    if value.type is not None and value.type != ir_type(known):
        return False
    if value.shape is None:
        return True
    sizes, written = ir_sizes(known), written_sizes(value)
    if sizes is None or len(sizes) != len(written):
        return False
    return all(w is None or w == d for w, d in zip(written, sizes, strict=True))
