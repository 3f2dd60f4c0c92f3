"""The front end of `onnx_ir.Model`: it reads the engine's view from it. External and lazy tensors are never loaded."""

from __future__ import annotations

from copy import copy
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import onnx
import onnx_ir as ir

from onnx_infer.integrations.onnx_ir_names import GRAPHS, ValueNames, given_values
from onnx_infer.model.attributes import constant, known_count, number, strings, unpacked
from onnx_infer.model.graph import NO_ATTRIBUTES, Attributes, Function, Graph, Model, Node, normal_domain, with_names
from onnx_infer.model.size_texts import Size, said
from onnx_infer.protobuf import reading as proto
from onnx_infer.protobuf.nodes import Named
from onnx_infer.protobuf.nodes import message as message_of
from onnx_infer.protobuf.reading import schema_function
from onnx_infer.values.containers import Optional, Sequence, Sparse
from onnx_infer.values.tensor import UNKNOWN_SIZE, Dim, SymTensor, Value
from onnx_infer.values.text import text
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from onnx_infer.model.symbols import Symbols

_interned = shared_cache(1 << 14)

_KIND = ir.AttributeType
_HASHABLE = frozenset((_KIND.FLOAT, _KIND.INT, _KIND.STRING, _KIND.FLOATS, _KIND.INTS, _KIND.STRINGS))
_IN_MEMORY = (ir.Tensor, ir.StringTensor)


# -- types ------------------------------------------------------------------------------------------------------------


def written_sizes(value: ir.Value) -> tuple[Size, ...]:
    """The sizes in the shape of a value as they are written; empty if it has no shape."""
    shape = value.shape
    return () if shape is None else tuple([d if type(d) is int else d.value for d in shape])


def declared_sizes(value: ir.Value) -> tuple[Size, ...]:
    """The same, with None for each that says nothing."""
    return tuple(map(said, written_sizes(value)))


def typed(kind: Any, sizes: tuple[Size, ...] | None, read: Callable[[Size], Dim | None]) -> Value | None:
    """The value that a type and a shape describe, as `onnx_infer.model.attributes.value_type` for a TypeProto."""
    if isinstance(kind, ir.SequenceType):
        # an unnamed size may differ from element to element
        return Sequence(typed(kind.elem_type, sizes, lambda size: UNKNOWN_SIZE if size is None else read(size)))
    if isinstance(kind, ir.OptionalType):
        return Optional(typed(kind.elem_type, sizes, read))
    if kind is None and sizes is None:
        return None
    dims: Any = None if sizes is None else tuple(map(read, sizes))
    if dims is not None and None in dims:
        dims = None
    return (Sparse if isinstance(kind, ir.SparseTensorType) else SymTensor)(
        int(kind.dtype) or None if kind else None, dims
    )


# -- tensors and attributes -------------------------------------------------------------------------------------------


def in_message(tensor: Any) -> Any:
    """The TensorProto from which a tensor was read, if there is one, else the tensor."""
    return tensor.raw if isinstance(tensor, ir.serde.TensorProtoTensor) else tensor


def header(tensor: Any) -> SymTensor:
    """The type of a tensor."""
    shape = tuple(tensor.shape)
    return SymTensor(int(tensor.dtype) or None, shape if all(type(d) is int for d in shape) else None)


def load(tensor: Any, long: bool = False) -> SymTensor:
    """A tensor with its elements, if they are few and in memory. External and lazy tensors are not loaded.

    With `long`, longer integer vectors are read too.
    """
    tensor = in_message(tensor)
    if isinstance(tensor, onnx.TensorProto):
        return constant(tensor, long)
    if not isinstance(tensor, _IN_MEMORY):
        return header(tensor)
    kind, shape = int(tensor.dtype), tuple(tensor.shape)
    return SymTensor(kind or None, shape, _elements(tensor, kind, known_count(kind, shape, long)))


def _elements(tensor: ir.Tensor | ir.StringTensor, kind: int, count: int | None) -> tuple[Any, ...] | None:
    if count is None:
        return None
    if isinstance(tensor, ir.StringTensor):
        return strings(tensor.string_data(), count)
    try:
        raw = tensor.tobytes()
    except (TypeError, ValueError, RuntimeError):  # a tensor without data, such as torch's fake tensors
        return None
    return unpacked(kind, raw, count)


def read_attributes(attributes: Any) -> Attributes:
    """The attributes of a node that has some. Equal attributes are the same object."""
    if any(a.ref_attr_name or a.type in GRAPHS for a in attributes):
        references = {text(a.name): text(a.ref_attr_name) for a in attributes if a.ref_attr_name}
        values = {text(a.name): attribute_value(a) for a in attributes if not a.ref_attr_name}
        return Attributes(values, references or None, any(a.type in GRAPHS for a in attributes))
    key = tuple([(a.name, a.type, a.value if a.type in _HASHABLE else attribute_value(a)) for a in attributes])
    read: Attributes | None = _interned.get(key)
    if read is None:
        read = _interned[key] = Attributes({text(a.name): attribute_value(a) for a in attributes})
    return read


