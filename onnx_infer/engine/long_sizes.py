"""Long sizes, made shorter by the equations that operators demand.

A size chosen by broadcasting may be long although a later node demands that it is `N`. So equations that are required
are solved for the largest part of them, `max(N, M) == N + 3` for `max(N, M)`, and long sizes are rewritten by the
solutions. The equations stay guards, so a size is right where the guards hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from onnx_infer.engine.fresh_sizes import replacing
from onnx_infer.laws.readable import has_many_names, is_long, is_unreadable
from onnx_infer.types.join import sizes
from symdim import BoundsError, DivisionByZero, Expr, Max, Var, leaf_count
from symdim.algebra.caches import shared_cache
from symdim.algebra.dims import at_most, substituted, variables_of
from symdim.algebra.evaluate import Substitution, replaced
from symdim.algebra.expr import Extremum, FloorDiv
from symdim.algebra.order import kind_number, order
from symdim.algebra.origin import is_given
from symdim.algebra.sums.long_division import cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx_infer.engine.scope import Scope
    from onnx_infer.laws.statements import Statement
    from onnx_infer.values.tensor import Dim, Value
    from symdim.conditions.condition import Relation

_ROUNDS = 8


class Shorter:
    """Shorter sizes for long ones that they equal, `of` each; false if there are none. `put` puts them into a value."""

    __slots__ = ("of", "put", "sizes")

    def __init__(self, found: Mapping[Dim, Dim]) -> None:
        self.of = found
        self.sizes = Substitution({}, found)
        self.put = replacing(self.sizes, is_lasting=False)

    def __bool__(self) -> bool:
        return bool(self.of)

    def within(self, size: Dim) -> Dim:
        """A size with shorter ones in it. It stays if a divisor would become 0: no run has such sizes.

        >>> from symdim import maximum
        >>> N, M = Var("N"), Var("M")
        >>> shorter = Shorter({maximum(N, M): 3})
        >>> shorter.within(maximum(N, M) * 2 + 1), shorter.within(N // (maximum(N, M) - 3))
        (7, N//(max(M, N) - 3))
        """
        try:
            return size.substitute(self.sizes) if isinstance(size, Expr) else size
        except (BoundsError, DivisionByZero):
            return size


_NONE = Shorter({})
_shorter = shared_cache(1 << 5)  # (equations, values) of a model -> its Shorter


def shorter_sizes(scopes: Iterable[Scope], statements: Iterable[Statement], resolve: Callable[[Dim], Dim]) -> Shorter:
    """The long sizes in some graphs that statements shorten. They are remembered for the next inference of the model.

    `resolve` replaces solved variables in a statement.
    """
    stated = dict.fromkeys((s.lhs, s.rhs) for s in statements if s.kind == "required" and is_equation(*s[:3]))
    if not stated:
        return _NONE
    equations = tuple([(resolve(lhs), resolve(rhs)) for lhs, rhs in stated])
    values = tuple(dict.fromkeys(value for scope in scopes for value in scope.values()))
    found: Shorter | None = _shorter.get(key := (equations, values))
    if found is None:
        found = _shorter[key] = Shorter(_shortened(equations, values))
    return found


def _shortened(equations: Iterable[tuple[Dim, Dim]], values: Iterable[Value]) -> dict[Dim, Dim]:
    """The long sizes in some values that equations shorten."""
    long = [size for size in dict.fromkeys(d for value in values for d in sizes(value)) if is_long(size)]
    if not long:
        return {}
    known = Equations()
    for lhs, rhs in equations:
        known.add(lhs, rhs)
    found = {size: known.narrowed(known.rewritten(size)) for size in long}
    # where a size is negative, the equations hold in no run
    return {size: new for size, new in found.items() if _is_shorter(new, size) and not at_most(new, -1)}


def is_equation(relation: Relation | Literal["undecided"], lhs: Dim, rhs: Dim) -> bool:
    """Whether this is an equation with a maximum, a minimum or a floor division: it may shorten something."""
    return relation == "equal" and any(isinstance(side, Expr) and side.height > 0 for side in (lhs, rhs))


class Equations:
    """Equations, each solved for its largest part: a maximum, a minimum or a floor division.

    >>> from symdim import Var, maximum
    >>> N, M = Var("N"), Var("M")
    >>> known = Equations()
    >>> known.add(maximum(N, M) * N, N * N + 3 * N)
    >>> known.rewritten((maximum(N, M) - 3) * M // 2)
    M*N//2
    """

    def __init__(self) -> None:
        self._of: dict[Expr, Dim] = {}
        self._least: dict[Var, int] = {}  # from equations such as max(N, 3) == N

    def __bool__(self) -> bool:
        return bool(self._of)

    def add(self, lhs: Dim, rhs: Dim) -> None:
        """Use an equation. One replaces nothing if its largest part has another factor than 1 or -1.

        Nor does one that would bring a size that the data decide into sizes without it.
        """
        (gap,) = cancelled(self.rewritten(lhs) - self.rewritten(rhs))
        if not isinstance(gap, Expr):
            return
        terms = {gap: 1} if gap.terms is None else gap.terms
        part = max(terms, key=lambda part: _rank(part, terms[part]))
        if not part.height or abs(terms[part]) != 1:
            return
        rest = part - terms[part] * gap  # since k * part + other terms == 0 for k = 1 or -1
        if _unknown(rest).issubset(part.variables()):
            self._of[part] = rest
        if isinstance(part, Max) and isinstance(rest, Var):
            numbers = [argument for argument in part.parts if isinstance(argument, int)]
            self._least[rest] = max(*numbers, self._least.get(rest, 0), 0)

    def rewritten(self, size: Dim) -> Dim:
        """The size with solved parts replaced, and those that this makes. No run has a size whose divisor becomes 0."""
        try:
            for _ in range(_ROUNDS):
                found = replaced(size, self._of, {})
                if found is size or is_unreadable(found):
                    break
                size = found
        except DivisionByZero:
            pass
        return size

    def narrowed(self, size: Dim) -> Dim:
        """The size where its variables are as large as equations demand: `max(N, 2)` is N if `max(N, 3) == N`."""
        least = {v: low for v in variables_of([size]) if (low := self._least.get(v, 0)) > (v.lo or 0)}
        if not least:
            return size
        larger = {v: Var.fresh(v.name, low, v.hi) for v, low in least.items() if v.hi is None or low <= v.hi}
        return substituted(substituted(size, larger), {new: v for v, new in larger.items()})


def _is_shorter(dim: Dim, than: Dim) -> bool:
    """Whether a size has fewer variables, or as many and a shorter text, or no size that the data decide.

    A number takes the place of a long text only. The next inference believes it only if no node demands it.
    """
    if isinstance(dim, int):
        return has_many_names(than)
    fewer = leaf_count(dim) - leaf_count(than)
    if fewer or dim is than:
        return fewer < 0
    return (bool(_unknown(dim)), len(str(dim))) < (bool(_unknown(than)), len(str(than)))


def _unknown(dim: Dim) -> set[Var]:
    """The sizes in an expression that only the data decide."""
    return {v for v in variables_of([dim]) if not is_given(v.origin)}


def _rank(part: Expr, factor: int) -> tuple[object, ...]:
    """A sort key under which an atom comes after everything that it contains.

    Of parts that are equally large the one counts whose factor is 1 or -1; of these a minimum or a maximum before a
    floor division, then the one with larger numbers in it. Only then names decide.
    """
    form: tuple[object, ...] = ()
    if isinstance(part, (Extremum, FloorDiv)):
        form = kind_number(part), sorted([x if isinstance(x, int) else x.const for x in part.parts])
    return leaf_count(part), part.height, bool(_unknown(part)), abs(factor) == 1, form, order(part)
