"""Values whose elements inference knows, as constants of an `onnx_ir.Model`."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_infer.integrations.onnx_ir import InferenceResult, SymbolicShapeInferencePass, infer
from onnx_infer.integrations.onnx_ir_names import given_values, subgraphs
from onnx_infer.tools.materialization import unused_name
from onnx_infer.tools.transforms.constants import known_tensor

if TYPE_CHECKING:
    from collections.abc import Iterator


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
