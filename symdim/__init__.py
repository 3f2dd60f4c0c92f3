"""Exact algebra of symbolic dimensions."""

from __future__ import annotations

from symdim.canonical import ceildiv, maximum, minimum, product, total
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
    "total",
]
