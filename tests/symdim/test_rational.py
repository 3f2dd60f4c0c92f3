"""Exact quotients in texts against `fractions.Fraction`."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor, trunc
from random import Random

import pytest

from symdim import Scope, SymdimError, Var, parse, total
from symdim.parser import rational
from symdim.parser.rational import MAX_PAIRS, work_of_power, work_of_product

SCOPE = Scope()
X, Y = SCOPE.var("x", 0, 30), SCOPE.var("y", 1, 12)
NAMES = {"x": X, "y": Y}
ROUNDINGS = {"floor": floor, "ceiling": ceil, "TruncToInt": trunc, "RoundToInt": round}


def random_text(random: Random, leaves: int) -> str:
    """An expression in exact arithmetic; divisors are positive, as the signs of others are not always known."""
    if leaves == 1:
        return random.choice(["x", "y", str(random.randint(0, 9)), "0.5", "2.25", "1.5e1"])
    left = random.randint(1, leaves - 1)
    a, b = random_text(random, left), random_text(random, leaves - left)
    divisor = random.choice(["y", "(y + 1)", str(random.randint(1, 6))])
    binary = f"({a} + {b})", f"({a} - {b})", f"{a}*{b}", f"Max({a}, {b})", f"Min({a}, {b})", f"Abs({a} - {b})"
    unary = f"({a})/{divisor}", f"({a}) // {divisor}", f"Mod({a}, {divisor})", f"-({a})"
    return random.choice(binary + unary)


def value(text: str, x: int, y: int) -> Fraction:
    """Python's own reading of the same text, in fractions; the texts come from `random_text` only."""
    functions = {"Max": max, "Min": min, "Abs": abs, "Mod": lambda a, b: a % b}
    fractions = re.sub("[0-9][0-9.e]*", lambda number: f"F('{number[0]}')", text)
    return eval(fractions, {"F": Fraction, "x": Fraction(x), "y": Fraction(y), "__builtins__": {}, **functions})


@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounded_quotients(name):
    random = Random(name)
    for _ in range(400):
        text = random_text(random, random.randint(2, 6))
        dim = parse(f"{name}({text})", NAMES)
        for _ in range(5):
            x, y = random.randint(0, 30), random.randint(1, 12)
            expected = ROUNDINGS[name](value(text, x, y))
            actual = dim if isinstance(dim, int) else dim.evaluate(x=x, y=y)
            assert actual == expected, (text, x, y)


def test_quotients_over_several_denominators_are_rounded_once():
    assert str(parse("floor(x/3 + y/2 + z)")) == "(2*x + 3*y)//6 + z"
    assert str(parse("floor(x/3 + y/3 + z)")) == "(x + y)//3 + z"


def test_what_was_rounded_is_divided_as_the_dialect_says():
    assert str(parse("floor(x/2)/2")) == "x//4"


def test_the_work_of_a_product_counts_constants_as_terms():
    a, b, c = (Scope().var(name) for name in "abc")
    assert work_of_product([a + 1, b + 1]) == work_of_product([a + b, b + c]) < work_of_product([a + b + 1, b + 1])
    assert work_of_power(a + 1, 9) == work_of_power(a + b, 9) > 0
    assert work_of_product([a + 1, b + 1]) < MAX_PAIRS


def test_exact_texts_are_accepted_only_when_they_are_integers():
    random = Random(3)
    accepted = 0
    for _ in range(600):
        text = random_text(random, random.randint(1, 4))
        try:
            dim = parse(text, NAMES, dialect="exact")
        except ValueError:
            continue
        accepted += 1
        for _ in range(5):
            x, y = random.randint(0, 30), random.randint(1, 12)
            assert (dim if isinstance(dim, int) else dim.evaluate(x=x, y=y)) == value(text, x, y), (text, x, y)
    assert accepted > 100


def test_quotients_have_limits():
    with pytest.raises(SymdimError, match="the denominator is too large"):
        rational.divide(1, 2**40_000)
    with pytest.raises(SymdimError, match="more than 32 denominators"):
        rational.sum_of([rational.divide(Var("N"), k) for k in range(2, 40)])
    with pytest.raises(SymdimError, match="Heaviside at 0 must be 0 or 1"):
        parse("Heaviside(x, 2)")


def test_the_work_of_a_product_is_not_counted_beyond_its_largest_size():
    long = total([Var(f"u{i}") for i in range(40)])
    assert rational.work_of_product([long] * 9) - rational.work_of_product([long] * 3) == 6  # one for each value


def test_sums_of_quotients_and_the_integer_part_of_an_integer():
    N, M = Var("N"), Var("M")
    assert rational.trunc(N) is N
    assert (
        rational.floor(rational.sum_of([rational.divide(N, 2), rational.divide(M, 3), 1])) is (3 * N + 2 * M) // 6 + 1
    )
