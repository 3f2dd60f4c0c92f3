"""The ModelProto front end: reads the graph view off the protobuf message. Weights are never read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, SparseTensorProto

from .attributes import attribute_value, constant, sparse_constant, value_type
from .graph import NO_ATTRIBUTES, Attributes, Function, Graph, Model
from .registration import normal_domain
from .tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

    from .graph import Node
    from .symbols import Symbols
    from .tensor import Value

_MAX_INTERNED = 1 << 14
_MAX_KEY = 1 << 12
_MAX_FORM = 512
_interned: dict[Any, Attributes] = {}
_forms: dict[bytes | None, tuple[str, str, Attributes]] = {}

_HOLDERS = frozenset(("Constant", "If", "Loop", "Scan", "SequenceMap"))

_TENSOR = AttributeProto.TENSOR
_GRAPH_KINDS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)
_LARGE_KINDS = (AttributeProto.TENSOR, AttributeProto.SPARSE_TENSOR, AttributeProto.TENSORS)


def read_attributes(node: NodeProto) -> Attributes:
    """The attributes of a node: the same object for nodes whose attributes are equal on the wire."""
    attributes = node.attribute
    if not attributes:
        return NO_ATTRIBUTES
    if any(a.type in _GRAPH_KINDS or (a.type in _LARGE_KINDS and a.ByteSize() > _MAX_KEY) for a in attributes):
        return _parse(attributes)
    key = tuple([a.SerializeToString() for a in attributes])
    found = _interned.get(key)
    if found is None:
        if len(_interned) >= _MAX_INTERNED:
            _interned.clear()
        found = _interned[key] = _parse(attributes)
    return found


def _parse(attributes: Any) -> Attributes:
    references = {a.name: a.ref_attr_name for a in attributes if a.ref_attr_name}
    values = {a.name: attribute_value(a) for a in attributes if not a.ref_attr_name}
    return Attributes(values, references or None, any(a.type in _GRAPH_KINDS for a in attributes))


class GraphReader:
    """Reads GraphProtos; `symbols` turns dims into sizes."""

    def __init__(self, symbols: Symbols, ir_version: int) -> None:
        self.symbols, self.ir_version = symbols, ir_version

    def model(self, proto: ModelProto) -> Model:
        """The view of a model."""
        functions = {(f.domain, f.name, f.overload): self.function(f) for f in proto.functions}
        return Model(self.graph(proto.graph), functions, opset_imports(proto), header, load, self.graph)

    def graph(self, proto: GraphProto) -> Graph:
        """The view of a graph or subgraph."""
        constants: dict[str, Any] = {t.name: t for t in proto.initializer}
        for sparse in proto.sparse_initializer:
            constants[sparse.values.name] = sparse
        # up to IR version 3 every initializer is listed as an input; from 4 on one that is can be overridden by the
        # caller: its type stands, its elements do not
        given = proto.input
        if self.ir_version < 4:
            given = [i for i in given if i.name not in constants]
        inputs = [(i.name, self.type(i.type)) for i in given]
        for name, _ in inputs:
            constants.pop(name, None)
        declared: dict[str, Value] = {}
        for info in (*proto.value_info, *proto.output):
            value = value_type(info.type, self.symbols.read_declared)
            if value is not None:
                declared[info.name] = value
        outputs = [o.name for o in proto.output]
        return self._view(proto, inputs, constants, outputs, declared)

    def function(self, proto: FunctionProto) -> Function:
        """The view of a model-local function."""
        defaults = {a.name: attribute_value(a) for a in proto.attribute_proto}
        inputs: list[tuple[str, Value | None]] = [(name, None) for name in proto.input]
        body = self._view(proto, inputs, {}, list(proto.output), {})
        return Function(proto.domain, proto.name, proto.overload, defaults, opset_imports(proto), body, proto)

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
        return Graph(proto.name, inputs, constants, walk, literals, outputs, declared, proto)

    def type(self, proto: Any) -> Value | None:
        """The declared type, its dims read as sizes."""
        return value_type(proto, self.symbols.read)


def opset_imports(proto: ModelProto | FunctionProto) -> dict[str, int]:
    """domain -> version; `ai.onnx` is the default domain ""."""
    return {normal_domain(o.domain): o.version for o in proto.opset_import}


def nodes(protos: Any, constants: dict[str, Any], literals: list[str]) -> Iterator[Node]:
    """The nodes of a graph; those that are constant tensors join the graph's constants instead.

    What a node is apart from its names is looked up by its wire bytes behind them: reading fields and attributes one by
    one costs several times as much. Nodes that hold tensors or graphs are not serialised for that.
    """
    forms = _forms
    for node in protos:
        op_type = node.op_type
        if op_type == "Constant" and node.domain in ("", "ai.onnx"):
            value = node.attribute[0] if len(node.attribute) == 1 else None
            if value is not None and value.type == _TENSOR and not value.ref_attr_name:
                name = node.output[0]
                if name not in constants:
                    literals.append(name)
                constants[name] = value.t
                continue
        inputs, outputs = node.input[:], node.output[:]
        key = None if op_type in _HOLDERS else _behind_names(node, inputs, outputs)
        form = forms.get(key)
        if form is None:
            form = op_type, node.domain, read_attributes(node)
            if key is not None and len(key) <= _MAX_FORM and not form[2].has_graphs:
                if len(forms) >= _MAX_INTERNED:
                    forms.clear()
                forms[key] = form
        op_type, domain, attributes = form
        yield op_type, domain, inputs, outputs, attributes, node


def _behind_names(node: NodeProto, inputs: list[str], outputs: list[str]) -> bytes | None:
    """The wire bytes of a NodeProto behind its inputs, outputs and name (fields 1 to 3); None for unusual lengths.

    A name of up to 127 ASCII characters takes a byte for the tag, one for the length, and its characters.
    """
    text = "".join(inputs) + "".join(outputs)
    if not text.isascii() or (len(text) > 127 and max(map(len, (*inputs, *outputs))) > 127):
        return None
    wire: bytes = node.SerializeToString()
    start = len(text) + 2 * (len(inputs) + len(outputs))
    if wire[start : start + 1] == b"\x1a":
        length = wire[start + 1]
        if length > 127:
            return None
        start += 2 + length
    return wire[start:]


def header(proto: TensorProto | SparseTensorProto) -> Value:
    """The type of a constant, without its elements."""
    if isinstance(proto, SparseTensorProto):
        return sparse_constant(proto)
    return SymTensor(proto.data_type or None, tuple(proto.dims))


def load(proto: TensorProto | SparseTensorProto) -> Value:
    """A constant with its elements, if they are few."""
    return sparse_constant(proto) if isinstance(proto, SparseTensorProto) else constant(proto)
