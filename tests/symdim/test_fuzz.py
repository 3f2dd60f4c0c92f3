"""Random expressions against Python's own integers. A failure prints the seed and the tree that reproduce it.

The ci profile (CI set) tries 20,000 expressions, a plain run 2,000.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from random import Random

import pytest

from symdim import Expr, SymdimError, parse
from tests.symdim.strategies import READ_AS, VARIABLES, build, names_of, random_bindings, random_tree, text, value

CHUNKS, EXPRESSIONS = (40, 500) if os.environ.get("CI") else (8, 250)


def expressions(seed: int, count: int = EXPRESSIONS):
    """(tree, dimension) pairs; trees that divide by a known 0 are left out."""
    random = Random(seed)
    while count:
        tree = random_tree(random, random.randint(2, 9))
        try:
            dim = build(tree)
        except ZeroDivisionError:
            continue
        count -= 1
        yield tree, dim


def evaluated(dim, bindings):
    return dim.evaluate(bindings) if isinstance(dim, Expr) else dim


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_values_bounds_substitution_and_text(seed):
    random = Random(-1 - seed)
    defined = 0
    for tree, dim in expressions(seed):
        assert parse(str(dim), VARIABLES) == dim, (seed, tree)
        low, high = (dim, dim) if isinstance(dim, int) else dim.bounds()
        for _ in range(4):
            bindings = random_bindings(random)
            try:
                expected = value(tree, bindings)
            except ZeroDivisionError:
                continue  # a tree without a value says nothing about its expression's
            defined += 1
            case = (seed, tree, bindings)
            assert evaluated(dim, bindings) == expected, case
            assert low is None or low <= expected, case
            assert high is None or expected <= high, case
            some = {name: bindings[name] for name in ("N", "K")}
            partial = dim.substitute(some) if isinstance(dim, Expr) else dim
            assert evaluated(partial, bindings) == expected, case
    assert defined > EXPRESSIONS


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_substituted_expressions(seed):
    """e[N := a, L := b] at x is e at N = a(x), L = b(x), where these are within the bounds of N and L."""
    random = Random(-1 - seed)
    pairs = list(expressions(1000 + seed, EXPRESSIONS // 5))
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
                result = evaluated(dim.substitute({"N": a, "L": b}), bindings)
            except ZeroDivisionError:
                assert not names_of(tree) & {"N", "L"}, (seed, tree, a_tree, b_tree, bindings)
                continue
            assert result == expected, (seed, tree, a_tree, b_tree, bindings)
    assert used


@pytest.mark.parametrize("dialect", ["sympy", "torch", "jax", "onnx-light"])
def test_dialects_denote_the_same(dialect):
    for tree, dim in expressions(7, EXPRESSIONS // 5):
        try:
            assert parse(text(tree, dialect), VARIABLES, dialect=READ_AS.get(dialect)) == dim, (dialect, tree)
        except SymdimError as error:
            raise AssertionError((dialect, tree)) from error


DIGEST = """
from tests.symdim.test_fuzz import digest
print(digest())
"""


def digest() -> str:
    """A digest of what 500 expressions print."""
    lines = "\n".join(str(dim) for _, dim in expressions(5, 500))
    return hashlib.sha256(lines.encode()).hexdigest()


def test_printed_forms_do_not_depend_on_the_hash_seed():
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(digests) == 1
