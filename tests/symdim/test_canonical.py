from __future__ import annotations

from itertools import permutations

import pytest

from symdim import (
    DivisionByZero,
    Expr,
    Mul,
    Var,
    maximum,
    minimum,
    parse,
    product,
    total,
)
from symdim.algebra.constructors.arithmetic import MAX_TERMS
from symdim.algebra.texts.factoring import factored
from symdim.algebra.texts.tree import Operation, Product, Sum
from symdim.algebra.variable import Scope, make_variable
from tests.counting import calls_of
from tests.nightly import is_nightly
from tests.symdim.strategies import expressions


def rebuilt(tree):
    """The value of a tree by the operators, and the dimensions in it."""
    if isinstance(tree, Operation):
        left, right, *_ = tree.operands
        values = {"//": lambda: left // right, "%": lambda: left % right}
        extrema = {"max": maximum, "min": minimum}
        found = values[tree.operator]() if tree.operator in values else extrema[tree.operator](*tree.operands)
        return found, [*tree.operands]
    if isinstance(tree, Sum):
        terms = [rebuilt(term) for term in tree.terms]
        return total(value for value, _ in terms), [dim for _, dims in terms for dim in dims]
    if isinstance(tree, Product):
        bases = [(*rebuilt(base), exponent) for base, exponent in tree.powers]
        return product([tree.coefficient, *[b**e for b, _, e in bases]]), [dim for _, dims, _ in bases for dim in dims]
    return tree, [tree]


@pytest.mark.parametrize("seed", range(6 if is_nightly else 2))
def test_the_tree_rebuilds_the_node(seed):
    for made in expressions("signs", 100 + seed, 300):
        stack = [made.dim]
        while stack:
            node = stack.pop()
            if isinstance(node, Expr) and not isinstance(node, Var):
                value, parts = rebuilt(node.tree())
                assert value is node, (seed, made, node, node.tree())
                stack += parts


def test_two_orders_give_one_object():
    scope = Scope()
    x, y, z, t = (scope.var(name) for name in "xyzt")
    parts = [x * y, 3 * z, (x + 1) // 3, maximum(y, z), t % 4]
    sums = {total(order) for order in permutations(parts)}
    assert len(sums) == 1
    assert {product(order) for order in permutations(parts)} == {product(parts)}
    assert {maximum(*order) for order in permutations(parts)} == {maximum(*parts)}
    assert {minimum(*order) for order in permutations(parts)} == {minimum(*parts)}


def test_long_products_stay_factored():
    scope = Scope()
    sizes = [scope.var(f"n{i}") for i in range(12)]
    whole = product([n + 1 for n in sizes])
    assert isinstance(whole, Mul)
    assert len(str(whole)) < 10 * MAX_TERMS * len(sizes)
    assert whole.evaluate(dict.fromkeys(sizes, 1)) == 2**12
    assert whole is product([n + 1 for n in reversed(sizes)])
    assert whole * 2 - whole is whole
    assert (whole * (sizes[0] + 1)).evaluate(dict.fromkeys(sizes, 2)) == 3**13
    assert whole.bounds() == (2**12, None)
    assert whole // whole == 1
    assert whole.substitute(dict.fromkeys(sizes, 1)) == 2**12
    assert (sizes[0] + 1) * whole is whole * (sizes[0] + 1)
    doubled = product([2 * n + 4 for n in sizes])
    assert isinstance(doubled, Expr)
    assert doubled.evaluate(dict.fromkeys(sizes, 1)) == 6**12
    power = (total(sizes) + 1) ** 300
    assert power * (total(sizes) + 1) is (total(sizes) + 1) ** 301
    assert power.evaluate(dict.fromkeys(sizes, 1)) == 13**300


def test_sums_of_more_than_32_terms_are_not_factored():
    sizes = [Var(f"a{i}") for i in range(17)]
    factor = Var("x") + Var("y")
    short, long = (total(some) * factor for some in (sizes[:16], sizes))
    assert isinstance(short, Expr)
    assert isinstance(long, Expr)
    k, unit, sums = factored(short) or (0, None, [])
    assert (k, unit, {*sums}) == (1, None, {factor, total(sizes[:16])})
    assert factored(long) is None


def test_products_of_many_sums_take_linear_work():
    scope = Scope()
    sums = [scope.var(f"n{i}") + 1 for i in range(400)]
    few, many = (calls_of(lambda n=n: product(sums[:n])) for n in (200, 400))
    assert many < 3 * few


def test_powers():
    scope = Scope()
    a, b = scope.var("a"), scope.var("b")
    assert str((a + b) ** 3) == "a**3 + 3*a**2*b + 3*a*b**2 + b**3"
    assert (2 * a) ** 3 is 8 * a * a * a
    assert a**1_000_000 // a is a**999_999
    assert (a**1_000_000).bounds() == (1, None)
    assert (make_variable(scope, "c", -3, 2) ** 2).bounds() == (0, 9)


def test_a_value_may_stand_for_what_has_none():
    scope = Scope()
    n, k = scope.var("n"), scope.var("k", 0)
    assert (k // k, n * k // k, 0 // k, k % k + 1) == (1, n, 0, 1)
    for dim in (n // k, (n // k) // 2, n % k):
        with pytest.raises(DivisionByZero):
            dim.evaluate(n=3, k=0)
    nothing = scope.var("nothing", 0, 0)
    with pytest.raises(DivisionByZero):
        (n // nothing).evaluate(n=3, nothing=0)


def test_a_sum_of_products_that_cancel_is_a_number() -> None:
    """All terms share a factor with minima and a half, and the halves beside it cancel."""
    C, H, W, K = (Var(name) for name in "CHWK")
    pixels = C * ((H + 1) // 2) * ((W + 1) // 2)
    shared = minimum(pixels, 2) * minimum(pixels, K) * ((K + 1) // 2)
    assert shared * ((H + 1) // 2) - shared * H + shared * (H // 2) == 0


@pytest.mark.parametrize("text", [
    "max(min(S, 14999) - 9999*min(max(S, 5000), 5001) + min(S, 5000), -49994999)",
    "max(2*min(S, 5000) + min(max(S, 5001), 14999) - 9998*min(max(S, 5000), 5001), -49984998)",
    "min(S, 8)*max(S, 4) - 3*min(S, 40) + 2*min(S, 400) - max(S, 44)",
])  # fmt: skip
def test_the_form_does_not_depend_on_the_name_of_the_only_variable(text: str) -> None:
    forms = {str(parse(text.replace("S", name))).replace(name, "S") for name in ("S", "u", "K", "_d0", "_d1", "_d17")}
    assert len(forms) == 1
