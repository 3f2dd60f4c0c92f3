"""Inference of a single node or function, with the signatures of `onnx.shape_inference`, and of nodes one by one."""

from __future__ import annotations

from itertools import count, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import onnx

from onnx_infer.engine.record import NAMELESS, Record, Setting
from onnx_infer.engine.run_time import RunTimeValues
from onnx_infer.engine.walk import remembered, run_graph, walk
from onnx_infer.errors import OpUsageError, StrictModeError
from onnx_infer.laws.statements import Mode, make_size
from onnx_infer.model.attributes import declared_size, value_type
from onnx_infer.model.graph import Graph, Model, normal_domain, title_of
from onnx_infer.model.size_texts import generated
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.known_schemas import find_schema
from onnx_infer.operators.operator import operators_of
from onnx_infer.protobuf.declarations import innermost_dims
from onnx_infer.protobuf.nodes import ProtoNodes
from onnx_infer.protobuf.reading import OVERRIDABLE, GraphReader, header, load, schema_bodies
from onnx_infer.protobuf.wire import type_bytes
from onnx_infer.types.join import NOTHING
from onnx_infer.values.text import text, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_infer.model.graph import Function, Node
    from onnx_infer.model.size_texts import Size
    from onnx_infer.values.tensor import Dim, Value


def infer_node_outputs(
    schema: onnx.defs.OpSchema | None,
    node: onnx.NodeProto,
    input_types: Mapping[str, onnx.TypeProto],
    input_data: Mapping[str, onnx.TensorProto] | None = None,
    input_sparse_data: Mapping[str, onnx.SparseTensorProto] | None = None,
    opset_imports: Sequence[onnx.OperatorSetIdProto] | None = None,
    ir_version: int = onnx.IR_VERSION,
) -> dict[str, onnx.TypeProto]:
    """The types of a node's outputs by name. An output without any known type is left out.

    The node's version is that of the schema, else that in `opset_imports`, else the newest. Nodes in its subgraphs use
    the versions of `opset_imports`, and see all names in `input_types`. Raises `OpUsageError` if there is no rule, and
    `ShapeInferenceError`, which is also onnx's `InferenceError`, with operator, node and operands.

    >>> node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    >>> types = {n: onnx.helper.make_tensor_type_proto(1, ["N", d]) for n, d in (("a", 1), ("b", 5))}
    >>> [d.dim_param or d.dim_value for d in infer_node_outputs(None, node, types)["c"].tensor_type.shape.dim]
    ['N', 5]
    """
    name, domain = text(node.op_type), normal_domain(text(node.domain))
    opsets = {normal_domain(text(o.domain)): o.version for o in opset_imports or ()}
    if schema is not None:
        known = find_schema(schema.domain, schema.name, opsets[domain]) if domain in opsets else None
        if known is None or known.since_version != schema.since_version:
            opsets[domain] = schema.since_version
    constants = {text(n): data for n, data in (*(input_data or {}).items(), *(input_sparse_data or {}).items())}
    types = {text(n): kind for n, kind in input_types.items()}
    engine = _walk(node, types, constants, opsets, ir_version)
    if engine.scope.operators[domain, name] is None and any(d.severity == "warning" for d in engine.diagnostics):
        raise OpUsageError(f"unsupported operator {domain or 'ai.onnx'}::{name}")
    wires = {output: type_bytes(engine.scope[output]) for output in texts(node.output) if output}
    return {output: onnx.TypeProto.FromString(wire) for output, wire in wires.items() if wire}


def infer_function_output_types(
    function: onnx.FunctionProto,
    input_types: Sequence[onnx.TypeProto],
    attributes: Sequence[onnx.AttributeProto] = (),
) -> list[onnx.TypeProto]:
    """The types of a function's outputs at these types of its inputs and these attributes of the call.

    An input without a type, or with an empty one, is of any type. The type of an output of which nothing is known is
    empty. Raises `ShapeInferenceError`, which is onnx's `InferenceError` too, with operator, node and operands.

    >>> function = onnx.parser.parse_function('''<domain: "acme", opset_import: ["": 20]>
    ... Double <axis> (x) => (y) { y = Concat <axis: int = @axis> (x, x) }''')
    >>> x, axis = onnx.helper.make_tensor_type_proto(1, ["N", 3]), onnx.helper.make_attribute("axis", 1)
    >>> y, = infer_function_output_types(function, [x], [axis])
    >>> [d.dim_param or d.dim_value for d in y.tensor_type.shape.dim]
    ['N', 6]
    """
    inputs = texts(function.input)
    if len(input_types) > len(inputs):
        title = f"{text(function.domain)}::{text(function.name)}"
        raise StrictModeError(f"{title}: takes {len(inputs)} inputs, but {len(input_types)} types are given")
    types = dict(zip(inputs, [*input_types, *repeat(onnx.TypeProto(), len(inputs))], strict=False))
    outputs = [f"output {i}" for i in range(len(function.output))]
    call = onnx.NodeProto(domain=_CALLED[0], op_type=_CALLED[1], input=inputs, output=outputs, attribute=attributes)
    engine = _walk(call, types, {}, {}, onnx.IR_VERSION, function)
    return [onnx.TypeProto.FromString(type_bytes(engine.scope[name])) for name in outputs]


