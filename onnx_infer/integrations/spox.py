"""Inference inside spox's operator constructors; see docs/coming_from.md.

from onnx_infer.integrations import spox

with spox.installed():  # here each Var has the type that this package infers
    ...
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import onnx

from onnx_infer.errors import OpUsageError
from onnx_infer.integrations.replacing import Replacement, replace_members
from onnx_infer.model.attributes import declared_size, value_type
from onnx_infer.model.graph import normal_domain
from onnx_infer.node import NodeByNode, model_of_node
from onnx_infer.protobuf.declarations import innermost_dims
from onnx_infer.protobuf.reading import GraphReader
from onnx_infer.protobuf.wire import type_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_infer.model.graph import Model
    from onnx_infer.model.symbols import Symbols
    from onnx_infer.node import Known

_MOST_ELEMENTS = 1 << 10
"""The most elements of a constant that spox knows and inference reads."""


class _Inference:
    """Inference of the nodes of spox one by one, as constructors make them. Vars keep what onnx types cannot say."""

    def __init__(self) -> None:
        self._nodes = NodeByNode()
        self._known: WeakKeyDictionary[Any, Known] = WeakKeyDictionary()
        self._own: WeakValueDictionary[int, Any] = WeakValueDictionary()  # types that inference gave, by id

    def types(self, node: Any, elements: Mapping[str, Any]) -> dict[str, Any]:
        """The types of a node's outputs by field, at the known elements of its inputs by field.

        Raises `OpUsageError` if there is no rule, and `ShapeInferenceError`, which is also spox's `InferenceError`.
        """
        from spox import Type

        known = {field: self._entered(var, field) for field, var in node.inputs.get_var_infos().items()}
        constants = {
            known[field].name: tensor
            for field, value in elements.items()
            if known[field].value.data is None and (tensor := _tensor(value)) is not None
        }
        outputs = node.outputs.get_var_infos()
        if constants or not all(var in self._known for var in outputs.values()):  # spox asks twice for each node
            model, _ = node.to_singleton_onnx_model(input_prop_values={})
            (proto,) = model.graph.node
            names = {field: self._nodes.name(field) for field in outputs}
            proto.name = node.op_type.identifier
            proto.input[:] = [known[field].name if field else "" for field in proto.input]
            proto.output[:] = [names.get(field, "") for field in proto.output]
            inputs = {name: value for name, value, _ in known.values() if name not in constants}
            opsets = {normal_domain(node.op_type.domain): node.op_type.version}

            def view(symbols: Symbols) -> Model:
                return model_of_node(proto, list(inputs.items()), constants, opsets, GraphReader(symbols, False), {})

            inferred = self._nodes.walk(view).scope
            for field, var in outputs.items():
                made = self._nodes.known(names[field], inferred.get(names[field]), None)
                wire = type_bytes(made.value)
                kind = Type._from_onnx(onnx.TypeProto.FromString(wire)) if wire else None
                self._known[var] = made._replace(seen=kind)
                if kind is not None:
                    self._own[id(kind)] = kind
        return {field: kind for field, var in outputs.items() if (kind := self._known[var].seen) is not None}

    def _entered(self, var: Any, field: str) -> Known:
        """What is known of an input. A type that spox gave it in place of the inferred one counts.

        A size without a name may be 0, that of an argument too: the state of a Loop is one in its body. There spox
        gives it the type of the first state, the same object, so the names in it are those that inference gave.
        """
        from spox._internal_op import Argument

        known = self._known.get(var)
        if known is None or var.type != known.seen:
            proto = var.type._to_onnx()
            if isinstance(var._op, Argument):
                self._nodes.declare(map(declared_size, innermost_dims(proto)))
            is_own = self._own.get(id(var.type)) is var.type
            read = partial(self._nodes.size, is_own=is_own)
            known = self._nodes.known(self._nodes.name(field), value_type(proto, read), var.type)
            self._known[var] = known
        return known


def _tensor(value: Any) -> onnx.TensorProto | None:
    """The tensor that spox knows a Var to be, if it is small."""
    array = getattr(value, "value", None)
    if not isinstance(array, np.ndarray) or array.size > _MOST_ELEMENTS:
        return None
    return onnx.numpy_helper.from_array(array)


# -- in place of onnx's inference -------------------------------------------------------------------------------------


def _replace() -> Callable[[], None]:
    from spox._standard import StandardNode

    former, inference = StandardNode.infer_output_types_onnx, _Inference()

    def infer_output_types(node: Any, input_prop_values: Mapping[str, Any]) -> Any:
        if any(var.type is None for var in node.inputs.get_var_infos().values()) or any(node.subgraphs):
            return former(node, input_prop_values)
        try:
            return inference.types(node, input_prop_values)
        except OpUsageError:
            return former(node, input_prop_values)

    return replace_members({(StandardNode, "infer_output_types_onnx"): infer_output_types})


_replacement = Replacement(_replace)
install, uninstall, installed = _replacement.install, _replacement.uninstall, _replacement.installed
"""Let spox infer the operators' results with this package.

A node with graphs (If, Loop, Scan), and one for which there is no rule, is inferred as before: by spox and onnx.
"""
