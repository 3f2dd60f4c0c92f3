"""Everything for writing rules, in one place: `from onnx_infer.rules import SymTensor, op, require`.

op, registry                                          registering rules
Reread, uncounted                                     what tools ask of an operator (`onnx_infer/operators/rule.py`)
SymTensor, AnyRank, Variadic, AnyRanks, Value, Values, Elements, Ints, Sizes, FlatSizes, Floats, Strings, Dim, Graph,
Windows
                                                      kinds of parameters (`onnx_infer/operators/arguments.py`)
Shape                                                 what a rule returns: a tuple of sizes
Map, Optional, Sequence, Sparse                       types of values other than tensors
Unknown, require, demand, conflicting                 unknown results, demands
unify, unify_shapes, broadcast, of_rank, normalize_axis, normalize_axes, exact_quotient, slice_length
                                                      laws of sizes
fresh, element                                        data-dependent sizes
lift, SAME                                            data functions
dtype                                                 numbers and names of element types
run_case                                              one case of a rule, as text
ceildiv, maximum, minimum, product                    arithmetic of sizes beside + - * // %
"""

from __future__ import annotations

from onnx_infer.elements.lifting import SAME, lift
from onnx_infer.errors import Unknown, require
from onnx_infer.laws.sizes import (
    broadcast,
    exact_quotient,
    normalize_axes,
    normalize_axis,
    of_rank,
    unify,
    unify_shapes,
)
from onnx_infer.laws.slices import slice_length
from onnx_infer.laws.statements import conflicting, demand, element, fresh
from onnx_infer.operators.registration import op, registry
from onnx_infer.operators.rule import Reread, uncounted
from onnx_infer.ops.kinds import (
    AnyRank,
    AnyRanks,
    Dim,
    Elements,
    FlatSizes,
    Floats,
    Graph,
    Ints,
    Shape,
    Sizes,
    Strings,
    SymTensor,
    Value,
    Values,
    Variadic,
    Windows,
)
from onnx_infer.testing import run_case
from onnx_infer.values import dtype
from onnx_infer.values.containers import Map, Optional, Sequence, Sparse
from symdim import ceildiv, maximum, minimum, product

__all__ = [
    "SAME", "AnyRank", "AnyRanks", "Dim", "Elements", "FlatSizes", "Floats", "Graph", "Ints", "Map", "Optional",
    "Reread", "Sequence", "Shape", "Sizes", "Sparse", "Strings", "SymTensor", "Unknown", "Value", "Values",
    "Variadic", "Windows", "broadcast", "ceildiv", "conflicting", "demand", "dtype", "element", "exact_quotient",
    "fresh", "lift", "maximum", "minimum", "normalize_axes", "normalize_axis", "of_rank", "op", "product", "registry",
    "require", "run_case", "slice_length", "uncounted", "unify", "unify_shapes",
]  # fmt: skip
