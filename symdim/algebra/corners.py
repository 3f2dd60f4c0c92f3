"""Intervals of sums of products: `H*W - H` is not negative where W is at least 1.

Law: every atom is its least value plus a rest that is not negative, `v = lo + r`. Multiplied out, the terms of the
rests are at least 0 if their coefficients are. So `H*W - H`, where H and W are at least 1, is `r*s + s` with rests r
and s, and `(H - 1)*(W - 1)` is `r*s`.

The law needs a least value of every atom. Atoms that depend on each other count as independent, which only makes the
interval wider.
"""

from __future__ import annotations

from symdim.algebra.caches import remembered
from symdim.algebra.expr import Mul
from symdim.algebra.polynomials import powers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from symdim.algebra.expr import Expr, Interval, Terms

    Rests = tuple[Expr, ...]  # the atoms of a product of rests, in structural order

_TERMS = 12  # the most terms of a sum
_DEGREE = 6  # the most factors of a term
_BITS = 64  # the most bits of a least value


def is_correlated(terms: Terms) -> bool:
    """Whether a sum has a product, and terms of either sign, so that multiplying out may help."""
    if not 2 <= len(terms) <= _TERMS or not min(terms.values()) < 0 < max(terms.values()):
        return False
    return any(type(unit) is Mul and unit._terms is None for unit in terms)


def lower_end(terms: Terms, const: int, interval: Callable[[Expr], Interval]) -> int | None:
    """A lower bound of a sum by the law above, from the intervals of its atoms; None if it has none, or is too large.

    >>> from symdim import Expr, Var
    >>> H, W = Var.fresh("H", 1), Var.fresh("W", 2)
    >>> lower_end((H * W - H)._terms, 0, Expr.bounds), lower_end((H * W - 3 * H)._terms, 0, Expr.bounds)
    (1, None)
    """
    whole: dict[Rests, int] = {}
    for unit, k in terms.items():
        parts = _multiplied_out(unit, interval)
        if parts is None:
            return None
        for rests, part in parts:
            whole[rests] = whole.get(rests, 0) + k * part
    end = const + whole.pop((), 0)
    return None if any(k < 0 for k in whole.values()) else end


@remembered(2048)
def _multiplied_out(unit: Expr, interval: Callable[[Expr], Interval]) -> list[tuple[Rests, int]] | None:
    """A product of atoms, each of which is its least value plus a rest; None if one has none, or of many factors."""
    powers = powers_of(unit)
    if sum(powers.values()) > _DEGREE:
        return None
    result: list[tuple[Rests, int]] = [((), 1)]
    for atom, exponent in powers.items():
        lo, _ = interval(atom)
        if lo is None or lo.bit_length() > _BITS:
            return None
        for _ in range(exponent):
            result = [more for rests, k in result for more in ((rests, k * lo), ((*rests, atom), k)) if more[1]]
    return result
