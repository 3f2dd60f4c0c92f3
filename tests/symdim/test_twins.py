"""Products of maxima, minima and halves, and the bounds of correlated ones."""

from __future__ import annotations

from itertools import product

import pytest

from symdim import Var, clear_caches, equal, maximum, minimum, parse

X, Y, Z = (Var.fresh(name) for name in "xyz")
ATOMS = [maximum(X, Y), minimum(X, Y), minimum(X, 4), X // 2, (X + 1) // 2, (Y + 1) // 2, minimum(maximum(X, 2), 6)]
SUMS = [X, Y - 3, X + Y, -X, 2 * maximum(Y, 4) - X]


@pytest.mark.parametrize("a", ATOMS)
def test_products_of_sums_are_equal_in_every_order(a):
    for b, c in product(ATOMS, SUMS):
        assert equal(a * (b + c), a * b + a * c)
        assert equal((a + c) * b - b * c, a * b)
        assert (a * b) * c is a * (b * c)


@pytest.mark.parametrize(("a", "b"), list(product(ATOMS, repeat=2)))
def test_products_are_what_they_say(a, b):
    dim = (a - X) * (b + Y) + X * Y
    for point in product(range(7), repeat=2):
        at = dict(zip((X, Y), point, strict=True))
        assert dim.evaluate(at) == (a.evaluate(at) - at[X]) * (b.evaluate(at) + at[Y]) + at[X] * at[Y]


HALVES_OF_MAXIMA = [
    "max(x, (max(2*x, 3) + min(2*x, 109 - 2*x, 3) + 1)//2) + min(2*x, 3)",
    "max(5 - x, (min(5 - x, x) - min(y, x//2) - 1)//2) - min(x, 2*x - 3)",
    "max(x + 1, 2*x) - max(2*x - 3, (x + 1)//2) - min(5 - x, (max(2*x, y) - min(2*x - 3, x + 1) + 2)//2)",
    "-2*max(2*x, 2*x - 3) - min((x + 1)//2, 2*x - 3) - min(2*x, (max(y, x) + max(2*x - 3, (x + 1)//2))//2)",
]


SUMS_OF_MINIMA = ["max((y - x//2 + 2)//3*(2*x - (x + 1)//2), min(z, x//2) - max(x//2, x % 3))"]


@pytest.mark.parametrize("text", [*HALVES_OF_MAXIMA, *SUMS_OF_MINIMA])
def test_no_law_of_maxima_and_halves_makes_itself_necessary(text):
    """The twin of a half has a maximum of the sum, so a clamp of both was made of itself, without an end.

    A division outside of a maximum gave its leaves numerators, and these got a division again.
    """
    clear_caches()
    dim = parse(text)
    assert parse(str(dim)) is dim
    for x, y, z in product(range(1, 9), range(1, 9), (1, 4)):
        at = {"x": x, "y": y, "z": z}
        value = eval(text, {"max": max, "min": min}, at)
        assert dim.evaluate({name: at[name] for name in dim.free_symbols()}) == value


def test_products_of_halves_have_one_form():
    """Also where the units of both cancel, and where a numerator has a product with a half."""
    x, y, z, w = (Var(name) for name in "xyzw")
    both, apart = x + y, x - y
    assert ((both + 1) // 2) * ((apart + 1) // 2) + z == (both - both // 2) * (apart - apart // 2) + z
    inner = x * (y // 2)
    first = ((inner + 1) // 2) * ((z + 1) // 2) + w
    assert first == (inner - inner // 2) * (z - z // 2) + w
    for sizes in ((1, 1, 1, 1), (3, 5, 2, 1), (7, 2, 4, 3), (2, 9, 9, 5)):
        a, b, c, d = sizes
        assert first.evaluate(x=a, y=b, z=c, w=d) == (a * (b // 2) + 1) // 2 * ((c + 1) // 2) + d


@pytest.mark.parametrize("atom", [*ATOMS, minimum(X, 512) // 16, (X + Y + 1) // 2, (X * Y + 1) // 2], ids=str)
def test_a_power_is_a_product(atom):
    square = atom * atom
    assert square is atom**2
    assert (square - 5) + 5 is square
    assert square * Z is atom * (atom * Z)
    assert (atom + 3) ** 2 is square + 6 * atom + 9
    for point in product(range(9), repeat=2):
        at = dict(zip((X, Y), point, strict=True))
        assert (square - X).evaluate(at) == atom.evaluate(at) ** 2 - at[X]
