"""The ModelProto front end: reads the graph view off the protobuf message. Weights are never read."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, FunctionProto, SparseTensorProto, TensorProto

from onnx_infer.model.attributes import (
    attribute_value,
    constant,
    declared_size,
    literal,
    sizes,
    sparse_constant,
    value_type,
)
from onnx_infer.model.declared_bounds import KEY, declared_bounds
from onnx_infer.model.graph import NO_ATTRIBUTES, Attributes, Function, Graph, Model, with_names
from onnx_infer.model.symbols import Symbols, said
from onnx_infer.operators.registration import normal_domain
from onnx_infer.protobuf.bodies import bodies, handles
from onnx_infer.protobuf.schema_functions import schema_function
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor
from onnx_infer.values.text import text, texts
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx import GraphProto, ModelProto

    from onnx_infer.model.graph import Node
    from onnx_infer.model.symbols import Size
    from onnx_infer.values.tensor import Value

_MAX_KEY = 1 << 12
_FEW = 16
_SIZES = frozenset((TensorProto.INT64, TensorProto.INT32))
_interned = shared_cache(1 << 14)  # bytes of attributes -> Attributes

OVERRIDABLE = 4
"""The IR version from which a caller may override an initializer that is also an input: its elements are not known."""

CONSTANTS = (TensorProto, SparseTensorProto, AttributeProto)
"""The classes of the handles of constants."""

_TENSOR = AttributeProto.TENSOR
_GRAPH_KINDS = frozenset((AttributeProto.GRAPH, AttributeProto.GRAPHS))
_LARGE_KINDS = _GRAPH_KINDS | {AttributeProto.TENSOR, AttributeProto.SPARSE_TENSOR, AttributeProto.TENSORS}


def read_attributes(attributes: Any) -> Attributes:
    """The attributes of a node, of which there are some: the same object where they are equal on the wire."""
    wires: list[bytes] = []
    for a in attributes:
        if a.type in _LARGE_KINDS and (a.type in _GRAPH_KINDS or a.ByteSize() > _MAX_KEY):
            return _parse(attributes)
        wires.append(a.SerializeToString())
    key = tuple(wires)
    found: Attributes | None = _interned.get(key)
    if found is None:
        found = _interned[key] = _parse(attributes)
    return found


def _parse(attributes: Any) -> Attributes:
    references = {text(a.name): text(a.ref_attr_name) for a in attributes if a.ref_attr_name}
    values = {text(a.name): attribute_value(a) for a in attributes if not a.ref_attr_name}
    return Attributes(values, references or None, any(a.type in _GRAPH_KINDS for a in attributes))


class ModelProtoFrontEnd:
    """The front end of a ModelProto."""

    def __init__(self, model: ModelProto) -> None:
        self.model = model

    def dim_params(self) -> tuple[list[str], list[str]]:
        """The texts in the types of inputs, in order, and of outputs and value infos."""
        graph = self.model.graph
        return list(dim_params(graph.input)), list(dim_params((*graph.output, *graph.value_info)))

    def bounds(self) -> tuple[dict[str, tuple[int, int | None]], list[str]]:
        """The intervals of symbols in the metadata of the model, before those of inputs."""
        holders = (self.model, *self.model.graph.input)
        return declared_bounds(text(e.value) for holder in holders for e in holder.metadata_props if e.key == KEY)

    def inputs(self) -> Iterator[tuple[str, tuple[Size, ...]]]:
        """The sizes of inputs as they are written."""
        for info in self.model.graph.input:
            shape = innermost_shape(info.type)
            yield text(info.name), () if shape is None else tuple([said(declared_size(dim)) for dim in shape.dim])

    def view(self, symbols: Symbols, all_constant: bool = False) -> Model:
        """The model, its dims read as sizes."""
        return GraphReader(symbols, all_constant or self.model.ir_version < OVERRIDABLE).model(self.model)


def innermost_shape(kind: Any) -> Any:
    """The shape in a type, which may be nested; None where it has none."""
    while True:
        which = kind.WhichOneof("value")
        if which in ("tensor_type", "sparse_tensor_type"):
            return getattr(kind, which).shape
        if which in ("sequence_type", "optional_type"):
            kind = getattr(kind, which).elem_type
        elif which == "map_type":
            kind = kind.map_type.value_type
        else:
            return None


def dim_params(infos: Iterable[Any]) -> Iterator[str]:
    """The dim_params in the types of value infos, in order; equal types once."""
    seen: set[bytes] = set()
    for info in infos:
        wire = info.type.SerializeToString()
        if wire not in seen:
            seen.add(wire)
            shape = innermost_shape(info.type)
            for dim in () if shape is None else shape.dim:
                if (size := text(dim.dim_param)) and said(size):
                    yield size


class GraphReader:
    """Reads GraphProtos; `symbols` turns dims into sizes. With `all_constant` no initializer can be overridden."""

    def __init__(self, symbols: Symbols, all_constant: bool) -> None:
        self.symbols, self.all_constant = symbols, all_constant
        self._inputs: dict[bytes, Value | None] = {}
        self._declared: dict[bytes, Value | None] = {}

    def model(self, proto: ModelProto) -> Model:
        """The view of a model."""
        functions = {(f.domain, f.name, f.overload): f for f in map(self.function, proto.functions)}
        names = partial(names_in, proto.graph)
        schema_bodies = partial(schema_function, schema_body, message)
        graph = with_names(self.graph(proto.graph, is_main=True))
        inner = partial(bodies, dim_params, self.all_constant)
        return Model(
            graph, functions, opset_imports(proto), header, load, self.graph, schema_bodies, names, inner, handles
        )

    def graph(self, proto: GraphProto, is_main: bool = False) -> Graph:
        """The view of the main graph or a subgraph; only in the former every axis of an input has a name."""
        constants: dict[str, Any] = {text(t.name): t for t in proto.initializer}
        for sparse in proto.sparse_initializer:
            constants[text(sparse.values.name)] = sparse
        # where callers may override an initializer that is an input too, its type stands, its elements do not
        given = [(text(i.name), i.type) for i in proto.input]
        defaults = {name: (self.declared(kind), constants[name]) for name, kind in given if name in constants}
        if self.all_constant:
            given = [(name, kind) for name, kind in given if name not in constants]
        if is_main:
            inputs = [(name, self.type(name, kind)) for name, kind in given]
        else:
            inputs = [(name, self.declared(kind)) for name, kind in given]
        for name, _ in inputs:
            constants.pop(name, None)
        declared: dict[str, Value] = {}
        for info in (*proto.value_info, *proto.output):
            value = self.declared(info.type)
            if value is not None:
                declared[text(info.name)] = value
        outputs = [text(o.name) for o in proto.output]
        return self._view(proto, inputs, constants, outputs, declared)._replace(defaults=defaults)

    def function(self, proto: FunctionProto) -> Function:
        """The view of a model-local function."""
        defaults = {text(a.name): attribute_value(a) for a in proto.attribute_proto}
        inputs: list[tuple[str, Value | None]] = [(name, None) for name in texts(proto.input)]
        body = self._view(proto, inputs, {}, texts(proto.output), {})
        domain, name, overload = function_key(proto)
        return Function(domain, name, overload, defaults, opset_imports(proto), body, proto)

    @staticmethod
    def _view(
        proto: GraphProto | FunctionProto,
        inputs: list[tuple[str, Value | None]],
        constants: dict[str, Any],
        outputs: list[str],
        declared: Mapping[str, Value],
    ) -> Graph:
        literals: list[str] = []
        walk = partial(nodes, proto.node, constants, literals)
        return Graph(text(proto.name), inputs, constants, walk, literals, outputs, declared, proto)

    def type(self, name: str, proto: Any) -> Value | None:
        """The declared type of an input of the main graph; equal ones are read once, if their axes have names."""
        wire = proto.SerializeToString()
        if wire not in self._inputs:
            count = len(self.symbols.axes)
            value = value_type(proto, self.symbols.reader(name))
            if len(self.symbols.axes) != count:
                return value
            self._inputs[wire] = value
        return self._inputs[wire]

    def declared(self, proto: Any) -> Value | None:
        """The declared type of a value that is no input of the main graph; equal ones are read once."""
        wire = proto.SerializeToString()
        if wire not in self._declared:
            self._declared[wire] = value_type(proto, self.symbols.read_declared)
        return self._declared[wire]


def opset_imports(proto: ModelProto | FunctionProto) -> dict[str, int]:
    """domain -> version; `ai.onnx` is the default domain ""."""
    return {normal_domain(text(o.domain)): o.version for o in proto.opset_import}


def function_key(proto: FunctionProto) -> tuple[str, str, str]:
    """The domain, name and overload of a function."""
    return text(proto.domain), text(proto.name), text(proto.overload)


_parts = attrgetter("op_type", "domain", "input", "output", "attribute")


def nodes(protos: Any, constants: dict[str, Any], literals: list[str]) -> Iterator[Node]:
    """The nodes of a graph; those that are constant tensors join the graph's constants instead."""
    for node in protos:
        op_type, domain, given, made, attributes = _parts(node)
        inputs, outputs = given[:], made[:]
        try:  # to join them is the cheapest way to see that all are texts
            "".join((op_type, domain, *inputs, *outputs))
        except TypeError:
            inputs, outputs, op_type, domain = texts(inputs), texts(outputs), text(op_type), text(domain)
        if op_type == "Constant" and len(attributes) == 1 and domain in ("", "ai.onnx"):
            value = attributes[0]
            if value.type == _TENSOR and not value.ref_attr_name and outputs:
                name = outputs[0]
                if name not in constants:
                    literals.append(name)
                constants[name] = value
                continue
        known = read_attributes(attributes) if attributes else NO_ATTRIBUTES
        yield op_type, domain, inputs, outputs, known, node


