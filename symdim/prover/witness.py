"""Assignments that satisfy hypotheses, found by trying and checked by exact evaluation."""

from __future__ import annotations

from itertools import count, islice, product

from symdim.algebra.dims import variables_of
from symdim.algebra.evaluate import has_open_function, postorder
from symdim.algebra.expr import Expr, Extremum, FloorDiv
from symdim.algebra.polynomials import powers_of, terms_of
from symdim.algebra.variable import Var
from symdim.compile import StraightLine
from symdim.errors import SymdimError
from symdim.prover.budget import words_of
from symdim.prover.hypotheses import Problem
from symdim.relations.relation import SIGNS, Relation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from symdim.algebra.expr import Dim

    Assignment = dict[Var, int]

_NEAR = (*range(18), 23, 31, 64, 100)
_GRID = {1: 64, 2: 16, 3: 6}  # number of variables -> values of each that are tried in all combinations
_FAR = (127, 1000, 4096, 65_537, 1_000_003, 2**31 - 1, 10**12 + 39)
_GRID_AT = 24
_WORDS = 512  # the words that one point may cost
_FEW = 40  # up to this many points are evaluated without compiling
_MULTIPLIER, _INCREMENT = 6364136223846793005, 1442695040888963407  # Knuth's MMIX linear congruential generator


def satisfies(values: Assignment, hypotheses: Iterable[Relation]) -> bool:
    """Whether all hypotheses have a value and hold. Evaluated exactly."""
    try:
        return all(h.holds(values) for h in hypotheses)  # type: ignore[arg-type]
    except SymdimError:  # a size lies outside its bounds
        return False


def valued(dim: Dim, values: Assignment) -> int | None:
    """The value of a dimension; None if it has none, or if a size lies outside its bounds."""
    if isinstance(dim, int):
        return dim
    try:
        value = dim.evaluate(values)
    except SymdimError:
        return None
    return value if isinstance(value, int) else None


def witness(original: Problem, reduced: Problem, first: int, last: int) -> Assignment | None:
    """Values of the original variables that satisfy the hypotheses, from points `first..last` of the reduced problem.

    Long hypotheses and high degrees mean fewer points, because each point costs one evaluation. The steps are taken
    from the larger budget that contains the problem's own.
    """
    dims = [h.left for h in reduced.hypotheses]
    if has_open_function(dims):
        return None  # it has any values
    variables = sorted(variables_of([*dims, *reduced.solution.values()]), key=lambda v: (v.name, v.scope.serial))
    landmarks = _landmarks(dims)
    choices = [_values(v, landmarks) for v in variables]
    price = 1 + (_words(dims) + 4 * len(variables)) // _WORDS
    last = first + (last - first) // price
    met = _compiled(variables, reduced.hypotheses) if last - first > _FEW else None
    for point in islice(_points(choices), first, last):
        if reduced.budget.within is not None:
            reduced.budget.within.spend(price)
        if met is not None and not met(*point):
            continue
        values = dict(zip(variables, point, strict=True))
        if satisfies(values, reduced.hypotheses):
            original_values = translated(original, reduced, values)
            if original_values is not None and satisfies(original_values, original.hypotheses):
                return original_values
    return None


def _words(dims: list[Dim]) -> int:
    """The words of all coefficients and powers of variables that occur when some dimensions are evaluated."""
    nodes = {node: None for dim in dims if isinstance(dim, Expr) for node in postorder(dim)}
    powers = sum([sum(powers_of(node).values()) for node in nodes if node._terms is None])
    return powers + sum([words_of(node) for node in nodes])


def _compiled(variables: list[Var], hypotheses: list[Relation]) -> Callable[..., bool]:
    """A compiled function: whether all hypotheses hold at a point. Ten times as fast if there are many points."""
    code = StraightLine(variables)
    conditions = [f"{code.operand(h.left)} {SIGNS[h.kind]} 0" for h in hypotheses]
    function = code.function(" and ".join(conditions) or "True")

    def met(*point: int) -> bool:
        try:
            return bool(function(*point))
        except (SymdimError, ZeroDivisionError):  # a known function may have no value
            return False

    return met


def translated(original: Problem, reduced: Problem, values: Assignment) -> Assignment | None:
    """The original variables' values from those of the reduced problem; a variable without a value is at its bound."""
    dims = list(reduced.solution.values())
    complete = {v: v.lo if v.lo is not None else min(0, v.hi or 0) for v in variables_of(dims)} | values
    translation: Assignment = {}
    for v in original.solution:
        value = valued(reduced.solution[v], complete)
        if value is None:
            return None
        translation[v] = value
    return translation


def _landmarks(dims: Iterable[Dim]) -> list[int]:
    """Numbers at which the expressions change their ways: divisors and constants in divisions, maxima and minima."""
    numbers: set[int] = set()
    for dim in dims:
        _, const = terms_of(dim)
        numbers.add(abs(const))
        for node in postorder(dim) if isinstance(dim, Expr) else ():
            if isinstance(node, (FloorDiv, Extremum)):
                for part in node._parts:
                    numbers.add(abs(terms_of(part)[1]))
    return sorted(numbers - {0, 1})[:12]


def _values(v: Var, landmarks: list[int]) -> list[int]:
    """Small values, values at the bounds and the landmarks, far values."""
    base = v.lo if v.lo is not None else min(0, v.hi) if v.hi is not None else 0
    values = [base + x for x in _NEAR]
    values += [x + d for x in landmarks for d in (0, -1, 1)]
    values += [2 * x + d for x in landmarks for d in (0, -1)]
    values += [base + x for x in _FAR]
    if v.lo is None:
        values = [x for y in values for x in (y, -y - 1)]
    if v.hi is not None:
        values += [v.hi, v.hi - 1, v.hi - 2]
    inside = [x for x in dict.fromkeys(values) if (v.lo is None or x >= v.lo) and (v.hi is None or x <= v.hi)]
    return inside or [base]


def _points(choices: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Points without end: some with all variables at equal places, then pseudo-random ones that favour small values.

    Early among the random ones comes a whole grid.
    """
    for place in (0, 1, 2, 3):
        yield tuple([c[min(place, len(c) - 1)] for c in choices])
    state = 12345
    for number in count():
        if number == _GRID_AT and len(choices) in _GRID:
            yield from product(*[c[: _GRID[len(choices)]] for c in choices])
        point = []
        for c in choices:
            state = (state * _MULTIPLIER + _INCREMENT) & 0xFFFFFFFFFFFFFFFF
            limit = len(c) if number % 3 else min(len(c), 8)
            point.append(c[(state >> 33) % limit])
        yield tuple(point)
