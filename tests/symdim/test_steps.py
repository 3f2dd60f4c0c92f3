"""Each step of the prover states the same in other variables: its solutions are those of the problem before it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from symdim import Dim, Scope, Var, maximum, minimum
from symdim.algebra.dims import variables_of
from symdim.algebra.variable import make_variable
from symdim.compile import StraightLine
from symdim.prover.budget import Budget
from symdim.prover.cases import arithmetic, structural
from symdim.prover.elimination import solved
from symdim.prover.hypotheses import Problem, Refuted, problem_of
from symdim.prover.search import one_sided, shifted
from symdim.relations.relation import SIGNS, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = Callable[[Problem], Iterator[list[Problem]]]
    Point = tuple[int, ...]

SCOPE = Scope()
X, Y, Z = (make_variable(SCOPE, name, 0, 5) for name in "xyz")
U, V = (make_variable(SCOPE, name, 1, 4) for name in "uv")
W = make_variable(SCOPE, "w", -3, 3)
FREE = make_variable(SCOPE, "f", None, None)
UPPER = make_variable(SCOPE, "h", None, 2)
LOWER = make_variable(SCOPE, "l", 2, None)

WINDOW = 9  # unbounded variables are tried from -9 to 9

PROBLEMS: list[list[tuple[Dim, str]]] = [
    [(X // 2 - 2, "==")],
    [(X - Y - 1, ">=")],
    [(X - Y - 1, "=="), (Y - 2, ">=")],
    [(2 * X - 3 * Y - 1, "==")],
    [(2 * X + 3 * Y - 12, "==")],
    [(4 * X + 6 * Y - 9, "==")],
    [(6 * X - 10 * Y + 4, "==")],
    [(3 * X - 5, ">="), (7 - 2 * X, ">=")],
    [(X * Y - 6, "==")],
    [(X * Y, "==")],
    [(X * U - 2 * U, "==")],
    [(X * U - 2 * U, ">=")],
    [(X * U - 2, ">=")],
    [(X * Y - 1, ">=")],
    [(W * X, "!=")],
    [(W * X - X, "=="), (X, "!=")],
    [(W, "!="), (W * W - W, "==")],
    [(X - Y, "!="), (X + Y - 4, "==")],
    [(-X * X, ">=")],
    [(X // 2 - Y, "==")],
    [(Y - X // 3 - 1, "==")],
    [(X - 2 * (X // 2) - 1, "==")],
    [(X - 3 * (X // 3) - Y, "==")],
    [(X // 3 - 1, "==")],
    [((X + 1) // 3 - 1, "==")],
    [(X // U - Y, "==")],
    [(X - U * (X // U), "==")],
    [(X // U - Y // U - 1, ">=")],
    [(X // Y - 2, ">=")],
    [(X // (2 * U) - Y // U, ">=")],
    [(X // (2 * U) - (Y // U) // 2, "!=")],
    [((X + Y) // U - X // U - Y // U - 1, "==")],
    [(X // (U * V) - 1, ">=")],
    [(X // (U + 1) + Y // (2 * U + 2) - 3, ">=")],
    [((X + Y) // U - X // U + 3, ">=")],
    [(X - Y, ">="), (X // U - Y // U - 1, ">=")],
    [(X - Y, ">="), (maximum(X // U, Y // U) - 2, "==")],
    [(X - Y, ">="), (minimum(X // U, Y // U) - 1, "==")],
    [(X - Y, ">="), (minimum(X // U, Y // U, V) - maximum(X // V, Y // V) - 1, "==")],
    [(X // 2 - Y // 2 - 1, ">="), (X // (2 * U) - Y // (2 * U), "==")],
    [(U * (X // V) - U * (Y // V) - 1, ">="), (X - Y, ">=")],
    [(maximum(X, Y) - 4, ">=")],
    [(maximum(X, Y, U) - minimum(X, Y, U) - 3, "==")],
    [(minimum(X, W) + 2, "==")],
    [(maximum(X // 2, Y) - minimum(X, 2), "!=")],
    [(maximum(X, 2 * Y) - X, "=="), (X - 3, ">=")],
    [(FREE - X, ">="), (Y - FREE, ">=")],
    [(2 * FREE - X - 1, "==")],
    [(FREE * FREE - 4, "==")],
    [(UPPER + X, "==")],
    [(3 * UPPER + X - 1, ">=")],
    [(UPPER * UPPER - 4, ">="), (UPPER + 4, ">=")],
    [(LOWER - X, "==")],
    [(3 - LOWER, ">=")],
    [(LOWER * X - 6, "==")],
    [(LOWER // 3 - X, "=="), (8 - LOWER, ">=")],
    [(X + Y + U - 9, "==")],
    [(X + 2 * Y - 3 * U, "=="), (X - Y, ">=")],
    [(X * X - 2 * Y, "==")],
    [(X * X - 8 * W - 1, "==")],
    [(X - 6, ">=")],
    [(X - Y - 6, ">=")],
    [(2 * X - 4 * Y - 1, "==")],
    [(X * Y - 26, ">=")],
]


WEAKER: list[list[tuple[Dim, str]]] = [
    [((X + W) // 2 + W // 3 - 1, "==")],
    [(X // W - 1, ">=")],
    [(maximum(X, Y) // 2 - 2, "==")],
]
"""A step forgets what a division by a size below 0 is, or a maximum."""


def steps() -> Iterator[tuple[str, Step]]:
    """Steps; each gives lists of problems, of which at least one holds."""

    def alone(step: Callable[[Problem], Problem | None]) -> Step:
        return lambda problem: iter([[found]] if (found := step(problem)) is not None else [])

    def cases(step: Callable[[Problem], list[Problem] | None]) -> Step:
        return lambda problem: iter([found] if (found := step(problem)) is not None else [])

    yield "checked", alone(Problem.checked)
    yield "solved", alone(solved)
    yield "shifted", alone(shifted)
    yield "one_sided", cases(one_sided)
    yield "structural", cases(structural)
    yield "arithmetic", lambda problem: arithmetic(problem, 12)


def range_of(v: Var) -> range:
    lo = max(-WINDOW, v.hi - 2 * WINDOW if v.hi is not None else -WINDOW) if v.lo is None else v.lo
    return range(lo, (max(WINDOW, lo) if v.hi is None else v.hi) + 1)


def solutions(problem: Problem, original: tuple[Var, ...]) -> set[Point]:
    """The values of the original variables at the solutions of a problem, its own variables within the window."""
    if not problem.solution:  # an impossible case
        assert [h for h in problem.hypotheses if h.left == -1]
        return set()
    values = [problem.solution[v] for v in original]
    variables = variables_of([*values, *[h.left for h in problem.hypotheses]])
    code = StraightLine(variables)
    met = " and ".join(f"{code.operand(h.left)} {SIGNS[h.kind]} 0" for h in problem.hypotheses) or "True"
    function = code.function(f"({met}, ({''.join(f'{code.operand(dim)}, ' for dim in values)}))")
    found = set()
    for point in product(*map(range_of, variables)):
        try:
            holds, image = function(*point)
        except ZeroDivisionError:
            continue
        if holds:
            found.add(image)
    return found


@pytest.mark.parametrize(("name", "step"), list(steps()), ids=[name for name, _ in steps()])
def test_a_step_keeps_all_solutions_and_adds_none(name: str, step: Step) -> None:
    taken = 0
    for conditions in (*PROBLEMS, *WEAKER):
        hypotheses = [Relation.of(dim, sign, 0) for dim, sign in conditions]
        problem = problem_of(hypotheses, (), Budget(100_000))
        variables = tuple(problem.solution)
        wanted = solutions(problem, variables)
        try:
            for alternatives in step(problem):
                taken += 1
                found = set().union(*(solutions(alternative, variables) for alternative in alternatives))
                inside = {p for p in found if all(x in range_of(v) for x, v in zip(p, variables, strict=True))}
                assert wanted <= inside if conditions in WEAKER else wanted == inside, (name, conditions)
                assert all(all(map(within_bounds, variables, point)) for point in found), (name, conditions)
        except Refuted:
            assert not wanted, (name, conditions)
    assert taken > 2


def within_bounds(v: Var, value: int) -> bool:
    return (v.lo is None or value >= v.lo) and (v.hi is None or value <= v.hi)
