from __future__ import annotations

import os
import subprocess
import sys
from itertools import permutations
from random import Random

import pytest

from symdim import (
    DivisionByZero,
    Expr,
    Mul,
    Var,
    ceildiv,
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

BOUNDS = [(None, None), (1, None), (0, None), (1, 7), (0, 5), (None, 4), (3, 3), (-3, 3), (-6, -1)]
OPERATORS = {
    "+": (lambda a, b: a + b, lambda a, b: a + b),
    "-": (lambda a, b: a - b, lambda a, b: a - b),
    "*": (lambda a, b: a * b, lambda a, b: a * b),
    "//": (lambda a, b: a // b, lambda a, b: a // b),
    "%": (lambda a, b: a % b, lambda a, b: a % b),
    "max": (maximum, max),
    "min": (minimum, min),
    "ceildiv": (ceildiv, lambda a, b: -(-a // b)),
}


def tree(random: Random, depth: int):
    """A random raw expression: a name, an int, or (operator, left, right)."""
    if depth == 0 or random.random() < 0.15:
        return random.choice("xyz") if random.random() < 0.7 else random.randint(-6, 9)
    operator = random.choice(["+", "-", "*", "//", "//", "%", "%", "max", "min", "ceildiv"])
    if operator in ("//", "%", "ceildiv") and random.random() < 0.7:
        return operator, tree(random, depth - 1), random.choice([-4, -3, -2, 2, 2, 3, 4, 5, 6, 8])
    return operator, tree(random, depth - 1), tree(random, depth - 1)


def built(raw, env, way):
    """The value of a raw expression, by the constructors (way 0) or by Python's ints (way 1)."""
    if isinstance(raw, tuple):
        operator, left, right = raw
        return OPERATORS[operator][way](built(left, env, way), built(right, env, way))
    return raw if isinstance(raw, int) else env[raw]


def point_in(random: Random, lo, hi):
    lo = (10 if hi is None else hi) - random.choice([3, 20, 1000]) if lo is None else lo
    return random.randint(lo, lo + random.choice([4, 30, 1000]) if hi is None else hi)


def expressions(seed: int, count: int):
    """Random (raw, dim, bounds, variables), where the constructors find no division by zero."""
    random = Random(seed)
    while count:
        bounds = {name: random.choice(BOUNDS) for name in "xyz"}
        scope = Scope()
        variables = {name: make_variable(scope, name, *bounds[name]) for name in "xyz"}
        raw = tree(random, random.randint(1, 5))
        try:
            dim = built(raw, variables, 0)
        except ZeroDivisionError:
            continue
        count -= 1
        yield raw, dim, bounds, variables


@pytest.mark.parametrize("seed", range(6))
def test_values_agree_with_python(seed):
    random = Random(~seed)
    checked = 0
    for raw, dim, bounds, variables in expressions(seed, 500):
        lo, hi = dim.bounds() if isinstance(dim, Expr) else (dim, dim)
        for _ in range(12):
            point = {name: point_in(random, *bounds[name]) for name in "xyz"}
            try:
                expected = built(raw, point, 1)
            except ZeroDivisionError:
                continue
            at = {variables[name]: value for name, value in point.items()}
            value = dim.evaluate(at) if isinstance(dim, Expr) else dim
            assert value == expected, (seed, raw, bounds, point, dim)
            assert lo is None or lo <= value, (seed, raw, bounds, point, dim)
            assert hi is None or value <= hi, (seed, raw, bounds, point, dim)
            checked += 1
    assert checked > 3000


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


@pytest.mark.parametrize("seed", range(6))
def test_the_tree_rebuilds_the_node(seed):
    for raw, dim, bounds, _ in expressions(100 + seed, 300):
        stack = [dim]
        while stack:
            node = stack.pop()
            if isinstance(node, Expr) and not isinstance(node, Var):
                value, parts = rebuilt(node.tree())
                assert value is node, (seed, raw, bounds, node, node.tree())
                stack += parts


@pytest.mark.parametrize("seed", range(4))
def test_ring_laws_give_one_object(seed):
    found = [dim for _, dim, _, _ in expressions(200 + seed, 90)]
    for a, b, c in zip(found[0::3], found[1::3], found[2::3], strict=True):
        assert a + b == b + a
        assert (a + b) + c == a + (b + c) == total([c, b, a])
        assert a * b == b * a
        assert a - a == 0
        assert (a + b) - b == a
        assert a * 3 - a == 2 * a
        assert -1 * (-a) == a
        if max(len(d._terms or ()) if isinstance(d, Expr) else 1 for d in (a, b, c)) < 6:
            assert (a * b) * c == a * (b * c)
            assert a * (b + c) == a * b + a * c


def test_two_orders_give_one_object():
    scope = Scope()
    x, y, z, t = (scope.var(name) for name in "xyzt")
    parts = [x * y, 3 * z, (x + 1) // 3, maximum(y, z), t % 4]
    sums = {total(order) for order in permutations(parts)}
    assert len(sums) == 1
    assert {product(order) for order in permutations(parts)} == {product(parts)}
    assert {maximum(*order) for order in permutations(parts)} == {maximum(*parts)}
    assert {minimum(*order) for order in permutations(parts)} == {minimum(*parts)}


def test_a_product_holds_its_atoms_in_one_order_however_it_was_multiplied_first():
    for first in permutations(range(4)):
        scope = Scope()
        x, y, z = (scope.var(name) for name in "xyz")
        atoms = [x, y, z // 2, maximum(x, y)]
        made = product([atoms[i] for i in first])
        assert isinstance(made._parts, dict)
        assert [str(atom) for atom in made._parts] == ["x", "max(x, y)", "y", "z//2"]


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


PRINTS = "from tests.symdim.test_canonical import expressions; print([str(d) for _, d, _, _ in expressions(7, 400)])"


def test_the_printed_form_does_not_depend_on_the_hash_seed():
    path = os.pathsep.join(p for p in [os.getcwd(), *sys.path] if p)
    texts = {
        subprocess.run(
            [sys.executable, "-c", PRINTS],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1


def test_a_sum_whose_terms_cancel_has_a_text() -> None:
    """Beyond the budget of the basis such terms stay. A factor of theirs is no sum."""
    C, H, W = (Var(name) for name in "CHW")
    pixels = C * ((H + 1) // 2) * ((W + 1) // 2)
    size = C * ((H + 1) // 2) * W + C * (H // 2) * W - C * H * W + minimum(2 * pixels, 5) - minimum(pixels, 2)
    assert size.evaluate({"C": 1, "H": 3, "W": 1}) == 2
    assert parse(str(size)).evaluate({"C": 1, "H": 3, "W": 1}) == 2


def test_a_sum_of_products_that_cancel_has_a_text() -> None:
    """The sum is 0 without the factor that all terms share, whose basis is beyond the budget."""
    C, H, W, K = (Var(name) for name in "CHWK")
    pixels = C * ((H + 1) // 2) * ((W + 1) // 2)
    shared = minimum(pixels, 2) * minimum(pixels, K) * ((K + 1) // 2)
    size = shared * ((H + 1) // 2) - shared * H + shared * (H // 2)
    sizes = {"C": 2, "H": 3, "W": 4, "K": 5}
    assert parse(str(size)).evaluate(sizes) == size.evaluate(sizes) == 0


@pytest.mark.parametrize("text", [
    "max(min(S, 14999) - 9999*min(max(S, 5000), 5001) + min(S, 5000), -49994999)",
    "max(2*min(S, 5000) + min(max(S, 5001), 14999) - 9998*min(max(S, 5000), 5001), -49984998)",
    "min(S, 8)*max(S, 4) - 3*min(S, 40) + 2*min(S, 400) - max(S, 44)",
])  # fmt: skip
def test_the_form_does_not_depend_on_the_name_of_the_only_variable(text: str) -> None:
    forms = {str(parse(text.replace("S", name))).replace(name, "S") for name in ("S", "u", "K", "_d0", "_d1", "_d17")}
    assert len(forms) == 1
