"""Multiples of a divisor that are split off a numerator.

The short form of a sum with maxima, minima or halves may hide a multiple: `4*x - 3*max(x, 0)` is `x + 3*min(x, 0)`.
So numerator and divisor are divided in the basis of basis.py. The remainder r is the same for all numerators that
differ by multiples of d. Of r and its like (r - d, r + d, r with another twin) the one with the fewest terms is left.
So `min(x, y)//max(x, y)` and `min(x, y)//x` stay.
"""

from __future__ import annotations

from symdim.algebra.forms import basis, shortening
from symdim.algebra.order import leading
from symdim.algebra.sums.long_division import divided_by_lead, long_division
from symdim.algebra.sums.monomial import LAWFUL, PAIR, SEVERAL, TWIN, has_laws, terms_of
from symdim.algebra.sums.polynomial import add, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from symdim.algebra.expr import Dim, Expr, Sum


def without_multiples(n: Dim, d: Expr) -> tuple[Dim, Dim]:
    """(q, r) with n == q*d + r, where r is the same for all n that differ by a multiple of d.

    Products of several maxima, minima or halves are divided as they are written.

    >>> from symdim import Var, minimum
    >>> x, y = Var("x"), Var("y")
    >>> x + 3 * minimum(x, y), without_multiples(x + 3 * minimum(x, y), minimum(x, y))
    (x + 3*min(x, y), (3, x))
    """
    if not has_laws(d):
        q, r = long_division(n, d)
        if r == 0 or not has_laws(n):
            return q, r
        if any(unit.flags & SEVERAL for unit in terms_of(n)[0]):
            # the short form of r may have multiples of d again, so it would go on
            return (0, n) if q != 0 and long_division(r, d)[0] != 0 else (q, r)
    divisor = basis.in_basis(*terms_of(d))
    lawful = {unit: k for unit, k in divisor[0].items() if unit.flags & LAWFUL}
    lead = leading(lawful or divisor[0])
    q, r = divided_by_lead(basis.in_basis(*terms_of(n)), divisor, lead)
    found = [(q, r), (add(q, 1), subtract(r, d)), (subtract(q, 1), add(r, d))]
    if not lawful:
        found += [(add(q, f), rest) for f, rest in _with_twins(r, divisor, lead)]
    return min(found, key=lambda some: len(terms_of(some[1])[0]))


def _with_twins(r: Dim, divisor: Sum, lead: Expr) -> Iterator[tuple[Dim, Dim]]:
    """The same for r in forms with one other twin: `y - max(x, y)` is `min(x, y) - x`."""
    terms, const = basis.in_basis(*terms_of(r))
    for unit in terms:
        if unit.flags & (PAIR | TWIN):
            turned = shortening.with_twin(basis.polynomial(terms, const), unit)
            offset = turned.pop(None, 0)
            yield divided_by_lead((turned, offset), divisor, lead)  # type: ignore[arg-type]
