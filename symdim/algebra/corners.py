"""Intervals of sums of products: `H*W - H` is not negative where W is at least 1.

Law: every atom is its least value plus a rest that is not negative, `v = lo + r`. Multiplied out, a term of the rests
with a positive coefficient is at least 0. One with a negative coefficient is at least its value at the largest rests.
So `H*W - H`, where H and W are at least 1, is `r*s + s` with rests r and s, and `(H - 1)*(W - 1)` is `r*s`.

The law needs a least value of every atom. Atoms that depend on each other count as independent, which only makes the
interval wider.
"""

from __future__ import annotations

from symdim.algebra.expr import Expr, Mul
from symdim.algebra.polynomials import powers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Interval, Terms

    Polynomial = dict[tuple[int, ...], int]  # exponents of the rests, one for each atom -> coefficient

_TERMS = 12  # the most terms of a sum
_DEGREE = 6  # the most factors of a term
_BITS = 64  # the most bits of a least value


def is_correlated(terms: Terms) -> bool:
    """Whether a sum has a product, and terms of either sign, so that multiplying out may help."""
    if not 2 <= len(terms) <= _TERMS or not min(terms.values()) < 0 < max(terms.values()):
        return False
    return any(type(unit) is Mul and unit._terms is None for unit in terms)


def least(terms: Terms, const: int, ends: dict[Expr, Interval]) -> int | None:
    """A lower bound of a sum by the law above, from the intervals of its atoms; None if it has none, or is too large.

    >>> from symdim import Var
    >>> H, W = Var.fresh("H"), Var.fresh("W", 2)
    >>> ends = {H: (1, None), W: (2, None)}
    >>> least((H * W - H)._terms, 0, ends), least((H * W - 3 * H)._terms, 0, ends)
    (1, None)
    """
    powers = {unit: powers_of(unit) for unit in terms}
    if any(sum(atoms.values()) > _DEGREE for atoms in powers.values()):
        return None
    lows = [lo for lo, _ in ends.values() if lo is not None and lo.bit_length() <= _BITS]
    if len(lows) < len(ends):
        return None
    places = {atom: place for place, atom in enumerate(ends)}
    whole: Polynomial = {}
    for unit, k in terms.items():
        for key, part in _multiplied_out(powers[unit], places, lows).items():
            whole[key] = whole.get(key, 0) + k * part
    largest = [None if hi is None else hi - lo for (_, hi), lo in zip(ends.values(), lows, strict=True)]
    result = const
    for key, k in whole.items():
        if k < 0 or not any(key):
            for exponent, rest in zip(key, largest, strict=True):
                if exponent and rest is None:
                    return None
                k *= rest**exponent if exponent and rest is not None else 1
            result += k
    return result


def _multiplied_out(atoms: dict[Expr, int], places: dict[Expr, int], lows: list[int]) -> Polynomial:
    """A product of atoms, each of which is its least value plus a rest."""
    result: Polynomial = {(0,) * len(places): 1}
    for atom, exponent in atoms.items():
        place = places[atom]
        for _ in range(exponent):
            longer: Polynomial = {}
            for key, k in result.items():
                more = (*key[:place], key[place] + 1, *key[place + 1 :])
                longer[key] = longer.get(key, 0) + k * lows[place]
                longer[more] = longer.get(more, 0) + k
            result = longer
    return result
