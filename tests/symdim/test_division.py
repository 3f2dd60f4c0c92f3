"""Divisions whose divisor may have either sign or be 0, and parts of a numerator that do not change the quotient."""

from __future__ import annotations

from random import Random

import pytest

from symdim import Expr, Var, parse
from symdim.algebra.variable import Scope, make_variable
from tests.symdim.statements import Bounds, Statement, violates
from tests.symdim.strategies import PYTHON, SYMDIM
from tests.symdim.text_cases import explain_text

BOUNDS: Bounds = {
    "x": (None, None),
    "y": (None, None),
    "z": (None, None),
    "w": (None, -1),
    "N": (1, None),
    "M": (0, None),
    "i": (0, 3),
    "j": (-2, 5),
    "s": (0, 31),
}
SCOPE = Scope()
VARIABLES = {name: make_variable(SCOPE, name, *bounds) for name, bounds in BOUNDS.items()}
NUMBERS = (-6, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 16, 32, 64)


def dim(text):
    return eval(text, {"__builtins__": {}}, VARIABLES)


@pytest.mark.parametrize(
    "text, printed",
    [
        ("x*y//y", "x"),
        ("(z*x + y)//z", "x + y//z"),
        ("(x + y + z)//x", "(y + z)//x + 1"),
        ("x*z//(y*z)", "x//y"),
        ("x*z % (y*z)", "z*(x % y)"),
        ("(x - x % y) % y", "0"),
        ("(x + -x % y) % y", "0"),
        ("(2*x*z + y)//(2*z)", "x + y//(2*z)"),
        ("(32*N + s)//64", "N//2"),
        ("(4*N + i) % 8", "4*(N % 2) + i"),
        ("(s - 32*N)//64", "-((N + 1)//2)"),
        # divisors that are never positive
        ("x//w", "x//w"),
        ("(x + 3)//(2*w)", "(x + 3)//(2*w)"),
        ("(x//w)//3", "x//(3*w)"),
        ("5//w", "5//w"),
    ],
)
def test_texts(text, printed):
    found = dim(text)
    assert str(found) == printed
    assert parse(str(found), VARIABLES) is found or isinstance(found, int)


@pytest.mark.parametrize(
    "text, bounds",
    [
        ("s//y", (-31, 31)),
        ("s//j", (-31, 31)),
        ("(s + 1)//w", (-32, -1)),
        ("N//M", (0, None)),
        ("-5//M", (-5, -1)),
        ("x//y", (None, None)),
        ("(s - 8)//j", (-23, 23)),
    ],
)
def test_intervals(text, bounds):
    assert dim(text).bounds() == bounds


# -- random expressions ---------------------------------------------------------------------------------------------


def random_tree(random, leaves):
    if leaves == 1:
        return random.choice(list(BOUNDS)) if random.random() < 0.7 else random.choice(NUMBERS)
    left = random.randrange(1, leaves)
    operator = random.choice(["+", "+", "-", "*", "*", "//", "//", "//", "%", "%"])
    return operator, random_tree(random, left), random_tree(random, leaves - left)


def built(tree):
    if isinstance(tree, tuple):
        return SYMDIM[tree[0]](built(tree[1]), built(tree[2]))
    return VARIABLES[tree] if isinstance(tree, str) else tree


def built_otherwise(random, tree):
    """The same by other laws: divisors times a factor, numerators plus a multiple, remainders by Euclid."""
    if not isinstance(tree, tuple):
        return built(tree)
    operator, a, b = tree[0], built_otherwise(random, tree[1]), built_otherwise(random, tree[2])
    way, factor = random.randrange(4), random.choice([-1, 2, VARIABLES["x"], VARIABLES["N"]])
    if operator == "//" and way:
        return [(a + factor * b) // b - factor, (a * factor) // (b * factor), -a // -b][way - 1]
    if operator == "%" and way:
        return [a - b * (a // b), (a + 3 * b) % b, -(-a % -b)][way - 1]
    if operator == "-":
        return -(b - a)
    return PYTHON[operator](b, a) if operator in "+*" else PYTHON[operator](a, b)


def value(tree, sizes):
    if isinstance(tree, tuple):
        return PYTHON[tree[0]](value(tree[1], sizes), value(tree[2], sizes))
    return sizes[tree] if isinstance(tree, str) else tree


def random_sizes(random):
    found = {}
    for name, (lo, hi) in BOUNDS.items():
        found[name] = random.randint(-12 if lo is None else lo, random.choice((9, 40)) if hi is None else hi)
    return found


@pytest.mark.parametrize(
    "text", ["(3*y + (1 - x) % 3 + 1)//10", "(2*y - x - 2*(x//2))//5", "(4*((2*x + y)//4) + 2*x + 12*y)//11"]
)
def test_remainders_modulo_a_number_that_does_not_divide_the_divisor_count(text):
    found = dim(text)
    for x in range(-9, 10):
        for y in range(-5, 6):
            assert found.evaluate(x=x, y=y) == eval(text, {"x": x, "y": y}), (x, y)


@pytest.mark.parametrize("seed", range(8))
def test_random_divisions(seed):
    random = Random(seed)
    met = 0
    for _ in range(150):
        tree = random_tree(random, random.randint(2, 8))
        try:
            found, other = built(tree), built_otherwise(random, tree)
        except ZeroDivisionError:
            continue
        assert found == parse(str(found), VARIABLES), (seed, tree)
        assert found == other, (seed, tree)
        low, high = found.bounds() if isinstance(found, Expr) else (found, found)
        for _ in range(4):
            sizes = random_sizes(random)
            try:
                expected = value(tree, sizes)
            except ZeroDivisionError:
                continue  # a value may stand for what has none
            met += 1
            assert (found.evaluate(sizes) if isinstance(found, Expr) else found) == expected, (seed, tree, sizes)
            assert low is None or low <= expected, (seed, tree, sizes)
            assert high is None or expected <= high, (seed, tree, sizes)
    assert met > 200


@pytest.mark.parametrize(
    ("lhs", "relation", "rhs", "bounds", "violated"),
    [
        ("(2*a//(d - 2))//2 + c", ">=", "-1", {"a": (0, 3), "d": (None, None), "c": (0, None)}, (2, 1, 0)),
        ("((a + 1)//d)//2 + c", ">=", "0", {"a": (-2, 6), "d": (-7, None), "c": (1, None)}, (2, -1, 1)),
        ("c*(a//(d + 1))", "!=", "-1", {"a": (0, 3), "d": (-9, 9), "c": (1, None)}, (1, -9, 1)),
        ("c*d*((a + 1)//(d - 2))", "!=", "c", {"a": (-3, 3), "d": (-7, None), "c": (1, None)}, (-2, 1, 1)),
        ("(a//(d*c))*d", "!=", "a + c", {"a": (0, 3), "d": (None, 40), "c": (1, None)}, (1, -2, 1)),
    ],
)
def test_a_value_of_a_quotient_says_nothing_of_a_remainder_by_a_negative_divisor(
    lhs: str, relation: str, rhs: str, bounds: Bounds, violated: tuple[int, int, int]
) -> None:
    """The prover tries all values of the quotient. The law of the remainder needs a positive divisor."""
    statement = Statement(lhs, relation, rhs, bounds, ())
    assert violates(statement, dict(zip("adc", violated, strict=True)))
    assert explain_text(*statement).answer is not True


def test_bounded_parts_and_divisions_in_one_numerator() -> None:
    i, k, few = Var("i"), Var("k"), Var.fresh("few", 0, 3)
    assert (4 * i + few + 4 * (k // 2)) // 8 == (k + 2 * i) // 4
