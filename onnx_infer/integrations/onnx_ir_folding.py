"""Passes over an `onnx_ir.Model`: known values become constants, and folding as a whole."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_infer.inference import with_options
from onnx_infer.integrations.onnx_ir import InferenceResult, SymbolicShapeInferencePass, infer
from onnx_infer.integrations.onnx_ir_names import copied, given_values, subgraphs
from onnx_infer.tools.nodes_of_sizes import unused_name
from onnx_infer.tools.transforms.constants import known_tensor
from onnx_infer.tools.transforms.folding import Facts, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Unpack


class FoldKnownValuesPass(SymbolicShapeInferencePass):
    """Integers and bools that follow from the sizes of the inputs become constants, and all types are written.

    What computed them stays for `RemoveUnusedNodesPass`. Outputs of the graph, and functions, are left as they are. The
    options are those of `onnx_infer.infer`.

    >>> from onnx_ir.passes.common import RemoveUnusedNodesPass
    >>> text = '''<ir_version: 10, opset_import: ["": 20]> g (float[N, 8] x, float[8, 4] w) => (y) {
    ...     s = Shape <start: int = 1> (w)  t = Constant <value = int64[1] {-1}> ()
    ...     target = Concat <axis: int = 0> (t, s)  y = Reshape (x, target) }'''
    >>> model = ir.from_onnx_text(text)
    >>> folded = ir.passes.Sequential(FoldKnownValuesPass(), RemoveUnusedNodesPass())(model)
    >>> [node.op_type for node in model.graph], model.graph.outputs[0].shape
    (['Constant', 'Reshape'], Shape([SymbolicDim('2*N'), 4]))
    """

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Infer, write the types and the constants."""
        result = infer(model, **self.options)
        known = list(_known_values(model.graph, result))
        result.apply(model)
        taken = {value.name for graph in model.graphs() for value in _values(graph)}
        for node, value, tensor in known:
            constant = ir.node("Constant", [], {"value": tensor}).outputs[0]
            constant.shape, constant.type = value.shape, value.type
            constant.name = unused_name(f"{value.name}_known", taken)
            node.graph.insert_before(node, constant.producer())
            ir.convenience.replace_all_uses_with(value, constant)
        return ir.passes.PassResult(model, result.modified or bool(known))


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    return chain(graph.inputs, graph.initializers.values(), given_values(graph))


def _known_values(graph: ir.Graph, result: InferenceResult) -> Iterator[tuple[ir.Node, ir.Value, ir.Tensor]]:
    """The nodes of a graph, and of those in it, that give values of known elements which something uses."""
    pending = [graph]
    while pending:
        for node in pending.pop():
            pending += subgraphs(node)
            for value in node.outputs if node.op_type != "Constant" else ():
                if value.uses() and not value.is_graph_output():
                    tensor = known_tensor(result.type_of(value))
                    if tensor is not None:
                        yield node, value, ir.from_proto(tensor)


_FEW_BYTES = 1 << 10
"""Larger tensors are not written into a message. Folding does not see their elements."""


class FoldPass(ir.passes.FunctionalPass):  # type: ignore[misc]
    """A smaller model that computes the same, as a new model; see `onnx_infer.fold`.

    Large initializers are not copied: both models have the same tensors. External and lazy ones are never loaded.

    >>> text = '''<ir_version: 10, opset_import: ["": 20]> g (float[N, S, 8] x) => (float[N, S, 8] y) {
    ...     s = Shape (x)  r = Reshape (x, s)  y = Relu (r) }'''
    >>> [node.op_type for node in FoldPass()(ir.from_onnx_text(text)).model.graph]
    ['Relu']
    """

    @with_options(Facts)
    def __init__(self, *, keep_guards: bool = False, **facts: Unpack[Facts]) -> None:
        super().__init__()
        self.keep_guards, self.facts = keep_guards, facts

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Fold a copy of the model."""
        copy = copied(model)
        tensors = _set_aside(copy)
        proto = ir.to_proto(copy)
        folded = fold(proto, keep_guards=self.keep_guards, **self.facts)
        result = ir.from_proto(folded)
        for graph in result.graphs():
            for value in graph.initializers.values():
                if isinstance(value.const_value, ir.ExternalTensor):
                    value.const_value = tensors[value.const_value.location]
        return ir.passes.PassResult(result, folded != proto)


def _set_aside(model: ir.Model) -> dict[str, ir.TensorProtocol]:
    """Replace the large initializers of a model by references; return the tensors by reference."""
    tensors: dict[str, ir.TensorProtocol] = {}
    for graph in model.graphs():
        for value in graph.initializers.values():
            tensor = value.const_value
            if tensor is not None and _is_large(tensor):
                location = str(len(tensors))
                tensors[location] = tensor
                value.const_value = ir.ExternalTensor(
                    location, 0, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=value.name
                )
    return tensors


def _is_large(tensor: ir.TensorProtocol) -> bool:
    """Whether a tensor is not written into a message. Strings always are: no reference to them is possible."""
    if tensor.dtype == ir.DataType.STRING:
        return False
    return isinstance(tensor, (ir.ExternalTensor, ir.LazyTensor)) or tensor.nbytes > _FEW_BYTES
