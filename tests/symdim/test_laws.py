from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from symdim import DivisionByZero, Expr, ceildiv, clear_caches, maximum, minimum
from symdim.algebra import constructors
from symdim.algebra.variable import Scope, make_variable
from tests.symdim.laws import ANY, LAWS, LOOK_ALIKES, Law

NAMES = "xyztde"
VALUES = range(-7, 9)
NUMERIC = {"max": max, "min": min, "ceildiv": lambda a, b: -(-a // b), "__builtins__": {}}
SYMBOLIC = {"max": maximum, "min": minimum, "ceildiv": ceildiv, "__builtins__": {}}


def used(*texts):
    """The variable names in expressions."""
    return [name for name in NAMES if any(name in compile(text, "", "eval").co_names for text in texts)]


def choices(law: Law):
    """All choices of the numbers of a law."""
    for values in product(*law.numbers.values()):
        yield dict(zip(law.numbers, values, strict=True))


def symbols(names, bounds):
    scope = Scope()
    return {name: make_variable(scope, name, *bounds.get(name, ANY)) for name in names}


def values_in(interval):
    lo, hi = interval
    return [v for v in VALUES if (lo is None or v >= lo) and (hi is None or v <= hi)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_law_holds_on_a_grid(law):
    names = used(law.lhs, law.rhs)
    lhs, rhs, where = (compile(text, "", "eval") for text in (law.lhs, law.rhs, law.where))
    checked = 0
    for numbers in choices(law):
        grid = product(*[values_in(law.bounds.get(name, ANY))[:: 1 if len(names) < 3 else 2] for name in names])
        for point in grid:
            at = {**NUMERIC, **numbers, **dict(zip(names, point, strict=True))}
            if eval(where, at):
                assert eval(lhs, at) == eval(rhs, at), (numbers, point)
                checked += 1
    assert checked


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_both_sides_are_one_object(law):
    for numbers in choices(law):
        env = {**SYMBOLIC, **numbers, **symbols(used(law.lhs, law.rhs), law.bounds)}
        lhs, rhs = eval(law.lhs, env), eval(law.rhs, env)
        assert lhs is rhs or (isinstance(lhs, int) and lhs == rhs), (numbers, lhs, rhs)


@pytest.mark.parametrize("law", LOOK_ALIKES, ids=lambda law: law.name)
def test_look_alikes_are_false_and_not_applied(law):
    def value(text):
        try:
            return eval(text, {**NUMERIC, **law.point})
        except ZeroDivisionError:
            return None

    assert value(law.lhs) != value(law.rhs)
    clear_caches()
    variables = symbols(used(law.lhs, law.rhs), law.bounds)
    env = {**SYMBOLIC, **variables}
    lhs, rhs = eval(law.lhs, env), eval(law.rhs, env)
    assert lhs is not rhs
    for text, dim in ((law.lhs, lhs), (law.rhs, rhs)):
        assert evaluated(dim, {variables[name]: v for name, v in law.point.items() if name in variables}) == value(text)


def evaluated(dim, bindings):
    if not isinstance(dim, Expr):
        return dim
    try:
        return dim.evaluate(bindings)
    except DivisionByZero:
        return None


ROW = re.compile(r" {4}(?P<name>\w[\w ]*?)  +(?P<file>\w+)  +(?P<lhs>.+?) = (?P<rhs>.+?)  +(?P<where>.+)")
TABLE = [row.groupdict() for line in (constructors.__doc__ or "").splitlines() if (row := ROW.fullmatch(line))]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["name"])
def test_a_law_of_the_table_holds_exactly_where_it_says(row):
    """At many small integers: the sides are equal under the condition, and somewhere else they are not."""
    lhs, rhs, where = (compile(row[part], "", "eval") for part in ("lhs", "rhs", "where"))
    names = sorted({*lhs.co_names, *rhs.co_names, *where.co_names} - {"max", "min", "always"})
    held, needed = 0, row["where"] == "always"
    for point in product(range(-3, 5), repeat=len(names)):
        at = {"max": max, "min": min, "always": True, **dict(zip(names, point, strict=True))}
        if eval(where, at):
            assert eval(lhs, at) == eval(rhs, at), at
            held += 1
        elif not needed:
            try:
                needed = eval(lhs, at) != eval(rhs, at)
            except ZeroDivisionError:
                needed = True
    assert held >= 20
    assert needed
    assert Path(constructors.__file__).with_name(f"{row['file']}.py").exists()


def test_the_table_is_read_as_a_whole():
    assert len(TABLE) == 21
    assert len({row["name"] for row in TABLE}) == 21
