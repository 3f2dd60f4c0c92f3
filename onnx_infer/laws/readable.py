"""Sizes whose expressions are too large to read: a fresh size takes their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.laws.statements import fresh
from symdim import Expr, leaf_count

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim

MOST_LEAVES = 400
"""The most variables and numbers in the text of a readable size."""
_LARGEST_COEFFICIENT = 2**63


def is_unreadable(size: object) -> bool:
    """Whether an expression, written out, is too large to be useful. A fresh symbol is better then.

    Chains of clamps that no interval decides double at every step. So do coefficients if a tensor is repeatedly
    concatenated with itself.
    """
    if not isinstance(size, Expr):
        return False
    terms = size.terms or {}
    if any(abs(k) > _LARGEST_COEFFICIENT for k in terms.values()):
        return True
    return (size.height >= 3 or len(terms) >= 32) and leaf_count(size) > MOST_LEAVES


def readable(size: Dim) -> Dim:
    """The size, or a fresh size if its expression is too large."""
    if isinstance(size, Expr) and is_unreadable(size):
        return fresh("its expression is too large", at_most=size.bounds()[1])
    return size
