"""How an expression of one variable grows with the variable, and where it becomes >= 0."""

from __future__ import annotations

from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Expr, FloorDiv, Max, Min, Mul
from symdim.algebra.intervals import add, meet, scaled
from symdim.algebra.polynomials import accumulate, powers_of, terms_of
from symdim.algebra.variable import Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from symdim.algebra.expr import Dim, Interval

_LARGEST = 2**31 - 1  # no size is larger


def growth(expression: Expr, variable: Var) -> Interval:
    """An interval that contains `f(x + 1) - f(x)` for all x within the variable's bounds; None is no bound.

    The growth of a sum is the sum of the growths of its terms. If n grows by a to b, `n//d` grows by floor(a/d) to
    ceil(b/d). An extremum grows by at least the least and at most the largest growth of its parts.

    >>> x = Var("x")
    >>> growth(x - x // 3, x), growth(3 * x + x // 2, x), growth(x - 2 * (x // 2), x)
    ((0, 1), (3, 4), (-1, 1))
    """
    growths: dict[Dim, Interval] = {}
    for node in postorder(expression):
        growths[node] = _growth(node, variable, growths)
    return growths[expression]


def _growth(node: Expr, variable: Var, growths: dict[Dim, Interval]) -> Interval:
    if node is variable:
        return 1, 1
    if node._terms is not None:
        step = _of_sum(node._terms, growths)
        for monomial, k in node._terms.items():
            if isinstance(monomial, FloorDiv) and abs(k) == 1:
                step = meet(step, scaled(_of_quotient(monomial, k, node._terms, growths), k))
        return step
    if isinstance(node, FloorDiv):
        n, d = node._parts
        if isinstance(d, int):
            return _quotient(growths.get(n, (0, 0)), d)
    if isinstance(node, (Max, Min)):
        steps = [growths.get(part, (0, 0)) for part in node._parts]
        lows, highs = [low for low, _ in steps if low is not None], [high for _, high in steps if high is not None]
        return min(lows) if len(lows) == len(steps) else None, max(highs) if len(highs) == len(steps) else None
    if isinstance(node, Mul):
        atoms = list(powers_of(node))
        if all(_is_at_least_0(growths[atom][0]) and _is_at_least_0(atom.bounds()[0]) for atom in atoms):
            return 0, None
    return (0, 0) if variable not in node.variables() else (None, None)


def _of_sum(terms: dict[Expr, int], growths: dict[Dim, Interval]) -> Interval:
    step: Interval = (0, 0)
    for monomial, k in terms.items():
        step = add(step, scaled(growths[monomial], k))
    return step


def _of_quotient(monomial: FloorDiv, k: int, terms: dict[Expr, int], growths: dict[Dim, Interval]) -> Interval:
    """The growth of a sum n//d + r as that of (n + r*d)//d: `(x % 5)//3 + 2*(x//5)` never falls. For k = -1 of -sum."""
    n, d = monomial._parts
    if not isinstance(d, int):
        return None, None
    numerator = dict(terms_of(n)[0])
    accumulate(numerator, {u: c for u, c in terms.items() if u is not monomial}, k * d)
    return _quotient(_of_sum(numerator, growths), d)


def _quotient(growth: Interval, d: int) -> Interval:
    """The growth of n//d, where this is that of n."""
    least, most = growth
    return None if least is None else least // d, None if most is None else -(-most // d)


def _is_at_least_0(end: int | None) -> bool:
    return end is not None and end >= 0


def threshold(gap: Expr) -> Dim | None:
    """The bound `x - t` or `t - x` that is >= 0 exactly if the gap is; None if the gap is not monotone in one variable.

    The result 0 means always, -1 never. The variable must have a lower bound. The result is None too if the gap does
    not change its sign up to the largest size.

    >>> x = Var("x")
    >>> threshold(x // 3 + x // 5 - 7), threshold(20 - x - x // 2), threshold(x - 2 * (x // 2))
    (x - 15, 13 - x, None)
    """
    variables = gap.variables()
    if len(variables) != 1 or variables[0].lo is None:
        return None
    (x,) = variables
    low, high = x.lo, _LARGEST if x.hi is None else x.hi
    assert low is not None
    least, most = growth(gap, x)
    if _is_at_least_0(least):
        if gap.to_int({x: high}) < 0:
            return None if x.hi is None else -1
        return x - _first(gap, x, low, high, reached=True)
    if most is not None and most <= 0:
        if gap.to_int({x: low}) < 0:
            return -1
        if gap.to_int({x: high}) >= 0:
            return None if x.hi is None else 0
        return _first(gap, x, low, high, reached=False) - 1 - x
    return None


def _first(gap: Expr, x: Var, low: int, high: int, *, reached: bool) -> int:
    """The least value in low..high at which `gap >= 0` is `reached`. The gap is monotone; at `high` it is reached."""
    while low < high:
        middle = (low + high) // 2
        if (gap.to_int({x: middle}) >= 0) is reached:
            high = middle
        else:
            low = middle + 1
    return low
