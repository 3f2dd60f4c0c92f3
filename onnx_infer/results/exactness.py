"""Whether the type of a value is exact."""

from __future__ import annotations

from onnx_infer.laws.statements import elements_of
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from onnx_infer.values.dtype import BOOL, INT32, INT64
from onnx_infer.values.tensor import UNKNOWN_SIZE, SymTensor, Value, is_small
from symdim import Var
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import variables_of

_CHOOSING = (INT32, INT64, BOOL)
"""The element types of long vectors from which sizes may be computed: sizes, positions, and what is kept."""

_variables = shared_cache(1 << 13)  # value -> the variables in its sizes; a report asks for those of each value often


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
    return all(
        isinstance(x, (SymTensor, Sparse)) and x.shape is not None and x.dtype is not None for x in _tensors(value)
    )


def variables(value: Value | None) -> tuple[Var, ...]:
    """The variables in the sizes of a tensor, or of the tensors in a container, each once."""
    symbols: tuple[Var, ...] | None = _variables.get(value)
    if symbols is None:
        shapes = [x.shape for x in _tensors(value) if isinstance(x, (SymTensor, Sparse)) and x.shape is not None]
        symbols = _variables[value] = variables_of([size for shape in shapes for size in shape])
    return symbols


def varies(value: Value | None) -> bool:
    """Whether the elements of a sequence differ in a size, and neither they nor the size that is cut are known.

    >>> from onnx_infer.types.join import sequence_of
    >>> varies(Sequence(SymTensor(1, (UNKNOWN_SIZE,)))), varies(sequence_of([SymTensor(1, (2,)), SymTensor(1, (3,))]))
    (True, False)
    """
    return UNKNOWN_SIZE in variables(value) and not (isinstance(value, Sequence) and value.parts is not None)


def lacks_elements(value: Value) -> bool:
    """Whether something in a value is unknown that sizes may be computed from.

    For a small tensor, or a vector of integers or booleans, these are its elements; for a sequence their number and
    their sizes; for an optional, whether it has an element.
    """
    if isinstance(value, Optional):
        return value.full is None or (value.elem is not None and lacks_elements(value.elem))
    if isinstance(value, Sequence):
        return value.length is None or varies(value)
    if is_small(value):
        return value.data is None or None in value.data
    if not isinstance(value, SymTensor) or value.dtype not in _CHOOSING or value.shape is None or len(value.shape) != 1:
        return False
    return value.data is None and (value.fill is None or bool(elements_of(value.fill)))


def _tensors(value: Value | None) -> list[Value | None]:
    """The tensors in a value: itself, or those in a sequence, optional or map. An empty sequence has none."""
    tensors, pending = [], [value]
    while pending:
        value = pending.pop()
        if isinstance(value, Sequence):
            pending += () if value.length == 0 else value.items if value.items else (value.elem,)
        elif isinstance(value, (Optional, Map)):
            pending.append(value.value if isinstance(value, Map) else value.elem)
        else:
            tensors.append(value)
    return tensors
