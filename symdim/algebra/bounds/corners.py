"""Intervals of sums of products: `H*W - H` is not negative where W is at least 1.

Law: every atom is its least value plus a rest that is not negative, `v = lo + r`. Multiplied out, a term of the rests
with a positive coefficient is at least 0. One with a negative coefficient is at least its value at the largest rests.
So `H*W - H`, where H and W are at least 1, is `r*s + s` with rests r and s, and `(H - 1)*(W - 1)` is `r*s`.

The law needs a least value of every atom. Atoms that depend on each other count as independent, which only makes the
interval wider.
"""

from __future__ import annotations

from symdim.algebra.expr import Expr, Mul
from symdim.algebra.sums.monomial import powers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Terms

    Polynomial = dict[tuple[int, ...], int]  # exponents of the rests, one for each atom -> coefficient

_TERMS = 12  # the most terms of a sum
_DEGREE = 6  # the most factors of a term
_BITS = 64  # the most bits of a least value


def is_correlated(terms: Terms) -> bool:
    """Whether a sum has a product, and terms of either sign, so that multiplying out may help."""
    if not 2 <= len(terms) <= _TERMS or not min(terms.values()) < 0 < max(terms.values()):
        return False
    return any(type(unit) is Mul and unit.terms is None for unit in terms)


def least(terms: Terms, const: int) -> int | None:
    """A lower bound of a sum, term by term or by the law above; None if none is known.

    >>> from symdim import Var
    >>> H, W = Var.fresh("H"), Var.fresh("W", 2)
    >>> least((H * W - H).terms, 0), least((H * W - 3 * H).terms, 0), least((H**2 - 2 * H * W + W**2).terms, 0)
    (0, None, None)
    >>> B = Var.fresh("B", 1, 4)
    >>> least((B * W - B).terms, 0), least((W * B - 2 * W - B).terms, 0), linear_bounds((B * W - B).terms, 0)[0]
    (1, None, -2)
    """
    known, _ = linear_bounds(terms, const)
    found = _at_corner(terms, const) if is_correlated(terms) else None
    return found if known is None else known if found is None else max(known, found)


def _at_corner(terms: Terms, const: int) -> int | None:
    """The lower bound by the law above; None if it has none, or the sum is too large."""
    powers = {unit: powers_of(unit) for unit in terms}
    if any(sum(atoms.values()) > _DEGREE for atoms in powers.values()):
        return None
    ends = {atom: bounds_of(atom) for atoms in powers.values() for atom in atoms}
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


from symdim.algebra.bounds.intervals import bounds_of, linear_bounds  # noqa: E402  (it uses this module for sums)
