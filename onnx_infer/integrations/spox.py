"""Inference inside spox's operator constructors; see docs/coming_from_spox.md.

from onnx_infer.integrations import spox

with spox.installed():  # here each Var has the type that this package infers
    ...
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import onnx

from onnx_infer.errors import OpUsageError
from onnx_infer.model.attributes import declared_size, value_type
from onnx_infer.model.graph import Graph, Model, normal_domain
from onnx_infer.node import NodeByNode
from onnx_infer.protobuf.declarations import innermost_shape
from onnx_infer.protobuf.nodes import ProtoNodes
from onnx_infer.protobuf.reading import GraphReader, header, load, schema_bodies
from onnx_infer.protobuf.wire import type_bytes
from onnx_infer.values.tensor import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_infer.model.symbols import Symbols

_MOST_ELEMENTS = 1 << 10
"""The most elements of a constant that spox knows and inference reads."""


class _Known(NamedTuple):
    """What is known of a Var, under a name that no other has. `written` is its type as onnx can say it."""

    name: str
    value: Value | None
    written: bytes


class _Inference:
    """Inference of the nodes of spox one by one, as constructors make them. Vars keep what onnx types cannot say."""

    def __init__(self) -> None:
        self._nodes = NodeByNode()
        self._known: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()

    def types(self, node: Any, elements: Mapping[str, Any]) -> dict[str, Any]:
        """The types of a node's outputs by field, at the known elements of its inputs by field.

        Raises `OpUsageError` if there is no rule, and `ShapeInferenceError`, which is also spox's `InferenceError`.
        """
        from spox import Type

        model, _ = node.to_singleton_onnx_model(input_prop_values={})
        proto, fields = model.graph.node[0], node.inputs.get_var_infos()
        known = {field: self._entered(var, field) for field, var in fields.items()}
        names = {field: found.name for field, found in known.items()}
        outputs = {field: self._nodes.name(field) for field in node.outputs.get_var_infos()}
        proto.name = node.op_type.identifier
        proto.input[:] = [names[field] if field else "" for field in proto.input]
        proto.output[:] = [outputs[field] if field else "" for field in proto.output]
        constants = {names[field]: tensor for field, v in elements.items() if (tensor := _tensor(v)) is not None}
        inputs = {name: value for name, value, _ in known.values() if name not in constants}
        given = self._nodes.walk(partial(_view, node.op_type, proto, inputs, constants)).scope
        found = {}
        for field, var in node.outputs.get_var_infos().items():
            value = given.get(outputs[field])
            written = type_bytes(value)
            self._known[var] = _Known(outputs[field], value, written)
            if written:
                found[field] = Type._from_onnx(onnx.TypeProto.FromString(written))
        return found

    def _entered(self, var: Any, field: str) -> _Known:
        """What is known of an input."""
        known = self._known.get(var)
        proto = onnx.TypeProto() if var.type is None else var.type._to_onnx()
        if known is not None and _says_no_more(proto, known.written):
            return known
        from spox._internal_op import Argument

        shape, is_argument = innermost_shape(proto), isinstance(var._op, Argument)
        if is_argument and shape is not None:
            self._nodes.declare(declared_size(d) for d in shape.dim)
        value = value_type(proto, partial(self._nodes.size, low=int(is_argument)))
        known = self._known[var] = _Known(self._nodes.name(field), value, proto.SerializeToString())
        return known


def _view(
    op_type: Any,
    proto: onnx.NodeProto,
    inputs: Mapping[str, Value | None],
    constants: dict[str, Any],
    symbols: Symbols,
) -> Model:
    """The model of one node."""
    literals: list[str] = []
    walk = ProtoNodes([proto], constants, literals)
    graph = Graph("", list(inputs.items()), constants, walk, literals, [name for name in proto.output if name], {})
    opsets = {normal_domain(op_type.domain): op_type.version}
    return Model(graph, {}, opsets, header, load, GraphReader(symbols, False).graph, schema_bodies, list)


def _says_no_more(proto: onnx.TypeProto, known: bytes) -> bool:
    """Whether the type of a Var is the one that was inferred for it, or is not known."""
    return proto.WhichOneof("value") is None or proto == onnx.TypeProto.FromString(known)


def _tensor(value: Any) -> onnx.TensorProto | None:
    """The tensor that spox knows a Var to be, if it is small."""
    array = getattr(value, "value", None)
    if not isinstance(array, np.ndarray) or array.size > _MOST_ELEMENTS:
        return None
    return onnx.numpy_helper.from_array(array)


# -- in place of onnx's inference -------------------------------------------------------------------------------------

_former: list[Any] = []


def install() -> None:
    """Let spox infer the operators' results with this package. A second call does nothing.

    A node with graphs (If, Loop, Scan), and one for which there is no rule, is inferred as before: by spox and onnx.
    """
    if _former:
        return
    from spox._standard import StandardNode

    former, inference = StandardNode.infer_output_types_onnx, _Inference()

    def infer_output_types(node: Any, input_prop_values: Mapping[str, Any]) -> Any:
        if any(var.type is None for var in node.inputs.get_var_infos().values()) or any(node.subgraphs):
            return former(node, input_prop_values)
        try:
            return inference.types(node, input_prop_values)
        except OpUsageError:
            return former(node, input_prop_values)

    _former.append(former)
    StandardNode.infer_output_types_onnx = infer_output_types


def uninstall() -> None:
    """Let it infer with onnx again."""
    from spox._standard import StandardNode

    for method in _former:
        StandardNode.infer_output_types_onnx = method
    _former.clear()


@contextmanager
def installed() -> Iterator[None]:
    """As `install`, inside of the block. If it is installed already, it stays."""
    is_outer = not _former
    install()
    try:
        yield
    finally:
        if is_outer:
            uninstall()
