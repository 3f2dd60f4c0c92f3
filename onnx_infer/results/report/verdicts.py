"""Whether what is known of a value is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from onnx_infer.values.tensor import Map, Optional, Sequence, Sparse, SymTensor
from symdim import Var
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from onnx_infer.result import InferenceResult
    from onnx_infer.values.tensor import Value

Verdict = Literal["exact", "data-dependent", "unknown"]


def input_variables(result: InferenceResult) -> frozenset[Var]:
    """The symbols that the sizes and the elements of the graph inputs are made of."""
    return frozenset(v for name in result.inputs for v in variables(result.types[name]))


def verdict(value: Value | None, inputs: frozenset[Var]) -> Verdict:
    """`exact`: the sizes are functions of the inputs' sizes; `data-dependent`: some only the data decide; else unknown.

    >>> verdict(SymTensor(1, (2, 3)), frozenset()), verdict(SymTensor(1, (Var("N"),)), frozenset())
    ('exact', 'data-dependent')
    """
    if isinstance(value, (Sequence, Optional)):
        return verdict(value.elem, inputs)
    if isinstance(value, Map):
        return verdict(value.value, inputs)
    if not isinstance(value, (SymTensor, Sparse)) or value.shape is None or value.dtype is None:
        return "unknown"
    return "exact" if inputs.issuperset(variables(value)) else "data-dependent"


def variables(value: Value | None) -> list[Var]:
    """The variables of a tensor's sizes, each once."""
    while isinstance(value, (Sequence, Optional)):
        value = value.elem
    shape = value.shape if isinstance(value, (SymTensor, Sparse)) else None
    return list(variables_of(shape or ()))
