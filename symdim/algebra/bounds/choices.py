"""Intervals of sums in which maxima and minima are correlated: `min(x, y) - x` is not positive.

Law: a maximum is one of its arguments, and at least each of them. So a sum `s + max(a, b)` is `s + a` or `s + b`, and
at least both:

    lo(s + max(a, b)) >= max(lo(s + a), lo(s + b))        hi(s + max(a, b)) <= max(hi(s + a), hi(s + b))
    lo(s + min(a, b)) >= min(lo(s + a), lo(s + b))        hi(s + min(a, b)) <= min(hi(s + a), hi(s + b))

The laws in one direction hold for any argument, those in the other direction need all arguments. Choices that need all
arguments are made first, because a good argument of another atom may depend on them. Where all arguments are of one
unit, pieces.py has the exact interval.
"""

from __future__ import annotations

from symdim.algebra.bounds.relaxation import SUMS
from symdim.algebra.caches import remembered
from symdim.algebra.expr import Extremum, FloorDiv, Max
from symdim.algebra.order import order
from symdim.algebra.sums.monomial import EXTREMUM, accumulate, exact_quotient, powers_of, terms_of, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from symdim.algebra.expr import Expr, Terms

_TERMS = 24  # the most terms of a sum
_DEPTH = 3  # how deep in an atom variables are looked for


def is_correlated(terms: Terms) -> bool:
    """Whether a sum has a maximum or minimum with a unit in it that occurs elsewhere in the sum."""
    if not 2 <= len(terms) <= _TERMS:
        return False
    return any(unit.flags & EXTREMUM for unit in terms) and bool(_correlated(terms))


def least(terms: Terms, const: int, sums: int = SUMS) -> int | None:
    """A lower bound of a sum by the law above, from the bounds of at most `sums` other sums.

    >>> from symdim import Var, minimum
    >>> x, y = Var.fresh("x"), Var.fresh("y")
    >>> least((x - minimum(x, y)).terms, 0)
    0
    """
    found = _correlated(terms) if sums > 1 and len(terms) <= _TERMS else []
    if not found:
        relaxes = relaxation.is_correlated(terms)
        return relaxation.least(terms, const, sums) if relaxes else corners.least(terms, const)
    x = pieces.only_unit(terms)
    if x is not None:
        return pieces.least(terms, const, x)
    known = corners.least(terms, const)
    # atoms that need all arguments come first
    unit = min(found, key=lambda u: (_any_counts(u, terms[u]), order(u)))
    atom, factor = _split(unit)
    share = sums // len(atom.parts)
    ends: list[int | None] = []
    for part in atom.parts if share else ():
        rest = dict(terms)
        k = rest.pop(unit)
        part_terms, part_const = terms_of(part)
        accumulate(rest, part_terms, k, factor)
        offset = const
        if factor is None:
            offset += k * part_const
        elif part_const:
            accumulate(rest, {factor: k * part_const})
        ends.append(least(rest, offset, share))
    if _any_counts(unit, terms[unit]):
        return max([end for end in (known, *ends) if end is not None], default=None)
    if not ends or None in ends:
        return known
    worst = min(ends)  # type: ignore[type-var]
    return worst if known is None else max(known, worst)  # type: ignore[type-var]


def _any_counts(unit: Expr, k: int) -> bool:
    """Whether a sum with `k*unit` is at least the same sum with any argument in place of the atom."""
    return (type(_split(unit)[0]) is Max) == (k > 0)


def _split(unit: Expr) -> tuple[Extremum, Expr | None]:
    if isinstance(unit, Extremum):
        return unit, None
    atom = next(a for a in powers_of(unit) if isinstance(a, Extremum))
    return atom, exact_quotient(unit, atom)


def _correlated(terms: Terms) -> list[Expr]:
    """The units of a sum to which the law applies: one maximum or minimum, times a factor that is not negative."""
    found: list[tuple[Expr, AbstractSet[Expr | None]]] = []
    for unit in terms:
        if unit.flags & EXTREMUM:
            atom, factor = _split(unit)
            if factor is None:
                found.append((unit, _within(atom)))
            else:
                lo, _ = bounds.bounds_of(factor)
                if lo is not None and lo >= 0:
                    found.append((unit, {times(u, factor) for u in _within(atom)} | {factor}))
    result: list[Expr] = []
    for unit, inner in found:
        if any(u in terms for u in inner) or any(not inner.isdisjoint(other) for u, other in found if u is not unit):
            result.append(unit)
    return result


@remembered(2048)
def _within(atom: Extremum) -> set[Expr]:
    """The units inside of a maximum or minimum, down to a depth of `_DEPTH`. Callers must not change the set."""
    found: set[Expr] = set()
    level: list[Extremum] = [atom]
    for _ in range(_DEPTH):
        units = [unit for inner in level for part in inner.parts for unit in terms_of(part)[0]]
        found.update(units)
        found.update([u for unit in units if type(unit) is FloorDiv for u in terms_of(unit.parts[0])[0]])
        level = [unit for unit in units if isinstance(unit, Extremum)]
    return found


from symdim.algebra.bounds import corners, pieces, relaxation  # noqa: E402  (likewise)
from symdim.algebra.bounds import intervals as bounds  # noqa: E402  (it uses this module for sums)
