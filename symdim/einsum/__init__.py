"""Einsum specifications: their language, their equations, and their loops.

    spec.py            the nodes of a specification, and their text; which parts of concatenations may be empty
    reader.py          the language, one method per production; the subscripts of NumPy and ONNX
    constraints.py     the equations of a specification in a `Store`; shapes in both directions
    projection.py      the indices of axes: classes of equal projections
    planning.py        the plan of a specification, and those of the usual operations; margins of tensors
    loopnest.py        loops: product space and index maps; whether maps are injective, onto
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.einsum.codegen import Plan
    from symdim.einsum.constraints import EinsumSpec, Inference, state
    from symdim.einsum.planning import (
        Padding,
        padding_of,
        plan,
        plan_batch_slice,
        plan_compose,
        plan_pointwise,
        plan_transpose,
    )
    from symdim.einsum.reader import parse_spec, parse_subscripts
    from symdim.einsum.spec import Spec, SpecError, discardable

__all__ = [
    "EinsumSpec", "Inference", "Padding", "Plan", "Spec", "SpecError", "discardable", "padding_of",
    "parse_spec", "parse_subscripts", "plan", "plan_batch_slice", "plan_compose", "plan_pointwise",
    "plan_transpose", "state",
]  # fmt: skip

_MODULES = ("spec", "reader", "constraints", "codegen", "planning")
"""The modules of the public names, which are loaded on first use: who states equations needs no plans."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'symdim.einsum' has no attribute {name!r}")
    from importlib import import_module

    modules = (import_module(f"symdim.einsum.{module}") for module in _MODULES)
    value = globals()[name] = next(getattr(module, name) for module in modules if hasattr(module, name))
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
