"""Floor division in canonical form.

The laws are in the table of the room. What happens to a numerator before it is divided is in numerators.py, divisions
by expressions in by_expression.py.
"""

from __future__ import annotations

from math import gcd

from symdim.algebra.bounds import bounds_of
from symdim.algebra.constructors import arithmetic, by_expression, extrema, numerators
from symdim.algebra.constructors.long_division import nearest_residue
from symdim.algebra.expr import Extremum, FloorDiv
from symdim.algebra.interning import find_unit, publish, sequence_fingerprint
from symdim.algebra.intervals import quotient
from symdim.algebra.polynomials import EVEN, accumulate, new_atom, terms_of
from symdim.errors import DivisionByZero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr, Sum, Terms


_ROUNDS = 4  # the most numerators that are made short for one quotient


def floordiv(n: Dim, d: Dim) -> Dim:
    """floor(n / d), Python's `//`.

    >>> from symdim import Var
    >>> H, B = Var("H"), Var("B")
    >>> (2 * H + 3) // 2, (H // 2) // 3, (5 * B * H) // (3 * B), H // 2 * 2 + H % 2
    (H + 1, H//6, 5*H//3, H)
    """
    if isinstance(d, int):
        if d == 0:
            raise DivisionByZero(f"the divisor of ({n!r}) // 0 is zero")
        if isinstance(n, int):
            return n // d
        if d < 0:
            n, d = arithmetic.scale(n, -1), -d
        if isinstance(n, int) or d == 1:
            return n
        return arithmetic.sum_of(*_ByNumber(*terms_of(n), d).result())
    return arithmetic.sum_of(*by_expression.quotient_of(n, d))


def mod(n: Dim, d: Dim) -> Dim:
    """n - d * floor(n / d), Python's `%`."""
    return arithmetic.subtract(n, arithmetic.multiply(d, floordiv(n, d)))


def ceildiv(n: Dim, d: Dim) -> Dim:
    """ceil(n / d) = -floor(-n / d), which is floor((n + d - 1) / d) for a number d >= 1.

    >>> from symdim import Var, ceildiv
    >>> ceildiv(Var("H"), 2), ceildiv(Var("H") - 1, 2), ceildiv(7, 2)
    ((H + 1)//2, H//2, 4)
    """
    n, d = arithmetic.checked(n), arithmetic.checked(d)
    if isinstance(d, int) and d >= 1:
        return floordiv(arithmetic.add(n, d - 1), d)
    if d == 0:
        raise DivisionByZero(f"the divisor of ceildiv({n!r}, 0) is zero")
    return arithmetic.scale(floordiv(arithmetic.scale(n, -1), d), -1)


