"""A fresh size replaces a size whose expression is too large to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_infer.laws.statements import call_mode, fresh
from symdim import Expr, Mul
from symdim.algebra.application import Application
from symdim.algebra.dims import at_least
from symdim.algebra.evaluate import parts_first, parts_of
from symdim.algebra.expr import Extremum
from symdim.algebra.polynomials import has_extrema, powers_of
from symdim.algebra.texts.written import leaf_count

if TYPE_CHECKING:
    from onnx_infer.values.tensor import Dim

MOST_LEAVES = 400
"""The most variables and numbers in the text of a readable size."""
MOST_LEAVES_OF_A_CHOICE = 64
"""The same for a size that broadcasts two sizes. It may double with each broadcast, and the work of a chain of
broadcasts is proportional to this number. A fresh size is replaced by what a later node demands of it.
"""
MOST_SYMBOLS_OF_A_CHOICE = 16
"""The most different variables in it. In a chain of broadcasts each result would have one more than the former one."""
NOT_CHOSEN = "one of two sizes broadcast together"
"""The reason of the fresh size in place of a choice after many choices (`engine/walk.py`)."""
LEAVES_OF_A_LONG_SIZE = 7
"""The most variables in the text of a size that is not long: about 50 characters."""
_LARGEST_COEFFICIENT = 2**63
_LARGEST_EXPONENT = 63
"""The largest degree, also through divisions: `(x**2//3)**2` has 4. A value at the largest size is then no longer than
63 times 31 bits, so that it can be computed.
"""


def is_unreadable(size: object, most: int = MOST_LEAVES) -> bool:
    """Whether an expression, written out, is too large to be useful. A fresh symbol is better then.

    Chains of clamps that no interval decides double at every step. So do coefficients if a tensor is repeatedly
    concatenated with itself, and exponents if a size is repeatedly squared.
    """
    if not isinstance(size, Expr):
        return False
    terms = {size: 1} if size._terms is None else size._terms
    if any(abs(k) > _LARGEST_COEFFICIENT for k in terms.values()):
        return True
    if any(max(powers_of(unit).values()) > _LARGEST_EXPONENT for unit in terms if isinstance(unit, Mul)):
        return True
    is_wide = any(isinstance(unit, Extremum) and len(unit._parts) >= 32 for unit in terms)
    is_small = size._height < 3 and len(terms) < 32 and not is_wide
    return not is_small and (leaf_count(size) > most or degree(size) > _LARGEST_EXPONENT)


def has_many_names(size: Dim) -> bool:
    """Whether the text of a size is long, so that a number takes its place where operators demand that number."""
    return leaf_count(size) > LEAVES_OF_A_LONG_SIZE


def is_long(size: Dim) -> bool:
    """Whether a size has many names, or a clamp."""
    return isinstance(size, Expr) and bool(size._height) and (has_extrema(size) or has_many_names(size))


def degree(size: Expr) -> int:
    """How fast a size grows with its variables, at most: a quotient as its numerator, an extremum as its arguments.

    A function counts as a variable: the largest float has a fixed number of digits.

    >>> from symdim import Var
    >>> x = Var("x")
    >>> degree((x * x // 3) ** 2 + x), degree(x // 2), degree(2 * (4 - 2 * x**3) // 3)
    (4, 1, 3)
    """
    degrees: dict[Expr, int] = {}
    for node, parts in parts_first(size, degrees, lambda node: [] if isinstance(node, Application) else parts_of(node)):
        if isinstance(node, Mul) and node._terms is None:
            degrees[node] = sum(degrees[atom] * power for atom, power in powers_of(node).items())
        else:
            degrees[node] = max((degrees[part] for part in parts), default=1)
    return degrees[size]


def readable(size: Dim, most: int = MOST_LEAVES) -> Dim:
    """The size, or a fresh size if its expression is too large."""
    return fresh_for(size) if isinstance(size, Expr) and is_unreadable(size, most) else size


def fresh_for(size: Expr) -> Dim:
    """A fresh size with the interval of a size whose expression is too large."""
    low, high = size.bounds()
    return fresh("its expression is too large", at_least=max(low or 0, 0), at_most=high)


def chosen(a: Dim, b: Dim) -> Dim:
    """The size of two sizes that are equal or of which one is 1; a fresh size if its expression is too large.

    If its expression is long, but one of the sizes is 1 only where the other one is 1 too, that size is the result. It
    is long where both sizes together are far longer, so it is not made there before this is tried.
    """
    if not call_mode().chooses:
        return fresh(NOT_CHOSEN, at_least=int(at_least(a, 1) and at_least(b, 1)))
    is_long = leaf_count(a) + leaf_count(b) > 2 * LEAVES_OF_A_LONG_SIZE
    shared = _one_where_both_are(a, b) if is_long else None
    if shared is not None:
        return shared
    from symdim.shape import size_of_broadcast  # few models need it

    size = size_of_broadcast(a, b)
    if not is_long and is_unreadable(size, LEAVES_OF_A_LONG_SIZE):
        shared = _one_where_both_are(a, b)
        if shared is not None:
            return shared
    if isinstance(size, Expr) and len(size.variables()) > MOST_SYMBOLS_OF_A_CHOICE:
        return fresh_for(size)
    return readable(size, MOST_LEAVES_OF_A_CHOICE)


def _one_where_both_are(a: Dim, b: Dim) -> Dim | None:
    """The size, the shorter one first, that is 1 only where the other one is 1 too; None if that is not known."""
    from symdim.relations.solving import is_one_where  # few models need it

    for x, y in sorted(((a, b), (b, a)), key=lambda sides: leaf_count(sides[0])):
        if is_one_where(y, x):
            return x
    return None
