"""Multiples of a divisor that are split off a numerator.

If the divisor has maxima, minima or halves, a short form may hide a multiple: `4*x - 3*max(x, 0)` is
`x + 3*min(x, 0)`. Then numerator and divisor are divided in the basis of basis.py. The remainder r is the same for
all numerators that differ by multiples of d. Of r, r - d and r + d the one with the fewest terms is left. So
`min(x, y)//max(x, y)` stays.
"""

from __future__ import annotations

from symdim.algebra.forms import basis
from symdim.algebra.order import leading
from symdim.algebra.sums.long_division import divided_by_lead, long_division
from symdim.algebra.sums.monomial import LAWFUL, has_laws, terms_of
from symdim.algebra.sums.polynomial import add, subtract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Expr


def without_multiples(n: Dim, d: Expr) -> tuple[Dim, Dim]:
    """(q, r) with n == q*d + r. If d has laws, r is the same for all n that differ by a multiple of d.

    >>> from symdim import Var, minimum
    >>> x, y = Var("x"), Var("y")
    >>> x + 3 * minimum(x, y), without_multiples(x + 3 * minimum(x, y), minimum(x, y))
    (x + 3*min(x, y), (3, x))
    """
    if has_laws(d):
        return _in_basis(n, d)
    q, r = long_division(n, d)
    if q != 0 and has_laws(r) and long_division(r, d)[0] != 0:
        return 0, n  # its short form has multiples of d again, so it would go on
    return q, r


def _in_basis(n: Dim, d: Expr) -> tuple[Dim, Dim]:
    divisor = basis.in_basis(*terms_of(d))
    lawful = {unit: k for unit, k in divisor[0].items() if unit.flags & LAWFUL}
    q, r = divided_by_lead(basis.in_basis(*terms_of(n)), divisor, leading(lawful or divisor[0]))
    found = [(q, r), (add(q, 1), subtract(r, d)), (subtract(q, 1), add(r, d))]
    return min(found, key=lambda some: len(terms_of(some[1])[0]))
