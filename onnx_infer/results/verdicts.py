"""Whether the type of a value is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.values.tensor import Map, Optional, Sequence, Sparse, SymTensor, is_small
from symdim import Var
from symdim.algebra.dims import variables_of

if TYPE_CHECKING:
    from onnx_infer.results.inferred import Inferred
    from onnx_infer.values.tensor import Value


def input_variables(result: Inferred) -> frozenset[Var]:
    """The symbols in the sizes and in the elements of the graph inputs."""
    return frozenset(v for name in result.inputs for v in variables(result.types[name]))


def is_exact(value: Value | None, inputs: frozenset[Var]) -> bool:
    """Whether the type is known and its sizes are functions of the input sizes.

    >>> is_exact(SymTensor(1, (2, 3)), frozenset()), is_exact(SymTensor(1, (Var("N"),)), frozenset())
    (True, False)
    """
    return is_typed(value) and inputs.issuperset(variables(value))


def is_typed(value: Value | None) -> bool:
    """Whether the element type and the rank of a value are known, including those inside a sequence, optional or map.

    >>> is_typed(SymTensor(1, (Var("N"),))), is_typed(SymTensor(1)), is_typed(Sequence(SymTensor(None, ())))
    (True, False, False)
    """
    value = _innermost(value)
    return isinstance(value, (SymTensor, Sparse)) and value.shape is not None and value.dtype is not None


def variables(value: Value | None) -> list[Var]:
    """The variables in a tensor's sizes, each once."""
    value = _innermost(value)
    shape = value.shape if isinstance(value, (SymTensor, Sparse)) else None
    return list(variables_of(shape or ()))


def lacks_elements(value: Value) -> bool:
    """Whether a value is a small tensor with unknown elements. Sizes may be computed from these."""
    return isinstance(value, SymTensor) and is_small(value) and (value.data is None or None in value.data)


def _innermost(value: Value | None) -> Value | None:
    while isinstance(value, (Sequence, Optional, Map)):
        value = value.value if isinstance(value, Map) else value.elem
    return value