def attribute_value(attribute: ir.Attr) -> Any:
    """The plain value of an attribute, as `onnx_infer.model.attributes.attribute_value` for an AttributeProto."""
    kind, value = attribute.type, attribute.value
    read = None if value is None else _READERS.get(kind)
    return value if read is None else read(value)


def _single(value: float) -> float:
    """A float rounded to 32 bits, as in a message."""
    import numpy

    with numpy.errstate(over="ignore"):
        return float(numpy.float32(value))


def _type(value: ir.TypeAndShape) -> Value | None:
    sizes = None if value.shape is None else tuple(said(d if type(d) is int else d.value) for d in value.shape)
    return typed(value.type, sizes, number)


_READERS: dict[Any, Callable[[Any], Any]] = {
    _KIND.FLOAT: _single,
    _KIND.STRING: text,
    _KIND.TENSOR: load,
    _KIND.TYPE_PROTO: _type,
    _KIND.SPARSE_TENSOR: lambda _: None,
    _KIND.FLOATS: lambda values: tuple(map(_single, values)),
    _KIND.STRINGS: lambda values: tuple(map(text, values)),
    _KIND.TENSORS: lambda values: tuple(map(load, values)),
    _KIND.TYPE_PROTOS: lambda values: tuple(map(_type, values)),
    _KIND.SPARSE_TENSORS: lambda _: None,
}
"""What reads the value of an attribute by its kind; any other value is as plain as it is."""


# -- graphs -----------------------------------------------------------------------------------------------------------


class OnnxIRFrontEnd:
    """The front end of an `onnx_ir.Model`. `names` are the engine's names for its values."""

    def __init__(self, model: ir.Model) -> None:
        self.model = model
        self.names = ValueNames((model.graph, *(f.graph for f in model.functions.values())))
        self._shapes: Mapping[str, tuple[Size, ...]] = {}

    def dim_params(self) -> tuple[list[str], list[str]]:
        """The texts in the shapes of inputs, in order, and in those of outputs and intermediate values."""
        graph = self.model.graph
        others = chain(graph.outputs, given_values(graph))
        return [s for _, sizes in self.inputs() for s in sizes if isinstance(s, str)], _texts(others)

    def metadata(self) -> dict[str, str]:
        """The metadata of the graph."""
        return {text(key): text(value) for key, value in self.model.graph.metadata_props.items()}

    def inputs(self) -> Iterator[tuple[str, tuple[Size, ...]]]:
        """The sizes of inputs as the model writes them."""
        named = ((self.names[value], value) for value in self.model.graph.inputs)
        return ((name, self._shapes.get(name) or declared_sizes(value)) for name, value in named)

    def reshaped(self, shapes: Mapping[str, tuple[Size, ...]]) -> OnnxIRFrontEnd:
        """The same model with other shapes of tensors that are inputs. The model is not changed."""
        front = copy(self)
        front._shapes = shapes
        return front

    def view(self, symbols: Symbols, all_constant: bool = False) -> Model:
        """The model with its dims read as sizes."""
        constant = all_constant or self.model.ir_version < proto.OVERRIDABLE
        return Reader(symbols, constant, self.names, self._shapes).model(self.model)


def _texts(values: Any) -> list[str]:
    sizes = (s for value in values for s in declared_sizes(value))
    return [s for s in sizes if isinstance(s, str)]


