"""The canonical forms in `texts.txt`; a line reads `form [in lo..hi] <- [names: ]expression`.

The file has what a person would write, with intervals, and forms that once went wrong. Texts of real models are those
of `test_forms.py`.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from symdim import Expr, Scope, Var, ceildiv, maximum, minimum, parse
from symdim.algebra.bounds import bounds_of
from symdim.algebra.evaluate import postorder
from symdim.algebra.expr import Extremum, FloorDiv, Max
from symdim.algebra.variable import make_variable
from tests.symdim.strategies import PYTHON

FILE = Path(__file__).with_name("texts.txt")
FUNCTIONS = {"min": minimum, "max": maximum, "ceildiv": ceildiv}
GRID = (0, 1, 2, 3, 4, 5, 7, 11)
LINE = re.compile(r"(.+?)(?: in (-?\d*)\.\.(-?\d*))? <- (?:(\w+ in [^:]*): )?(.*)")


class Row(NamedTuple):
    """One line of a file."""

    form: str
    interval: tuple[int | None, int | None] | None
    ends: dict[str, tuple[int | None, int | None]]
    expression: str

    def names(self) -> list[str]:
        """The names in the expression."""
        return sorted({*re.findall(r"[A-Za-z]\w*", self.expression)} - {*FUNCTIONS})

    def made(self) -> tuple[int | Expr, dict[str, Var]]:
        """The dimension, and its variables by name."""
        scope = Scope()
        variables = {name: make_variable(scope, name, *self.ends.get(name, (1, None))) for name in self.names()}
        return eval(self.expression, {**FUNCTIONS, **variables}), variables


def read() -> list[Row]:
    """The lines of the file; a name without bounds is at least 1."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        assert match is not None, line
        form, low, high, names, expression = match.groups()
        ends = {name: _ends(*pair.split("..")) for name, pair in re.findall(r"(\w+) in (\S*?)(?:,|$)", names or "")}
        found.append(Row(form, None if low is None else _ends(low, high), ends, expression))
    return found


def _ends(low: str, high: str) -> tuple[int | None, int | None]:
    return int(low) if low else None, int(high) if high else None


def test_forms_stay() -> None:
    rows = read()
    changed = [f"{row}: {new}" for row in rows if (new := str(row.made()[0])) != row.form]
    assert changed == []
    assert len(rows) >= 190


@pytest.mark.parametrize("row", read(), ids=lambda row: row.expression)
def test_a_text_is_read_again_and_has_the_interval_and_the_values_of_the_expression(row: Row) -> None:
    dim, variables = row.made()
    assert parse(row.form, variables) == dim
    assert eval(row.form, {**FUNCTIONS, **variables}) == dim
    low, high = bounds_of(dim)
    assert row.interval in (None, (low, high))
    ranges = [
        [x for x in _from(*row.ends.get(n, (1, None))) if (hi := variables[n].hi) is None or x <= hi] for n in variables
    ]
    for point in product(*[some[:: 1 if len(ranges) < 4 else 2] for some in ranges]):
        sizes = dict(zip(variables, point, strict=True))
        try:
            value = eval(row.expression, {**PYTHON, **sizes})
        except ZeroDivisionError:
            continue
        found = dim if isinstance(dim, int) else dim.to_int({variables[n]: x for n, x in sizes.items()})
        assert found == value, sizes
        assert low is None or low <= value, sizes
        assert high is None or value <= high, sizes
    for node in postorder(dim) if isinstance(dim, Expr) else ():
        if isinstance(node, FloorDiv) and node._terms is None:
            n, d = node._parts
            assert n // d is node
        elif isinstance(node, Extremum):
            assert (maximum if isinstance(node, Max) else minimum)(*node._parts) is node


def _from(low: int | None, high: int | None) -> list[int]:
    least = low if low is not None else -4 if high is None else high - 6
    return [least + x for x in GRID]
