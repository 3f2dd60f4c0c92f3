"""Random expressions against Python's own integers. A failure prints the seed and the tree that reproduce it.

The nightly profile tries 20,000 expressions, any other run 500.
"""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import pytest

from symdim import Expr, SymdimError, Var, equal, parse, total
from tests.nightly import HASH_SEEDS, is_nightly
from tests.symdim.strategies import (
    FAMILIES,
    READ_AS,
    SYMDIM,
    VARIABLES,
    Dim,
    Tree,
    build,
    expressions,
    names_of,
    random_bindings,
    text,
    value,
)

CHUNKS, EXPRESSIONS = (40, 500) if is_nightly else (2, 250)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(CHUNKS))
def test_values_bounds_substitution_and_text(family: str, seed: int) -> None:
    random = Random(-1 - seed)
    defined = 0
    for made in expressions(family, seed, EXPRESSIONS):
        tree, dim, variables, _ = made
        assert parse(str(dim), variables) == dim, (family, seed, tree)
        low, high = (dim, dim) if isinstance(dim, int) else dim.bounds()
        for _ in range(4):
            point = made.point(random)
            try:
                expected = value(tree, point)
            except ZeroDivisionError:
                continue  # a tree without a value says nothing about its expression's
            defined += 1
            case = (family, seed, tree, point)
            assert made.at(point) == expected, case
            assert low is None or low <= expected, case
            assert high is None or expected <= high, case
            some = {variables[name]: point[name] for name in random.sample(sorted(point), 2)}
            partial = dim.substitute(some) if isinstance(dim, Expr) else dim
            assert made._replace(dim=partial).at(point) == expected, case
    assert defined > EXPRESSIONS


@pytest.mark.parametrize("family", ["extrema", "signs"])
@pytest.mark.parametrize("seed", range(4))
def test_ring_laws_give_one_object(family: str, seed: int) -> None:
    """Products of several minima and maxima may be two objects; the prover knows that they are equal."""
    found = [made.dim for made in expressions(family, 200 + seed, 90)]
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
            assert a * (b + c) == a * b + a * c or equal(a * (b + c), a * b + a * c)


def otherwise(random: Random, tree: Tree, variables: dict[str, Var]) -> Dim:
    """The same by other laws: divisors times a factor, numerators plus a multiple, remainders by Euclid."""
    if not isinstance(tree, tuple):
        return build(tree, variables)
    operator, a, b = tree[0], otherwise(random, tree[1], variables), otherwise(random, tree[2], variables)
    way, factor = random.randrange(4), random.choice([-1, 2, variables["x"], variables["N"]])
    if operator == "//" and way:
        return [(a + factor * b) // b - factor, (a * factor) // (b * factor), -a // -b][way - 1]
    if operator == "%" and way:
        return [a - b * (a // b), (a + 3 * b) % b, -(-a % -b)][way - 1]
    if operator == "-":
        return -(b - a)
    return SYMDIM[operator](b, a) if operator in "+*" else SYMDIM[operator](a, b)


@pytest.mark.parametrize("seed", range(6))
def test_divisions_that_are_spelled_otherwise_are_one_object(seed: int) -> None:
    random = Random(seed)
    for tree, dim, variables, _ in expressions("divisions", 300 + seed, 100):
        try:
            other = otherwise(random, tree, variables)
        except ZeroDivisionError:
            continue
        assert dim == other, (seed, tree)


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_substituted_expressions(seed: int) -> None:
    """e[N := a, L := b] at x is e at N = a(x), L = b(x), where these are within the bounds of N and L."""
    random = Random(-1 - seed)
    pairs = random_pairs(1000 + seed, EXPRESSIONS // 4)
    used = 0
    for tree, dim in pairs:
        if isinstance(dim, int):
            continue
        (a_tree, a), (b_tree, b) = random.choices(pairs, k=2)
        for _ in range(4):
            bindings = random_bindings(random)
            try:
                inner = {**bindings, "N": value(a_tree, bindings), "L": value(b_tree, bindings)}
                expected = value(tree, inner)
            except ZeroDivisionError:
                continue
            if inner["N"] < 1 or not 0 <= inner["L"] <= 3:
                continue
            used += 1
            try:
                result = dim.substitute({"N": a, "L": b})
                found = result if isinstance(result, int) else result.to_int(bindings)
            except ZeroDivisionError:
                assert not names_of(tree) & {"N", "L"}, (seed, tree, a_tree, b_tree, bindings)
                continue
            assert found == expected, (seed, tree, a_tree, b_tree, bindings)
    assert used


def random_pairs(seed: int, count: int) -> list[tuple[Tree, Dim]]:
    """Trees over the names of `strategies.BOUNDS` with their dimensions over one set of variables."""
    return [(made.tree, build(made.tree)) for made in expressions("sizes", seed, count)]


@pytest.mark.parametrize("dialect", ["sympy", "torch", "jax", "onnx-light"])
def test_dialects_denote_the_same(dialect):
    for tree, dim in random_pairs(7, EXPRESSIONS // 4):
        try:
            assert parse(text(tree, dialect), VARIABLES, dialect=READ_AS.get(dialect)) == dim, (dialect, tree)
        except SymdimError as error:
            raise AssertionError((dialect, tree)) from error


TEXTS = """
from tests.symdim.strategies import FAMILIES, expressions
print([str(made.dim) for family in FAMILIES for made in expressions(family, 5, 200)])
"""


def test_printed_forms_do_not_depend_on_the_hash_seed() -> None:
    path = os.pathsep.join(p for p in [os.getcwd(), *sys.path] if p)
    texts = {
        subprocess.run(
            [sys.executable, "-c", TEXTS],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            check=True,
        ).stdout
        for seed in HASH_SEEDS
    }
    assert len(texts) == 1