_CALLED = ("onnx_infer", "called", "")
"""The domain, name and overload of a function that is inferred alone: no operator has them, so its body is read."""


def _walk(
    node: onnx.NodeProto,
    input_types: Mapping[str, onnx.TypeProto],
    constants: dict[str, Any],
    opsets: Mapping[str, int],
    ir_version: int,
    function: onnx.FunctionProto | None = None,
) -> Record:
    """The engine after its walk over the one node, which may call the function. Raises `StrictModeError`."""
    dims = (dim for kind in input_types.values() for dim in innermost_dims(kind))
    written = [size for dim in dims if isinstance(size := declared_size(dim), str)]
    symbols = Symbols((size for size in written if not generated(size)), filter(generated, written))
    reader = GraphReader(symbols, ir_version < OVERRIDABLE)
    names = [n for n in dict.fromkeys((*texts(node.input), *input_types)) if n and n not in constants]
    inputs = [(n, value_type(input_types[n], symbols.reader(n)) if n in input_types else None) for n in names]
    functions = {} if function is None else {_CALLED: reader.function(function)}
    model = model_of_node(node, inputs, constants, opsets, reader, functions)
    engine = walk(Record(model, symbols))
    if errors := [told for told in engine.diagnostics if told.severity != "warning"]:
        raise StrictModeError(str(errors[0]))
    engine.scope.touch(model.graph.literals)
    return engine


def model_of_node(
    node: onnx.NodeProto,
    inputs: list[tuple[str, Value | None]],
    constants: dict[str, Any],
    opsets: Mapping[str, int],
    reader: GraphReader,
    functions: Mapping[tuple[str, str, str], Function],
) -> Model:
    """The view of a model of one node, which may call the functions."""
    literals: list[str] = []
    nodes = ProtoNodes([node], constants, literals)
    graph = Graph("", inputs, constants, nodes, literals, texts(node.output), {})
    return Model(graph, functions, opsets, header, load, reader.graph, schema_bodies, list)


class Known(NamedTuple):
    """What is known of a value, under a name that no other value has, and what of its object agrees with it."""

    name: str
    value: Value
    seen: Any


class NodeByNode:
    """Inference of nodes one by one, for a caller that keeps the values: a node sees those of its inputs only.

    What a node demands changes no other value. So a value has its type in every run that computes it, whether the node
    is in a branch, or is dropped later. If it `assumes`, such a run also fulfils the assumed guards of the nodes before
    it. A data-dependent size gets a name that is given once.
    """

    def __init__(self, assumes: bool = True) -> None:
        self.symbols = Symbols([])
        self._setting = Setting(mode=Mode(is_cautious=not assumes))
        self._elements = RunTimeValues(self.symbols)
        self._numbers = count()

    def name(self, of: str) -> str:
        """A new name for a value, which makes it another one than all values before."""
        return f"{of}#{next(self._numbers)}"

    def declare(self, sizes: Iterable[Size]) -> None:
        """Let these be sizes of inputs: their names are symbols, which are at least 1."""
        self.symbols.declare(s for s in sizes if isinstance(s, str) and not self.symbols.may_be_given(s))

    def size(self, written: Size, low: int = 0, is_own: bool = False) -> Dim:
        """A size in the type of a value that is read for the first time; one without a name is at least `low`.

        A name that may be given here says nothing there, because it may be one of an earlier inference; but it does if
        the type `is_own`: one that was inferred here.
        """
        if isinstance(written, int):
            return written
        if written is None or (not is_own and self.symbols.may_be_given(written)):
            return make_size(self.symbols.name(), low, None, None, NAMELESS)
        if not is_own and generated(written):
            self.symbols.declare([written])
        return self.symbols.text(written)

    def element(self, written: Size) -> Dim | None:
        """A known element, as it is written; None unless it is a number or an expression of sizes that are known."""
        if not isinstance(written, str) or self.symbols.may_be_given(written):
            return written if isinstance(written, int) else None
        return self.symbols.expression(written)

    def known(self, name: str, value: Value | None, seen: Any) -> Known:
        """A value as it is read; an integer that only a run knows gets a variable of this name."""
        return Known(name, NOTHING if value is None else self._elements.named(name, value), seen)

    def remembered(
        self, node: Node, opsets: Mapping[str, int], values: tuple[Value | None, ...]
    ) -> Sequence[Value] | None:
        """The results of a node, if the operator's rule was asked about these values and says no more than types."""
        operator = operators_of(opsets)[node[1], node[0]]
        outcome = None if operator is None else remembered(operator, node, self._setting.mode, values)
        return None if outcome is None else outcome.values

    def walk(self, view: Callable[[Symbols], Model]) -> Record:
        """The record of the walk over a graph of one node. Its inputs have the values so far.

        Raises `StrictModeError` for an error, and `OpUsageError` if there is no rule for the node.
        """
        record = Record(view(self.symbols), self.symbols, self._setting)
        record.sizes.run_time = self._elements
        run_graph(record, record.model.graph, record.scope)
        if errors := [told for told in record.diagnostics if told.severity != "warning"]:
            raise StrictModeError(str(errors[0]))
        if record.unknown_operators:
            for node in record.model.graph.nodes():
                if title_of(node) in record.unknown_operators:
                    raise OpUsageError(f"unsupported operator {title_of(node)}")
        record.scope.touch(record.model.graph.literals)
        return record
