"""The front end of ModelProtos: it reads the engine's view from the protobuf message. Weights are never read."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, FunctionProto, SparseTensorProto, TensorProto, ValueInfoProto

from onnx_infer.model.attributes import attribute_value, constant, dense, sizes
from onnx_infer.model.graph import Function, Graph, Model, Node, normal_domain, with_names
from onnx_infer.model.symbols import Symbols
from onnx_infer.operators.known_schemas import find_schema, read_schema
from onnx_infer.protobuf.declarations import Declared, types_of, write_sizes
from onnx_infer.protobuf.names import names_in
from onnx_infer.protobuf.nodes import Literal, ProtoNodes, message
from onnx_infer.protobuf.wire import type_bytes
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor, Value
from onnx_infer.values.text import text, texts
from symdim.algebra.caches import shared_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import GraphProto, ModelProto

    from onnx_infer.model.size_texts import Size


_FEW = 16
_SIZES = frozenset((TensorProto.INT64, TensorProto.INT32))
_headers = shared_cache(1 << 13)  # (element type, sizes) of an initializer -> SymTensor without elements

OVERRIDABLE = 4
"""From this IR version on a caller may override an initializer that is also an input, so its elements are unknown."""

CONSTANTS = (TensorProto, SparseTensorProto, AttributeProto, SymTensor)
"""The classes of the handles of constants. The tensor of a small literal is its own handle."""


class ModelProtoFrontEnd:
    """The front end of a ModelProto. `kept` are its nodes if they were read; else the first walk fills it."""

    def __init__(self, model: ModelProto, kept: list[Node | Literal] | None = None) -> None:
        self.model = model
        self._declared = Declared.of(model.graph)
        self._nodes: list[Node | Literal] = [] if kept is None else kept

    def dim_params(self) -> tuple[list[str], list[str]]:
        """The texts in the types of inputs, in order, and in those of outputs and value infos."""
        inputs, outputs, others = self._declared
        return list(inputs.texts), list(dict.fromkeys((*outputs.texts, *others.texts)))

    def metadata(self) -> dict[str, str]:
        """The metadata of the graph. Of several entries with one key the last counts."""
        return {text(entry.key): text(entry.value) for entry in self.model.graph.metadata_props}

    def inputs(self) -> tuple[tuple[str, tuple[Size, ...]], ...]:
        """The sizes of inputs as the model writes them."""
        return self._declared.inputs.sizes

    def view(self, symbols: Symbols, all_constant: bool = False) -> Model:
        """The model with its dims read as sizes."""
        proto = self.model
        reader = GraphReader(symbols, all_constant or proto.ir_version < OVERRIDABLE)
        functions = {(f.domain, f.name, f.overload): f for f in map(reader.function, proto.functions)}
        graph = with_names(reader.graph(proto.graph, self._declared, self._nodes))
        names = partial(names_in, proto.graph)
        return Model(graph, functions, opset_imports(proto), header, load, reader.graph, schema_bodies, names, proto)

    def reshaped(self, shapes: Mapping[str, tuple[Size, ...]]) -> ModelProtoFrontEnd:
        """The same model with other shapes of tensors that are inputs. The message is not changed."""
        infos = [_reshaped(info, shapes.get(text(info.name))) for info in self.model.graph.input]
        front = copy(self)
        front._declared = self._declared._replace(inputs=types_of(infos))
        return front


def _reshaped(info: ValueInfoProto, sizes: tuple[Size, ...] | None) -> ValueInfoProto:
    """The tensor with other sizes, a copy."""
    if sizes is None:
        return info
    new = ValueInfoProto()
    new.CopyFrom(info)
    new.type.tensor_type.shape.Clear()
    write_sizes(new.type.tensor_type.shape, sizes)
    return new


class GraphReader:
    """Reads GraphProtos. `symbols` turns dims into sizes. With `all_constant` no initializer can be overridden."""

    def __init__(self, symbols: Symbols, all_constant: bool) -> None:
        self.symbols, self.all_constant = symbols, all_constant

    def graph(self, proto: GraphProto, main: Declared | None = None, kept: list[Node | Literal] | None = None) -> Graph:
        """The view of a subgraph, or of the main graph with its types: there every axis of an input gets a name."""
        constants = by_name(proto.initializer)
        for sparse in proto.sparse_initializer:
            constants[text(sparse.values.name)] = sparse
        types, read = main or Declared.of(proto), self.symbols.read_declared
        of_inputs = types.inputs
        # if callers may override an initializer that is also an input, its type is used, but not its elements
        defaults = {name: (kind.value(read), constants[name]) for name, kind in of_inputs.of if name in constants}
        left_out = defaults if self.all_constant else ()
        if main is None or of_inputs.are_named:
            inputs = [(name, value) for name, value in of_inputs.values(read) if name not in left_out]
        else:
            with_types = [(name, kind) for name, kind in of_inputs.of if name not in left_out]
            inputs = [(name, kind.value(self.symbols.reader(name))) for name, kind in with_types]
        for name, _ in inputs:
            constants.pop(name, None)
        declared: dict[str, Value] = {}
        for group in (types.others, types.outputs):
            declared.update([(name, value) for name, value in group.values(read) if value is not None])
        outputs = [name for name, _ in types.outputs.of]
        view = self._view(proto, inputs, constants, outputs, declared, defaults, kept)
        return view if main is not None else view._replace(named=types.named())

    def function(self, proto: FunctionProto) -> Function:
        """The view of a model-local function."""
        defaults = {text(a.name): attribute_value(a) for a in proto.attribute_proto}
        inputs: list[tuple[str, Value | None]] = [(name, None) for name in texts(proto.input)]
        body = self._view(proto, inputs, {}, texts(proto.output), {}, {})
        domain, name, overload = function_key(proto)
        return Function(domain, name, overload, defaults, opset_imports(proto), body, proto)

    @staticmethod
    def _view(
        proto: GraphProto | FunctionProto,
        inputs: list[tuple[str, Value | None]],
        constants: dict[str, Any],
        outputs: list[str],
        declared: Mapping[str, Value],
        defaults: Mapping[str, tuple[Value | None, Any]],
        kept: list[Node | Literal] | None = None,
    ) -> Graph:
        literals: list[str] = []
        walk = ProtoNodes(proto.node, constants, literals, kept)
        return Graph(text(proto.name), inputs, constants, walk, literals, outputs, declared, proto, defaults)


def by_name(tensors: Any) -> dict[str, Any]:
    """Tensors by their names."""
    named = {tensor.name: tensor for tensor in tensors}
    try:
        "".join(named)  # the cheapest test that all are texts
    except TypeError:
        named = {text(tensor.name): tensor for tensor in tensors}
    return named


def opset_imports(proto: ModelProto | FunctionProto) -> dict[str, int]:
    """domain -> version; `ai.onnx` is the default domain ""."""
    return {normal_domain(text(o.domain)): o.version for o in proto.opset_import}


def function_key(proto: FunctionProto) -> tuple[str, str, str]:
    """The domain, name and overload of a function."""
    return text(proto.domain), text(proto.name), text(proto.overload)


def header(handle: TensorProto | SparseTensorProto | AttributeProto | SymTensor) -> Value:
    """The type of a constant, in general without the elements of an initializer.

    A literal (the value of a Constant node) has its elements if they are few. So has an initializer of a few integers,
    because most rules that read such a constant ask for them.
    """
    if isinstance(handle, TensorProto):
        kind, dims = handle.data_type, tuple(handle.dims[:])
        if kind in _SIZES and (not dims or (len(dims) == 1 and dims[0] <= _FEW)):
            return constant(handle)
        tensor: SymTensor | None = _headers.get((kind, dims))
        if tensor is None:
            tensor = _headers[kind, dims] = SymTensor(dt.read(kind), sizes(handle))
        return tensor
    if isinstance(handle, SymTensor):
        return handle
    if isinstance(handle, AttributeProto):
        return constant(handle.t)
    return SymTensor(dt.read(handle.values.data_type), sizes(handle))


def load(handle: TensorProto | SparseTensorProto | AttributeProto | SymTensor) -> Value:
    """A constant with its elements, if they are few or a vector of integers."""
    if isinstance(handle, SymTensor):
        return handle
    if isinstance(handle, SparseTensorProto):
        return dense(handle)
    return constant(handle.t if isinstance(handle, AttributeProto) else handle, long=True)


def schema_bodies(node: Node, version: int, inputs: list[Value | None]) -> Function | None:
    """The body of an operator's schema at an opset version, or None if it has none."""
    return schema_function(schema_body, message, node, version, inputs)