class Reader:
    """Reads graphs. Graphs in the bodies of operator schemas are protobuf messages here too."""

    def __init__(
        self, symbols: Symbols, all_constant: bool, names: Mapping[Any, str], shapes: Mapping[str, tuple[Size, ...]]
    ) -> None:
        self.symbols, self.all_constant, self.names, self.shapes = symbols, all_constant, names, shapes
        self._messages = proto.GraphReader(symbols, all_constant)
        self._declared: dict[Any, Value | None] = {}

    def model(self, model: ir.Model) -> Model:
        """The view of a model."""
        functions = {(f.domain, f.name, f.overload): f for f in map(self.function, model.functions.values())}
        graph, opsets = with_names(self.graph(model.graph, is_main=True)), opset_imports(model)
        names = partial(self._used, model.graph)
        bodies = partial(schema_function, proto.schema_body, message)
        return Model(graph, functions, opsets, self.header, self.load, self.subgraph, bodies, names)

    def _used(self, graph: ir.Graph) -> Iterator[str]:
        return chain(self.names.values(), (text(node.name or "") for node in graph.all_nodes()))

    def subgraph(self, handle: Any) -> Graph:
        """The view of a graph attribute."""
        return self._messages.graph(handle) if isinstance(handle, onnx.GraphProto) else self.graph(handle)

    def graph(self, graph: ir.Graph, is_main: bool = False) -> Graph:
        """The view of the main graph or a subgraph; see `onnx_infer.protobuf.reading.GraphReader.graph`."""
        names, constants = self.names, self._constants(graph)
        defaults = {names[v]: (self.declared(v), constants[names[v]]) for v in graph.inputs if names[v] in constants}
        # see `onnx_infer.protobuf.reading.GraphReader.graph`
        values = [(names[v], v) for v in graph.inputs if not (self.all_constant and names[v] in constants)]
        for name, _ in values:
            constants.pop(name, None)
        inputs = [(name, self.type(name, v) if is_main else self.declared(v)) for name, v in values]
        declared: dict[str, Value] = {}
        for value in chain(given_values(graph), graph.outputs):
            kind = self.declared(value)
            if kind is not None:
                declared[names[value]] = kind
        return self._view(graph, inputs, constants, declared)._replace(defaults=defaults)

    def function(self, function: ir.Function) -> Function:
        """The view of a model-local function."""
        defaults = {text(a.name): attribute_value(a) for a in function.attributes.values() if a.value is not None}
        inputs: list[tuple[str, Value | None]] = [(self.names[v], None) for v in function.inputs]
        body = self._view(function.graph, inputs, self._constants(function.graph), {})
        key = text(function.domain), text(function.name), text(function.overload)
        return Function(*key, defaults, opset_imports(function), body, function.graph)

    def _constants(self, graph: ir.Graph) -> dict[str, Any]:
        """The initializers of a graph by name. In onnx_ir the body of a function may have some too."""
        held = graph.initializers.values()
        return {self.names[v]: v if v.const_value is None else in_message(v.const_value) for v in held}

    def _view(
        self,
        graph: ir.Graph,
        inputs: list[tuple[str, Value | None]],
        constants: dict[str, Any],
        declared: Mapping[str, Value],
    ) -> Graph:
        literals: list[str] = []
        walk = partial(nodes, graph, self.names, constants, literals)
        outputs = [self.names[v] for v in graph.outputs]
        return Graph(text(graph.name or ""), inputs, constants, walk, literals, outputs, declared, graph)

    def type(self, name: str, value: ir.Value) -> Value | None:
        """The declared type of an input of the main graph, or of an initializer without a tensor."""
        sizes = self.shapes.get(name, None if value.shape is None else declared_sizes(value))
        return typed(value.type, sizes, self.symbols.reader(name))

    def declared(self, value: ir.Value) -> Value | None:
        """The declared type of any other value. Equal types of tensors are read once."""
        kind = value.type
        if kind is None and value.shape is None:
            return None
        sizes = None if value.shape is None else declared_sizes(value)
        if type(kind) is not ir.TensorType:
            return typed(kind, sizes, self.symbols.read_declared)
        key = (kind.dtype, sizes)
        if key not in self._declared:
            self._declared[key] = typed(kind, sizes, self.symbols.read_declared)
        return self._declared[key]

    def header(self, handle: Any) -> Value:
        """The type of a constant. A literal (the value of a Constant node) has its elements if they are few."""
        if isinstance(handle, proto.CONSTANTS):
            return proto.header(handle)
        if isinstance(handle, ir.Value):  # an initializer without a tensor yet
            return self.type(self.names[handle], handle) or SymTensor(None, None)
        if isinstance(handle, ir.Attr):
            return load(handle.value)
        return header(handle)

    def load(self, handle: Any) -> Value:
        """A constant with its elements, if they are few or a vector of integers."""
        if isinstance(handle, proto.CONSTANTS):
            return proto.load(handle)
        if isinstance(handle, ir.Value):
            return self.header(handle)
        return load(handle.value if isinstance(handle, ir.Attr) else handle, long=True)


def message(node: Node) -> bytes:
    """The bytes of a node's NodeProto."""
    op_type, domain, inputs, outputs, _, handle = node
    if isinstance(handle, (onnx.NodeProto, Named)):
        return message_of(node)
    attributes = [ir.to_proto(a) for a in handle.attributes.values()]
    made = onnx.NodeProto(op_type=op_type, domain=domain, input=inputs, output=outputs, attribute=attributes)
    return made.SerializeToString()  # type: ignore[no-any-return]


def opset_imports(holder: ir.Model | ir.Function) -> dict[str, int]:
    """domain -> version."""
    return {normal_domain(text(domain)): version for domain, version in holder.opset_imports.items()}


def nodes(
    graph: Iterable[ir.Node], names: Mapping[Any, str], constants: dict[str, Any], literals: list[str]
) -> Iterator[Node]:
    """The nodes of a graph. Constant tensors are added to the graph's constants instead."""
    for node in graph:
        op_type, domain = text(node.op_type), text(node.domain)
        attributes = node.attributes.data
        outputs = [names[v] for v in node.outputs]
        if op_type == "Constant" and len(attributes) == 1 and domain in ("", "ai.onnx"):
            (value,) = attributes.values()
            if value.type == _KIND.TENSOR and not value.ref_attr_name and outputs:
                if outputs[0] not in constants:
                    literals.append(outputs[0])
                constants[outputs[0]] = value
                continue
        known = read_attributes(attributes.values()) if attributes else NO_ATTRIBUTES
        yield op_type, domain, ["" if v is None else names[v] for v in node.inputs], outputs, known, node