class _ByNumber:
    """`whole + offset + sign * floor((terms + const)/c)` for a number c >= 2: each step keeps this value.

    The numerator is made short at the end, and if that changes it, the steps begin again with the short one. So what is
    read from a text gives the same form. A remainder modulo another number is divided as it is; so a chain of
    remainders grows by one step each time.
    """

    __slots__ = ("c", "const", "offset", "rounds", "sign", "terms", "whole")

    def __init__(self, terms: Terms, const: int, c: int) -> None:
        self.terms, self.const, self.c = terms, const, c
        self.whole: Terms = {}
        self.offset, self.sign = 0, 1
        self.rounds = _ROUNDS

    def result(self) -> Sum:
        """The value as a sum that is not canonical yet.

        The steps end. They begin again at most `_ROUNDS` times. A nesting step removes a division, and all coefficients
        that are not from inside of it become multiples of its divisor; so the next division to merge is nested deeper.
        A numerator is reflected at most once, because the other sign is not reflected again.
        """
        value = self._inside()
        while value is None:
            self._take_out()
            if not self.terms:
                return self.whole, self.offset
            if any(unit._height for unit in self.terms):
                value = self._step()
            elif self.c > 2 and numerators.is_reflected(self.terms, self.c):
                self._reflect(self.terms)
            else:
                value = self._with_atom()
        return value

    def _inside(self) -> Sum | None:
        """The quotient as a maximum or minimum of quotients, if the numerator has one."""
        whole: Terms = {}
        for unit, k in self.terms.items():
            if isinstance(unit, Extremum):
                r = k if 2 * abs(k) <= self.c else nearest_residue(k, self.c)
                if k != r:
                    whole[unit] = k - r
        rest = dict(self.terms)
        accumulate(rest, whole, -1)
        if not any(isinstance(unit, Extremum) for unit in rest):
            return None
        within = extrema.divided(arithmetic.sum_of(rest, self.const), self.c)
        if within is None:
            return None
        self.whole = {unit: k // self.c for unit, k in whole.items()}
        return self._plus(terms_of(within))

    def _take_out(self) -> None:
        """Take small parts, multiples of c and common factors out. Coefficients are then in (-c/2, c/2]."""
        terms, const, c = self.terms, self.const, self.c
        if len(terms) == 1 and (nested := _as_nested(terms, const, c)) is not None:
            terms, const, c = nested
        while len(terms) > 1 and (simpler := numerators.without_small_parts(terms, const, c)) is not None:
            terms, const, g = simpler
            c //= g
        rest: Terms = {}
        for unit, k in terms.items():
            r = k if -c < 2 * k <= c else nearest_residue(k, c)
            if r:
                rest[unit] = r
            if k != r:
                accumulate(self.whole, {unit: self.sign * (k - r) // c})
        q, const = divmod(const, c)
        self.offset += self.sign * q
        g = gcd(c, *rest.values())
        self.terms = {unit: k // g for unit, k in rest.items()} if g > 1 else rest
        self.const, self.c = const // g, c // g

    def _reflect(self, terms: Terms) -> None:
        """floor((terms + const)/c) = -floor((c - 1 - const - terms)/c)"""
        self.terms = {unit: -k for unit, k in terms.items()}
        self.const, self.sign = self.c - 1 - self.const, -self.sign

    def _step(self) -> Sum | None:
        """A step for a numerator with divisions, maxima or minima; the result if this step gives it."""
        rest, c = self.terms, self.c
        divisions = [unit for unit in rest if type(unit) is FloorDiv]
        remainder = numerators.remainder_in(rest, divisions, c) if divisions else None
        if remainder is not None:
            is_negative, core = remainder
            if is_negative:
                self._reflect(rest)
            accumulate(
                self.whole,
                {u: (self.terms.get(u, 0) - k) // c for u, k in core.items() if self.terms.get(u, 0) != k},
                self.sign,
            )
            self.terms, self.rounds = core, 0
            return self._with_atom()
        inner = numerators.mergeable(rest) if divisions else None
        if inner is not None:
            return self._merge(inner)
        if c == 2 or not numerators.is_reflected(rest, c):
            return self._with_atom()
        self._reflect(rest)
        return None

    def _merge(self, inner: FloorDiv) -> Sum | None:
        """Merge a division that is a term of the numerator; the result if its divisor is an expression."""
        a = inner._parts[1]
        if not isinstance(a, int):
            n, a = numerators.merged(self.terms, self.const, inner)
            return self._plus(by_expression.quotient_of(n, arithmetic.scale(a, self.c)))
        rest = dict(self.terms)
        self.terms, added = numerators.numerator_of(inner, a, rest.pop(inner))
        accumulate(self.terms, rest, a)
        self.const, self.c = added + a * self.const, a * self.c
        return None

    def _plus(self, quotient: Sum) -> Sum:
        return plus_multiple((self.whole, self.offset), quotient, self.sign)

    def _with_atom(self) -> Sum | None:
        """The quotient with the short numerator; None if that is another one, with which the steps begin again."""
        n = arithmetic.sum_of(dict(self.terms), self.const)
        if self.rounds and (short := terms_of(n)) != (self.terms, self.const):
            self.terms, self.const = dict(short[0]), short[1]
            self.rounds -= 1
            return None
        linear = _without_division(n, self.c)
        return self._plus(({quotient_atom(n, self.c): 1}, 0) if linear is None else linear)


def _as_nested(terms: Terms, const: int, c: int) -> tuple[Terms, int, int] | None:
    """(m, r, a*c) with floor((floor(m/a) + const)/c) == floor((m + r)/(a*c)); None for any other numerator.

    Chains of such divisions are common, and this is much less work than to take terms out one by one.
    """
    ((unit, k),) = terms.items()
    if k != 1 or type(unit) is not FloorDiv:
        return None
    m, a = unit._parts
    if type(a) is not int:
        return None
    inner, added = terms_of(m)
    return inner, added + a * const, a * c


def plus_multiple(a: Dim | Sum, b: Dim | Sum, k: int) -> Sum:
    """a + k*b as a sum that is not canonical yet."""
    (terms, const), (added, offset) = [some if isinstance(some, tuple) else terms_of(some) for some in (a, b)]
    total = dict(terms)
    accumulate(total, added, k)
    return total, const + k * offset


def _without_division(n: Dim, c: int) -> Sum | None:
    """floor(n / c), where n has one value by its interval, or two, lo and hi = lo + g, since all are one modulo g:

    floor(n / c) = floor(lo / c) + (floor(hi / c) - floor(lo / c))*((n - lo) / g)
    """
    lo, hi = bounds_of(n)
    if lo is None or hi is None:
        return None
    first, step = lo // c, hi // c - lo // c
    if not step:
        return {}, first
    terms, const = terms_of(n)
    g = gcd(*terms.values())
    if hi - lo != g or (const - lo) % g:
        return None
    return {unit: k // g * step for unit, k in terms.items()}, first + (const - lo) // g * step


def quotient_atom(n: Dim, d: Dim) -> Expr:
    """The atom n // d, for a numerator and divisor that are canonical already."""
    parts = (n, d)
    fingerprint = sequence_fingerprint(1, parts)
    live = find_unit(fingerprint, FloorDiv, parts)
    if live is not None:
        return live
    flags = EVEN if isinstance(d, int) and d % 2 == 0 else 0
    return publish(new_atom(FloorDiv, parts, fingerprint, quotient(bounds_of(n), bounds_of(d)), flags))
