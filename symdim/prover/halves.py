"""Upper halves in terms of lower halves: (q + 1)//2 == q - q//2 for every integer q.

Both forms are common: a size that is padded to an even one and halved is q - q//2, one that is halved and rounded up is
(q + 1)//2. Constructors merge (q + 1)//2 with a division in q. So any division by an even number may be an upper half.
"""

from __future__ import annotations

from symdim.algebra.constructors.arithmetic import add, subtract
from symdim.algebra.constructors.floordiv import floordiv
from symdim.algebra.evaluate import evaluate, postorder, replaced
from symdim.algebra.expr import Expr, FloorDiv
from symdim.algebra.polynomials import terms_of
from symdim.errors import DivisionByZero, UnboundFunction
from symdim.prover.budget import Budget, OutOfBudget, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from symdim.algebra.expr import Dim
    from symdim.algebra.variable import Var

HALVES = "(q + 1)//2 == q - q//2"

_ROUNDS = 64  # a division by 2**k takes k of them
_WORDS = 1 << 10
_BUILDING = 2000  # steps to build what has halves in it
_FAR = (1_009, 20)  # how far from their least value the variables of a point lie


def halved(dim: Dim, words: int = _WORDS) -> Dim:
    """The dimension with q - q//2, q == (n - h)//h, in place of n//(2*h), where the constant c of n has c % (2*h) >= h.

    Each round reads all sums in the dimension, which may grow, and builds some anew. Before they have had so many
    `words`, or would take too much work to build, it stops.

    >>> from symdim import Var
    >>> n, m = Var("n"), Var("m")
    >>> halved((n + 1) // 2), halved((n + 1) // 4), halved((n + 12) // 16 - (n + 4) // 8 + (n + 4) // 16)
    ((n + 1)//2, (n + 1)//4, 0)
    >>> halved((n - n // 2) * (m - m // 2) - ((n + 1) // 2) * ((m + 1) // 2))
    0
    """
    building = Budget(_BUILDING)
    for _ in range(_ROUNDS):
        nodes = postorder(dim) if isinstance(dim, Expr) else []
        words -= sum(map(words_of, nodes))
        found: dict[Expr, Dim] = {}
        for node in nodes if words >= 0 else ():
            if not isinstance(node, FloorDiv):
                continue
            n, d = node._parts
            if isinstance(d, int) and d % 2 == 0 and 2 * (terms_of(n)[1] % d) >= d:
                rest = add(n, -(d // 2))
                lower = subtract(floordiv(rest, d // 2), floordiv(rest, d))
                if lower is not node:  # constructors merge (q + 1)//2 themselves where they can
                    found[node] = lower
        if not found:
            break
        try:
            dim = replaced(dim, found, {}, building.build)
        except OutOfBudget:
            break
    return dim


def are_equal(a: Expr, b: Expr) -> bool:
    """Whether the law proves a == b. Two points refute it before the difference is built, which costs far more.

    >>> from symdim import Var
    >>> n, m = Var("n"), Var("m")
    >>> lower, upper = (n + 4) // 8 - (n + 4) // 16, (n + 12) // 16
    >>> are_equal(lower * m, upper * m), are_equal(lower * m, (n + 11) // 16 * m)
    (True, False)
    """
    return not any(_differ_at(a, b, far) for far in _FAR) and halved(subtract(a, b)) == 0


def _differ_at(a: Expr, b: Expr, far: int) -> bool:
    """Whether the values differ where the variables are this far from their ends, each a little further."""
    point = _point_at([*a.variables(), *b.variables()], far)
    try:
        return evaluate(a, point) != evaluate(b, point)
    except (DivisionByZero, UnboundFunction):
        return False


def _point_at(variables: Iterable[Var], far: int) -> dict[str | Var, int]:
    """Values of variables: the first by name lies so far from its end, and each other one a little further.

    >>> from symdim import Var
    >>> _point_at([Var("n"), Var.fresh("m", 4, 5)], 3)
    {m: 5, n: 5}
    """
    point: dict[str | Var, int] = {}
    for i, v in enumerate(sorted(dict.fromkeys(variables), key=lambda v: v.name), far):
        low, high = v.bounds()
        if low is None:
            point[v] = i if high is None else high - i
        else:
            point[v] = low + i if high is None else min(low + i, high)
    return point
