"""Exact algebra of symbolic dimensions."""

from __future__ import annotations

from symdim.canonical import ceildiv, maximum, minimum, product, quotient_by_positive, total
from symdim.errors import (
    BoundsError,
    BroadcastError,
    DivisionByZero,
    NegativeSize,
    NotDivisible,
    ParseError,
    ReshapeError,
    SymdimError,
    UnboundName,
)
from symdim.expr import Add, Const, Expr, FloorDiv, Max, Min, Mod, Mul, clear_caches
from symdim.variable import Scope, Var

__all__ = [
    "Add",
    "BoundsError",
    "BroadcastError",
    "Const",
    "DivisionByZero",
    "Expr",
    "FloorDiv",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "NegativeSize",
    "NotDivisible",
    "ParseError",
    "ReshapeError",
    "Scope",
    "SymdimError",
    "UnboundName",
    "Var",
    "ceildiv",
    "clear_caches",
    "maximum",
    "minimum",
    "product",
    "quotient_by_positive",
    "total",
]

_LAZY = {
    "parse": "parsing",
    "check": "parsing",
    "Shape": "shape",
    "INFER": "shape",
    "broadcast_shapes": "shape",
    "equal": "prove",
    "at_least": "prove",
    "Facts": "facts",
    "simplify": "simplification",
}


def __getattr__(name: str) -> object:
    """The parser, shapes and the prover load when first asked for."""
    if name in _LAZY:
        from importlib import import_module

        module = import_module(f"symdim.{_LAZY[name]}")
        value = globals()[name] = getattr(module, name)
        return value
    if name == "prove":
        from importlib import import_module

        return import_module("symdim.prove")
    raise AttributeError(f"module 'symdim' has no attribute {name!r}")
