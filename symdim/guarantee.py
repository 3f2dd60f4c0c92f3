"""Guarantees: how well a size is known to its consumer. Exactly, at most an expression, or not at all.

The guarantee is computed from the variables of the size (`origin.py`) each time; it is not stored. So it is never
better than its parts: no upper bound replaces a variable, and arithmetic keeps or weakens a guarantee.

    exact         all variables are given by the caller, or computed from tensors that are declared available
    upper_bound   others occur, and the size is at most an expression of those
    unknown       others occur, and nothing bounds the size

The bound of an expression follows from the bounds of its parts if it is monotone in them: sums, products of factors
>= 0, floor divisions by positive divisors, maxima and minima. If an expression decreases in a part, the lower bound of
that part is used. These ends are expressions; for those that are numbers see algebra/bounds.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias

from symdim.algebra.application import Application
from symdim.algebra.canonical import maximum, minimum, product, total
from symdim.algebra.constructors.arithmetic import checked
from symdim.algebra.dims import bounds_of, sign, variables_of
from symdim.algebra.evaluate import children, parts_first
from symdim.algebra.expr import Expr, Extremum, FloorDiv, Max
from symdim.algebra.magnitude import MAX_BITS, bits
from symdim.algebra.named_tuple import NamedTuple
from symdim.algebra.origin import Computed, ValueOf, is_given
from symdim.algebra.pickling import limits_first
from symdim.algebra.polynomials import powers_of
from symdim.algebra.texts.remainders import Remainder, remainders_in
from symdim.algebra.variable import Var
from symdim.errors import RankError, UnsupportedDynamicShape, refuse_text
from symdim.prover.budget import Budget

Dim: TypeAlias = int | Expr
Limits: TypeAlias = tuple[Dim | None, Dim | None]
Sum: TypeAlias = tuple[list[Remainder], dict[Expr, int], int]

_STEPS = 20_000  # steps to build the bounds of all sizes of one call


class Guarantee(NamedTuple):
    """How well a size is known: the kind, and the expression of known sizes that it equals, or that bounds it."""

    kind: Literal["exact", "upper_bound", "unknown"]
    size: Dim | None

    def __str__(self) -> str:
        """`N`, `<=N` or `?`."""
        return {"exact": f"{self.size}", "upper_bound": f"<={self.size}", "unknown": "?"}[self.kind]


def guarantee_of(dim: Dim, available: Collection[str] = (), bounds: UpperBounds | None = None) -> Guarantee:
    """The guarantee of a size, if the tensors named `available` are known when the size is needed.

    `bounds` are those of several sizes, which share their work.

    >>> N = Var("N")
    >>> found = Var.fresh("found", at_most=N, origin="NonZero")
    >>> print(*map(guarantee_of, [N // 2, 2 * found + 3, 10 - found, Var.fresh("u", origin="data-dependent")]))
    N//2 <=2*N + 3 <=10 ?
    """
    if is_exact(dim, available):
        return Guarantee("exact", dim)
    high = (bounds or UpperBounds(available)).of(dim)
    return Guarantee("unknown", None) if high is None else Guarantee("upper_bound", high)


def is_exact(dim: Dim, available: Collection[str] = ()) -> bool:
    """Whether every variable of a size is given or computed from available tensors."""
    refuse_text(available, "available tensors")  # `in` would find a part of a name
    pending, seen = [checked(dim)], set()
    while pending:
        size = pending.pop()
        for variable in variables_of([size]):
            origin = variable.origin
            if is_given(origin) or variable in seen:
                continue
            seen.add(variable)
            if isinstance(origin, Computed):
                pending.append(origin.size)
            elif not isinstance(origin, ValueOf) or origin.tensor not in available:
                return False
    return True


def as_exact(dim: Dim, available: Collection[str] = ()) -> Dim | None:
    """The size itself if it is exact, else None."""
    return dim if is_exact(dim, available) else None


def bound_expr(dim: Dim, available: Collection[str] = ()) -> Dim | None:
    """The size if it is exact, else its upper bound, or None if it has none."""
    return guarantee_of(dim, available).size


# -- consumers --------------------------------------------------------------------------------------------------------


def require_exact(dim: Dim, op: str, field: str, available: Collection[str] = ()) -> Dim:
    """The size, for a consumer that needs it exactly. Raises UnsupportedDynamicShape, which names its guarantee.

    >>> require_exact(Var.fresh("found", at_most=Var("N"), origin="by data"), "Expand", "shape[0]")
    Traceback (most recent call last):
    symdim.errors.UnsupportedDynamicShape: Expand: shape[0] must be exact, but found is only <=N (found: by data)
    """
    observed = guarantee_of(dim, available)
    if observed.kind == "exact":
        return dim
    doubtful = [v for v in variables_of([dim]) if not is_exact(v, available)]
    reasons = "; ".join(f"{v.name}: {v.origin}" for v in doubtful)
    raise UnsupportedDynamicShape(op, field, observed.kind, f"{dim!r} is only {observed} ({reasons})")


def require_exact_shape(
    dims: Iterable[Dim], op: str, field: str = "shape", available: Collection[str] = ()
) -> tuple[Dim, ...]:
    """As `require_exact`, for several sizes: the target of a Reshape or an Expand."""
    return tuple([require_exact(dim, op, f"{field}[{i}]", available) for i, dim in enumerate(dims)])


def require_rank(dims: Collection[Dim] | None, rank: int, op: str, field: str = "rank") -> Collection[Dim]:
    """The sizes; raises RankError unless their number is `rank`. None stands for an unknown rank."""
    if dims is None:
        raise RankError(f"{op}: {field} must be {rank}, but it is not known")
    if len(dims) != rank:
        raise RankError(f"{op}: {field} must be {rank}, but it is {len(dims)}")
    return dims


# -- bounds in known sizes --------------------------------------------------------------------------------------------


class UpperBounds:
    """Bounds from above of several sizes, in variables that are exact where the tensors named `available` are known.

    To build all bounds takes at most so many `steps`. When these are used up, bounds are coarser.

    >>> N = Var("N")
    >>> n, bounds = Var.fresh("n", at_most=N, origin="NonZero"), UpperBounds()
    >>> bounds.of(n - 1), bounds.of(minimum(n + 5, 12)), bounds.of(n * n // 3)
    (N - 1, min(N, 7) + 5, N**2//3)
    """

    def __init__(self, available: Collection[str] = (), steps: int = _STEPS) -> None:
        self._available = available
        self._known: dict[Dim, Limits] = {}  # the limits of variables, and of all parts of sizes so far
        self._found: dict[Expr, Dim | None] = {}
        self._building = Budget(steps)

    def of(self, dim: Dim) -> Dim | None:
        """An upper bound of a size; None if none is found."""
        if isinstance(dim, int):
            return dim
        if dim not in self._found:
            for variable in limits_first(dim, self._known):
                self._known[variable] = self._limits_of(variable)
            self._found[dim] = self._highest(dim)
        return self._found[dim]

    def _limits_of(self, variable: Var) -> Limits:
        """The bounds of a variable over exact variables. Those of the variables in its `at_most` must be known."""
        if is_exact(variable, self._available):
            return variable, variable
        high = None if variable.at_most is None else self._highest(variable.at_most)
        ends = [end for end in (high, variable.hi) if end is not None]
        return variable.lo, minimum(*ends) if ends else None

    def _highest(self, dim: Dim) -> Dim | None:
        if isinstance(dim, int):
            return dim
        high, top = _limits(dim, self._known, self._building)[1], bounds_of(dim)[1]
        return top if high is None else high if top is None else minimum(high, top)


def _limits(root: Expr, limits: dict[Dim, Limits], budget: Budget) -> Limits:
    """A lower and an upper bound of an expression, part by part. Printed remainders and minima are parts.

    `limits` has those of the variables. Those of the parts are added: numbers where the budget does not suffice.
    """
    sums: dict[Expr, Sum] = {}

    def parts_of(node: Dim) -> list[Dim]:
        assert isinstance(node, Expr)
        if node._terms is not None and node not in sums:
            sums[node] = remainders_in(node)
        parts = _parts_of(node, sums)
        limits.update({part: (part, part) for part in parts if isinstance(part, int)})
        return parts

    for node, parts in parts_first(root, limits, parts_of):
        assert isinstance(node, Expr)
        if all(limits[part][0] is part for part in parts):
            limits[node] = node, node
        else:
            low = high = None
            if budget.affords([node], 2):
                low, high = _of_sum(sums[node], limits) if node in sums else _of_unit(node, limits)
            least, most = bounds_of(node)
            limits[node] = least if low is None else low, most if high is None else high
    return limits[root]


def _parts_of(node: Expr, sums: dict[Expr, Sum]) -> list[Dim]:
    if node not in sums:
        return list(children(node))
    remainders, rest, _ = sums[node]
    operands = [dim for part in remainders for dim in part.dims()]
    return [*rest, *operands, *[part.monomial for part in remainders if part.monomial is not None]]


def _of_sum(sum_: Sum, limits: dict[Dim, Limits]) -> Limits:
    remainders, rest, const = sum_
    terms = [_scaled(limits[monomial], k) for monomial, k in rest.items()]
    for part in remainders:
        operands = part.dims()
        factors = [(_remainder([limits[dim] for dim in operands], operands), 1, part.interval()[0])]
        if part.monomial is not None:
            factors.append((limits[part.monomial], 1, bounds_of(part.monomial)[0]))
        terms.append(_scaled(factors[0][0] if len(factors) == 1 else _product(factors), part.coefficient))
    lows, highs = zip(*terms, strict=True)
    return _total(lows, const), _total(highs, const)


def _of_unit(node: Expr, limits: dict[Dim, Limits]) -> Limits:
    if isinstance(node, FloorDiv):
        n, d = node._parts
        return _quotient(limits[n], limits[d], bounds_of(d)[0])
    if isinstance(node, Extremum):
        lows, highs = zip(*[limits[part] for part in node._parts], strict=True)
        if isinstance(node, Max):  # at least what one of them is at least
            sure = [low for low in lows if low is not None]
            return maximum(*sure) if sure else None, None if None in highs else maximum(*highs)
        sure = [high for high in highs if high is not None]
        return None if None in lows else minimum(*lows), minimum(*sure) if sure else None
    if isinstance(node, Application):
        return None, None
    return _product([(limits[atom], exponent, bounds_of(atom)[0]) for atom, exponent in powers_of(node).items()])


def _total(ends: tuple[Dim | None, ...], const: int) -> Dim | None:
    known = [end for end in ends if end is not None]
    return total([*known, const]) if len(known) == len(ends) else None


def _scaled(limits: Limits, k: int) -> Limits:
    low, high = [None if end is None else k * end for end in limits]
    return (low, high) if k > 0 else (high, low)


def _remainder(limits: list[Limits], operands: tuple[Dim, Dim]) -> Limits:
    """0 <= n % d < d for d >= 1, and n % d <= n for n >= 0."""
    (_, n), (_, d) = limits
    positive, least = (bounds_of(operand)[0] for operand in operands)
    if least is None or least < 0:
        return None, None
    highs = [] if d is None else [d - 1]
    if n is not None and positive is not None and positive >= 0:
        highs.append(n)
    return 0, minimum(*highs) if highs else None


def _product(factors: list[tuple[Limits, int, int | None]]) -> Limits:
    """The bounds of a product of powers if no factor is negative; otherwise there are no bounds."""
    lows: list[Dim] = []
    highs: list[Dim] = []
    for (low, high), exponent, least in factors:
        if least is None or least < 0:
            return None, None
        # a factor that is not negative is at least max(low, 0)
        if exponent > 1 and any(end is not None and bits(end) * exponent > MAX_BITS for end in (low, high)):
            return None, None
        lows.append(maximum(0 if low is None else low, 0) ** exponent)
        highs += [] if high is None else [high**exponent]
    return product(lows), product(highs) if len(highs) == len(factors) else None


def _quotient(n: Limits, d: Limits, least: int | None) -> Limits:
    """The bounds of n // d for d >= 1. It tends to 0 or -1 as d grows: the sign of n decides which end of d to use."""
    if least is None or least < 0:
        return None, None
    small, large = d
    if small is not large:
        small = maximum(1 if small is None else small, 1)
    assert small is not None
    low, high = n
    if high is not None:
        near, far = high // small, -1 if large is None else high // large
        high = near if small is large or sign(high) == 1 else far if sign(high) == -1 else maximum(near, far)
    if low is not None:
        near, far = low // small, 0 if large is None else low // large
        low = far if sign(low) == 1 else near if small is large or sign(low) == -1 else minimum(near, far)
    return low, high
