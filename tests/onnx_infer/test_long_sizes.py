"""Equations that operators demand, which make long sizes shorter. `runs/long_sizes.txt` has models.

Tests of `Equations`: no public call shows by which of many equations a size is replaced.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from onnx_infer import infer
from onnx_infer.engine.substitution import Equations
from onnx_infer.laws.readable import chosen, degree
from symdim import DivisionByZero, Expr, Var, maximum, minimum

from .texts import parsed

HEAD = '<ir_version: 8, opset_import: ["": 18]>'

"""A step of a decoder: the rows of a table behind those of a cache are added, and a product demands that S stays S."""


def value(dim: int | Expr, at: dict[Var, int]) -> int | None:
    """The value of a dimension; None if it divides by 0."""
    try:
        found = dim if isinstance(dim, int) else dim.evaluate(at)
    except DivisionByZero:
        return None
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_what_equations_replace_is_equal_wherever_they_hold(seed: int) -> None:
    random = Random(seed)
    variables = [Var.fresh(name, random.choice([0, 1, 2])) for name in "NMK"]

    def tree(leaves: int) -> int | Expr:
        if leaves == 1:
            return random.choice([*variables, *variables, random.randint(-3, 6)])
        a, b = tree(leaves // 2), tree(leaves - leaves // 2)
        makers = [lambda: a + b, lambda: a - b, lambda: a * b, lambda: minimum(a, b), lambda: maximum(a, b)]
        return random.choice([*makers, lambda: a // (1 if b == 0 else b)])()

    replaced = 0
    for _ in range(60):
        equations = [(tree(random.randint(2, 5)), tree(random.randint(1, 3))) for _ in range(random.randint(1, 3))]
        known = Equations()
        for lhs, rhs in equations:
            known.add(lhs, rhs)
        sides = [side for equation in equations for side in equation]
        dims = [tree(4) + random.choice(sides), maximum(random.choice(sides), tree(3)), *sides]
        pairs = [(dim, new) for dim in dims if (new := known.rewritten(dim)) is not dim]
        replaced += len(pairs)
        for sizes in product(range(6), repeat=3):
            at = dict(zip(variables, sizes, strict=True))
            if any(size < (v.lo or 0) for v, size in at.items()):
                continue
            if any(value(lhs, at) is None or value(lhs, at) != value(rhs, at) for lhs, rhs in equations):
                continue
            for dim, new in pairs:
                assert value(dim, at) in (None, value(new, at)), (equations, dim, new, at)
    assert replaced > 20


def test_a_sum_is_rewritten_by_a_multiple_of_an_equation() -> None:
    N, M, K = Var("N"), Var("M"), Var("K")
    known = Equations()
    known.add(6 * maximum(N, M) - 6 * K, 12)
    assert known.rewritten(maximum(N, M) * maximum(N, M) - 3) == (K + 2) * (K + 2) - 3
    known.add(2 * (N // 3), K)  # no integer factor can be taken out
    assert known.rewritten(N // 3) == N // 3
    assert known.rewritten(maximum(4 * (N // 3) * M, 7) + 3 * (N // 3)) == maximum(2 * K * M, 7) + 3 * (N // 3)
    known.add(K, N)  # two symbols stay two
    assert known.rewritten(K + maximum(N, M)) == 2 * K + 2


def test_of_two_sizes_that_are_1_together_the_shorter_one_is_chosen() -> None:
    H, W = Var("H"), Var("W")
    short, long = H // 2 * W, H // 2 * (minimum(H, 9) // 2) * W
    assert chosen(short, long) == chosen(long, short) == short


def test_a_divisor_that_becomes_0_leaves_the_size() -> None:
    N, M, K = Var("N"), Var("M"), Var("K")
    known = Equations()
    known.add(maximum(N, M) - 1, 0)
    size = K // (maximum(N, M) - 1)
    assert known.rewritten(size) is size


def test_powers_that_nest_in_quotients_become_fresh_sizes() -> None:
    """Each step squares: after 40 steps a size of 2 would have a trillion bits, in an expression of one name."""
    steps = " ".join(f"m{i} = Mul (v{i}, v{i}) v{i + 1} = Div (m{i}, c)" for i in range(40))
    model = parsed(f"g (float[N] x) => (y) <int64[1] c = {{3}}> {{ v0 = Shape (x) {steps} y = ConstantOfShape (v40) }}")
    result = infer(model)
    found = [x for v in result.types.values() for x in (*(v.shape or ()), *(v.data or ())) if isinstance(x, Expr)]
    assert max(map(degree, found)) == 32


@pytest.mark.parametrize("names", ["NM", "MN"])
def test_names_do_not_decide_which_part_an_equation_replaces(names: str) -> None:
    n, m = (Var.fresh(name, 0) for name in names)
    known = Equations()
    known.add(2 * m * minimum(n, 1), n * minimum(n, 1))
    assert known.rewritten(n * minimum(n, 1) + 1) == 2 * m * minimum(n, 1) + 1


@pytest.mark.parametrize("names", ["NM", "MN"])
def test_an_equation_replaces_a_maximum_and_no_quotient_that_is_equally_large(names: str) -> None:
    n, m = (Var.fresh(name, 0) for name in names)
    known = Equations()
    known.add((n + 1) // 2, maximum(m, 3))
    assert known.rewritten((maximum(m, 3) + 2) // 3) == (n + 5) // 6
    known.add(maximum(n, 4), maximum(m, 2))
    assert known.rewritten(maximum(n, 4)) == maximum(m, 2)
