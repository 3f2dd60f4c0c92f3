"""Nodes without which a runtime computes others with other last bits, although the nodes themselves are exact.

Where a runtime has no kernels for float16, onnxruntime on a CPU for example, it computes in float32. It rounds between
two nodes only if a node that it has in float16 stands between them: a Cast, a Reshape, an Identity. So such a node
stays, even if it changes nothing. And a runtime packs a constant operand of a product before the run, and takes another
kernel for it. So an operand that is computed stays computed, a Transpose of a weight for example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.tools.transforms.draft import is_default
from onnx_infer.values import dtype as dt
from onnx_infer.values.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import NodeProto

    from onnx_infer.tools.transforms.draft import Draft
    from onnx_infer.values.tensor import Value

_HALVES = (dt.FLOAT16, dt.BFLOAT16)
_PACKING = frozenset(("Gemm", "GRU", "LSTM", "MatMul", "RNN"))
"""The operators whose weights, all operands but the first, onnxruntime packs; those of other domains may do so too."""


class Roundings:
    """The nodes of a draft that decide how others round."""

    def __init__(self, draft: Draft, types: Mapping[str, Value]) -> None:
        self._draft, self._types = draft, types
        self._packed: set[str] = set()
        for node in draft.nodes():
            first = 1 if is_default(node) else 0
            self._packed.update(node.input[first:] if not is_default(node) or node.op_type in _PACKING else ())

    def depend_on(self, node: NodeProto) -> bool:
        """Whether another node may round otherwise, if what it reads of this node is the operand, or a constant."""
        given, made = (self._types.get(name) for name in (node.input[0], node.output[0]))
        if not isinstance(made, SymTensor) or made.dtype not in dt.FLOATS:
            return False
        if not self._is_computed(node.input[0]) and node.output[0] in self._packed:
            return True
        is_rounded = (
            isinstance(given, SymTensor) and given.dtype == made.dtype and node.input[0] in self._draft.constants
        )
        return made.dtype in _HALVES and not is_rounded

    def _is_computed(self, name: str) -> bool:
        """Whether a node computes a value; it is a constant otherwise, or an input, which is one in some calls."""
        node = self._draft.made.get(self._draft.current(name))
        return node is not None and node.op_type != "Constant"
