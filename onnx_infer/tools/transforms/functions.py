"""The bodies of functions as models of their own, which `fold` folds like any model.

An input of such a model has what is equal in all calls: the element type, the rank, sizes that are numbers, and known
elements. Every other size is a symbol. Two sizes have one symbol if they are equal in each call.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from onnx import ModelProto, TypeProto, ValueInfoProto, numpy_helper

from onnx_infer.model.graph import normal_domain
from onnx_infer.protobuf.nodes import graphs_of
from onnx_infer.tools.transforms.constants import known_tensor
from onnx_infer.tools.transforms.draft import constants_as_nodes, has_texts
from onnx_infer.values.tensor import Dim, SymTensor, Value
from symdim.algebra.bounds import bounds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx import FunctionProto, GraphProto, NodeProto

    from onnx_infer.model.input_values import InputValue

    Key = tuple[str, str, str]
    Call = tuple[Value | None, ...] | None
    """The types of the operands; None if a call leaves out an input, or its operands are not known."""


class Body(NamedTuple):
    """The body of a function as a model, with the bounds of its symbols and the elements of inputs that are known."""

    model: ModelProto
    bounds: dict[str, tuple[int, int | None]]
    values: dict[str, InputValue]


class Functions:
    """The functions of a model, with the calls that were seen."""

    def __init__(self, model: ModelProto) -> None:
        self._model = model
        self._of = {_key(f.domain, f.name, f): f for f in model.functions}
        self._calls: dict[Key, list[Call]] = {key: [] for key in self._of}
        self._called = {key: self._called_in(function) for key, function in self._of.items()}

    def _called_in(self, graph: GraphProto | FunctionProto) -> list[Key]:
        keys = dict.fromkeys(_key(node.domain, node.op_type, node) for node in _nodes(graph))
        return [key for key in keys if key in self._of]

    def see(self, graph: GraphProto, types: Mapping[str, Value]) -> None:
        """Note the calls in a graph and those inside it. `types` are the types of its values."""
        for node in _nodes(graph):
            key = _key(node.domain, node.op_type, node)
            if (function := self._of.get(key)) is not None:
                whole = len(node.input) == len(function.input) and all(node.input)
                self._calls[key].append(tuple(map(types.get, node.input)) if whole else None)

    def in_order(self) -> Iterator[FunctionProto]:
        """The functions that are called; each comes after all that call it. Those in a circle are left out."""
        callers = Counter(key for keys in self._called.values() for key in keys)
        ready = [key for key in self._of if not callers[key]]
        while ready:
            key = ready.pop()
            if self._calls[key]:
                yield self._of[key]
            for other in self._called[key]:
                callers[other] -= 1
                if not callers[other]:
                    ready.append(other)

    def body(self, function: FunctionProto) -> Body | None:
        """The body of a function as a model; None if it has attributes, or a call leaves out an input.

        What such a body computes depends on more than the types of its operands. None also before opset 9, where a
        constant of a body, which is a node there, cannot be an integer (Constant-1).
        """
        if any(opset.version < 9 for opset in function.opset_import if opset.domain in ("", "ai.onnx")):
            return None
        calls = self._calls[_key(function.domain, function.name, function)]
        known = [call for call in calls if call is not None]
        if len(known) < len(calls) or function.attribute or function.attribute_proto or _has_references(function):
            return None
        model = ModelProto(ir_version=self._model.ir_version)
        model.opset_import.extend(function.opset_import)
        model.functions.extend(self._of[key] for key in self._reached(function))
        graph = model.graph
        graph.node.extend(function.node)
        graph.output.extend(ValueInfoProto(name=name) for name in function.output)
        common = _Common(known)
        for i, name in enumerate(function.input):
            graph.input.append(ValueInfoProto(name=name, type=common.type(i)))
        values = {name: value for i, name in enumerate(function.input) if (value := common.elements(i)) is not None}
        return Body(model, common.bounds, values) if has_texts(model) else None

    def _reached(self, function: FunctionProto) -> list[Key]:
        """The functions that a function calls, and those that these call."""
        found = dict.fromkeys(pending := self._called_in(function))
        while pending:
            new = [key for key in self._called[pending.pop()] if key not in found]
            found.update(dict.fromkeys(new))
            pending += new
        return list(found)


def put_back(function: FunctionProto, body: ModelProto) -> None:
    """Give a function the nodes of its folded body."""
    constants_as_nodes(body.graph)
    del function.node[:]
    function.node.extend(body.graph.node)
    made = {*function.input, *(name for node in function.node for name in node.output)}
    infos = getattr(function, "value_info", [])  # since onnx 1.16
    for i in reversed([i for i, info in enumerate(infos) if info.name not in made]):
        del infos[i]


class _Common:
    """The common part of the operands of several calls."""

    def __init__(self, calls: list[tuple[Value | None, ...]]) -> None:
        self._calls = calls
        self._names: dict[tuple[Dim, ...], str] = {}
        self.bounds: dict[str, tuple[int, int | None]] = {}

    def type(self, i: int) -> TypeProto | None:
        """The type of an operand; None if it is no tensor of one element type."""
        found = [value for call in self._calls if isinstance(value := call[i], SymTensor)]
        if len(found) < len(self._calls) or len({value.dtype for value in found}) > 1 or not found[0].dtype:
            return None
        kind = TypeProto()
        kind.tensor_type.elem_type = found[0].dtype
        shapes = [value.shape for value in found if value.shape is not None]
        if len(shapes) == len(found) and len(set(map(len, shapes))) == 1:
            kind.tensor_type.shape.SetInParent()
            for sizes in zip(*shapes, strict=True):
                dim = kind.tensor_type.shape.dim.add()
                if isinstance(sizes[0], int) and len(set(sizes)) == 1:
                    dim.dim_value = sizes[0]
                else:
                    dim.dim_param = self._name(sizes)
        return kind

    def _name(self, sizes: tuple[Dim, ...]) -> str:
        """The symbol of the sizes that the calls give."""
        if sizes not in self._names:
            name = self._names[sizes] = f"size_{len(self._names)}"
            lows, highs = zip(*map(bounds_of, sizes), strict=True)
            high = None if None in highs else max(highs)
            self.bounds[name] = max(min(0 if low is None else low for low in lows), 0), high
        return self._names[sizes]

    def elements(self, i: int) -> InputValue | None:
        """The elements of an operand that are equal numbers in all calls, as nested lists; None if they are not."""
        tensors = [known_tensor(call[i]) for call in self._calls]
        first = tensors[0]
        if first is None or any(tensor != first for tensor in tensors):
            return None
        found: InputValue = numpy_helper.to_array(first).tolist()
        return found


def _key(domain: str, name: str, of: NodeProto | FunctionProto) -> Key:
    return normal_domain(domain), name, getattr(of, "overload", "")  # since onnx 1.16


def _nodes(graph: GraphProto | FunctionProto) -> Iterator[NodeProto]:
    """The nodes of a graph or function, and of the graphs inside it."""
    for inner in graphs_of(graph):
        yield from inner.node


def _has_references(function: FunctionProto) -> bool:
    return any(attribute.ref_attr_name for node in _nodes(function) for attribute in node.attribute)
