"""Einsum specifications: their language, their equations, and their loops.

    spec.py            the nodes of a specification, and their text
    reader.py          the language, one method per production; subscripts.py reads NumPy's and ONNX's
    discardable.py     which parts of concatenations may be empty
    constraints.py     the equations of a specification, stated into a `Store`
    inference.py       shapes forwards and backwards, and the sizes of labels
    projection.py      the indices of axes: classes of equal projections
    planning.py        the plan of a specification; operations.py: plans of the usual operations
    loopnest.py        loops: product space and index maps (index.py); coverage.py: whether maps are injective, onto
    padding.py         one margin for several uses of a tensor
    codegen.py         a plan as a Python function

The room uses `store` and what is above it. Begin with `spec.py`, then `planning.py`.

>>> from symdim.einsum import EinsumSpec, plan
>>> known = EinsumSpec("2*o<+k; k => o").infer(["H"], [3], result=[4])
>>> print(known.operands[0])
9
>>> print(plan("ij; jk => ik", [["M", 2], [2, "N"]]))
def run(out, in0, in1, *, M, N):
    for i in range(M):
        for k in range(N):
            for j in range(2):
                out[i, k] += in0[i, j] * in1[j, k]
"""

from __future__ import annotations

from symdim.einsum.codegen import Plan
from symdim.einsum.constraints import state
from symdim.einsum.discardable import discardable
from symdim.einsum.inference import EinsumSpec, Inference
from symdim.einsum.operations import plan_batch_slice, plan_compose, plan_pointwise, plan_transpose
from symdim.einsum.padding import Padding, padding_of
from symdim.einsum.planning import plan
from symdim.einsum.reader import parse_spec
from symdim.einsum.spec import Spec, SpecError
from symdim.einsum.subscripts import parse_subscripts

__all__ = [
    "EinsumSpec", "Inference", "Padding", "Plan", "Spec", "SpecError", "discardable", "padding_of",
    "parse_spec", "parse_subscripts", "plan", "plan_batch_slice", "plan_compose", "plan_pointwise",
    "plan_transpose", "state",
]  # fmt: skip
