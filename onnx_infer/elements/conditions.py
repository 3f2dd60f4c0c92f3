"""Comparison, logic and selection on the elements of propagated data.

A comparison that intervals decide is a `bool`. Any other is a `Positive`: the condition that an integer expression is
greater than 0. Conditions are closed under logic: `not d > 0` is `1 - d > 0`, `and` is the minimum, `or` the maximum.
"""

from __future__ import annotations

from itertools import islice
from itertools import product as product_of
from typing import TYPE_CHECKING, Any

from onnx_infer.elements.ratio import Element, Ratio, fraction, ratio
from onnx_infer.errors import Unknown
from onnx_infer.laws.sizes import at_least
from symdim import Expr, Max, Min, maximum, minimum, product, total
from symdim.algebra.order import sorted_units
from symdim.algebra.polynomials import powers_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_infer.values.tensor import Dim


class Positive:
    """The condition `size > 0`, not decided yet. Its truth value in Python raises `Unknown`."""

    __slots__ = ("size",)

    def __init__(self, size: Expr) -> None:
        self.size = size

    @property
    def indicator(self) -> Dim:
        """1 if the condition holds, else 0: `min(max(size, 0), 1)`."""
        return minimum(maximum(self.size, 0), 1)

    def substitute(self, mapping: Mapping[Any, Dim]) -> Element:
        """The condition with variables replaced."""
        return positive(self.size.substitute(mapping))

    def __bool__(self) -> bool:
        raise Unknown(f"whether {self} is not known")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Positive) and self.size == other.size

    def __hash__(self) -> int:
        return hash((Positive, self.size))

    def __str__(self) -> str:
        """As a person writes it.

        >>> from symdim import Var
        >>> equal(Var("N"), 1), less(Var("N"), Var("M"))
        (N == 1, M >= N + 1)
        """
        from symdim.relations.relation import Relation
        from symdim.relations.solving import solve

        solved = solve(Relation("at_least", self.size, 1))
        return "False" if solved is None else " and ".join(map(str, solved)) or "True"

    __repr__ = __str__


def positive(size: Dim) -> bool | Positive:
    """The condition `size > 0`; a bool if the interval decides it.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> positive(N), positive(-N), positive(N - 3)
    (True, False, N >= 4)
    """
    if isinstance(size, int) or at_least(size, 1):
        return not isinstance(size, int) or size > 0
    return False if at_least(-size, 0) else Positive(size)


def decided(x: Element) -> Element:
    """The element; None for a condition that is not decided."""
    return None if isinstance(x, Positive) else x


# -- comparison --------------------------------------------------------------------------------------------------


def _gap(x: Element, y: Element) -> Dim | None:
    """A positive multiple of `x - y` as an integer, if one of the elements is symbolic."""
    first, second = fraction(x), fraction(y)
    if first is None or second is None or not (at_least(first[1], 1) and at_least(second[1], 1)):
        return None
    return first[0] * second[1] - second[0] * first[1]


def _symbolic(x: Element, y: Element) -> bool:
    return isinstance(x, (Expr, Ratio)) or isinstance(y, (Expr, Ratio))


def compare(x: Element, y: Element) -> int | None:
    """-1, 0 or 1 if x is smaller, equal or larger; None if that is not known."""
    if isinstance(x, Positive) or isinstance(y, Positive):
        return None
    below, above = less(x, y), less(y, x)
    return int(above) - int(below) if isinstance(below, bool) and isinstance(above, bool) else None


def less(x: Element, y: Element) -> Element:
    """`x < y`."""
    if not _symbolic(x, y):
        return bool(x < y)
    gap = _gap(y, x)
    return None if gap is None else positive(gap)


def at_most(x: Element, y: Element) -> Element:
    """`x <= y`."""
    return logical_not(less(y, x))


def equal(x: Element, y: Element) -> Element:
    """`x == y`: of integers `1 - |x - y| > 0`."""
    if isinstance(x, (bool, Positive)) and isinstance(y, (bool, Positive)):
        return logical_not(logical_xor(x, y))
    if not _symbolic(x, y):
        return bool(x == y)
    gap = _gap(x, y)
    return None if gap is None else positive(1 - maximum(gap, -gap))


# -- logic -------------------------------------------------------------------------------------------------------


def logical_and(x: Element, y: Element) -> Element:
    """And. A known False decides it."""
    if x is False or y is False:
        return False
    if x is None or y is None:
        return None
    if x is True or y is True:
        return y if x is True else x
    return positive(minimum(x.size, y.size))


def logical_not(x: Element) -> Element:
    """Not: of integers, `not d > 0` is `1 - d > 0`."""
    if isinstance(x, Positive):
        return positive(1 - x.size)
    return None if x is None else not x


def logical_or(x: Element, y: Element) -> Element:
    """Or. A known True decides it."""
    return logical_not(logical_and(logical_not(x), logical_not(y)))