def schema_body(text: bytes) -> Function:
    """The view of a FunctionProto that belongs to an operator's schema."""
    return GraphReader(Symbols(()), all_constant=False).function(FunctionProto.FromString(text))


_read = shared_cache(1 << 12)  # everything on which the body of a schema depends -> Function


def schema_function(
    read: Callable[[bytes], Function],
    message: Callable[[Node], bytes],
    node: Node,
    version: int,
    inputs: list[Value | None],
) -> Function | None:
    """The body of an operator's schema at an opset version, or None if it has none.

    If the body depends on the node and the types of its inputs, there is one body for each combination. `read` makes
    the view of a FunctionProto from its bytes. `message` returns the bytes of a node's NodeProto.
    """
    schema = find_schema(normal_domain(node[1]), node[0], version)
    if schema is None or not (schema.has_function or schema.has_context_dependent_function):
        return None
    of_context = schema.has_context_dependent_function
    types = [None if x is None else type_bytes(x) for x in inputs] if of_context else []
    key = (node[1], node[0], schema.since_version, *((node[4], *types) if of_context else ()))
    body: Function | None = _read.get(key)
    if body is None:
        versions = schema.function_opset_versions
        if not schema.has_function:
            versions = schema.context_dependent_function_opset_versions
        wanted = max((v for v in versions if v <= version), default=schema.since_version)
        if schema.has_function:
            text = schema.get_function_with_opset_version(wanted)
        else:
            filled = [kind or b"" for kind in types]
            text = schema.get_context_dependent_function_with_opset_version(wanted, message(node), filled)
        overload = " ".join(("schema", str(schema.since_version), *map(repr, types)))
        body = _read[key] = read(text)._replace(attributes=read_schema(schema).defaults, overload=overload)
    return body