def header(handle: TensorProto | SparseTensorProto | AttributeProto) -> Value:
    """The type of a constant, without the elements of an initializer.

    A literal, the value of a Constant node, comes with its elements where they are few, and so do a few integers: most
    rules that read such a constant ask for them.
    """
    if type(handle) is TensorProto:
        kind, shape = handle.data_type, sizes(handle)
        few = kind in _SIZES and (not shape or (len(shape) == 1 and shape[0] <= _FEW))
        return constant(handle) if few else SymTensor(dt.read(kind), shape)
    if isinstance(handle, AttributeProto):
        return literal(handle)
    return sparse_constant(handle)


def load(handle: TensorProto | SparseTensorProto | AttributeProto) -> Value:
    """A constant with its elements, if they are few or a vector of integers."""
    if isinstance(handle, SparseTensorProto):
        return sparse_constant(handle)
    return constant(handle.t if isinstance(handle, AttributeProto) else handle, long=True)


def names_in(graph: GraphProto) -> Iterator[str]:
    """The names of values and nodes of a graph and all graphs in it."""
    pending = [graph]
    while pending:
        graph = pending.pop()
        yield from (text(info.name) for info in (*graph.input, *graph.output, *graph.value_info))
        yield from (text(tensor.name) for tensor in graph.initializer)
        yield from (text(sparse.values.name) for sparse in graph.sparse_initializer)
        for node in graph.node:
            yield from texts((node.name, *node.input, *node.output))
            for attribute in node.attribute:
                if attribute.type == AttributeProto.GRAPH:
                    pending.append(attribute.g)
                elif attribute.type == AttributeProto.GRAPHS:
                    pending += attribute.graphs


def schema_body(text: bytes) -> Function:
    """The view of a FunctionProto that belongs to an operator's schema."""
    return GraphReader(Symbols(()), all_constant=False).function(FunctionProto.FromString(text))


def message(node: Node) -> bytes:
    """The bytes of a node's NodeProto."""
    return node[5].SerializeToString()  # type: ignore[no-any-return]
