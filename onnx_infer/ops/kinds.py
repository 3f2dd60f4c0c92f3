"""The kinds of parameters that rules declare, as types. See `onnx_infer.operators.parameters` for what a rule gets."""

from __future__ import annotations

from typing import TypeAlias

from onnx_infer.engine.engine import Subgraph
from onnx_infer.values.tensor import Dim, Shape, SymTensor, Value

AnyRank: TypeAlias = SymTensor
"""A tensor whose shape may be None."""
Variadic: TypeAlias = tuple[SymTensor, ...]
"""The rest of the inputs, all of known rank."""
AnyRanks: TypeAlias = tuple[SymTensor, ...]
"""The rest of the inputs, their shapes may be None."""
Values: TypeAlias = tuple[Value, ...]
"""The rest of the inputs, whatever they are, with their elements."""
Elements: TypeAlias = SymTensor
"""A tensor whose elements the rule reads itself; its shape may be None."""
Ints: TypeAlias = tuple[Dim, ...]
"""A vector of integers: an attribute, or the data of an input; an element that is not known is None."""
Sizes: TypeAlias = tuple[Dim, ...]
"""As `Ints`; an input must have rank 1."""
Floats: TypeAlias = tuple[float, ...]
"""A vector of floats, likewise."""
Strings: TypeAlias = tuple[str, ...]
"""A vector of strings, likewise."""
Graph: TypeAlias = Subgraph
"""A subgraph: a function from input values to a list of output values."""

__all__ = [
    "AnyRank",
    "AnyRanks",
    "Dim",
    "Elements",
    "Floats",
    "Graph",
    "Ints",
    "Shape",
    "Sizes",
    "Strings",
    "SymTensor",
    "Value",
    "Values",
    "Variadic",
]
