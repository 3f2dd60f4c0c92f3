"""A fresh size replaces a size whose expression is too large to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.laws.statements import fresh
from symdim import Expr, Mul, leaf_count
from symdim.algebra.sums.monomial import powers_of

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim

MOST_LEAVES = 400
"""The most variables and numbers in the text of a readable size."""
MOST_LEAVES_OF_A_CHOICE = 56
"""The same for a size that broadcasts two sizes. Such sizes grow fast, and a later node often demands one of the two.
A fresh size is then replaced by it. The number was found by trials on whole models: with 40 window attention loses
sizes, with 58 a cropped table of positions does.
"""
_LARGEST_COEFFICIENT = 2**63
_LARGEST_EXPONENT = 63


def is_unreadable(size: object, most: int = MOST_LEAVES) -> bool:
    """Whether an expression, written out, is too large to be useful. A fresh symbol is better then.

    Chains of clamps that no interval decides double at every step. So do coefficients if a tensor is repeatedly
    concatenated with itself, and exponents if a size is repeatedly squared.
    """
    if not isinstance(size, Expr):
        return False
    terms = {size: 1} if size.terms is None else size.terms
    if any(abs(k) > _LARGEST_COEFFICIENT for k in terms.values()):
        return True
    if any(max(powers_of(unit).values()) > _LARGEST_EXPONENT for unit in terms if isinstance(unit, Mul)):
        return True
    return (size.height >= 3 or len(terms) >= 32) and leaf_count(size) > most


def readable(size: Dim, most: int = MOST_LEAVES) -> Dim:
    """The size, or a fresh size if its expression is too large."""
    if isinstance(size, Expr) and is_unreadable(size, most):
        low, high = size.bounds()
        return fresh("its expression is too large", at_least=max(low or 0, 0), at_most=high)
    return size
