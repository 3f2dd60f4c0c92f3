"""Divisions whose divisor may have either sign or be 0, and parts of a numerator that do not change the quotient."""

from __future__ import annotations

import pytest

from symdim import Var
from symdim.algebra.variable import Scope, make_variable
from tests.symdim.statements import Bounds, Statement, violates
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


def dim(text):
    return eval(text, {"__builtins__": {}}, VARIABLES)


@pytest.mark.parametrize(
    "text", ["(3*y + (1 - x) % 3 + 1)//10", "(2*y - x - 2*(x//2))//5", "(4*((2*x + y)//4) + 2*x + 12*y)//11"]
)
def test_remainders_modulo_a_number_that_does_not_divide_the_divisor_count(text):
    found = dim(text)
    for x in range(-9, 10):
        for y in range(-5, 6):
            assert found.evaluate(x=x, y=y) == eval(text, {"x": x, "y": y}), (x, y)


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
