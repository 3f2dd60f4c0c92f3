"""Conditions solved for a variable: what each law gives, and that it holds exactly where the condition does."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

import pytest

from symdim import Expr, Scope, Var, ceildiv, maximum, minimum
from symdim.algebra.variable import make_variable
from symdim.relations.monotone import growth, threshold
from symdim.relations.relation import Relation, RelationKind, as_relations, union_of
from symdim.relations.solving import is_one_where, solve

H, S, P, N, M = (Var(name) for name in "HSPNM")
SMALL = Var.fresh("x", 0, 9)
ANY, OTHER = (make_variable(Scope(), name, None, None) for name in ("any", "other"))
ONE, BIT, LARGE = Var.fresh("one", 1, 1), Var.fresh("bit", 0, 1), Var.fresh("large", 2, 9)


def agrees(condition: Relation, limit: int = 100) -> None:
    """The solution holds at the same points of a grid as the condition, wherever that is defined."""
    solution = solve(condition)
    variables = condition.variables()
    grid = (range(-6 if v.lo is None else v.lo, limit if v.hi is None else v.hi + 1) for v in variables)
    for point in product(*grid):
        sizes = dict(zip(variables, point, strict=True))
        if condition.sides(sizes) is not None:
            holds = solution is not None and all(c.holds(sizes) for c in solution)
            assert holds == condition.holds(sizes), (condition, solution, sizes)


@pytest.mark.parametrize(
    ("relation", "lhs", "rhs", "expected"),
    [
        ("at_least", (H + 1) // 4, 1, "H >= 3"),
        ("at_most", (H + 1) // 4, 2, "H <= 10"),
        ("at_least", ceildiv(H, 4), 3, "H >= 9"),
        ("at_most", ceildiv(H, 4), 3, "H <= 12"),
        ("at_least", 3 * (H // 2) - 7, 0, "H >= 6"),
        ("at_most", 3 * (H // 2) - 7, 0, "H <= 5"),
        ("at_least", S // 2, P, "S >= 2*P"),
        ("at_least", maximum(H // 8, 1), 2, "H >= 16"),
        ("at_most", maximum(H // 8, 1), 2, "H <= 23"),
        ("at_least", maximum(H - S, 1), 2, "H >= S + 2"),
        ("at_least", maximum(H * S, 3), 5, "H*S >= 5"),
        ("at_least", minimum(H // 2, 9), 4, "H >= 8"),
        ("at_least", minimum(H // 2, 3), 4, "never"),
        ("at_most", N, 96 * minimum(maximum(N, 32), 33) - 3040, "N <= 128"),
        ("at_least", (H // 4) * (S // 3), 1, "H >= 4; S >= 3"),
        ("at_least", N * (H // 4), N, "H >= 4"),
        ("at_least", H - H // 2, 3, "H >= 5"),
        ("at_least", S // 3 + S // 5, 7, "S >= 15"),
        ("at_most", S // 3 + S // 5, 7, "S <= 14"),
        ("at_least", 40 - S - S // 2, 20, "S <= 13"),
        ("equal", S, minimum(S, 64), "S <= 64"),
        ("equal", maximum(S, P), P, "P >= S"),
        ("equal", (S + 31) // 32, 3, "S >= 65; S <= 96"),
        ("equal", 12 * N * minimum(S, 2), 24 * N, "S >= 2"),
        ("equal", 4 * P * (S // 4), P * S, "S % 4 == 0"),
        ("equal", 2 * N, 2 * M, "N == M"),
        ("equal", 5, N, "N == 5"),
        ("equal", 2 * N, 5, "never"),
        ("equal", minimum(3 * N, 13), N + 12, "never"),
        ("equal", maximum(3 - N // 2, N // 4), 0, "never"),
        ("equal", maximum(N, 1), N, "always"),
        ("equal", minimum(N, 1), N, "N == 1"),
        ("equal", minimum(N, M), 1, "min(M, N) == 1"),
        ("divides", 6, 3 * N, "N % 2 == 0"),
        ("divides", 4, 8 * N + 4, "always"),
        ("divides", 4, 8 * N + 2, "never"),
        ("divides", 4 * P, P * S, "S % 4 == 0"),
        ("broadcast", S, minimum(S, 64), "S <= 64"),
        ("broadcast", minimum(S, 2), 2, "always"),
        ("broadcast", N + 1, 3, "N == 2"),
        ("broadcast", 3, N, "N in (3, 1)"),
        ("broadcast", N, M, "N == M or 1 in (N, M)"),
        ("broadcast", ANY, OTHER, "any == other or 1 in (any, other)"),
        ("broadcast", SMALL, N, "x == N or 1 in (x, N)"),
        ("broadcast", ONE, N, "always"),
        ("broadcast", BIT, N, "bit == N or 1 in (bit, N)"),
        ("broadcast", BIT, LARGE, "bit == 1"),
        ("broadcast", N + 1, M + 1, "N == M"),
        ("broadcast", N + 1, M, "M in (N + 1, 1)"),
        ("broadcast_to", minimum(S, 64), S, "S <= 64"),
        ("at_least", (S // 8) + maximum(S // 4 + N, H, P) - N, 0, "always"),
        ("at_least", maximum(H * S, 2 * H) - H * S + S // 8, 0, "always"),
        ("at_least", ANY * OTHER, 1, "any*other >= 1"),
        ("broadcast", maximum(ANY, 6) // 2, 3, "any <= 7"),
        ("broadcast", 12 % N + 1, 5, "13 - N*(12//N) in (5, 1)"),
        ("broadcast_to", 10 * ANY + 11, 10 * N - 19, "any + 2 in (N - 1, 1)"),
        ("broadcast", N * H - N + 1, N * S - N + 1, "H == S or 1 in (H, S)"),
        ("broadcast", 2 * N + 1, 2 * M - 1, "M in (N + 1, 1)"),
        ("broadcast", H // 2 * S, H // 2 % 5 * S, "S*((H//2) % 5) in ((H//2)*S, 1)"),
        ("broadcast", H // 2 * S, minimum(H // 2, 9) * minimum(S, 7), "(min(H, 18)//2)*min(S, 7) == (H//2)*S"),
    ],
)
def test_conditions_read_as_a_person_writes_them(
    relation: RelationKind, lhs: int | Expr, rhs: int | Expr, expected: str
) -> None:
    condition = Relation(relation, lhs, rhs)
    found = solve(condition)
    assert ("never" if found is None else "; ".join(map(str, found)) or "always") == expected
    agrees(condition, {0: 1, 1: 100, 2: 40}.get(len(condition.variables()), 12))


def test_a_maximum_of_more_than_four_parts_stays_whole() -> None:
    found = solve(Relation("at_most", maximum(H, S, P, N), 7))
    assert found is not None
    assert sorted(map(str, found)) == ["H <= 7", "N <= 7", "P <= 7", "S <= 7"]
    whole = Relation("at_most", maximum(H, S, P, N, M), 7)
    assert solve(whole) == [whole]


@pytest.mark.parametrize(
    "condition",
    [
        Relation("at_least", H % 4, 2),  # not monotone
        Relation("at_least", H - 2 * (H // 2), 1),
        Relation("at_least", (H - 5) * (S - 5), 1),  # both factors may be negative
        Relation("at_least", H // (S - 3), 2),  # the divisor may be 0 or less
        Relation("equal", (H - 5) * S, (H - 5) * P),  # the factor may be 0
        Relation("divides", SMALL, 2 * SMALL),  # a divisor of 0 divides nothing
        Relation("divides", 4 * SMALL, 6 * SMALL),
        Relation("broadcast", 2 * (S // 4) - 1, maximum(S // 2, 1) - 1),
        Relation("broadcast", S, maximum(S, 3) + 2),
        Relation("broadcast", (H - 5) * (S - 5), (H % 6) * (S % 6)),  # both factors may be -1
        Relation("broadcast", SMALL * H, maximum(SMALL, 2) * H),
        Relation("broadcast_to", H // 3, H // 2),
    ],
)
def test_look_alikes_hold_where_they_held(condition: Relation) -> None:
    agrees(condition, 30)


def random_size(random: Random, variables: list[Var], depth: int) -> int | Expr:
    if not depth or random.random() < 0.15:
        return random.choice([*variables, random.randint(-6, 9)])
    part, kind = random_size(random, variables, depth - 1), random.randrange(8)
    if kind < 3:
        return part + random.randint(-3, 3) * random_size(random, variables, depth - 1) + random.randint(-9, 9)
    if kind < 5:
        return part // random.choice([2, 3, 4, 5, variables[0]])
    if kind == 5:
        return random.choice([maximum, minimum])(part, random_size(random, variables, depth - 1))
    return part * random_size(random, variables, depth - 1) if kind == 6 else part % random.choice([2, 3, 4])


RELATIONS: list[RelationKind] = ["equal", "at_least", "at_most", "divides", "broadcast", "broadcast_to"]


@pytest.mark.parametrize("seed", range(6))
def test_random_conditions_hold_exactly_where_their_solutions_do(seed: int) -> None:
    random = Random(seed)
    for _ in range(80):
        ends = [
            (random.choice([0, 1, 1, 2, 5]), random.choice([None, None, 7, 12])) for _ in range(random.choice([1, 2]))
        ]
        variables = [Var.fresh(name, low, high) for name, (low, high) in zip("xy", ends, strict=False)]
        lhs, rhs = (random_size(random, variables, random.choice([0, 1, 2, 3])) for _ in "ab")
        agrees(Relation(random.choice(RELATIONS), lhs, rhs), 60 if len(variables) == 1 else 14)


@pytest.mark.parametrize("seed", range(6))
def test_a_size_is_1_where_another_one_is(seed: int) -> None:
    random, found = Random(seed), 0
    for _ in range(200):
        x, y = (Var.fresh(name, random.choice([0, 1, 2]), random.choice([None, None, 9])) for name in "xy")
        part, other = random_size(random, [x], 2), random_size(random, [y], 2)
        a = random.choice([part, part * other, x * other])
        b = random.choice([a, minimum(a, 7), part * random_size(random, [y], 2), part * part, maximum(a, 1) + x // 4])
        if not is_one_where(b, a):
            continue
        found += 1
        for i, j in product(range(x.lo or 0, 10), range(y.lo or 0, 10)):
            sides = Relation("equal", a, b).sides({x: i, y: j}) if isinstance(a, Expr) else None
            assert sides is None or sides[0] != 1 or sides[1] == 1, (a, b, i, j)
    assert found > 10


def test_a_size_is_not_known_to_be_1_where_it_has_no_value_or_no_least_one() -> None:
    x, N = make_variable(Scope(), "x", None, None), Var("N")
    assert not is_one_where(x + 5, maximum(x, 1))  # 1 for all x below 2
    assert not is_one_where(4 // (N - 1), N)  # a division by 0 where N is 1
    assert is_one_where(4 // (N + 3), N)
    assert union_of([(x, (None, 3)), (x, (5, 5))]) is None
    assert union_of([(N, (None, 3)), (N, (4, 5))]) == (N, (1, 5))


@pytest.mark.parametrize("lhs", [ANY // -2, (ANY + 5) // 2, maximum((ANY + 3) // 2, H), ANY - 5])
def test_an_integer_may_be_below_0_where_a_side_is_1(lhs: Expr) -> None:
    agrees(Relation("broadcast", lhs, H), limit=9)
    agrees(Relation("broadcast_to", lhs, H), limit=9)


def test_growth_contains_every_step_and_thresholds_are_exact() -> None:
    random = Random(0)
    for _ in range(150):
        x = Var.fresh("x", random.choice([0, 1, 4]), 40)
        gap = random_size(random, [x], 3)
        if not isinstance(gap, Expr):
            continue
        values = [gap.evaluate({x: i}) if not _divides_by_0(gap, x, i) else None for i in range(x.lo or 0, 41)]
        least, most = growth(gap, x)
        for a, b in pairwise(values):
            if isinstance(a, int) and isinstance(b, int):
                assert least is None or b - a >= least, (gap, a, b)
                assert most is None or b - a <= most, (gap, a, b)
        found = threshold(gap)
        if found is not None:
            for i, value in zip(range(x.lo or 0, 41), values, strict=True):
                at = found if isinstance(found, int) else found.to_int({x: i})
                assert isinstance(value, int)
                assert (at >= 0) == (value >= 0), (gap, found, i)


def _divides_by_0(gap: Expr, x: Var, value: int) -> bool:
    return Relation("equal", gap, 0).sides({x: value}) is None


def test_a_condition_at_other_sizes():
    condition = Relation("at_least", N * M, 3).substitute({N: H + 1, M: 2})
    assert condition == Relation("at_least", 2 * H + 2, 3)


def test_thresholds_at_the_ends_of_the_range() -> None:
    """-1 means that no size meets the condition, 0 that every one does; without an end above it is not known."""
    assert [threshold(SMALL // 2 + SMALL // 3 - 100), threshold(-100 - SMALL // 2), threshold(50 - SMALL // 2)] == [
        -1,
        -1,
        0,
    ]
    assert [threshold(N // 3 + N // 5 - 2**90), threshold(2**90 - N - N // 2)] == [None, None]


@pytest.mark.parametrize(("count", "solution"), [(8, [Relation("at_most", N, 5)]), (9, None)])
def test_a_maximum_of_many_is_not_taken_apart(count, solution):
    condition = Relation("at_most", maximum(N, *(Var.fresh(f"s{i}", 1, 5) for i in range(count - 1))), 5)
    assert solve(condition) == (solution or [condition])


def test_an_equality_of_bounds_is_an_equation():
    """Both halves of it have a solution; only bounds of one variable are taken together."""
    for left in (maximum(N, M), minimum(N, M), N * M, N // 2 + M, maximum(N, M) - H, SMALL * N):
        for right in (1, 2, 7, S):
            agrees(Relation("equal", left, right), 7)


@pytest.mark.parametrize(("count", "solution"), [(6, Relation("equal", N, 7)), (7, None)])
def test_a_broadcast_of_many_variables_is_not_solved(count, solution):
    """N >= 2 is not 1, and the maximum is at most 6: so it is one of the two, or 1."""
    sizes = [Var.fresh(f"s{i}", 2) for i in range(count - 1)]
    condition = Relation("broadcast", maximum(*sizes), N + 1)
    found = Relation("equal", maximum(*sizes), N + 1)
    assert solve(condition) == ([condition] if solution is None else [found])


def test_a_condition_does_not_hold_where_a_divisor_is_0() -> None:
    for relation in ("at_least", "at_most", "equal", "divides"):
        condition = Relation(relation, H // SMALL, 0)
        assert not condition.holds({H: 4, SMALL: 0}), relation
    assert Relation("at_least", H // SMALL, 0).holds({H: 4, SMALL: 3})


@pytest.mark.parametrize("v", [H, SMALL, Var.fresh("z", 2, 6)], ids=lambda v: f"{v.lo}..{v.hi}")
def test_a_monotone_size_of_one_variable_is_bounded_where_the_variable_is(v: Var) -> None:
    """The solution is the shortest one: from the least size to the greatest one, without what its bounds say."""
    top = 60 if v.hi is None else v.hi
    rising = [2 * v + 1, 3 * v - 4, (v + 1) // 3, 3 * (v // 2), v // 2 + v // 3, maximum(v, 4), minimum(v, 4)]
    rising += [maximum(v // 2, 3), minimum(2 * v, 9), 2 * maximum(v, 3) - 1, maximum(v - 3, 0), maximum(v // 2, v - 3)]
    rising += [v * v, v * v + v, v * (v // 2), minimum(v + 1, 2 * v)]
    relations: list[RelationKind] = ["at_least", "at_most", "equal"]
    for size in (*rising, 7 - 2 * v, (5 - v) // 2, 9 - v - v // 2, -maximum(v, 5)):
        for relation, number in product(relations, (-4, -1, 0, 1, 2, 3, 5, 8, 13)):
            condition = Relation(relation, size, number)
            points = [x for x in range(v.lo or 0, top + 1) if condition.holds({v: x})]
            last = None if not points or (v.hi is None and points[-1] == top) else points[-1]
            assert solve(condition) == (as_relations(v, (points[0], last)) if points else None), condition


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Relation("equal", (N - 1) * (M - 1) * (H - M), 0), "N == 1 or M in (1, H)"),
        (Relation("equal", (N - 3) * (M - H), 0), "H == M or N == 3"),
        (Relation("equal", (N - 2) * (N + M - 4), 0), "(M + N - 4)*(N - 2) == 0"),
        (Relation("broadcast_to", maximum(N, M) - M + 1, H + 1), "max(M, N) - M in (H, 0)"),
    ],
)
def test_a_choice_is_written_as_one(condition: Relation, text: str) -> None:
    assert str(condition) == text
    for n, m, h in product(range(1, 6), repeat=3):
        values = {"N": n, "M": m, "H": h}
        assert bool(eval(text, {"max": max}, values)) is condition.holds(values)  # type: ignore[arg-type]
