"""One pass over the nodes of a model. A node is replaced if its result is known or exists already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from onnx_infer.protobuf.names import device_configurations, read
from onnx_infer.protobuf.nodes import subgraphs, wire_of
from onnx_infer.tools.materialization import INITIALIZERS_ALONE_SINCE, literal_tensor
from onnx_infer.tools.nodes_of_sizes import unused_name
from onnx_infer.tools.transforms.constants import EXACT, Constants, Roundings, equal_constants, known_tensor
from onnx_infer.tools.transforms.draft import Draft, is_default, is_in_order, said
from onnx_infer.tools.transforms.size_nodes import Plan, ShapeReads, Wanted
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import Dim, SymTensor, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_infer.operators.rule import Reread
    from onnx_infer.tools.transforms.refusals import Refusals

_PURE_DOMAINS = frozenset(("", "ai.onnx", "ai.onnx.ml"))
_SIZES = frozenset((dt.INT64, dt.INT32))


class Rewriting:
    """The changes to a draft. `targets` are new elements for inputs that are read as sizes and cannot be constants."""

    def __init__(self, draft: Draft, types: Mapping[str, Value], refusals: Refusals, opset: int) -> None:
        self._draft, self._types, self._refusals = draft, types, refusals
        self._constants = Constants(draft.constants)
        self._roundings = Roundings(draft, types)
        self._opset = opset
        self._uses, self._needed = draft.uses(), draft.needed()
        self._written: dict[tuple[int, tuple[int, ...], bytes], str] = {}
        self._targets: dict[tuple[int, int], tuple[Dim, ...]] = {}
        self._changed: dict[int, Mapping[str, Any]] = {}

    def run(self) -> None:
        """Visit the nodes of every graph, outer graphs first."""
        main, _ = self._draft.bodies[0]
        held = [t for t in main.initializer if t.name in self._draft.constants and t.name not in self._draft.named]
        for name, other in equal_constants(held).items():
            self._draft.replace(name, other)
        for graph, nodes in self._draft.bodies:
            same_values: dict[object, str] = {}
            same_nodes: dict[object, NodeProto] = {}
            in_order = is_in_order(nodes)
            reads = ShapeReads(self._opset if in_order else 0)
            for info in graph.input:
                reads.add(info.name, self._types.get(info.name))
            for node in nodes:
                if not in_order:  # an earlier node may depend on this one
                    same_values, same_nodes = {}, {}
                if self._without(node, graph) or self._by_value(node, same_values, reads):
                    continue
                self._reread(node)
                if not self._by_twin(node, same_nodes) and id(node) in self._needed:
                    for name in node.output:
                        reads.add(name, self._types.get(name))

    def _without(self, node: NodeProto, graph: GraphProto) -> bool:
        """Remove a Constant, or a node that returns its input; return whether it is gone."""
        draft = self._draft
        if not node.output:
            return False
        if node.op_type == "Constant" and is_default(node):
            tensor = literal_tensor(node)
            if tensor is None or node.output[0] in draft.fixed or draft.model.ir_version < INITIALIZERS_ALONE_SINCE:
                return False
            draft.add_constant(tensor, node.output[0], graph)
        else:
            other = self._same_as(node)
            if (
                other is None
                or node.output[0] in draft.named
                or not self._refusals.may_be_replaced(node)
                or self._roundings.depend_on(node)
                or any(self._uses[x] for x in node.output[1:] if x)
            ):
                return False
            output = node.output[0]
            if not (draft.replace(output, other) or (output in draft.outputs and draft.give_as(other, output, graph))):
                return False
        draft.remove([node])
        return True

    def _same_as(self, node: NodeProto) -> str | None:
        """The input that the first output of this node equals; None if that is not proved."""
        traits = self._draft.traits(node)
        law = traits.same or ("alike" if traits.view == "whole" else None)
        if law is None or not node.input:
            return None
        if law == "always":
            return node.input[0] or None
        source, made = (self._types.get(name) for name in (node.input[0], node.output[0]))
        if not isinstance(source, SymTensor) or not isinstance(made, SymTensor) or not source.dtype:
            return None
        if source.dtype != made.dtype or source.shape is None or source.shape != made.shape:
            return None
        return node.input[0] if law == "alike" or said(law, node, self._types) else None

    # -- what a node gives ----------------------------------------------------------------------------------------

    def _by_value(self, node: NodeProto, same: dict[object, str], reads: ShapeReads) -> bool:
        """Replace the outputs of known elements; return whether all outputs are of this kind."""
        if node.op_type == "Constant" and is_default(node):
            return True
        place = _place(node)
        done = True
        for name in node.output:
            value = self._types.get(name)
            if not name or (tensor := known_tensor(value)) is None:
                tensor = self._computed(node, value) if name else None
            if tensor is not None:
                self._draft.replace(name, self._constant(tensor, name))
            elif is_symbolic(value):
                assert value is not None
                if (value, place) in same:
                    self._draft.replace(name, same[value, place])
                else:
                    same[value, place] = name
                    self._read_axes(node, value, reads)
            else:
                done = done and not name
        return done

    def _read_axes(self, node: NodeProto, value: Value, reads: ShapeReads) -> None:
        """Let a Shape take the place of a node that gives the sizes of successive axes of a tensor."""
        if not isinstance(value, SymTensor) or value.dtype != dt.INT64 or value.rank != 1 or node.op_type == "Shape":
            return
        if device_configurations(node):  # the other tensor may be elsewhere
            return
        axes = reads.find(value.data or ())
        if axes is not None and len(node.output) == 1 and self._refusals.may_go(node):
            tensor, start, end = axes
            node.op_type = "Shape"
            del node.input[:], node.attribute[:]
            node.input.append(tensor)
            node.attribute.extend([helper.make_attribute("start", start), helper.make_attribute("end", end)])

    def _computed(self, node: NodeProto, value: Value | None) -> TensorProto | None:
        names = [self._draft.current(name) for name in node.input]
        array = self._constants.result(node, self._draft.traits(node), names, value, self._uses)
        return None if array is None or self._roundings.depend_on(node) else numpy_helper.from_array(array)

    def _constant(self, tensor: TensorProto, base: str) -> str:
        """The name of an initializer with these elements."""
        key = (tensor.data_type, tuple(tensor.dims), tensor.raw_data)
        if key not in self._written:
            self._written[key] = self._draft.add_constant(tensor, unused_name(f"{base}_known", self._draft.names))
        return self._written[key]

    def _by_twin(self, node: NodeProto, same: dict[object, NodeProto]) -> bool:
        """Read the outputs of an earlier node that computes the same; return whether the node is gone."""
        key = self._key(node)
        twin = node if key is None else same.setdefault(key, node)
        if twin is node or not self._refusals.is_upheld(node):
            return False
        if any(map(self._draft.loses_shape, node.output, twin.output)):
            return False
        for name, other in zip(node.output, twin.output, strict=True):
            if name:
                self._draft.replace(name, other)
        self._draft.remove([node])
        return True

    def _key(self, node: NodeProto) -> object:
        """What nodes that compute the same have in common; None for random ones and those with graphs."""
        if node.domain not in _PURE_DOMAINS or next(subgraphs(node), None) is not None:
            return None
        if self._draft.traits(node).random or self._draft.operators[node.domain, node.op_type] is None:
            return None
        if any(name in self._draft.fixed for name in node.output):
            return None
        inputs = tuple(map(self._draft.current, node.input))
        attributes = [wire for a in node.attribute if (wire := wire_of(a)) is not None]
        if len(attributes) < len(node.attribute):
            return None
        return node.op_type, node.domain, inputs, tuple(sorted(attributes)), tuple(map(bool, node.output)), _place(node)

    # -- what a node reads as sizes -------------------------------------------------------------------------------

    def _reread(self, node: NodeProto) -> None:
        """Give a node constants to read in place of sizes, where every run has the same result with them."""
        rereads = self._draft.traits(node).rereads
        reread: Reread | None = said(rereads, node, self._types) if rereads is not None else None
        if reread is None:
            return
        self._changed[id(node)] = reread.attributes
        for index, elements in reread.elements.items():
            if elements is None:
                read(node, index, None)
            else:
                self._read(node, index, elements)

    def _read(self, node: NodeProto, index: int, elements: Sequence[Any]) -> None:
        """Let a node read these elements, if they differ from what it reads."""
        name = node.input[index]
        value = self._types.get(name)
        if all(isinstance(x, float) for x in elements):
            tensor: TensorProto | None = numpy_helper.from_array(np.array(elements, np.float32))
        elif not isinstance(value, SymTensor) or tuple(elements) == value.data:
            return
        else:
            tensor = known_tensor(SymTensor(value.dtype, (len(elements),), elements))
        if tensor is None:
            self._targets[id(node), index] = tuple(elements)
            return
        read(node, index, self._constant(tensor, name))
        self._adapt(node)

    def _adapt(self, node: NodeProto) -> None:
        """Give a node the attributes with which it reads new sizes: no `allowzero`, and the axes that are resized."""
        changed = self._changed.get(id(node), {})
        for i, attribute in reversed(list(enumerate(node.attribute))):
            if attribute.name in changed:
                del node.attribute[i]
        node.attribute.extend(helper.make_attribute(n, value) for n, value in changed.items() if value is not None)

    def wanted(self) -> dict[Wanted, list[tuple[NodeProto, int]]]:
        """The integer tensors of sizes that nodes of the main graph read, except nodes that compute sizes."""
        wanted: dict[Wanted, list[tuple[NodeProto, int]]] = {}
        main = self._draft.bodies[0][0]
        for node in self._draft.nodes():
            if self._draft.home(node) is not main or all(map(self._is_computed, filter(None, node.output))):
                continue
            if device_configurations(node):  # what it reads is computed where it runs
                continue
            for index, name in enumerate(node.input):
                value = self._types.get(name)
                if name in self._draft.inputs or not is_symbolic(value) or not isinstance(value, SymTensor):
                    continue
                if value.dtype in _SIZES and value.rank < 2:
                    elements = self._targets.get((id(node), index), value.data or ())
                    wanted.setdefault(Wanted(elements, value.dtype, value.rank), []).append((node, index))
        return wanted

    def read_sizes(self, plan: Plan) -> None:
        """Let the readers of these sizes read the results of the nodes that compute them from the inputs."""
        for tensor, readers in self.wanted().items():
            for node, index in readers if tensor in plan.names else ():
                node.input[index] = plan.names[tensor]
                if (id(node), index) in self._targets:
                    self._adapt(node)
        for tensor in plan.initializers:
            self._draft.add_constant(tensor, tensor.name)

    def _is_computed(self, name: str) -> bool:
        value = self._types.get(name)
        return name not in self._draft.fixed and (is_symbolic(value) or known_tensor(value) is not None)


def is_symbolic(value: Value | None) -> bool:
    """Whether all elements of an integer or boolean tensor are known, but not all as numbers."""
    if not isinstance(value, SymTensor) or value.data is None or value.dtype not in EXACT or None in value.data:
        return False
    return not all(isinstance(x, int) for x in value.data)


def _place(node: NodeProto) -> tuple[bytes | None, ...]:
    """Where a node runs, and how what it reads and gives is sharded."""
    return tuple(map(wire_of, device_configurations(node)))
