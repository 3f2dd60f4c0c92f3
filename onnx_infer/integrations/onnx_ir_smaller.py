"""`fold` for an `onnx_ir.Model`."""

from __future__ import annotations

from typing import Unpack

import onnx_ir as ir

from onnx_infer.integrations.onnx_ir_names import copied
from onnx_infer.options import with_options
from onnx_infer.tools.transforms.folding import Facts, fold

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
        found = ir.from_proto(folded)
        for graph in found.graphs():
            for value in graph.initializers.values():
                if isinstance(value.const_value, ir.ExternalTensor):
                    value.const_value = tensors[value.const_value.location]
        return ir.passes.PassResult(found, folded != proto)


def _set_aside(model: ir.Model) -> dict[str, ir.TensorProtocol]:
    """Replace the large initializers of a model by references; return the tensors by reference."""
    found: dict[str, ir.TensorProtocol] = {}
    for graph in model.graphs():
        for value in graph.initializers.values():
            tensor = value.const_value
            if tensor is not None and _is_large(tensor):
                location = str(len(found))
                found[location] = tensor
                value.const_value = ir.ExternalTensor(
                    location, 0, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=value.name
                )
    return found


def _is_large(tensor: ir.TensorProtocol) -> bool:
    """Whether a tensor is not written into a message. Strings always are: no reference to them is possible."""
    if tensor.dtype == ir.DataType.STRING:
        return False
    return isinstance(tensor, (ir.ExternalTensor, ir.LazyTensor)) or tensor.nbytes > _FEW_BYTES