def logical_xor(x: Element, y: Element) -> Element:
    """Either one and not the other."""
    if x is not None and x == y:
        return False
    return logical_or(logical_and(x, logical_not(y)), logical_and(logical_not(x), y))


# -- selection ---------------------------------------------------------------------------------------------------


def select(condition: Element, x: Element, y: Element) -> Element:
    """`x if condition else y`. If the condition is not decided: the common value, or a function of the condition.

    >>> from symdim import Var
    >>> N = Var("N")
    >>> select(less(3, N), N, 3), select(less(3, N), 3, N), select(less(3, N), 5, 7)
    (max(N, 3), min(N, 3), 13 - 2*min(max(N, 3), 4))
    """
    if isinstance(condition, bool):
        return x if condition else y
    if type(x) is type(y) and x == y:
        return x
    if condition is None or x is None or y is None:
        return None
    if isinstance(x, (bool, Positive)) and isinstance(y, (bool, Positive)):
        return logical_or(logical_and(condition, x), logical_and(logical_not(condition), y))
    if isinstance(x, (int, Expr)) and isinstance(y, (int, Expr)):
        plain = _plain_choice(condition, x, y)
        return y + (x - y) * condition.indicator if plain is None else plain
    if isinstance(x, (float, Ratio)) and isinstance(y, (float, Ratio)):
        above, below = fraction(x), fraction(y)
        if above is not None and below is not None and above[1] == below[1]:
            return ratio(select(condition, above[0], below[0]), above[1])
    return None


def is_choice(condition: Positive, x: Element, y: Element) -> bool:
    """Whether `x if condition else y` of two numbers needs the condition: no plainer expression is equal to it.

    >>> from symdim import Var
    >>> is_choice(less(3, Var("N")), Var("N"), 3), is_choice(less(3, Var("N")), 5, 7)
    (False, True)
    """
    if isinstance(x, (float, Ratio)) and isinstance(y, (float, Ratio)):
        return x != y
    numbers = isinstance(x, (int, Expr)) and isinstance(y, (int, Expr)) and not isinstance(x, bool)
    return numbers and x != y and _plain_choice(condition, x, y) is None


def _plain_choice(condition: Positive, x: Dim, y: Dim) -> Dim | None:
    """`x if condition else y` without the condition: an extremum, if the condition compares x and y themselves.

    If x == y wherever the condition holds, it is y. If x == y wherever the condition does not hold, it is x.

    >>> from symdim import Var
    >>> N, K = Var("N"), Var("K")
    >>> select(logical_and(equal(K, 8), equal(N // 2, 3)), 24, K * (N // 2))
    K*(N//2)
    >>> select(equal(K, 1), N, N * K), select(logical_not(equal(K // 2, 3)), N * K, N * K + K // 2 - 3)
    (K*N, K*N)
    """
    gap, size = x - y, condition.size
    if gap in (size, size - 1):
        return maximum(x, y)
    if -gap in (size, size - 1):
        return minimum(x, y)
    for distance, other in ((1 - size, y), (size, x)):
        if _vanishes(gap, _magnitudes(distance)):
            return other
    return None


def _magnitudes(distance: Dim) -> list[Dim]:
    """Expressions that are all 0 exactly if the distance is 0: a, b, ... if it is max(|a|, |b|, ...).

    The distance itself if it is >= 0; else none.
    """
    terms, _ = terms_of(distance)
    for unit in sorted_units(terms):
        k = terms[unit]
        if isinstance(unit, Max if k > 0 else Min):
            parts = [distance - k * unit + k * part for part in unit._parts]
            if all(-part in parts for part in parts):
                return [part for i, part in enumerate(parts) if -part not in parts[:i]]
    return [distance] if at_least(distance, 0) else []


_MOST_SOLVED = 16


def _vanishes(size: Dim, zeros: list[Dim]) -> bool:
    """Whether `zeros` that are all 0 imply `size == 0`: if each is solved for one of its terms, the size cancels."""
    sums = [(zero, terms_of(zero)[0]) for zero in zeros]
    ways = [
        [(unit, terms[unit], zero) for unit in sorted_units(terms) if terms[unit] in (1, -1)] for zero, terms in sums
    ]
    for way in islice(product_of(*ways), _MOST_SOLVED if zeros else 0):
        rest = size
        for unit, k, zero in way:
            rest = _replaced(rest, unit, unit - k * zero)
        if rest == 0:
            return True
    return False


def _replaced(size: Dim, unit: Expr, value: Dim) -> Dim:
    """The size with a value for one of the atoms of its terms."""
    terms, const = terms_of(size)
    parts = [
        factor * product(value**n if atom is unit else atom**n for atom, n in powers_of(term).items())
        for term, factor in terms.items()
    ]
    return total([const, *parts])
