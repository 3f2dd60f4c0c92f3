"""Common parts of the arguments of a maximum or minimum, which are taken out of them."""

from __future__ import annotations

from math import gcd

from symdim.algebra.constructors import arithmetic, basis, long_division
from symdim.algebra.order import order
from symdim.algebra.polynomials import NESTED, SPLIT, accumulate, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr, Sum, Terms


class Scaled:
    """The parts that were taken out: the result is `terms + const + factor * rest`."""

    def __init__(self) -> None:
        self.terms: Terms = {}
        self.const = 0
        self.factor = 1

    def plus(self, rest: Sum) -> Sum:
        """The result for this rest, as a sum. The object must not be used after it."""
        accumulate(self.terms, rest[0], self.factor)
        return self.terms, self.const + self.factor * rest[1]

    def take(self, common: Sum, g: int) -> None:
        """Take out a summand of the rest, and then a factor."""
        terms, const = common
        accumulate(self.terms, terms, self.factor)
        self.const += self.factor * const
        self.factor *= g

    def normalized(self, leaves: list[Dim]) -> dict[Dim, Dim]:
        """Leaf -> what is left of it, after a sum and a number as a factor were taken out of all leaves."""
        if len(leaves) == 2:
            common, parts = _parted(*leaves)
        else:
            found = _common(leaves)
            parts = [arithmetic.subtract(leaf, found) for leaf in leaves] if found != 0 else leaves
            common = terms_of(found)
        sums = [terms_of(part) for part in parts]
        g = gcd(*[number for terms, const in sums for number in (const, *terms.values())])
        self.take(common, g)
        if g > 1:
            parts = [long_division.divided(terms, const // g, g) for terms, const in sums]
        return dict(zip(leaves, parts, strict=True))


def _common(leaves: list[Dim]) -> Dim:
    """The sum with the most frequent coefficient of each unit, and the most frequent constant of leaves with terms."""
    sums = [basis.in_basis(*terms_of(leaf)) for leaf in leaves]
    found: dict[Expr, list[int]] = {}
    for terms, _ in sums:
        for unit, k in terms.items():
            found.setdefault(unit, []).append(k)
    common: Terms = {}
    for unit, values in found.items():
        low = _most_frequent(values, len(leaves) - len(values))
        if low:
            common[unit] = low
    consts = [const for terms, const in sums if terms != common]
    return arithmetic.sum_of(common, _most_frequent(consts, 0) if consts else 0)


def _most_frequent(values: list[int], zeros: int) -> int:
    counts: dict[int, int] = {0: zeros} if zeros else {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    most = max(counts.values())
    found = sorted([value for value, count in counts.items() if count == most])
    return found[(len(found) - 1) // 2]


def _parted(first: Dim, second: Dim) -> tuple[Sum, list[Dim]]:
    """(common, the rests of both): no term is in both rests, and no rest with other terms has a negative one.

    Maxima and minima stay in their dimension, so a remainder of one stays whole.
    """
    (ones, const), (others, other_const) = terms_of(first), terms_of(second)
    for unit in (*ones, *others):
        if unit._flags:
            break
    else:  # no law can make the difference shorter
        terms = dict(ones)
        accumulate(terms, others, -1)
        plus, minus = _signed(terms)
        ahead = _ahead(const - other_const, bool(plus), bool(minus))
        common = dict(ones)
        accumulate(common, plus, -1)
        return (common, const - ahead), [
            arithmetic.sum_of(plus, ahead),
            arithmetic.sum_of(minus, ahead - const + other_const),
        ]
    apart, beside = [
        arithmetic.sum_of({unit: k for unit, k in terms_of(dim)[0].items() if unit._flags & (SPLIT | NESTED)}, 0)
        for dim in (first, second)
    ]
    one, other = arithmetic.subtract(first, apart), arithmetic.subtract(second, beside)
    terms, offset = terms_of(arithmetic.subtract(one, other))
    plus, minus = _signed(terms)
    outer: Dim = 0
    if _is_negative(arithmetic.add(apart, beside)):  # max(a + u, b + v) == max(a - v, b - u) + u + v
        outer = arithmetic.add(apart, beside)
        apart, beside = arithmetic.scale(beside, -1), arithmetic.scale(apart, -1)
    ahead = _ahead(offset, bool(plus) or apart != 0, bool(minus) or beside != 0)
    parts = [arithmetic.sum_of(plus, ahead), arithmetic.sum_of(minus, ahead - offset)]
    outer = arithmetic.add(outer, arithmetic.subtract(one, parts[0]))
    return terms_of(outer), [arithmetic.add(parts[0], apart), arithmetic.add(parts[1], beside)]


def _signed(terms: Terms) -> tuple[Terms, Terms]:
    """The positive terms, and the negative ones with the sign changed."""
    plus = {unit: k for unit, k in terms.items() if k > 0}
    return plus, {unit: -k for unit, k in terms.items() if k < 0}


def _ahead(offset: int, first: bool, second: bool) -> int:
    """The constant of the first rest, which exceeds that of the second one by `offset`; flags: which rest has terms."""
    return offset if not first else 0 if not second else max(offset, 0)


def _is_negative(dim: Dim) -> bool:
    """Whether a sum in the basis is negative in its first term; less nested terms come first."""
    terms, _ = basis.in_basis(*terms_of(dim))
    return bool(terms) and terms[min(terms, key=lambda unit: (unit._height, order(unit)))] < 0
